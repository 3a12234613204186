//! The files that kustomizations name, whatever they are called: patches, texts of generators, values.
//!
//! In: a tree with the kustomizations. Out: paths that may exist. Does not know which field means a file: a value that is
//! the path of a file is worth reading.

use std::collections::BTreeSet;

use refit_kustomize::reach;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Path, Stream, Tree};

/// The most letters of a value that is looked at; longer ones are texts.
const LENGTH: usize = 1024;

/// Lists what the values in all kustomizations can mean as paths, without what the tree holds already.
pub fn files(tree: &Tree) -> BTreeSet<Path> {
    let mut found = BTreeSet::new();
    for (path, entry) in tree.iter().filter(|(path, _)| reach::is_kustomization(path)) {
        let Some(Ok(stream)) = entry.bytes().map(|bytes| Stream::split(bytes.clone())) else {
            continue;
        };
        for root in stream.documents().iter().filter_map(|document| document.root()) {
            values(root, &mut |text| {
                // A generator writes `key=file`.
                for name in [Some(text), text.split_once('=').map(|(_, name)| name)]
                    .into_iter()
                    .flatten()
                {
                    found.insert(Path::new(reach::resolve(path.directory(), name)));
                }
            });
        }
    }
    found.retain(|path| tree.get(path).is_none());
    found
}

/// Gives every value below a node that can be a path.
pub(crate) fn values(node: NodeRef<'_>, take: &mut impl FnMut(&str)) {
    match node.kind() {
        Kind::Mapping(_) => node.entries().for_each(|(_, value)| values(value, take)),
        Kind::Sequence(_) => node.items().for_each(|item| values(item, take)),
        Kind::Scalar(_) => {
            let is_path = |text: &&str| !text.is_empty() && text.len() <= LENGTH && !text.contains(['\n', ':']);
            if let Some(text) = node.text().filter(is_path) {
                take(text);
            }
        }
        // What it stands for is looked at in its place.
        Kind::Alias => {}
    }
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    #[test]
    fn files_are_found_by_value_whatever_the_field() {
        let kustomization = "resources: [a.yaml, ../base]\npatches:\n- path: patches/p.patch\n- patch: |\n    kind: A\n\
                             configMapGenerator:\n- name: c\n  files: [x.conf, key=../y.conf]\n";
        let entry = |text: &str| Entry::file(text.as_bytes());
        let tree: Tree = [
            (Path::from("c/kustomization.yaml"), entry(kustomization)),
            (Path::from("c/a.yaml"), entry("")),
            (Path::from("c/other.yaml"), entry("path: not-looked-at\n")),
        ]
        .into_iter()
        .collect();
        let found: Vec<String> = files(&tree).iter().map(ToString::to_string).collect();
        for path in ["c/patches/p.patch", "c/x.conf", "y.conf"] {
            assert!(found.contains(&path.to_owned()), "{path}: {found:?}");
        }
        assert!(
            !found
                .iter()
                .any(|path| path == "c/a.yaml" || path.contains("not-looked-at")),
            "{found:?}"
        );
    }
}
