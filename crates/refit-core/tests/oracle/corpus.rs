//! The repositories, and the Flux objects that they hold: as their overlays build them, else as they stand.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path as FilePath;

use refit_core::catalog::Catalog;
use refit_kustomize::{self as kustomize, reach};
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Value as Scalar;
use refit_manifest::{Entry, Path, Stream, Tree};
use serde_json::{Map, Value};

/// One snapshot of a repository.
pub(crate) struct Snapshot {
    pub(crate) name: String,
    pub(crate) tree: Tree,
}

/// A Flux object.
#[derive(Debug)]
pub(crate) struct Found {
    /// The file that it comes from.
    pub(crate) path: String,
    /// Kind and name, as the scan writes them.
    pub(crate) object: String,
    pub(crate) crd: String,
    pub(crate) version: String,
    pub(crate) value: Value,
}

/// Reads `<repository>/<snapshot>/...`.
pub(crate) fn snapshots(folder: &FilePath) -> Vec<Snapshot> {
    let mut snapshots = Vec::new();
    for repository in folders(folder) {
        for snapshot in folders(&repository) {
            let mut tree = Tree::new();
            gather(&snapshot, &snapshot, &mut tree);
            let name = snapshot.strip_prefix(folder).unwrap().display().to_string();
            snapshots.push(Snapshot { name, tree });
        }
    }
    snapshots.sort_by(|a, b| a.name.cmp(&b.name));
    snapshots
}

fn folders(folder: &FilePath) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_dir()).collect()
}

fn gather(root: &FilePath, folder: &FilePath, tree: &mut Tree) {
    for path in fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            gather(root, &path, tree);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            tree.insert(Path::from(name.as_str()), Entry::file(fs::read(&path).unwrap()));
        }
    }
}

/// Lists every Flux object: of the overlays that nothing else includes, and of the files that none of them reaches.
pub(crate) fn objects(tree: &Tree, catalog: &Catalog) -> impl Iterator<Item = Found> {
    let mut found = Vec::new();
    let mut reached: BTreeSet<Path> = BTreeSet::new();
    for directory in overlays(tree) {
        let built = kustomize::build(tree, &directory);
        if built.state != kustomize::State::Evaluated {
            continue;
        }
        reached.extend(reach::of(tree, &directory).resources);
        for object in &built.objects {
            let value = of_built(&object.value);
            let name = &object.original.name;
            if let kustomize::Origin::File(place) = &object.origin {
                found.extend(flux(&place.path, value, name, catalog));
            }
        }
    }
    for (path, entry) in tree
        .iter()
        .filter(|(path, _)| path.is_yaml() && !reached.contains(*path))
    {
        let Some(Ok(stream)) = entry.bytes().map(|bytes| Stream::split(bytes.clone())) else {
            continue;
        };
        for document in stream.documents() {
            let Some(root) = document.root() else { continue };
            let name = document.head().name.to_string();
            found.extend(flux(path, of_node(root), &name, catalog));
        }
    }
    found.into_iter()
}

/// Lists the folders with a kustomization that no other one includes.
fn overlays(tree: &Tree) -> Vec<String> {
    let files = tree.paths().filter(|path| reach::is_kustomization(path));
    let directories: BTreeSet<String> = files.map(|path| path.directory().to_owned()).collect();
    let mut included = BTreeSet::new();
    for directory in &directories {
        let set = reach::of(tree, directory);
        let others = set.kustomizations.iter().map(|path| path.directory().to_owned());
        included.extend(others.filter(|other| other != directory));
    }
    directories
        .into_iter()
        .filter(|directory| !included.contains(directory))
        .collect()
}

fn flux(path: &Path, value: Value, name: &str, catalog: &Catalog) -> Option<Found> {
    let (group, version) = value.get("apiVersion")?.as_str()?.split_once('/')?;
    let kind = value.get("kind")?.as_str()?;
    let is_of = |resource: &&refit_core::catalog::Resource| resource.group() == group && resource.kind == kind;
    let resource = catalog.resources().iter().find(is_of)?;
    Some(Found {
        path: path.to_string(),
        object: format!("{kind}/{name}"),
        crd: resource.crd.clone(),
        version: version.to_owned(),
        value,
    })
}

fn of_built(value: &kustomize::Value) -> Value {
    match value {
        kustomize::Value::Map(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.to_string(), of_built(value)))
                .collect(),
        ),
        kustomize::Value::List(items) => Value::Array(items.iter().map(of_built).collect()),
        kustomize::Value::Null => Value::Null,
        kustomize::Value::Bool(flag) => Value::Bool(*flag),
        kustomize::Value::Number(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string()))
        }
        kustomize::Value::Text(text) => Value::String(text.to_string()),
    }
}

pub(crate) fn of_node(node: NodeRef<'_>) -> Value {
    match node.target().kind() {
        Kind::Mapping(_) => {
            let entry =
                |(key, value): (NodeRef<'_>, NodeRef<'_>)| (key.text().unwrap_or_default().to_owned(), of_node(value));
            Value::Object(node.entries().map(entry).collect::<Map<String, Value>>())
        }
        Kind::Sequence(_) => Value::Array(node.items().map(of_node).collect()),
        Kind::Scalar(_) | Kind::Alias => match node.value() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(flag)) => Value::Bool(flag),
            Some(Scalar::Int(number)) => Value::from(number as i64),
            Some(Scalar::Float(number)) => Value::from(number),
            Some(Scalar::Text(text)) => Value::String(text.to_owned()),
        },
    }
}
