//! The texts of `history`, `cancel` and `pause`.
//!
//! In: reports. Out: text for people.

use refit_core::report::{Cancel, History, HistoryDecision, HistoryLine, Pauses, Report};

use crate::view::lines::{self, entry, line};

/// Renders `refit history`, the decisions counted.
pub(crate) fn history(report: &Report<History>) -> String {
    told(report, |text, one| {
        entry(text, "decisions", &counts(&one.decisions));
    })
}

/// Renders `refit history` with each decision.
pub(crate) fn history_with_decisions(report: &Report<History>) -> String {
    told(report, |text, one| {
        entry(text, "decisions", &counts(&one.decisions));
        for decision in &one.decisions {
            line!(text, "    {}", taken(decision));
        }
    })
}

fn told(report: &Report<History>, decisions: impl Fn(&mut String, &HistoryLine)) -> String {
    let mut text = lines::head(report);
    for one in &report.body.entries {
        let (number, kind, cluster) = (one.number, &one.kind, &one.cluster);
        line!(&mut text, "\n{number}. {kind} of {cluster}: {} -> {}", one.from, one.to);
        entry(&mut text, "when", &one.time);
        entry(&mut text, "who", &one.author);
        entry(&mut text, "commit", &one.commit);
        if let (Some(request), Some(branch)) = (one.request, &one.branch) {
            entry(&mut text, "request", &format!("#{request} (`{branch}`)"));
        }
        decisions(&mut text, one);
        entry(&mut text, "accepted", &one.accepted.join(", "));
    }
    lines::next(&mut text, &report.next, "");
    text
}

fn counts(decisions: &[HistoryDecision]) -> String {
    let count = |wanted: &dyn Fn(&HistoryDecision) -> bool| decisions.iter().filter(|one| wanted(one)).count();
    let parts = [
        (count(&|one| one.answer.is_some()), "answered"),
        (count(&|one| one.answer.is_none() && !one.open), "by rule"),
        (count(&|one| one.open), "open"),
    ];
    let named = parts.iter().filter(|(count, _)| *count > 0);
    named
        .map(|(count, word)| format!("{count} {word}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn taken(decision: &HistoryDecision) -> String {
    let place: Vec<&str> = [&decision.object, &decision.field]
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(String::as_str)
        .collect();
    let place = if place.is_empty() {
        decision.path.clone()
    } else {
        place.join(": ")
    };
    let by = match (&decision.answer, decision.open) {
        (Some(answer), _) => format!("answered {}", answer.lines().next().unwrap_or_default()),
        (None, true) => "open".to_owned(),
        (None, false) => format!("by rule {}", decision.rule),
    };
    format!("{} {place}: {by}", decision.id)
}

/// Renders `refit cancel`.
pub(crate) fn cancel(report: &Report<Cancel>) -> String {
    let mut text = lines::head(report);
    for request in &report.body.closed {
        entry(&mut text, "request", &lines::request(request));
    }
    for branch in &report.body.branches {
        entry(&mut text, "removed", &format!("branch `{branch}`"));
    }
    match report.body.answers {
        0 => {}
        1 => entry(&mut text, "removed", "1 answer"),
        several => entry(&mut text, "removed", &format!("{several} answers")),
    }
    for commit in &report.body.commits {
        entry(&mut text, "commit", commit);
    }
    lines::next(&mut text, &report.next, "");
    text
}

/// Renders `refit pause`.
pub(crate) fn pause(report: &Report<Pauses>) -> String {
    let mut text = lines::head(report);
    for pause in &report.body.paused {
        entry(&mut text, "cluster", &pause.cluster);
        entry(&mut text, "since", &format!("{} by {}", pause.since, pause.by));
        entry(&mut text, "reason", pause.reason.as_deref().unwrap_or_default());
    }
    lines::next(&mut text, &report.next, "");
    text
}
