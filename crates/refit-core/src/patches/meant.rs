//! Lists of operations that kustomize refuses to read, as they are meant.
//!
//! In: a tree. Out: a tree for evaluation alone. Kustomize takes a text that begins with `[` for JSON; people write flow
//! style of YAML there. Such a build fails whatever the upgrade does, and yet the patch has a target.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Value;
use refit_manifest::{Path, Stream, Tree};

/// Gives the tree with inline operations in flow style written as JSON; `None` where there are none.
pub(super) fn read(tree: &Tree) -> Option<Tree> {
    let files: BTreeMap<Path, Option<Arc<[u8]>>> = tree
        .iter()
        .filter(|(path, _)| reach::is_kustomization(path))
        .filter_map(|(path, entry)| Some((path.clone(), Some(rewritten(entry.bytes()?)?))))
        .collect();
    (!files.is_empty()).then(|| super::with_files(tree, &files))
}

fn rewritten(bytes: &Arc<[u8]>) -> Option<Arc<[u8]>> {
    let stream = Stream::split(Arc::clone(bytes)).ok()?;
    let mut splices = Vec::new();
    for root in stream.documents().iter().filter_map(|document| document.root()) {
        let entries = ["patches", "patchesJson6902"]
            .into_iter()
            .filter_map(|list| root.get(list));
        let scalars = entries.flat_map(NodeRef::items).filter_map(|entry| entry.get("patch"));
        splices.extend(scalars.filter_map(|scalar| {
            Some(Splice {
                range: scalar.span(),
                text: format!("'{}'", json_of(scalar.text()?)?.replace('\'', "''")),
            })
        }));
    }
    if splices.is_empty() {
        return None;
    }
    edit::apply(bytes, &splices).ok()
}

/// Writes a list in flow style as JSON; `None` where it is JSON already, or no list.
fn json_of(text: &str) -> Option<String> {
    if !text.trim_start().starts_with('[') || serde_json::from_str::<serde_json::Value>(text).is_ok() {
        return None;
    }
    let stream = Stream::split(text.as_bytes().into()).ok()?;
    let root = stream.documents().first()?.root()?;
    matches!(root.kind(), Kind::Sequence(_)).then(|| json(root).to_string())
}

fn json(node: NodeRef<'_>) -> serde_json::Value {
    match node.target().kind() {
        Kind::Mapping(_) => node
            .entries()
            .filter_map(|(key, value)| Some((key.text()?.to_owned(), json(value))))
            .collect(),
        Kind::Sequence(_) => node.items().map(json).collect(),
        Kind::Scalar(_) | Kind::Alias => match node.value() {
            Some(Value::Bool(truth)) => truth.into(),
            Some(Value::Int(number)) => i64::try_from(number).map_or_else(|_| number.to_string().into(), Into::into),
            Some(Value::Float(number)) => number.into(),
            Some(Value::Text(text)) => text.into(),
            Some(Value::Null) | None => serde_json::Value::Null,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::json_of;

    #[test]
    fn flow_style_becomes_json_and_everything_else_stays() {
        assert_eq!(
            json_of("[{op: replace, path: /spec/r, value: 3}]").as_deref(),
            Some(r#"[{"op":"replace","path":"/spec/r","value":3}]"#)
        );
        assert_eq!(json_of(r#"[{"op": "remove", "path": "/a"}]"#), None);
        assert_eq!(json_of("- op: remove\n  path: /a\n"), None);
    }
}
