//! The shapes at which a replacement by lines fails (`flux migrate -f`; fluxcd/flux2, cmd/flux/migrate.go), one by one.

use crate::support::{check, findings, lines, read, utf8};

/// Replaces the old version by the new one at every place and compares.
#[track_caller]
fn check_raised(path: &str, before: &str) {
    let after = before
        .replace("helm.toolkit.fluxcd.io/v2beta1", "helm.toolkit.fluxcd.io/v2")
        .replace("source.toolkit.fluxcd.io/v1beta2", "source.toolkit.fluxcd.io/v1")
        .replace("kustomize.toolkit.fluxcd.io/v1beta2", "kustomize.toolkit.fluxcd.io/v1");
    assert_ne!(before, after);
    check(path, before, &after);
}

#[test]
fn shape_quoted_api_version() {
    check_raised(
        "a.yaml",
        "apiVersion: \"helm.toolkit.fluxcd.io/v2beta1\"  # old\nkind: 'HelmRelease'\nmetadata: {name: a}\n",
    );
    check_raised(
        "a.yaml",
        "'apiVersion': 'helm.toolkit.fluxcd.io/v2beta1'\n\"kind\": HelmRelease\nmetadata: {name: a}\n",
    );
}

#[test]
fn shape_kind_before_api_version() {
    check_raised(
        "a.yaml",
        "kind: HelmRelease\napiVersion: helm.toolkit.fluxcd.io/v2beta1\nmetadata: {name: a}\n",
    );
    check_raised(
        "a.yaml",
        "metadata:\n  name: a\nspec:\n  chartRef: {kind: OCIRepository, name: o}\nkind: HelmRelease\napiVersion: helm.toolkit.fluxcd.io/v2beta1\n",
    );
}

#[test]
fn shape_comment_between_api_version_and_kind() {
    check_raised(
        "a.yaml",
        "# lead\napiVersion: helm.toolkit.fluxcd.io/v2beta1\n# between\nkind: HelmRelease\nmetadata: {name: a}\n",
    );
}

#[test]
fn shape_blank_line_between_api_version_and_kind() {
    check_raised(
        "a.yml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\n\n\nkind: HelmRelease\nmetadata: {name: a}\n",
    );
}

#[test]
fn shape_flow_style() {
    check_raised(
        "a.yaml",
        "{apiVersion: helm.toolkit.fluxcd.io/v2beta1, kind: HelmRelease, metadata: {name: a}}\n",
    );
    check_raised(
        "a.yaml",
        "--- {kind: HelmRelease, metadata: {name: a}, apiVersion: helm.toolkit.fluxcd.io/v2beta1}\n",
    );
}

#[test]
fn shape_json_style() {
    check_raised(
        "a.json",
        "{\n  \"apiVersion\": \"helm.toolkit.fluxcd.io/v2beta1\",\n  \"kind\": \"HelmRelease\",\n  \"metadata\": {\"name\": \"a\"}\n}\n",
    );
    check_raised(
        "a.json",
        r#"{"kind":"HelmRelease","metadata":{"name":"a"},"apiVersion":"helm.toolkit.fluxcd.io/v2beta1"}"#,
    );
}

#[test]
fn shape_list_of_objects() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: helm.toolkit.fluxcd.io/v2beta1\n  kind: HelmRelease\n  metadata: {name: a}\n- kind: List\n  apiVersion: v1\n  items:\n  - kind: GitRepository\n    # why\n    apiVersion: source.toolkit.fluxcd.io/v1beta2\n    metadata: {name: b}\n- {apiVersion: v1, kind: Service, metadata: {name: c}}\n";
    check_raised("a.yaml", text);
    assert_eq!(
        lines(&read("a.yaml", text)),
        [
            "4:15 item HelmRelease/a v2beta1 yes",
            "12:17 item GitRepository/b v1beta2 yes"
        ]
    );
    check_raised(
        "a.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmReleaseList\nitems:\n- {apiVersion: helm.toolkit.fluxcd.io/v2beta1, kind: HelmRelease, metadata: {name: a}}\n",
    );
}

#[test]
fn shape_kustomize_patch_target() {
    check(
        "c/kustomization.yaml",
        "resources: [a.yaml]\npatches:\n- path: p.yaml\n  target:\n    group: helm.toolkit.fluxcd.io\n    version: v2beta1 # old\n    kind: HelmRelease\n- patch: '[]'\n  target: {kind: Kustomization, version: \"v1beta2\", name: x}\n",
        "resources: [a.yaml]\npatches:\n- path: p.yaml\n  target:\n    group: helm.toolkit.fluxcd.io\n    version: v2 # old\n    kind: HelmRelease\n- patch: '[]'\n  target: {kind: Kustomization, version: \"v1\", name: x}\n",
    );
    check(
        "c/kustomization.yaml",
        "patchesJson6902:\n- target: {group: source.toolkit.fluxcd.io, version: v1beta2, kind: GitRepository, name: r}\n  path: p.yaml\n",
        "patchesJson6902:\n- target: {group: source.toolkit.fluxcd.io, version: v1, kind: GitRepository, name: r}\n  path: p.yaml\n",
    );
}

