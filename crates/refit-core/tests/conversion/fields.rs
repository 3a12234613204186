//! Removed fields go with the version, wherever the object stands.

use crate::support::{check, lines, read, utf8};

#[test]
fn shape_removed_fields() {
    check(
        "a.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart:\n    spec:\n      chart: x\n      # the values of production\n      valuesFile: prod.yaml\n      sourceRef: {kind: HelmRepository, name: r}\n  interval: 1m # often\n",
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart:\n    spec:\n      chart: x\n      # the values of production\n      valuesFiles:\n      - prod.yaml\n      sourceRef: {kind: HelmRepository, name: r}\n  interval: 1m # often\n",
    );
    check(
        "a.yaml",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\n  kind: Kustomization\n  metadata: {name: a}\n  spec:\n    validation: client\n    prune: true\n",
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: kustomize.toolkit.fluxcd.io/v1\n  kind: Kustomization\n  metadata: {name: a}\n  spec:\n    prune: true\n",
    );
}

#[test]
fn removed_fields_of_texts_inside_scalars_go_too() {
    check(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    apiVersion: source.toolkit.fluxcd.io/v1beta2\n    kind: GitRepository\n    metadata: {name: r}\n    spec:\n      gitImplementation: libgit2\n      url: https://example.org\n  b: \"apiVersion: source.toolkit.fluxcd.io/v1beta2\\nkind: GitRepository\\nmetadata: {name: r}\\nspec:\\n  gitImplementation: libgit2\\n  url: x\\n\"\n",
        "apiVersion: v1\nkind: ConfigMap\ndata:\n  a: |\n    apiVersion: source.toolkit.fluxcd.io/v1\n    kind: GitRepository\n    metadata: {name: r}\n    spec:\n      url: https://example.org\n  b: \"apiVersion: source.toolkit.fluxcd.io/v1\\nkind: GitRepository\\nmetadata: {name: r}\\nspec:\\n  url: x\\n\"\n",
    );
}

#[test]
fn an_object_that_a_rule_stops_stays_and_says_why() {
    let text = "apiVersion: notification.toolkit.fluxcd.io/v1beta2\nkind: Receiver\nmetadata: {name: r}\nspec: {type: github, resources: []}\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    let found = lines(&reading);
    assert!(
        found.len() == 1 && found[0].starts_with("1:13 object Receiver/r v1beta2 review ("),
        "{found:?}"
    );
    assert!(found[0].contains("secretRef"), "{found:?}");
}

#[test]
fn a_field_is_found_at_its_line() {
    let text = "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: GitRepository\nmetadata: {name: r}\nspec:\n  url: x\n  gitImplementation: go-git\n";
    let reading = read("a.yaml", text);
    assert_eq!(
        lines(&reading),
        [
            "1:13 object GitRepository/r v1beta2 yes",
            "6:22 object GitRepository/r spec.gitImplementation yes"
        ]
    );
    assert!(
        reading.uses[1]
            .rule
            .as_deref()
            .is_some_and(|rule| rule.starts_with("R2")),
        "{:?}",
        reading.uses[1]
    );
}
