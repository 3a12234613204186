//! R3: HelmReleases.

use super::support::*;

fn release(version: &str, spec: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata: {{name: h}}\nspec:\n  interval: 5m\n{spec}"
    )
}

#[track_caller]
fn check(before: &str, after: &str) {
    for old in ["v2beta1", "v2beta2"] {
        check_convert("v2", &release(old, before), &release("v2", after));
    }
}

#[test]
fn r3_the_values_file_goes_in_front() {
    check(
        "  chart: {spec: {chart: c, valuesFile: prod.yaml, valuesFiles: [x.yaml]}}\n",
        "  chart: {spec: {chart: c, valuesFiles: [prod.yaml, x.yaml]}}\n",
    );
    check(
        "  chart:\n    spec:\n      chart: c\n      # why\n      valuesFile: prod.yaml # t\n      sourceRef: {name: r}\n",
        "  chart:\n    spec:\n      chart: c\n      # why\n      valuesFiles:\n      - prod.yaml # t\n      sourceRef: {name: r}\n",
    );
    check(
        "  chart:\n    spec:\n      chart: c\n      valuesFiles:\n        - x.yaml\n      # why\n      valuesFile: 'prod.yaml'\n",
        "  chart:\n    spec:\n      chart: c\n      valuesFiles:\n        # why\n        - 'prod.yaml'\n        - x.yaml\n",
    );
}

#[test]
fn r3_a_values_file_that_is_first_already_is_not_repeated() {
    check(
        "  chart: {spec: {chart: c, valuesFile: a.yaml, valuesFiles: [a.yaml, x.yaml]}}\n",
        "  chart: {spec: {chart: c, valuesFiles: [a.yaml, x.yaml]}}\n",
    );
    check(
        "  chart: {spec: {chart: c, valuesFile: a.yaml, valuesFiles: [x.yaml, a.yaml]}}\n",
        "  chart: {spec: {chart: c, valuesFiles: [a.yaml, x.yaml, a.yaml]}}\n",
    );
}

#[test]
fn r3_patches_of_each_post_renderer_become_one_list() {
    check(
        "  chart: {spec: {chart: c}}\n  postRenderers:\n  # first\n  - kustomize:\n      patchesJson6902:\n      - target: {kind: J}\n        patch:\n        - {op: remove, path: /a}\n      patchesStrategicMerge:\n      # s\n      - kind: S\n        spec: {a: 1}\n      images: []\n  - kustomize:\n      patchesStrategicMerge:\n      - kind: T\n",
        "  chart: {spec: {chart: c}}\n  postRenderers:\n  # first\n  - kustomize:\n      patches:\n      # s\n      - patch: |\n          kind: S\n          spec: {a: 1}\n      - target: {kind: J}\n        patch: |\n          - op: remove\n            path: /a\n      images: []\n  - kustomize:\n      patches:\n      - patch: |\n          kind: T\n",
    );
}

#[test]
fn r3_one_of_chart_and_chart_ref_is_wanted() {
    check_stopped(
        "v2",
        &release("v2beta2", "  a: 1\n"),
        "exactly one of `spec.chart` and `spec.chartRef`",
    );
    check_stopped(
        "v2",
        &release("v2beta2", "  chart: {}\n  chartRef: {}\n"),
        "exactly one of",
    );
    check(
        "  chartRef: {kind: HelmChart, name: c}\n",
        "  chartRef: {kind: HelmChart, name: c}\n",
    );
}

#[test]
fn r3_new_limits_are_for_review() {
    for (field, message) in [
        (
            "  valuesFrom:\n  - {kind: Secret, name: s, targetPath: \"a b\"}\n",
            "refuses this `targetPath`",
        ),
        (
            "  valuesFrom:\n  - {kind: Secret, name: s, valuesKey: a/b}\n",
            "refuses this `valuesKey`",
        ),
        (
            &*format!("  serviceAccountName: {}\n", "a".repeat(254)),
            "longer than 253",
        ),
    ] {
        let (_, converted) = run(
            "v2",
            &release("v2beta1", &format!("  chart: {{spec: {{chart: c}}}}\n{field}")),
        );
        assert!(!converted.is_untouched(), "{converted:#?}");
        check_told(&converted, message);
    }
    let kept = "  chart: {spec: {chart: c}}\n  valuesFrom:\n  - {kind: Secret, name: s, targetPath: 'a.b[0]', valuesKey: a.b}\n";
    let (_, converted) = run("v2", &release("v2beta1", kept));
    assert!(converted.reviews.is_empty(), "{converted:#?}");
}

#[test]
fn r3_skip_crds_is_told_and_stays() {
    let spec = "  chart: {spec: {chart: c}}\n  install: {skipCRDs: true}\n";
    check(spec, spec);
    let (_, converted) = run("v2", &release("v2beta1", spec));
    check_told(&converted, "`crds: Skip` says the same");
}
