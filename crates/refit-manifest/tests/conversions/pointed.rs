//! What becomes of fields that are named from elsewhere.

use refit_manifest::Stream;
use refit_manifest::convert::{Aim, Condition, Fate, Operation, Pointed, Rule, fate};

use crate::support::{append, field, prepend, relocate, remove, rule};

/// Gives the fate of a field as text: what is put there, or `-` for what is taken away and `?` for what is read.
fn told(rules: &[Rule], path: &str, value: &str) -> String {
    let stream = Stream::split(value.as_bytes().into()).expect("a stream");
    let path: Vec<String> = path.split('/').map(ToOwned::to_owned).collect();
    let aim = match value {
        "-" => Aim::Take,
        "?" => Aim::Use,
        _ => Aim::Put(stream.documents()[0].root().expect("a value")),
    };
    let pointed = Pointed {
        group: "x.dev",
        kind: "A",
        version: None,
        wanted: Some("v2"),
        path: &path,
        aim,
    };
    let rules: Vec<&Rule> = rules.iter().collect();
    match fate(&pointed, &rules) {
        Fate::Stays => "stays".to_owned(),
        Fate::Moves { path, is_held, .. } => {
            format!(
                "{}{}",
                path.join("/"),
                if is_held { "" } else { " in what may be missing" }
            )
        }
        Fate::Goes(reason) => format!("goes, {}", reason.message),
        Fate::Unsure(reason) => reason.message,
    }
}

#[test]
fn a_field_that_moves_is_named_at_its_new_place() {
    let rules = [
        relocate("spec.branch", "spec.source.branch"),
        relocate("spec.every", "spec.interval"),
        relocate("spec.commit", "spec.git.commit"),
        relocate("spec.git.commit.authorName", "spec.git.commit.author.name"),
        relocate("spec.list[].old", "spec.list[].new"),
    ];
    for (path, value, expected) in [
        ("spec/every", "5m", "spec/interval"),
        ("spec/every", "-", "spec/interval"),
        ("spec/branch", "?", "spec/source/branch in what may be missing"),
        ("spec/commit/message", "x", "spec/git/commit/message"),
        (
            "spec/commit/authorName",
            "x",
            "spec/git/commit/author/name in what may be missing",
        ),
        ("spec/list/3/old/a", "x", "spec/list/3/new/a"),
        ("spec/list/-/old", "x", "spec/list/-/new"),
        ("spec/list", "[{new: 1}]", "stays"),
        (
            "spec/list",
            "[{old: 1}]",
            "a rule moves `spec.list[].old` to `spec.list[].new`: as tested",
        ),
        ("spec/interval", "5m", "stays"),
        ("metadata/labels/every", "x", "stays"),
    ] {
        assert_eq!(told(&rules, path, value), expected, "{path} {value}");
    }
}

#[test]
fn a_field_that_is_taken_out_goes_and_what_holds_it_is_unsure() {
    let rules = [remove("spec.unused"), relocate("spec.out.branch", "spec.ref.branch")];
    for (path, value, expected) in [
        ("spec/unused", "1", "goes, a rule removes `spec.unused`: as tested"),
        ("spec/unused/deep", "-", "goes, a rule removes `spec.unused`: as tested"),
        ("spec", "{unused: 1}", "a rule removes `spec.unused`: as tested"),
        ("spec", "-", "stays"),
        (
            "spec/out",
            "-",
            "a rule moves `spec.out.branch` to `spec.ref.branch`: as tested",
        ),
        (
            "spec/out/other",
            "x",
            "a rule moves `spec.out.branch` to `spec.ref.branch`: as tested",
        ),
    ] {
        assert_eq!(told(&rules, path, value), expected, "{path} {value}");
    }
}

#[test]
fn a_field_that_gets_another_form_is_unsure() {
    let wrap = rule(vec![Operation::Wrap(field("spec.patch"))]);
    let copy = rule(vec![Operation::Copy {
        from: field("spec.name"),
        to: field("spec.title"),
    }]);
    let rules = [
        prepend("spec.file", "spec.files"),
        append("spec.more", "spec.files"),
        wrap,
        copy,
    ];
    for (path, value, expected) in [
        (
            "spec/file",
            "a",
            "a rule puts `spec.file` in front of `spec.files`: as tested",
        ),
        (
            "spec/more/0",
            "-",
            "a rule puts `spec.more` behind `spec.files`: as tested",
        ),
        ("spec/patch", "text", "stays"),
        ("spec/patch", "[a]", "a rule makes `spec.patch` a text: as tested"),
        ("spec/patch", "-", "stays"),
        ("spec/patch", "?", "a rule makes `spec.patch` a text: as tested"),
        ("spec/patch/0", "-", "a rule makes `spec.patch` a text: as tested"),
        (
            "spec/name",
            "x",
            "a rule writes `spec.name` to `spec.title`, too: as tested",
        ),
    ] {
        assert_eq!(told(&rules, path, value), expected, "{path} {value}");
    }
}

#[test]
fn a_rule_that_asks_for_the_rest_of_the_object_is_unsure() {
    let only_if = |condition: Condition| Rule {
        conditions: vec![condition],
        ..relocate("spec.a", "spec.b")
    };
    let present = Condition::Present(field("spec.c"));
    let unsure = "a rule moves `spec.a` to `spec.b`: as tested";
    for (condition, expected) in [
        (present.clone(), unsure),
        (Condition::Absent(field("spec.c")), unsure),
        (Condition::Not(Box::new(present)), unsure),
        (Condition::Present(field("spec.a")), "spec/b"),
        (Condition::Absent(field("spec.a")), "stays"),
        (Condition::Equal(field("spec.a"), vec!["x".to_owned()]), "spec/b"),
        (Condition::Equal(field("spec.a"), vec!["y".to_owned()]), "stays"),
        (Condition::Wanted(vec!["v2".to_owned()]), "spec/b"),
        (Condition::Wanted(vec!["v3".to_owned()]), "stays"),
        (Condition::Version(vec!["v1".to_owned()]), "spec/b"),
    ] {
        assert_eq!(
            told(&[only_if(condition.clone())], "spec/a", "x"),
            expected,
            "{condition:?}"
        );
    }
}

#[test]
fn a_rule_that_sets_a_field_beside_another_takes_part_only_where_it_writes() {
    let set = |at: &str| {
        let (value, place) = ("Git".to_owned(), refit_manifest::convert::Place::First);
        rule(vec![Operation::Set {
            field: field(at),
            value,
            place,
        }])
    };
    let rules = [relocate("spec.out.ref", "spec.source"), set("spec.source.kind")];
    assert_eq!(told(&rules, "spec/out/ref/name", "x"), "spec/source/name");
    let unsure = "a rule sets `spec.source.kind` to `Git`: as tested";
    assert_eq!(told(&rules, "spec/out/ref", "{name: x}"), unsure);
    assert_eq!(told(&rules, "spec/interval", "5m"), "stays");
}
