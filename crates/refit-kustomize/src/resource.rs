//! Objects while they are built.
//!
//! In: values with their origin. Out: [`Resource`]s, which remember what they were called before. Like kustomize they do
//! so in annotations of their own, so that a patch finds `annotations` where kustomize's does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::Path;

use crate::built::Origin;
use crate::id::Id;
use crate::value::Value;

/// How the annotations begin that never leave the evaluator.
pub(crate) const INTERNAL: &str = "internal.config.kubernetes.io/";
const NAMES: &str = "internal.config.kubernetes.io/previousNames";
const NAMESPACES: &str = "internal.config.kubernetes.io/previousNamespaces";
const KINDS: &str = "internal.config.kubernetes.io/previousKinds";
pub(crate) const PREFIXES: &str = "internal.config.kubernetes.io/prefixes";
pub(crate) const SUFFIXES: &str = "internal.config.kubernetes.io/suffixes";
pub(crate) const NEEDS_HASH: &str = "internal.config.kubernetes.io/needsHashSuffix";
pub(crate) const BEHAVIOR: &str = "internal.config.kubernetes.io/generatorBehavior";
pub(crate) const ALLOW_NAME: &str = "internal.config.kubernetes.io/allowNameChange";
pub(crate) const ALLOW_KIND: &str = "internal.config.kubernetes.io/allowKindChange";
/// The value of an annotation that is a switch.
pub(crate) const ENABLED: &str = "enabled";

/// Strings by their keys.
pub(crate) type Strings = BTreeMap<String, String>;

/// An object.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) value: Value,
    pub(crate) origin: Origin,
    pub(crate) through: Vec<Path>,
    /// Whether a patch removed it.
    pub(crate) deleted: bool,
    /// Labels and annotations that were put into several of its fields at once. Kustomize keeps one value for all of them,
    /// so that a later change of one changes the others.
    pub(crate) shared: BTreeSet<Arc<str>>,
    /// The label or annotation that was changed although it is shared; what kustomize makes of that is not evaluated.
    pub(crate) unsure: Option<Arc<str>>,
}

impl Resource {
    pub(crate) fn new(value: Value, origin: Origin) -> Self {
        Self {
            value,
            origin,
            through: Vec::new(),
            deleted: false,
            shared: BTreeSet::new(),
            unsure: None,
        }
    }

    /// Notes whether a change touched a label or annotation that is shared.
    pub(crate) fn note_shared(&mut self, before: &Value) {
        let changed = |key: &&Arc<str>| values_of(before, key) != values_of(&self.value, key);
        if let Some(key) = self.shared.iter().find(changed) {
            self.unsure = Some(key.clone());
        }
    }

    /// Gives what it is called now.
    pub(crate) fn id(&self) -> Id {
        id_of(&self.value)
    }

    /// Gives what it was called before, the oldest first.
    pub(crate) fn previous(&self) -> Vec<Id> {
        let annotations = self.value.at(&["metadata", "annotations"]);
        let list = |key: &str| {
            annotations
                .and_then(|map| map.get(key))
                .map(|text| text.raw().split(','))
        };
        let (Some(names), Some(namespaces), Some(kinds)) = (list(NAMES), list(NAMESPACES), list(KINDS)) else {
            return Vec::new();
        };
        let api_version = raw_at(&self.value, &["apiVersion"]);
        names
            .zip(namespaces)
            .zip(kinds)
            .map(|((name, namespace), kind)| Id {
                api_version: api_version.to_owned(),
                kind: kind.to_owned(),
                name: name.to_owned(),
                namespace: namespace.to_owned(),
            })
            .collect()
    }

    /// Tells whether it had no name or no kind when it should be remembered; kustomize then ends with a panic.
    pub(crate) fn was_nameless(&self) -> bool {
        let count = |key: &str| self.words(key).len();
        count(NAMES) != count(KINDS) || count(NAMES) != count(NAMESPACES)
    }

    /// Gives what its origin calls it.
    pub(crate) fn original(&self) -> Id {
        self.previous().into_iter().next().unwrap_or_else(|| self.id())
    }

    /// Gives everything that it is or was called.
    pub(crate) fn ids(&self) -> Vec<Id> {
        let mut ids = self.previous();
        ids.push(self.id());
        ids
    }

    /// Remembers what it is called now.
    pub(crate) fn remember(&mut self) {
        let id = self.id();
        self.append(NAMES, &id.name);
        self.append(NAMESPACES, id.effective_namespace().unwrap_or("_non_namespaceable_"));
        self.append(KINDS, &id.kind);
    }

