//! Answers to broken patches: what they write, and what is asked next.

use refit_manifest::{Answer, Path};

use crate::support::{Upgrade, only, told};

const OVERLAY: &str = "\
# Ours.
resources: [g.yaml]
patches:
# Terraform sends alerts, too.
- patch: |
    - op: add
      path: /spec/versions/0/enum/-
      value: Terraform
    # not yet:
    # - op: add
    #   path: /spec/versions/0/enum/-
  target:
    kind: Crd
    name: alerts
- target: {kind: Crd, name: alerts}
  patch: '[{\"op\": \"replace\", \"path\": \"/spec/versions/1/old\", \"value\": 1}, {\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}]'
";

fn crd(versions: &[&str]) -> String {
    let version = |name: &&str| format!("  - name: {name}\n    enum: [Bucket]\n    old: 0\n");
    let versions: String = versions.iter().map(version).collect();
    format!("apiVersion: x/v1\nkind: Crd\nmetadata:\n  name: alerts\nspec:\n  versions:\n{versions}")
}

fn upgrade(before: &[&str], after: &[&str]) -> Upgrade {
    Upgrade::of(&[("kustomization.yaml", OVERLAY)], "g.yaml", &crd(before), &crd(after))
}

/// Gives the ids of all decisions, in their order.
fn ids(upgrade: &Upgrade, answers: &[(&str, Answer)]) -> Vec<String> {
    let settled = upgrade.settle(answers);
    settled
        .decisions
        .iter()
        .map(|decision| decision.id.to_string())
        .collect()
}

#[test]
fn a_value_is_the_new_pointer_and_is_written_in_its_place_alone() {
    let upgrade = upgrade(&["v1beta1", "v1"], &["v2", "v1beta1", "v1"]);
    let ids = ids(&upgrade, &[]);
    assert_eq!(ids.len(), 2);
    let answers = [
        (ids[0].as_str(), Answer::Value("/spec/versions/1/enum/-".into())),
        (ids[1].as_str(), Answer::Value("/spec/versions/2/old".into())),
    ];
    let settled = upgrade.settle(&answers);
    assert!(
        settled.decisions.iter().all(|decision| decision.answer.is_some()),
        "{:#?}",
        told(&settled)
    );
    assert_eq!(settled.holding, 2);
    let expected = OVERLAY
        .replacen("/spec/versions/0/enum/-", "/spec/versions/1/enum/-", 1)
        .replacen("/spec/versions/1/old", "/spec/versions/2/old", 1);
    assert_eq!(upgrade.text(&settled, "kustomization.yaml"), expected);
}

#[test]
fn theirs_takes_the_operation_away_and_the_whole_entry_when_nothing_is_left() {
    let upgrade = upgrade(&["v1beta1", "v1"], &["v2", "v1beta1", "v1"]);
    let ids = ids(&upgrade, &[]);
    let answers = [(ids[0].as_str(), Answer::Theirs), (ids[1].as_str(), Answer::Theirs)];
    let settled = upgrade.settle(&answers);
    let expected = "\
# Ours.
resources: [g.yaml]
patches:
- target: {kind: Crd, name: alerts}
  patch: '[{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": 1}]'
";
    assert_eq!(upgrade.text(&settled, "kustomization.yaml"), expected);
}

#[test]
fn ours_keeps_the_patch_and_warns_that_the_build_will_fail() {
    let upgrade = upgrade(&["v1beta1", "v1"], &["v1beta1"]);
    let id = only(&upgrade.settle(&[]));
    let settled = upgrade.settle(&[(&id, Answer::Ours)]);
    assert!(settled.files.is_empty());
    let told = told(&settled);
    assert!(told[0].starts_with("answered contract patch: "), "{told:?}");
    assert_eq!(
        told[1],
        "PatchBroken kustomization.yaml:15: The patch in kustomization.yaml has the operation `replace \
         /spec/versions/1/old`, whose place Crd/alerts does not have in the new version (it was \
         `spec.versions[name=v1].old`); the build will fail, until somebody changes it"
    );
    assert!(settled.findings[0].remedy.contains("refit resume --keep-commits"));
}

