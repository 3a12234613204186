//! By which releases an upgrade must go so that the API server refuses no definition on the way.
//!
//! In: where a plane stands (release, stored versions, components, Kubernetes), the wanted release, which releases there
//! are and what is known of their definitions. Out: a [`Route`] of as few hops as can be, or why there is none.
//!
//! The rule (facts/flux.md 2.5, 2.6): a definition is refused when a version of its `status.storedVersions` has left
//! `spec.versions`, even with no object. Objects can be migrated to the storage version that is installed, so a hop is
//! possible when that one is still in `spec.versions` of the next release; older stored versions stand in its gate.

mod explain;
mod known;
mod stored;
mod ways;

use std::collections::{BTreeMap, BTreeSet};

pub use known::{Known, Matrix, Versions, of_cluster};
pub use stored::{Migration, Source, Stored, still_stale};

use crate::catalog::Catalog;
use crate::check::Definitions;
use crate::release::{Series, Version};

/// Where an upgrade starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// The installed release.
    pub from: Version,
    /// The definitions that are installed, of all components.
    pub installed: Matrix,
    /// In which versions objects may be stored.
    pub stored: Stored,
    /// The versions that stand in managed fields, by CRD; a CRD that is not listed may have any that it has.
    pub managed: BTreeMap<String, BTreeSet<String>>,
    /// The components of the plane; a definition of another one does not count.
    pub components: BTreeSet<String>,
    /// The version of Kubernetes, where it is known.
    pub kubernetes: Option<Version>,
}

/// The way from one release to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// Where it begins.
    pub from: Version,
    /// Where it ends.
    pub to: Version,
    /// The hops; none where begin and end are one.
    pub hops: Vec<Hop>,
    /// How the stored versions are known.
    pub source: Source,
}

/// One upgrade of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hop {
    /// The release before.
    pub from: Version,
    /// The release after.
    pub to: Version,
    /// Why one does not go from here to the end at once; empty for the last hop.
    pub refused_directly_by: Vec<Refusal>,
    /// What must be migrated before the hop; empty where nothing leaves.
    pub gate: Vec<Stale>,
    /// What Kubernetes must be.
    pub floor: Floor,
    /// Why the route goes this way, one sentence.
    pub why: String,
}

/// A definition that the API server would refuse.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Refusal {
    /// The first release whose definition lacks the version.
    pub release: Version,
    /// The CRD.
    pub crd: String,
    /// Its kind.
    pub kind: String,
    /// The stored version.
    pub version: String,
}

/// A version that a hop takes away and that is still in use.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stale {
    /// The CRD.
    pub crd: String,
    /// Its kind.
    pub kind: String,
    /// The version.
    pub version: String,
    /// How it is in use.
    pub used: Used,
    /// The version to migrate to: the storage version that is installed before the hop.
    pub storage: String,
}

/// How a version may be in use although no file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Used {
    /// It stands in `status.storedVersions`: the API server refuses the definition.
    Stored,
    /// It was served until now, so it may stand in managed fields: applying such an object fails afterwards.
    Managed,
}

/// What a release asks of Kubernetes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Floor {
    /// Nothing that is known.
    None,
    /// The cluster has it.
    Met {
        /// What is needed.
        needed: Version,
        /// What the cluster has.
        found: Version,
    },
    /// Nothing is known of the cluster.
    Unknown {
        /// What is needed.
        needed: Version,
        /// What the release before needed.
        before: Option<Version>,
    },
    /// The cluster is too old.
    TooOld {
        /// What is needed.
        needed: Version,
        /// What the cluster has.
        found: Version,
    },
}

/// Why there is no route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoRoute {
    /// The wanted release is older than the installed one.
    Downgrade {
        /// The installed release.
        from: Version,
        /// The wanted release.
        to: Version,
        /// The stored versions that it lacks.
        lost: Vec<Stale>,
    },
    /// The definitions of a release are not known.
    Unknown(Version),
    /// No release that can be had lies between.
    Refused {
        /// The installed release.
        from: Version,
        /// The wanted release.
        to: Version,
        /// What the nearest releases refuse.
        by: Vec<Refusal>,
    },
}

impl Start {
    /// Begins at a release with the definitions that are known of it.
    pub fn at(from: &Version, stored: Stored, components: BTreeSet<String>, known: &Known<'_>) -> Self {
        Self {
            from: from.clone(),
            installed: known.of(from).unwrap_or_default(),
            stored,
            managed: BTreeMap::new(),
            components,
            kubernetes: None,
        }
    }

    /// Begins with the definitions that stand in Git, which can be others than those of the release: their storage versions
    /// may be in use.
    #[must_use]
    pub fn holding(mut self, definitions: &Definitions, catalog: &Catalog) -> Self {
        for (crd, versions) in known::matrix(definitions, catalog) {
            let stored = self.stored.versions.entry(crd.clone()).or_default();
            stored.insert(versions.storage.clone());
            self.installed.insert(crd, versions);
        }
        self
    }

    /// Begins on a cluster of this Kubernetes version.
    #[must_use]
    pub fn on(self, kubernetes: Option<Version>) -> Self {
        Self { kubernetes, ..self }
    }
}

