//! Takes a YAML stream apart into objects, as Kubernetes does.
//!
//! In: the bytes of a file. Out: each object's own bytes and what its address needs. Reads with the second parser.

use crate::checker::dom::{self, Node};

/// One object of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) api_version: String,
    pub(super) kind: String,
    /// Empty where none is given.
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// Splits a stream at lines that begin with `---`, and lists into their items; a complaint names the document by number.
pub(super) fn read(stream: &[u8]) -> Result<Vec<Manifest>, String> {
    let text = std::str::from_utf8(stream).map_err(|error| error.to_string())?;
    let mut manifests = Vec::new();
    for (index, document) in split(text).into_iter().enumerate() {
        let nodes = dom::read(document.as_bytes()).map_err(|error| format!("document {}: {error}", index + 1))?;
        for node in nodes.iter().filter(|node| node.is_map()) {
            collect(node, document, &mut manifests);
        }
    }
    Ok(manifests)
}

fn split(text: &str) -> Vec<&str> {
    let starts = text
        .match_indices("---")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n');
    let mut documents = Vec::new();
    let mut from = 0;
    for at in starts {
        documents.push(&text[from..at]);
        from = at;
    }
    documents.push(&text[from..]);
    documents
}

fn collect(node: &Node, document: &str, manifests: &mut Vec<Manifest>) {
    let (kind, name) = (text(node, "kind"), metadata(node, "name"));
    if let Some(items) = node.get("items").filter(|_| kind.ends_with("List") && name.is_empty()) {
        items.items().iter().for_each(|item| collect(item, document, manifests));
        return;
    }
    manifests.push(Manifest {
        api_version: text(node, "apiVersion"),
        kind,
        namespace: metadata(node, "namespace"),
        name,
        bytes: indented(node, document).into_bytes(),
    });
}

/// Cuts an object out; the first line of a list's item stands behind a dash, so it gets the indentation of the others.
fn indented(item: &Node, document: &str) -> String {
    let start = document[..item.span.start].rfind('\n').map_or(0, |at| at + 1);
    let column = item.span.start - start;
    format!("{}{}\n", " ".repeat(column), &document[item.span.clone()])
}

fn metadata(node: &Node, key: &str) -> String {
    node.get("metadata")
        .map(|metadata| text(metadata, key))
        .unwrap_or_default()
}

fn text(node: &Node, key: &str) -> String {
    node.get(key).and_then(Node::text).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_stream_is_split_and_a_list_taken_apart() {
        let stream = b"# no object\n---\nkind: A\nmetadata: {name: a}\n--- # next\nkind: List\nitems:\n  - kind: B\n    metadata:\n      name: b\n      namespace: n\n  - {kind: C, metadata: {name: c}}\n";
        let manifests = read(stream).unwrap();
        let shown: Vec<String> = manifests
            .iter()
            .map(|m| format!("{}/{}:{}", m.namespace, m.name, String::from_utf8_lossy(&m.bytes)))
            .collect();
        assert_eq!(
            shown,
            [
                "/a:kind: A\nmetadata: {name: a}\n",
                "n/b:    kind: B\n    metadata:\n      name: b\n      namespace: n\n",
                "/c:    {kind: C, metadata: {name: c}}\n",
            ]
        );
    }
}
