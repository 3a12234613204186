//! Complaints about other tools, each with its smallest input: what those tools break must come out whole here.

mod common;

use common::{check_file, check_merge};
use refit_manifest::merge::Settings;
use refit_manifest::{Entry, Outcome, Path, Tree};
use refit_testkit::merging;

/// Theirs bumps `tag: 1` to `tag: 2` at the end of the file; nothing else of ours may change.
fn bump(ours: &str, base: &str) {
    let with = |text: &str, tag: u8| format!("{text}tag: {tag}\n");
    check_merge(
        [&with(base, 1), &with(ours, 1), &with(base, 2)],
        &with(ours, 2),
        Outcome::Clean,
        &[],
    );
}

fn files(entries: &[(&str, &str)]) -> Tree {
    entries
        .iter()
        .map(|(path, text)| (Path::from(*path), Entry::file(text.as_bytes())))
        .collect()
}

#[test]
fn flux2_1441_a_comment_block_stays_before_its_sibling() {
    bump(
        "values:\n    # storage:\n    #   size: 1\n\n    ingress: {}\n",
        "values:\n  ingress: {}\n",
    );
}

#[test]
fn kustomize_1395_291_3610_3559_an_image_edit_is_one_line() {
    let ours = "spec:\n    containers:\n        -   name: a\n            image: x:1\n\n            args: [ \"-v\" ]\n\n        - name: b\n          image: y:1\n";
    check_merge(
        [
            "spec:\n  containers:\n  - name: a\n    image: x:1\n    args: [\"-v\"]\n  - name: b\n    image: y:1\n",
            ours,
            "spec:\n  containers:\n  - name: a\n    image: x:2\n    args: [\"-v\"]\n  - name: b\n    image: y:1\n",
        ],
        &ours.replace("x:1", "x:2"),
        Outcome::Clean,
        &[],
    );
}

#[test]
fn image_automation_528_616_490_flux2_3284_a_literal_with_trailing_blanks_stays_a_block() {
    bump("# own\nk: |\n  { \n  x\n", "k: |\n  { \n  x\n");
}

#[test]
fn image_automation_92_kustomize_3605_letters_beyond_ascii_are_left_alone() {
    bump("# ü\na: é\n", "a: é\n");
    check_merge(["a: é\n", "# ü\na: é\n", "a: è\n"], "# ü\na: è\n", Outcome::Clean, &[]);
}

#[test]
fn kustomize_3480_calico_4803_a_duplicate_key_does_not_stop_other_edits() {
    let sides = [
        "a: {x: 1}\ntag: 1\n",
        "a: {x: 0, x: 1}\ntag: 1\n",
        "a: {x: 1}\ntag: 2\n",
    ];
    let checked = merging::texts("d.yaml", sides);
    assert_eq!(checked.text("d.yaml"), "a: {x: 0, x: 1}\ntag: 2\n");
    assert_eq!(checked.violations, Vec::<String>::new());
}

#[test]
fn kustomize_3614_3675_3779_4215_4144_aliases_in_lists_stay() {
    bump(
        "# own\nl:\n- &b {n: 1}\n- <<: *b\n- *b\n",
        "l:\n- &b {n: 1}\n- <<: *b\n- *b\n",
    );
}

#[test]
fn kustomize_2700_kpt_533_a_stream_with_carriage_returns_keeps_its_documents_and_ends() {
    let object = |name: &str, x: u8| format!("kind: A\nmetadata: {{name: {name}}}\nx: {x}\n");
    let base = format!("{}---\n{}", object("a", 1), object("b", 1));
    let ours = format!("# own\n{base}").replace('\n', "\r\n");
    let theirs = format!("{}---\n{}", object("a", 1), object("b", 2));
    check_merge(
        [&base, &ours, &theirs],
        &format!("# own\n{theirs}").replace('\n', "\r\n"),
        Outcome::Clean,
        &["A/b"],
    );
}

