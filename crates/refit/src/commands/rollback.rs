//! `refit rollback`: the way back from the last upgrade.
//!
//! In: options, and a person at a terminal. Out: the engine's report, rendered. Asks before anything is written.

use clap::Args;
use refit_engine::{Again, Ask, Others};

use crate::args::Global;
use crate::commands::selection::Consent;
use crate::commands::upgrade::{confirm, show, upgraded, would_change};
use crate::failure::Failure;
use crate::output::Answer;
use crate::wiring::Edges;

/// Go back from the last upgrade: open a request that undoes it and keeps the edits made since.
///
/// The files become what they were before the upgrade; where an edit made since is in the way, it is a decision as in an
/// upgrade. It is refused where objects may be stored in an API version that the older release does not serve. After the
/// merge, a second rollback goes back from the upgrade before. It shows the plan and asks; without a terminal it needs
/// --yes.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit rollback --plan
  refit rollback --yes
  refit rollback --cluster staging")]
pub(crate) struct Rollback {
    /// Show the plan and change nothing.
    #[arg(long, conflicts_with_all = ["yes", "again"])]
    plan: bool,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Open a request again after the last one was closed without a merge.
    #[arg(long)]
    again: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Runs `refit rollback`.
pub(crate) fn rollback(options: &Rollback, global: &Global) -> Result<Answer, Failure> {
    let ask = Ask {
        again: if options.again { Again::Open } else { Again::Stop },
        ..options.consent.ask(global)?
    };
    let edges = Edges::open(global)?;
    let prepared = edges.run(|ports| refit_engine::rollback(ports, &ask))?;
    let planned = prepared.report_for("rollback");
    if options.plan || !would_change(&planned) {
        return show(&planned);
    }
    if !options.yes
        && let Some(unconfirmed) = confirm(&prepared)?
    {
        return Ok(unconfirmed);
    }
    let report = edges.run(|ports| refit_engine::carry_out(ports, &prepared, Others::Stop))?;
    upgraded(&report)
}
