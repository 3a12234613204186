//! Lists, shows, merges and closes requests.

use refit_core::progress::{Heed, Wishes};
use refit_core::report::{Next, Report, Request, Requests, State};

use super::carry::{self, End};
use super::ground::{self, Flow, Picked};
use super::prepare::{self, Planned, Work};
use super::reviewed::Reviewed;
use super::{lines, notes, observe, people, under_way, whose};
use crate::ports::{ChangeRequest, PortErrorKind, RequestState};
use crate::{Ask, Error, Ports};

/// How often a merge is tried again when the target branch moves under it.
const TRIES: usize = 5;

/// Lists all requests.
pub(crate) fn list(ports: &Ports<'_>) -> Result<Report<Requests>, Error> {
    let requests = ports.forge.list()?;
    let open = requests.iter().filter(|request| observe::is_open(request)).count();
    let message = match open {
        0 => "no request is open".to_owned(),
        1 => "1 request is open".to_owned(),
        several => format!("{several} requests are open"),
    };
    let body = Requests {
        requests: requests.iter().map(lines::request).collect(),
    };
    Ok(Report::new(State::Done, message, Vec::new(), body))
}

/// Shows one request.
pub(crate) fn show(ports: &Ports<'_>, number: Option<u64>) -> Result<Report<Request>, Error> {
    let request = meant(ports, number)?;
    let next = match request.state {
        RequestState::Open => lines::review(&request),
        RequestState::Draft => vec![lines::waits("")],
        RequestState::Merged | RequestState::Closed => Vec::new(),
    };
    Ok(report(State::Done, &request, next))
}

