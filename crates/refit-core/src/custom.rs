//! The user's own objects of the platform's kinds: sources, Kustomizations, releases, alerts.
//!
//! In: a tree and the root of a cluster. Out: [`Custom`]s, from what the cluster is built from and, through its Flux
//! Kustomizations, from the directories that these synchronise out of the same source. Evaluates no patch.

use std::collections::BTreeSet;

use refit_kustomize::reach;
use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Path, Tree};

use crate::catalog::Catalog;
use crate::roots::{self, Root};
use crate::streams::Streams;

/// An object of a kind that a definition of the platform brings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Custom {
    /// The file.
    pub path: Path,
    /// The line where its document begins, counted from 1.
    pub line: usize,
    /// The object.
    pub object: String,
    /// The name of its definition.
    pub crd: String,
    /// The API version that it is written in, without the group.
    pub version: String,
}

/// The words in every API group of the platform; a file without them is not looked at.
const MARK: &str = ".toolkit.fluxcd.io/";

/// Finds the objects of a cluster, in the order of their files.
pub fn find(tree: &Tree, streams: &Streams, root: &Root, catalog: &Catalog) -> Vec<Custom> {
    let mut found = BTreeSet::new();
    let mut looked: BTreeSet<Path> = BTreeSet::new();
    let mut open: Vec<Path> = root.build.resources.iter().cloned().collect();
    let own = own_source(root, streams);
    let mut followed: BTreeSet<String> = BTreeSet::from([root.directory.clone()]);
    while let Some(path) = open.pop() {
        if !looked.insert(path.clone()) {
            continue;
        }
        let Some(stream) = streams.get(&path).filter(|stream| stream.text().contains(MARK)) else {
            continue;
        };
        for document in stream.documents() {
            found.extend(custom(&path, stream.text(), document, catalog));
            let directory = directory_of(document).filter(|(_, source)| Some(source) == own.as_ref());
            if let Some((directory, _)) = directory
                && followed.insert(directory.clone())
            {
                open.extend(reach::of(tree, &directory).resources);
            }
        }
    }
    found.into_iter().collect()
}

/// Names the source that the cluster itself is synchronised from.
fn own_source(root: &Root, streams: &Streams) -> Option<String> {
    let documents = root.build.resources.iter().filter_map(|path| streams.get(path));
    documents
        .flat_map(|stream| stream.documents())
        .filter_map(directory_of)
        .find(|(directory, _)| *directory == root.directory)
        .map(|(_, source)| source)
}

/// Gives the directory that a Flux Kustomization synchronises, and its source.
fn directory_of(document: &Document) -> Option<(String, String)> {
    let directory = roots::directory_of(document)?;
    let spec = document.root()?.get("spec")?;
    let part = |key: &str| spec.at(&["sourceRef", key]).and_then(NodeRef::text);
    let source = format!("{}/{}", part("kind")?, part("name")?);
    Some((directory, source))
}

fn custom(path: &Path, text: &str, document: &Document, catalog: &Catalog) -> Option<Custom> {
    let head = document.head();
    let (group, version) = head.api_version.split_once('/')?;
    let is_of = |resource: &&crate::catalog::Resource| resource.group() == group && *resource.kind == *head.kind;
    let resource = catalog.resources().iter().find(is_of)?;
    let before = text.get(..document.body().start).unwrap_or_default();
    Some(Custom {
        path: path.clone(),
        line: before.matches('\n').count() + 1,
        object: format!("{}/{}", head.kind, head.name),
        crd: resource.crd.clone(),
        version: version.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;
    use crate::configuration::Spec;

    fn sync(name: &str, path: &str, source: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nmetadata: {{name: {name}}}\nspec:\n  path: {path}\n  sourceRef: {{kind: GitRepository, name: {source}}}\n"
        )
    }

    #[test]
    fn objects_are_found_through_the_kustomizations_of_the_same_source() {
        let release =
            "# mine\n---\napiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: r}\n";
        let files = [
            ("c/flux-system/g.yaml", String::new()),
            ("c/flux-system/sync.yaml", sync("main", "./c", "main")),
            ("c/apps.yaml", sync("apps", "./apps", "main")),
            ("c/theirs.yaml", sync("theirs", "./theirs", "charts")),
            ("apps/deep/r.yaml", release.to_owned()),
            ("theirs/r.yaml", release.to_owned()),
            ("elsewhere/r.yaml", release.to_owned()),
        ];
        let entry = |(path, text): &(&str, String)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        let streams = Streams::split(&tree);
        let named = roots::Names {
            said: &Spec::default(),
            records: &[],
        };
        let roots = roots::find(&tree, &streams, &["c/flux-system/g.yaml".into()], &named);
        let found = find(&tree, &streams, &roots[0], &Catalog::flux().unwrap());
        let line = |custom: &Custom| format!("{}:{} {} {}", custom.path, custom.line, custom.object, custom.version);
        assert_eq!(
            found.iter().map(line).collect::<Vec<_>>(),
            [
                "apps/deep/r.yaml:3 HelmRelease/r v2beta1",
                "c/apps.yaml:1 Kustomization/apps v1beta2",
                "c/flux-system/sync.yaml:1 Kustomization/main v1beta2",
                "c/theirs.yaml:1 Kustomization/theirs v1beta2",
            ]
        );
    }
}
