//! Where API versions hide, beyond the shapes of `flux migrate`.

use refit_core::places::Content;

use crate::support::{check, lines, read, utf8};

#[test]
fn patch_contents_are_converted_wherever_they_stand() {
    check(
        "kustomization.yaml",
        "patches:\n- patch: |\n    apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n    metadata: {name: a}\n    spec: {interval: 5m}\n- patch: |-\n    - op: add\n      path: /spec/healthChecks/-\n      value: {apiVersion: helm.toolkit.fluxcd.io/v2beta2, kind: HelmRelease, name: x}\n  target: {kind: Kustomization}\npatchesStrategicMerge:\n- |-\n  kind: GitRepository\n  apiVersion: source.toolkit.fluxcd.io/v1beta2\n  metadata: {name: r}\n- other.yaml\n",
        "patches:\n- patch: |\n    apiVersion: helm.toolkit.fluxcd.io/v2\n    kind: HelmRelease\n    metadata: {name: a}\n    spec: {interval: 5m}\n- patch: |-\n    - op: add\n      path: /spec/healthChecks/-\n      value: {apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, name: x}\n  target: {kind: Kustomization}\npatchesStrategicMerge:\n- |-\n  kind: GitRepository\n  apiVersion: source.toolkit.fluxcd.io/v1\n  metadata: {name: r}\n- other.yaml\n",
    );
}

#[test]
fn a_patch_may_lack_what_an_object_must_have() {
    let text = "apiVersion: notification.toolkit.fluxcd.io/v1beta2\nkind: Receiver\nmetadata: {name: r}\nspec: {interval: 5m}\n";
    let stream = refit_manifest::Stream::split(text.as_bytes().into()).unwrap();
    let wanted = crate::support::wanted("v2.9.4");
    let reading = refit_core::conversion::read_as(&Content::Patch(Vec::new()), &"p.yaml".into(), &stream, &wanted);
    assert_eq!(utf8(&reading.bytes), text.replace("v1beta2", "v1"));
    assert_eq!(lines(&reading), ["1:13 patch Receiver/r v1beta2 yes"]);
}

#[test]
fn patches_of_a_flux_kustomization_are_converted_with_their_targets() {
    check(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patches:\n  - target:\n      kind: HelmRelease\n      version: v2beta1\n    patch: |\n      apiVersion: helm.toolkit.fluxcd.io/v2beta1\n      kind: HelmRelease\n      metadata:\n        name: all\n",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patches:\n  - target:\n      kind: HelmRelease\n      version: v2\n    patch: |\n      apiVersion: helm.toolkit.fluxcd.io/v2\n      kind: HelmRelease\n      metadata:\n        name: all\n",
    );
}

#[test]
fn a_target_that_may_mean_others_is_left_to_people() {
    let text = "patches:\n- path: p.yaml\n  target: {kind: Provider, version: v1beta1}\n- path: p.yaml\n  target: {group: helm.toolkit.fluxcd.io, kind: HelmRelease, version: 'v2beta[12]'}\n- path: p.yaml\n  target: {group: '.*.toolkit.fluxcd.io', kind: HelmRelease, version: v2beta1}\n- path: p.yaml\n  target: {kind: Deployment, version: v1beta1}\n";
    let reading = read("kustomization.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        [
            "3:37 target Provider v1beta1 review (it names no group, and other groups have the kind, too)",
            "5:71 target HelmRelease v2beta[12] review (it is a pattern that may mean several versions)",
            "7:71 target HelmRelease v2beta1 review (it is a pattern that may mean several versions)"
        ]
    );
}

#[test]
fn templates_of_objects_are_converted() {
    for (group, kind, field) in [
        ("templates.weave.works/v1alpha2", "GitOpsTemplate", "resourcetemplates"),
        ("capi.weave.works/v1alpha2", "CAPITemplate", "resourcetemplates"),
        ("templates.weave.works/v1alpha1", "GitOpsSet", "templates"),
    ] {
        let before = format!(
            "apiVersion: {group}\nkind: {kind}\nmetadata: {{name: t}}\nspec:\n  {field}:\n  - content:\n    - apiVersion: helm.toolkit.fluxcd.io/v2beta1\n      kind: HelmRelease\n      metadata:\n        name: ${{NAME}}\n      spec:\n        chartRef: {{kind: OCIRepository, name: o}}\n        interval: \"{{{{ .params.interval }}}}\"\n    raw: |\n      apiVersion: source.toolkit.fluxcd.io/v1beta2\n      kind: GitRepository\n      metadata:\n        name: ${{NAME}}\n"
        );
        let after = before.replace("/v2beta1", "/v2").replace("/v1beta2", "/v1");
        check("t.yaml", &before, &after);
    }
}

#[test]
fn an_object_inside_one_that_nobody_knows_is_left_to_people_but_a_reference_is_raised() {
    let text = "apiVersion: example.org/v1\nkind: Thing\nmetadata: {name: t}\nspec:\n  ref: {apiVersion: source.toolkit.fluxcd.io/v1beta2, kind: GitRepository, name: r}\n  manifest:\n    apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n    metadata: {name: a}\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text.replace("/v1beta2", "/v1"));
    assert_eq!(
        lines(&reading),
        [
            "5:21 reference GitRepository/r v1beta2 yes",
            "7:17 embedded HelmRelease/a v2beta1 review (it stands inside an object whose controller may expect it as it is)"
        ]
    );
}

#[test]
fn values_of_a_release_are_converted() {
    let before = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  values:\n    extra:\n    - apiVersion: source.toolkit.fluxcd.io/v1beta2\n      kind: HelmRepository\n      metadata: {name: r}\n";
    check("a.yaml", before, &before.replace("/v1beta2", "/v1"));
}

