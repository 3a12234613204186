//! `refit history`, `refit cancel`, `refit pause`: what people did, and what they want of an upgrade under way.
//!
//! In: options. Out: the engine's report, rendered.

use clap::Args;
use refit_engine::{Commits, Pausing};

use crate::args::Global;
use crate::commands::selection;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view;
use crate::wiring::Edges;

/// Tell who upgraded what and when, with which decisions.
///
/// It reads the records in the commits of the target branch and nothing else, so that a fresh clone tells the same. A
/// merge, a squash, a rebase and a revert are all told by what they did to the record.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit history
  refit history --cluster production --decisions
  refit history 2    # one entry with its decisions
  refit history -o json | jq -r '.entries[] | [.time, .author, .to] | @tsv'")]
pub(crate) struct History {
    /// The entry to show with its decisions; 1 is the newest.
    number: Option<usize>,
    /// Show the decisions of each entry.
    #[arg(long)]
    decisions: bool,
}

/// Give the upgrade under way up: close its requests, remove its branches and answers.
///
/// It also clears what a request leaves behind that somebody closed by hand. Where nothing is under way it says so and
/// ends with 0. Commits that people added to a branch are named first, and nothing is changed.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit cancel
  refit cancel --cluster staging
  refit cancel --discard-commits")]
pub(crate) struct Cancel {
    /// Drop the commits of people on the branches.
    #[arg(long)]
    discard_commits: bool,
}

/// Pause a cluster: until the pause ends, `upgrade`, `resume` and `rollback` open nothing and end with 4.
///
/// The pause is kept in the repository, so that it holds on every machine; `refit status` shows who paused, when and why.
/// What is open can still be merged. Without `--cluster` all clusters pause.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit pause --reason 'freeze until 7 January'
  refit pause --cluster production
  refit pause --off")]
pub(crate) struct Pause {
    /// Why, for those who find it.
    #[arg(long, value_name = "TEXT", conflicts_with = "off")]
    reason: Option<String>,
    /// End the pause.
    #[arg(long)]
    off: bool,
}

/// Runs `refit history`.
pub(crate) fn history(options: &History, global: &Global) -> Result<Answer, Failure> {
    let edges = Edges::open(global)?;
    let mut report = edges.run(|ports| refit_engine::history(ports, &selection::ask(global)))?;
    if let Some(number) = options.number {
        report.body.entries.retain(|entry| entry.number == number);
        if report.body.entries.is_empty() {
            return Err(Failure::usage(format!("the history has no entry {number}"))
                .hint("`refit history` lists the entries with their numbers"));
        }
    }
    let list = options.decisions || options.number.is_some();
    let text = match list {
        true => view::people::history_with_decisions(&report),
        false => view::people::history(&report),
    };
    Answer::new(&report, text)
}

/// Runs `refit cancel`.
pub(crate) fn cancel(options: &Cancel, global: &Global) -> Result<Answer, Failure> {
    let commits = if options.discard_commits {
        Commits::Discard
    } else {
        Commits::Stop
    };
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::cancel(ports, &selection::ask(global), commits))?;
    Answer::new(&report, view::people::cancel(&report))
}

/// Runs `refit pause`.
pub(crate) fn pause(options: &Pause, global: &Global) -> Result<Answer, Failure> {
    let pausing = if options.off {
        Pausing::Off
    } else {
        Pausing::On(options.reason.clone())
    };
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::pause(ports, &selection::ask(global), &pausing))?;
    Answer::new(&report, view::people::pause(&report))
}
