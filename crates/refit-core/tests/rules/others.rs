//! R4 to R13.

use refit_core::catalog::{Catalog, ConversionRules};
use refit_core::release::Version;
use refit_manifest::convert::{Rule, convert_part};
use refit_manifest::{Stream, edit};

use super::support::*;

fn object(api: &str, kind: &str, spec: &str) -> String {
    format!("apiVersion: {api}\nkind: {kind}\nmetadata: {{name: a}}\nspec:\n{spec}")
}

fn source(version: &str, kind: &str, spec: &str) -> String {
    object(&format!("source.toolkit.fluxcd.io/{version}"), kind, spec)
}

fn notification(version: &str, kind: &str, spec: &str) -> String {
    object(&format!("notification.toolkit.fluxcd.io/{version}"), kind, spec)
}

fn image(version: &str, kind: &str, spec: &str) -> String {
    object(&format!("image.toolkit.fluxcd.io/{version}"), kind, spec)
}

#[test]
fn r4_to_r7_sources_reach_v1() {
    for (kind, before, after) in [
        (
            "HelmChart",
            "  # c\n  valuesFile: a.yaml\n  accessFrom: {x: 1}\n",
            "  # c\n  valuesFiles:\n  - a.yaml\n",
        ),
        (
            "HelmRepository",
            "  url: https://x\n  accessFrom: {x: 1}\n",
            "  url: https://x\n  accessFrom: {x: 1}\n",
        ),
        (
            "Bucket",
            "  accessFrom:\n    x: 1\n  provider: aws # p\n",
            "  provider: aws # p\n",
        ),
        ("OCIRepository", "  url: oci://x\n", "  url: oci://x\n"),
    ] {
        check_convert("v1", &source("v1beta2", kind, before), &source("v1", kind, after));
    }
    let (_, converted) = run("v1", &source("v1beta1", "HelmRepository", "  url: x.dev/charts\n"));
    check_told(&converted, "begins with `http://`");
}

#[test]
fn r8_a_receiver_without_a_secret_stops() {
    let spec = "  type: github\n  resources: []\n";
    check_stopped(
        "v1",
        &notification("v1beta2", "Receiver", spec),
        "`spec.secretRef` is missing: name a Secret",
    );
    let spec = "  type: github\n  secretRef: {name: s} # s\n";
    check_convert(
        "v1",
        &notification("v1beta2", "Receiver", spec),
        &notification("v1", "Receiver", spec),
    );
    let spec = "  type: generic-oidc\n";
    check_convert(
        "v1",
        &notification("v1beta2", "Receiver", spec),
        &notification("v1", "Receiver", spec),
    );
}

#[test]
fn r9_and_r10_stay_at_v1beta3() {
    let spec = "  summary: prod\n";
    check_convert(
        "v1beta3",
        &notification("v1beta1", "Alert", spec),
        &notification("v1beta3", "Alert", spec),
    );
    check_convert(
        "v1beta3",
        &notification(
            "v1beta2",
            "Provider",
            "  type: slack\n  # i\n  interval: 5m\n  proxy: p\n",
        ),
        &notification("v1beta3", "Provider", "  type: slack\n  proxy: p\n"),
    );
    let (_, converted) = run("v1beta3", &notification("v1beta3", "Provider", "  proxy: p\n"));
    check_told(&converted, "`proxySecretRef`");
    let long = format!("  summary: {}\n", "a".repeat(256));
    let (_, converted) = run("v1beta3", &notification("v1beta2", "Alert", &long));
    check_told(&converted, "longer than 255");
}