    /// Adds a word to a list in an annotation.
    pub(crate) fn append(&mut self, key: &str, word: &str) {
        if word.is_empty() {
            return;
        }
        let metadata = entry(&mut self.value, "metadata");
        let annotations = entry(metadata, "annotations");
        let text = match annotations.get(key).map(Value::raw) {
            Some(list) => format!("{list},{word}"),
            None => word.to_owned(),
        };
        annotations.set(key, Value::text(&text));
    }

    /// Gives the words of a list in an annotation.
    pub(crate) fn words(&self, key: &str) -> Vec<String> {
        let annotations = self.value.at(&["metadata", "annotations"]);
        let list = annotations.and_then(|map| map.get(key));
        list.map(|list| list.raw().split(',').map(ToOwned::to_owned).collect())
            .unwrap_or_default()
    }
}

/// Lists the values of a key, wherever it stands.
fn values_of<'a>(value: &'a Value, key: &str) -> Vec<&'a Value> {
    let below = value
        .as_map()
        .into_iter()
        .flat_map(BTreeMap::values)
        .chain(value.items());
    value
        .get(key)
        .into_iter()
        .chain(below.flat_map(|inner| values_of(inner, key)))
        .collect()
}

/// Gives what a value calls itself.
pub(crate) fn id_of(value: &Value) -> Id {
    Id {
        api_version: raw_at(value, &["apiVersion"]).to_owned(),
        kind: raw_at(value, &["kind"]).to_owned(),
        name: raw_at(value, &["metadata", "name"]).to_owned(),
        namespace: raw_at(value, &["metadata", "namespace"]).to_owned(),
    }
}

/// Gives the scalar at a path; empty where there is none or null.
pub(crate) fn raw_at<'a>(value: &'a Value, path: &[&str]) -> &'a str {
    value
        .at(path)
        .filter(|found| !found.is_null())
        .map(Value::raw)
        .unwrap_or_default()
}

/// Gives the mapping at a key, made where it is not there.
pub(crate) fn entry<'a>(value: &'a mut Value, key: &str) -> &'a mut Value {
    static NOTHING: Value = Value::Null;
    if !matches!(value, Value::Map(_)) {
        *value = Value::map();
    }
    if value.get(key).unwrap_or(&NOTHING).is_null() {
        value.set(key, Value::map());
    }
    match value {
        Value::Map(map) => map.entry(key.into()).or_insert_with(Value::map),
        other => other,
    }
}

/// Gives `labels` or `annotations` as strings.
pub(crate) fn strings(value: &Value, field: &str) -> Strings {
    let map = value.at(&["metadata", field]).and_then(Value::as_map);
    map.into_iter()
        .flatten()
        .map(|(key, value)| (key.to_string(), value.raw().to_owned()))
        .collect()
}

/// Sets `labels` or `annotations`; none removes the field.
pub(crate) fn set_strings(value: &mut Value, field: &str, strings: &Strings) {
    let metadata = entry(value, "metadata");
    if strings.is_empty() {
        metadata.take(field);
        return;
    }
    let pairs = strings.iter().map(|(key, text)| (key.as_str(), text.as_str()));
    metadata.set(field, Value::strings(pairs));
}

/// Sets one scalar of `metadata`.
pub(crate) fn set_metadata(value: &mut Value, field: &str, text: &str) {
    entry(value, "metadata").set(field, Value::text(text));
}

/// Counts how often each id is there now.
pub(crate) fn counts(resources: &[Resource]) -> BTreeMap<OwnedKey, usize> {
    let mut counts = BTreeMap::new();
    for resource in resources.iter().filter(|resource| !resource.deleted) {
        *counts.entry(owned_key(&resource.id())).or_insert(0) += 1;
    }
    counts
}

/// Finds the first object whose id another one before it has.
pub(crate) fn twice(resources: &[Resource]) -> Option<OwnedKey> {
    let mut known = BTreeSet::new();
    let there = resources.iter().filter(|resource| !resource.deleted);
    let mut keys = there.map(|resource| owned_key(&resource.id()));
    keys.find(|key| !known.insert(key.clone()))
}

/// An id to look up by.
pub(crate) type OwnedKey = (Arc<str>, Arc<str>, Arc<str>, Option<Arc<str>>);

/// Gives an id to look up by.
pub(crate) fn owned_key(id: &Id) -> OwnedKey {
    let (api_version, kind, name, namespace) = id.key();
    (api_version.into(), kind.into(), name.into(), namespace.map(Into::into))
}
