//! Inputs that break YAML tools: theirs changes one scalar, and ours must come out with only that scalar changed.

mod common;

use common::{check_file, check_merge};
use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Outcome, Path};
use refit_testkit::merging;

/// Merges `base` with `old` replaced by `new` as theirs; in ours the first `old` must be replaced and nothing else.
fn one_scalar(base: &str, ours: &str, old: &str, new: &str) {
    assert!(base.contains(old) && ours.contains(old), "the scalar is on both sides");
    check_merge(
        [base, ours, &base.replacen(old, new, 1)],
        &ours.replacen(old, new, 1),
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_01_aligned_blanks_trailing_comments_and_blank_lines() {
    one_scalar(
        "kind: A\nmetadata: {name: a}\nspec:\n  one: 1\n  image: x:1\n",
        "kind:     A   # the kind\n\n\nmetadata: {name: a}\nspec:\n\n  one:      1\n  image:    x:1      # the image  \n\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_02_a_quoted_value_stays_quoted() {
    check_merge(
        ["k: old\n", "k: \"old\" # c\n", "k: new\n"],
        "k: \"new\" # c\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["k: old\n", "# c\nk: 'old'\n", "k: it's\n"],
        "# c\nk: 'it''s'\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["k: old\n", "# c\nk: \"old\"\n", "k: say \"x\\y\"\n"],
        "# c\nk: \"say \\\"x\\\\y\\\"\"\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_03_carriage_returns() {
    one_scalar(
        "a: 1\nimage: x:1\n",
        "# first\r\na: 1\r\nimage: x:1 # c\r\n",
        "x:1",
        "x:2",
    );
    check_merge(
        ["a: 1\n", "# own\r\na: 1\r\n", "a: 1\nnew:\n- one\n- two\n"],
        "# own\r\na: 1\r\nnew:\r\n- one\r\n- two\r\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_04_a_byte_order_mark_and_letters_beyond_ascii() {
    one_scalar(
        "name: größe 🦀\nimage: x:1\n",
        "\u{feff}# Ångström\nname: größe 🦀 # ß\nimage: x:1\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_05_documents_with_comments_around_their_markers() {
    let base = "kind: A\nmetadata: {name: a}\nimage: y:1\n---\nkind: B\nmetadata: {name: b}\nimage: x:1\n";
    let ours = "# head\n--- # first\nkind: A\nmetadata: {name: a}\nimage: y:1\n...\n# between\n--- # second\n# more\nkind: B\nmetadata: \
                {name: b}\nimage: x:1\n...\n# tail\n";
    one_scalar(base, ours, "x:1", "x:2");
}

#[test]
fn input_06_anchors_aliases_and_merge_keys() {
    let text = "common: &common\n  cpu: 1\none:\n  <<: *common\n  image: x:1\ntwo: *common\n";
    one_scalar(
        text,
        &format!("# own\n{text}three: [*common]   # again\n"),
        "x:1",
        "x:2",
    );
}

#[test]
fn input_07_a_duplicate_key_elsewhere() {
    let sides = [
        "dup: 2\nimage: x:1\n",
        "dup: 1\ndup: 2\nimage: x:1\n",
        "dup: 2\nimage: x:2\n",
    ];
    let checked = merging::texts("d.yaml", sides);
    assert_eq!(checked.text("d.yaml"), "dup: 1\ndup: 2\nimage: x:2\n");
    assert_eq!(checked.violations, Vec::<String>::new());
    assert!(checked.outcome() <= Outcome::Noted);
}

#[test]
fn a_change_that_hits_a_duplicate_key_blocks_the_file() {
    let ours = "dup: 1\ndup: 2\nimage: x:1\n";
    let checked = merging::texts("d.yaml", ["dup: 2\nimage: x:1\n", ours, "dup: 3\nimage: x:2\n"]);
    assert_eq!(checked.text("d.yaml"), ours);
    assert_eq!(checked.outcome(), Outcome::Blocked);
}

#[test]
fn input_08_block_scalars_with_trailing_blanks_and_indicators() {
    let text = "a: |+\n  one  \n\n  two\n\nb: >2-\n    deep \n  fold\nc: |\n  x\t\nimage: x:1\n";
    one_scalar(text, &format!("# own\n{text}"), "x:1", "x:2");
}

#[test]
fn input_09_a_flow_map_over_several_lines_with_comments() {
    one_scalar(
        "m: {a: 1, image: x:1, z: [p, q]}\n",
        "m: {   # open\n  a: 1,\n  # the image\n  image: x:1   , # here\n  z: [p,\n      q]\n}\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_10_a_sequence_without_indentation_and_comments_between_items() {
    one_scalar(
        "env:\n- name: a\n  value: x1\n- name: b\n  value: x2\n",
        "env:\n# before a\n- name: a\n  value: x1\n\n# before b\n- name: b   # b\n  # inside\n  value: x2\n# tail\n",
        "x2",
        "x3",
    );
}

#[test]
fn input_11_a_new_text_that_reads_as_a_boolean_is_quoted() {
    check_merge(
        ["v: a\n", "v: a # c\n", "v: \"yes\"\n"],
        "v: \"yes\" # c\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["v: a\n", "v: a # c\n", "v: \"0644\"\n"],
        "v: \"0644\" # c\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["v: a\n", "v: a # c\n", "v: \"12:30:45\"\n"],
        "v: \"12:30:45\" # c\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["v: \"a\"\n", "v: 'a' # c\n", "v: true\n"],
        "v: true # c\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_12_template_lines() {
    let base = "{{- if .Values.x }}\nimage: x:1\nport: {{ .Values.port }}\n{{- end }}\nlast: 1\n";
    let ours = "{{- if .Values.x }}\n# own\nimage:  x:1  # c\nport: {{ .Values.port }}\n{{- end }}\nlast: 1\n";
    check_merge(
        [base, ours, &base.replace("x:1", "x:2")],
        &ours.replace("x:1", "x:2"),
        Outcome::Noted,
        &["template"],
    );
}

#[test]
fn input_13_variables_in_block_style() {
    one_scalar(
        "host: ${HOST}\nport: ${PORT:=80}\nimage: x:1\n",
        "# own\nhost: ${HOST}\nport: ${PORT:=80}   # default\nimage: x:1\n",
        "x:1",
        "x:2",
    );
    one_scalar(
        "m: [${A}, ${B:=1}]\nimage: x:1\n",
        "# own\nm: [${A}, ${B:=1}]\nimage: x:1\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_14_json_indented_with_tabs() {
    let base = "{\n\t\"a\": {\n\t\t\"image\": \"x:1\"\n\t},\n\t\"b\": []\n}\n";
    let ours = "{\n\t\"own\": 1,\n\t\"a\": {\n\t\t\"image\":  \"x:1\"\n\t},\n\t\"b\": []\n}";
    let new = |text: &str| text.replace("x:1", "x:2");
    check_file("p.json", [base, ours, &new(base)], &new(ours), Outcome::Clean, &[]);
}

#[test]
fn input_15_no_newline_at_the_end() {
    one_scalar("a: 1\nimage: x:1\n", "a: 1 # c\nimage: x:1", "x:1", "x:2");
    check_merge(
        ["a: 1\n", "a: 1 # c", "a: 1\nb: 2\n"],
        "a: 1 # c\nb: 2",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_16_a_plain_scalar_over_two_lines() {
    one_scalar(
        "text: one two\nimage: x:1\n",
        "text: one\n  two\nimage: x:1\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_17_an_empty_value_gets_a_value() {
    check_merge(
        ["k:\nz: 1\n", "# c\nk:\nz: 1\n", "k: v\nz: 1\n"],
        "# c\nk: v\nz: 1\n",
        Outcome::Clean,
        &[],
    );
    check_merge(
        ["k:\nz: 1\n", "k: # c\nz: 1\n", "k: v\nz: 1\n"],
        "k: v # c\nz: 1\n",
        Outcome::Clean,
        &[],
    );
}

#[test]
fn input_18_a_quoted_key_and_a_tab_before_a_comment() {
    one_scalar("the key: old\nb: 1\n", "\"the key\":  old\t# c\nb: 1\n", "old", "new");
}

#[test]
fn input_19_directives_and_tags() {
    one_scalar(
        "k: \"12\"\nimage: x:1\n",
        "%YAML 1.1\n--- !!map\nk: !!str 12\nimage: x:1\n",
        "x:1",
        "x:2",
    );
}

#[test]
fn input_20_a_broken_document_beside_a_good_one() {
    let base = "kind: A\nmetadata: {name: a}\n---\nkind: B\nmetadata: {name: b}\nimage: x:1\n";
    let ours = "kind: A\nmetadata: {name: [a}\n---\nkind: B\nmetadata: {name: b}\nimage: x:1 # c\n";
    let [b, o, t] = [base, ours, &base.replace("x:1", "x:2")].map(|text| merging::tree("d.yaml", text));
    let merged = merge(&b, &o, &t, &Settings::default());
    let text = merged
        .tree
        .bytes(&Path::from("d.yaml"))
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(text, Some(ours.replace("x:1", "x:2")), "{:#?}", merged.decisions);
}
