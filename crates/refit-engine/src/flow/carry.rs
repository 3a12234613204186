//! Carries a plan out: looks, asks what comes next, does it, looks again.

use refit_core::progress::{self, Cause, Effect, Next, Seen, Wishes};
use refit_core::report::{self, OfGroup, Report, Reports, State, Upgrade};

use super::prepare::{Planned, Prepared, Work};
use super::replay::{self, Replayed};
use super::{lines, notes, observe};
use crate::ports::{ChangeRequest, CommitId, PortErrorKind, RequestState};
use crate::{Commits, Error, Others, Ports};

/// The most effects of one run; each brings the upgrade nearer to its end, unless others undo it.
const EFFECTS: usize = 20;

/// How an upgrade ended for now.
pub(super) enum End {
    /// The request waits for people.
    Waits(ChangeRequest),
    /// The request must not be merged before what it waits for is true.
    Holds(ChangeRequest),
    /// Decisions are open; the request, where one could be opened.
    Decides(Option<ChangeRequest>),
    /// It stopped.
    Stopped(Cause, Option<ChangeRequest>),
}

/// Carries out what was planned, one group of clusters after the other; one that is blocked keeps no other from going on.
pub(crate) fn carry_out(ports: &Ports<'_>, prepared: &Prepared, others: Others) -> Result<Reports<Upgrade>, Error> {
    let wishes = Wishes {
        others,
        ..Wishes::default()
    };
    let mut groups = Vec::new();
    for planned in &prepared.planned {
        let report = finish(ports, planned, wishes).map_err(|error| match prepared.planned.len() {
            1 => error,
            _ => error.of_group(&planned.clusters.join("`, `")),
        })?;
        groups.push(OfGroup {
            clusters: planned.clusters.clone(),
            report,
        });
    }
    Ok(Reports::of(groups))
}

/// Carries out what was planned for one group, and reports.
pub(super) fn finish(ports: &Ports<'_>, planned: &Planned, wishes: Wishes) -> Result<Report<Upgrade>, Error> {
    let Some(work) = &planned.work else {
        return Ok(unplanned(&planned.report));
    };
    let dropped = discarded(ports, work, wishes)?;
    let end = run(ports, work, wishes)?;
    let mut report = told(planned, work, end);
    if !dropped.is_empty() && report.state != State::Stopped {
        report
            .message
            .push_str(&format!("; {} discarded", lines::commits(dropped.len())));
        report.body.commits = dropped;
    }
    Ok(report)
}

/// Lists the commits of people that a run will drop.
fn discarded(ports: &Ports<'_>, work: &Work, wishes: Wishes) -> Result<Vec<String>, Error> {
    if wishes.commits != Commits::Discard {
        return Ok(Vec::new());
    }
    let (seen, _) = observe::look(ports, work)?;
    let branch = seen.branch.unwrap_or_default();
    Ok(branch.people.into_iter().chain(branch.kept).collect())
}

/// Does one effect after the other until people or a cause come in between.
pub(super) fn run(ports: &Ports<'_>, work: &Work, wishes: Wishes) -> Result<End, Error> {
    let mut opened = None;
    let wishes = Wishes {
        again: work.again,
        ..wishes
    };
    for _ in 0..EFFECTS {
        let (mut seen, request) = observe::look(ports, work)?;
        seen.opened = opened;
        let effect = match progress::next(&work.plan, &seen, wishes) {
            Next::Run(effect) => effect,
            Next::Decide => return Ok(End::Decides(request)),
            Next::Stopped(cause) => return Ok(End::Stopped(cause, request)),
            Next::Hold => match request {
                Some(request) => return Ok(End::Holds(request)),
                None => continue,
            },
            Next::Wait => match request {
                Some(request) => return Ok(End::Waits(request)),
                None => continue,
            },
        };
        match apply(ports, work, &seen, &effect) {
            // Somebody else was faster: look again.
            Err(Error::Port(error)) if error.kind == PortErrorKind::Moved && !closes(&effect) => {}
            Err(error) => return Err(error),
            Ok(Did::Stopped(cause)) => return Ok(End::Stopped(cause, request)),
            Ok(Did::Opened(number)) => opened = Some(number),
            Ok(Did::Done) => {}
        }
    }
    Err(Error::Busy {
        branch: work.plan.branch.clone(),
    })
}

/// A request that cannot be closed has commits of people, which stay there however often it is tried.
fn closes(effect: &Effect) -> bool {
    matches!(effect, Effect::Close(_) | Effect::Yield(_))
}

/// What came of an effect.
enum Did {
    /// It is done.
    Done,
    /// It opened this request.
    Opened(u64),
    /// It cannot be done.
    Stopped(Cause),
}

