//! The real program, and how its output is compared.

use std::path::{Path, PathBuf};
use std::process::Command;

use refit_kustomize::{Built, Value};
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Entry, Path as TreePath, Stream, Tree, scalar};

/// The program.
pub(crate) struct Program(pub(crate) PathBuf);

impl Program {
    /// Builds a directory; `Err` has the last line of the error.
    pub(crate) fn build(&self, folder: &Path, directory: &str) -> Result<String, String> {
        let output = Command::new(&self.0)
            .args(["build", "--load-restrictor", "LoadRestrictionsNone"])
            .arg(folder.join(directory))
            .env("HOME", folder)
            .env("PATH", "")
            .output()
            .expect("kustomize runs");
        if output.status.success() {
            return Ok(String::from_utf8(output.stdout).expect("UTF-8"));
        }
        let error = String::from_utf8_lossy(&output.stderr);
        Err(error
            .lines()
            .filter(|line| !line.starts_with('#'))
            .take(3)
            .collect::<Vec<_>>()
            .join(" "))
    }
}

/// Reads a folder.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let name = path
                .strip_prefix(folder)
                .expect("inside")
                .to_str()
                .expect("UTF-8")
                .to_owned();
            let bytes = std::fs::read(&path).expect("a file");
            tree.insert(TreePath::new(name), Entry::file(bytes));
        }
    }
    tree
}

/// Compares what was built with what was printed: the same objects in the same order.
pub(crate) fn same(built: &Built, printed: &str) -> Result<(), String> {
    let stream = Stream::split(printed.as_bytes().into()).expect("documents");
    let documents: Vec<_> = stream
        .documents()
        .iter()
        .filter(|document| !document.is_empty())
        .collect();
    let name = |node: NodeRef<'_>| format!("{}", value(node));
    for (index, document) in documents.iter().enumerate() {
        let root = document
            .root()
            .unwrap_or_else(|| panic!("kustomize prints no YAML: {}", document.body_text()));
        match built.objects.get(index) {
            None => return Err(format!("kustomize has one more: {}", name(root))),
            Some(object) if !equal(&object.value, root) => {
                return Err(format!(
                    "object {index} differs\nours:   {}\ntheirs: {}",
                    object.value,
                    name(root)
                ));
            }
            Some(_) => {}
        }
    }
    match built.objects.get(documents.len()) {
        Some(more) => Err(format!("we have one more: {}", more.value)),
        None => Ok(()),
    }
}

fn equal(ours: &Value, theirs: NodeRef<'_>) -> bool {
    match (ours, theirs.kind()) {
        (Value::Map(map), Kind::Mapping(_)) => {
            map.len() == theirs.entries().len()
                && theirs.entries().all(|(key, theirs)| {
                    let ours = key.text().and_then(|key| map.get(key));
                    ours.is_some_and(|ours| equal(ours, theirs))
                })
        }
        (Value::List(items), Kind::Sequence(_)) => {
            items.len() == theirs.items().len()
                && items
                    .iter()
                    .zip(theirs.items())
                    .all(|(ours, theirs)| equal(ours, theirs))
        }
        (ours, Kind::Scalar(_)) => match (ours, theirs.value()) {
            (Value::Null, Some(scalar::Value::Null)) => true,
            (Value::Bool(ours), Some(scalar::Value::Bool(theirs))) => *ours == theirs,
            (Value::Text(ours), Some(scalar::Value::Text(theirs))) => **ours == *theirs,
            (Value::Number(ours), Some(scalar::Value::Int(theirs))) => ours
                .parse()
                .map_or_else(|_| ours.parse() == Ok(theirs as f64), |ours: i128| ours == theirs),
            (Value::Number(ours), Some(scalar::Value::Float(theirs))) => ours.parse() == Ok(theirs),
            _ => false,
        },
        _ => false,
    }
}

fn value(node: NodeRef<'_>) -> Value {
    match node.kind() {
        Kind::Mapping(_) => Value::Map(
            node.entries()
                .map(|(key, entry)| (key.text().unwrap_or_default().into(), value(entry)))
                .collect(),
        ),
        Kind::Sequence(_) => Value::List(node.items().map(value).collect()),
        _ => match node.value() {
            Some(scalar::Value::Text(text)) => Value::text(text),
            Some(scalar::Value::Null) | None => Value::Null,
            Some(scalar::Value::Bool(value)) => Value::Bool(value),
            Some(_) => Value::Number(node.text().unwrap_or_default().into()),
        },
    }
}