/// Finds the route of the fewest hops; of several, the one whose hops go farthest first. Each hop ends on the newest stable
/// patch of its minor that is available, the last one on the wanted release.
pub fn find(start: &Start, to: &Version, available: &[Version], known: &Known<'_>) -> Result<Route, NoRoute> {
    search(&mut Search::new(start, known), to, available)
}

/// Finds the same route and, after it, others that lead to the same release: as few hops first, then one more, a few in all.
/// Which of them takes the fewest requests, only the files say.
pub fn alternatives(
    start: &Start,
    to: &Version,
    available: &[Version],
    known: &Known<'_>,
) -> Result<Vec<Route>, NoRoute> {
    let mut all = Search::new(start, known);
    let first = search(&mut all, to, available)?;
    if first.hops.len() < 2 {
        return Ok(vec![first]);
    }
    let others = all.ways().into_iter().skip(1);
    let others: Vec<Route> = others.map(|way| all.route((&way, Goes::Around), to)).collect();
    Ok(std::iter::once(first).chain(others).collect())
}

/// Finds the route of one definition, whatever the others of the releases are.
pub(crate) fn find_of(
    crd: &str,
    start: &Start,
    to: &Version,
    available: &[Version],
    known: &Known<'_>,
) -> Result<Route, NoRoute> {
    let mut one = Search::new(start, known);
    one.only = Some(crd);
    search(&mut one, to, available)
}

fn search(search: &mut Search<'_>, to: &Version, available: &[Version]) -> Result<Route, NoRoute> {
    let Search { start, known, .. } = *search;
    let target = known.of(to).ok_or_else(|| NoRoute::Unknown(to.clone()))?;
    if *to < start.from {
        let lost = stored::lost(start, &target);
        return Err(NoRoute::Downgrade {
            from: start.from.clone(),
            to: to.clone(),
            lost,
        });
    }
    search.add_landings(to, available);
    search.add(to, target);
    let way = match *to == start.from {
        true => Some(Vec::new()),
        false => search.shortest(),
    };
    let releases = way.ok_or_else(|| NoRoute::Refused {
        from: start.from.clone(),
        to: to.clone(),
        by: search.refusals(0, search.nodes.len() - 1),
    })?;
    Ok(search.route((&releases, Goes::Farthest), to))
}

/// What an upgrade without a version may do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chosen {
    /// The route to the newest release that can be reached.
    pub route: Option<Route>,
    /// The newer releases that cannot, with the reason.
    pub skipped: Vec<(Version, String)>,
}

/// Chooses the first of some targets that can be reached on the cluster's Kubernetes.
pub fn choose(start: &Start, targets: &[Version], available: &[Version], known: &Known<'_>) -> Chosen {
    let mut skipped = Vec::new();
    for to in targets {
        match find(start, to, available, known) {
            Ok(route) => match route.too_old() {
                None => {
                    let route = Some(route);
                    return Chosen { route, skipped };
                }
                Some(reason) => skipped.push((to.clone(), reason)),
            },
            Err(reason) => skipped.push((to.clone(), reason.to_string())),
        }
    }
    Chosen { route: None, skipped }
}

/// One release that a route can touch.
struct Node {
    release: Version,
    matrix: Matrix,
}

/// How a way is among those that lead to the same release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goes {
    /// Of those with the fewest hops it goes farthest first.
    Farthest,
    /// It is another one, taken for what the files need.
    Around,
}

struct Search<'a> {
    start: &'a Start,
    known: &'a Known<'a>,
    nodes: Vec<Node>,
    /// The only definition that counts, where one is looked at.
    only: Option<&'a str>,
}

impl<'a> Search<'a> {
    fn new(start: &'a Start, known: &'a Known<'a>) -> Self {
        let first = Node {
            release: start.from.clone(),
            matrix: start.installed.clone(),
        };
        Self {
            start,
            known,
            nodes: vec![first],
            only: None,
        }
    }

    /// Adds the newest stable patch of each minor between start and end, in order.
    fn add_landings(&mut self, to: &Version, available: &[Version]) {
        let mut landings: BTreeMap<Series, &Version> = BTreeMap::new();
        let inside = |version: &&Version| **version > self.start.from && **version < *to && version.is_stable();
        for version in available.iter().filter(inside) {
            if version.series() != to.series() {
                let best = landings.entry(version.series()).or_insert(version);
                *best = (*best).max(version);
            }
        }
        for version in landings.into_values() {
            if let Some(matrix) = self.known.of(version) {
                self.add(version, matrix);
            }
        }
    }

    fn add(&mut self, version: &Version, matrix: Matrix) {
        let release = version.clone();
        self.nodes.push(Node { release, matrix });
    }