#[test]
fn texts_that_only_name_a_version_are_shown() {
    let text = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec:\n  args: [get, helm.toolkit.fluxcd.io/v2beta1, source.toolkit.fluxcd.io/v1]\n---\n- op: replace\n  path: /apiVersion\n  value: source.toolkit.fluxcd.io/v1beta2\n";
    assert_eq!(
        lines(&read("a.yaml", text)),
        [
            "5:15 mention Job/j v2beta1 review (a text names the version; it is not known what reads it)",
            "9:10 mention  v1beta2 review (a text names the version; it is not known what reads it)"
        ]
    );
}

#[test]
fn a_version_that_is_shared_by_an_anchor_is_left_to_people() {
    let text = "a: &v helm.toolkit.fluxcd.io/v2beta1\nb: {apiVersion: *v, kind: HelmRelease, metadata: {name: a}}\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert!(
        lines(&reading).iter().all(|line| line.contains(" review ")),
        "{:?}",
        lines(&reading)
    );
}

#[test]
fn texts_within_texts_are_converted() {
    let before = "apiVersion: v1\nkind: ConfigMap\ndata:\n  kustomization.yaml: |\n    patches:\n    - target: {group: helm.toolkit.fluxcd.io, version: v2beta1, kind: HelmRelease}\n      patch: |\n        apiVersion: helm.toolkit.fluxcd.io/v2beta1\n        kind: HelmRelease\n        metadata: {name: a}\n";
    check("a.yaml", before, &before.replace("v2beta1", "v2"));
}

#[test]
fn definitions_are_no_uses() {
    let text = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\nspec:\n  group: helm.toolkit.fluxcd.io\n  names: {kind: HelmRelease}\n  versions:\n  - name: v2beta1\n    description: see helm.toolkit.fluxcd.io/v2beta1\n";
    assert!(read("a.yaml", text).uses.is_empty());
}

#[test]
fn what_stands_in_a_field_that_is_moved_or_wrapped_is_converted_with_it() {
    check(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  interval: 10m\n  patches:\n  - target:\n      kind: HelmRelease\n      version: v2beta1 # old\n    patch: |\n      apiVersion: helm.toolkit.fluxcd.io/v2beta1\n      kind: HelmRelease\n      metadata: {name: all}\n  patchesJson6902:\n  - target: {group: helm.toolkit.fluxcd.io, version: v2beta1, kind: HelmRelease, name: web}\n    patch:\n    - op: add\n      path: /spec/dependsOn\n      value: []\n",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  interval: 10m\n  patches:\n  - target:\n      kind: HelmRelease\n      version: v2 # old\n    patch: |\n      apiVersion: helm.toolkit.fluxcd.io/v2\n      kind: HelmRelease\n      metadata: {name: all}\n  - target: {group: helm.toolkit.fluxcd.io, version: v2, kind: HelmRelease, name: web}\n    patch: |\n      - op: add\n        path: /spec/dependsOn\n        value: []\n",
    );
    check(
        "a.yaml",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1beta1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  interval: 10m\n  validation: client\n  patchesStrategicMerge:\n  # one release\n  - apiVersion: helm.toolkit.fluxcd.io/v2beta1\n    kind: HelmRelease\n    metadata: {name: web}\n    spec: {interval: 5m}\n",
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps}\nspec:\n  interval: 10m\n  patches:\n  # one release\n  - patch: |\n      apiVersion: helm.toolkit.fluxcd.io/v2\n      kind: HelmRelease\n      metadata: {name: web}\n      spec: {interval: 5m}\n",
    );
}

#[test]
fn items_that_say_no_kind_are_left_to_people_with_their_list() {
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmReleaseList\nitems:\n- metadata: {name: a}\n  spec: {chart: {spec: {valuesFile: v.yaml}}}\n";
    let reading = read("a.yaml", text);
    assert_eq!(utf8(&reading.bytes), text);
    assert_eq!(
        lines(&reading),
        ["1:13 list HelmReleaseList v2beta1 review (its items do not say their version and kind: write both in each)"]
    );
}

#[test]
fn no_value_of_a_field_is_told() {
    let text = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {name: a}\nspec:\n  patchesStrategicMerge:\n  - apiVersion: v1\n    kind: Secret\n    metadata: {name: s}\n    stringData: {password: hunter2}\n";
    let reading = read("a.yaml", text);
    assert!(reading.changes().count() > 1, "{:?}", lines(&reading));
    let told = format!("{:?} {:?} {:?}", reading.uses, reading.notes, reading.findings);
    assert!(!told.contains("hunter2") && !told.contains("password"), "{told}");
}

#[test]
fn a_file_of_thousands_of_documents_is_converted_document_by_document() {
    let one = |number: usize, version: &str, files: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata: {{name: r{number}}}\nspec: {{interval: 5m, chart: {{spec: {{chart: c, {files}, sourceRef: {{kind: HelmRepository, name: h}}}}}}}}\n---\n"
        )
    };
    let all = |version: &str, files: &str| (0..5000).map(|number| one(number, version, files)).collect::<String>();
    let bytes: std::sync::Arc<[u8]> = all("v2beta1", "valuesFile: v.yaml").into_bytes().into();
    let reading = refit_core::conversion::read(&"a.yaml".into(), &bytes, &crate::support::wanted("v2.9.4"));
    assert!(
        utf8(&reading.bytes) == all("v2", "valuesFiles: [v.yaml]"),
        "not all are converted"
    );
    assert_eq!(reading.changes().count(), 10_000);
    assert_eq!(reading.uses[9998].line, 4999 * 5 + 1);
}
