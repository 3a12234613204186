//! Problems in words: decisions, findings, lines.
//!
//! In: a [`Problem`]. Out: what people read. The id of a decision is made of place, object, pointer and kind of problem.

use refit_kustomize::{AppliedPatch, Failure, Reason, State};
use refit_manifest::{Class, Decision, DecisionId, Outcome, Rule};

use super::problem::Weight;
use super::{Problem, What};
use crate::finding::{Code, Finding};

/// The most objects that a sentence names.
const NAMED: usize = 4;

/// Says what a patch is for: its target, or the object that its content names.
pub(super) fn target(patch: &AppliedPatch) -> String {
    let Some(target) = &patch.target else {
        return patch.own.as_ref().map(ToString::to_string).unwrap_or_default();
    };
    let or_all = |part: &str| {
        if part.is_empty() {
            "*".to_owned()
        } else {
            part.to_owned()
        }
    };
    let mut words = format!("{}/{}", or_all(&target.kind), or_all(&target.name));
    if !target.namespace.is_empty() {
        words.push_str(&format!(" in {}", target.namespace));
    }
    let selectors = [
        ("label", &target.label_selector),
        ("annotation", &target.annotation_selector),
    ];
    for (name, selector) in selectors.iter().filter(|(_, selector)| !selector.is_empty()) {
        words.push_str(&format!(" with {name} {selector}"));
    }
    words
}

/// Gives the id of a problem's decision.
pub(super) fn id(problem: &Problem) -> DecisionId {
    let object = problem.objects.first().map(ToString::to_string);
    let slot = problem.slot.as_ref();
    let place = slot.map_or_else(String::new, super::Slot::field_text);
    let document = slot.and_then(|slot| slot.document).unwrap_or_default().to_string();
    let aim = match &problem.what {
        What::Fails { message } => message.as_str(),
        what => what
            .operation()
            .map_or(problem.target.as_str(), |operation| &operation.pointer),
    };
    DecisionId::of(&[
        Some(problem.kustomization.as_str()),
        Some(&place),
        Some(&document),
        object.as_deref(),
        Some(aim),
        Some(problem.what.word()),
    ])
}

/// Gives the decision that a problem asks for. `fixed` says why the patch can only stay as it is; `value` is what a value
/// would take the place of.
pub(super) fn decision(problem: &Problem, fixed: Option<&str>, value: Option<String>) -> Decision {
    let id = id(problem);
    let ways = match fixed {
        Some(reason) => format!("; {reason}, so that it can only stay as it is: `refit resolve {id} ours`"),
        None => format!(
            ". {}. Choose with `refit resolve {id}`",
            ways(problem, value.as_deref())
        ),
    };
    Decision {
        path: problem.kustomization.clone(),
        object: problem.objects.first().cloned(),
        field: problem.slot.as_ref().map(super::Slot::field_text).unwrap_or_default(),
        base: None,
        ours: value.filter(|_| fixed.is_none()),
        theirs: None,
        class: match problem.what.weight() {
            Weight::Held => Class::Contract,
            Weight::Draft | Weight::Told => Class::Other,
        },
        rule: if fixed.is_some() { Rule::PatchFixed } else { Rule::Patch },
        outcome: Outcome::Conflict,
        message: sentence(problem) + &ways,
        answer: None,
        id,
    }
}

/// Says how many patches hold, for a request.
pub fn counted(holding: usize) -> Option<String> {
    match holding {
        0 => None,
        1 => Some("1 patch reaches what it reached before".to_owned()),
        several => Some(format!("{several} patches reach what they reached before")),
    }
}

/// Says in a request that a finding is about patches.
pub fn told(finding: &Finding) -> String {
    format!("`{}`: {}", finding.subject, finding.message)
}

/// Says what each answer does.
fn ways(problem: &Problem, value: Option<&str>) -> String {
    let ours = match &problem.what {
        What::OtherMeaning { .. } => "it stays and reaches the latter",
        What::MatchesNothing => "it stays and matches nothing",
        _ => "it stays, and the build fails until somebody changes it on the request's branch",
    };
    let theirs = match problem.what.operation() {
        Some(_) => "the operation is taken out, and the patch with its last one",
        None => "the patch is taken out",
    };
    let value = value.map(|value| match problem.what.operation() {
        Some(operation) => format!("; with a JSON pointer that becomes its `{}`", operation.end.key()),
        None => format!("; with a name it is for the object of that name in place of `{value}`"),
    });
    format!(
        "With `ours` {ours}; with `theirs` {theirs}{}",
        value.unwrap_or_default()
    )
}

