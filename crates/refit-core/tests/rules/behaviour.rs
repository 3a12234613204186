//! Rules about behaviour: told when an upgrade passes their release.

use refit_core::catalog::Purpose;
use refit_core::release::Version;
use refit_manifest::convert::Rule;

use super::support::{by, catalog};

/// Lists the fields that are marked in an object by an upgrade.
fn marks(from: &str, to: &str, text: &str) -> Vec<String> {
    let catalog = catalog();
    let (from, to) = (Version::parse(from).unwrap(), Version::parse(to).unwrap());
    let rules: Vec<&Rule> = catalog
        .rules()
        .behaviour(&from, &to)
        .iter()
        .map(|rule| &rule.rule)
        .collect();
    let (after, converted) = by(&rules, None, text);
    assert_eq!(after, text, "a rule about behaviour edits nothing");
    converted
        .reviews
        .iter()
        .map(|review| format!("{} {}", review.rule, review.field))
        .collect()
}

#[track_caller]
fn check(from: &str, to: &str, text: &str, expected: &[&str]) {
    assert_eq!(marks(from, to, text), expected, "{text}");
    assert_eq!(
        marks(to, "v9.0.0", text),
        Vec::<String>::new(),
        "told again later: {text}"
    );
}

fn flux(api: &str, kind: &str, spec: &str) -> String {
    let (group, version) = api.split_once('/').unwrap();
    format!("apiVersion: {group}.toolkit.fluxcd.io/{version}\nkind: {kind}\nspec: {{{spec}}}\n")
}

#[test]
fn durations_without_a_unit_are_told_at_0_35() {
    let check = |text: String, expected: &[&str]| check("v0.34.0", "v0.36.0", &text, expected);
    check(
        flux("kustomize/v1beta2", "Kustomization", "interval: 60"),
        &["B-0.35-interval spec.interval"],
    );
    check(
        flux("kustomize/v1beta2", "Kustomization", "interval: 60s, timeout: 1h"),
        &[],
    );
    check(
        flux("source/v1beta2", "GitRepository", "interval: 1m, timeout: 1h"),
        &["B-0.35-timeout-source spec.timeout"],
    );
    check(
        flux(
            "helm/v2beta1",
            "HelmRelease",
            "interval: 1h5, maxHistory: 5, chart: {spec: {interval: 5}}",
        ),
        &[
            "B-0.35-interval-helm spec.interval",
            "B-0.35-interval-helm spec.chart.spec.interval",
        ],
    );
}

#[test]
fn flags_that_controllers_refuse_are_told_in_deployments_and_overlays() {
    let deployment = |flag: &str| {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nspec: {{template: {{spec: {{containers: [{{name: manager, args: [--a, {flag}]}}]}}}}}}\n"
        )
    };
    let overlay = |flag: &str| {
        format!(
            "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\npatches:\n- patch: |\n    - op: add\n      path: /spec/template/spec/containers/0/args/-\n      value: {flag}\n"
        )
    };
    let gate = "--feature-gates=ForceGoGitImplementation=true";
    check(
        "v0.37.0",
        "v0.41.2",
        &deployment(gate),
        &["B-0.38-go-git spec.template.spec.containers[0].args[1]"],
    );
    check(
        "v0.37.0",
        "v0.41.2",
        &overlay(gate),
        &["B-0.38-go-git-overlay patches[0].patch"],
    );
    let login = "--aws-autologin-for-ecr";
    check(
        "v2.6.0",
        "v2.7.0",
        &deployment(login),
        &["B-2.7-autologin spec.template.spec.containers[0].args[1]"],
    );
    check(
        "v2.6.0",
        "v2.7.0",
        &overlay(login),
        &["B-2.7-autologin-overlay patches[0].patch"],
    );
    check(
        "v2.1.0",
        "v2.2.0",
        &deployment("--feature-gates=DetectDrift=true"),
        &["B-2.2-drift spec.template.spec.containers[0].args[1]"],
    );
    check("v0.37.0", "v2.7.0", &deployment("--feature-gates=Other=true"), &[]);
}

