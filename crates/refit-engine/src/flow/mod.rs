//! The flows of Git mode.

use refit_core::report::{Check, Decisions, Diff, Inventory, Plan, Report, Request, Requests, Status, Upgrade};
use refit_manifest::{Answer, DecisionId};

use crate::{Ask, Commits, Error, Others, Ports};

/// A plan with all that is needed to carry it out.
#[derive(Clone, Debug)]
pub struct Prepared {
    report: Report<Plan>,
}

impl Prepared {
    /// Gives the plan to show.
    pub fn report(&self) -> &Report<Plan> {
        &self.report
    }
}

fn unfinished() -> Error {
    Error::Usage {
        message: "this flow is not built yet".into(),
        remedy: "wait for it".into(),
    }
}

pub(crate) fn status(_: &Ports<'_>, _: &Ask) -> Result<Report<Status>, Error> {
    Err(unfinished())
}
pub(crate) fn inventory(_: &Ports<'_>, _: &Ask) -> Result<Report<Inventory>, Error> {
    Err(unfinished())
}
pub(crate) fn check(_: &Ports<'_>, _: &Ask) -> Result<Report<Check>, Error> {
    Err(unfinished())
}
pub(crate) fn plan(_: &Ports<'_>, _: &Ask) -> Result<Prepared, Error> {
    Err(unfinished())
}
pub(crate) fn plan_saved(_: &Ports<'_>, _: &Ask, _: &[u8]) -> Result<Prepared, Error> {
    Err(unfinished())
}
pub(crate) fn carry_out(_: &Ports<'_>, _: &Prepared, _: Others) -> Result<Report<Upgrade>, Error> {
    Err(unfinished())
}
pub(crate) fn resolve(_: &Ports<'_>, _: &Ask, _: Option<(DecisionId, Answer)>) -> Result<Report<Decisions>, Error> {
    Err(unfinished())
}
pub(crate) fn diff(_: &Ports<'_>, _: &Ask, _: Option<u64>) -> Result<Report<Diff>, Error> {
    Err(unfinished())
}
pub(crate) fn resume(_: &Ports<'_>, _: &Ask, _: Commits) -> Result<Report<Upgrade>, Error> {
    Err(unfinished())
}
pub(crate) fn request_list(_: &Ports<'_>) -> Result<Report<Requests>, Error> {
    Err(unfinished())
}
pub(crate) fn request_show(_: &Ports<'_>, _: Option<u64>) -> Result<Report<Request>, Error> {
    Err(unfinished())
}
pub(crate) fn request_merge(_: &Ports<'_>, _: &Ask, _: Option<u64>) -> Result<Report<Request>, Error> {
    Err(unfinished())
}
pub(crate) fn request_close(_: &Ports<'_>, _: Option<u64>) -> Result<Report<Request>, Error> {
    Err(unfinished())
}
