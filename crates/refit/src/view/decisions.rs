//! The decisions of a merge.
//!
//! In: [`Decision`]s. Out: lines for people, objects for programs, and the exit code that they call for.

use std::fmt::Write as _;

use refit_manifest::{Answer, Decision, Identity, Outcome};
use serde_json::{Value, json};

use crate::exit::Exit;

/// Chooses the exit code: blocked before conflict before done.
pub(crate) fn exit(decisions: &[Decision]) -> Exit {
    match decisions.iter().map(|decision| decision.outcome).max() {
        Some(Outcome::Blocked) => Exit::Blocked,
        Some(Outcome::Conflict) => Exit::Decision,
        _ => Exit::Done,
    }
}

/// Renders what people should know: everything but clean changes, then the sum.
pub(crate) fn text(decisions: &[Decision]) -> String {
    let mut text = String::new();
    for decision in decisions.iter().filter(|decision| decision.outcome != Outcome::Clean) {
        let _ = writeln!(
            text,
            "{}: {}: {}",
            decision.outcome.word(),
            decision.path,
            indented(&decision.message)
        );
    }
    text.push_str(&sum(decisions));
    text
}

/// Renders the line of counts.
fn sum(decisions: &[Decision]) -> String {
    let count = |outcome| decisions.iter().filter(|decision| decision.outcome == outcome).count();
    let words = [Outcome::Clean, Outcome::Noted, Outcome::Conflict, Outcome::Blocked]
        .map(|outcome| format!("{} {}", count(outcome), outcome.word()));
    format!("merged: {}\n", words.join(", "))
}

fn indented(message: &str) -> String {
    message.trim_end().replace('\n', "\n  ")
}

/// Renders all decisions for programs.
pub(crate) fn json(decisions: &[Decision]) -> Value {
    decisions.iter().map(one).collect()
}

fn one(decision: &Decision) -> Value {
    json!({
        "id": decision.id.0,
        "path": decision.path.as_str(),
        "object": decision.object.as_ref().map(object),
        "field": decision.field,
        "base": decision.base,
        "ours": decision.ours,
        "theirs": decision.theirs,
        "class": decision.class.word(),
        "rule": decision.rule.word(),
        "outcome": decision.outcome.word(),
        "message": decision.message,
        "answer": decision.answer.as_ref().map(answer),
    })
}

/// Renders the identity of an object for programs.
pub(crate) fn object(identity: &Identity) -> Value {
    json!({
        "group": &*identity.group,
        "kind": &*identity.kind,
        "namespace": &*identity.namespace,
        "name": &*identity.name,
    })
}

/// Renders an answer as `refit resolve` takes it.
fn answer(answer: &Answer) -> Value {
    match answer {
        Answer::Ours => json!("ours"),
        Answer::Theirs => json!("theirs"),
        Answer::Value(value) => json!({ "value": value }),
    }
}
