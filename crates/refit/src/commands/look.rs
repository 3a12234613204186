//! `refit status`, `refit inventory`, `refit check`, `refit diff`: they look and change nothing.
//!
//! In: options. Out: the engine's report, rendered.

use clap::Args;
use refit_engine::Ask;

use crate::args::Global;
use crate::commands::selection::{self, Consent, Seen, Selection};
use crate::failure::Failure;
use crate::output::Answer;
use crate::view;
use crate::view::lines::unmatched;
use crate::wiring::Edges;

/// Tell what is installed and available, which requests are open, and what comes next.
///
/// Looks at the repository alone (and at a snapshot of the cluster, where one is given) and changes nothing; ends with 0 whenever it could answer. More than five clusters are
/// shown as a table, unless they are named.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit status
  refit status --all
  refit status --repo ../fleet --cluster staging
  refit status -o json | jq -r '.clusters[].installed'")]
pub(crate) struct Status {
    /// Show all clusters as a table, one line each.
    #[arg(long, conflicts_with = "cluster")]
    all: bool,
    #[command(flatten)]
    seen: Seen,
}

/// List what is there, where it is configured, and what the user changed.
///
/// Shows per cluster the evidence for the version, the options that the manifest was generated with, its components and
/// files, every edit against what the generator wrote, and the patches that apply.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit inventory
  refit inventory -o json | jq '.clusters[].changes'")]
pub(crate) struct Inventory;

/// Give the findings of an upgrade alone.
///
/// Ends with 3 when one of them blocks the upgrade.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit check
  refit check flux@v2.6.4
  refit check --all-clusters
  refit check --accept OtherUpdater:renovate.json")]
pub(crate) struct Check {
    #[command(flatten)]
    selection: Selection,
}

/// Show before and after of a request, or of the plan where none is open.
///
/// Prints a unified diff and nothing else to stdout. With `--cluster` or `--all-clusters` it shows the open request of
/// each, else its plan.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit diff
  refit diff 3
  refit diff | less")]
pub(crate) struct Diff {
    /// The number of the request [default: the only open one].
    request: Option<u64>,
    #[command(flatten)]
    consent: Consent,
}

/// Runs `refit status`.
pub(crate) fn status(options: &Status, global: &Global) -> Result<Answer, Failure> {
    let edges = Edges::open(global)?;
    let ask = Ask {
        snapshot: options.seen.read()?,
        ..selection::ask(global)
    };
    let report = edges.run(|ports| refit_engine::status(ports, &ask))?;
    let named = global.all_clusters || !global.cluster.is_empty();
    let many = !named && report.body.clusters.len() >= view::fleet::MANY;
    let text = if options.all || many {
        view::fleet::table(&report)
    } else {
        view::status::status(&report)
    };
    Answer::new(&report, text)
}

/// Runs `refit inventory`.
pub(crate) fn inventory(global: &Global) -> Result<Answer, Failure> {
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::inventory(ports, &selection::ask(global)))?;
    Answer::new(&report, view::status::inventory(&report))
}

/// Runs `refit check`.
pub(crate) fn check(options: &Check, global: &Global) -> Result<Answer, Failure> {
    let ask = options.selection.ask(global)?;
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::check(ports, &ask))?;
    let notes = unmatched(&report, |check| &check.unmatched);
    Ok(Answer::of_groups(&report, view::plan::check)?.with_notes(notes))
}

/// Runs `refit diff`.
pub(crate) fn diff(options: &Diff, global: &Global) -> Result<Answer, Failure> {
    let ask = options.consent.ask(global)?;
    let edges = Edges::open(global)?;
    let reports = edges.run(|ports| refit_engine::diff(ports, &ask, options.request))?;
    let mut notes = String::new();
    for report in reports.each() {
        if report.body.files.is_empty() {
            notes.push_str(&view::lines::head(report));
        }
        view::lines::next(&mut notes, &report.next, "");
    }
    let mut answer = Answer::of_groups(&reports, view::requests::diff)?.with_notes(notes);
    // Another program reads the differences, so they stand alone.
    answer.data = reports
        .each()
        .into_iter()
        .flat_map(|report| view::requests::diff(report).into_bytes())
        .collect::<Vec<u8>>()
        .into();
    Ok(answer)
}
