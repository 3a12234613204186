//! The decisions of a merge.
//!
//! In: [`Decision`]s. Out: lines for people, objects for programs, and the state that they call for.

use refit_core::plan;
use refit_core::report::{DecisionLine, Decisions, Report, State};
use refit_manifest::{Decision, Outcome, Rule};

use crate::view::lines::{self, entry, line};

/// Chooses the state: blocked before conflict before done.
pub(crate) fn state(decisions: &[Decision]) -> State {
    match decisions.iter().map(|decision| decision.outcome).max() {
        Some(Outcome::Blocked) => State::Blocked,
        Some(Outcome::Conflict) => State::DecisionNeeded,
        _ => State::Done,
    }
}

/// Renders what people should know: everything but clean changes.
pub(crate) fn text(decisions: &[Decision], remedy: Remedy) -> String {
    let mut text = String::new();
    for decision in decisions.iter().filter(|decision| decision.outcome != Outcome::Clean) {
        if let Some(given) = &decision.answer {
            line!(
                &mut text,
                "answered: {}: {}",
                place(decision),
                plan::line_of_answer(given)
            );
            continue;
        }
        let message = remedy.reword(decision).replace('\n', "\n  ");
        line!(&mut text, "{}: {message}", decision.outcome.word());
    }
    text
}

/// How a person can decide otherwise, where no upgrade is under way that `refit resolve` could answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// By the option `--answer` of the same command.
    Answer,
    /// By an edit of the merged file.
    Edit,
}

impl Remedy {
    /// Puts itself where a message names `refit resolve`.
    fn reword(self, decision: &Decision) -> String {
        let mut text = decision.message.trim_end();
        let mut worded = String::new();
        while let Some((before, command)) = text.split_once("`refit resolve") {
            worded.push_str(before);
            worded.push_str(&match self {
                Self::Answer if decision.rule == Rule::PatchFixed => format!("`--answer {}=ours`", decision.id),
                Self::Answer => format!("`--answer {}=theirs`", decision.id),
                Self::Edit => "an edit of the file".into(),
            });
            text = command.split_once('`').map_or("", |(_, after)| after);
        }
        worded + text
    }
}

/// Names file, object and field.
fn place(decision: &Decision) -> String {
    let object = decision.object.as_ref().map(ToString::to_string).unwrap_or_default();
    let parts = [decision.path.to_string(), object, decision.field.clone()];
    let named: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    named.join(": ")
}

/// Counts the decisions by outcome.
pub(crate) fn sum(decisions: &[Decision]) -> String {
    let count = |outcome| decisions.iter().filter(|decision| decision.outcome == outcome).count();
    let words = [Outcome::Clean, Outcome::Noted, Outcome::Conflict, Outcome::Blocked]
        .map(|outcome| format!("{} {}", count(outcome), outcome.word()));
    words.join(", ")
}

/// Renders a decision for programs.
pub(crate) fn describe(decision: &Decision, remedy: Remedy) -> DecisionLine {
    DecisionLine {
        message: remedy.reword(decision),
        ..plan::line(decision)
    }
}

/// Renders `refit resolve`.
pub(crate) fn resolve(report: &Report<Decisions>) -> String {
    let mut text = lines::head(report);
    if let Some(request) = &report.body.request {
        entry(&mut text, "request", &lines::request(request));
    }
    list(&mut text, &report.body.decisions);
    lines::findings(&mut text, &report.body.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

/// Appends decisions below the files that they are about; open ones with the command that takes them.
pub(crate) fn list(text: &mut String, decisions: &[DecisionLine]) {
    let mut path = "";
    for decision in decisions {
        if decision.path != path {
            path = &decision.path;
            line!(text, "in `{path}`:");
        }
        let word = if decision.open { "decision" } else { &decision.outcome };
        line!(text, "  {word} {}: {}", decision.id, own_message(decision));
        if let Some(answer) = &decision.answer {
            line!(text, "    answered: {answer}");
        } else if decision.open {
            if !decision.is_about_patch() {
                let (ours, theirs) = (short(&decision.ours), short(&decision.theirs));
                line!(text, "    ours: {ours}, theirs: {theirs}");
            }
            line!(
                text,
                "    take it with `refit resolve {} {}`",
                decision.id,
                decision.ways()
            );
        }
    }
}

/// Gives the sentence of a decision without the path above it and without the command below it.
fn own_message(decision: &DecisionLine) -> String {
    let message = decision.message_as_taken().trim_end();
    let message = message.strip_prefix(&format!("{}: ", decision.path)).unwrap_or(message);
    let command = format!(", choose with `refit resolve {}`", decision.id);
    let patch = format!(". Choose with `refit resolve {}`", decision.id);
    message
        .replace(&command, "")
        .replace(&patch, "")
        .replace('\n', "\n    ")
}

fn short(value: &Option<String>) -> String {
    lines::short(value.as_ref())
}
