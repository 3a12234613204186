//! What a request takes out of the Kustomizations of Flux of its clusters.
//!
//! In: what a plan is made from, the files that it writes and removes. Out: [`Pruned`]. Evaluates nothing where each file
//! that is written keeps its objects and no patch deletes any: then nothing can leave.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use memchr::memmem::Finder;
use refit_kustomize::reach;
use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Identity, Path, Stream, Tree};

use super::{Given, Write};
use crate::applied::{self, Applied, Repository};
use crate::finding::{Code, Finding};
use crate::overlays;
use crate::patches::with_files;
use crate::pruning::{self, Moving, Pruning, Side};
use crate::roots::Root;
use crate::snapshot;
use crate::stage::Place;
use crate::streams::Streams;

/// What leaves and moves.
#[derive(Default)]
pub(super) struct Pruned {
    /// What is removed from a cluster, one line each.
    pub(super) lines: Vec<String>,
    /// What moves to another Kustomization.
    pub(super) moves: Vec<Moving>,
    /// What blocks, or what a person should know.
    pub(super) findings: Vec<Finding>,
}

/// Compares what the clusters build before and after a request.
pub(super) fn look(given: &Given<'_>, writes: &[Write], removes: &[Path]) -> Pruned {
    let mut pruned = Pruned::default();
    let tree = &given.snapshot.tree;
    let written = writes.iter().filter(|write| !snapshot::is_record(&write.path));
    let written = written.map(|write| (write.path.clone(), Some(Arc::clone(&write.bytes))));
    let gone = removes.iter().map(|path| (path.clone(), None));
    let changed: BTreeMap<Path, Option<Arc<[u8]>>> = written.chain(gone).collect();
    if !deletes(tree) && changed.iter().all(|(path, bytes)| keeps(tree, path, bytes.as_ref())) {
        return pruned;
    }
    let before = Tree::clone(&given.snapshot.whole());
    let after = with_files(&before, &changed);
    let streams = [Streams::split(tree), Streams::split(&with_files(tree, &changed))];
    let paths: BTreeSet<&Path> = changed.keys().collect();
    for cluster in given.group.clusters() {
        let root = Root {
            build: reach::of(&after, &cluster.root.directory),
            ..cluster.root.clone()
        };
        let old = applies((given, &before, &streams[0]), &cluster.root);
        let new = applies((given, &after, &streams[1]), &root);
        let touched = touched(&paths, (&before, &old), (&after, &new));
        let of = |list: &[Applied]| -> Vec<Applied> {
            let own = list.iter().filter(|applied| touched.contains(&applied.name));
            own.cloned().collect()
        };
        let mut pruning = compared((&before, &of(&old)), (&after, &of(&new)));
        if !pruning.leaves.is_empty() {
            // What leaves one Kustomization can be in another one that is as it was.
            let findings = std::mem::take(&mut pruning.findings);
            pruning = compared((&before, &old), (&after, &new));
            let is_new = |finding: &Finding| finding.code != Code::PruningUnknown || findings.contains(finding);
            pruning.findings.retain(is_new);
        }
        pruned.take(pruning, given.undone.is_some().then_some(&given.to.to_string()));
    }
    pruned
}

impl Pruned {
    /// Gives the place of a request with what it prunes.
    pub(super) fn place(&self, place: &Place) -> Place {
        Place {
            pruned: self.lines.clone(),
            ..place.clone()
        }
    }

