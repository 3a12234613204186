//! The texts of `plan`, `check`, `upgrade` and `resume`.
//!
//! In: reports. Out: text for people.

use refit_core::report::{Check, Plan, Report, Upgrade};

use crate::view::decisions;
use crate::view::lines::{self, entry, line};

/// Renders `refit plan`.
pub(crate) fn plan(report: &Report<Plan>) -> String {
    let plan = &report.body;
    let mut text = lines::head_of_findings(report, &plan.findings);
    for choice in &plan.choices {
        line!(&mut text, "  {choice}");
    }
    if !plan.to.is_empty() {
        clusters(&mut text, &plan.cluster, &plan.with);
        let route = plan
            .route
            .iter()
            .map(|hop| format!(" -> {}", hop.to))
            .collect::<String>();
        entry(&mut text, &plan.platform, &format!("{}{route}", plan.from));
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
    for request in &plan.requests {
        entry(
            &mut text,
            "request",
            &format!("{}: {} (`{}`)", request.state, request.title, request.branch),
        );
    }
    decisions::list(&mut text, &plan.decisions);
    lines::findings(&mut text, &plan.findings, "");
    lines::next(&mut text, &report.next, "");
    text
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
        entry(&mut text, "version", &format!("{} -> {}", upgrade.from, upgrade.to));
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