#[test]
fn a_wrong_answer_is_a_new_question() {
    let upgrade = upgrade(&["v1beta1", "v1"], &["v1beta1"]);
    let first = only(&upgrade.settle(&[]));
    let wrong = [(first.as_str(), Answer::Value("/spec/versions/7/old".into()))];
    let second = only(&upgrade.settle(&wrong));
    assert_ne!(first, second);
    let mut both = wrong.to_vec();
    both.push((&second, Answer::Value("/spec/versions/0/old".into())));
    let settled = upgrade.settle(&both);
    assert!(settled.decisions.iter().all(|decision| decision.answer.is_some()));
    assert!(
        upgrade
            .text(&settled, "kustomization.yaml")
            .contains("/spec/versions/0/old")
    );
    let nonsense = [(first.as_str(), Answer::Value("spec versions".into()))];
    let settled = upgrade.settle(&nonsense);
    assert_eq!(only(&settled), first);
    assert!(
        told(&settled)[0].contains("The answer given cannot be used: a JSON pointer begins with `/`."),
        "{:?}",
        told(&settled)
    );
}

#[test]
fn a_new_name_of_a_target_is_a_value() {
    let overlay = "resources: [g.yaml]\npatches:\n- target: {kind: Crd, name: \"old\"}\n  patch: |\n    - {op: add, path: /spec/r, value: 3}\n";
    let named = |name: &str| crd(&["v1"]).replace("alerts", name);
    let upgrade = Upgrade::of(
        &[("kustomization.yaml", overlay)],
        "g.yaml",
        &named("old"),
        &named("new"),
    );
    let id = only(&upgrade.settle(&[]));
    let settled = upgrade.settle(&[(&id, Answer::Value("new".into()))]);
    assert_eq!(settled.decisions.len(), 1, "{:#?}", told(&settled));
    assert_eq!(
        upgrade.text(&settled, "kustomization.yaml"),
        overlay.replace("\"old\"", "\"new\"")
    );
    let other = upgrade.settle(&[(&id, Answer::Value("newer".into()))]);
    assert_ne!(only(&other), id);
}

#[test]
fn a_patch_file_goes_with_its_last_document_and_the_list_with_its_last_entry() {
    let content = crd(&["v1"]);
    let files = [
        (
            "kustomization.yaml",
            "resources: [g.yaml]\npatchesStrategicMerge: # none else\n- p.yaml\n",
        ),
        ("p.yaml", content.as_str()),
    ];
    let upgrade = Upgrade::of(&files, "g.yaml", &content, &content.replace("alerts", "warnings"));
    let id = only(&upgrade.settle(&[]));
    let settled = upgrade.settle(&[(&id, Answer::Theirs)]);
    assert_eq!(upgrade.text(&settled, "kustomization.yaml"), "resources: [g.yaml]\n");
    assert_eq!(settled.files[&Path::from("p.yaml")], None);
}

#[test]
fn a_kustomization_that_others_use_too_can_only_stay() {
    let upgrade = upgrade(&["v1beta1", "v1"], &["v1beta1"]);
    let with_other = |mut tree: refit_manifest::Tree| {
        let other = refit_manifest::Entry::file(*b"resources: [..]\n");
        tree.insert(Path::from("other/kustomization.yaml"), other);
        tree
    };
    let upgrade = Upgrade {
        after: with_other(upgrade.after),
        ..upgrade
    };
    let id = only(&upgrade.settle(&[]));
    let settled = upgrade.settle(&[(&id, Answer::Theirs)]);
    assert_eq!(only(&settled), id);
    assert!(settled.files.is_empty());
    let message = &told(&settled)[0];
    assert!(message.starts_with("open contract patch-fixed: "), "{message}");
    assert!(
        message.contains("other/kustomization.yaml uses kustomization.yaml, too"),
        "{message}"
    );
    assert!(message.contains("`refit resolve ID ours`"), "{message}");
}