/// Does an effect.
fn apply(ports: &Ports<'_>, work: &Work, seen: &Seen, effect: &Effect) -> Result<Did, Error> {
    let plan = &work.plan;
    match effect {
        Effect::Close(number) => {
            let other = seen.others.iter().find(|other| other.number == *number);
            let upgrade = observe::upgrade_of(other.map_or("", |other| &other.branch));
            notes::settle(ports, &upgrade, *number)?;
            // Before the request is closed: after a kill in between, the next run comes here again.
            notes::remove(ports, &upgrade)?;
            ports.forge.close(*number)?;
        }
        Effect::Yield(number) => {
            notes::settle(ports, &plan.upgrade, *number)?;
            ports.forge.close(*number)?;
        }
        Effect::Replay(head) => return replayed(ports, work, head),
        Effect::Confirm => {
            notes::keep_base(ports, work)?;
            notes::change(ports, work, |note| note.confirmed = true)?;
        }
        Effect::Note => notes::change(ports, work, |note| note.hear(&work.said))?,
        Effect::Keep(head) => notes::change(ports, work, |note| note.kept = Some(head.clone()))?,
        Effect::Publish(expected) => {
            notes::keep_base(ports, work)?;
            let commit = ports
                .repository
                .commit(&work.base.commit, &observe::changes(plan), &plan.message)?;
            let expected = expected.as_deref().map(|head| CommitId(head.into()));
            if seen.request.is_some() {
                // Before it is there: after a kill in between, the next run knows it by its id.
                notes::change(ports, work, |note| note.wrote(&commit.0))?;
            } else {
                file(ports, &plan.branch)?;
            }
            ports
                .repository
                .publish(&plan.branch, Some(&commit), expected.as_ref())?;
        }
        Effect::Open => {
            if let Some(head) = ports.repository.branch(&plan.branch)? {
                let request = ports.forge.open(&observe::draft(work, &head)?)?;
                return Ok(Did::Opened(request.number));
            }
        }
        Effect::Update(number) => {
            if let Some(head) = ports.repository.branch(&plan.branch)? {
                ports.forge.update(*number, &observe::draft(work, &head)?)?;
            }
        }
    }
    Ok(Did::Done)
}

/// Puts the requests of a branch on file that are done by what is seen of them: once the branch is there again, they would
/// look open, under numbers that people declined, settled or merged.
fn file(ports: &Ports<'_>, branch: &str) -> Result<(), Error> {
    for request in ports.forge.list()?.iter().filter(|request| request.branch == branch) {
        match request.state {
            RequestState::Merged => drop(ports.forge.merge(request.number, &request.head)?),
            RequestState::Closed => drop(ports.forge.close(request.number)?),
            RequestState::Open | RequestState::Draft => {}
        }
    }
    Ok(())
}

/// Puts the commits of people on top of the plan's commit. That they are kept is noted first: after a kill in between
/// they are asked about once more, and never dropped.
fn replayed(ports: &Ports<'_>, work: &Work, head: &str) -> Result<Did, Error> {
    let (plan, old) = (&work.plan, CommitId(head.into()));
    let open = observe::open_requests(ports, &work.base.branch)?;
    let request = open.iter().find(|request| request.branch == plan.branch);
    let (first, new) = match replay::replay(ports, work, &old, request)? {
        Replayed::Head { first, head } => (first, head),
        Replayed::Conflicts(conflicts) => {
            let branch = plan.branch.clone();
            return Ok(Did::Stopped(Cause::RebaseNeeded { branch, conflicts }));
        }
    };
    notes::change(ports, work, |note| {
        note.wrote(&first.0);
        note.kept = Some(new.to_string());
    })?;
    ports.repository.publish(&plan.branch, Some(&new), Some(&old))?;
    Ok(Did::Done)
}

fn told(planned: &Planned, work: &Work, end: End) -> Report<Upgrade> {
    let body = |request: Option<&ChangeRequest>, commits: Vec<String>| Upgrade {
        upgrade: work.plan.upgrade.clone(),
        cluster: work.plan.cluster.clone(),
        with: work.plan.with.clone(),
        from: work.plan.from.to_string(),
        to: work.plan.to.to_string(),
        target: work.plan.target().to_string(),
        index: work.plan.place.index,
        count: work.plan.place.count(),
        waits: work
            .plan
            .place
            .gate
            .iter()
            .map(|gate| gate.wait.word().to_owned())
            .collect(),
        request: request.map(lines::request),
        open: work.plan.open().cloned().collect(),
        findings: planned.report.body.findings.clone(),
        unmatched: planned.report.body.unmatched.clone(),
        commits,
    };
    match end {
        End::Waits(request) => {
            let message = format!("request {} waits for review: {}", request.number, request.title);
            Report::new(
                State::Waiting,
                message,
                lines::review(&request),
                body(Some(&request), Vec::new()),
            )
        }
        End::Holds(request) => {
            let before = work.plan.place.before().unwrap_or_default();
            let message = format!("request {} is a draft: {before}", request.number);
            let next = lines::gates(&work.plan.place.gate, &work.option);
            Report::new(State::Waiting, message, next, body(Some(&request), Vec::new()))
        }
        End::Decides(request) => {
            let needed = super::decisions(work.plan.open().count());
            let message = match &request {
                Some(request) => format!("request {} is a draft: {needed}", request.number),
                None => format!("{needed} before a request is opened"),
            };
            let next = lines::resolve(work);
            Report::new(State::DecisionNeeded, message, next, body(request.as_ref(), Vec::new()))
        }
        End::Stopped(cause, request) => {
            let commits = cause.commits();
            let next = lines::ways_on(&cause, work);
            Report::new(State::Stopped, cause.sentence(), next, body(request.as_ref(), commits))
        }
    }
}

/// Reports a plan that cannot be carried out as the result of an upgrade.
fn unplanned(report: &Report<report::Plan>) -> Report<Upgrade> {
    report.with_body(Upgrade {
        upgrade: report.body.upgrade.clone(),
        cluster: report.body.cluster.clone(),
        with: report.body.with.clone(),
        from: report.body.from.clone(),
        to: report.body.to.clone(),
        target: report.body.to.clone(),
        index: 0,
        count: report.body.requests.len(),
        waits: Vec::new(),
        request: None,
        open: Vec::new(),
        findings: report.body.findings.clone(),
        unmatched: report.body.unmatched.clone(),
        commits: Vec::new(),
    })
}
