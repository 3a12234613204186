//! Which files use a kustomization or a patch file.
//!
//! In: a tree and a path. Out: the paths of the files that name it: kustomizations in any field, and the configurations of
//! transformers.

use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Path, Stream, Tree};

use crate::named;

/// Lists the files that name a kustomization's directory or a patch file, once for each time.
pub(super) fn users(tree: &Tree, path: &Path) -> Vec<Path> {
    let wanted = if reach::is_kustomization(path) {
        path.directory().to_owned()
    } else {
        path.to_string()
    };
    let last = wanted.rsplit('/').next().unwrap_or_default().to_owned();
    let mut users = Vec::new();
    for (other, entry) in tree.iter().filter(|(other, _)| *other != path) {
        let Some(text) = entry.bytes().and_then(|bytes| std::str::from_utf8(bytes).ok()) else {
            continue;
        };
        // A transformer is configured in a file of its own; what does not hold the word cannot name the file.
        let can = reach::is_kustomization(other) || (text.contains("Transformer") && other.is_yaml());
        if !can || !(text.contains(&last) || text.contains("..") || text.contains("./")) {
            continue;
        }
        let Ok(stream) = Stream::split(Arc::from(text.as_bytes())) else {
            continue;
        };
        for root in stream.documents().iter().filter_map(|document| document.root()) {
            named::values(root, &mut |name| {
                if reach::resolve(other.directory(), name) == wanted {
                    users.push(other.clone());
                }
            });
        }
    }
    users
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    #[test]
    fn a_patch_file_is_used_by_kustomizations_and_by_transformers() {
        let files = [
            ("a/kustomization.yaml", "patches:\n- path: ../shared/p.yaml\n"),
            ("b/kustomization.yaml", "transformers: [t.yaml]\n"),
            (
                "b/t.yaml",
                "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: t}\npath: ../shared/p.yaml\n",
            ),
            ("c/kustomization.yaml", "resources: [../shared]\n"),
            ("shared/p.yaml", "- op: remove\n  path: /a\n"),
        ];
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        let users: Vec<String> = users(&tree, &"shared/p.yaml".into())
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(users, ["a/kustomization.yaml", "b/t.yaml"]);
    }
}