/// Says what the matter is, with object, values and consequence.
pub(super) fn sentence(problem: &Problem) -> String {
    let patch = name(problem);
    let objects = objects(problem);
    match &problem.what {
        What::TargetGone => {
            format!("{patch} is for {objects}, which the new version does not have; the build would fail")
        }
        What::PlaceGone {
            operation,
            before,
            instead,
        } => {
            let now = match instead {
                Some(pointer) => format!(", now `{pointer}`"),
                None => String::new(),
            };
            let was = if before.is_empty() {
                String::new()
            } else {
                format!(" (it was `{before}`{now})")
            };
            if operation.op == "test" {
                return format!(
                    "{patch} has the operation `{operation}`, which {objects} does not pass in the new version; the build would fail"
                );
            }
            format!(
                "{patch} has the operation `{operation}`, whose place {objects} does not have in the new version{was}; \
                 the build would fail"
            )
        }
        What::Fails { message } => format!("the build would fail with the new version: {message}"),
        What::OtherMeaning {
            operation,
            before,
            after,
            instead,
        } => {
            let instead = match instead {
                Some(pointer) => format!("what it reached is now at `{pointer}`"),
                None => "the new version has nowhere what it reached".to_owned(),
            };
            format!(
                "{patch} has the operation `{operation}`, which reaches `{before}` of {objects} and would reach `{after}`; \
                 {instead}"
            )
        }
        What::MatchesNothing => format!(
            "{patch} targets {}, which the new version does not have; it would silently match nothing",
            problem.target
        ),
        What::HidesItems { list, items, dropped } => hides(&objects, list, items, dropped),
        What::BecomesLive => format!("it matched nothing, and with the new version it matches {objects}"),
        What::Redundant => format!("it changes nothing of {objects} any more: the new version has the value itself"),
    }
}

fn hides(objects: &str, list: &str, items: &[String], dropped: &[String]) -> String {
    let quoted = |items: &[String]| format!("`{}`", items.join("`, `"));
    let mut parts = Vec::new();
    if !items.is_empty() {
        parts.push(format!("hides {} of the new version", quoted(items)));
    }
    if !dropped.is_empty() {
        parts.push(format!("keeps {}, which the new version dropped", quoted(dropped)));
    }
    format!("for `{list}` of {objects} it {}", parts.join(" and "))
}

/// Gives the finding of a problem that needs no answer.
pub(super) fn finding(problem: &Problem) -> Option<Finding> {
    let code = match problem.what {
        What::HidesItems { .. } => Code::PatchHidesItems,
        What::BecomesLive => Code::PatchBecomesLive,
        What::Redundant => Code::PatchRedundant,
        _ => return None,
    };
    Some(Finding::new(code, subject(problem), sentence(problem)))
}

/// Says that an answer cannot be applied.
pub(super) fn refused(message: &str, reason: &str) -> String {
    let (sentence, ways) = message.rsplit_once(". ").unwrap_or((message, ""));
    format!("{sentence}. The answer given cannot be used: {reason}. {ways}")
        .trim_end()
        .to_owned()
}

/// Says that a build cannot be evaluated.
pub(super) fn not_evaluated(directory: &str, reasons: &[Reason]) -> Option<Finding> {
    let first = reasons.first()?;
    let others: Vec<String> = reasons
        .iter()
        .skip(1)
        .take(NAMED - 1)
        .map(|reason| format!("; {reason}"))
        .collect();
    let message = format!(
        "the build of `{}` is not evaluated: {}{}",
        place(directory),
        first.message,
        others.concat()
    );
    Some(Finding::new(
        Code::OverlayNotEvaluated,
        format!("{}:{}", first.path, first.line),
        message,
    ))
}

/// Says that a build failed before the upgrade already.
pub(super) fn was_broken(directory: &str, failures: &[Failure], after: &State) -> Option<Finding> {
    let first = failures.first()?;
    let then = match after {
        State::Evaluated => "; with the new version it builds",
        _ => "",
    };
    let message = format!(
        "the build of `{}` fails before the upgrade: {}{then}",
        place(directory),
        first.message
    );
    Some(Finding::new(
        Code::OverlayBroken,
        format!("{}:{}", first.path, first.line),
        message,
    ))
}

fn place(directory: &str) -> &str {
    if directory.is_empty() { "." } else { directory }
}

/// Warns of a build that will fail, since the answer was that the patch stays.
pub(super) fn broken(problem: &Problem) -> Finding {
    let message = format!(
        "{}, until somebody changes it",
        sentence(problem).replacen("would fail", "will fail", 1)
    );
    Finding::new(Code::PatchBroken, subject(problem), message)
}

fn subject(problem: &Problem) -> String {
    format!("{}:{}", problem.kustomization, problem.line)
}

/// Calls the patch by the file where it stands.
fn name(problem: &Problem) -> String {
    match &problem.file {
        Some(file) => format!("The patch in {file}, named by {},", problem.kustomization),
        None => format!("The patch in {}", problem.kustomization),
    }
}

fn objects(problem: &Problem) -> String {
    let mut names: Vec<String> = problem.objects.iter().take(NAMED).map(ToString::to_string).collect();
    if problem.objects.len() > NAMED {
        names.push(format!("{} more", problem.objects.len() - NAMED));
    }
    match names.split_last() {
        None => problem.target.clone(),
        Some((only, [])) => only.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
    }
}
