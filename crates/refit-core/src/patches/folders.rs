//! Verifies the patches of all kustomizations of a folder.
//!
//! In: the folder before and after a merge, and answers. Out: what was found, as for one directory.

use refit_kustomize::{build, reach};
use refit_manifest::{Answers, Path, Stream, Tree};

use super::{Question, Settled, has_patches, settle, with_files};

/// Compares the patches of every kustomization that has some; one that is built by another is looked at from both.
pub fn over_folders(before: &Tree, after: &Tree, answers: &Answers) -> Settled {
    let own: Vec<Path> = before
        .paths()
        .filter(|path| reach::is_kustomization(path))
        .cloned()
        .collect();
    let mut all = Settled::default();
    if before == after {
        return all;
    }
    let mut tree = after.clone();
    for path in own
        .iter()
        .filter(|path| has_patches(before, path) && !is_component(before, path))
    {
        let settled = settle(&Question {
            before,
            after: &tree,
            directory: path.directory(),
            evaluate: build,
            answers,
            own: &own,
        });
        tree = with_files(&tree, &settled.files);
        all.files.extend(settled.files);
        all.holding += settled.holding;
        all.is_verified |= settled.is_verified;
        for decision in settled.decisions {
            if !all.decisions.iter().any(|known| known.id == decision.id) {
                all.decisions.push(decision);
            }
        }
        let new = settled
            .findings
            .into_iter()
            .filter(|finding| !all.findings.contains(finding));
        let new: Vec<_> = new.collect();
        all.findings.extend(new);
    }
    all
}

/// Tells whether a kustomization is a component, which is built as a part of others alone.
fn is_component(tree: &Tree, path: &Path) -> bool {
    let stream = tree.bytes(path).and_then(|bytes| Stream::split(bytes.clone()).ok());
    let mut documents = stream.iter().flat_map(Stream::documents);
    documents.any(|document| &*document.head().kind == "Component")
}
