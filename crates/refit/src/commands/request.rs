//! `refit request`: the built-in forge.
//!
//! In: options. Out: the engine's report, rendered.

use clap::{Args, Subcommand};

use crate::args::Global;
use crate::commands::selection::Consent;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view;
use crate::wiring::Edges;

/// List, show, merge and close change requests.
#[derive(Debug, Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Action {
    /// List the requests of all states, newest first.
    #[command(
        after_long_help = "Examples:\n  refit request list\n  refit request list -o json | jq '.requests[0].url'"
    )]
    List,
    /// Show a request with its text for the reviewer.
    #[command(after_long_help = "Examples:\n  refit request show\n  refit request show 3")]
    Show(Number),
    /// Merge a request into its target branch.
    ///
    /// Computes it anew first where the target branch moved. A target branch that is checked out and clean is moved with
    /// `git merge --ff-only`; with changes in the way the command ends with 4.
    #[command(after_long_help = "Examples:\n  refit request merge\n  refit request merge 3")]
    Merge(Merge),
    /// Close a request without merging it, and remove its branch.
    #[command(after_long_help = "Examples:\n  refit request close\n  refit request close 3")]
    Close(Number),
}

/// Which request.
#[derive(Args, Debug)]
pub(crate) struct Number {
    /// The number of the request [default: the only open one].
    number: Option<u64>,
}

/// Which request to merge.
#[derive(Args, Debug)]
pub(crate) struct Merge {
    /// The number of the request [default: the only open one].
    number: Option<u64>,
    #[command(flatten)]
    consent: Consent,
}

/// Runs one of the actions.
pub(crate) fn run(action: &Action, global: &Global) -> Result<Answer, Failure> {
    let edges = Edges::open(global)?;
    match action {
        Action::List => {
            let report = edges.run(refit_engine::request_list)?;
            Answer::new(&report, view::requests::list(&report))
        }
        Action::Show(Number { number }) => {
            let report = edges.run(|ports| refit_engine::request_show(ports, *number))?;
            Answer::new(&report, view::requests::show(&report))
        }
        Action::Merge(Merge { number, consent }) => {
            let ask = consent.ask(global)?;
            let report = edges.run(|ports| refit_engine::request_merge(ports, &ask, *number))?;
            Answer::new(&report, view::requests::ended(&report))
        }
        Action::Close(Number { number }) => {
            let report = edges.run(|ports| refit_engine::request_close(ports, *number))?;
            Answer::new(&report, view::requests::ended(&report))
        }
    }
}
