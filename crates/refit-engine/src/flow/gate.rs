//! What must be true before a request is merged, and what shows it.
//!
//! In: a request with what it waits for, a snapshot, what people said. Out: [`Need`]s and confirmations. One answer for the
//! request that comes first and for those that follow.

use std::collections::BTreeSet;

use jiff::Unit;
use refit_core::inventory::Group;
use refit_core::migration;
use refit_core::record::Note;
use refit_core::route::{self, Hop, Stale, Used};
use refit_core::stage::{Confirmation, Gate, Stage, Wait};

use super::detach;
use super::ground::Flow;
use super::order::Request;
use super::target::Way;
use crate::Error;

/// What a request waits for.
pub(super) struct Need {
    pub(super) gate: Gate,
    pub(super) says: Says,
}

/// What a snapshot says of a need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// It is so.
    Yes,
    /// It is not so, whatever was said before.
    No,
    /// Nothing.
    Nothing,
}

/// What must be migrated before a request.
pub(super) struct Migrations {
    /// All that is asked for, shown or not.
    pub(super) all: Vec<Stale>,
    /// What no snapshot shows to be done.
    pub(super) left: Vec<Stale>,
}

/// Finds what must be migrated before a request.
pub(super) fn migrations(flow: Flow<'_>, way: &Way, request: &Request) -> Migrations {
    let mut all = request.gate.clone();
    let concluded = way.concluded.as_ref().and_then(|route| route.hops.first());
    let same = concluded.filter(|hop| hop.from == request.hop.from && hop.to == request.hop.to);
    if let (Stage::Upgrade, Some(hop)) = (request.stage, same) {
        let more = hop.gate.iter().filter(|stale| !request.gate.contains(stale));
        all.extend(more.cloned());
    }
    let left = match &flow.ask.snapshot {
        Some(snapshot) => route::still_stale(&request.gate, &snapshot.evidence),
        None => request.gate.clone(),
    };
    Migrations { all, left }
}

/// Lists what a request waits for, shown or not.
pub(super) fn needs(flow: Flow<'_>, group: &Group<'_>, (request, asked): (&Request, &Migrations)) -> Vec<Need> {
    let mut needs: Vec<Need> = reconciled(flow, group, (request, asked)).into_iter().collect();
    if asked.all.is_empty() {
        return needs;
    }
    let shown = flow.ask.snapshot.as_ref().map(|snapshot| &snapshot.evidence);
    let is_seen = |stale: &Stale| match (stale.used, shown) {
        (Used::Stored, Some(_)) => true,
        (Used::Managed, Some(evidence)) => evidence.managed.contains_key(&stale.crd),
        (_, None) => false,
    };
    let says = match (asked.left.is_empty(), asked.left.iter().any(is_seen)) {
        (true, _) => Says::Yes,
        (false, true) => Says::No,
        (false, false) => Says::Nothing,
    };
    let listed = if asked.left.is_empty() { &asked.all } else { &asked.left };
    let mut gate = of(&request.hop, listed);
    if let Some(evidence) = shown {
        let managed = asked.left.iter().filter(|stale| stale.used == Used::Managed);
        let unlisted: BTreeSet<&str> = managed
            .filter(|stale| !evidence.managed.contains_key(&stale.crd))
            .map(|stale| stale.kind.as_str())
            .collect();
        if !unlisted.is_empty() {
            let kinds = unlisted.into_iter().collect::<Vec<_>>().join(", ");
            gate.why.push(format!("the snapshot does not list: {kinds}"));
        }
    }
    needs.push(Need { gate, says });
    needs
}

