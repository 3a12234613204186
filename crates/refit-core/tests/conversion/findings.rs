//! What cannot be converted is found, nothing is lost, and the rest is converted.

use crate::support::{findings, lines, read, utf8};

const OLD: &str = "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: GitRepository\nmetadata: {name: r}\n";

/// Reads a document with an old object behind it, which must be converted all the same.
#[track_caller]
fn check(path: &str, text: &str, expected: &[&str]) {
    let file = format!("{text}---\n{OLD}");
    let reading = read(path, &file);
    assert_eq!(
        utf8(&reading.bytes),
        format!("{text}---\n{}", OLD.replace("v1beta2", "v1"))
    );
    assert_eq!(findings(&reading), expected);
}

#[test]
fn an_unknown_kind_of_a_known_group_is_found() {
    check(
        "a.yaml",
        "apiVersion: source.toolkit.fluxcd.io/v1beta1\nkind: ArtifactGenerator\nmetadata: {name: a}\n",
        &[
            "UnknownKind a.yaml:1: `ArtifactGenerator` is of the group `source.extensions.fluxcd.io`, not of `source.toolkit.fluxcd.io`",
        ],
    );
    check(
        "a.yaml",
        "# x\nkind: Helmrelease\napiVersion: helm.toolkit.fluxcd.io/v2beta1\nmetadata: {name: a}\n",
        &["UnknownKind a.yaml:3: `helm.toolkit.fluxcd.io` has no kind `Helmrelease`"],
    );
}

#[test]
fn a_version_that_the_release_does_not_serve_yet_is_found() {
    check(
        "a.yaml",
        "apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Alert\nmetadata: {name: a}\n",
        &[
            "ApiVersionNewer a.yaml:1: Alert/a is written in `notification.toolkit.fluxcd.io/v1`, which v2.9.4 does not serve",
        ],
    );
}

#[test]
fn a_document_that_is_no_yaml_is_found_with_its_line() {
    check(
        "a.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nspec: [\n",
        &["UnreadableManifest a.yaml:3: line 3, column 7: unclosed bracket '['"],
    );
}

#[test]
fn a_template_that_cannot_be_masked_is_found() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata:\n  name: a\nspec:\n{{ toYaml .Values.spec | indent 2 }}\n  }} {{ broken: [\n";
    let reading = read("chart/templates/a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    let found = findings(&reading);
    assert!(
        found.len() == 1 && found[0].starts_with("TemplateNotMasked chart/templates/a.yaml:"),
        "{found:?}"
    );
}

#[test]
fn files_that_are_not_utf8_or_hold_conflict_markers_are_found_and_left() {
    let text = format!("<<<<<<< a\n{OLD}=======\n{OLD}>>>>>>> b\n");
    let reading = read("a.yaml", &text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        findings(&reading),
        ["UnreadableManifest a.yaml: line 1: Git conflict marker; the file names API versions and was left as it is"]
    );
}

#[test]
fn what_sops_encrypted_is_never_touched() {
    let text = "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: GitRepository\nmetadata: {name: r}\nspec:\n  secret: ENC[AES256_GCM,data:x,tag:y]\nsops:\n  lastmodified: \"2024-01-01T00:00:00Z\"\n  mac: ENC[AES256_GCM,data:z]\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        [
            "1:13 object GitRepository/r v1beta2 no (SOPS encrypted it, and its checksum covers the API version: change it with `sops`)"
        ]
    );
}

#[test]
fn files_that_name_no_version_are_not_even_parsed() {
    for text in [
        "a: [\n",
        "kind: Service\nmetadata: {annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}, x: [\n",
    ] {
        let reading = read("a.yaml", text);
        assert!(
            reading.findings.is_empty() && reading.uses.is_empty(),
            "{:?}",
            reading.findings
        );
    }
    let reading = read("notes.md", OLD);
    assert!(reading.uses.is_empty());
}
