//! The files of a cluster with their roles.
//!
//! In: a cluster and the tree. Out: one [`FileLine`] for each file beside the generated ones and on the way to them.

use refit_kustomize::reach;
use refit_manifest::{Path, Stream, Tree};

use super::Cluster;
use crate::report::FileLine;
use crate::roots;

/// Lists the files beside the generated ones and on the way to them, in the order of their paths.
pub fn files(cluster: &Cluster, tree: &Tree) -> Vec<FileLine> {
    let root = &cluster.root;
    let directories: Vec<&str> = root.generated.iter().map(Path::directory).collect();
    let built = root.build.resources.iter().chain(&root.build.kustomizations);
    let on_the_way = built.filter(|path| reach::is_kustomization(path) && is_above(path, &directories));
    let beside = tree
        .paths()
        .filter(|path| directories.contains(&path.directory()) && path.is_yaml());
    let mut paths: Vec<&Path> = on_the_way.chain(beside).collect();
    paths.sort();
    paths.dedup();
    let line = |path: &Path| FileLine {
        path: path.to_string(),
        role: role(cluster, tree, path).to_owned(),
    };
    paths.into_iter().map(line).collect()
}

fn is_above(path: &Path, directories: &[&str]) -> bool {
    let own = path.directory();
    directories
        .iter()
        .any(|directory| *directory == own || reach::is_inside(directory, own))
}

fn role(cluster: &Cluster, tree: &Tree, path: &Path) -> &'static str {
    if cluster.root.generated.contains(path) {
        return "generated";
    }
    if reach::is_kustomization(path) {
        return "kustomization";
    }
    let stream = tree.bytes(path).and_then(|bytes| Stream::split(bytes.clone()).ok());
    match stream {
        Some(stream) if stream.documents().iter().any(roots::is_sync) => "sync",
        _ => "user",
    }
}
