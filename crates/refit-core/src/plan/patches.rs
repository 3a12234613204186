//! Verifies the patches of the clusters of a plan.
//!
//! In: what a plan is made from, and the files that it writes. Out: decisions and findings about patches, and the files
//! that answers change. Evaluates only where patches reach generated files.

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
        .filter(|cluster| patches::reach_generated(tree, &cluster.root))
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
        let settled = of_cluster(&question, cluster);
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
    let through: BTreeSet<Path> = root.generated.iter().flat_map(|file| root.build.chain(file)).collect();
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

impl Verified {
    fn take(&mut self, settled: Settled) {
        if settled.is_verified {
            self.lines.extend(patches::counted(settled.holding));
        }
        for (decision, line) in settled.decisions.into_iter().zip(settled.lines) {
            if !self.decisions.iter().any(|known| known.id == decision.id) {
                self.lines.push(line);
                self.decisions.push(decision);
            }
        }
        for finding in settled.findings {
            if !self.findings.contains(&finding) {
                // A patch that stays although it breaks the build is told with its answer.
                let told = (finding.code != Code::PatchBroken).then(|| patches::told(&finding));
                self.lines.extend(told);
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
