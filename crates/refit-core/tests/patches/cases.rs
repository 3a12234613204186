//! The policy case about patches, and the rows of the real repositories, each on a small overlay.

use refit_core::patches::over_folders;
use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Answers, Outcome};
use refit_testkit::policy;

use crate::support::{Upgrade, only, shared, told, tree};

const DELETE: &str = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: NAME\n  namespace: f\n";

fn policies(names: &[&str]) -> String {
    let all: Vec<String> = names.iter().map(|name| DELETE.replace("NAME", name)).collect();
    all.join("---\n")
}

fn deployment(name: &str, args: &[&str]) -> String {
    let args: String = args.iter().map(|arg| format!("        - {arg}\n")).collect();
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: {name}\n  namespace: f\nspec:\n  template:\n    spec:\n      \
         containers:\n      - name: manager\n        args:\n{args}"
    )
}

fn alerts(versions: &[&str]) -> String {
    let version = |name: &&str| format!("  - name: {name}\n    schema:\n      kind:\n        enum: [Bucket]\n");
    let versions: String = versions.iter().map(version).collect();
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: alerts.x\nspec:\n  \
         versions:\n{versions}"
    )
}

#[test]
fn the_policy_case_of_a_renamed_target_has_its_outcome_contents_and_message() {
    let Some(path) = shared("facts/merge-policy-cases.yaml") else {
        return;
    };
    let cases = policy::read(&std::fs::read(path).unwrap()).unwrap();
    let case = cases.iter().find(|case| case.id == "P15").unwrap();
    let merged = merge(&case.base, &case.ours, &case.theirs, &Settings::default());
    let settled = over_folders(&case.ours, &merged.tree, &Answers::default());
    assert_eq!(merged.tree, case.expected);
    assert!(settled.files.is_empty());
    let outcomes = merged
        .decisions
        .iter()
        .chain(&settled.decisions)
        .map(|decision| decision.outcome);
    let worst = outcomes.max().unwrap();
    assert_eq!((worst, worst.word()), (Outcome::Conflict, case.outcome.as_str()));
    assert!(
        settled.decisions[0].message.starts_with(&case.message),
        "{}",
        settled.decisions[0].message
    );
}

#[test]
fn a_renamed_target_is_asked_for_and_is_a_draft() {
    let overlay = "resources: [g.yaml]\npatches:\n- target: {kind: Deployment, name: old}\n  patch: |\n    - {op: add, path: /spec/r, value: 3}\n";
    let upgrade = Upgrade::of(
        &[("kustomization.yaml", overlay)],
        "g.yaml",
        &deployment("old", &["--a"]),
        &deployment("new", &["--a"]),
    );
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "open other patch: The patch in kustomization.yaml targets Deployment/old, which the new version does not have; it \
          would silently match nothing. Choose with `refit resolve ID`"
        ]
    );
}

#[test]
fn row_14_a_deletion_whose_policy_is_dropped_stops_the_build_and_the_others_hold() {
    let patch: Vec<String> = ["allow-egress", "allow-scraping", "allow-webhooks"]
        .iter()
        .map(|name| format!("# Delete {name}\n$patch: delete\n{}", DELETE.replace("NAME", name)))
        .collect();
    let files = [
        (
            "kustomization.yaml",
            "resources: [g.yaml]\npatchesStrategicMerge:\n- p.yaml\n",
        ),
        ("p.yaml", &format!("---\n{}", patch.join("---\n"))),
    ];
    let upgrade = Upgrade::of(
        &files,
        "g.yaml",
        &policies(&["allow-egress", "allow-scraping", "allow-webhooks", "other"]),
        &policies(&["allow-egress", "allow-webhooks", "other"]),
    );
    let settled = upgrade.settle(&[]);
    assert_eq!(
        told(&settled),
        [
            "open contract patch: The patch in p.yaml, named by kustomization.yaml, is for NetworkPolicy/allow-scraping in f, \
          which the new version does not have; the build would fail. Choose with `refit resolve ID`"
        ]
    );
    assert_eq!(settled.holding, 2);
}

#[test]
fn row_15_a_build_that_failed_before_is_told_apart() {
    let patch = deployment("source-controller", &["--a"]).replace("namespace: f", "namespace: elsewhere");
    let files = [
        (
            "kustomization.yaml",
            "resources: [g.yaml]\npatchesStrategicMerge:\n- p.yaml\n",
        ),
        ("p.yaml", patch.as_str()),
    ];
    let generated = |arg: &str| deployment("source-controller", &[arg]);
    let upgrade = Upgrade::of(&files, "g.yaml", &generated("--a"), &generated("--b"));
    let settled = upgrade.settle(&[]);
    assert!(settled.decisions.is_empty() && !settled.is_verified);
    let told = told(&settled);
    assert_eq!(told.len(), 1);
    assert!(
        told[0].starts_with("OverlayBroken kustomization.yaml:3: the build of `.` fails before the upgrade: "),
        "{told:?}"
    );
    assert!(told[0].contains("Deployment/source-controller"), "{told:?}");
}

