//! What people did and said that changes how a cluster stands: a pause, a no, a way back, an upgrade by hand.
//!
//! In: a cluster, its open requests. Out: additions to its status.

use refit_core::inventory::{Cluster, Group};
use refit_core::plan;
use refit_core::record::Record;
use refit_core::release::Version;
use refit_core::report::{ClusterStatus, DeclinedLine, Next, State};
use refit_core::stage::Stage;

use super::ground::Flow;
use super::observe::{self, Open};
use super::{lines, notes, pause, whose};
use crate::Error;
use crate::ports::{ChangeRequest, RequestState};

/// One cluster with its group and the requests.
pub(super) struct Seen<'a> {
    pub(super) group: &'a Group<'a>,
    pub(super) cluster: &'a Cluster,
    /// Its open requests.
    pub(super) own: &'a [&'a Open],
    /// All requests, newest first.
    pub(super) requests: &'a [ChangeRequest],
}

/// Adds to the status of a cluster what people did and said.
pub(super) fn add(flow: Flow<'_>, seen: &Seen<'_>, status: &mut ClusterStatus) -> Result<(), Error> {
    let Flow { ports, ground, .. } = flow;
    let Seen { group, own, .. } = *seen;
    let option = ground.option(group);
    let again = |to: &str| {
        let command = format!("refit upgrade {}@{to} --again{option}", ports.catalog.platform());
        Next::run(command, "open a new request for it all the same")
    };
    if let Some(to) = went_back(flow, seen, status)?.filter(|_| own.is_empty()) {
        instead_of_upgrade(status, &to, &again(&to));
    }
    let declined = declined(flow, group, seen.requests)?;
    if let Some((request, to)) = declined.first() {
        let answers = notes::read(ports, &observe::upgrade_of(&request.branch))?;
        status.declined = Some(DeclinedLine {
            request: request.number,
            to: to.to_string(),
            branch: ports
                .repository
                .branch(&request.branch)?
                .map(|_| request.branch.clone()),
            answers: answers.map(|note| note.answers.len()).unwrap_or_default(),
        });
        if own.is_empty() {
            instead_of_upgrade(status, &to.to_string(), &again(&to.to_string()));
            let text = match &status.declined {
                Some(line) if line.branch.is_none() && line.answers == 0 => {
                    "forget the no, so that it is proposed again"
                }
                _ => "clear what it left behind, and propose it again",
            };
            status.next.push(Next::run(format!("refit cancel{option}"), text));
        }
    }
    if let Some(open) = own.first() {
        overtaken(flow, group, open, status)?;
    }
    let places: Vec<pause::Place> = group
        .clusters()
        .map(|cluster| pause::Place::of(&ground.base.branch, cluster))
        .collect();
    status.paused = pause::of_all(ports, &places)?;
    if status.paused.is_some() {
        status.state = State::Stopped;
        status.next = vec![Next::run(format!("refit pause --off{option}"), "end the pause")];
        status
            .next
            .extend(own.first().into_iter().flat_map(|open| lines::review(&open.request)));
    }
    Ok(())
}

/// Says that the cluster went back, where it still runs what it went back to, or that a merged upgrade is not there any more;
/// gives the release that is not proposed again by itself.
fn went_back(flow: Flow<'_>, seen: &Seen<'_>, status: &mut ClusterStatus) -> Result<Option<String>, Error> {
    let Flow { ports, ground, .. } = flow;
    let record = seen
        .cluster
        .record
        .as_ref()
        .filter(|record| record.rolled_back.is_some());
    if let Some(record) = record.filter(|record| record.to.to_string() == status.installed) {
        if record.from == record.to {
            // Only a conversion was undone: no release was left.
            if status.state == State::Done && status.available.is_some() {
                status.state = State::UpgradeAvailable;
            }
        } else {
            status.rolled_back = Some(record.from.to_string());
        }
        return Ok(whose::undone(flow, seen.group, record).map(|target| target.to_string()));
    }
    let Some(target) = status.available.as_ref().and_then(|to| Version::parse(to).ok()) else {
        return Ok(None);
    };
    let branch = &ground.base.branch;
    let id = plan::upgrade_id(branch, seen.group, &format!("{}@{target}", ports.catalog.platform()));
    let done = observe::Done {
        upgrade: &id,
        requests: plan::done(seen.group, &id),
        target: &target,
    };
    let lost = observe::lost(ports, &ground.records, (seen.requests, branch), &done)?;
    if lost == Some(observe::Lost::Release) {
        status.rolled_back = Some(target.to_string());
    }
    Ok(lost.map(|_| target.to_string()))
}

