//! What brings a plane in order whose definitions are not those of the release in Git, before its next upgrade.
//!
//! In: what the cluster says, the release in Git, what is known of releases. Out: a [`Repair`]: what is wrong, the steps
//! that mend it in their order, and where the normal route begins afterwards. Carries nothing out.
//!
//! One law (facts/flux.md section 4, rows 3 and 4): a definition is never replaced by an older one. So where the cluster is
//! newer than Git, Git goes forward.

mod explain;

use std::collections::{BTreeMap, BTreeSet};

use crate::evidence::{Evidence, Held};
use crate::release::Version;
use crate::route::{self, Known, Matrix, Stale, Start, Stored, Versions};

/// A plane and what its cluster says.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// What the cluster says.
    pub evidence: &'a Evidence,
    /// The release in Git.
    pub git: &'a Version,
    /// The components of the plane.
    pub components: &'a BTreeSet<String>,
    /// The releases that can be had.
    pub available: &'a [Version],
    /// Namespace and name of the Kustomization that applies the plane.
    pub kustomization: (&'a str, &'a str),
}

/// What is wrong with a plane, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What is wrong; empty for a plane in order.
    pub faults: Vec<Fault>,
    /// What to do, in this order; each step can be done again. None where no release that can be had leads out.
    pub steps: Vec<Step>,
    /// Where the normal route begins afterwards; without faults, where it begins now.
    pub start: Start,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The cluster's definition is that of a newer release than Git has.
    Newer {
        /// The CRD.
        crd: String,
        /// The oldest release with such a definition, or the one that its label names.
        release: Version,
    },
    /// The cluster's definition is that of an older release than Git has.
    Older {
        /// The CRD.
        crd: String,
        /// The newest release with such a definition, or the one that its label names.
        release: Version,
    },
    /// The cluster's definition is that of no release.
    Unlike {
        /// The CRD.
        crd: String,
        /// Its versions.
        versions: Vec<String>,
    },
    /// The cluster has no such definition, or is deleting it.
    Missing {
        /// The CRD.
        crd: String,
    },
    /// Objects are stored in versions that the definition in Git lacks, so the API server refuses it.
    Stale {
        /// The CRD.
        crd: String,
        /// The versions.
        versions: Vec<String>,
    },
}

/// One step of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What it is.
    pub action: Action,
    /// What it is, one sentence.
    pub what: String,
    /// The lines that a person runs; none where a change request does it.
    pub commands: Vec<String>,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Keeps Flux from applying what is in Git.
    Suspend,
    /// Migrates stored objects.
    Migrate(Vec<Stale>),
    /// Applies these definitions of a release, and nothing else of it.
    Define {
        /// The release.
        release: Version,
        /// The CRDs.
        crds: BTreeSet<String>,
    },
    /// Brings Git to a release, by a change request.
    Land(Version),
    /// Lets Flux apply what is in Git.
    Reconcile,
}

/// Looks for what is wrong and finds what mends it; `None` where nothing is known of the release in Git. Where no release
/// can be had to which all definitions could go, faults are told without steps.
pub fn repair(case: &Case<'_>, known: &Known<'_>) -> Option<Repair> {
    let git = known.of(case.git)?;
    let cluster = route::of_cluster(case.evidence, known.catalog());
    let look = Look {
        case,
        known,
        cluster,
        git,
    };
    let places = look.places();
    let faults = look.faults(&places);
    if faults.is_empty() {
        return Some(Repair {
            faults,
            steps: Vec::new(),
            start: look.start(case.git, &BTreeMap::new()),
        });
    }
    let landing = look.landings(&faults).into_iter().find_map(|to| {
        let ways = look.ways(&places, &to)?;
        Some((to, ways))
    });
    let Some((to, ways)) = landing else {
        return Some(Repair {
            faults,
            steps: Vec::new(),
            start: look.start(case.git, &BTreeMap::new()),
        });
    };
    let steps = look.steps(&faults, &to, &ways);
    let start = look.start(&to, &ways);
    Some(Repair { faults, steps, start })
}