/// Merges a request, after computing it anew where the target branch moved.
pub(crate) fn merge(ports: &Ports<'_>, ask: &Ask, number: Option<u64>) -> Result<Report<Request>, Error> {
    let mut request = meant(ports, number)?;
    let (mut broken, mut goes_on) = (Vec::new(), None);
    for _ in 0..TRIES {
        if observe::is_open(&request) {
            match refreshed(ports, ask, &request)? {
                Fresh::Ready(fresh) => request = fresh,
                Fresh::Computed(fresh, planned) => {
                    request = fresh;
                    broken = lines::broken(&planned);
                    goes_on = (!planned.plan.place.later.is_empty()).then(|| lines::goes_on(&planned.option));
                }
                Fresh::Not(report) => return Ok(report),
            }
        }
        match ports.forge.merge(request.number, &request.head) {
            Ok(merged) => {
                notes::remove(ports, &observe::upgrade_of(&merged.branch))?;
                let mut report = done(&merged);
                report.body.findings = broken;
                report.next.extend(goes_on);
                return Ok(report);
            }
            Err(error) if error.kind == PortErrorKind::Moved => request = meant(ports, Some(request.number))?,
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::Busy {
        branch: request.base.clone(),
    })
}

/// Closes a request.
pub(crate) fn close(ports: &Ports<'_>, number: Option<u64>) -> Result<Report<Request>, Error> {
    let request = meant(ports, number)?;
    if let Some(stopped) = worked_on(ports, &request)? {
        return Ok(stopped);
    }
    let closed = ports.forge.close(request.number)?;
    notes::remove(ports, &observe::upgrade_of(&closed.branch))?;
    let next = vec![Next::run("refit status", "see what can be upgraded")];
    Ok(report(State::Done, &closed, next))
}

/// Refuses to close a request of this program whose branch holds commits of people, kept or not.
fn worked_on(ports: &Ports<'_>, request: &ChangeRequest) -> Result<Option<Report<Request>>, Error> {
    if !observe::is_open(request) || observe::upgrade_of(&request.branch).is_empty() {
        return Ok(None);
    }
    let base = ports.repository.base(Some(&request.base))?;
    let people = people::Branch::read(ports, &base.commit, &request.head, Some(request))?.lines();
    if people.is_empty() {
        return Ok(None);
    }
    let (number, branch) = (request.number, &request.branch);
    let next = vec![
        Next::say(format!(
            "keep them under another name with `git branch NAME {}`, then remove `{branch}` yourself",
            request.head
        )),
        Next::run(
            "refit cancel --discard-commits",
            "give the upgrade up with these commits",
        ),
    ];
    let mut stopped = report(State::Stopped, request, next);
    stopped.message = format!(
        "request {number} cannot be closed: people added commits to branch `{branch}`: {}",
        people.join(", ")
    );
    Ok(Some(stopped))
}

/// Finds a request by number; without one the only open one.
pub(super) fn meant(ports: &Ports<'_>, number: Option<u64>) -> Result<ChangeRequest, Error> {
    let requests = ports.forge.list()?;
    if let Some(number) = number {
        return requests
            .into_iter()
            .find(|request| request.number == number)
            .ok_or_else(|| Error::Usage {
                message: format!("there is no request {number}"),
                remedy: "`refit request list` lists them".to_owned(),
            });
    }
    let mut open: Vec<ChangeRequest> = requests.into_iter().filter(observe::is_open).collect();
    match (open.pop(), open.len()) {
        (Some(only), 0) => Ok(only),
        (None, _) => Err(Error::Usage {
            message: "no request is open".to_owned(),
            remedy: "`refit upgrade` opens one; `refit request list` lists all".to_owned(),
        }),
        (Some(_), others) => Err(Error::Usage {
            message: format!("{} requests are open", others + 1),
            remedy: "name one by its number; `refit request list` lists them".to_owned(),
        }),
    }
}

enum Fresh {
    Ready(ChangeRequest),
    /// It can be merged as it was computed anew.
    Computed(ChangeRequest, Box<Work>),
    Not(Report<Request>),
}

/// Brings a request of this program up to date before it is merged.
fn refreshed(ports: &Ports<'_>, ask: &Ask, request: &ChangeRequest) -> Result<Fresh, Error> {
    let ask = &Ask {
        base: Some(request.base.clone()),
        ..ask.clone()
    };
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let open = observe::open_with_records(flow)?;
    let Some(own) = open.into_iter().find(|open| open.request.number == request.number) else {
        return Ok(Fresh::Ready(request.clone()));
    };
    let record = own.record;
    let names = own.clusters;
    if names.is_empty() {
        let mut stopped = report(State::Stopped, request, vec![whose::give_up(request)]);
        stopped.message = whose::is_gone(request, &record);
        return Ok(Fresh::Not(stopped));
    }
    let ask = under_way::again(ask, &names, &under_way::Way::of_record(&record));
    let flow = flow.asking(&ask);
    let picked = flow.picked()?.into_iter().next().map(Picked::whole);
    let Some(picked) = picked else {
        return Ok(Fresh::Ready(request.clone()));
    };
    let planned = prepare::group(flow, &picked)?;
    let Some(work) = &planned.work else {
        return Ok(Fresh::Not(unplanned(&planned, request)));
    };
    let wishes = Wishes {
        pause: Heed::Pass,
        ..Wishes::default()
    };
    let before = Reviewed::of(ports, &ground.base.commit, request, &record)?;
    let fresh = fresh(carry::run(ports, work, wishes)?, work, request);
    let Fresh::Computed(anew, _) = &fresh else {
        return Ok(fresh);
    };
    if anew.head == request.head {
        return Ok(fresh);
    }
    let brought = work.records.of(ports, anew)?.unwrap_or(record);
    let after = Reviewed::of(ports, &ground.base.commit, anew, &brought)?;
    Ok(match before.differs(&after, &anew.title) {
        Some(how) => Fresh::Not(another(anew, &how)),
        None => fresh,
    })
}

/// Asks for a review of a request that is another than before.
fn another(request: &ChangeRequest, how: &str) -> Report<Request> {
    let mut report = report(State::Waiting, request, lines::review(request));
    report.message = format!(
        "request {} was computed anew and is not merged: {how}; review it",
        request.number
    );
    report
}

/// Tells what came of bringing a request up to date.
fn fresh(end: End, work: &Work, request: &ChangeRequest) -> Fresh {
    match end {
        End::Waits(fresh) => Fresh::Computed(fresh, Box::new(work.clone())),
        End::Holds(fresh) => {
            let mut report = report(
                State::Waiting,
                &fresh,
                lines::gates(&work.plan.place.gate, &work.option),
            );
            let before = work.plan.place.before().unwrap_or_default();
            report.message = format!("request {} is a draft: {before}", fresh.number);
            Fresh::Not(report)
        }
        End::Decides(fresh) => {
            let shown = fresh.as_ref().unwrap_or(request);
            let mut report = report(State::DecisionNeeded, shown, lines::resolve(work));
            report.message = format!(
                "request {} cannot be merged yet: {}",
                request.number,
                super::decisions(work.plan.open().count())
            );
            Fresh::Not(report)
        }
        End::Stopped(cause, fresh) => {
            let shown = fresh.as_ref().unwrap_or(request);
            let mut report = report(State::Stopped, shown, lines::ways_on(&cause, work));
            report.message = match cause.commits().as_slice() {
                [] => cause.sentence(),
                commits => format!("{}: {}", cause.sentence(), commits.join(", ")),
            };
            Fresh::Not(report)
        }
    }
}

fn unplanned(planned: &Planned, request: &ChangeRequest) -> Report<Request> {
    let mut report = planned.report.with_body(body(request));
    if report.state == State::NothingToDo {
        let close = format!("refit request close {}", request.number);
        report
            .next
            .push(Next::run(close, "close it: the branch has its release without it"));
    }
    report
}

fn done(request: &ChangeRequest) -> Report<Request> {
    let next = vec![Next::run("refit status", "see where the cluster stands")];
    report(State::Done, request, next)
}

fn report(state: State, request: &ChangeRequest, next: Vec<Next>) -> Report<Request> {
    let body = body(request);
    let line = &body.request;
    let message = format!("request {} is {}: {}", line.number, line.state, line.title);
    Report::new(state, message, next, body)
}

fn body(request: &ChangeRequest) -> Request {
    Request {
        request: lines::request(request),
        text: request.body.clone(),
        head: request.head.to_string(),
        findings: Vec::new(),
    }
}