#[test]
fn go_yaml_695_a_comment_stays_above_its_key_with_carriage_returns() {
    let base = "limits: {}\nrequests: {cpu: 1}\n";
    let ours = "limits: {}\r\n# for the scheduler\r\nrequests: {cpu: 1}\r\n";
    check_merge(
        [base, ours, &base.replace("limits: {}", "limits: {}\nmore: 1")],
        "limits: {}\r\nmore: 1\r\n# for the scheduler\r\nrequests: {cpu: 1}\r\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn go_yaml_628_533_a_comment_before_an_item_stays_before_it() {
    bump("b:\n# c\n- x: 1\n", "b:\n- x: 1\n");
    check_merge(
        ["b:\n- x: 1\n", "b:\n# c\n- x: 1\n", "b:\n- x: 2\n"],
        "b:\n# c\n- x: 2\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn yq_515_465_904_1248_2055_blank_lines_and_double_blanks_before_comments_stay() {
    bump("a: 1  # two blanks\n\n\nb:  2\n", "a: 1\nb: 2\n");
}

#[test]
fn yq_2074_a_folded_scalar_does_not_grow_when_merged_again_and_again() {
    let text = "k: >-\n  one\n    deeper\n\n  two\n";
    bump(&format!("# own\n{text}"), text);
}

#[test]
fn yq_1883_a_comment_at_the_end_adds_no_line() {
    check_merge(
        ["tag: 1\n", "tag: 1\n# x", "tag: 2\n"],
        "tag: 2\n# x",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["tag: 1\n", "tag: 1\n# x\n", "tag: 1\nnew: 1\n"],
        "tag: 1\nnew: 1\n# x\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn yq_656_430_an_anchor_stays_with_its_aliases() {
    check_merge(
        ["a: &n 1\nb: *n\n", "# own\na: &n 1\nb: *n\n", "a: &n 2\nb: *n\n"],
        "# own\na: &n 2\nb: *n\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn yq_310_merge_keys_stay() {
    bump(
        "# own\nd: &d {a: 1}\ne:\n  <<: *d\n  b: 1\n",
        "d: &d {a: 1}\ne:\n  <<: *d\n  b: 1\n",
    );
}

#[test]
fn yq_351_1836_the_first_marker_stays() {
    bump("---\n\n# own\na: 1\n", "a: 1\n");
    bump("--- # own\na: 1\n", "---\na: 1\n");
}

#[test]
fn yq_919_1684_1007_header_comments_stay_in_each_document() {
    let object = |name: &str, x: u8| format!("kind: A\nmetadata: {{name: {name}}}\nx: {x}\n");
    let stream = |x: u8| format!("# first\n\n{}---\n# second\n\n{}", object("a", x), object("b", x));
    let base = format!("{}---\n{}", object("a", 1), object("b", 1));
    let theirs = format!("{}---\n{}", object("a", 2), object("b", 2));
    check_merge([&base, &stream(1), &theirs], &stream(2), Outcome::Clean, &[]);
}

#[test]
fn kpt_2529_3914_values_of_the_user_are_kept_and_asked_about() {
    let file = |value: &str| {
        format!("apiVersion: kpt.dev/v1\nkind: Kptfile\nmetadata: {{name: p}}\ninfo:\n  description: {value}\n")
    };
    let ours = file("mine");
    check_file(
        "Kptfile.yaml",
        [&file("a"), &ours, &file("b")],
        &ours,
        Outcome::Conflict,
        &["mine", "refit resolve"],
    );
}

#[test]
fn kpt_217_one_identity_in_two_files_is_told_apart_by_the_path() {
    let object = |x: u8| format!("kind: A\nmetadata: {{name: a}}\nx: {x}\n");
    let tree = |x: u8, own: &str| {
        files(&[
            ("base.yaml", &object(x)),
            ("patch.yaml", &format!("{own}{}", object(5))),
        ])
    };
    let checked = merging::trees([&tree(1, ""), &tree(1, "# own\n"), &tree(2, "")], &Settings::default());
    assert_eq!(checked.merged.tree, tree(2, "# own\n"));
    assert_eq!(checked.violations, Vec::<String>::new());
}

#[test]
fn kpt_2232_an_edited_object_is_not_deleted_with_theirs() {
    let keep = "kind: A\nmetadata: {name: keep}\n";
    let gone = |x: u8| format!("---\nkind: A\nmetadata: {{name: gone}}\nx: {x}\n");
    let ours = format!("{keep}{}", gone(2));
    check_merge(
        [&format!("{keep}{}", gone(1)), &ours, keep],
        &ours,
        Outcome::Conflict,
        &["A/gone"],
    );
}

#[test]
fn kpt_3319_a_renamed_object_is_there_once() {
    let object = |name: &str, x: u8| format!("kind: A\nmetadata: {{name: {name}}}\nx: {x}\n");
    let other = "---\nkind: B\nmetadata: {name: b}\n";
    let sides = [
        format!("{}{other}", object("old", 1)),
        format!("# own\n{}{other}", object("old", 1)),
        format!("{}{other}", object("new", 1)),
    ];
    let checked = merging::texts("d.yaml", [&sides[0], &sides[1], &sides[2]]);
    assert_eq!(checked.violations, Vec::<String>::new());
    let text = checked.text("d.yaml");
    assert_eq!(
        (text.matches("name: new").count(), text.matches("name: old").count()),
        (1, 0),
        "{text}"
    );
}

#[test]
fn kustomize_3183_a_changed_protocol_yields_no_second_port() {
    let service = |protocol: &str, own: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: s}}\nspec:\n  ports:\n  - port: 80\n    protocol: {protocol}\n{own}"
        )
    };
    check_merge(
        [
            &service("TCP", ""),
            &service("TCP", "    name: own\n").replace("TCP", "UDP"),
            &service("SCTP", ""),
        ],
        &service("UDP", "    name: own\n"),
        Outcome::Conflict,
        &["80"],
    );
    check_merge(
        [
            &service("TCP", ""),
            &service("TCP", "").replace("spec", "# own\nspec"),
            &service("UDP", ""),
        ],
        &service("UDP", "").replace("spec", "# own\nspec"),
        Outcome::Clean,
        &[],
    );
}

