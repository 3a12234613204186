//! Verifies the patches of the clusters of a plan.
//!
//! In: what a plan is made from, and the files that it writes. Out: decisions and findings about patches, and the files
//! that answers change. Evaluates each cluster whose generated files a kustomization names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::build_as_flux;
use refit_manifest::{Decision, Entry, Path, Tree};

use super::{Given, Write};
use crate::finding::{Code, Finding};
use crate::inventory::Cluster;
use crate::patches::{self, Question, Settled, settle, with_files};

/// What was found about patches.
#[derive(Default)]
pub(super) struct Verified {
    /// Decisions, open and answered.
    pub(super) decisions: Vec<Decision>,
    /// What needs no answer.
    pub(super) findings: Vec<Finding>,
    /// Kustomizations and patch files that answers changed.
    pub(super) writes: Vec<Write>,
    /// Patch files of which answers left nothing.
    pub(super) removes: Vec<Path>,
    /// What the request says, a line each.
    pub(super) lines: Vec<String>,
}

/// Compares what the patches do before and after, and applies answers.
pub(super) fn verify(given: &Given<'_>, writes: &[Write]) -> Verified {
    let mut verified = Verified::default();
    let tree = &given.snapshot.tree;
    let clusters: Vec<&Cluster> = given
        .group
        .clusters()
        .filter(|cluster| !through(cluster).is_empty())
        .collect();
    if clusters.is_empty() {
        return verified;
    }
    let before = given.snapshot.whole();
    let written = writes
        .iter()
        .map(|write| (write.path.clone(), Some(Arc::clone(&write.bytes))));
    let mut after = with_files(&before, &written.collect());
    let own: BTreeSet<Path> = given
        .group
        .clusters()
        .flat_map(|cluster| cluster.root.build.kustomizations.iter().cloned())
        .collect();
    let own: Vec<Path> = own.into_iter().collect();
    let mut files: BTreeMap<Path, Option<Arc<[u8]>>> = BTreeMap::new();
    for cluster in clusters {
        let question = Question {
            before: &before,
            after: &after,
            directory: &cluster.root.directory,
            evaluate: build_as_flux,
            answers: given.answers,
            own: &own,
        };
        let mut settled = of_cluster(&question, cluster);
        if !patches::reach_generated(tree, &cluster.root) {
            // Without a patch there is nothing to verify; that the build goes on is looked at where it can be.
            settled.is_verified = false;
            let asks = |finding: &Finding| finding.code != Code::OverlayNotEvaluated;
            settled.findings.retain(asks);
        }
        after = with_files(&after, &settled.files);
        files.extend(settled.files.clone());
        verified.take(settled);
    }
    verified.change(&given.snapshot.tree, files);
    verified
}

/// Settles a cluster; where the whole cannot be evaluated, the outermost kustomization on the way to its generated files
/// that can.
fn of_cluster(question: &Question<'_>, cluster: &Cluster) -> Settled {
    let whole = settle(question);
    if whole.is_verified {
        return whole;
    }
    let root = &cluster.root;
    let through = through(cluster);
    let on_the_way = root.build.kustomizations.iter().filter(|path| through.contains(path));
    let inner = on_the_way
        .map(|path| path.directory())
        .filter(|directory| *directory != root.directory);
    for directory in inner {
        let mut settled = settle(&Question { directory, ..*question });
        if settled.is_verified {
            settled.findings.splice(0..0, whole.findings);
            return settled;
        }
    }
    whole
}

/// Lists the kustomizations on the way to the generated files of a cluster.
fn through(cluster: &Cluster) -> BTreeSet<Path> {
    let root = &cluster.root;
    root.generated.iter().flat_map(|file| root.build.chain(file)).collect()
}

impl Verified {
    fn take(&mut self, settled: Settled) {
        if settled.is_verified {
            self.lines.extend(patches::counted(settled.holding));
        }
        for decision in settled.decisions {
            if !self.decisions.iter().any(|known| known.id == decision.id) {
                self.decisions.push(decision);
            }
        }
        for finding in settled.findings {
            if !self.findings.contains(&finding) {
                self.lines.push(patches::told(&finding));
                self.findings.push(finding);
            }
        }
    }

    fn change(&mut self, tree: &Tree, files: BTreeMap<Path, Option<Arc<[u8]>>>) {
        for (path, bytes) in files {
            match bytes {
                Some(bytes) => self.writes.push(Write {
                    executable: matches!(tree.get(&path), Some(Entry::File { executable: true, .. })),
                    path,
                    bytes,
                }),
                None => self.removes.push(path),
            }
        }
    }
}
