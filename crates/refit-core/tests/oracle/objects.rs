//! The objects of Flux that stand in a file: documents, items of lists, texts in the data of a ConfigMap.

use refit_manifest::{Path, Stream, Tree};
use serde_json::Value;

use crate::values;

/// One object as it is written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) path: Path,
    /// Which document of the file it stands in, counted from 0.
    pub(crate) document: usize,
    pub(crate) value: Value,
    /// Whether it stands inside another object, which no build looks into.
    pub(crate) is_inner: bool,
}

/// Names an object.
pub(crate) fn describe(object: &Value) -> String {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    let named = format!("{}/{}", kind.unwrap_or_default(), name.unwrap_or_default());
    match text("/metadata/namespace") {
        Some(namespace) => format!("{named} in {namespace}"),
        None => named,
    }
}

/// Tells whether an object is one of Flux.
pub(crate) fn is_of_flux(object: &Value) -> bool {
    let api_version = object.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    group.ends_with(".fluxcd.io")
}

/// Lists the objects of Flux in a tree.
pub(crate) fn all(tree: &Tree) -> Vec<Written> {
    let files = tree.iter().filter_map(|(path, entry)| Some((path, entry.bytes()?)));
    let named = files.filter(|(path, _)| path.is_yaml() || path.is_json());
    named.flat_map(|(path, bytes)| in_file(path, bytes)).collect()
}

fn in_file(path: &Path, bytes: &[u8]) -> Vec<Written> {
    let text = String::from_utf8_lossy(bytes);
    let mut found = Vec::new();
    if text.contains(".fluxcd.io/v") {
        for (document, value) in documents(bytes) {
            gather(value, &mut |value, is_inner| {
                found.push(Written {
                    path: path.clone(),
                    document,
                    value,
                    is_inner,
                });
            });
        }
    }
    found
}

fn documents(bytes: &[u8]) -> Vec<(usize, Value)> {
    let Ok(stream) = Stream::split(bytes.into()) else {
        return Vec::new();
    };
    let documents = stream.documents().iter().enumerate();
    let roots = documents.filter_map(|(at, document)| Some((at, document.root()?)));
    roots.map(|(at, root)| (at, values::of_node(root))).collect()
}

fn gather(object: Value, take: &mut dyn FnMut(Value, bool)) {
    let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
    if let Some(items) = object
        .get("items")
        .and_then(Value::as_array)
        .filter(|_| kind.ends_with("List"))
    {
        items.iter().for_each(|item| gather(item.clone(), take));
    } else if kind == "ConfigMap" {
        let data = object.get("data").and_then(Value::as_object).into_iter().flatten();
        for text in data.filter_map(|(_, text)| text.as_str()) {
            for (_, value) in documents(text.as_bytes()) {
                gather(value, &mut |value, _| take(value, true));
            }
        }
    } else if is_of_flux(&object) {
        take(object, false);
    }
}