#[test]
fn row_20_an_index_that_stands_for_another_version_is_asked_for_with_the_new_index() {
    let overlay = "resources: [g.yaml]\npatches:\n- patch: |\n    - op: add\n      path: /spec/versions/0/schema/kind/enum/-\n      value: Terraform\n  target:\n    kind: CustomResourceDefinition\n    name: alerts.x\n";
    let upgrade = Upgrade::of(
        &[("kustomization.yaml", overlay)],
        "g.yaml",
        &alerts(&["v1beta1"]),
        &alerts(&["v1", "v1beta1"]),
    );
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "open contract patch: The patch in kustomization.yaml has the operation `add \
          /spec/versions/0/schema/kind/enum/-`, which reaches `spec.versions[name=v1beta1].schema.kind.enum[-]` of \
          CustomResourceDefinition/alerts.x and would reach `spec.versions[name=v1].schema.kind.enum[-]`; what it reached \
          is now at `/spec/versions/1/schema/kind/enum/-`. Choose with `refit resolve ID`"
        ]
    );
}

#[test]
fn row_21_arguments_written_whole_hide_those_that_the_release_adds() {
    let patch = deployment("helm-controller", &["--mine", "--log-level=info"]);
    let files = [
        (
            "kustomization.yaml",
            "resources: [g.yaml]\npatches:\n- path: p.yaml\n- target: {kind: Deployment}\n  patch: |\n    - op: add\n      path: /spec/template/spec/containers/0/args/-\n      value: --concurrent=5\n",
        ),
        ("p.yaml", patch.as_str()),
    ];
    let upgrade = Upgrade::of(
        &files,
        "g.yaml",
        &deployment("helm-controller", &["--log-level=info"]),
        &deployment(
            "helm-controller",
            &["--log-level=info", "--watch-all", "--events-addr=http://n"],
        ),
    );
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "PatchHidesItems kustomization.yaml:3: for `spec.template.spec.containers[name=manager].args` of \
          Deployment/helm-controller in f it hides `--watch-all`, `--events-addr=http://n` of the new version"
        ]
    );
}

#[test]
fn row_22_a_component_that_reaches_another_rule_is_asked_for() {
    let role = |resources: &[&str]| {
        let rule =
            |name: &&str| format!("- apiGroups: ['']\n  resources: [{name}]\n  resourceNames: [x]\n  verbs: [get]\n");
        let rules: String = resources.iter().map(rule).collect();
        format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata:\n  name: r\nrules:\n{rules}")
    };
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: ClusterRole, name: r}\n  patch: |\n    - op: replace\n      path: /rules/0/resourceNames/0\n      value: mine\n- target: {kind: Deployment}\n  patch: |\n    - op: replace\n      path: /spec/template/spec/containers/0/args\n      value: [--a, --b]\n";
    let files = [
        ("kustomization.yaml", "resources: [g.yaml]\ncomponents: [c]\n"),
        ("c/kustomization.yaml", component),
    ];
    let both = |resources: &[&str], args: &[&str]| format!("{}---\n{}", role(resources), deployment("d", args));
    let upgrade = Upgrade::of(
        &files,
        "g.yaml",
        &both(&["secrets"], &["--a"]),
        &both(&["events", "secrets"], &["--a", "--new"]),
    );
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "open contract patch: The patch in c/kustomization.yaml has the operation `replace \
             /rules/0/resourceNames/0`, which reaches `rules[0].resourceNames[0]: {\"apiGroups\":[\"\"],\"resourceNames\":[\"mine\"],\"resources\":[\"secrets\"],\"verbs\":[\"get\"]}` of ClusterRole/r and would reach \
             `rules[0].resourceNames[0]: {\"apiGroups\":[\"\"],\"resourceNames\":[\"mine\"],\"resources\":[\"events\"],\"verbs\":[\"get\"]}`; what it reached is now at `/rules/1/resourceNames/0`. Choose with `refit \
             resolve ID`",
            "PatchHidesItems c/kustomization.yaml:9: for `spec.template.spec.containers[name=manager].args` of \
             Deployment/d in f it hides `--new` of the new version"
        ]
    );
}

#[test]
fn row_23_a_patch_with_target_outlives_an_api_version_and_one_without_does_not() {
    let sync = |version: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/{version}\nkind: Kustomization\nmetadata:\n  name: s\n  namespace: f\nspec:\n  prune: true\n"
        )
    };
    let content: String = sync("v1beta2").lines().map(|line| format!("    {line}\n")).collect();
    let content = content.replace("prune: true", "interval: 1h");
    let with =
        format!("resources: [g.yaml]\npatches:\n- patch: |\n{content}  target: {{kind: Kustomization, name: s}}\n");
    let upgrade = |overlay: &str| {
        Upgrade::of(
            &[("kustomization.yaml", overlay)],
            "g.yaml",
            &sync("v1beta2"),
            &sync("v1"),
        )
    };
    let settled = upgrade(&with).settle(&[]);
    assert_eq!((told(&settled), settled.holding), (Vec::new(), 1));
    let without = with.replace("  target: {kind: Kustomization, name: s}\n", "");
    assert_eq!(
        told(&upgrade(&without).settle(&[])),
        [
            "open contract patch: The patch in kustomization.yaml is for Kustomization/s in f, which the new version does not \
          have; the build would fail. Choose with `refit resolve ID`"
        ]
    );
}