#[test]
fn r9_the_summary_moves_only_where_a_rule_file_enables_it() {
    let before = notification(
        "v1beta2",
        "Alert",
        "  # s\n  summary: \"prod\" # t\n  eventSources: []\n",
    );
    let run = |catalog: &Catalog| {
        let rules: Vec<&Rule> = catalog.rules().open_at(&Version::new(2, 9, 0));
        by(&rules, Some("v1beta3"), &before).0
    };
    assert_eq!(run(catalog()), before.replace("v1beta2", "v1beta3"));
    let mut enabled = catalog().clone();
    enabled
        .add_rules(ConversionRules::read("mine.yaml", "enable: [R9-summary]\n").unwrap())
        .unwrap();
    let after = "  eventMetadata:\n    # s\n    summary: \"prod\" # t\n  eventSources: []\n";
    assert_eq!(run(&enabled), notification("v1beta3", "Alert", after));
}

#[test]
fn r10_a_default_that_was_assumed_is_written() {
    let catalog = catalog();
    let rules = catalog.rules().open_at(&Version::new(0, 38, 3));
    let before = notification("v1beta1", "Provider", "  type: slack # t\n");
    let after = notification("v1beta2", "Provider", "  type: slack # t\n  interval: 10m\n");
    assert_eq!(by(&rules, Some("v1beta2"), &before).0, after);
}

#[test]
fn r11_the_first_shape_of_an_image_automation_becomes_that_of_today() {
    check_convert(
        "v1",
        &image(
            "v1alpha1",
            "ImageUpdateAutomation",
            "  interval: 1m\n  # where\n  checkout:\n    gitRepositoryRef:\n      name: r # r\n    branch: main # b\n  # how\n  commit:\n    authorName: bot # n\n    authorEmail: b@x\n    messageTemplate: |\n      hello\n  push:\n    branch: auto\n  update: {strategy: Setters}\n",
        ),
        &image(
            "v1",
            "ImageUpdateAutomation",
            "  interval: 1m\n  sourceRef:\n    kind: GitRepository\n    name: r # r\n  git:\n    checkout:\n      ref:\n        branch: main # b\n    # how\n    commit:\n      author:\n        name: bot # n\n        email: b@x\n      messageTemplate: |\n        hello\n    push:\n      branch: auto\n  update: {strategy: Setters}\n",
        ),
    );
    check_convert(
        "v1",
        &image(
            "v1alpha1",
            "ImageUpdateAutomation",
            "  checkout: {gitRepositoryRef: {name: r}, branch: main}\n  commit: {authorName: bot, authorEmail: b@x}\n  push: {branch: auto}\n",
        ),
        &image(
            "v1",
            "ImageUpdateAutomation",
            "  sourceRef: {kind: GitRepository, name: r}\n  git:\n    checkout:\n      ref:\n        branch: main\n    commit: {author: {name: bot, email: b@x}}\n    push: {branch: auto}\n",
        ),
    );
}

#[test]
fn r13_image_objects_reach_v1() {
    for version in ["v1alpha1", "v1alpha2", "v1beta1", "v1beta2"] {
        let spec = "  image: x/y # i\n  interval: 1m\n";
        check_convert(
            "v1",
            &image(version, "ImageRepository", spec),
            &image("v1", "ImageRepository", spec),
        );
        let spec = "  policy: {semver: {range: x}}\n";
        check_convert(
            "v1",
            &image(version, "ImagePolicy", spec),
            &image("v1", "ImagePolicy", spec),
        );
    }
    check_stopped(
        "v1",
        &image("v1beta2", "ImageRepository", "  image: x\n"),
        "`spec.interval` is missing",
    );
}

#[test]
fn a_generator_of_artifacts_in_the_wrong_group_is_an_error_of_its_user() {
    check_stopped(
        "v1",
        &source("v1beta1", "ArtifactGenerator", "  a: 1\n"),
        "source.extensions.fluxcd.io/v1beta1",
    );
}

