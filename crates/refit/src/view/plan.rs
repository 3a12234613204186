//! The texts of `plan`, `check`, `upgrade` and `resume`.
//!
//! In: reports. Out: text for people.

use refit_core::report::{Check, GateLine, Hop, Plan, Report, RequestDraft, Upgrade};
use refit_core::stage::{self, Wait};

use crate::view::decisions;
use crate::view::lines::{self, entry, line};

/// Renders `refit plan`.
pub(crate) fn plan(report: &Report<Plan>) -> String {
    let plan = &report.body;
    let mut text = lines::head_of_findings(report, &plan.findings);
    for choice in &plan.choices {
        line!(&mut text, "  {choice}");
    }
    if !plan.to.is_empty() || !plan.repair.is_empty() {
        clusters(&mut text, &plan.cluster, &plan.with);
        let route = plan
            .route
            .iter()
            .map(|hop| format!(" -> {}", hop.to))
            .collect::<String>();
        entry(&mut text, &plan.platform, &format!("{}{route}", plan.from));
        hops(&mut text, &plan.route);
        for (at, step) in plan.repair.iter().enumerate() {
            entry(&mut text, "repair", &format!("{}. {}", at + 1, step.what));
            step.commands.iter().for_each(|command| line!(&mut text, "{command}"));
        }
        entry(&mut text, "base", &plan.base);
        entry(&mut text, "upgrade", &plan.upgrade);
    }
    for file in &plan.files {
        entry(
            &mut text,
            &file.change,
            &format!("{} (+{} -{} lines)", file.path, file.added, file.removed),
        );
    }
    for object in &plan.pruned {
        entry(&mut text, "pruned", object);
    }
    requests(&mut text, &plan.requests);
    decisions::list(&mut text, &plan.decisions);
    lines::findings(&mut text, &plan.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

/// Lists why the hops are needed.
pub(crate) fn hops(text: &mut String, hops: &[Hop]) {
    for hop in hops.iter().filter(|hop| !hop.why.is_empty()) {
        entry(text, "hop", &format!("to {}: {}", hop.to, hop.why));
    }
}

/// Lists the requests in their order, each with what must be true before its merge.
fn requests(text: &mut String, requests: &[RequestDraft]) {
    for request in requests {
        let branch = match request.branch.as_str() {
            "" => String::new(),
            branch => format!(" (`{branch}`)"),
        };
        entry(
            text,
            "request",
            &format!("{}: {}{branch}", request.state, request.title),
        );
        for gate in &request.gates {
            entry(text, "", &before(gate));
            gate.why.iter().for_each(|why| entry(text, "", &format!("- {why}")));
        }
    }
}

/// Says what must be true before the merge of a request.
fn before(gate: &GateLine) -> String {
    stage::before(gate.what.parse::<Wait>().into_iter()).unwrap_or_default()
}

/// Renders `refit check`.
pub(crate) fn check(report: &Report<Check>) -> String {
    let check = &report.body;
    let mut text = lines::head_of_findings(report, &check.findings);
    clusters(&mut text, check.cluster.as_deref().unwrap_or_default(), &check.with);
    if let (Some(from), Some(to)) = (&check.from, &check.to) {
        entry(&mut text, "checked", &format!("{from} -> {to}"));
    }
    lines::findings(&mut text, &check.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

/// Renders `refit upgrade` and `refit resume`.
pub(crate) fn upgrade(report: &Report<Upgrade>) -> String {
    let upgrade = &report.body;
    let mut text = lines::head_of_findings(report, &upgrade.findings);
    clusters(&mut text, &upgrade.cluster, &upgrade.with);
    if !upgrade.to.is_empty() {
        let to = match (upgrade.count, upgrade.from == upgrade.to) {
            (..=1, _) => format!(" -> {}", upgrade.to),
            (all, true) => format!(" (request {} of {all} on the way to {})", upgrade.index, upgrade.target),
            (all, false) => format!(
                " -> {} (request {} of {all} on the way to {})",
                upgrade.to, upgrade.index, upgrade.target
            ),
        };
        entry(&mut text, "version", &format!("{}{to}", upgrade.from));
    }
    if let Some(request) = &upgrade.request {
        entry(&mut text, "request", &lines::request(request));
        entry(&mut text, "see", &request.url);
    }
    for commit in &upgrade.commits {
        entry(&mut text, "commit", commit);
    }
    decisions::list(&mut text, &upgrade.open);
    lines::findings(&mut text, &upgrade.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

/// Names the cluster, or all that share their generated files.
fn clusters(text: &mut String, first: &str, with: &[String]) {
    let names: Vec<&str> = std::iter::once(first).chain(with.iter().map(String::as_str)).collect();
    let word = if with.is_empty() { "cluster" } else { "clusters" };
    entry(text, word, &names.join(", "));
}