/// Where the definition of a cluster comes from.
enum Place {
    Git,
    Newer(Version),
    Older(Version),
    Unlike,
    Missing,
}

/// What is done on the way to one release: what must be migrated before its definitions come, and which come.
#[derive(Default)]
struct Way {
    gate: Vec<Stale>,
    crds: BTreeSet<String>,
}

struct Look<'a> {
    case: &'a Case<'a>,
    known: &'a Known<'a>,
    cluster: Matrix,
    git: Matrix,
}

impl Look<'_> {
    /// Tells for each definition that counts where the cluster's comes from.
    fn places(&self) -> BTreeMap<&String, Place> {
        let counted = |versions: &Versions| {
            let component = versions.component.as_ref();
            component.is_none_or(|component| self.case.components.contains(component))
        };
        // What the cluster has of newer releases counts as well, when Git knows nothing of it yet.
        let all = self
            .git
            .iter()
            .chain(self.cluster.iter().filter(|(crd, _)| !self.git.contains_key(*crd)));
        let of_plane = all.filter(|(_, versions)| counted(versions));
        of_plane.map(|(crd, _)| (crd, self.place(crd))).collect()
    }

    fn place(&self, crd: &str) -> Place {
        let held = self.case.evidence.definitions.get(crd);
        let (Some(found), Some(held)) = (self.cluster.get(crd), held.filter(|held| !held.deleting)) else {
            return Place::Missing;
        };
        let is_like = |release: &&Version| {
            let versions = self.known.versions(crd, release);
            versions.is_some_and(|versions| same(&versions, found))
        };
        let git = self.case.git;
        if is_like(&git) {
            return Place::Git;
        }
        let label = label(held).filter(|label| is_like(&label));
        let newer = || self.known.releases().filter(|release| *release > git).find(is_like);
        let older = || self.known.releases().filter(|release| *release < git).rfind(is_like);
        match label {
            Some(label) if label > *git => Place::Newer(label),
            Some(label) => Place::Older(label),
            None => match (newer(), older()) {
                (Some(release), _) => Place::Newer(release.clone()),
                (None, Some(release)) => Place::Older(release.clone()),
                (None, None) => Place::Unlike,
            },
        }
    }

    fn faults(&self, places: &BTreeMap<&String, Place>) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (crd, place) in places {
            let crd = (*crd).clone();
            faults.extend(match place {
                Place::Git => None,
                Place::Newer(release) => Some(Fault::Newer {
                    crd: crd.clone(),
                    release: release.clone(),
                }),
                Place::Older(release) => Some(Fault::Older {
                    crd: crd.clone(),
                    release: release.clone(),
                }),
                Place::Unlike => Some(Fault::Unlike {
                    versions: self
                        .cluster
                        .get(&crd)
                        .map(|found| found.all.clone())
                        .unwrap_or_default(),
                    crd: crd.clone(),
                }),
                Place::Missing => Some(Fault::Missing { crd: crd.clone() }),
            });
            let lacking = self.lacking(&crd);
            if matches!(place, Place::Older(_) | Place::Unlike) && !lacking.is_empty() {
                faults.push(Fault::Stale { crd, versions: lacking });
            }
        }
        faults
    }

    /// Lists the stored versions that the definition in Git lacks.
    fn lacking(&self, crd: &str) -> Vec<String> {
        let (Some(git), Some(held)) = (self.git.get(crd), self.case.evidence.definitions.get(crd)) else {
            return Vec::new();
        };
        let lacks = |version: &&String| !git.all.contains(*version);
        held.stored.iter().filter(lacks).cloned().collect()
    }

    /// Lists the releases that Git may go to, the best first: the one that it has, unless the cluster is newer.
    fn landings(&self, faults: &[Fault]) -> Vec<Version> {
        let newest = faults.iter().filter_map(|fault| match fault {
            Fault::Newer { release, .. } => Some(release),
            _ => None,
        });
        let Some(newest) = newest.max() else {
            return vec![self.case.git.clone()];
        };
        let known = |version: &&Version| self.known.of(version).is_some();
        let later = self
            .case
            .available
            .iter()
            .filter(|version| *version >= newest && version.is_stable());
        let mut of_minor = BTreeMap::new();
        for version in later.filter(known) {
            let best = of_minor.entry(version.series()).or_insert(version);
            *best = (*best).max(version);
        }
        of_minor.into_values().cloned().collect()
    }

    /// Finds for each definition the way from what it is to a release, and gathers them by the releases that they touch.
    fn ways(&self, places: &BTreeMap<&String, Place>, to: &Version) -> Option<BTreeMap<Version, Way>> {
        let mut ways: BTreeMap<Version, Way> = BTreeMap::new();
        for (crd, place) in places {
            let from = match place {
                Place::Missing => continue,
                Place::Git => self.case.git.clone(),
                Place::Newer(release) | Place::Older(release) => release.clone(),
                Place::Unlike => Version::new(0, 0, 0),
            };
            let Some(found) = self.cluster.get(*crd).filter(|_| from < *to) else {
                continue;
            };
            let start = Start {
                from,
                installed: Matrix::from([((*crd).clone(), found.clone())]),
                managed: self.case.evidence.managed.clone(),
                stored: Stored::seen(self.case.evidence),
                components: self.case.components.clone(),
                kubernetes: None,
            };
            let route = route::find_of(crd, &start, to, self.case.available, self.known).ok()?;
            for hop in route.hops {
                let way = ways.entry(hop.to).or_default();
                way.gate.extend(hop.gate);
                way.crds.insert((*crd).clone());
            }
        }
        Some(ways)
    }

    fn steps(&self, faults: &[Fault], to: &Version, ways: &BTreeMap<Version, Way>) -> Vec<Step> {
        let mut actions = Vec::new();
        if faults.iter().any(|fault| matches!(fault, Fault::Newer { .. })) {
            actions.push(Action::Suspend);
        }
        for (release, way) in ways {
            if !way.gate.is_empty() {
                actions.push(Action::Migrate(way.gate.clone()));
            }
            if release != to {
                actions.push(Action::Define {
                    release: release.clone(),
                    crds: way.crds.clone(),
                });
            }
        }
        let missing = faults.iter().filter_map(|fault| match fault {
            Fault::Missing { crd } => Some(crd.clone()),
            _ => None,
        });
        let missing: BTreeSet<String> = missing.collect();
        if !missing.is_empty() {
            actions.push(Action::Define {
                release: to.clone(),
                crds: missing,
            });
        }
        if to != self.case.git {
            actions.push(Action::Land(to.clone()));
        }
        actions.push(Action::Reconcile);
        actions
            .into_iter()
            .map(|action| explain::step(action, self.case))
            .collect()
    }

    /// Gives where the normal route begins once the plane is at a release, after these ways.
    fn start(&self, at: &Version, ways: &BTreeMap<Version, Way>) -> Start {
        let mut stored = Stored::seen(self.case.evidence);
        for (release, way) in ways {
            for stale in &way.gate {
                stored
                    .versions
                    .insert(stale.crd.clone(), BTreeSet::from([stale.storage.clone()]));
            }
            for crd in &way.crds {
                let storage = self.known.versions(crd, release).map(|versions| versions.storage);
                stored.versions.entry(crd.clone()).or_default().extend(storage);
            }
        }
        let installed = self.known.of(at).unwrap_or_default();
        for (crd, versions) in &installed {
            let of_crd = stored.versions.entry(crd.clone()).or_default();
            of_crd.insert(versions.storage.clone());
        }
        Start {
            from: at.clone(),
            installed,
            stored,
            managed: self.case.evidence.managed.clone(),
            components: self.case.components.clone(),
            kubernetes: self.case.evidence.kubernetes.clone(),
        }
    }
}

/// Tells whether two definitions have the same versions and store in the same one.
fn same(a: &Versions, b: &Versions) -> bool {
    let set = |versions: &Versions| versions.all.iter().cloned().collect::<BTreeSet<String>>();
    a.storage == b.storage && set(a) == set(b)
}

fn label(held: &Held) -> Option<Version> {
    Version::parse(held.version_label.as_deref()?).ok()
}
