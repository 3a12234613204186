//! Which request comes next on the way of a group of clusters to its target.
//!
//! In: the route, what the target branch says of it, what people confirmed. Out: a [`Leg`]: the releases, the place among
//! the requests of the upgrade, and what the request edits. Nothing is remembered: each run computes it anew.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::finding::{Code, Finding};
use refit_core::inventory::Group;
use refit_core::plan::{self, Edits};
use refit_core::record::{Note, Record};
use refit_core::release::Version;
use refit_core::request::{self, Way};
use refit_core::route::Route;
use refit_core::stage::{Confirmation, Conversion, Gate, Later, Place, Said, Stage, Wait};
use refit_core::windows;
use refit_manifest::Path;

use super::ground::Flow;
use super::order::{self, Ordered, Request};
use super::target::Way as Chosen;
use super::words::{self, Heard};
use super::{behaviour, gate, job, served};
use crate::Error;

/// The request that comes next.
pub(super) struct Leg {
    /// The id of the upgrade.
    pub(super) upgrade: String,
    pub(super) from: Version,
    pub(super) to: Version,
    pub(super) place: Place,
    pub(super) edits: Edits,
    pub(super) findings: Vec<Finding>,
    /// What this run adds to what is said of the request.
    pub(super) said: Said,
    pub(super) leads: Leads,
}

/// Whether there is a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// There is one.
    On,
    /// There is none before a person acts, whatever is accepted.
    Nowhere,
}

/// A way with its requests in order.
pub(super) struct Settled {
    pub(super) way: Chosen,
    ordered: Ordered,
}

/// Takes of all ways to a release the one that needs the fewest requests.
pub(super) fn settle(flow: Flow<'_>, group: &Group<'_>, mut way: Chosen) -> Result<Settled, Error> {
    let others = std::mem::take(&mut way.others);
    let mut ways: Vec<Chosen> = std::iter::once(way).chain(others).collect();
    let routes: Vec<Route> = ways.iter().map(|way| way.route.clone()).collect();
    let plan = |route: &Route| match route.hops.is_empty() {
        true => Ok(Ordered::default()),
        false => order::of(flow, group, route),
    };
    let chosen = windows::fewest(&routes, plan, |route, ordered| ordered.count(route))?;
    let (index, ordered) = chosen.map_or_else(Default::default, |chosen| (chosen.index, chosen.plan));
    let way = ways.swap_remove(index);
    Ok(Settled { way, ordered })
}

/// Finds the request that comes next.
pub(super) fn next(
    flow: Flow<'_>,
    group: &Group<'_>,
    Settled { way, mut ordered }: Settled,
    note: Option<&Note>,
) -> Result<Option<Leg>, Error> {
    let (way, route) = (&way, &way.route);
    let nominal = way.concluded.as_ref().unwrap_or(route);
    if nominal.hops.is_empty() {
        return Ok(None);
    }
    let Some(first) = ordered.requests.first() else {
        return Ok(Some(stuck(flow, group, (route, ordered.findings))));
    };
    let (id, target) = (id(flow, group, &route.to), &route.to);
    let heard = Heard {
        note,
        index: plan::done(group, &id) + 1,
    };
    let asked = gate::migrations(flow, way, first);
    let job = match asked.left.is_empty() || words::is_migrated(&heard, first, &asked) {
        true => job::State::None,
        false => job::of(flow, group, (first, &asked.all)),
    };
    bring(&mut ordered, job.due());
    let Some(first) = ordered.requests.first() else {
        return Ok(Some(stuck(flow, group, (route, ordered.findings))));
    };
    let mut findings = served::look(flow, group, first)?;
    findings.extend(behaviour::look(flow, group, first));
    let asked = gate::migrations(flow, way, first);
    let mut needs = gate::needs(flow, group, (first, &asked), &heard);
    watch(&job, &mut needs);
    let words = words::of(flow, (first, &asked), needs, &heard)?;
    let followers = ordered.requests.iter().skip(1);
    let place = Place {
        stage: first.stage,
        index: heard.index,
        target: target.clone(),
        gate: words.gates,
        confirmations: migrations(group).into_iter().chain(words.confirmed).collect(),
        later: followers.map(|request| later(flow, group, request)).collect(),
        pruned: Vec::new(),
    };
    Ok(Some(Leg {
        upgrade: id,
        from: first.hop.from.clone(),
        to: first.to().clone(),
        place,
        edits: edits(flow, group, (first, &job)),
        findings: ordered.findings.into_iter().chain(findings).collect(),
        said: words.new,
        leads: Leads::On,
    }))
}