/// Tells whether a request waits for the cluster to have what was merged before it.
fn reconciled(flow: Flow<'_>, group: &Group<'_>, (request, asked): (&Request, &Migrations)) -> Option<Need> {
    let installed = &request.hop.from;
    let platform = flow.ports.catalog.platform();
    let evidence = flow.ask.snapshot.as_ref().map(|snapshot| &snapshot.evidence);
    let runs = evidence.and_then(|evidence| evidence.release(platform.as_str()));
    let need = |why: String, says: Says| Need {
        gate: Gate {
            wait: Wait::Reconciled,
            why: vec![why],
            ways: Vec::new(),
            shows: true,
        },
        says,
    };
    // No snapshot shows that objects were converted, or that a Job was brought.
    let unseen = |why: &str| Need {
        gate: Gate {
            shows: false,
            ..need(why.to_owned(), Says::Nothing).gate
        },
        says: Says::Nothing,
    };
    if let Some(runs) = runs.as_ref().filter(|runs| *runs < installed) {
        let why =
            format!("the cluster runs {runs}, and {installed} is in Git; a later snapshot shows when it has that");
        return Some(need(why, Says::No));
    }
    let last = group.records().next().filter(|record| record.goes_on())?;
    if last.stage == Stage::Detach {
        return detach::seen(flow, last).map(|(gate, shown)| Need {
            gate,
            says: if shown { Says::Yes } else { Says::Nothing },
        });
    }
    // Who migrates does it in what is reconciled.
    let waits = matches!(request.stage, Stage::Upgrade | Stage::Migrate) && asked.all.is_empty();
    let is_later = runs.as_ref() == Some(installed);
    let rolled_out = evidence.is_some_and(|evidence| {
        let mut own = evidence.controllers.iter();
        own.all(|controller| controller.part_of != platform.as_str() || controller.rolled_out)
    });
    match last.stage {
        _ if !waits => None,
        Stage::Upgrade if is_later && rolled_out => Some(need(format!("the cluster runs {installed}"), Says::Yes)),
        Stage::Upgrade if is_later => Some(need(
            format!("a controller of {installed} is not rolled out yet; a later snapshot shows when all are"),
            Says::No,
        )),
        Stage::Upgrade => Some(need(format!("the cluster runs {installed} first"), Says::Nothing)),
        Stage::Convert => Some(unseen(
            "objects that the request before converts are applied in the cluster first",
        )),
        Stage::Detach | Stage::Migrate => {
            Some(unseen("what the request before brings is applied in the cluster first"))
        }
    }
}

/// Gives the gate of what must be migrated before a hop.
pub(super) fn of(hop: &Hop, stale: &[Stale]) -> Gate {
    Gate {
        wait: Wait::Migrated,
        why: migration::summary(stale),
        ways: migration::commands(stale, &hop.from),
        shows: true,
    }
}

/// Tells whether somebody confirmed already that all is migrated before a request.
pub(super) fn is_migrated(request: &Request, note: Option<&Note>) -> bool {
    let mut noted = note.into_iter().flat_map(|note| &note.confirmations);
    noted.any(|one| one.what == Wait::Migrated && one.from == request.hop.from && one.to == *request.to())
}

/// Gives what was confirmed for a request: what its note says already, and what this run adds. What a snapshot of this run
/// shows not to be so counts as not confirmed.
pub(super) fn confirmed(
    flow: Flow<'_>,
    request: &Request,
    (needs, note): (&[Need], Option<&Note>),
) -> Result<Vec<Confirmation>, Error> {
    let (from, to) = (&request.hop.from, request.to());
    let refuted = |wait: Wait| {
        needs
            .iter()
            .find(|need| need.gate.wait == wait && need.says == Says::No)
    };
    let noted = note.into_iter().flat_map(|note| &note.confirmations);
    let mut confirmed: Vec<Confirmation> = noted
        .filter(|one| one.from == *from && one.to == *to && refuted(one.what).is_none())
        .cloned()
        .collect();
    let mut waits: Vec<(Wait, Option<String>)> = Vec::new();
    for wait in &flow.ask.confirm {
        if let Some(need) = refuted(*wait) {
            return Err(Error::Usage {
                message: format!(
                    "the snapshot shows that `{}` is not so: {}",
                    wait.word(),
                    need.gate.why.join("; ")
                ),
                remedy: "make it so and take a new snapshot".to_owned(),
            });
        }
        if !needs.iter().any(|need| need.gate.wait == *wait) && confirmed.iter().all(|known| known.what != *wait) {
            return Err(Error::Usage {
                message: format!("the request that comes next does not wait for `{}`", wait.word()),
                remedy: "`refit status` says what it waits for".to_owned(),
            });
        }
        waits.push((*wait, None));
    }
    if let Some(snapshot) = &flow.ask.snapshot {
        let shown = needs.iter().filter(|need| need.says == Says::Yes);
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
pub(super) fn unopened(needs: Vec<Need>, confirmed: &[Confirmation]) -> Vec<Gate> {
    let is_open = |need: &Need| need.says == Says::Yes || confirmed.iter().any(|one| one.what == need.gate.wait);
    needs
        .into_iter()
        .filter(|need| !is_open(need))
        .map(|need| need.gate)
        .collect()
}
