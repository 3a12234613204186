//! In which API versions objects may be stored.

use std::collections::{BTreeMap, BTreeSet};

use super::{Known, Matrix, Stale, Start, Used};
use crate::evidence::Evidence;
use crate::release::Version;

/// How stored versions are known; each is surer than the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A cluster told them.
    Snapshot,
    /// The configuration tells the release that the plane began with (`installedSince`).
    Since(Version),
    /// The Git history tells the oldest release.
    History(Version),
    /// Nothing tells: all that the installed release serves.
    Assumed,
}

/// A migration of stored objects that took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Migration {
    /// The release that was installed.
    pub at: Version,
    /// The CRDs whose objects were migrated.
    pub crds: BTreeSet<String>,
}

/// The versions in which objects may be stored, by CRD.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The versions; the storage version of the installed release is one of them.
    pub versions: BTreeMap<String, BTreeSet<String>>,
    /// How they are known.
    pub source: Source,
}

impl Stored {
    /// Takes what a cluster says.
    pub fn seen(evidence: &Evidence) -> Self {
        let entry = |(crd, held): (&String, &crate::evidence::Held)| {
            let versions = held.stored.iter().cloned().chain(held.storage().map(ToOwned::to_owned));
            (crd.clone(), versions.collect())
        };
        Self {
            versions: evidence.definitions.iter().map(entry).collect(),
            source: Source::Snapshot,
        }
    }

    /// Concludes from the releases that the plane may have had: the storage version of each since `source`, or since the
    /// last migration. Without a source, or with one that is newer than the installed release, what that one serves.
    pub fn concluded(known: &Known<'_>, source: Source, from: &Version, migrations: &[Migration]) -> Self {
        let since = match &source {
            Source::Since(since) | Source::History(since) if since <= from => Some(since.clone()),
            _ => None,
        };
        let source = if since.is_some() { source } else { Source::Assumed };
        let installed = known.of(from).unwrap_or_default();
        let mut versions = BTreeMap::new();
        for (crd, at) in installed {
            let migrated = migrations.iter().filter(|migration| migration.at <= *from);
            let migrated = migrated.filter(|migration| migration.crds.contains(&crd));
            let since = migrated.map(|migration| migration.at.clone()).max().max(since.clone());
            let mut stored: BTreeSet<String> = match since {
                None => at.served.iter().cloned().collect(),
                Some(since) => storage_versions(known, &crd, &since, from),
            };
            stored.insert(at.storage);
            versions.insert(crd, stored);
        }
        Self { versions, source }
    }
}

/// Lists the storage versions of a CRD at all releases from one to another.
fn storage_versions(known: &Known<'_>, crd: &str, since: &Version, until: &Version) -> BTreeSet<String> {
    let between = known
        .releases()
        .filter(|release| *release >= since && *release <= until);
    between
        .filter_map(|release| known.versions(crd, release))
        .map(|versions| versions.storage)
        .collect()
}

/// Lists what of a gate a cluster has not migrated yet; none: the gate is open.
///
/// What managed fields hold is known only of kinds that the snapshot lists: one that it does not list is not migrated.
pub fn still_stale(gate: &[Stale], evidence: &Evidence) -> Vec<Stale> {
    let is_left = |stale: &&Stale| match stale.used {
        Used::Stored => {
            let held = evidence.definitions.get(&stale.crd);
            held.is_some_and(|held| held.stored.contains(&stale.version))
        }
        Used::Managed => {
            let seen = evidence.managed.get(&stale.crd);
            seen.is_none_or(|seen| seen.contains(&stale.version)) && evidence.definitions.contains_key(&stale.crd)
        }
    };
    gate.iter().filter(is_left).cloned().collect()
}

/// Lists the stored versions of the installed release that an older one lacks.
pub(super) fn lost(start: &Start, target: &Matrix) -> Vec<Stale> {
    let mut lost = Vec::new();
    for (crd, installed) in &start.installed {
        let of_plane = |component: &String| start.components.contains(component);
        if !installed.component.as_ref().is_none_or(of_plane) {
            continue;
        }
        // A definition that the older release does not have stays as it is.
        let Some(has) = target.get(crd).map(|versions| versions.all.as_slice()) else {
            continue;
        };
        let mut stored = start.stored.versions.get(crd).cloned().unwrap_or_default();
        stored.insert(installed.storage.clone());
        let gone = stored.into_iter().filter(|version| !has.contains(version));
        lost.extend(gone.map(|version| Stale {
            crd: crd.clone(),
            kind: installed.kind.clone(),
            version,
            used: Used::Stored,
            storage: installed.storage.clone(),
        }));
    }
    lost
}
