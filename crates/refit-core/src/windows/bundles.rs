//! Files that must be converted together: those of an object and of the patches and selectors that mean it.
//!
//! In: clusters, repositories, what stands in each file. Out: [`Bundle`]s, each file in exactly one of them. Evaluates no
//! patch: whatever is built through a kustomization that means a kind and has the kind may be meant.

use std::collections::{BTreeMap, BTreeSet};

use refit_kustomize::reach;
use refit_manifest::Path;

use super::seen::{Kind, Seen};
use super::{Cluster, Situation};
use crate::applied::File;
use crate::overlays;

/// Files that are converted together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bundle {
    /// The repository.
    pub(super) repository: usize,
    /// The files.
    pub(super) files: BTreeSet<Path>,
    /// The indices of the clusters that apply any of them.
    pub(super) reached: BTreeSet<usize>,
    /// The indices of those that apply all that they apply of them in one go with their definitions.
    pub(super) together: BTreeSet<usize>,
}

/// Makes the bundles of all files in which something stands.
pub(super) fn make(situation: &Situation<'_>, seen: &BTreeMap<File, Seen>) -> Vec<Bundle> {
    let mut sets = Sets::default();
    for file in seen.keys() {
        sets.root(file);
    }
    let mut looked = BTreeSet::new();
    let applied = situation.clusters.iter().flat_map(|cluster| &cluster.reached.applied);
    for applied in applied {
        if looked.insert((applied.repository, &applied.directory)) {
            link(situation, seen, (applied.repository, &applied.directory), &mut sets);
        }
    }
    let mut bundles: BTreeMap<File, Bundle> = BTreeMap::new();
    for file in seen.keys() {
        let bundle = bundles.entry(sets.root(file)).or_default();
        bundle.repository = file.repository;
        bundle.files.insert(file.path.clone());
    }
    let mut bundles: Vec<Bundle> = bundles.into_values().collect();
    for bundle in &mut bundles {
        for (index, cluster) in situation.clusters.iter().enumerate() {
            bundle.note(index, cluster);
        }
    }
    bundles
}

impl Bundle {
    /// Lists the files with their repository.
    pub(super) fn files(&self) -> impl Iterator<Item = File> {
        self.files.iter().map(|path| File {
            repository: self.repository,
            path: path.clone(),
        })
    }

    fn note(&mut self, index: usize, cluster: &Cluster) {
        let own: Vec<File> = self
            .files()
            .filter(|file| cluster.reached.files.contains(file))
            .collect();
        if own.is_empty() {
            return;
        }
        self.reached.insert(index);
        if own.iter().all(|file| cluster.reached.together.contains(file)) {
            self.together.insert(index);
        }
    }
}

/// Links each kustomization and patch file of a directory with the files of the objects that it can mean.
fn link(situation: &Situation<'_>, seen: &BTreeMap<File, Seen>, directory: (usize, &str), sets: &mut Sets) {
    let (repository, directory) = directory;
    let tree = situation.repositories[repository].tree;
    let file = |path: &Path| File {
        repository,
        path: path.clone(),
    };
    let set = reach::of(tree, directory);
    for kustomization in &set.kustomizations {
        let patches = overlays::read(tree, std::slice::from_ref(kustomization)).patches;
        let files: BTreeSet<&Path> = patches.iter().filter_map(|patch| patch.file.as_ref()).collect();
        let meant = |path: &Path| seen.get(&file(path)).map(|seen| seen.meant.clone()).unwrap_or_default();
        let meaning = files.into_iter().chain([kustomization]).map(|path| (path, meant(path)));
        let meaning: Vec<(&Path, BTreeSet<Kind>)> = meaning.filter(|(_, meant)| !meant.is_empty()).collect();
        if meaning.is_empty() {
            continue;
        }
        for resource in &set.resources {
            let Some(held) = seen.get(&file(resource)) else {
                continue;
            };
            let mut meaning = meaning
                .iter()
                .filter(|(_, meant)| !meant.is_disjoint(&held.objects))
                .peekable();
            if meaning.peek().is_some() && set.chain(resource).contains(kustomization) {
                for (path, _) in meaning {
                    sets.join(&file(path), &file(resource));
                }
            }
        }
    }
}

/// Disjoint sets of files.
#[derive(Default)]
struct Sets(BTreeMap<File, File>);

impl Sets {
    fn root(&mut self, file: &File) -> File {
        let mut at = file.clone();
        loop {
            let above = self.0.entry(at.clone()).or_insert_with(|| at.clone()).clone();
            if above == at {
                return at;
            }
            at = above;
        }
    }

    fn join(&mut self, one: &File, other: &File) {
        let (one, other) = (self.root(one), self.root(other));
        self.0.insert(one.clone().max(other.clone()), one.min(other));
    }
}
