//! Versions that are written in odd ways.

use crate::support::{check, findings, lines, read, utf8};

#[test]
fn a_version_that_is_put_together_is_one_use_for_a_person() {
    for (path, version) in [
        ("a.yaml", "${V:=v2beta1}"),
        (
            "charts/c/templates/a.yaml",
            "{{ .Values.version | default \"v2beta1\" }}",
        ),
    ] {
        let text = format!("apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata:\n  name: a\n");
        let reading = read(path, &text);
        assert_eq!(utf8(&reading.bytes), text);
        assert_eq!(
            lines(&reading),
            ["1:13 object HelmRelease/a apiVersion review (see that it becomes one which v2.9.4 serves)"]
        );
        assert!(reading.findings.is_empty(), "{:?}", findings(&reading));
    }
}

#[test]
fn each_branch_of_a_template_that_writes_an_old_version_is_told() {
    let text = "{{- if .Values.old }}\napiVersion: helm.toolkit.fluxcd.io/v2beta1\n{{- else }}\napiVersion: helm.toolkit.fluxcd.io/v2\n{{- end }}\nkind: HelmRelease\nmetadata:\n  name: a\n";
    let reading = read("charts/c/templates/a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    let lines = lines(&reading);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].starts_with("2:13 ") && lines[0].contains(" v2beta1 review "),
        "{lines:?}"
    );
}

#[test]
fn a_target_whose_version_is_a_pattern_is_no_newer_version() {
    let text =
        "patches:\n- path: p.yaml\n  target: {group: helm.toolkit.fluxcd.io, kind: HelmRelease, version: v2beta.}\n";
    let reading = read("kustomization.yaml", text);
    assert!(reading.findings.is_empty(), "{:?}", findings(&reading));
    assert_eq!(
        lines(&reading),
        ["3:71 target HelmRelease v2beta. review (it is a pattern that may mean several versions)"]
    );
}

#[test]
fn a_version_with_an_escaped_slash_is_found() {
    check(
        "a.json",
        "{\"apiVersion\": \"source.toolkit.fluxcd.io\\/v1beta2\", \"kind\": \"GitRepository\", \"metadata\": {\"name\": \"r\"}}\n",
        "{\"apiVersion\": \"source.toolkit.fluxcd.io/v1\", \"kind\": \"GitRepository\", \"metadata\": {\"name\": \"r\"}}\n",
    );
}

#[test]
fn a_file_in_utf_16_is_told() {
    let text = "apiVersion: source.toolkit.fluxcd.io/v1beta2\nkind: GitRepository\n";
    let mut bytes = vec![0xff, 0xfe];
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    let reading = refit_core::conversion::read(&"a.yaml".into(), &bytes.into(), &crate::support::wanted("v2.9.4"));
    assert_eq!(
        findings(&reading),
        ["UnreadableManifest a.yaml: byte 0 is not UTF-8; the file names API versions and was left as it is"]
    );
}

#[test]
fn a_patch_without_operations_becomes_a_text() {
    check(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patchesJson6902:\n  - target: {kind: A}\n    patch: []\n",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patches:\n  - target: {kind: A}\n    patch: |\n      []\n",
    );
}
