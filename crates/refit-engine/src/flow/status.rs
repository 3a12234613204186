//! Where each cluster stands, and what comes next.

use refit_core::finding::Finding;
use refit_core::inventory::Cluster;
use refit_core::release::Version;
use refit_core::report::{ClusterStatus, Exit, Next, Report, State, Status};

use super::ground::{self, Ground};
use super::observe::{self, Open};
use super::prepare;
use super::resume;
use super::target::{self, Choice};
use super::{lines, notes};
use crate::ports::RequestState;
use crate::{Ask, Error, Ports};

/// Tells where each cluster stands.
pub(crate) fn status(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Status>, Error> {
    let ground = ground::survey(ports, ask.base.as_deref())?;
    let open = observe::open_with_records(ports, &ground.base, &ground.listed)?;
    let clusters = ground.clusters(ask)?;
    let mut body = Status {
        repository: ground.snapshot.repository.clone(),
        branch: ground.base.branch.clone(),
        clusters: Vec::new(),
        findings: ground.inventory.findings.clone(),
    };
    if clusters.is_empty() {
        let (message, next) = prepare::nothing_found(ports, &ground, &mut body.findings);
        return Ok(Report::new(State::Blocked, message, next, body).with_exit(Exit::Done));
    }
    for cluster in clusters {
        body.clusters.push(of_cluster(ports, ask, &ground, (cluster, &open))?);
    }
    let leading = body.clusters.iter().max_by_key(|cluster| weight(cluster.state));
    let (state, message, next) = leading.map_or((State::NothingToDo, String::new(), Vec::new()), |cluster| {
        (cluster.state, sentence(cluster), cluster.next.clone())
    });
    Ok(Report::new(state, message, next, body).with_exit(Exit::Done))
}

fn of_cluster(
    ports: &Ports<'_>,
    ask: &Ask,
    ground: &Ground,
    (cluster, open): (&Cluster, &[Open]),
) -> Result<ClusterStatus, Error> {
    let name = &cluster.root.name;
    let installed = cluster.main().and_then(|file| file.detection.version.clone());
    let own: Vec<&Open> = open.iter().filter(|open| open.record.cluster == *name).collect();
    let (mut available, mut findings) = (None, cluster.findings.clone());
    if let Some(from) = &installed {
        let newest = Ask {
            target: crate::Target::default(),
            ..ask.clone()
        };
        if let Choice::To(to, chosen) = target::choose(ports, &newest, ground, cluster, from)? {
            let stored = target::stored(ports, cluster, from);
            if target::removed(ports, &stored, &to)?.is_empty() {
                available = Some(to);
            }
            // Whoever waits for a request is not about to choose a target.
            findings.extend(chosen.into_iter().filter(|_| own.is_empty()));
        }
    }
    let mut status = ClusterStatus {
        cluster: name.clone(),
        directory: cluster.root.directory.clone(),
        platform: ports.catalog.platform().to_string(),
        installed: installed.as_ref().map(ToString::to_string).unwrap_or_default(),
        newest: newest(ground, installed.as_ref(), available.as_ref()),
        available: available.map(|version| version.to_string()),
        state: State::NothingToDo,
        requests: own.iter().map(|open| lines::request(&open.request)).collect(),
        open_decisions: own.iter().map(|open| open.record.open()).sum(),
        findings,
        next: Vec::new(),
    };
    settle(ports, ask, ground, (cluster, &own, &mut status))?;
    Ok(status)
}

/// Gives the newest stable release, where it is neither installed nor the one that can be reached.
fn newest(ground: &Ground, installed: Option<&Version>, available: Option<&Version>) -> Option<String> {
    let newest = ground.versions.iter().rfind(|version| version.is_stable())?;
    let other = available != Some(newest) && installed.is_none_or(|installed| installed < newest);
    other.then(|| newest.to_string())
}

/// Decides state and next actions.
fn settle(
    ports: &Ports<'_>,
    ask: &Ask,
    ground: &Ground,
    (cluster, own, status): (&Cluster, &[&Open], &mut ClusterStatus),
) -> Result<(), Error> {
    let meant = Ask {
        clusters: vec![cluster.root.name.clone()],
        ..ask.clone()
    };
    if let Some(open) = own.first() {
        let draft = open.request.state == RequestState::Draft;
        status.state = if draft { State::DecisionNeeded } else { State::Waiting };
        status.next = if draft {
            vec![lines::waits(&ground.option(&cluster.root.name))]
        } else {
            lines::review(&open.request)
        };
    } else if let Some(open) = held(ports, &meant, ground)? {
        status.state = State::DecisionNeeded;
        status.open_decisions = open;
        status.next = vec![lines::waits(&ground.option(&cluster.root.name))];
    } else if status.findings.iter().any(Finding::blocks) {
        status.state = State::Blocked;
        status.next = prepare::remedies(&status.findings);
    } else {
        let recorded = cluster.record.as_ref().map(|record| record.to.to_string());
        if recorded.as_ref() == Some(&status.installed) {
            status.state = State::Done;
        }
        offer(ground, status);
    }
    Ok(())
}

/// Offers what can be reached.
fn offer(ground: &Ground, status: &mut ClusterStatus) {
    if ground.versions.is_empty() {
        status.next = vec![Next::say(
            "name a folder of releases with `--catalog DIR`: none is known",
        )];
    }
    if let Some(to) = &status.available {
        if status.state != State::Done {
            status.state = State::UpgradeAvailable;
        }
        let target = format!("{}@{to}", status.platform);
        let option = ground.option(&status.cluster);
        status.next = vec![
            Next::run(format!("refit plan {target}{option}"), "see what would change"),
            Next::run(format!("refit upgrade {target}{option}"), "open a request for it"),
        ];
    }
}

/// Counts the decisions that a confirmed upgrade without a request waits for.
fn held(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Result<Option<usize>, Error> {
    if notes::all(ports)?.is_empty() {
        return Ok(None);
    }
    let Some(under_way) = resume::under_way(ports, ask, ground)? else {
        return Ok(None);
    };
    let prepared = prepare::plan_on(ports, &under_way, ground)?;
    Ok(prepared.work.map(|work| work.plan.open().count()))
}

/// The state that asks most of a person leads.
fn weight(state: State) -> u8 {
    match state {
        State::NothingToDo => 0,
        State::Done => 1,
        State::Ready | State::UpgradeAvailable => 2,
        State::Waiting => 3,
        State::DecisionNeeded => 4,
        State::Choose | State::Stopped => 5,
        State::Blocked => 6,
    }
}

fn sentence(status: &ClusterStatus) -> String {
    let cluster = &status.cluster;
    let installed = if status.installed.is_empty() {
        "an unknown version"
    } else {
        &status.installed
    };
    match status.state {
        State::UpgradeAvailable => {
            let to = status.available.as_deref().unwrap_or_default();
            format!("`{cluster}` runs {installed}, {to} is available")
        }
        State::Waiting => {
            let number = status
                .requests
                .first()
                .map(|request| request.number)
                .unwrap_or_default();
            format!("`{cluster}` runs {installed}, request {number} waits for review")
        }
        State::DecisionNeeded => format!(
            "`{cluster}` runs {installed}, {}",
            super::decisions(status.open_decisions)
        ),
        State::Done => match &status.available {
            Some(to) => format!("`{cluster}` runs {installed}, the upgrade is done; {to} is available"),
            None => format!("`{cluster}` runs {installed}, the upgrade is done"),
        },
        State::Blocked if status.installed.is_empty() => {
            format!("what `{cluster}` runs is unclear; findings block an upgrade")
        }
        State::Blocked => format!("`{cluster}` runs {installed}, and findings block an upgrade"),
        _ => format!("`{cluster}` runs {installed}, and nothing newer can be had"),
    }
}