#[test]
fn renovate_17199_17511_8682_16615_one_bad_file_does_not_stop_the_others() {
    let tree =
        |template: &str, stream: &str| files(&[("bad.yaml", "a: [\n"), ("t.yaml", template), ("s.yaml", stream)]);
    let template = |tag: u8, own: &str| format!("{own}image: x:{tag}\nname: {{{{ .Name }}}}\n");
    let stream = |x: u8, own: &str| {
        format!("{own}kind: A\nmetadata: {{name: a}}\n---\nkind: B\nmetadata: {{name: b}}\nx: {x}\n")
    };
    let base = tree(&template(1, ""), &stream(1, ""));
    let ours = tree(&template(1, "# own\n"), &stream(1, "# own\n"));
    let theirs = tree(&template(2, ""), &stream(2, ""));
    let checked = merging::trees([&base, &ours, &theirs], &Settings::default());
    assert_eq!(
        checked.merged.tree,
        tree(&template(2, "# own\n"), &stream(2, "# own\n"))
    );
}

#[test]
fn sops_1512_2243_an_encrypted_file_is_never_edited() {
    let file = |x: u8, own: &str| {
        format!(
            "kind: Secret\nmetadata: {{name: s}}\nclear: {x}\n{own}data:\n  # list\n  k: ENC[AES256_GCM,data:q,type:str]\nsops:\n  mac: ENC[AES256_GCM,data:m,type:str]\n"
        )
    };
    let ours = file(1, "own: 1\n");
    let checked = merging::texts("s.yaml", [&file(1, ""), &ours, &file(2, "")]);
    assert_eq!(checked.text("s.yaml"), ours);
    assert!(checked.outcome() >= Outcome::Noted);
}

const CONFIGURATION: &str = "\
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
data:
  config.yaml: |
    server:
      port: 1
    tls: true
    name: x
    log: info
";

