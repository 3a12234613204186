//! Which lists are keyed, and by what.
//!
//! In: CustomResourceDefinitions of the target. Out: [`ListKeys`] by group, kind and path; beside them a table of the
//! Kubernetes list-map-keys by field name (facts/yaml.md section 9 has the order of the rules).

use std::collections::BTreeMap;

use crate::parse::NodeRef;
use crate::stream::{Document, Stream};

/// How the items of a list are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListType {
    /// By the values of these keys, each with its default.
    Map(Vec<(String, Option<String>)>),
    /// By their own value.
    Set,
    /// Not at all: one value.
    Atomic,
}

/// The lists of one kind: the path with `[]` for items and `*` for any key, and how its items are told apart.
type KindLists = Vec<(Vec<String>, ListType)>;

/// The lists of custom resources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListKeys {
    kinds: BTreeMap<(String, String), KindLists>,
}

impl ListKeys {
    /// Reads the list types of all CustomResourceDefinitions in a stream; other documents are passed over.
    pub fn read(stream: &Stream) -> Self {
        let mut keys = Self::default();
        for document in stream.documents() {
            if &*document.head().kind == "CustomResourceDefinition" {
                keys.add(document);
            }
        }
        keys
    }

    /// Takes the lists of another set in.
    pub fn extend(&mut self, other: Self) {
        self.kinds.extend(other.kinds);
    }

    /// Gives how the items of a list are told apart; the path has `[…]` for items.
    pub fn find(&self, group: &str, kind: &str, path: &[String]) -> Option<&ListType> {
        let lists = self.kinds.get(&(group.to_owned(), kind.to_owned()))?;
        lists
            .iter()
            .find(|(pattern, _)| fits(pattern, path))
            .map(|(_, list)| list)
    }

    /// Tells whether the lists of a kind are known.
    pub fn knows(&self, group: &str, kind: &str) -> bool {
        self.kinds.contains_key(&(group.to_owned(), kind.to_owned()))
    }

    /// Takes the lists of one CustomResourceDefinition in; another document adds nothing.
    pub fn add(&mut self, document: &Document) {
        let Some(spec) = document.root().and_then(|root| root.get("spec")) else {
            return;
        };
        let text = |path: &[&str]| spec.at(path).and_then(NodeRef::text).unwrap_or_default().to_owned();
        let mut lists = Vec::new();
        for version in spec.get("versions").into_iter().flat_map(NodeRef::items) {
            if let Some(schema) = version.at(&["schema", "openAPIV3Schema"]) {
                walk(schema, &mut Vec::new(), &mut lists);
            }
        }
        self.kinds
            .entry((text(&["group"]), text(&["names", "kind"])))
            .or_default()
            .extend(lists);
    }
}

fn fits(pattern: &[String], path: &[String]) -> bool {
    pattern.len() == path.len()
        && pattern.iter().zip(path).all(|(wanted, step)| match wanted.as_str() {
            "[]" => step.starts_with('['),
            "*" => true,
            _ => wanted == step,
        })
}

fn walk(schema: NodeRef<'_>, path: &mut Vec<String>, lists: &mut KindLists) {
    if let Some(list) = list_type(schema) {
        lists.push((path.clone(), list));
    }
    for (key, child) in schema.get("properties").into_iter().flat_map(NodeRef::entries) {
        path.push(key.text().unwrap_or_default().to_owned());
        walk(child, path, lists);
        path.pop();
    }
    for (field, step) in [("items", "[]"), ("additionalProperties", "*")] {
        if let Some(child) = schema.get(field) {
            path.push(step.to_owned());
            walk(child, path, lists);
            path.pop();
        }
    }
}

fn list_type(schema: NodeRef<'_>) -> Option<ListType> {
    match schema.get("x-kubernetes-list-type")?.text()? {
        "set" => Some(ListType::Set),
        "atomic" => Some(ListType::Atomic),
        "map" => {
            let keys = schema.get("x-kubernetes-list-map-keys")?;
            let default = |key: &str| {
                schema
                    .at(&["items", "properties", key, "default"])
                    .and_then(NodeRef::text)
                    .map(ToOwned::to_owned)
            };
            let keys = keys
                .items()
                .filter_map(NodeRef::text)
                .map(|key| (key.to_owned(), default(key)));
            Some(ListType::Map(keys.collect()))
        }
        _ => None,
    }
}

/// Gives the keys of a list that Kubernetes itself defines, by the name of its field and its object's kind, each key
/// with its default. From the list-map-keys of the Kubernetes OpenAPI.
pub fn kubernetes_keys(kind: &str, field: &str) -> Option<&'static [(&'static str, Option<&'static str>)]> {
    Some(match field {
        "containers"
        | "initContainers"
        | "ephemeralContainers"
        | "volumes"
        | "env"
        | "imagePullSecrets"
        | "resourceClaims" => &[("name", None)],
        "ports" if kind == "Service" => &[("port", None), ("protocol", Some("TCP"))],
        "ports" if kind == "NetworkPolicy" => return None,
        "ports" => &[("containerPort", None), ("protocol", Some("TCP"))],
        "volumeMounts" => &[("mountPath", None)],
        "volumeDevices" => &[("devicePath", None)],
        "topologySpreadConstraints" => &[("topologyKey", None), ("whenUnsatisfiable", None)],
        "hostAliases" => &[("ip", None)],
        "conditions" => &[("type", None)],
        "ownerReferences" => &[("uid", None)],
        "webhooks" if kind.ends_with("WebhookConfiguration") => &[("name", None)],
        "versions" if kind == "CustomResourceDefinition" => &[("name", None)],
        "secrets" if kind == "ServiceAccount" => &[("name", None)],
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_keys_are_read_from_a_crd_with_their_defaults() {
        let crd = "kind: CustomResourceDefinition\nmetadata: {name: t}\nspec:\n  group: example.dev\n  \
                   names: {kind: Topics}\n  versions:\n  - name: v1\n    schema:\n      openAPIV3Schema:\n        \
                   properties:\n          spec:\n            properties:\n              subs:\n                \
                   x-kubernetes-list-type: map\n                x-kubernetes-list-map-keys: [topic, group]\n                \
                   items: {properties: {group: {default: g}}}\n";
        let stream = Stream::split(crd.as_bytes().into()).expect("a stream");
        let keys = ListKeys::read(&stream);
        let found = keys.find("example.dev", "Topics", &["spec".to_owned(), "subs".to_owned()]);
        let expected = ListType::Map(vec![
            ("topic".to_owned(), None),
            ("group".to_owned(), Some("g".to_owned())),
        ]);
        assert_eq!(found, Some(&expected));
    }
}
