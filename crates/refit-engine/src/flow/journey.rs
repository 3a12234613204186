//! Which request comes next on the way of a group of clusters to its target.
//!
//! In: the route, what the target branch says of it, what people confirmed. Out: a [`Leg`]: the releases, the place among
//! the requests of the upgrade, and what the request edits. Nothing is remembered: each run computes it anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Unit;
use refit_core::finding::Finding;
use refit_core::inventory::Group;
use refit_core::migration;
use refit_core::plan::{self, Edits};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::request::{self, Way};
use refit_core::route::{self, Hop, Route, Stale, Used};
use refit_core::stage::{Confirmation, Conversion, Gate, Later, Place, Stage, Wait};
use refit_manifest::Path;

use super::detach;
use super::ground::Flow;
use super::job;
use super::order::{self, Ordered, Request};
use super::target::Way as Chosen;
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
    /// What was confirmed in this run or before, for this request alone.
    pub(super) confirmed: Vec<Confirmation>,
}

/// Finds the request that comes next.
pub(super) fn next(flow: Flow<'_>, group: &Group<'_>, way: &Chosen, note: Option<&Note>) -> Result<Option<Leg>, Error> {
    let route = &way.route;
    let nominal = way.concluded.as_ref().unwrap_or(route);
    let Some(hop) = nominal.hops.first() else {
        return Ok(None);
    };
    let is_shown = flow.ask.snapshot.is_some() && route.hops.first().is_some_and(|hop| hop.gate.is_empty());
    let job = match is_shown || is_migrated(hop, note) {
        true => job::State::None,
        false => job::of(flow, group, hop),
    };
    let mut ordered = order::of(flow, group, route)?;
    bring(&mut ordered, job.due());
    let Some(first) = ordered.requests.first() else {
        return Ok(Some(stuck(flow, group, (route, ordered.findings))));
    };
    let (id, target) = (id(flow, group, &route.to), &route.to);
    let mut needs = needs(flow, group, (first, way));
    if let job::State::There(name, namespace) = &job {
        let seen = format!("kubectl -n {namespace} wait --for=condition=complete job/{name} --timeout=30m");
        let migrations = needs.iter_mut().filter(|need| need.gate.wait == Wait::Migrated);
        migrations.for_each(|need| need.gate.ways = vec![seen.clone()]);
    }
    let confirmed = confirmed(flow, first, (&needs, note))?;
    let mut confirmations: Vec<Confirmation> = migrated(group).into_iter().collect();
    confirmations.extend(confirmed.iter().cloned());
    let place = Place {
        stage: first.stage,
        index: plan::done(group, &id) + 1,
        target: target.clone(),
        gate: unopened(needs, &confirmed),
        confirmations,
        later: ordered
            .requests
            .iter()
            .skip(1)
            .map(|request| later(flow, group, request))
            .collect(),
        pruned: Vec::new(),
    };
    Ok(Some(Leg {
        upgrade: id,
        from: first.hop.from.clone(),
        to: first.to().clone(),
        place,
        edits: edits(flow, group, (first, &job)),
        findings: ordered.findings,
        confirmed,
    }))
}

/// Adds the Job that migrates before the first hop: to the request that converts before it, else as one of its own.
fn bring(ordered: &mut Ordered, job: Option<&BTreeMap<Path, Arc<[u8]>>>) {
    let (Some(files), Some(first)) = (job, ordered.requests.first_mut()) else {
        return;
    };
    let brought = |path: &Path| Conversion {
        path: path.to_string(),
        changes: vec!["a Job that migrates stored objects".to_owned()],
    };
    let mut edits = Edits {
        files: files.clone(),
        conversions: files.keys().map(brought).collect(),
        ..Edits::default()
    };
    if first.stage == Stage::Convert {
        first.edits.files.append(&mut edits.files);
        first.edits.conversions.append(&mut edits.conversions);
        return;
    }
    let own = Request {
        stage: Stage::Migrate,
        hop: first.hop.clone(),
        gate: Vec::new(),
        edits,
    };
    ordered.requests.insert(0, own);
}

/// Gives a leg that leads nowhere before a person acts: its findings say why.
fn stuck(flow: Flow<'_>, group: &Group<'_>, (route, findings): (&Route, Vec<Finding>)) -> Leg {
    Leg {
        upgrade: id(flow, group, &route.to),
        from: route.from.clone(),
        to: route.hops.first().map_or(&route.to, |hop| &hop.to).clone(),
        place: Place::only(&route.to),
        edits: Edits::default(),
        findings,
        confirmed: Vec::new(),
    }
}

/// Gives what the request edits beside the generated files.
fn edits(flow: Flow<'_>, group: &Group<'_>, (request, job): (&Request, &job::State)) -> Edits {
    let mut edits = request.edits.clone();
    if request.stage == Stage::Upgrade {
        edits.removes = job::files(&flow.ground.snapshot.tree, group);
    }
    if let job::State::Not(reason) = job {
        edits.reviews.push(reason.clone());
    }
    edits
}

/// Tells whether somebody confirmed already that all is migrated before a hop.
fn is_migrated(hop: &Hop, note: Option<&Note>) -> bool {
    let mut noted = note.into_iter().flat_map(|note| &note.confirmations);
    noted.any(|one| one.what == Wait::Migrated && one.from == hop.from && one.to == hop.to)
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
        gate: (!request.gate.is_empty())
            .then(|| Gate {
                ways: Vec::new(),
                ..migration(&request.hop, &request.gate)
            })
            .into_iter()
            .collect(),
    }
}

/// Gives the last migration that a request before brought: it stays in the records, since it says what can be stored.
fn migrated(group: &Group<'_>) -> Option<Confirmation> {
    group.records().find_map(|record| record.migrated()).cloned()
}