#[test]
fn row_24_an_annotation_for_all_definitions_holds_and_a_label_needs_its_parent() {
    let overlay = "resources: [g.yaml]\npatches:\n- target: {kind: CustomResourceDefinition}\n  patch: |\n    - op: add\n      path: /metadata/annotations/kustomize.toolkit.fluxcd.io~1substitute\n      value: disabled\n";
    let with = alerts(&["v1"]).replace(
        "  name: alerts.x\n",
        "  name: alerts.x\n  annotations: {a: b}\n  labels: {a: b}\n",
    );
    let upgrade = |overlay: &str| Upgrade::of(&[("kustomization.yaml", overlay)], "g.yaml", &with, &alerts(&["v1"]));
    // Kustomize itself annotates objects while it builds, so that the place is always there.
    assert_eq!(told(&upgrade(overlay).settle(&[])), [""; 0]);
    let settled = upgrade(&overlay.replace("annotations", "labels")).settle(&[]);
    only(&settled);
    assert!(
        told(&settled)[0].starts_with(
            "open contract patch: The patch in kustomization.yaml has the operation `add \
             /metadata/labels/kustomize.toolkit.fluxcd.io~1substitute`, whose place \
             CustomResourceDefinition/alerts.x does not have in the new version"
        ),
        "{:?}",
        told(&settled)
    );
}

#[test]
fn row_26_a_dormant_target_that_becomes_live_is_told() {
    let overlay = "resources: [g.yaml]\npatches:\n- target: {kind: Deployment, name: (image-.*)}\n  patch: |\n    - op: add\n      path: /spec/template/spec/containers/0/args/0\n      value: --no-cross-namespace-refs=true\n- target: {kind: Deployment, name: (helm|image)-.*}\n  patch: |\n    - op: add\n      path: /spec/template/spec/containers/0/args/-\n      value: --x\n";
    let helm = deployment("helm-controller", &["--a"]);
    let image = deployment("image-reflector-controller", &["--a"]);
    let upgrade = Upgrade::of(
        &[("kustomization.yaml", overlay)],
        "g.yaml",
        &helm,
        &format!("{helm}---\n{image}"),
    );
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "PatchBecomesLive kustomization.yaml:3: it matched nothing, and with the new version it matches \
          Deployment/image-reflector-controller in f"
        ]
    );
}

#[test]
fn what_is_not_evaluated_is_said_with_its_place_and_nothing_is_claimed() {
    let overlay = "resources:\n- g.yaml\n- https://example.org/base?ref=v1\npatches:\n- target: {kind: Deployment, name: old}\n  patch: |\n    - {op: add, path: /spec/r, value: 3}\n";
    let upgrade = Upgrade::of(
        &[("kustomization.yaml", overlay)],
        "g.yaml",
        &deployment("old", &["--a"]),
        &deployment("new", &["--a"]),
    );
    let settled = upgrade.settle(&[]);
    let told = told(&settled);
    assert_eq!((told.len(), settled.is_verified), (1, false));
    assert!(
        told[0].starts_with("OverlayNotEvaluated kustomization.yaml:3: the build of `.` is not evaluated: "),
        "{told:?}"
    );
}

#[test]
fn a_patch_whose_value_the_release_has_now_is_redundant() {
    let overlay = "resources: [g.yaml]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    kind: Deployment\n    metadata: {name: any}\n    spec: {replicas: 2}\n";
    let of = |replicas: usize| {
        deployment("d", &["--a"]).replace(
            "spec:\n  template",
            &format!("spec:\n  replicas: {replicas}\n  template"),
        )
    };
    let upgrade = Upgrade::of(&[("kustomization.yaml", overlay)], "g.yaml", &of(1), &of(2));
    assert_eq!(
        told(&upgrade.settle(&[])),
        [
            "PatchRedundant kustomization.yaml:3: it changes nothing of Deployment/d in f any more: the new version has the \
          value itself"
        ]
    );
}

#[test]
fn folders_are_verified_from_every_kustomization_once() {
    let base = "resources: [g.yaml]\npatches:\n- target: {kind: Deployment, name: old}\n  patch: |\n    - {op: add, path: /spec/r, value: 3}\n";
    let files = |name: &str| {
        let generated = deployment(name, &["--a"]);
        tree(&[
            ("base/kustomization.yaml", base),
            ("base/g.yaml", generated.as_str()),
            (
                "top/kustomization.yaml",
                "resources: [../base]\npatches:\n- target: {kind: Deployment}\n  patch: |\n    - {op: add, path: /spec/s, value: 3}\n",
            ),
        ])
    };
    let settled = over_folders(&files("old"), &files("new"), &Answers::default());
    assert_eq!(settled.decisions.len(), 1, "{:#?}", told(&settled));
    assert!(
        over_folders(&files("old"), &files("old"), &Answers::default())
            .decisions
            .is_empty()
    );
}