#[test]
fn a_part_of_an_object_need_not_hold_what_the_whole_must() {
    let rules = catalog().rules().open_at(&Version::new(2, 9, 0));
    for (before, wanted) in [
        (image("v1beta2", "ImageRepository", "  suspend: true\n"), "v1"),
        (notification("v1beta2", "Receiver", "  suspend: true\n"), "v1"),
        (
            object(
                "helm.toolkit.fluxcd.io/v2beta2",
                "HelmRelease",
                "  chart: {spec: {valuesFile: a, valuesFiles: [b]}}\n",
            ),
            "v2",
        ),
    ] {
        let stream = Stream::split(before.as_bytes().into()).unwrap();
        let converted = convert_part(stream.documents()[0].root().unwrap(), Some(wanted), &rules);
        let bytes = edit::apply(stream.bytes(), &converted.splices).unwrap();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let line = text.lines().next().unwrap();
        assert!(
            line.ends_with(&format!("/{wanted}")) && converted.reviews.is_empty(),
            "{converted:#?}"
        );
        assert!(!text.contains("valuesFile:"), "{text}");
    }
}

#[test]
fn a_patch_does_not_fill_a_list_that_it_would_replace() {
    let rules = catalog().rules().open_at(&Version::new(2, 9, 0));
    let part = |api: &str, kind: &str, spec: &str, wanted: &str| {
        let text = object(api, kind, spec);
        let stream = Stream::split(text.as_bytes().into()).unwrap();
        convert_part(stream.documents()[0].root().unwrap(), Some(wanted), &rules)
    };
    let release = |spec: &str| part("helm.toolkit.fluxcd.io/v2beta1", "HelmRelease", spec, "v2");
    let sync = |spec: &str| part("kustomize.toolkit.fluxcd.io/v1beta1", "Kustomization", spec, "v1");
    for converted in [
        release("  chart: {spec: {valuesFile: a}}\n"),
        sync("  patchesJson6902: []\n"),
        sync("  patchesStrategicMerge: [{kind: A}]\n"),
        part(
            "source.toolkit.fluxcd.io/v1beta2",
            "HelmChart",
            "  valuesFile: a\n",
            "v1",
        ),
    ] {
        assert!(converted.is_untouched() && converted.is_stopped(), "{converted:#?}");
        assert_eq!(converted.reviews.len(), 1, "{converted:#?}");
        assert!(converted.reviews[0].message.contains("a patch replaces the whole list"));
    }
    let other = release("  chart: {spec: {valuesFiles: [a]}}\n");
    assert!(!other.is_untouched() && other.reviews.len() == 1, "{other:#?}");
    assert_eq!(other.reviews[0].field, "spec.chart.spec.valuesFiles");
    let again = part(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        "  chart: {spec: {valuesFiles: [a]}}\n",
        "v2",
    );
    assert_eq!(again, Default::default(), "what is converted is told no more");
    let item = release("  postRenderers: [{kustomize: {patchesJson6902: [{target: {kind: A}, patch: []}]}}]\n");
    assert!(!item.is_untouched() && item.reviews.is_empty(), "{item:#?}");
}

#[test]
fn nothing_newer_is_lowered() {
    let before = notification("v1beta3", "Alert", "  a: 1\n");
    let (text, converted) = run("v1beta2", &before);
    assert_eq!(text, before);
    check_told(&converted, "newer than `v1beta2`");
}

#[test]
fn every_kind_whose_version_ever_changed_has_a_rule_that_sets_it() {
    let catalog = catalog();
    let rules = catalog.rules().open_at(&Version::new(2, 9, 0));
    for resource in catalog.resources() {
        let first = &resource.changes[0].storage;
        let last = &resource.changes[resource.changes.len() - 1].storage;
        if first == last {
            continue;
        }
        let spec = "  secretRef: {name: s}\n  image: i\n  interval: 1m\n  chart: {}\n";
        let api = |version| object(&format!("{}/{version}", resource.group()), &resource.kind, spec);
        let (text, converted) = by(&rules, Some(last), &api(first));
        assert!(
            text.starts_with(&format!("apiVersion: {}/{last}\n", resource.group())),
            "{converted:#?}"
        );
    }
}
