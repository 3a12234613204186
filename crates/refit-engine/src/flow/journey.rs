//! Which request comes next on the way of a group of clusters to its target.
//!
//! In: the route, what the target branch says of it, what people confirmed. Out: a [`Leg`]: the releases, the place among
//! the requests of the upgrade, and what the request edits. Nothing is remembered: each run computes it anew.

use refit_core::finding::Finding;
use refit_core::inventory::Group;
use refit_core::plan::{self, Edits};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::request::{self, Way};
use refit_core::stage::{Confirmation, Gate, Later, Place, Stage, Wait};

use super::ground::Flow;
use super::target::{Hop, Route};
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
            Stage::Convert | Stage::Detach => &self.hop.from,
        }
    }

    fn waits(&self) -> bool {
        self.stage == Stage::Upgrade && !self.hop.stale.is_empty()
    }
}

/// Finds the request that comes next.
pub(super) fn next(
    flow: Flow<'_>,
    group: &Group<'_>,
    route: &Route,
    note: Option<&Note>,
) -> Result<Option<Leg>, Error> {
    let requests: Vec<Request<'_>> = route
        .hops
        .iter()
        .map(|hop| Request {
            stage: Stage::Upgrade,
            hop,
        })
        .collect();
    let (Some(first), Some(target)) = (requests.first(), route.target()) else {
        return Ok(None);
    };
    let id = id(flow, group, target);
    let confirmed = confirmed(flow, first, note)?;
    let mut confirmations: Vec<Confirmation> = migrated(group).into_iter().collect();
    confirmations.extend(confirmed.iter().cloned());
    let place = Place {
        stage: first.stage,
        index: plan::done(group, &id) + 1,
        target: target.clone(),
        gate: gate(first, &confirmed),
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
        edits: Edits::default(),
        findings: Vec::new(),
        confirmed,
    }))
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
        waits: request.waits().then_some(Wait::Migrated).into_iter().collect(),
    }
}

/// Gives the last migration that a request before brought: it stays in the records, since it says what can be stored.
fn migrated(group: &Group<'_>) -> Option<Confirmation> {
    group.records().find_map(|record| record.migrated()).cloned()
}

/// Gives what was confirmed for a request: what its note says already, and what this run adds.
fn confirmed(flow: Flow<'_>, request: &Request<'_>, note: Option<&Note>) -> Result<Vec<Confirmation>, Error> {
    let (from, to) = (&request.hop.from, request.to());
    let noted = note.into_iter().flat_map(|note| &note.confirmations);
    let mut confirmed: Vec<Confirmation> = noted
        .filter(|one| one.from == *from && one.to == *to)
        .cloned()
        .collect();
    for wait in &flow.ask.confirm {
        if !request.waits() || *wait != Wait::Migrated {
            return Err(Error::Usage {
                message: format!("the request that comes next does not wait for `{}`", wait.word()),
                remedy: "`refit status` says what it waits for".to_owned(),
            });
        }
        if confirmed.iter().all(|known| known.what != *wait) {
            confirmed.push(Confirmation {
                what: *wait,
                from: from.clone(),
                to: to.clone(),
                by: flow.ports.repository.person()?,
                at: flow.ports.clock.now(),
                snapshot: None,
            });
        }
    }
    Ok(confirmed)
}

fn gate(request: &Request<'_>, confirmed: &[Confirmation]) -> Vec<Gate> {
    let open = confirmed.iter().any(|one| one.what == Wait::Migrated);
    if !request.waits() || open {
        return Vec::new();
    }
    let why = request.hop.stale.iter().map(|stale| {
        format!(
            "objects of {} may be stored as `{}`, which {} no longer has; they are migrated to `{}`",
            stale.crd, stale.version, request.hop.to, stale.storage
        )
    });
    vec![Gate {
        wait: Wait::Migrated,
        why: why.collect(),
        ways: Vec::new(),
    }]
}
