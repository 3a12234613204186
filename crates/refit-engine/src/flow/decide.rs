//! Lists and takes decisions.

use refit_core::progress::Wishes;
use refit_core::report::{DecisionLine, Decisions, Report, Reports, State};
use refit_manifest::merge::ImageRef;
use refit_manifest::{Answer, Class, DecisionId};

use super::carry::{self, End};
use super::ground::{self, Flow, Pick};
use super::prepare::{self, Planned, Work};
use super::shown;
use super::under_way::{self, Asked, Meant};
use super::{lines, notes, observe};
use crate::ports::ChangeRequest;
use crate::{Ask, Error, Ports};

/// How far the upgrade has come that an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Nobody has begun to carry it out.
    Planned,
    /// It was confirmed, or its request is open.
    UnderWay,
}

/// Lists the decisions of the upgrades under way (or, where none is, of the plans), or takes one answer first.
pub(crate) fn resolve(
    ports: &Ports<'_>,
    ask: &Ask,
    answer: Option<(DecisionId, Answer)>,
) -> Result<Reports<Decisions>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    match answer {
        Some((id, answer)) => take(flow, &id, &answer).map(Reports::from),
        None => list(flow),
    }
}

fn take(flow: Flow<'_>, id: &DecisionId, answer: &Answer) -> Result<Report<Decisions>, Error> {
    let ports = flow.ports;
    let (asked, stage) = match having(flow, id)? {
        Having::One(asked, stage) => (asked, stage),
        Having::Not(report) => return Ok(report),
    };
    let flow = flow.asking(&asked.ask);
    let planned = prepare::group(flow, &asked.picked)?;
    let Some(work) = &planned.work else {
        return match planned.report.state {
            State::NothingToDo => Err(nowhere(id)),
            _ => Ok(unplanned(&planned)),
        };
    };
    let decision = known(work, id)?;
    fits(decision, answer)?;
    let id = DecisionId(decision.id.clone());
    notes::change(ports, work, |note| note.take(&id, answer))?;
    let planned = prepare::group(flow, &asked.picked)?;
    let Some(work) = &planned.work else {
        return Ok(unplanned(&planned));
    };
    if stage == Stage::Planned {
        return Ok(noted(work));
    }
    Ok(match carry::run(ports, work, Wishes::default())? {
        End::Waits(request) | End::Holds(request) => listed(work, Some(request)),
        End::Decides(request) => listed(work, request),
        End::Stopped(cause, request) => {
            let next = lines::ways_on(&cause, work);
            let message = format!("the answer is noted; {}", cause.sentence());
            Report::new(State::Stopped, message, next, body(work, request.as_ref()))
        }
    })
}

fn list(flow: Flow<'_>) -> Result<Reports<Decisions>, Error> {
    let asked = match under_way::or_plan(flow)? {
        Meant::Groups(asked) => asked,
        Meant::Whole(planned) => return Ok(unplanned(&planned).into()),
    };
    ground::each(&asked, |one| {
        let planned = prepare::group(flow.asking(&one.ask), &one.picked)?;
        let Some(work) = &planned.work else {
            return Ok(unplanned(&planned));
        };
        let (_, request) = observe::look(flow.ports, work)?;
        Ok(listed(work, request))
    })
}

/// The upgrade that a decision belongs to.
enum Having<'a> {
    One(Asked<'a>, Stage),
    /// None can be told, and why.
    Not(Report<Decisions>),
}

/// Finds the upgrade that a decision belongs to: of several the only one that has it.
fn having<'a>(flow: Flow<'a>, id: &DecisionId) -> Result<Having<'a>, Error> {
    let under_way = under_way::look(flow)?.all(flow)?;
    let (mut all, stage) = match under_way.is_empty() {
        false => (under_way, Stage::UnderWay),
        true => match flow.pick()? {
            Pick::Groups(picked) => (under_way::asked(flow, picked), Stage::Planned),
            Pick::Choose(groups) => return Ok(Having::Not(unplanned(&shown::choose(flow, &groups)))),
            Pick::None => return Ok(Having::Not(unplanned(&shown::nothing_there(flow)))),
        },
    };
    if all.len() > 1 {
        let mut having = Vec::new();
        for one in all {
            let planned = prepare::group(flow.asking(&one.ask), &one.picked)?;
            if planned.work.as_ref().is_some_and(|work| known(work, id).is_ok()) {
                having.push(one);
            }
        }
        all = having;
    }
    match (all.pop(), all.len()) {
        (Some(only), 0) => Ok(Having::One(only, stage)),
        (None, _) => Err(nowhere(id)),
        // The same question can come up in several clusters, and the answers need not be the same.
        (Some(_), others) => Err(Error::Usage {
            message: format!("decision `{id}` comes up in {} clusters", others + 1),
            remedy: "name one with `--cluster NAME`".to_owned(),
        }),
    }
}