/// Puts the line that waits for a Job that is there in the place of the commands for the own cluster.
fn watch(job: &job::State, needs: &mut [gate::Need]) {
    let job::State::There(name, namespace) = job else {
        return;
    };
    let seen = format!("kubectl -n {namespace} wait --for=condition=complete job/{name} --timeout=30m");
    for need in needs.iter_mut().filter(|need| need.gate.wait == Wait::Migrated) {
        let beside = need.gate.ways.iter().skip_while(|way| !gate::is_of_others(way));
        need.gate.ways = std::iter::once(seen.clone()).chain(beside.cloned()).collect();
    }
}

/// Adds the request that brings the Job which migrates, before the one that waits for it.
fn bring(ordered: &mut Ordered, job: Option<&BTreeMap<Path, Arc<[u8]>>>) {
    let (Some(files), Some(first)) = (job, ordered.requests.first()) else {
        return;
    };
    let brought = |path: &Path| Conversion {
        path: path.to_string(),
        changes: vec!["a Job that migrates stored objects".to_owned()],
    };
    let own = Request {
        stage: Stage::Migrate,
        hop: first.hop.clone(),
        gate: Vec::new(),
        beside: Vec::new(),
        edits: Edits {
            files: files.clone(),
            conversions: files.keys().map(brought).collect(),
            ..Edits::default()
        },
    };
    ordered.requests.insert(0, own);
}

/// Gives a leg that leads nowhere before a person acts: its findings say why.
fn stuck(flow: Flow<'_>, group: &Group<'_>, (route, mut findings): (&Route, Vec<Finding>)) -> Leg {
    if !findings.iter().any(Finding::blocks) {
        let message =
            "no order of requests was found in which each is safe to merge; the other findings say what was met";
        findings.push(Finding::new(Code::OrderUnsafe, route.to.to_string(), message));
    }
    let id = id(flow, group, &route.to);
    Leg {
        leads: Leads::Nowhere,
        from: route.from.clone(),
        to: route.hops.first().map_or(&route.to, |hop| &hop.to).clone(),
        place: Place {
            index: plan::done(group, &id) + 1,
            ..Place::only(&route.to)
        },
        edits: Edits::default(),
        findings,
        said: Said::default(),
        upgrade: id,
    }
}

/// Gives what the request edits beside the generated files.
fn edits(flow: Flow<'_>, group: &Group<'_>, (request, job): (&Request, &job::State)) -> Edits {
    let mut edits = request.edits.clone();
    if request.stage != Stage::Migrate {
        let there = job::files(&flow.ground.snapshot.tree, group);
        edits.removes = there.written;
        let edited = |path: &Path| {
            format!("`{path}` is not as it was written here, so it stays: take it out once its Job is done")
        };
        edits.reviews.extend(there.edited.iter().map(edited));
    }
    if let job::State::Not(reason) = job {
        edits.reviews.push(reason.clone());
    }
    edits
}

/// Gives the id of the upgrade to a release.
pub(super) fn id(flow: Flow<'_>, group: &Group<'_>, target: &Version) -> String {
    let target = format!("{}@{target}", flow.ports.catalog.platform());
    plan::upgrade_id(&flow.ground.base.branch, group, &target)
}

fn later(flow: Flow<'_>, group: &Group<'_>, request: &Request) -> Later {
    let (from, to) = (request.hop.from.to_string(), request.to().to_string());
    let title = request::title_of(
        (Way::Forward, request.stage),
        (flow.ports.catalog.platform().as_str(), &group.label()),
        (&from, &to),
    );
    Later {
        stage: request.stage,
        title,
        gate: (!request.gate.is_empty() || !request.beside.is_empty())
            .then(|| Gate {
                ways: Vec::new(),
                ..gate::of(request, &request.gate)
            })
            .into_iter()
            .collect(),
    }
}

/// Lists the migrations that the records tell of: they stay in them, since they say what can be stored. One whose CRDs were
/// all migrated later is of no use.
fn migrations(group: &Group<'_>) -> Vec<Confirmation> {
    let mut all: Vec<&Confirmation> = group.records().flat_map(Record::migrations).collect();
    all.sort_by_key(|one| Reverse((&one.about.from, one.at)));
    let mut known: BTreeSet<&String> = BTreeSet::new();
    all.retain(|migration| {
        let before = known.len();
        known.extend(&migration.crds);
        known.len() > before
    });
    all.reverse();
    all.into_iter().cloned().collect()
}
