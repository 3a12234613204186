//! Each operation, before and after.

use refit_manifest::convert::{Defaults, Operation, Place};

use super::support::*;

#[test]
fn the_version_is_set_in_the_style_of_the_file() {
    for (before, after) in [
        (
            "apiVersion: x.dev/v1 # a\nkind: A\n",
            "apiVersion: x.dev/v2 # a\nkind: A\n",
        ),
        (
            "apiVersion: \"x.dev/v1\"\nkind: A\n",
            "apiVersion: \"x.dev/v2\"\nkind: A\n",
        ),
        (
            "kind: 'A'\n# c\n\napiVersion: 'x.dev/v1beta1'\n",
            "kind: 'A'\n# c\n\napiVersion: 'x.dev/v2'\n",
        ),
        ("{apiVersion: x.dev/v1, kind: A}\n", "{apiVersion: x.dev/v2, kind: A}\n"),
        (
            "{\n\t\"kind\": \"A\",\n\t\"apiVersion\": \"x.dev/v1\"\n}",
            "{\n\t\"kind\": \"A\",\n\t\"apiVersion\": \"x.dev/v2\"\n}",
        ),
        (
            "apiVersion: x.dev/v1\r\nkind: A\r\n",
            "apiVersion: x.dev/v2\r\nkind: A\r\n",
        ),
        (
            "---\n# y\n---\n# x\napiVersion: x.dev/v1\nkind: A",
            "---\n# y\n---\n# x\napiVersion: x.dev/v2\nkind: A",
        ),
    ] {
        check_convert(&[set_version()], before, after);
    }
}

#[test]
fn a_newer_version_stays_and_it_is_told() {
    let before = "apiVersion: x.dev/v3alpha1\nkind: A\n";
    let (text, converted) = run(&[set_version()], before);
    assert_eq!(text, before);
    assert!(
        converted.reviews[0].message.contains("newer than `v2`"),
        "{converted:?}"
    );
}

#[test]
fn a_removed_field_takes_its_lines_and_its_comments() {
    let rules = [remove("spec.old")];
    for (before, after) in [
        (
            object("  # of a\n  a: 1\n  # of old\n  old: x # trailing\n  # of b\n  b: 2\n"),
            object("  # of a\n  a: 1\n  # of b\n  b: 2\n"),
        ),
        (
            object("  old:\n    # inside\n    deep:\n    # inside\n    - 1\n  b: 2\n"),
            object("  b: 2\n"),
        ),
        (
            object("  b: 2\n\n  old: |\n    text\n    # text\n"),
            object("  b: 2\n\n"),
        ),
        (object("  b: 2\n  old: x"), object("  b: 2\n")),
        (object("  {b: 2, old: {c: 1}}\n"), object("  {b: 2}\n")),
        (object("  {old: 1, b: 2}\n"), object("  {b: 2}\n")),
        (
            object("  old: 1\n"),
            "apiVersion: x.dev/v1\nkind: A\nspec: {}\n".to_owned(),
        ),
        (object("  'old': 1\n  b: 2\n"), object("  b: 2\n")),
        (object("  old: 1\r\n  b: 2\r\n"), object("  b: 2\r\n")),
    ] {
        check_convert(&rules, &before, &after);
    }
}

#[test]
fn fields_of_each_item_are_removed() {
    let before = object("  l:\n  - old: 1\n    # of b\n    b: 2\n  - b: 3\n    old: x\n  - {old: 1, c: 2}\n");
    let after = object("  l:\n  - b: 2\n  - b: 3\n  - {c: 2}\n");
    check_convert(&[remove("spec.l[].old")], &before, &after);
}