    fn take(&mut self, pruning: Pruning, back: Option<&String>) {
        let mut findings = pruning.findings.clone();
        if let Some(to) = back {
            // Going back is one request: what it moves is marked by hand, or stays where it is.
            findings.extend(pruning.unmarked().map(|moving| {
                let message = format!("going back to {to} moves it: {moving}, and it is not marked first");
                Finding::new(Code::MoveNotMarked, moving.object.to_string(), message)
            }));
        }
        for finding in findings {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
        for line in pruning.pruned().map(ToString::to_string) {
            if !self.lines.contains(&line) {
                self.lines.push(line);
            }
        }
        self.moves.extend(pruning.moves);
    }
}

fn compared(before: (&Tree, &[Applied]), after: (&Tree, &[Applied])) -> Pruning {
    let side = |trees, applied| Side { trees, applied };
    pruning::compare(side(&[before.0], before.1), side(&[after.0], after.1))
}

fn applies((given, tree, streams): (&Given<'_>, &Tree, &Streams), root: &Root) -> Vec<Applied> {
    let name = &given.snapshot.repository;
    let repositories = [Repository {
        name,
        urls: std::slice::from_ref(name),
        tree,
        streams,
    }];
    applied::find(&repositories, 0, root).applied
}

/// Names the Kustomizations that are built from a file that changes, or are themselves other ones than before.
fn touched(
    changed: &BTreeSet<&Path>,
    (before, old): (&Tree, &[Applied]),
    (after, new): (&Tree, &[Applied]),
) -> BTreeSet<String> {
    let is_built_from = |tree: &Tree, applied: &Applied| {
        let set = reach::of(tree, &applied.directory);
        let patches = overlays::read(tree, &set.kustomizations).patches;
        let shaping = patches.iter().filter_map(|patch| patch.file.as_ref());
        let mut all = set.resources.iter().chain(&set.kustomizations).chain(shaping);
        all.any(|path| changed.contains(path))
    };
    let other = |applied: &&Applied, list: &[Applied]| !list.contains(applied);
    let left = old
        .iter()
        .filter(|applied| other(applied, new) || is_built_from(before, applied));
    let right = new
        .iter()
        .filter(|applied| other(applied, old) || is_built_from(after, applied));
    left.chain(right).map(|applied| applied.name.clone()).collect()
}

/// Tells whether a patch may delete objects: which ones it finds also depends on what is written in them.
fn deletes(tree: &Tree) -> bool {
    let directive = Finder::new("$patch");
    let mut files = tree.paths().filter(|path| path.is_yaml() || path.is_json());
    files.any(|path| tree.bytes(path).is_some_and(|bytes| directive.find(bytes).is_some()))
}

/// Tells whether nothing can leave by what a file becomes: it has all the objects that it had, and its Kustomizations of
/// Flux build the same directories into the same place.
fn keeps(tree: &Tree, path: &Path, bytes: Option<&Arc<[u8]>>) -> bool {
    let Some(before) = tree.bytes(path) else {
        return bytes.is_none() || !reach::is_kustomization(path);
    };
    let Some(bytes) = bytes else { return false };
    if before == bytes {
        return true;
    }
    let split = |bytes: &Arc<[u8]>| Stream::split(Arc::clone(bytes)).ok();
    let (false, Some(before), Some(after)) = (reach::is_kustomization(path), split(before), split(bytes)) else {
        return false;
    };
    objects(&before).is_subset(&objects(&after))
}

/// Lists the objects of a file; of Kustomizations of Flux also what they build.
fn objects(stream: &Stream) -> BTreeSet<(&Identity, Option<Vec<String>>)> {
    let said = |document: &Document| {
        document
            .head()
            .api_version
            .starts_with("kustomize.toolkit.fluxcd.io/")
            .then(|| builds(document))
    };
    let objects = stream.objects();
    objects.map(|(identity, document)| (identity, said(document))).collect()
}

fn builds(document: &Document) -> Vec<String> {
    const FIELDS: [&[&str]; 6] = [
        &["path"],
        &["prune"],
        &["targetNamespace"],
        &["sourceRef", "kind"],
        &["sourceRef", "namespace"],
        &["sourceRef", "name"],
    ];
    let spec = document.root().and_then(|root| root.get("spec"));
    let text = |path: &[&str]| spec?.at(path).and_then(NodeRef::text).map(ToOwned::to_owned);
    FIELDS.map(|path| text(path).unwrap_or_default()).into()
}
