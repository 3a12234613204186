//! Where each cluster stands, and what comes next.

use refit_core::finding::Finding;
use refit_core::inventory::{Cluster, Group};
use refit_core::release::Version;
use refit_core::report::{ClusterStatus, Exit, Next, Report, RouteLine, State, Status};
use refit_core::route::Route;
use refit_core::stage::{self, Gate, Wait};

use super::ground::{self, Flow, Ground, Picked};
use super::journey::{self, Leg};
use super::observe::Open;
use super::shown;
use super::target::{self, Choice};
use super::under_way::{self, UnderWay};
use super::{broken, lines, notes, observe, people, prepare, served, standing, whose};
use crate::ports::RequestState;
use crate::{Ask, Error, Ports, Way};

/// Tells where each cluster stands.
pub(crate) fn status(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Status>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let mut body = Status {
        repository: ground.snapshot.repository.clone(),
        branch: ground.base.branch.clone(),
        clusters: Vec::new(),
        findings: ground.inventory.findings.clone(),
    };
    let under_way = under_way::look(flow)?;
    for picked in flow.picked()? {
        let clusters = picked.group.clusters();
        for cluster in clusters.filter(|cluster| picked.named.contains(&cluster.root.name)) {
            let seen = Seen {
                group: &picked.group,
                cluster,
                under_way: &under_way,
            };
            body.clusters.push(of_cluster(flow, &seen)?);
        }
    }
    if body.clusters.is_empty() {
        let (mut message, mut next) = shown::nothing_found(flow, &mut body.findings);
        whose::tell_stranded(flow, &mut message, &mut next)?;
        return Ok(Report::new(State::Blocked, message, next, body).with_exit(Exit::Done));
    }
    body.clusters.sort_by(|one, other| one.directory.cmp(&other.directory));
    let leading = body.clusters.iter().max_by_key(|cluster| cluster.state.weight());
    let (state, message, mut next) = leading.map_or((State::NothingToDo, String::new(), Vec::new()), |cluster| {
        (cluster.state, sentence(cluster), cluster.next.clone())
    });
    let mut message = match body.clusters.as_slice() {
        [_] => message,
        several => {
            let states: Vec<State> = several.iter().map(|cluster| cluster.state).collect();
            format!("{} clusters: {}", several.len(), State::count(&states))
        }
    };
    whose::tell_stranded(flow, &mut message, &mut next)?;
    Ok(Report::new(state, message, next, body).with_exit(Exit::Done))
}

/// One cluster with its group and the upgrades under way.
struct Seen<'a> {
    group: &'a Group<'a>,
    cluster: &'a Cluster,
    under_way: &'a UnderWay,
}

fn of_cluster(flow: Flow<'_>, seen: &Seen<'_>) -> Result<ClusterStatus, Error> {
    let Flow { ports, ask, ground } = flow;
    let Seen {
        group,
        cluster,
        under_way,
    } = *seen;
    let installed = cluster.main().and_then(|file| file.detection.version.clone());
    let own = under_way.open_of(&group.names());
    let (mut available, mut findings) = (None, cluster.findings.clone());
    if let Some(from) = &installed {
        findings.extend(broken::look(flow, group, from)?.findings);
        let newest = Ask {
            target: crate::Target::default(),
            ..ask.clone()
        };
        match target::choose(flow.asking(&newest), group, from)? {
            Choice::To(way) => available = Some(way.route.to),
            Choice::Nothing(_) => findings.extend(served::standing(flow, group, from)?),
            Choice::Refused(..) => {}
        }
    }
    let under = on_the_way(flow, seen, installed.as_ref())?;
    let mut status = ClusterStatus {
        cluster: cluster.root.name.clone(),
        with: group.beside(&cluster.root.name),
        directory: cluster.root.directory.clone(),
        platform: ports.catalog.platform().to_string(),
        installed: installed.as_ref().map(ToString::to_string).unwrap_or_default(),
        newest: newest(ground, installed.as_ref(), available.as_ref()),
        available: available.map(|version| version.to_string()),
        state: State::NothingToDo,
        requests: own.iter().map(|open| lines::request(&open.request)).collect(),
        route: under.as_ref().and_then(OnTheWay::line),
        open_decisions: own.iter().map(|open| open.record.open()).sum(),
        paused: None,
        declined: None,
        rolled_back: None,
        behind: false,
        findings,
        next: Vec::new(),
    };
    settle(flow, seen, (&own, under.as_ref()), &mut status)?;
    let requests = &under_way.requests;
    standing::add(
        flow,
        &standing::Seen {
            group,
            cluster,
            own: &own,
            requests,
        },
        &mut status,
    )?;
    Ok(status)
}

