//! Which kustomizations use a kustomization or a patch file.
//!
//! In: a tree and a path. Out: the paths of the kustomizations that name it.

use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::parse::NodeRef;
use refit_manifest::{Path, Stream, Tree};

/// Lists the kustomizations that name a kustomization's directory or a patch file, once for each time.
pub(super) fn users(tree: &Tree, path: &Path) -> Vec<Path> {
    let wanted = if reach::is_kustomization(path) {
        path.directory().to_owned()
    } else {
        path.to_string()
    };
    let mut users = Vec::new();
    for (other, entry) in tree
        .iter()
        .filter(|(other, _)| reach::is_kustomization(other) && *other != path)
    {
        let Some(Ok(stream)) = entry.bytes().map(|bytes| Stream::split(Arc::clone(bytes))) else {
            continue;
        };
        for root in stream.documents().iter().filter_map(|document| document.root()) {
            let names = names(root).filter(|name| reach::resolve(other.directory(), name) == wanted);
            users.extend(names.map(|_| other.clone()));
        }
    }
    users
}

fn names(root: NodeRef<'_>) -> impl Iterator<Item = &str> {
    let lists = [
        "resources",
        "bases",
        "components",
        "patches",
        "patchesStrategicMerge",
        "patchesJson6902",
    ];
    let items = lists
        .into_iter()
        .filter_map(move |list| root.get(list))
        .flat_map(NodeRef::items);
    items.filter_map(|item| item.text().or_else(|| item.get("path")?.text()))
}
