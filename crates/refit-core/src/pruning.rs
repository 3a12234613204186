//! What leaves a cluster when its files change: what is pruned, and what moves to another Kustomization of Flux.
//!
//! In: what is applied before and after, with the trees. Out: a [`Pruning`], and the edits that keep what moves. Knows no
//! cluster: it is compared what kustomize-controller builds, and pruned is what it prunes.

mod detach;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use refit_kustomize::{Object, Origin, State, build_as_flux};
use refit_manifest::{Identity, Tree};

use crate::applied::Applied;
use crate::finding::{Code, Finding};

pub use detach::{detach, keep, marked};

/// What holds an object in the cluster when it leaves its Kustomization (kustomize-controller, garbage collection).
const MARKS: [&str; 2] = [
    "kustomize.toolkit.fluxcd.io/prune",
    "kustomize.toolkit.fluxcd.io/reconcile",
];

/// One side of a change.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// The files of each repository.
    pub trees: &'a [&'a Tree],
    /// What one cluster applies.
    pub applied: &'a [Applied],
}

/// What a change takes out of Kustomizations of Flux.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruning {
    /// What is in no Kustomization any more.
    pub leaves: Vec<Leaving>,
    /// What is in another one.
    pub moves: Vec<Moving>,
    /// What blocks, or what a person should know.
    pub findings: Vec<Finding>,
}

/// An object that leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaving {
    /// The object.
    pub object: Identity,
    /// The Kustomization of Flux that applied it.
    pub from: String,
    /// Why it stays in the cluster; `None` where it is pruned.
    pub kept: Option<Kept>,
}

/// Why an object that leaves stays in the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It has a mark that says so.
    Marked,
    /// Its Kustomization prunes nothing.
    NoPruning,
}

/// An object that moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moving {
    /// The object.
    pub object: Identity,
    /// The Kustomization of Flux that applied it.
    pub from: String,
    /// The one that applies it afterwards.
    pub to: String,
    /// Where it is written before the change; `None` where it is generated.
    pub place: Option<Place>,
    /// What keeps it in the cluster while it moves; `None` where it must be marked first.
    pub kept: Option<Kept>,
}

/// Where an object is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of the repository.
    pub repository: usize,
    /// The document.
    pub document: refit_kustomize::Place,
}

impl Pruning {
    /// Lists what the cluster loses.
    pub fn pruned(&self) -> impl Iterator<Item = &Leaving> {
        self.leaves.iter().filter(|leaving| leaving.kept.is_none())
    }

    /// Lists what must be marked in a request of its own before it moves.
    pub fn unmarked(&self) -> impl Iterator<Item = &Moving> {
        self.moves.iter().filter(|moving| moving.kept.is_none())
    }
}

impl fmt::Display for Leaving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, from, kept } = self;
        match kept {
            None => write!(formatter, "`{object}` leaves `{from}` and is removed from the cluster"),
            Some(kept) => write!(formatter, "`{object}` leaves `{from}` and stays in the cluster: {kept}"),
        }
    }
}

impl fmt::Display for Moving {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { object, from, to, .. } = self;
        write!(formatter, "`{object}` moves from `{from}` to `{to}`")
    }
}

impl fmt::Display for Kept {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Marked => "it is marked so",
            Self::NoPruning => "`spec.prune` is off",
        })
    }
}