/// Gives the newest stable release, where it is neither installed nor the one that can be reached.
fn newest(ground: &Ground, installed: Option<&Version>, available: Option<&Version>) -> Option<String> {
    let newest = ground.versions.iter().rfind(|version| version.is_stable())?;
    let other = available != Some(newest) && installed.is_none_or(|installed| installed < newest);
    other.then(|| newest.to_string())
}

/// The upgrade under way with the request that comes next.
struct OnTheWay {
    route: Route,
    leg: Leg,
    /// What blocks the request.
    blocks: Vec<Finding>,
}

impl OnTheWay {
    /// Tells how far it came, where it has several requests.
    fn line(&self) -> Option<RouteLine> {
        let place = &self.leg.place;
        (place.count() > 1 || !place.gate.is_empty()).then(|| RouteLine {
            upgrade: self.leg.upgrade.clone(),
            to: place.target.to_string(),
            merged: place.index - 1,
            count: place.count(),
            hops: self.route.hops.iter().map(shown::hop).collect(),
            waits: place.gate.iter().map(|gate| gate.wait.word().to_owned()).collect(),
        })
    }
}

/// Finds out how far the upgrade under way came.
fn on_the_way(flow: Flow<'_>, seen: &Seen<'_>, installed: Option<&Version>) -> Result<Option<OnTheWay>, Error> {
    let asked = seen.under_way.of(flow.ask, seen.group);
    let (Some(ask), Some(from)) = (asked.filter(|ask| ask.way == Way::Forward), installed) else {
        return Ok(None);
    };
    let flow = flow.asking(&ask);
    let Choice::To(way) = target::choose(flow, seen.group, from)? else {
        return Ok(None);
    };
    let note = notes::read(flow.ports, &journey::id(flow, seen.group, &way.route.to))?;
    let settled = journey::settle(flow, seen.group, *way)?;
    let (route, findings) = (settled.way.route.clone(), settled.way.findings.clone());
    let Some(leg) = journey::next(flow, seen.group, settled, note.as_ref())? else {
        return Ok(None);
    };
    let blocks = findings.iter().chain(&leg.findings).filter(|finding| finding.blocks());
    let blocks = blocks.cloned().collect();
    Ok(Some(OnTheWay { route, leg, blocks }))
}

