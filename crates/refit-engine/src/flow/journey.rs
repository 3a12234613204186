//! Which request comes next on the way of a group of clusters to its target.
//!
//! In: the route, what the target branch says of it, what people confirmed. Out: a [`Leg`]: the releases, the place among
//! the requests of the upgrade, and what the request edits. Nothing is remembered: each run computes it anew.

use jiff::Unit;
use refit_core::finding::Finding;
use refit_core::inventory::Group;
use refit_core::migration;
use refit_core::plan::{self, Edits};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::request::{self, Way};
use refit_core::route::{Hop, Route, Stale};
use refit_core::stage::{Confirmation, Conversion, Gate, Later, Place, Stage, Wait};
use refit_manifest::Path;

use super::ground::Flow;
use super::job;
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

/// One request of a route.
struct Request<'a> {
    stage: Stage,
    hop: &'a Hop,
}

impl Request<'_> {
    /// Gives the release that the request leaves installed.
    fn to(&self) -> &Version {
        match self.stage {
            Stage::Upgrade => &self.hop.to,
            Stage::Convert | Stage::Detach | Stage::Migrate => &self.hop.from,
        }
    }

    fn waits(&self) -> bool {
        self.stage == Stage::Upgrade && !self.hop.gate.is_empty()
    }
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
    let mut requests: Vec<Request<'_>> = Vec::new();
    for (at, hop) in route.hops.iter().enumerate() {
        if at == 0 && matches!(job, job::State::Due(_)) {
            let stage = Stage::Migrate;
            requests.push(Request { stage, hop });
        }
        let stage = Stage::Upgrade;
        requests.push(Request { stage, hop });
    }
    let Some(first) = requests.first() else {
        return Ok(None);
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
        later: requests
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
        edits: edits(flow, group, (first.stage, job)),
        findings: Vec::new(),
        confirmed,
    }))
}

/// Gives what the request edits beside the generated files.
fn edits(flow: Flow<'_>, group: &Group<'_>, (stage, job): (Stage, job::State)) -> Edits {
    let mut edits = Edits::default();
    if stage == Stage::Upgrade {
        edits.removes = job::files(&flow.ground.snapshot.tree, group);
    }
    match job {
        job::State::Due(files) if stage == Stage::Migrate => {
            let brought = |path: &Path| Conversion {
                path: path.to_string(),
                changes: vec!["a Job that migrates stored objects".to_owned()],
            };
            edits.conversions = files.keys().map(brought).collect();
            edits.files = files;
        }
        job::State::Not(reason) => edits.reviews.push(reason),
        _ => {}
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

fn later(flow: Flow<'_>, group: &Group<'_>, request: &Request<'_>) -> Later {
    let (from, to) = (request.hop.from.to_string(), request.to().to_string());
    let title = request::title_of(
        (Way::Forward, request.stage),
        (flow.ports.catalog.platform().as_str(), &group.label()),
        (&from, &to),
    );
    Later {
        stage: request.stage,
        title,
        gate: request
            .waits()
            .then(|| Gate {
                ways: Vec::new(),
                ..migration(request.hop, &request.hop.gate)
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
fn needs(flow: Flow<'_>, group: &Group<'_>, (request, way): (&Request<'_>, &Chosen)) -> Vec<Need> {
    let mut needs = Vec::new();
    let hop = request.hop;
    let other = flow.ask.snapshot.as_ref().and_then(|snapshot| {
        let platform = flow.ports.catalog.platform();
        snapshot
            .evidence
            .release(platform.as_str())
            .filter(|runs| *runs < hop.from)
    });
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
    } else if request.stage == Stage::Upgrade && converted && hop.gate.is_empty() {
        let why = "objects that the request before converts are applied in the cluster first".to_owned();
        needs.push(reconciled(why, false));
    }
    let nominal = way.concluded.as_ref().and_then(|concluded| same_hop(concluded, hop));
    let nominal = nominal.map_or(hop.gate.as_slice(), |hop| hop.gate.as_slice());
    if request.stage == Stage::Upgrade && !nominal.is_empty() {
        let shown = hop.gate.is_empty() && flow.ask.snapshot.is_some();
        let left = if shown { nominal } else { hop.gate.as_slice() };
        needs.push(Need {
            gate: migration(hop, left),
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

/// Gives what was confirmed for a request: what its note says already, and what this run adds.
fn confirmed(
    flow: Flow<'_>,
    request: &Request<'_>,
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