#[test]
fn shape_health_checks() {
    check_raised(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  healthChecks:\n  - apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n    name: x\n  - {kind: GitRepository, name: y, apiVersion: source.toolkit.fluxcd.io/v1beta2}\n",
    );
}

#[test]
fn shape_health_check_expressions() {
    check_raised(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  healthCheckExprs:\n  - apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n    current: status.x == 1\n",
    );
}

#[test]
fn shape_source_reference() {
    check_raised(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  sourceRef:\n    kind: GitRepository\n    name: r\n    apiVersion: source.toolkit.fluxcd.io/v1beta2\n",
    );
}

#[test]
fn shape_replacements() {
    let before = "replacements:\n- source: {group: source.toolkit.fluxcd.io, version: v1beta2, kind: GitRepository, fieldPath: spec.url}\n  targets:\n  - select: {version: v2beta1, kind: HelmRelease}\n    reject:\n    - group: helm.toolkit.fluxcd.io\n      version: v2beta2\n      kind: HelmRelease\n      name: no\n    fieldPaths: [spec.x]\n";
    let after = before
        .replace("v1beta2,", "v1,")
        .replace("v2beta1", "v2")
        .replace("v2beta2", "v2");
    check("kustomization.yaml", before, &after);
}

#[test]
fn shape_manifest_inside_a_config_map() {
    check_raised(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  some: text\n  release.yaml: |\n    # mine\n    kind: HelmRelease\n\n    apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    metadata:\n      name: a\n    ---\n    apiVersion: source.toolkit.fluxcd.io/v1beta2\n    kind: GitRepository\n    metadata: {name: b}\n  json: '{\"apiVersion\": \"helm.toolkit.fluxcd.io/v2beta1\", \"kind\": \"HelmRelease\", \"metadata\": {\"name\": \"c\"}}'\n  escaped: \"apiVersion: helm.toolkit.fluxcd.io/v2beta1\\nkind: HelmRelease\\nmetadata: {name: \\\"d\\\"}\\n\"\n",
    );
    let script = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  run.sh: |\n    set -e\n    kubectl get $x -o yaml | grep 'helm.toolkit.fluxcd.io/v2beta1'\n  folded: >\n    apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n";
    let reading = read("a.yaml", script);
    assert_eq!(utf8(&reading.bytes), script);
    assert_eq!(
        lines(&reading),
        [
            "5:11 mention ConfigMap/c v2beta1 review (a text names the version; it is not known what reads it)",
            "8:11 mention ConfigMap/c v2beta1 review (the lines of the text that it stands in are folded, or its indentation is told by a number)"
        ]
    );
}

#[test]
fn shape_helm_template() {
    check_raised(
        "chart/templates/r.yaml",
        "{{- if .Values.on }}\napiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata:\n  name: {{ .Release.Name }}-x\n  labels:\n    {{- include \"x.labels\" . | nindent 4 }}\nspec:\n  chartRef: {kind: OCIRepository, name: o}\n  interval: {{ .Values.interval | default \"1m\" }}\n{{- end }}\n",
    );
    let branches = "{{- if .Values.old }}\napiVersion: helm.toolkit.fluxcd.io/v2beta1\n{{- else }}\napiVersion: helm.toolkit.fluxcd.io/v2beta2\n{{- end }}\nkind: HelmRelease\nmetadata:\n  name: {{ .Release.Name }}\n";
    let reading = read("chart/templates/r.yaml", branches);
    assert_eq!(utf8(&reading.bytes), branches);
    assert_eq!(
        lines(&reading),
        [
            "2:13 reference HelmRelease v2beta1 review (several branches of a template write the type)",
            "4:13 object HelmRelease/{{ .Release.Name }} v2beta2 review (several branches of a template write the type)"
        ]
    );
}

#[test]
fn shape_newer_than_the_target() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\n";
    let reading = crate::support::read_for("v2.2.3", "a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        findings(&reading),
        [
            "ApiVersionNewer a.yaml:1: HelmRelease/a is written in `helm.toolkit.fluxcd.io/v2`, which comes with v2.3.0; v2.2.3 does not serve it"
        ]
    );
}

#[test]
fn shape_windows_line_ends() {
    check_raised(
        "a.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\r\nkind: HelmRelease\r\nmetadata:\r\n  name: a\r\n---\r\napiVersion: v1\r\nkind: ConfigMap\r\ndata:\r\n  a: |\r\n    apiVersion: helm.toolkit.fluxcd.io/v2beta1\r\n    kind: HelmRelease\r\n    metadata: {name: b}\r\n",
    );
    check_raised(
        "a.yaml",
        "\u{feff}apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: a}\n",
    );
    let reading = read(
        "a.yaml",
        "\u{feff}apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\n",
    );
    assert_eq!(lines(&reading), ["1:13 object HelmRelease v2beta1 yes"]);
}
