//! Goes on with the upgrades under way.

use refit_core::finding::Finding;
use refit_core::progress::Wishes;
use refit_core::record::Record;
use refit_core::report::{Next, Report, Reports, State, Upgrade};

use super::ground::{self, Flow};
use super::{carry, prepare, shown, under_way, whose};
use crate::{Ask, Commits, Error, Ports};

/// Goes on with the upgrades under way.
pub(crate) fn resume(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Reports<Upgrade>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let asked = under_way::meant(flow)?;
    if asked.is_empty() {
        return Ok(nothing(flow)?.into());
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

fn nothing(flow: Flow<'_>) -> Result<Report<Upgrade>, Error> {
    let body = Upgrade {
        upgrade: String::new(),
        cluster: String::new(),
        with: Vec::new(),
        from: String::new(),
        to: String::new(),
        target: String::new(),
        index: 0,
        count: 0,
        waits: Vec::new(),
        request: None,
        open: Vec::new(),
        findings: Vec::new(),
        unmatched: Vec::new(),
        commits: Vec::new(),
    };
    let mut message = format!("no upgrade of `{}` is under way", flow.ground.base.branch);
    let mut next = Vec::new();
    whose::tell_stranded(flow, &mut message, &mut next)?;
    if !next.is_empty() {
        return Ok(Report::new(State::Stopped, message, next, body));
    }
    // A record that cannot be read may be the one of an upgrade under way.
    let unreadable = unreadable(flow)?;
    if !unreadable.is_empty() {
        message.push_str("; what cannot be read may say otherwise");
        let next = shown::remedies(&unreadable);
        let body = Upgrade {
            findings: unreadable,
            ..body
        };
        return Ok(Report::new(State::Blocked, message, next, body));
    }
    next.push(Next::run("refit status", "see what can be upgraded"));
    Ok(Report::new(State::NothingToDo, message, next, body))
}

/// Lists the records that cannot be read.
fn unreadable(flow: Flow<'_>) -> Result<Vec<Finding>, Error> {
    let mut found = Vec::new();
    for picked in flow.picked()? {
        let is_record = |finding: &Finding| finding.blocks() && finding.subject.starts_with(Record::DIRECTORY);
        let new = prepare::found(flow.ground, &picked).into_iter().filter(is_record);
        found.extend(new);
    }
    found.dedup();
    Ok(found)
}