#[test]
fn a_decision_says_what_each_answer_does() {
    let message = |upgrade: &Upgrade| upgrade.settle(&[]).decisions[0].message.clone();
    let moved = message(&upgrade(&["v1beta1", "v1"], &["v2", "v1beta1", "v1"]));
    assert!(
        moved.contains(
            ". With `ours` it stays and reaches the latter; with `theirs` the operation is taken out, and the patch with its \
             last one; with a JSON pointer that becomes its `path`. Choose with "
        ),
        "{moved}"
    );
    let gone = message(&upgrade(&["v1beta1", "v1"], &["v1beta1"]));
    assert!(
        gone.contains("With `ours` it stays, and the build fails until somebody changes it"),
        "{gone}"
    );
}

fn arguments(arguments: &[&str]) -> String {
    let all: String = arguments.iter().map(|argument| format!("  - {argument}\n")).collect();
    format!("apiVersion: x/v1\nkind: Thing\nmetadata:\n  name: t\n  labels: {{a: b}}\nargs:\n{all}")
}

fn thing(operation: &str, before: &[&str], after: &[&str]) -> Upgrade {
    let overlay = format!("resources: [g.yaml]\npatches:\n- target: {{kind: Thing}}\n  patch: '[{operation}]'\n");
    Upgrade::of(
        &[("kustomization.yaml", &overlay)],
        "g.yaml",
        &arguments(before),
        &arguments(after),
    )
}

#[test]
fn a_place_that_is_gone_is_named_with_what_stood_there_and_where_that_is_now() {
    let operation = r#"{"op": "remove", "path": "/args/4"}"#;
    let before = ["--a", "--b", "--c", "--d", "--elect"];
    let found = told(&thing(operation, &before, &["--a", "--c", "--d", "--elect"]).settle(&[]));
    assert!(
        found[0].contains("(it was `args[4]: --elect`, now `/args/3`); the build would fail"),
        "{found:?}"
    );
    let found = told(&thing(operation, &before, &["--a", "--b", "--c", "--d"]).settle(&[]));
    assert!(found[0].contains("(it was `args[4]: --elect`); "), "{found:?}");
}

#[test]
fn the_lost_end_of_a_copy_is_named_and_edited() {
    let operation = r#"{"op": "copy", "from": "/args/2", "path": "/metadata/labels/v"}"#;
    let upgrade = thing(operation, &["--a", "--b", "--c"], &["--a", "--c"]);
    let id = only(&upgrade.settle(&[]));
    let found = told(&upgrade.settle(&[]));
    assert!(
        found[0].contains("has the operation `copy from /args/2`, whose place") && found[0].contains("now `/args/1`"),
        "{found:?}"
    );
    let settled = upgrade.settle(&[(&id, Answer::Value("/args/1".into()))]);
    assert!(
        settled.decisions.iter().all(|decision| decision.answer.is_some()),
        "{:?}",
        told(&settled)
    );
    let text = upgrade.text(&settled, "kustomization.yaml");
    assert!(text.contains(&operation.replace("/args/2", "/args/1")), "{text}");
}

#[test]
fn a_text_with_an_anchor_can_only_stay() {
    let overlay = "\
resources: [g.yaml, h.yaml]
patches:
- target: {kind: Crd, name: alerts}
  patch: &p |
    - {op: remove, path: /spec/versions/0/old}
    - {op: add, path: /metadata/labels, value: {a: b}}
- target: {kind: Crd, name: receivers}
  patch: *p
";
    let other = crd(&["v1"]).replace("alerts", "receivers");
    let files = [("kustomization.yaml", overlay), ("h.yaml", &other)];
    let upgrade = Upgrade::of(&files, "g.yaml", &crd(&["v1beta1"]), &crd(&["v1", "v1beta1"]));
    let id = only(&upgrade.settle(&[]));
    let settled = upgrade.settle(&[(&id, Answer::Theirs)]);
    assert!(settled.files.is_empty());
    assert!(
        settled.decisions[0].message.contains("YAML anchor or alias"),
        "{:?}",
        told(&settled)
    );
}