#[test]
fn a_provider_of_another_registry_is_told_at_2_6() {
    for (provider, url, told) in [
        ("aws", "oci://public.ecr.aws/x/y", true),
        ("aws", "oci://123456789012.dkr.ecr.eu-west-1.amazonaws.com/x", false),
        ("gcp", "oci://ghcr.io/x", true),
        ("gcp", "oci://europe-docker.pkg.dev/p/x", false),
        ("gcp", "oci://eu.gcr.io/p/x", false),
        ("azure", "oci://ghcr.io/x", true),
        ("azure", "oci://x.azurecr.io/y", false),
        ("generic", "oci://ghcr.io/x", false),
    ] {
        let text = flux(
            "source/v1beta2",
            "OCIRepository",
            &format!("provider: {provider}, url: '{url}'"),
        );
        let rule = format!("B-2.6-provider-{provider} spec.url");
        check(
            "v2.5.0",
            "v2.6.0",
            &text,
            &told.then_some(&*rule).into_iter().collect::<Vec<_>>(),
        );
        let image = url.trim_start_matches("oci://");
        let text = flux(
            "image/v1beta2",
            "ImageRepository",
            &format!("provider: {provider}, image: '{image}'"),
        );
        let rule = format!("B-2.6-provider-{provider}-image spec.image");
        check(
            "v2.5.0",
            "v2.6.0",
            &text,
            &told.then_some(&*rule).into_iter().collect::<Vec<_>>(),
        );
    }
}

#[test]
fn what_else_changes_is_told_once() {
    for (from, to, text, expected) in [
        ("v0.25.0", "v0.27.0", flux("kustomize/v1beta2", "Kustomization", "kubeConfig: {secretRef: {name: s}}"), "B-0.26-kubeconfig spec.kubeConfig"),
        ("v2.0.0", "v2.1.0", "apiVersion: v1\nkind: Secret\nstringData: {caFile: x}\n".to_owned(), "B-2.1-tls-keys stringData.caFile"),
        ("v2.0.0", "v2.1.0", flux("source/v1beta2", "HelmRepository", "secretRef: {name: s}"), "B-2.1-certificate spec.secretRef"),
        ("v2.1.0", "v2.2.0", flux("helm/v2beta1", "HelmRelease", "chart: {}"), "B-2.2-history spec.maxHistory"),
        ("v2.1.0", "v2.2.0", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\ncomponents: [a]\nconfigMapGenerator: [{name: a}]\n".to_owned(), "B-2.2-components components"),
        ("v2.1.0", "v2.3.0", flux("kustomize/v1", "Kustomization", "healthChecks: [{kind: Deployment}, {kind: Alert}]"), "B-2.2-status spec.healthChecks[1].kind"),
        ("v2.2.0", "v2.8.0", flux("kustomize/v1", "Kustomization", "healthCheckExprs: [{current: status.lastAppliedRevision == 'x'}]"), "B-2.3-status-fields spec.healthCheckExprs[0].current"),
        ("v2.7.0", "v2.8.0", flux("helm/v2", "HelmRelease", "install: {serverSideApply: true}"), "B-2.8-server-side spec.install.serverSideApply"),
        ("v2.8.0", "v2.9.0", flux("helm/v2", "HelmRelease", "postRenderers: [{kustomize: {}}]"), "B-2.9-post-render spec.postRenderers"),
        ("v2.8.0", "v2.9.0", flux("notification/v1", "Receiver", "type: gcr"), "B-2.9-gcr spec.type"),
    ] {
        check(from, to, &text, &[expected]);
    }
    let pinned = flux(
        "helm/v2",
        "HelmRelease",
        "postRenderers: [{kustomize: {}}], postRenderStrategy: nohooks",
    );
    check("v2.8.0", "v2.9.0", &pinned, &[]);
}

#[test]
fn every_rule_about_behaviour_names_the_release_that_changes_it() {
    let catalog = catalog();
    let about = |purpose| catalog.rules().iter().filter(move |rule| rule.purpose == purpose);
    for rule in about(Purpose::Behaviour) {
        assert!(rule.window.by.is_some(), "{}", rule.rule.id);
    }
    assert!(about(Purpose::Behaviour).count() > 20 && !catalog.rules().not_checked().is_empty());
}