    /// Lists the CRDs that count, with what they are at two releases; one that the later release lacks stays as it is.
    fn pairs(&self, from: usize, to: usize) -> impl Iterator<Item = (&String, &Versions, &Versions)> {
        let later = &self.nodes[to].matrix;
        let components = &self.start.components;
        let counted = move |versions: &Versions| {
            let component = versions.component.as_ref();
            component.is_none_or(|component| components.contains(component))
        };
        let is_meant = |(crd, _): &(&String, &Versions)| self.only.is_none_or(|only| *crd == only);
        let earlier = self.nodes[from].matrix.iter().filter(is_meant);
        earlier.filter_map(move |(crd, before)| {
            let after = later.get(crd)?;
            counted(after).then_some((crd, before, after))
        })
    }

    fn passes(&self, from: usize, to: usize) -> bool {
        self.pairs(from, to)
            .all(|(_, before, after)| after.all.contains(&before.storage))
    }

    /// Lists what refuses the step between two nodes, with the first release that does.
    fn refusals(&self, from: usize, to: usize) -> Vec<Refusal> {
        let refused = self
            .pairs(from, to)
            .filter(|(_, before, after)| !after.all.contains(&before.storage));
        let refusal = |(crd, before, _): (&String, &Versions, &Versions)| Refusal {
            release: self.first_without(crd, &before.storage, (from, to)),
            crd: crd.clone(),
            kind: before.kind.clone(),
            version: before.storage.clone(),
        };
        let mut refusals: Vec<Refusal> = refused.map(refusal).collect();
        refusals.sort();
        refusals
    }

    /// Gives the first release between two nodes whose definition lacks a version that the first one has, at the latest the
    /// second.
    fn first_without(&self, crd: &str, version: &str, (from, to): (usize, usize)) -> Version {
        let (start, end) = (&self.nodes[from].release, &self.nodes[to].release);
        let lacks = |release: &&Version| {
            let versions = self.known.versions(crd, release);
            versions.is_some_and(|versions| !versions.all.iter().any(|name| name == version))
        };
        let between = self.known.releases();
        let mut between = between.filter(|release| *release > start && *release <= end);
        between.find(lacks).unwrap_or(end).clone()
    }

    fn route(&self, way: (&[usize], Goes), to: &Version) -> Route {
        Route {
            from: self.start.from.clone(),
            to: to.clone(),
            hops: self.hops(way),
            source: self.start.stored.source.clone(),
        }
    }

    fn hops(&self, (way, goes): (&[usize], Goes)) -> Vec<Hop> {
        let mut stored = self.start.stored.versions.clone();
        let mut managed = Some(&self.start.managed);
        let last = self.nodes.len() - 1;
        let mut from = 0;
        let mut hops = Vec::with_capacity(way.len());
        for &to in way {
            let gate = self.gate(from, to, &stored, managed.take());
            for stale in &gate {
                stored.insert(stale.crd.clone(), BTreeSet::from([stale.storage.clone()]));
            }
            for (crd, _, after) in self.pairs(from, to) {
                stored.entry(crd.clone()).or_default().insert(after.storage.clone());
            }
            let refused_directly_by = if to == last {
                Vec::new()
            } else {
                self.refusals(from, last)
            };
            let (before, after) = (&self.nodes[from].release, &self.nodes[to].release);
            hops.push(Hop {
                from: before.clone(),
                to: after.clone(),
                floor: self.floor(before, after),
                why: explain::why(after, &self.nodes[last].release, (&refused_directly_by, goes)),
                refused_directly_by,
                gate,
            });
            from = to;
        }
        hops
    }

    /// Lists the versions that a hop takes away and that may be in use.
    fn gate(
        &self,
        from: usize,
        to: usize,
        stored: &BTreeMap<String, BTreeSet<String>>,
        managed: Option<&BTreeMap<String, BTreeSet<String>>>,
    ) -> Vec<Stale> {
        let mut gate = Vec::new();
        for (crd, before, after) in self.pairs(from, to) {
            let stored = stored.get(crd);
            let seen = managed.and_then(|managed| managed.get(crd));
            let is_stored = |version: &&String| stored.is_some_and(|stored| stored.contains(*version));
            let is_managed = |version: &&String| seen.is_none_or(|seen| seen.contains(*version));
            let candidates: BTreeSet<&String> = stored.into_iter().flatten().chain(&before.all).collect();
            for version in candidates.into_iter().filter(|version| !after.all.contains(*version)) {
                let used = match (is_stored(&version), is_managed(&version)) {
                    (true, _) => Used::Stored,
                    (false, true) => Used::Managed,
                    (false, false) => continue,
                };
                gate.push(Stale {
                    crd: crd.clone(),
                    kind: before.kind.clone(),
                    version: version.clone(),
                    used,
                    storage: before.storage.clone(),
                });
            }
        }
        gate
    }

    fn floor(&self, from: &Version, to: &Version) -> Floor {
        let catalog = self.known.catalog();
        let Some(needed) = catalog.kubernetes_floor(to).cloned() else {
            return Floor::None;
        };
        match &self.start.kubernetes {
            Some(found) if *found < needed => Floor::TooOld {
                needed,
                found: found.clone(),
            },
            Some(found) => Floor::Met {
                needed,
                found: found.clone(),
            },
            None => Floor::Unknown {
                needed,
                before: catalog.kubernetes_floor(from).cloned(),
            },
        }
    }
}