fn nowhere(id: &DecisionId) -> Error {
    Error::Usage {
        message: format!("there is no decision `{id}` in any upgrade under way"),
        remedy: "`refit resolve` lists what can be decided; `refit status` says what is under way".to_owned(),
    }
}

/// Finds a decision by its id or the beginning of it.
fn known<'a>(work: &'a Work, id: &DecisionId) -> Result<&'a DecisionLine, Error> {
    let all = &work.plan.decisions;
    if let Some(exact) = all.iter().find(|decision| decision.id == id.0) {
        return Ok(exact);
    }
    let begins: Vec<&DecisionLine> = all.iter().filter(|decision| decision.id.starts_with(&id.0)).collect();
    match begins.as_slice() {
        [only] if !id.0.is_empty() => Ok(only),
        [] => Err(Error::Usage {
            message: format!("there is no decision `{id}` in the upgrade to {}", work.plan.to),
            remedy: "`refit resolve` lists the decisions".to_owned(),
        }),
        several => Err(Error::Usage {
            message: format!("`{id}` is the beginning of {} decisions", several.len()),
            remedy: "write more letters; `refit resolve` lists the decisions".to_owned(),
        }),
    }
}

/// Refuses a value where only one of the sides can be the answer or that cannot stand in the field, and all but ours where
/// a patch can only stay.
fn fits(decision: &DecisionLine, answer: &Answer) -> Result<(), Error> {
    if !decision.takes_theirs() && *answer != Answer::Ours {
        return Err(Error::Usage {
            message: format!("decision `{}` can only be answered with `ours`", decision.id),
            remedy: format!(
                "`refit resolve {} ours`, then change the patch on the request's branch",
                decision.id
            ),
        });
    }
    let Answer::Value(value) = answer else {
        return Ok(());
    };
    let id = &decision.id;
    if !decision.takes_value() {
        return Err(Error::Usage {
            message: format!("decision `{id}` cannot be answered with a value"),
            remedy: format!("take a side: `refit resolve {id} ours` or `refit resolve {id} theirs`"),
        });
    }
    if decision.is_about_patch() {
        return refit_core::patches::fits(decision.ours.as_deref().unwrap_or_default(), value).map_err(|reason| {
            Error::Usage {
                message: format!("`{value}` cannot be the answer to decision `{id}`: {reason}"),
                remedy: format!("`refit resolve` says what a value means, or take a side: `refit resolve {id} ours`"),
            }
        });
    }
    let is_class = |class: Class| decision.class == class.word();
    if is_class(Class::Image) && ImageRef::read(value).is_none_or(|image| image.repository.is_empty()) {
        return Err(Error::Usage {
            message: format!("`{value}` is no image, which decision `{id}` is about"),
            remedy: format!("write it like `REGISTRY/NAME:TAG`, or take a side: `refit resolve {id} ours`"),
        });
    }
    if value.trim().is_empty() && (is_class(Class::Contract) || is_class(Class::Sizing)) {
        return Err(Error::Usage {
            message: format!("the value for decision `{id}` is empty"),
            remedy: format!("write a value, or take a side: `refit resolve {id} ours`"),
        });
    }
    Ok(())
}

fn body(work: &Work, request: Option<&ChangeRequest>) -> Decisions {
    Decisions {
        upgrade: work.plan.upgrade.clone(),
        decisions: work.plan.decisions.clone(),
        request: request.map(lines::request),
        findings: lines::broken(work),
    }
}

/// Reports the decisions of an upgrade under way or of a plan.
fn listed(work: &Work, request: Option<ChangeRequest>) -> Report<Decisions> {
    let open = work.plan.open().count();
    let body = body(work, request.as_ref());
    if open > 0 {
        let message = super::decisions(open);
        let next = lines::takes(work);
        return Report::new(State::DecisionNeeded, message, next, body);
    }
    match request {
        Some(request) => {
            let message = format!("no decision is open; request {} waits for review", request.number);
            Report::new(State::Done, message, lines::review(&request), body)
        }
        None => Report::new(State::Done, "no decision is open", vec![lines::upgrade(work)], body),
    }
}

/// Reports an answer to a plan that nobody has begun to carry out.
fn noted(work: &Work) -> Report<Decisions> {
    let mut report = listed(work, None);
    if report.state == State::Done {
        report.message = "every decision is taken; the answers are noted for the upgrade".to_owned();
    }
    report
}

fn unplanned(planned: &Planned) -> Report<Decisions> {
    let report = planned.report_for("resolve");
    report.with_body(Decisions {
        upgrade: report.body.upgrade.clone(),
        decisions: Vec::new(),
        request: None,
        findings: Vec::new(),
    })
}
