//! Which versions in managed fields keep a converted object from being applied.
//!
//! In: the state and what a step converts. Out: what must be migrated first. The API server reads a live object in the
//! version of each of its managed fields; as long as it holds a field that such a version does not know, no other version
//! can be applied (fluxcd/flux2#4862; tried on a real API server). Migrated managed fields name the storage version.

use std::collections::{BTreeMap, BTreeSet};

use super::bundles::Bundle;
use super::order::Step;
use super::state::{State, is_staged};
use crate::applied::File;
use crate::catalog::Resource;
use crate::conversion::{Use, What};
use crate::places::Sort;
use crate::release::Version;
use crate::route::{Stale, Used};

/// Lists the lanes that can apply what the next hop brings to a bundle right after its definitions: they apply it in one go
/// with these, since their controller waits for definitions, and the new definitions put no field into live objects that the versions in their managed fields do not
/// know; nothing can be migrated between the definitions and the objects.
pub(super) fn in_one_go(state: &State<'_>, bundle: &Bundle) -> BTreeSet<usize> {
    let versions = state.versions(bundle);
    let knows_all = |lane: usize| {
        let mut kinds = versions.iter();
        kinds.all(|(kind, written)| {
            let resource = state.resource(kind);
            resource.is_none_or(|resource| holds_all(state, lane, resource, written))
        })
    };
    bundle
        .together
        .iter()
        .copied()
        .filter(|lane| state.release(*lane).is_some_and(is_staged) && knows_all(*lane))
        .collect()
}

fn holds_all(state: &State<'_>, lane: usize, resource: &Resource, written: &BTreeSet<&str>) -> bool {
    let Some(to) = state.next_release(lane) else {
        return false;
    };
    let situation = state.situation();
    let storage = state
        .release(lane)
        .and_then(|release| situation.known.versions(&resource.crd, release));
    let storage = storage.as_ref().map(|versions| versions.storage.as_str());
    let mut managed = written.iter().copied().chain(storage);
    managed.all(|version| situation.schemas.holds_all(to, &resource.crd, version))
}

/// Lists the versions in managed fields that keep from being applied what a step converts, for each lane that applies it.
pub(super) fn managed(state: &State<'_>, changes: &[(File, Use)], step: &Step) -> BTreeMap<usize, BTreeSet<Stale>> {
    let is_object = |used: &Use| matches!(used.sort, Sort::Object | Sort::Item);
    let mut gates: BTreeMap<usize, BTreeSet<Stale>> = BTreeMap::new();
    for (file, used) in changes.iter().filter(|(_, used)| is_object(used)) {
        let What::Version(version) = &used.what else { continue };
        let Some(resource) = state.resource(&(used.group.clone(), used.kind.clone())) else {
            continue;
        };
        for lane in state.appliers(file) {
            let at = applied_at(state, file, lane, step);
            if let Some(stale) = at.and_then(|at| stale(state, resource, version, (lane, at))) {
                gates.entry(lane).or_default().insert(stale);
            }
        }
    }
    gates
}

/// Gives the release that is installed when a lane first applies a file after a step.
fn applied_at<'s>(state: &'s State<'_>, file: &File, lane: usize, step: &Step) -> Option<&'s Version> {
    let in_one_go = || {
        state
            .bundle(file)
            .is_some_and(|bundle| in_one_go(state, bundle).contains(&lane))
    };
    match step {
        Step::Upgrade { lane: own, .. } if *own == lane && in_one_go() => {
            state.next_release(lane).or_else(|| state.release(lane))
        }
        _ => state.release(lane),
    }
}

fn stale(state: &State<'_>, resource: &Resource, version: &str, (lane, at): (usize, &Version)) -> Option<Stale> {
    let situation = state.situation();
    let installed = situation.known.versions(&resource.crd, state.release(lane)?)?;
    let stands = installed.storage != version && !situation.schemas.holds_all(at, &resource.crd, version);
    stands.then(|| Stale {
        crd: resource.crd.clone(),
        kind: resource.kind.clone(),
        version: version.to_owned(),
        used: Used::Managed,
        storage: installed.storage,
    })
}
