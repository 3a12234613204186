//! Drives plans through ports.
//!
//! In: a request of the user and the ports. Out: outcomes that the binary renders. Knows neither kube nor Git nor HTTP
//! nor terminals.
//!
//! Every flow takes [`Ports`] and an [`Ask`] and gives a [`Report`] of `refit_core::report`, or an [`Error`] when no
//! answer could be given. A flow that works on groups of clusters (clusters that share generated files; mostly one) gives
//! [`Reports`]: that of the only group as it is, those of several as a list. All know their exit code: `report.exit`, `error.exit()`; an error also has `remedy()`.
//! Nothing here asks or prints; `upgrade` is two halves, [`plan`] and [`carry_out`], with the confirmation between.

pub mod ports;
pub mod merged;
pub mod ask;
pub mod error;
mod flow;

pub use ask::{Again, Ask, Commits, Others, Reach, Snapshot, Target, Wait, Way};
pub use error::Error;
pub use flow::{Pausing, Prepared};

use refit_core::catalog::Catalog;
use refit_core::report::{
    Cancel, Check, Decisions, Diff, History, Init, Inventory, Pauses, Report, Reports, Request, Requests, Status,
    Upgrade,
};
use refit_manifest::{Answer, DecisionId};

use ports::{Clock, Forge, Releases, Repository};

/// The edges that a flow works through.
#[derive(Clone, Copy)]
pub struct Ports<'a> {
    /// The platform repository.
    pub repository: &'a dyn Repository,
    /// Where its change requests are reviewed.
    pub forge: &'a dyn Forge,
    /// The contents of releases.
    pub releases: &'a dyn Releases,
    /// The time of day.
    pub clock: &'a dyn Clock,
    /// What is known about the releases of the platform.
    pub catalog: &'a Catalog,
}

/// Tells what is installed, what is available, which requests are open, and what comes next (exit 0 whenever it could
/// answer).
pub fn status(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Status>, Error> {
    flow::status(ports, ask)
}

/// Lists what is there, where it is configured, and what the user changed (exit 0 whenever it could answer).
pub fn inventory(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Inventory>, Error> {
    flow::inventory(ports, ask)
}

/// Gives the `refit.yaml` of what is found, with the sources of releases that the user named; writes nothing.
pub fn init(ports: &Ports<'_>, ask: &Ask, sources: &[String]) -> Result<Report<Init>, Error> {
    flow::init(ports, ask, sources)
}

/// Gives the findings of an upgrade alone (exit 3 when one blocks).
pub fn check(ports: &Ports<'_>, ask: &Ask) -> Result<Reports<Check>, Error> {
    flow::check(ports, ask)
}

/// Plans an upgrade and changes nothing.
///
/// The report's states: `ready`, `nothingToDo` (0), `choose` (2: several clusters or platforms, listed in
/// `body.choices`), `blocked` (3), `decisionNeeded` (the plan can be carried out; a decision will then be asked; exit 0
/// here). `refit plan --out FILE` writes the report as JSON.
pub fn plan(ports: &Ports<'_>, ask: &Ask) -> Result<Prepared, Error> {
    flow::plan(ports, ask)
}

/// Plans again what a saved plan (the JSON of [`plan`]'s report) says, and refuses with the difference when reality has
/// moved.
pub fn plan_saved(ports: &Ports<'_>, ask: &Ask, saved: &[u8]) -> Result<Prepared, Error> {
    flow::plan_saved(ports, ask, saved)
}

/// Carries out what was planned: writes the branch and opens the request, or goes on where an earlier run was cut.
pub fn carry_out(ports: &Ports<'_>, prepared: &Prepared, others: Others) -> Result<Reports<Upgrade>, Error> {
    flow::carry_out(ports, prepared, others)
}

/// Lists the decisions of the upgrade under way (or, where none is, of the plan), or takes one answer first.
pub fn resolve(
    ports: &Ports<'_>,
    ask: &Ask,
    answer: Option<(DecisionId, Answer)>,
) -> Result<Reports<Decisions>, Error> {
    flow::resolve(ports, ask, answer)
}

/// Gives before and after of a request; without a number of the only open one, else of the plan.
pub fn diff(ports: &Ports<'_>, ask: &Ask, request: Option<u64>) -> Result<Reports<Diff>, Error> {
    flow::diff(ports, ask, request)
}

/// Goes on with the upgrade under way: computes it anew where the target branch moved, and opens what can be opened.
pub fn resume(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Reports<Upgrade>, Error> {
    flow::resume(ports, ask, commits)
}

/// Plans the way back from the last upgrade; [`carry_out`] opens the request for it.
pub fn rollback(ports: &Ports<'_>, ask: &Ask) -> Result<Prepared, Error> {
    let back = Ask {
        way: Way::Back,
        ..ask.clone()
    };
    flow::plan(ports, &back)
}

/// Gives the upgrade under way up: closes its requests, removes its branches and answers (exit 4 where commits of people
/// would be lost).
pub fn cancel(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Report<Cancel>, Error> {
    flow::cancel(ports, ask, commits)
}

/// Pauses clusters, or ends their pause.
pub fn pause(ports: &Ports<'_>, ask: &Ask, pausing: &Pausing) -> Result<Report<Pauses>, Error> {
    flow::pause(ports, ask, pausing)
}

/// Tells who upgraded what and when, by commits alone.
pub fn history(ports: &Ports<'_>, ask: &Ask) -> Result<Report<History>, Error> {
    flow::history(ports, ask)
}

/// Lists the requests of all states, newest first; those of this program are marked by their upgrade.
pub fn request_list(ports: &Ports<'_>) -> Result<Report<Requests>, Error> {
    flow::request_list(ports)
}

/// Shows one request; without a number the only open one.
pub fn request_show(ports: &Ports<'_>, number: Option<u64>) -> Result<Report<Request>, Error> {
    flow::request_show(ports, number)
}

/// Merges a request, after computing it anew where the target branch moved; without a number the only open one.
pub fn request_merge(ports: &Ports<'_>, ask: &Ask, number: Option<u64>) -> Result<Report<Request>, Error> {
    flow::request_merge(ports, ask, number)
}

/// Closes a request without merging it and removes its branch; without a number the only open one.
pub fn request_close(ports: &Ports<'_>, number: Option<u64>) -> Result<Report<Request>, Error> {
    flow::request_close(ports, number)
}
