//! Which version is written for which releases.

use refit_core::catalog::Catalog;
use refit_core::conversion::Wanted;
use refit_manifest::Stream;

use crate::support::{check, lines, read_for, utf8, version, wanted};

const GROUPS: [&str; 5] = ["source", "kustomize", "helm", "notification", "image"];

fn common(releases: &[&str]) -> Wanted {
    let releases: Vec<_> = releases.iter().map(|release| version(release)).collect();
    Wanted::common(&Catalog::flux().unwrap(), &releases)
}

#[test]
fn alerts_and_providers_stay_at_v1beta3() {
    for kind in ["Alert", "Provider"] {
        assert_eq!(
            wanted("v2.9.4").version("notification.toolkit.fluxcd.io", kind),
            Some("v1beta3")
        );
        let text = format!("apiVersion: notification.toolkit.fluxcd.io/v1beta3\nkind: {kind}\nmetadata: {{name: a}}\n");
        check("a.yaml", &text, &text);
        let old = text.replace("v1beta3", "v1beta1");
        check("a.yaml", &old, &text);
    }
    assert_eq!(
        wanted("v2.9.4").version("notification.toolkit.fluxcd.io", "Receiver"),
        Some("v1")
    );
}

#[test]
fn the_version_that_is_written_is_served_and_not_deprecated_at_every_release() {
    let catalog = Catalog::flux().unwrap();
    for release in catalog.releases() {
        let wanted = Wanted::of(&catalog, &release.version);
        for api in catalog.apis(&release.version) {
            let (group, kind) = (api.resource.group(), &*api.resource.kind);
            let write = wanted.version(group, kind).unwrap();
            assert!(
                api.versions.served.iter().any(|served| served == write),
                "{kind} {}",
                release.version
            );
            assert!(!wanted.needs(group, kind, write), "{kind} {}", release.version);
            assert_eq!(write, api.versions.storage, "{kind} {}", release.version);
        }
    }
}

#[test]
fn several_releases_get_what_all_of_them_serve() {
    let both = common(&["v2.2.3", "v2.9.4"]);
    assert_eq!(both.version("kustomize.toolkit.fluxcd.io", "Kustomization"), Some("v1"));
    assert_eq!(both.version("helm.toolkit.fluxcd.io", "HelmRelease"), None);
    let conflict = both
        .conflicts()
        .iter()
        .find(|conflict| conflict.kind == "HelmRelease")
        .unwrap();
    let served: Vec<String> = conflict
        .served
        .iter()
        .map(|(release, served)| format!("{release} {}", served.join("/")))
        .collect();
    assert_eq!(served, ["v2.2.3 v2beta1/v2beta2", "v2.9.4 v2"]);
    let near = common(&["v2.6.4", "v2.7.5"]);
    assert_eq!(near.version("image.toolkit.fluxcd.io", "ImagePolicy"), Some("v1beta2"));
    assert!(near.needs("image.toolkit.fluxcd.io", "ImagePolicy", "v1beta1"));
    assert!(!near.needs("image.toolkit.fluxcd.io", "ImagePolicy", "v1beta2"));
    assert!(near.conflicts().is_empty());
    assert_eq!(near.releases().len(), 2);
}

#[test]
fn on_the_way_to_a_release_what_it_does_not_serve_is_not_to_stay() {
    let catalog = Catalog::flux().unwrap();
    let wanted = Wanted::leading_to(&catalog, &[version("v2.6.4")], &[version("v2.9.4")]);
    let (group, kind) = ("image.toolkit.fluxcd.io", "ImagePolicy");
    assert_eq!(wanted.version(group, kind), Some("v1beta2"));
    assert!(wanted.needs(group, kind, "v1beta1") && !wanted.needs(group, kind, "v1beta2"));
    assert_eq!(wanted.version("helm.toolkit.fluxcd.io", "HelmRelease"), Some("v2"));
}

#[test]
fn what_no_release_deprecates_or_removes_stays_as_it_is() {
    let text = "apiVersion: image.toolkit.fluxcd.io/v1beta1\nkind: ImagePolicy\nmetadata: {name: a}\n";
    let reading = read_for("v0.41.2", "a.yaml", text);
    assert_eq!((utf8(&reading.bytes), reading.uses.len()), (text, 0));
    let reading = read_for("v2.7.5", "a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text.replace("v1beta1", "v1"));
}

#[test]
fn a_use_says_since_when_and_until_when() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: a, namespace: b}\n";
    let reading = read_for("v2.6.4", "a.yaml", text);
    let used = &reading.uses[0];
    assert_eq!(used.since, Some(version("v2.2.0")));
    assert_eq!(used.removed_in, Some(version("v2.7.0")));
    assert_eq!(used.replacement.as_deref(), Some("v2"));
    assert_eq!(lines(&reading), ["1:13 object HelmRelease/a in b v2beta1 yes"]);
}

#[test]
fn a_release_newer_than_the_catalog_is_read_from_its_manifests() {
    let manifest = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: alerts.notification.toolkit.fluxcd.io}\nspec:\n  group: notification.toolkit.fluxcd.io\n  names: {kind: Alert}\n  versions:\n  - {name: v1, served: true, storage: true}\n  - {name: v1beta3, served: true, storage: false, deprecated: true}\n---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: things.source.toolkit.fluxcd.io}\nspec:\n  group: source.toolkit.fluxcd.io\n  names: {kind: Thing}\n  versions:\n  - {name: v1, served: true, storage: true}\n";
    let streams = [Stream::split(manifest.as_bytes().into()).unwrap()];
    let wanted = Wanted::of_manifests(&Catalog::flux().unwrap(), &version("v9.0.0"), &streams);
    assert_eq!(wanted.version("notification.toolkit.fluxcd.io", "Alert"), Some("v1"));
    assert!(wanted.needs("notification.toolkit.fluxcd.io", "Alert", "v1beta3"));
    assert_eq!(wanted.version("source.toolkit.fluxcd.io", "Thing"), Some("v1"));
    assert_eq!(wanted.version("source.toolkit.fluxcd.io", "GitRepository"), Some("v1"));
}

#[test]
fn every_group_of_the_platform_has_kinds_to_write() {
    let wanted = wanted("v2.9.4");
    for group in GROUPS {
        let group = format!("{group}.toolkit.fluxcd.io");
        let catalog = Catalog::flux().unwrap();
        let mut kinds = catalog.resources().iter().filter(|resource| resource.group() == group);
        assert!(
            kinds.all(|resource| wanted.version(&group, &resource.kind).is_some()),
            "{group}"
        );
    }
}
