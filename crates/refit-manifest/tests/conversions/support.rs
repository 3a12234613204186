//! One function per question; the reader sees the texts.

use refit_manifest::convert::{Converted, Field, Operation, Place, Rule, convert};
use refit_manifest::{Stream, edit};

pub(crate) fn field(text: &str) -> Field {
    Field::parse(text).expect("a field")
}

pub(crate) fn rule(operations: Vec<Operation>) -> Rule {
    Rule {
        id: "T1".to_owned(),
        group: "x.dev".to_owned(),
        kinds: vec!["A".to_owned()],
        conditions: Vec::new(),
        operations,
        message: "as tested".to_owned(),
    }
}

pub(crate) fn set_version() -> Rule {
    rule(vec![Operation::SetVersion])
}

pub(crate) fn remove(at: &str) -> Rule {
    rule(vec![Operation::Remove(field(at))])
}

pub(crate) fn relocate(from: &str, to: &str) -> Rule {
    let (from, to) = (field(from), field(to));
    rule(vec![Operation::Move { from, to }])
}

pub(crate) fn prepend(from: &str, to: &str) -> Rule {
    insert(from, to, Place::First)
}

pub(crate) fn append(from: &str, to: &str) -> Rule {
    insert(from, to, Place::Last)
}

fn insert(from: &str, to: &str, place: Place) -> Rule {
    let (from, to) = (field(from), field(to));
    rule(vec![Operation::Insert { from, to, place }])
}

/// Converts the first object of a text to `v2`.
pub(crate) fn run(rules: &[Rule], text: &str) -> (String, Converted) {
    let stream = Stream::split(text.as_bytes().into()).expect("a stream");
    let root = stream.documents().iter().find_map(|document| document.root());
    let rules: Vec<&Rule> = rules.iter().collect();
    let converted = convert(root.expect("an object"), Some("v2"), &rules);
    let bytes = edit::apply(stream.bytes(), &converted.splices).expect("splices that fit");
    (String::from_utf8(bytes.to_vec()).expect("text"), converted)
}

/// Checks a conversion exactly, and that a second one changes nothing.
#[track_caller]
pub(crate) fn check_convert(rules: &[Rule], before: &str, after: &str) {
    let (text, converted) = run(rules, before);
    assert_eq!(text, after, "{converted:#?}");
    let (again, second) = run(rules, &text);
    assert_eq!(again, text, "a second run changes something");
    assert!(second.changes.is_empty(), "a second run tells of changes: {second:#?}");
}

/// Checks that an object stays as it is, and what is told about it.
#[track_caller]
pub(crate) fn check_stopped(rules: &[Rule], before: &str, message: &str) {
    let (text, converted) = run(rules, before);
    assert_eq!(text, before);
    assert!(converted.is_stopped() && converted.changes.is_empty(), "{converted:#?}");
    let told = converted.reviews.iter().any(|review| review.message.contains(message));
    assert!(told, "{converted:#?}");
}

/// Puts fields into the spec of an object.
pub(crate) fn object(spec: &str) -> String {
    format!("apiVersion: x.dev/v1\nkind: A\nspec:\n{spec}")
}