/// Decides state and next actions.
fn settle(
    flow: Flow<'_>,
    seen: &Seen<'_>,
    (own, under): (&[&Open], Option<&OnTheWay>),
    status: &mut ClusterStatus,
) -> Result<(), Error> {
    let Seen { group, cluster, .. } = *seen;
    let option = flow.ground.option(group);
    let gate = under.map(|under| under.leg.place.gate.as_slice()).unwrap_or_default();
    if let (Some(_), Some(under)) = (own.first(), under)
        && let Some(next) = held_up(flow, under, status)
    {
        (status.state, status.next) = (State::Blocked, next);
    } else if let Some(open) = own.first() {
        (status.state, status.next) = open_one(flow, open, (gate, &option))?;
    } else if let Some(held) = held(flow, seen)? {
        let open = match held {
            Held::Waits(open) => open,
            Held::Blocked(findings) => {
                let new = findings
                    .into_iter()
                    .filter(|finding| !status.findings.contains(finding));
                let new: Vec<Finding> = new.collect();
                status.findings.extend(new);
                status.state = State::Blocked;
                status.next = shown::remedies(&status.findings);
                return Ok(());
            }
        };
        if open == 0 && status.route.as_ref().is_some_and(|route| route.merged > 0) {
            status.state = State::Ready;
            status.next = vec![lines::goes_on(&option)];
            return Ok(());
        }
        if open == 0 {
            let text = "go on with it; `refit cancel` gives it up";
            status.state = State::Stopped;
            status.next = vec![Next::run(format!("refit resume{option}"), text)];
            return Ok(());
        }
        status.state = State::DecisionNeeded;
        status.open_decisions = open;
        status.next = vec![lines::waits(&option)];
    } else if status.findings.iter().any(Finding::blocks) {
        status.state = State::Blocked;
        status.next = shown::remedies(&status.findings);
    } else {
        // Of a route that was given up between two requests, the rest is to be had still.
        let whole = cluster.record.as_ref().filter(|record| !record.goes_on());
        let recorded = whole.map(|record| record.to.to_string());
        if recorded.as_ref() == Some(&status.installed) {
            status.state = State::Done;
        }
        offer(flow.ground, &option, status);
    }
    Ok(())
}

/// Adds what a snapshot shows to block the open request, and gives the ways on; `None` where it shows nothing of that kind.
fn held_up(flow: Flow<'_>, under: &OnTheWay, status: &mut ClusterStatus) -> Option<Vec<Next>> {
    flow.ask.snapshot.as_ref()?;
    let new = under.blocks.iter().filter(|finding| !status.findings.contains(finding));
    let new: Vec<Finding> = new.cloned().collect();
    status.findings.extend(new);
    let blocks = status.findings.iter().any(Finding::blocks);
    blocks.then(|| shown::remedies(&status.findings))
}

/// Decides state and next actions where a request is open.
fn open_one(flow: Flow<'_>, open: &Open, (gate, option): (&[Gate], &str)) -> Result<(State, Vec<Next>), Error> {
    let is_draft = open.request.state == RequestState::Draft;
    if is_draft && open.record.open() == 0 {
        let next = match gate {
            [] => vec![lines::opens(
                option,
                flow.ask.snapshot.as_ref().map(|_| " --snapshot FILE"),
            )],
            gate => lines::gates(gate, option),
        };
        return Ok((State::Waiting, next));
    }
    if is_draft {
        return Ok((State::DecisionNeeded, vec![lines::waits(option)]));
    }
    let added = people_added(flow, open)?;
    let next = match added.as_slice() {
        [] => lines::review(&open.request),
        added => {
            let people = format!("people added commits to its branch: {}", added.join(", "));
            let ways = lines::keep_or_discard(option);
            std::iter::once(Next::say(people)).chain(ways).collect()
        }
    };
    Ok((State::Waiting, next))
}

/// Lists the commits of people on the branch of a request that nobody agreed to yet.
fn people_added(flow: Flow<'_>, open: &Open) -> Result<Vec<String>, Error> {
    let Flow { ports, ground, .. } = flow;
    let request = &open.request;
    let read = people::Branch::read(ports, &ground.base.commit, &request.head, Some(request))?;
    let note = notes::read(ports, &observe::upgrade_of(&request.branch))?;
    let kept = note.and_then(|note| note.kept);
    Ok(read.asked_and_kept(kept.as_deref()).0)
}

/// Offers what can be reached.
fn offer(ground: &Ground, option: &str, status: &mut ClusterStatus) {
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
        status.next = vec![
            Next::run(format!("refit plan {target}{option}"), "see what would change"),
            Next::run(format!("refit upgrade {target}{option}"), "open a request for it"),
        ];
    }
}

