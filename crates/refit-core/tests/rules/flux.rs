//! R1: Kustomizations.

use super::support::*;

fn kustomization(version: &str, spec: &str) -> String {
    format!(
        "# mine\napiVersion: kustomize.toolkit.fluxcd.io/{version} # keep\nkind: Kustomization\nmetadata: {{name: a}}\nspec:\n  interval: 5m\n{spec}"
    )
}

#[track_caller]
fn check(before: &str, after: &str) {
    for old in ["v1beta1", "v1beta2"] {
        check_convert("v1", &kustomization(old, before), &kustomization("v1", after));
    }
}

#[test]
fn r1_validation_goes_with_its_comments() {
    check(
        "  # of path\n  path: ./a\n  # of validation\n  validation: client # t\n  # of prune\n  prune: true\n",
        "  # of path\n  path: ./a\n  # of prune\n  prune: true\n",
    );
}

#[test]
fn r1_json6902_operations_become_the_text_of_a_patch() {
    check(
        "  validation: client\n  patchesJson6902:\n  - target: {version: v1, kind: Deployment, name: web}\n    patch:\n    - {op: add, path: /spec/replicas, value: 3}\n",
        "  patches:\n  - target: {version: v1, kind: Deployment, name: web}\n    patch: |\n      - op: add\n        path: /spec/replicas\n        value: 3\n",
    );
}

#[test]
fn r1_strategic_patches_stand_before_and_json6902_behind_the_patches_that_are_there() {
    check(
        "  # one\n  patches:\n  # p\n  - patch: |\n      kind: P\n  patchesJson6902:\n  # j\n  - target:\n      kind: J # jt\n    # why\n    patch:\n    # first\n    - op: remove\n      path: /a # a\n  patchesStrategicMerge:\n  # s\n  - apiVersion: v1\n    kind: S # st\n    metadata:\n      name: s\n  suspend: false\n",
        "  # one\n  patches:\n  # s\n  - patch: |\n      apiVersion: v1\n      kind: S # st\n      metadata:\n        name: s\n  # p\n  - patch: |\n      kind: P\n  # j\n  - target:\n      kind: J # jt\n    # why\n    patch: |\n      # first\n      - op: remove\n        path: /a # a\n  suspend: false\n",
    );
}

#[test]
fn r1_without_patches_the_strategic_ones_keep_their_place_and_json6902_follows() {
    check(
        "  patchesStrategicMerge:\n    # s\n    - kind: S\n      metadata: {name: s}\n  path: ./a\n  patchesJson6902:\n    - target: {kind: J}\n      patch:\n        - op: test\n          path: /x\n          value:\n            y: [1]\n",
        "  patches:\n    # s\n    - patch: |\n        kind: S\n        metadata: {name: s}\n    - target: {kind: J}\n      patch: |\n        - op: test\n          path: /x\n          value:\n            y: [1]\n  path: ./a\n",
    );
}

#[test]
fn r1_in_flow_style_and_json_a_patch_is_a_quoted_text() {
    check_text(
        "v1",
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1beta2, kind: Kustomization, spec: {validation: none, patchesStrategicMerge: [{kind: S}], patchesJson6902: [{target: {kind: J}, patch: [{op: remove, path: /a}]}]}}\n",
        "{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, spec: {patches: [{patch: '{\"kind\": \"S\"}'}, {target: {kind: J}, patch: '[{\"op\": \"remove\", \"path\": \"/a\"}]'}]}}\n",
    );
    check_text(
        "v1",
        "{\n  \"apiVersion\": \"kustomize.toolkit.fluxcd.io/v1beta2\",\n  \"kind\": \"Kustomization\",\n  \"spec\": {\n    \"validation\": \"none\",\n    \"patchesJson6902\": [{\"target\": {\"kind\": \"J\"}, \"patch\": [{\"op\": \"remove\", \"path\": \"/a\"}]}]\n  }\n}\n",
        "{\n  \"apiVersion\": \"kustomize.toolkit.fluxcd.io/v1\",\n  \"kind\": \"Kustomization\",\n  \"spec\": {\n    \"patches\": [{\"target\": {\"kind\": \"J\"}, \"patch\": \"[{\\\"op\\\": \\\"remove\\\", \\\"path\\\": \\\"/a\\\"}]\"}]\n  }\n}\n",
    );
}

#[test]
fn r1_json6902_patches_that_saw_renamed_objects_are_for_review() {
    for field in [
        "targetNamespace: x",
        "namePrefix: x",
        "nameSuffix: x",
        "commonMetadata: {labels: {a: b}}",
    ] {
        let spec = format!(
            "  {field}\n  patchesJson6902:\n  - target: {{kind: J}}\n    patch:\n    - {{op: remove, path: /a}}\n"
        );
        let (_, converted) = run("v1", &kustomization("v1beta2", &spec));
        assert!(!converted.is_stopped() && !converted.is_untouched(), "{converted:#?}");
        check_told(&converted, "each target still names its object");
    }
    let (_, converted) = run("v1", &kustomization("v1beta2", "  targetNamespace: x\n  patches: []\n"));
    assert!(converted.reviews.is_empty(), "{converted:#?}");
}

#[test]
fn r1_quoted_keys_and_kind_before_version_are_no_matter() {
    check_text(
        "v1",
        "kind: \"Kustomization\"\n\n# c\n\"apiVersion\": 'kustomize.toolkit.fluxcd.io/v1beta1'\nspec:\n  \"validation\": \"client\"\n  'prune': true\n",
        "kind: \"Kustomization\"\n\n# c\n\"apiVersion\": 'kustomize.toolkit.fluxcd.io/v1'\nspec:\n  'prune': true\n",
    );
}

#[test]
fn r1_a_shared_anchor_is_for_people() {
    let before = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: &m {name: a}\nspec: &s\n  validation: client\nx: *s\n";
    check_stopped("v1", before, "anchor `&s`");
}

#[test]
fn r2_git_repositories_lose_what_did_nothing() {
    let object = |version: &str, spec: &str| {
        format!("apiVersion: source.toolkit.fluxcd.io/{version}\nkind: GitRepository\nspec:\n  url: u\n{spec}")
    };
    check_convert(
        "v1",
        &object(
            "v1beta2",
            "  # impl\n  gitImplementation: libgit2\n  ref: {branch: main} # r\n  accessFrom: {namespaceSelectors: []}\n",
        ),
        &object("v1", "  ref: {branch: main} # r\n"),
    );
    let (_, converted) = run("v1", &object("v1beta1", ""));
    check_told(&converted, "the old default `master`");
    let (_, converted) = run("v1", &object("v1beta2", ""));
    assert!(converted.reviews.is_empty(), "{converted:#?}");
    check_stopped(
        "v1",
        &object("v1beta1", "  ref: {branch: x}\n  verify: {mode: head}\n"),
        "`spec.verify.secretRef` is missing",
    );
    let kept = "  verify: {mode: head, secretRef: {name: s}}\n";
    check_convert("v1", &object("v1beta2", kept), &object("v1", kept));
}
