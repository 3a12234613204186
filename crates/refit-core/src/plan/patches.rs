//! Verifies the patches of the clusters of a plan.
//!
//! In: what a plan is made from, and the files that it writes. Out: decisions and findings about patches, and the files
//! that answers change. Evaluates each cluster whose generated files a kustomization names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::{build_as_flux, reach};
use refit_manifest::parse::NodeRef;
use refit_manifest::{Decision, Entry, Path, Stream, Tree};

use super::{Given, Write};
use crate::finding::{Code, Finding};
use crate::inventory::Cluster;
use crate::patches::{self, Question, Settled, settle, with_files};
use crate::roots;

/// The lists of a Flux Kustomization that change what it applies.
const LATER: [&str; 5] = [
    "patches",
    "patchesStrategicMerge",
    "patchesJson6902",
    "components",
    "images",
];

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
        settled.findings.extend(applied_later(&before, cluster));
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

/// Names what the Flux Kustomization of a cluster lays over its build in the cluster, which nothing here evaluates.
fn applied_later(tree: &Tree, cluster: &Cluster) -> Vec<Finding> {
    let root = &cluster.root;
    let mut findings = Vec::new();
    for path in root
        .build
        .resources
        .iter()
        .filter(|path| !root.generated.contains(path))
    {
        let Some(Ok(stream)) = tree.bytes(path).map(|bytes| Stream::split(Arc::clone(bytes))) else {
            continue;
        };
        for document in stream.documents().iter().filter(|document| roots::is_sync(document)) {
            let Some(spec) = document.root().and_then(|root| root.get("spec")) else {
                continue;
            };
            let directory = spec.get("path").and_then(NodeRef::text).unwrap_or_default();
            if reach::resolve("", directory) != root.directory {
                continue;
            }
            let lists = LATER
                .iter()
                .filter_map(|field| spec.entries().find(|(key, _)| key.text() == Some(field)));
            for (key, _) in lists.filter(|(_, list)| list.items().len() > 0) {
                let before = &stream.bytes()[..key.full_span().start];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let message = format!(
                    "the Flux Kustomization `{}` has `spec.{}`, which the cluster applies to the build of `{}`; what becomes \
                     of that is not evaluated",
                    document.head().name,
                    key.text().unwrap_or_default(),
                    if root.directory.is_empty() {
                        "."
                    } else {
                        &root.directory
                    },
                );
                findings.push(Finding::new(
                    Code::OverlayNotEvaluated,
                    format!("{path}:{line}"),
                    message,
                ));
            }
        }
    }
    findings
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