/// A confirmed upgrade without a request.
enum Held {
    /// It waits for so many decisions.
    Waits(usize),
    /// These findings block it.
    Blocked(Vec<Finding>),
}

/// Finds out what keeps a confirmed upgrade from having a request.
fn held(flow: Flow<'_>, seen: &Seen<'_>) -> Result<Option<Held>, Error> {
    let Some(ask) = seen.under_way.of(flow.ask, seen.group) else {
        return Ok(None);
    };
    let picked = Picked {
        group: seen.group.clone(),
        named: seen.group.names(),
    };
    let planned = prepare::group(flow.asking(&ask), &picked)?;
    Ok(match planned.work {
        Some(work) => Some(Held::Waits(work.plan.open().count())),
        None => {
            let findings = planned.report.body.findings;
            findings.iter().any(Finding::blocks).then_some(Held::Blocked(findings))
        }
    })
}

/// Says what the open request of a cluster waits for.
fn waits(status: &ClusterStatus, installed: &str) -> String {
    let cluster = &status.cluster;
    let number = status
        .requests
        .first()
        .map(|request| request.number)
        .unwrap_or_default();
    match &status.route {
        Some(route) if !route.waits.is_empty() => {
            let words = route.waits.iter().filter_map(|word| word.parse::<Wait>().ok());
            let before = stage::before(words).unwrap_or_default();
            let place = place(route);
            format!("`{cluster}` runs {installed}, request {number}{place} is a draft: {before}")
        }
        _ if status.requests.first().is_some_and(|request| request.state == "draft") => {
            format!("`{cluster}` runs {installed}, request {number} is a draft, and what it waited for is so")
        }
        Some(route) => {
            let place = place(route);
            format!("`{cluster}` runs {installed}, request {number}{place} waits for review")
        }
        None => format!("`{cluster}` runs {installed}, request {number} waits for review"),
    }
}

/// Gives the place of the open request among those of its upgrade, in brackets; nothing where it is the only one.
fn place(route: &RouteLine) -> String {
    match route.count {
        1 => String::new(),
        count => format!(" ({} of {count} on the way to {})", route.merged + 1, route.to),
    }
}

/// Says how many requests of a route are merged.
fn far(status: &ClusterStatus) -> String {
    let route = status.route.iter();
    let far = route.map(|route| {
        let verb = shown::is_or_are(route.merged);
        format!(
            "{} of {} requests on the way to {} {verb} merged",
            route.merged, route.count, route.to
        )
    });
    far.collect()
}

fn sentence(status: &ClusterStatus) -> String {
    if let Some(said) = standing::sentence(status) {
        return said;
    }
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
        State::Waiting => waits(status, installed),
        State::Ready => format!("`{cluster}` runs {installed}; {}, and none is open", far(status)),
        State::DecisionNeeded => format!(
            "`{cluster}` runs {installed}, {}",
            super::decisions(status.open_decisions)
        ),
        State::Done => match &status.available {
            Some(to) => format!("`{cluster}` runs {installed}, the upgrade is done; {to} is available"),
            None => format!("`{cluster}` runs {installed}, the upgrade is done"),
        },
        State::Stopped => {
            format!("`{cluster}` runs {installed}, and its upgrade was cut before the request was opened")
        }
        State::Blocked if status.installed.is_empty() => {
            format!("what `{cluster}` runs is unclear; findings block an upgrade")
        }
        State::Blocked if !status.requests.is_empty() => {
            let number = status
                .requests
                .first()
                .map(|request| request.number)
                .unwrap_or_default();
            format!("`{cluster}` runs {installed}, and findings block request {number}")
        }
        State::Blocked if status.route.as_ref().is_some_and(|route| route.merged > 0) => {
            format!(
                "`{cluster}` runs {installed}; {}, and findings block the next",
                far(status)
            )
        }
        State::Blocked => format!("`{cluster}` runs {installed}, and findings block an upgrade"),
        _ => format!("`{cluster}` runs {installed}, and nothing newer can be had"),
    }
}
