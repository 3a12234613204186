//! The texts of `status` and `inventory`.
//!
//! In: reports. Out: text for people.

use refit_core::report::{ChangeLine, ClusterInventory, ClusterStatus, DeclinedLine, Inventory, Report, Status};

use crate::view::lines::{self, entry, line};
use crate::view::plan;

/// Renders `refit status`.
pub(crate) fn status(report: &Report<Status>) -> String {
    let mut text = lines::head_of_findings(report, &report.body.findings);
    line!(
        &mut text,
        "repository {}, branch {}",
        report.body.repository,
        report.body.branch
    );
    for cluster in &report.body.clusters {
        cluster_status(&mut text, cluster);
    }
    lines::findings(&mut text, &report.body.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

fn cluster_status(text: &mut String, cluster: &ClusterStatus) {
    line!(text, "\ncluster {} ({})", cluster.cluster, place(&cluster.directory));
    entry(text, &cluster.platform, &versions(cluster));
    entry(text, "shares with", &cluster.with.join(", "));
    entry(text, "state", cluster.state.words());
    if let Some(route) = &cluster.route {
        let hops: String = route.hops.iter().map(|hop| format!(" -> {}", hop.to)).collect();
        let far = format!(
            "{}{hops}, {} of {} requests merged",
            cluster.installed, route.merged, route.count
        );
        entry(text, "route", &far);
        plan::hops(text, &route.hops);
    }
    for request in &cluster.requests {
        entry(text, "request", &lines::request(request));
    }
    if let Some(pause) = &cluster.paused {
        let reason = pause
            .reason
            .as_ref()
            .map(|reason| format!(": {reason}"))
            .unwrap_or_default();
        entry(
            text,
            "paused",
            &format!("since {} by {}{reason}", pause.since, pause.by),
        );
    }
    if let Some(from) = &cluster.rolled_back {
        entry(text, "rolled back", &format!("from {from}"));
    }
    if let Some(declined) = &cluster.declined {
        entry(text, "declined", &left_behind(declined));
    }
    if cluster.behind {
        entry(text, "behind", "the target branch has commits that the request lacks");
    }
    if cluster.open_decisions > 0 {
        entry(text, "decisions", &format!("{} open", cluster.open_decisions));
    }
    lines::findings(text, &cluster.findings, "  ");
    lines::next(text, &cluster.next, "  ");
}

/// Says what a request that was closed without a merge leaves behind.
fn left_behind(declined: &DeclinedLine) -> String {
    let mut left = Vec::new();
    left.extend(declined.branch.iter().map(|branch| format!("branch `{branch}`")));
    match declined.answers {
        0 => {}
        1 => left.push("1 answer".to_owned()),
        several => left.push(format!("{several} answers")),
    }
    let left = if left.is_empty() {
        "nothing is left of it".to_owned()
    } else {
        format!("left behind: {}", left.join(", "))
    };
    format!(
        "request {} to {} was closed without a merge; {left}",
        declined.request, declined.to
    )
}

/// Names a directory; the root of the repository has no name of its own.
fn place(directory: &str) -> &str {
    if directory.is_empty() { "the root" } else { directory }
}

fn versions(cluster: &ClusterStatus) -> String {
    let installed = match cluster.installed.as_str() {
        "" => "version unclear".to_owned(),
        version => format!("{version} installed"),
    };
    let available = cluster.available.iter().map(|version| format!("{version} available"));
    let newest = cluster.newest.iter().map(|version| format!("{version} is the newest"));
    let all: Vec<String> = std::iter::once(installed).chain(available).chain(newest).collect();
    all.join(", ")
}

/// Renders `refit inventory`.
pub(crate) fn inventory(report: &Report<Inventory>) -> String {
    let mut text = lines::head(report);
    let body = &report.body;
    line!(
        &mut text,
        "repository {}, branch {} at {}",
        body.repository,
        body.branch,
        body.commit
    );
    for cluster in &body.clusters {
        cluster_inventory(&mut text, cluster);
    }
    lines::findings(&mut text, &body.findings, "");
    lines::next(&mut text, &report.next, "");
    text
}

fn cluster_inventory(text: &mut String, cluster: &ClusterInventory) {
    line!(text, "\ncluster {} ({})", cluster.cluster, place(&cluster.directory));
    entry(text, "shares with", &cluster.with.join(", "));
    entry(text, &cluster.platform, &cluster.version);
    for one in &cluster.evidence {
        let value = if one.value.is_empty() {
            "no release matches all of it"
        } else {
            &one.value
        };
        entry(text, "evidence", &format!("{}: {value}", one.source));
    }
    if !cluster.verdict.is_empty() {
        entry(text, "verdict", &cluster.verdict);
    }
    for option in &cluster.options {
        entry(text, "option", &format!("{}={}", option.name, option.value));
    }
    entry(text, "components", &cluster.components.join(", "));
    entry(text, "base", cluster.base.as_deref().unwrap_or("unknown"));
    for file in &cluster.files {
        entry(text, &file.role, &file.path);
    }
    for change in &cluster.changes {
        entry(text, "changed", &changed(cluster, change));
    }
    for patch in &cluster.patches {
        entry(text, &patch.kind, &format!("{} for {}", patch.path, patch.target));
    }
    lines::findings(text, &cluster.findings, "  ");
}

/// Renders a user's edit: the file below the cluster's directory, the object, the field, before and after.
fn changed(cluster: &ClusterInventory, change: &ChangeLine) -> String {
    let below = change.path.strip_prefix(&cluster.directory).unwrap_or(&change.path);
    let parts = [below.trim_start_matches('/'), &change.object, &change.field];
    let place: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let place = place.join(": ");
    match (&change.generated, &change.has) {
        (Some(_), None) if change.field.is_empty() => format!("{place}: deleted"),
        (None, Some(_)) if change.field.is_empty() => format!("{place}: added"),
        (Some(before), None) => format!("{place}: {} removed", lines::short(Some(before))),
        (None, Some(after)) => format!("{place}: {} added", lines::short(Some(after))),
        (before, after) => {
            format!(
                "{place}: {} became {}",
                lines::short(before.as_ref()),
                lines::short(after.as_ref())
            )
        }
    }
}
