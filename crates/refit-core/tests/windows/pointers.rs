//! Operations of JSON patches on fields that a hop forces to be converted.

use refit_testkit::planes::{Plane, Planes};

use crate::support::{apply, lines, object, planes, planned, sync};

/// A cluster whose release is patched by operations in a file or in the kustomization, which name no API version.
fn plane(kustomization: &str, operations: &str) -> Planes {
    let spec =
        "interval: 1m, chart: {spec: {chart: c, valuesFile: v.yaml, sourceRef: {kind: HelmRepository, name: h}}}";
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/r.yaml",
            object("helm.toolkit.fluxcd.io/v2beta2", "HelmRelease", "one", spec),
        ),
        ("apps/p.yaml", operations.to_owned()),
        ("apps/kustomization.yaml", kustomization.to_owned()),
    ];
    planes(&[Plane::new("a", "v2.2.3", "v2.3.0")], &[&files])
}

const NAMED: &str = "resources: [r.yaml]\npatches:\n- path: p.yaml\n  target: {kind: HelmRelease}\n";

#[test]
fn an_operation_that_a_person_must_change_holds_the_hop_back_with_its_reason() {
    let operations = "- op: replace\n  path: /spec/chart/spec/valuesFile\n  value: w.yaml\n";
    let inline = format!(
        "resources: [r.yaml]\npatches:\n- target: {{kind: HelmRelease}}\n  patch: |\n    {}\n",
        operations.trim_end().replace('\n', "\n    ")
    );
    for (kustomization, file) in [(NAMED, "apps/p.yaml"), (&*inline, "apps/kustomization.yaml")] {
        let planes = plane(kustomization, operations);
        let planned = planned(&planes);
        let lines = lines(&planes, &planned);
        let told = |line: &String| line.contains("change it by hand together with the objects that it is for");
        assert!(lines.iter().any(told), "{file}: {lines:#?}");
        assert_eq!(planned.unfinished.len(), 1, "{lines:#?}");
    }
}

#[test]
fn an_operation_on_another_field_holds_nothing_back() {
    let planes = plane(NAMED, "- op: replace\n  path: /spec/interval\n  value: 2m\n");
    let planned = planned(&planes);
    let lines = lines(&planes, &planned);
    assert!(planned.unfinished.is_empty() && planned.stuck.is_empty(), "{lines:#?}");
    assert!(
        planned.requests.iter().all(|request| request.left.is_empty()),
        "{lines:#?}"
    );
}