/// Puts another way on where the status offers a release that people said no to.
fn instead_of_upgrade(status: &mut ClusterStatus, to: &str, next: &Next) {
    if status.available.as_deref() == Some(to) {
        let offers = |one: &Next| {
            one.command
                .as_ref()
                .is_some_and(|command| command.starts_with("refit upgrade "))
        };
        status.next.retain(|one| !offers(one));
    }
    status.next.push(next.clone());
}

/// Says that the branch has the release already, or moved on below the request.
fn overtaken(flow: Flow<'_>, group: &Group<'_>, open: &Open, status: &mut ClusterStatus) -> Result<(), Error> {
    let Flow { ports, ground, .. } = flow;
    let (request, record) = (&open.request, &open.record);
    let installed = Version::parse(&status.installed).ok();
    let is_there = installed.is_some_and(|installed| is_there(group, record, &installed));
    if is_there {
        status.state = State::Stopped;
        status.next = vec![lines::overtaken(request.number)];
        return Ok(());
    }
    if plan::recorded_id(&ground.base.branch, group, record) != record.upgrade {
        let option = ground.option(group);
        let anew = format!(
            "refit upgrade {}@{} --supersede{option}",
            record.platform,
            record.target()
        );
        status.state = State::Stopped;
        status.next = lines::regroup(request.number, &anew, &option);
        status.next.drain(..usize::from(record.rolled_back.is_some()));
        return Ok(());
    }
    let ahead = ports.repository.commits_between(&request.head, &ground.base.commit)?;
    status.behind = !ahead.is_empty();
    if status.behind {
        let option = ground.option(group);
        let text = "compute it anew, since the target branch moved";
        status.next.insert(0, Next::run(format!("refit resume{option}"), text));
    }
    Ok(())
}

/// Tells whether the branch has what the request of a record brings.
fn is_there(group: &Group<'_>, record: &Record, installed: &Version) -> bool {
    match (&record.rolled_back, record.stage) {
        (Some(_), _) => *installed == record.to && record.from != record.to,
        (None, Stage::Upgrade) => *installed >= record.to,
        // Nothing but the record says that objects were converted; where a person went on by hand, more may be left to convert.
        (None, _) => installed >= record.target() || plan::done(group, &record.upgrade) >= record.index,
    }
}

/// Lists the requests of a cluster that somebody closed without a merge, with the release that each leads to; what is
/// installed by now does not count. The upgrade of a request is found by computing its id, not by what its text says.
pub(super) fn declined<'a>(
    flow: Flow<'_>,
    group: &Group<'_>,
    requests: &'a [ChangeRequest],
) -> Result<Vec<(&'a ChangeRequest, Version)>, Error> {
    let mut found = Vec::new();
    if !requests.iter().any(|request| request.state == RequestState::Closed) {
        return Ok(found);
    }
    for possible in whose::possible(flow, group) {
        if let Some(request) = observe::declined(flow.ports, requests, &possible.id)? {
            found.push((request, possible.to));
        }
    }
    Ok(found)
}

/// Says how a cluster stands, where people changed that.
pub(super) fn sentence(status: &ClusterStatus) -> Option<String> {
    let (cluster, installed) = (&status.cluster, &status.installed);
    if let Some(pause) = &status.paused {
        return Some(format!("`{cluster}` runs {installed} and {}", pause::words(pause)));
    }
    if let (State::Stopped, Some(request)) = (status.state, status.requests.first()) {
        let number = request.number;
        if !status.next.contains(&lines::overtaken(number)) {
            return Some(format!(
                "`{cluster}` runs {installed}; request {number} is for other clusters than those that share their files now"
            ));
        }
        return Some(format!(
            "`{cluster}` runs {installed} already; request {number} has nothing left to bring"
        ));
    }
    if let (true, State::Waiting, Some(request)) = (status.behind, status.state, status.requests.first()) {
        let number = request.number;
        let stands = if request.state == "draft" {
            "is a draft"
        } else {
            "waits for review"
        };
        return Some(format!(
            "`{cluster}` runs {installed}, request {number} {stands}, and the target branch moved since"
        ));
    }
    if !status.requests.is_empty() {
        return None;
    }
    if let Some(declined) = &status.declined {
        return Some(format!(
            "`{cluster}` runs {installed}; request {} to {} was closed without a merge",
            declined.request, declined.to
        ));
    }
    let from = status.rolled_back.as_ref()?;
    Some(format!("`{cluster}` runs {installed}, rolled back from {from}"))
}
