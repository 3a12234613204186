//! What must be true before a request is merged, and what shows it.
//!
//! In: a request with what it waits for, a snapshot, what was refuted before. Out: [`Need`]s. One answer for the request that
//! comes first and for those that follow.

use std::collections::BTreeSet;

use refit_core::inventory::Group;
use refit_core::migration;
use refit_core::release::Version;
use refit_core::route::{self, Stale, Used};
use refit_core::stage::{Gate, Refutation, Stage, Wait};

use super::detach;
use super::ground::Flow;
use super::order::Request;
use super::target::Way;
use super::words::Heard;

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

impl Migrations {
    /// Lists the CRDs of whose objects something old is in use in this way.
    pub(super) fn crds(&self, used: Used) -> Vec<String> {
        let of_use = self.all.iter().filter(|stale| stale.used == used);
        let crds: BTreeSet<&String> = of_use.map(|stale| &stale.crd).collect();
        crds.into_iter().cloned().collect()
    }
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
pub(super) fn needs(
    flow: Flow<'_>,
    group: &Group<'_>,
    (request, asked): (&Request, &Migrations),
    heard: &Heard<'_>,
) -> Vec<Need> {
    let doubt = heard.refuted(request, Wait::Reconciled);
    let mut needs: Vec<Need> = reconciled(flow, group, (request, asked), doubt).into_iter().collect();
    if asked.all.is_empty() && request.beside.is_empty() {
        return needs;
    }
    let shown = flow.ask.snapshot.as_ref().map(|snapshot| &snapshot.evidence);
    let is_seen = |stale: &Stale| match (stale.used, shown) {
        (Used::Stored, Some(_)) => true,
        (Used::Managed, Some(evidence)) => evidence.managed.contains_key(&stale.crd),
        (_, None) => false,
    };
    let says = match (asked.left.is_empty(), asked.left.iter().any(is_seen)) {
        // A snapshot is of one cluster.
        (true, _) if !request.beside.is_empty() => Says::Nothing,
        (true, _) => Says::Yes,
        (false, true) => Says::No,
        (false, false) => Says::Nothing,
    };
    let is_done = asked.left.is_empty() && request.beside.is_empty();
    let listed = if is_done { &asked.all } else { &asked.left };
    let mut gate = of(request, listed);
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

/// Tells whether a request waits for the cluster to have what was merged before it. A snapshot showed before that it has not:
/// that counts until a later one shows the contrary.
fn reconciled(
    flow: Flow<'_>,
    group: &Group<'_>,
    (request, asked): (&Request, &Migrations),
    doubt: Option<&Refutation>,
) -> Option<Need> {
    let running = running(flow, &request.hop.from);
    if running.behind {
        return Some(running.need);
    }
    let doubted = |running: Need| {
        let doubt = doubt?;
        Some(match running.says {
            Says::Nothing => need(&doubt.why.join("; "), Says::Nothing),
            Says::Yes | Says::No => running,
        })
    };
    let Some(last) = group.records().next().filter(|record| record.goes_on()) else {
        return doubted(running.need);
    };
    if last.stage == Stage::Detach {
        return detach::seen(flow, last).map(|(gate, shown)| Need {
            gate,
            says: if shown { Says::Yes } else { Says::Nothing },
        });
    }
    let waits = match (request.stage, last.stage) {
        // Who migrates does it in what is reconciled.
        _ if !asked.all.is_empty() => false,
        (Stage::Upgrade | Stage::Migrate, _) => true,
        // What a release does not serve before it is there.
        (Stage::Convert, last) => last == Stage::Upgrade,
        (Stage::Detach, _) => false,
    };
    match last.stage {
        _ if !waits => doubted(running.need),
        Stage::Upgrade => Some(running.need),
        Stage::Convert => Some(unseen(
            "objects that the request before converts are applied in the cluster first",
        )),
        Stage::Detach | Stage::Migrate => {
            Some(unseen("what the request before brings is applied in the cluster first"))
        }
    }
}

/// Whether the cluster runs what is installed by what is in Git.
struct Running {
    need: Need,
    /// Whether it runs an older release.
    behind: bool,
}

fn running(flow: Flow<'_>, installed: &Version) -> Running {
    let platform = flow.ports.catalog.platform();
    let evidence = flow.ask.snapshot.as_ref().map(|snapshot| &snapshot.evidence);
    let runs = evidence.and_then(|evidence| evidence.release(platform.as_str()));
    let rolled_out = evidence.is_some_and(|evidence| {
        let mut own = evidence.controllers.iter();
        own.all(|controller| controller.part_of != platform.as_str() || controller.rolled_out)
    });
    let behind = runs.as_ref().is_some_and(|runs| runs < installed);
    let need = match runs {
        Some(runs) if runs < *installed => need(
            &format!("the cluster runs {runs}, and {installed} is in Git; a later snapshot shows when it has that"),
            Says::No,
        ),
        Some(runs) if runs == *installed && rolled_out => need(&format!("the cluster runs {installed}"), Says::Yes),
        Some(runs) if runs == *installed => need(
            &format!("a controller of {installed} is not rolled out yet; a later snapshot shows when all are"),
            Says::No,
        ),
        _ => need(&format!("the cluster runs {installed} first"), Says::Nothing),
    };
    Running { need, behind }
}

/// Makes a need for what was merged before, which a snapshot can show.
fn need(why: &str, says: Says) -> Need {
    Need {
        gate: Gate {
            wait: Wait::Reconciled,
            why: vec![why.to_owned()],
            ways: Vec::new(),
            shows: true,
        },
        says,
    }
}

/// Makes a need that no snapshot shows: that objects were converted, or that a Job was brought.
fn unseen(why: &str) -> Need {
    let mut need = need(why, Says::Nothing);
    need.gate.shows = false;
    need
}

/// Gives the gate of what must be migrated before a request, in its own cluster and in others that apply what it converts:
/// of these a snapshot of the own one says nothing.
pub(super) fn of(request: &Request, stale: &[Stale]) -> Gate {
    let mut gate = Gate {
        wait: Wait::Migrated,
        why: migration::summary(stale),
        ways: Vec::new(),
        shows: request.beside.is_empty(),
    };
    if !stale.is_empty() {
        gate.ways = migration::commands(stale, &request.hop.from);
    }
    for beside in &request.beside {
        let clusters = format!("`{}`", beside.clusters.join("`, `"));
        let lines = migration::summary(&beside.gate);
        gate.why.extend(
            lines
                .into_iter()
                .map(|line| format!("{line} in {clusters}, which applies the same files")),
        );
        gate.ways.push(format!("{OTHERS}{}", beside.clusters.join(", ")));
        gate.ways.extend(migration::commands(&beside.gate, &beside.installed));
    }
    gate
}

/// What stands before the commands that are for another cluster.
const OTHERS: &str = "# in cluster ";

/// Tells whether a line heads the commands that are for another cluster.
pub(super) fn is_of_others(way: &str) -> bool {
    way.starts_with(OTHERS)
}
