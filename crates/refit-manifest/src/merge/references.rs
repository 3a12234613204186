//! Which objects an object refers to by kind and name.

use crate::parse::NodeRef;
use crate::stream::{Document, Identity};

/// Tells whether a document refers to an object: by `kind` and `name` in one mapping, or by a field that names one kind.
pub(super) fn refers(document: &Document, to: &Identity) -> bool {
    document.root().is_some_and(|root| {
        let mut open: Vec<(&str, NodeRef<'_>)> = root
            .entries()
            .map(|(key, value)| (key.text().unwrap_or(""), value))
            .collect();
        while let Some((field, node)) = open.pop() {
            if names(field, node, to) {
                return true;
            }
            open.extend(node.entries().map(|(key, value)| (key.text().unwrap_or(""), value)));
            open.extend(node.items().map(|item| (field, item)));
        }
        false
    })
}

fn names(field: &str, node: NodeRef<'_>, to: &Identity) -> bool {
    let text = |key: &str| node.get(key).and_then(NodeRef::text);
    if field == "metadata" {
        return false;
    }
    if text("kind") == Some(&to.kind) && text("name") == Some(&to.name) {
        return true;
    }
    let scalar = node.text() == Some(&to.name);
    let named = text("name") == Some(&to.name);
    match field {
        "serviceAccountName" | "serviceAccount" => scalar && &*to.kind == "ServiceAccount",
        "priorityClassName" => scalar && &*to.kind == "PriorityClass",
        "claimName" => scalar && &*to.kind == "PersistentVolumeClaim",
        "secretName" => scalar && &*to.kind == "Secret",
        "configMap" | "configMapRef" | "configMapKeyRef" => named && &*to.kind == "ConfigMap",
        "secretRef" | "secretKeyRef" | "imagePullSecrets" => named && &*to.kind == "Secret",
        "service" => named && &*to.kind == "Service",
        _ => false,
    }
}
