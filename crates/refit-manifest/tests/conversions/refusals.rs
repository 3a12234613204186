//! What is not converted, and why.

use refit_manifest::convert::{Operation, Rule, convert};
use refit_manifest::{Stream, edit};

use super::support::*;

#[test]
fn what_stands_for_several_places_is_never_edited_through_one() {
    for (spec, message) in [
        ("  a: &x\n    old: 1\n  b: *x\n", "anchor `&x`"),
        ("  b: &x {old: 1}\n  a: *x\n", "alias `*x`"),
        ("  b: &x {old: 1}\n  a:\n    <<: *x\n    c: 1\n", "comes through `<<`"),
        ("  a: {old: &x 1}\n  b: *x\n", "anchor `&x`"),
        ("  a:\n    old: 1\n    old: 2\n", "twice"),
    ] {
        check_stopped(&[set_version(), remove("spec.a.old")], &object(spec), message);
    }
}

#[test]
fn an_anchor_that_nobody_refers_to_and_a_removed_alias_are_no_hindrance() {
    let rules = [remove("spec.old")];
    check_convert(&rules, &object("  old: &x 1\n  b: 1\n"), &object("  b: 1\n"));
    check_convert(&rules, &object("  b: &x 1\n  old: *x\n"), &object("  b: &x 1\n"));
}

#[test]
fn two_different_values_are_for_people() {
    check_stopped(
        &[relocate("spec.old", "spec.new")],
        &object("  old: 1\n  new: 2\n"),
        "another value than `spec.new`",
    );
    check_stopped(
        &[prepend("spec.file", "spec.files")],
        &object("  file: a\n  files: b\n"),
        "no list",
    );
}

#[test]
fn a_missing_field_that_is_required_stops_the_conversion() {
    let rules = [rule(vec![
        Operation::Require {
            field: field("spec.secret"),
            reason: "name one".to_owned(),
        },
        Operation::SetVersion,
    ])];
    check_stopped(&rules, &object("  a: 1\n"), "`spec.secret` is missing: name one");
    check_stopped(&rules, &object("  secret: null\n"), "is missing");
    let after = "apiVersion: x.dev/v2\nkind: A\nspec:\n  secret: {name: s}\n";
    check_convert(&rules, &object("  secret: {name: s}\n"), after);
}

#[test]
fn an_encrypted_object_stays() {
    let before = "apiVersion: x.dev/v1\nkind: A\nspec: {}\nsops: {mac: x}\n";
    check_stopped(&[set_version()], before, "SOPS");
}

#[test]
fn template_text_is_not_edited() {
    let rules = [set_version(), remove("spec.old")];
    let before = object("  {{- if .x }}\n  old: {{ .y }}\n  {{- end }}\n  b: {{ .z }}\n");
    check_stopped(&rules, &before, "template text");
    let before = object("  {{- if .x }}\n  b: {{ .z }}\n  {{- end }}\n");
    check_convert(&rules, &before, &before.replace("dev/v1", "dev/v2"));
}

#[test]
fn patches_with_anchors_do_not_become_texts() {
    let rules = [rule(vec![Operation::Wrap(field("spec.patch"))])];
    check_stopped(
        &rules,
        &object("  v: &v 1\n  patch:\n  - {value: *v}\n"),
        "anchors or aliases",
    );
}

#[test]
fn objects_of_other_kinds_are_passed_over() {
    let rules = [set_version(), remove("spec.old")];
    for before in [
        "apiVersion: y.dev/v1\nkind: A\nspec: {old: 1}\n",
        "apiVersion: x.dev/v1\nkind: B\nspec: {old: 1}\n",
        "apiVersion: v1\nkind: A\nspec: {old: 1}\n",
        "- 1\n",
    ] {
        check_convert(&rules, before, before);
    }
}

#[test]
fn an_item_of_a_list_is_converted_where_it_stands() {
    let text = "apiVersion: v1\nkind: List\nitems:\n# one\n- apiVersion: x.dev/v1 # t\n  kind: A\n  spec:\n    old: 1\n    b: 2\n- kind: B\n";
    let stream = Stream::split(text.as_bytes().into()).expect("a stream");
    let root = stream.documents()[0].root().expect("a root");
    let item = root
        .get("items")
        .and_then(|items| items.items().next())
        .expect("an item");
    let rules = [set_version(), remove("spec.old")];
    let rules: Vec<&Rule> = rules.iter().collect();
    let converted = convert(item, Some("v2"), &rules);
    let bytes = edit::apply(stream.bytes(), &converted.splices).expect("splices");
    assert_eq!(
        String::from_utf8_lossy(&bytes),
        text.replace("dev/v1", "dev/v2").replace("    old: 1\n", ""),
        "{converted:?}"
    );
}

#[test]
fn comments_beside_what_becomes_a_text_are_not_lost() {
    let items = rule(vec![Operation::WrapItems {
        list: field("spec.l"),
        key: "patch".to_owned(),
    }]);
    let items = [items, append("spec.l", "spec.m")];
    check_stopped(
        &items,
        &object("  m: [{patch: x}]\n  l:\n  - {kind: B} # why\n"),
        "comment",
    );
    let one = [rule(vec![Operation::Wrap(field("spec.patch"))])];
    let moved = [one[0].clone(), relocate("spec.patch", "spec.new.patch")];
    check_stopped(
        &moved,
        &object("  patch: # why\n  - {op: remove, path: /a}\n"),
        "comment",
    );
    check_convert(
        &one,
        &object("  patch:\n  - op: remove # kept\n    path: '/a # b'\n"),
        &object("  patch: |\n    - op: remove # kept\n      path: '/a # b'\n"),
    );
}

#[test]
fn rules_that_would_change_the_result_again_leave_the_object() {
    let copy = rule(vec![Operation::Copy {
        from: field("spec.a"),
        to: field("spec.b"),
    }]);
    check_stopped(
        &[append("spec.b", "spec.l"), copy],
        &object("  a: x\n  b: y\n  l: [z]\n"),
        "once more",
    );
}

#[test]
fn what_one_rule_sets_and_another_sets_back_is_no_change() {
    let set = |value: &str| {
        rule(vec![Operation::Set {
            field: field("spec.a"),
            value: value.to_owned(),
            place: refit_manifest::convert::Place::Last,
        }])
    };
    check_convert(&[set("1"), set("2")], &object("  a: 3\n"), &object("  a: 2\n"));
    check_convert(&[set("1"), set("2")], &object("  a: 2\n"), &object("  a: 2\n"));
}
