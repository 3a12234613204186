//! Reported bugs about the order, each named after its issue (facts/flux.md section 4).

use refit_core::windows::Planned;
use refit_kustomize::{State, build_as_flux};
use refit_manifest::{Entry, Path, Tree};
use refit_testkit::planes::{Plane, Planes};

use crate::support::{apply, lines, object, planes, planned, planned_with_schemas, source, sync};

const HELM: &str = "helm.toolkit.fluxcd.io";

/// Gives the files of a repository after some requests.
fn after(planes: &Planes, planned: &Planned, requests: usize) -> Tree {
    let mut tree = planes.repositories[0].tree.clone();
    for (file, bytes) in planned.requests[..requests].iter().flat_map(|request| &request.edits) {
        tree.insert(file.path.clone(), Entry::file(bytes.clone()));
    }
    tree
}

fn text(tree: &Tree, path: &str) -> String {
    String::from_utf8(tree.bytes(&Path::from(path)).unwrap().to_vec()).unwrap()
}

/// fluxcd/flux2#1924: the sync was written in a new version, and the user's patch still meant the old one.
#[test]
fn flux2_1924_patches_are_converted_in_the_request_of_their_objects_and_still_match() {
    let kustomization = "resources:\n- ../base\npatches:\n\
        - target: {group: helm.toolkit.fluxcd.io, version: v2beta2, kind: HelmRelease, name: web}\n  patch: |\n    \
        - {op: add, path: /spec/suspend, value: true}\n\
        - path: more.yaml\n";
    let more = "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata: {name: web, namespace: flux-system}\nspec: {maxHistory: 3}\n";
    let spec = "interval: 5m, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: one}}}";
    let files = [
        (
            "clusters/a/flux-system/gotk-sync.yaml",
            format!(
                "{}---\n{}",
                source("v1", "platform"),
                sync("v1", "a").replace("name: flux-system}", "name: platform}")
            ),
        ),
        ("clusters/a/apps.yaml", apply("v1", "apps/a", "platform")),
        ("apps/base/kustomization.yaml", "resources: [web.yaml]\n".to_owned()),
        (
            "apps/base/web.yaml",
            object(&format!("{HELM}/v2beta2"), "HelmRelease", "web", spec),
        ),
        ("apps/a/kustomization.yaml", kustomization.to_owned()),
        ("apps/a/more.yaml", more.to_owned()),
    ];
    let planes = planes(&[Plane::new("a", "v2.6.4", "v2.8.8")], &[&files]);
    let planned = planned(&planes);
    assert_eq!(
        lines(&planes, &planned),
        [
            "convert in platform [kustomization.yaml more.yaml web.yaml] needs []",
            "upgrade a from v2.6.4 to v2.8.8 [] needs [0]",
        ]
    );
    let built = build_as_flux(&after(&planes, &planned, 1), "apps/a");
    assert_eq!(built.state, State::Evaluated);
    let web = &built.objects[0];
    let field = |name: &str| web.value.at(&["spec", name]).and_then(|value| value.scalar());
    assert_eq!(
        (web.api_version(), field("suspend"), field("maxHistory")),
        ("helm.toolkit.fluxcd.io/v2", Some("true"), Some("3"))
    );
}

/// fluxcd/flux2#4964: at 2.3 `valuesFile` is refused even in an old version, so it must be gone before the definitions come.
#[test]
fn flux2_4964_a_removed_field_is_converted_before_the_hop_that_does_not_know_it() {
    let spec = "interval: 5m, chart: {spec: {chart: web, valuesFile: prod.yaml, sourceRef: {kind: HelmRepository, name: one}}}";
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/web.yaml",
            object(&format!("{HELM}/v2beta2"), "HelmRelease", "web", spec),
        ),
    ];
    let planes = planes(&[Plane::new("a", "v2.2.3", "v2.6.4")], &[&files]);
    let planned = planned(&planes);
    let expected = [
        "convert in platform [web.yaml] needs []",
        "upgrade a from v2.2.3 to v2.6.4 [] needs [0]",
    ];
    assert_eq!(lines(&planes, &planned), expected);
    let web = text(&after(&planes, &planned, 1), "apps/web.yaml");
    assert!(
        web.contains("helm.toolkit.fluxcd.io/v2beta2") && web.contains("valuesFiles") && !web.contains("valuesFile:"),
        "{web}"
    );
}

/// fluxcd/flux2#4479, #4862: fields that only the new version knows keep it from being applied until managed fields are
/// migrated, so the conversion waits for that, and new fields come in no request before their definitions.
#[test]
fn flux2_4479_a_conversion_waits_for_managed_fields_where_the_old_version_does_not_know_all_fields() {
    let release = "interval: 5m, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: one}}}";
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/web.yaml",
            object(&format!("{HELM}/v2beta1"), "HelmRelease", "web", release),
        ),
    ];
    let planes = planes(&[Plane::new("a", "v2.6.4", "v2.8.8")], &[&files]);
    let gates = |planned: &Planned| -> Vec<String> {
        let gate = planned.requests[0].gate.iter();
        gate.map(|stale| format!("{} {} to {}", stale.kind, stale.version, stale.storage))
            .collect()
    };
    assert_eq!(
        gates(&planned(&planes)),
        ["HelmRelease v2beta1 to v2"],
        "nothing is known of schemas"
    );
    let Some(planned) = planned_with_schemas(&planes) else {
        return;
    };
    assert_eq!(
        gates(&planned),
        ["HelmRelease v2beta1 to v2"],
        "v2beta1 has no `status.history`"
    );
    // What knows every field has no gate, as the schemas show.
    let image = "interval: 5m, sourceRef: {kind: GitRepository, name: one}, git: {commit: {author: {email: a@b.c}}}";
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/images.yaml",
            object("image.toolkit.fluxcd.io/v1beta2", "ImageUpdateAutomation", "one", image),
        ),
    ];
    let planes = crate::support::planes(&[Plane::new("a", "v2.8.8", "v2.9.4")], &[&files]);
    let without = self::planned(&planes);
    assert_eq!(gates(&without), ["ImageUpdateAutomation v1beta2 to v1"]);
    let with = planned_with_schemas(&planes).unwrap();
    assert_eq!(gates(&with), [""; 0], "v1beta2 has all fields of v1");
}

/// mesosphere/kommander-applications PR 4828: new fields were sent before Flux knew them.
#[test]
fn kommander_4828_a_field_that_a_hop_brings_is_no_reason_to_stop_and_is_told_by_no_request_before_it() {
    // The user wrote a field of 2.8 while 2.7 is installed: refused from the start, so it is no fault of the order, and the
    // request of the hop is not kept back by it.
    let release = "interval: 5m, chart: {spec: {chart: web, sourceRef: {kind: HelmRepository, name: one}}}, serverSideApply: true";
    let release = release.replace("serverSideApply: true", "install: {serverSideApply: true}");
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/web.yaml",
            object(&format!("{HELM}/v2"), "HelmRelease", "web", &release),
        ),
    ];
    let planes = planes(&[Plane::new("a", "v2.7.5", "v2.9.4")], &[&files]);
    let Some(planned) = planned_with_schemas(&planes) else {
        return;
    };
    assert_eq!(
        lines(&planes, &planned),
        ["upgrade a from v2.7.5 to v2.9.4 [] needs []"]
    );
}