#[test]
fn a_renamed_field_keeps_its_place() {
    let rules = [relocate("spec.old", "spec.new")];
    for (before, after) in [
        ("  # c\n  old:   1 # t\n  b: 2\n", "  # c\n  new:   1 # t\n  b: 2\n"),
        ("  \"old\": {a: 1}\n", "  \"new\": {a: 1}\n"),
        ("  {a: 1, old: [1], c: 2}\n", "  {a: 1, new: [1], c: 2}\n"),
        ("  old:\n  - 1\n  # x\n  - 2\n", "  new:\n  - 1\n  # x\n  - 2\n"),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn a_moved_field_takes_its_comments_along_and_leaves_no_empty_mapping() {
    let rules = [relocate("spec.a.b", "spec.x.w.z")];
    for (before, after) in [
        (
            "  k: 1\n  a:\n    # of b\n    b: 1 # t\n  l: 2\n",
            "  k: 1\n  x:\n    w:\n      # of b\n      z: 1 # t\n  l: 2\n",
        ),
        (
            "  a:\n    b:\n      deep: [1]\n      # in\n      er: 2\n    c: 2\n",
            "  x:\n    w:\n      z:\n        deep: [1]\n        # in\n        er: 2\n  a:\n    c: 2\n",
        ),
        ("  {a: {b: 1}, c: 2}\n", "  {x: {w: {z: 1}}, c: 2}\n"),
        ("  a: {b: 1}\n  x:\n    v: 3\n", "  x:\n    v: 3\n    w:\n      z: 1\n"),
        (
            "  a: {b: 1, c: 1}\n  x: {v: 3}\n",
            "  a: {c: 1}\n  x: {v: 3, w: {z: 1}}\n",
        ),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn an_equal_value_at_the_new_place_is_kept_once() {
    check_convert(
        &[relocate("spec.old", "spec.new")],
        &object("  # gone\n  old: 1\n  new: 1\n"),
        &object("  new: 1\n"),
    );
}

#[test]
fn a_value_goes_in_front_of_a_list() {
    let rules = [prepend("spec.file", "spec.files")];
    for (before, after) in [
        ("  file: a.yaml\n", "  files:\n  - a.yaml\n"),
        (
            "  # c\n  file: a.yaml # t\n  b: 1\n",
            "  # c\n  files:\n  - a.yaml # t\n  b: 1\n",
        ),
        ("  file: 'a.yaml'\n  files: [x.yaml]\n", "  files: ['a.yaml', x.yaml]\n"),
        (
            "  files:\n  # of x\n  - x.yaml\n  # of file\n  file: a.yaml # t\n",
            "  files:\n  # of file\n  - a.yaml # t\n  # of x\n  - x.yaml\n",
        ),
        (
            "  files:\n    - x.yaml\n  file: a.yaml\n",
            "  files:\n    - a.yaml\n    - x.yaml\n",
        ),
        (
            "  files: [a.yaml, x.yaml]\n  file: a.yaml\n",
            "  files: [a.yaml, x.yaml]\n",
        ),
        ("  files: []\n  file: a.yaml\n", "  files:\n  - a.yaml\n"),
        ("  files:\n  file: a.yaml\n", "  files:\n  - a.yaml\n"),
        ("  file: ''\n  b: 1\n", "  b: 1\n"),
        ("  {file: a.yaml}\n", "  {files: [a.yaml]}\n"),
        (
            "  {file: a.yaml, files: [x.yaml, y.yaml]}\n",
            "  {files: [a.yaml, x.yaml, y.yaml]}\n",
        ),
        (
            "  {\"b\": 1, \"file\": \"a.yaml\"}\n",
            "  {\"b\": 1, \"files\": [\"a.yaml\"]}\n",
        ),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn a_list_goes_behind_another() {
    let rules = [append("spec.old", "spec.new")];
    for (before, after) in [
        (
            "  new:\n  - a: 1\n  old:\n  # of b\n  - b: 1 # t\n    c: 2\n  z: 1\n",
            "  new:\n  - a: 1\n  # of b\n  - b: 1 # t\n    c: 2\n  z: 1\n",
        ),
        ("  old:\n  - b: 1\n  z: 1\n", "  new:\n  - b: 1\n  z: 1\n"),
        ("  {old: [{b: 1}], new: [{a: 1}]}\n", "  {new: [{a: 1}, {b: 1}]}\n"),
        ("  old: []\n  new: [1]\n", "  new: [1]\n"),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn operations_become_the_text_of_a_patch() {
    let rules = [rule(vec![Operation::Wrap(field("spec.p[].patch"))])];
    for (before, after) in [
        (
            "  p:\n  - target: {kind: D}\n    patch:\n    - {op: add, path: /a, value: 3}\n",
            "  p:\n  - target: {kind: D}\n    patch: |\n      - op: add\n        path: /a\n        value: 3\n",
        ),
        (
            "  p:\n  - patch: # why\n    # first\n    - op: add # t\n      path: /a\n      value: {b: [1]}\n    target: {kind: D}\n",
            "  p:\n  - patch: | # why\n      # first\n      - op: add # t\n        path: /a\n        value: {b: [1]}\n    target: {kind: D}\n",
        ),
        (
            "  p:\n  - patch: [{op: remove, path: /a}] # t\n",
            "  p:\n  - patch: | # t\n      - op: remove\n        path: /a\n",
        ),
        (
            "  p: [{target: {kind: D}, patch: [{op: add, path: /a, value: it's}]}]\n",
            "  p: [{target: {kind: D}, patch: '[{\"op\": \"add\", \"path\": \"/a\", \"value\": \"it''s\"}]'}]\n",
        ),
        (
            "  p:\n  - patch: |\n      - op: x\n",
            "  p:\n  - patch: |\n      - op: x\n",
        ),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn operations_in_json_become_a_string() {
    check_convert(
        &[rule(vec![Operation::Wrap(field("p[].patch"))])],
        r#"{"apiVersion": "x.dev/v1", "kind": "A", "p": [{"patch": [{"op": "add", "path": "/a", "value": "x\"y"}]}]}"#,
        r#"{"apiVersion": "x.dev/v1", "kind": "A", "p": [{"patch": "[{\"op\": \"add\", \"path\": \"/a\", \"value\": \"x\\\"y\"}]"}]}"#,
    );
}

#[test]
fn inline_objects_become_texts_of_patches() {
    let rules = [rule(vec![Operation::WrapItems {
        list: field("spec.p"),
        key: "patch".to_owned(),
    }])];
    for (before, after) in [
        (
            "  p:\n  # why\n  - kind: D # t\n    # inside\n    spec:\n      a: |\n        x\n\n        y\n  - {kind: E, m: {n: 1}}\n",
            "  p:\n  # why\n  - patch: |\n      kind: D # t\n      # inside\n      spec:\n        a: |\n          x\n\n          y\n  - patch: |\n      kind: E\n      m: {n: 1}\n",
        ),
        (
            "  p:\r\n    - kind: D\r\n      a: 1 # last\r\n  b: 1\r\n",
            "  p:\r\n    - patch: |\r\n        kind: D\r\n        a: 1 # last\r\n  b: 1\r\n",
        ),
        (
            "  p: [{kind: D, a: 010}]\n",
            "  p: [{patch: '{\"kind\": \"D\", \"a\": 8}'}]\n",
        ),
    ] {
        check_convert(&rules, &object(before), &object(after));
    }
}

#[test]
fn a_scalar_is_set_once() {
    let set = |place| {
        [rule(vec![Operation::Set {
            field: field("spec.m.kind"),
            value: "G".to_owned(),
            place,
        }])]
    };
    check_convert(
        &set(Place::First),
        &object("  m:\n    n: r # t\n"),
        &object("  m:\n    kind: G\n    n: r # t\n"),
    );
    check_convert(
        &set(Place::First),
        &object("  m: {n: r}\n"),
        &object("  m: {kind: G, n: r}\n"),
    );
    check_convert(
        &set(Place::Last),
        &object("  m: {n: r}\n"),
        &object("  m: {n: r, kind: G}\n"),
    );
    check_convert(
        &set(Place::Last),
        &object("  m: {kind: H}\n"),
        &object("  m: {kind: G}\n"),
    );
    check_convert(
        &set(Place::Last),
        &object("  a: 1\n"),
        &object("  a: 1\n  m:\n    kind: G\n"),
    );
}

#[test]
fn a_default_is_written_or_reported() {
    let rules = |mode| {
        [rule(vec![Operation::Default {
            field: field("spec.max"),
            value: "10".to_owned(),
            mode,
        }])]
    };
    check_convert(
        &rules(Defaults::Write),
        &object("  a: 1\n"),
        &object("  a: 1\n  max: 10\n"),
    );
    check_convert(&rules(Defaults::Write), &object("  max: 3\n"), &object("  max: 3\n"));
    let (text, converted) = run(&rules(Defaults::Report), &object("  a: 1\n"));
    assert_eq!(text, object("  a: 1\n"));
    assert!(converted.reviews[0].message.contains("write `10`"), "{converted:?}");
}

#[test]
fn both_forms_are_written_and_the_old_one_goes_when_the_new_one_has_its_value() {
    let copy = [rule(vec![Operation::Copy {
        from: field("spec.old"),
        to: field("spec.new"),
    }])];
    let contract = [rule(vec![Operation::Contract {
        old: field("spec.old"),
        new: field("spec.new"),
    }])];
    let both = object("  # c\n  old: {a: 1}\n  new: {a: 1}\n  b: 2\n");
    check_convert(&copy, &object("  # c\n  old: {a: 1}\n  b: 2\n"), &both);
    check_convert(&contract, &both, &object("  new: {a: 1}\n  b: 2\n"));
    check_convert(&contract, &object("  old: 1\n"), &object("  old: 1\n"));
}
