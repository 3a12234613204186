//! Finds the objects of a tree, and the same object in four trees.
//!
//! In: trees of files. Out: for each object its documents by side. Knows nothing of how a merge finds them.

use std::collections::BTreeMap;

use refit_manifest::{Identity, Path, Tree};

use super::dom::{self, Node};

/// The files of one side, read.
pub(super) struct Side {
    pub(super) files: BTreeMap<Path, File>,
}

/// One file of a side.
pub(super) struct File {
    pub(super) text: String,
    /// The documents, or why there are none.
    pub(super) documents: Result<Vec<Document>, String>,
    /// The number of documents that hold nothing.
    pub(super) empty: usize,
}

/// One document and the name of its object.
pub(super) struct Document {
    pub(super) root: Node,
    pub(super) name: Name,
}

/// What an object is called over all sides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Name {
    /// Group, kind, namespace and name; a number above 0 counts objects of one identity that stand in one file.
    Object {
        id: [String; 4],
        path: Option<Path>,
        count: usize,
    },
    /// A document that names no object: its file and its number among such documents.
    Nameless { path: Path, count: usize },
}

impl Name {
    /// Tells whether a decision's object is this one.
    pub(super) fn is(&self, identity: &Identity) -> bool {
        let Self::Object {
            id: [group, kind, namespace, name],
            ..
        } = self
        else {
            return false;
        };
        *identity.group == **group
            && *identity.kind == **kind
            && *identity.namespace == **namespace
            && *identity.name == **name
    }

    /// Gives the kind, empty for documents without.
    pub(super) fn kind(&self) -> &str {
        match self {
            Self::Object { id: [_, kind, ..], .. } => kind,
            Self::Nameless { .. } => "",
        }
    }

    pub(super) fn shown(&self) -> String {
        match self {
            Self::Object {
                id: [_, kind, namespace, name],
                ..
            } if namespace.is_empty() => format!("{kind}/{name}"),
            Self::Object {
                id: [_, kind, namespace, name],
                ..
            } => format!("{kind}/{name} in {namespace}"),
            Self::Nameless { path, count } => format!("document {count} of {path}"),
        }
    }
}

/// Tells whether a file is read as YAML.
pub(super) fn is_structured(path: &Path) -> bool {
    let name = path.as_str().to_lowercase();
    [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending))
}

impl Side {
    /// Reads all YAML files of a tree.
    pub(super) fn read(tree: &Tree) -> Self {
        let mut files = BTreeMap::new();
        for (path, entry) in tree.iter().filter(|(path, _)| is_structured(path)) {
            let Some(bytes) = entry.bytes() else { continue };
            let text = String::from_utf8_lossy(bytes).into_owned();
            let roots = dom::read(bytes);
            let empty = roots.iter().flatten().filter(|root| root.text() == Some("")).count();
            let documents = roots.map(|roots| name_documents(path, roots));
            files.insert(path.clone(), File { text, documents, empty });
        }
        Self { files }
    }

    /// Lists the documents of all files that could be read.
    pub(super) fn documents(&self) -> impl Iterator<Item = (&Path, &Document)> {
        self.files
            .iter()
            .flat_map(|(path, file)| file.documents.iter().flatten().map(move |document| (path, document)))
    }

    /// Finds the document of an object.
    pub(super) fn find(&self, name: &Name) -> Option<(&Path, &Document)> {
        self.documents().find(|(_, document)| document.name == *name)
    }
}

fn name_documents(path: &Path, roots: Vec<Node>) -> Vec<Document> {
    let mut nameless = 0;
    let mut seen: BTreeMap<[String; 4], usize> = BTreeMap::new();
    let mut documents = Vec::new();
    for root in roots {
        let name = match identity(&root) {
            Some(id) => {
                let count = seen.entry(id.clone()).or_insert(0);
                *count += 1;
                Name::Object {
                    id,
                    path: None,
                    count: *count - 1,
                }
            }
            // An empty document is only a place between markers.
            None if root.text() == Some("") => continue,
            None => {
                nameless += 1;
                Name::Nameless {
                    path: path.clone(),
                    count: nameless,
                }
            }
        };
        documents.push(Document { root, name });
    }
    documents
}

fn identity(root: &Node) -> Option<[String; 4]> {
    let kind = root.get("kind")?.text()?.to_owned();
    let version = root.get("apiVersion").and_then(Node::text).unwrap_or("");
    let group = version.split_once('/').map_or("", |(group, _)| group).to_owned();
    let metadata = root.get("metadata")?;
    let name = metadata.get("name")?.text()?.to_owned();
    let namespace = metadata.get("namespace").and_then(Node::text).unwrap_or("").to_owned();
    Some([group, kind, namespace, name])
}

/// Where one identity stands in several files of a side, adds the path to its name on all sides.
pub(super) fn part_duplicates(sides: &mut [Side]) {
    let mut twice: Vec<[String; 4]> = Vec::new();
    for side in sides.iter() {
        let mut places: BTreeMap<&[String; 4], &Path> = BTreeMap::new();
        for (path, document) in side.documents() {
            let Name::Object { id, .. } = &document.name else {
                continue;
            };
            if places.insert(id, path).is_some_and(|other| other != path) {
                twice.push(id.clone());
            }
        }
    }
    for side in sides {
        for (path, file) in &mut side.files {
            for document in file.documents.iter_mut().flatten() {
                if let Name::Object { id, path: place, .. } = &mut document.name
                    && twice.contains(id)
                {
                    *place = Some(path.clone());
                }
            }
        }
    }
}