/// What a request waits for.
struct Need {
    gate: Gate,
    /// Whether the snapshot shows it.
    shown: bool,
}

/// Lists what a request waits for, shown or not.
fn needs(flow: Flow<'_>, group: &Group<'_>, (request, way): (&Request, &Chosen)) -> Vec<Need> {
    let mut needs = Vec::new();
    let hop = &request.hop;
    let other = flow.ask.snapshot.as_ref().and_then(|snapshot| {
        let platform = flow.ports.catalog.platform();
        snapshot
            .evidence
            .release(platform.as_str())
            .filter(|runs| *runs < hop.from)
    });
    let nominal = way.concluded.as_ref().and_then(|concluded| same_hop(concluded, hop));
    let nominal = nominal.map_or(hop.gate.as_slice(), |hop| hop.gate.as_slice());
    let last = group.records().next();
    let converted = last.is_some_and(|record| record.goes_on() && record.stage != Stage::Upgrade);
    let reconciled = |why: String, shown: bool| Need {
        gate: Gate {
            wait: Wait::Reconciled,
            why: vec![why],
            ways: Vec::new(),
        },
        shown,
    };
    if let Some(runs) = other {
        needs.push(reconciled(
            format!("the cluster runs {runs}, and {} is in Git", hop.from),
            false,
        ));
    } else if let Some(last) = last.filter(|record| record.goes_on() && record.stage == Stage::Detach) {
        needs.extend(detach::seen(flow, last).map(|(gate, shown)| Need { gate, shown }));
    } else if request.stage == Stage::Upgrade && converted && nominal.is_empty() {
        let why = "objects that the request before converts are applied in the cluster first".to_owned();
        needs.push(reconciled(why, false));
    }
    if request.stage == Stage::Upgrade && !nominal.is_empty() {
        let shown = hop.gate.is_empty() && flow.ask.snapshot.is_some();
        let left = if shown { nominal } else { hop.gate.as_slice() };
        needs.push(Need {
            gate: left_of(flow, hop, left),
            shown,
        });
    }
    if request.stage == Stage::Convert && !request.gate.is_empty() {
        let left = match &flow.ask.snapshot {
            Some(snapshot) => route::still_stale(&request.gate, &snapshot.evidence),
            None => request.gate.clone(),
        };
        let shown = left.is_empty();
        needs.push(Need {
            gate: left_of(flow, hop, if shown { &request.gate } else { &left }),
            shown,
        });
    }
    needs
}

fn same_hop<'a>(route: &'a Route, hop: &Hop) -> Option<&'a Hop> {
    let first = route.hops.first();
    first.filter(|first| first.from == hop.from && first.to == hop.to)
}

/// Gives the gate of what must be migrated before a hop.
fn migration(hop: &Hop, stale: &[Stale]) -> Gate {
    Gate {
        wait: Wait::Migrated,
        why: migration::summary(stale),
        ways: migration::commands(stale, &hop.from),
    }
}

/// Gives the gate of what is left to migrate, with what a snapshot does not tell.
fn left_of(flow: Flow<'_>, hop: &Hop, left: &[Stale]) -> Gate {
    let mut gate = migration(hop, left);
    let Some(snapshot) = &flow.ask.snapshot else {
        return gate;
    };
    let managed = left.iter().filter(|stale| stale.used == Used::Managed);
    let unlisted: BTreeSet<&str> = managed
        .filter(|stale| !snapshot.evidence.managed.contains_key(&stale.crd))
        .map(|stale| stale.kind.as_str())
        .collect();
    if !unlisted.is_empty() {
        let kinds = unlisted.into_iter().collect::<Vec<_>>().join(", ");
        gate.why.push(format!("the snapshot does not list: {kinds}"));
    }
    gate
}

/// Gives what was confirmed for a request: what its note says already, and what this run adds.
fn confirmed(
    flow: Flow<'_>,
    request: &Request,
    (needs, note): (&[Need], Option<&Note>),
) -> Result<Vec<Confirmation>, Error> {
    let (from, to) = (&request.hop.from, request.to());
    let noted = note.into_iter().flat_map(|note| &note.confirmations);
    let mut confirmed: Vec<Confirmation> = noted
        .filter(|one| one.from == *from && one.to == *to)
        .cloned()
        .collect();
    let mut waits: Vec<(Wait, Option<String>)> = Vec::new();
    for wait in &flow.ask.confirm {
        if !needs.iter().any(|need| need.gate.wait == *wait) && confirmed.iter().all(|known| known.what != *wait) {
            return Err(Error::Usage {
                message: format!("the request that comes next does not wait for `{}`", wait.word()),
                remedy: "`refit status` says what it waits for".to_owned(),
            });
        }
        waits.push((*wait, None));
    }
    if let Some(snapshot) = &flow.ask.snapshot {
        let shown = needs.iter().filter(|need| need.shown);
        waits.extend(shown.map(|need| (need.gate.wait, Some(snapshot.digest.clone()))));
    }
    for (wait, snapshot) in waits {
        if confirmed.iter().all(|known| known.what != wait) {
            confirmed.push(Confirmation {
                what: wait,
                from: from.clone(),
                to: to.clone(),
                by: flow.ports.repository.person()?,
                at: flow.ports.clock.now().round(Unit::Second).unwrap_or_default(),
                snapshot,
            });
        }
    }
    Ok(confirmed)
}

/// Lists what nobody confirmed and no snapshot shows.
fn unopened(needs: Vec<Need>, confirmed: &[Confirmation]) -> Vec<Gate> {
    let is_open = |need: &Need| need.shown || confirmed.iter().any(|one| one.what == need.gate.wait);
    needs
        .into_iter()
        .filter(|need| !is_open(need))
        .map(|need| need.gate)
        .collect()
}