/// Merges three texts, checks the merge and gives the result with the outcome of each decision.
fn merged(sides: [&str; 3]) -> (String, Vec<Outcome>) {
    let checked = merging::texts("d.yaml", sides);
    assert_eq!(checked.violations, Vec::<String>::new());
    unchecked(sides)
}

/// The same where a comment comes to stand behind a value of one line, or a rule of texts drops an edit, which the checker
/// of merges does not know.
fn unchecked(sides: [&str; 3]) -> (String, Vec<Outcome>) {
    let checked = merging::texts("d.yaml", sides);
    let outcomes = checked.merged.decisions.iter().map(|decision| decision.outcome);
    (checked.text("d.yaml"), outcomes.collect())
}

#[test]
fn blanks_in_a_block_of_text_are_an_edit_of_the_user() {
    let theirs = CONFIGURATION.replace("info", "debug");
    for (from, to) in [
        ("    tls", "      tls"),
        ("port: 1", "port:  1"),
        ("    server:\n", "    server:\n\n"),
    ] {
        let ours = CONFIGURATION.replace(from, to);
        let result = merged([CONFIGURATION, &ours, &theirs]);
        assert_eq!(result, (ours.replace("info", "debug"), vec![Outcome::Noted]));
    }
    let ours = CONFIGURATION.replace(": |\n", ": |-\n");
    let result = merged([CONFIGURATION, &ours, &theirs]);
    assert_eq!(result, (ours, vec![Outcome::Conflict]));
}

#[test]
fn blanks_in_a_secret_and_in_arguments_are_asked_for() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  k: \"a b\\nc\\n\"\n";
    let (ours, theirs) = (secret.replace("a b", "a  b"), secret.replace("a b", "a c"));
    let result = merged([secret, &ours, &theirs]);
    assert_eq!(result, (ours, vec![Outcome::Conflict]));
}

#[test]
fn blanks_in_a_description_mean_nothing() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec:\n  description: >-\n    one\n    two\n";
    let ours = crd.replace("    one\n    two", "    one\n\n    two");
    let (text, outcomes) = unchecked([crd, &ours, &crd.replace("two", "three")]);
    assert!(text.contains("three"), "{text}");
    assert_eq!(outcomes, [Outcome::Noted]);
}

#[test]
fn a_comment_on_the_first_line_of_a_block_of_text_stays() {
    let script = "data:\n  run.sh: |\n    a\n    echo v1\nlist:\n- |\n  x1\n";
    let ours = script
        .replace("run.sh: |", "run.sh: |  # my comment")
        .replace("- |", "- | # mine");
    for (from, to) in [("    echo v1", "    echo v2"), (": |\n    a", ": |- # theirs\n    b")] {
        let theirs = script.replace(from, to);
        let (text, outcomes) = merged([script, &ours, &theirs]);
        assert!(
            text.contains("  # my comment\n") && text.contains("- | # mine"),
            "{text}"
        );
        assert!(!text.contains("# theirs"), "{text}");
        assert_eq!(outcomes, [Outcome::Clean]);
    }
    for (from, to) in [
        ("|\n    a\n    echo v1\n", "short\n"),
        ("|\n    a\n    echo v1\n", "\n    key: value\n"),
    ] {
        let theirs = script.replace(from, to);
        let (text, outcomes) = unchecked([script, &ours, &theirs]);
        assert_eq!(text.matches("  # my comment").count(), 1, "{text}");
        assert_eq!(outcomes, [Outcome::Clean]);
    }
    let theirs = script.replace("x1", "x2");
    assert_eq!(merged([script, &ours, &theirs]).0, ours.replace("x1", "x2"));
}

#[test]
fn a_comment_of_the_generator_on_the_first_line_follows() {
    let base = "data:\n  run.sh: | # by g1\n    a\n    v1\n# own\n";
    let theirs = "data:\n  run.sh: | # by g2\n    a\n    v2\n# own\n";
    let ours = format!("{base}x: 1\n");
    assert_eq!(merged([base, &ours, theirs]).0, format!("{theirs}x: 1\n"));
}