/// Compares what a cluster applies before and after a change.
pub fn compare(before: Side<'_>, after: Side<'_>) -> Pruning {
    let mut pruning = Pruning::default();
    let old = Inventory::take(before, &mut pruning.findings);
    let new = Inventory::take(after, &mut pruning.findings);
    for ((name, identity), held) in &old.objects {
        let stays = new.objects.contains_key(&(name.clone(), identity.clone()));
        if stays || new.is_unknown(name) {
            continue;
        }
        let kept = match after.applied.iter().find(|applied| applied.name == *name) {
            _ if held.marked => Some(Kept::Marked),
            Some(applied) if !applied.prune => Some(Kept::NoPruning),
            // A Kustomization that goes takes with it what it applied, as it was said before.
            None if !held.prune => Some(Kept::NoPruning),
            _ => None,
        };
        match new.owner(identity) {
            Some(to) => pruning.moves.push(Moving {
                object: identity.clone(),
                from: name.clone(),
                to: to.to_owned(),
                place: held.place.clone(),
                kept,
            }),
            None => pruning.leaves.push(Leaving {
                object: identity.clone(),
                from: name.clone(),
                kept,
            }),
        }
    }
    let mut findings: Vec<Finding> = pruning.pruned().map(lost).collect();
    pruning.findings.append(&mut findings);
    pruning.findings.dedup();
    pruning
}

fn lost(leaving: &Leaving) -> Finding {
    let code = match &*leaving.object.kind {
        "CustomResourceDefinition" => Code::DefinitionPruned,
        _ => Code::ObjectPruned,
    };
    Finding::new(code, leaving.object.to_string(), leaving.to_string())
}

/// An object that is applied.
struct Held {
    marked: bool,
    prune: bool,
    place: Option<Place>,
}

/// What is applied, by Kustomization of Flux.
#[derive(Default)]
struct Inventory {
    objects: BTreeMap<(String, Identity), Held>,
    /// The Kustomizations of which it cannot be told.
    unknown: BTreeSet<String>,
}

impl Inventory {
    fn take(side: Side<'_>, findings: &mut Vec<Finding>) -> Self {
        let mut inventory = Self::default();
        for applied in side.applied {
            let Some(tree) = side.trees.get(applied.repository) else {
                continue;
            };
            let built = build_as_flux(tree, &applied.directory);
            if let Some(why) = why_unknown(&built.state) {
                inventory.unknown.insert(applied.name.clone());
                let message = format!("what `{}` applies cannot be told: {why}", applied.name);
                findings.push(Finding::new(Code::PruningUnknown, applied.name.as_str(), message));
                continue;
            }
            for object in built.objects {
                let identity = identity(&object, applied);
                inventory
                    .objects
                    .insert((applied.name.clone(), identity), held(&object, applied));
            }
        }
        inventory
    }

    /// Tells whether nothing can be said about a Kustomization.
    fn is_unknown(&self, name: &str) -> bool {
        self.unknown.contains(name)
    }

    /// Gives the Kustomization that applies an object.
    fn owner(&self, identity: &Identity) -> Option<&str> {
        let mut all = self.objects.keys();
        all.find(|(_, other)| other == identity).map(|(name, _)| name.as_str())
    }
}

fn why_unknown(state: &State) -> Option<String> {
    match state {
        State::Evaluated => None,
        State::NotEvaluated(reasons) => Some(reasons.first().map(ToString::to_string).unwrap_or_default()),
        State::Failed(failures) => Some(failures.first().map(ToString::to_string).unwrap_or_default()),
    }
}

/// Gives what the object is called in the cluster.
fn identity(object: &Object, applied: &Applied) -> Identity {
    let mut identity = object.identity.clone();
    if let Some(namespace) = &applied.namespace
        && !identity.namespace.is_empty()
    {
        identity.namespace = namespace.as_str().into();
    }
    identity
}

fn held(object: &Object, applied: &Applied) -> Held {
    let marks = |list: &str| {
        let value = |mark: &&str| object.value.at(&["metadata", list, mark])?.as_str().map(str::to_owned);
        MARKS.iter().any(|mark| value(mark).as_deref() == Some("disabled"))
    };
    let place = match &object.origin {
        Origin::File(place) => Some(Place {
            repository: applied.repository,
            document: place.clone(),
        }),
        Origin::Generator(_) => None,
    };
    Held {
        marked: marks("annotations") || marks("labels"),
        prune: applied.prune,
        place,
    }
}

#[cfg(test)]
mod tests;
