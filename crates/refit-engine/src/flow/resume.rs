//! Goes on with the upgrades under way.

use refit_core::progress::Wishes;
use refit_core::report::{Next, Report, Reports, State, Upgrade};

use super::ground::{self, Flow, Ground};
use super::{carry, prepare, under_way};
use crate::{Ask, Commits, Error, Ports};

/// Goes on with the upgrades under way.
pub(crate) fn resume(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Reports<Upgrade>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let asked = under_way::meant(flow)?;
    if asked.is_empty() {
        return Ok(nothing(ground).into());
    }
    let wishes = Wishes {
        commits,
        ..Wishes::default()
    };
    ground::each(&asked, |one| {
        let planned = prepare::group(flow.asking(&one.ask), &one.picked)?;
        carry::finish(ports, &planned, wishes)
    })
}

fn nothing(ground: &Ground) -> Report<Upgrade> {
    let body = Upgrade {
        upgrade: String::new(),
        cluster: String::new(),
        with: Vec::new(),
        from: String::new(),
        to: String::new(),
        request: None,
        open: Vec::new(),
        findings: Vec::new(),
        unmatched: Vec::new(),
        commits: Vec::new(),
    };
    let message = format!("no upgrade of `{}` is under way", ground.base.branch);
    let next = vec![Next::run("refit status", "see what can be upgraded")];
    Report::new(State::NothingToDo, message, next, body)
}
