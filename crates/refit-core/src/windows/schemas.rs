//! The schemas of definitions by release, and whether an old version can hold what a newer one adds.
//!
//! In: manifests of releases. Out: [`Schemas`]. The second question decides whether managed fields stand in the way: the
//! API server reads a live object in the version of each managed field, and refuses to apply a new version as long as it
//! finds a field there that the old one does not know (fluxcd/flux2#4862, #4479; tried on a real API server).

use std::collections::BTreeMap;

use refit_manifest::Stream;
use serde_json::Value;

use crate::release::Version;
use crate::structural::Schema;
use crate::value;

/// The schemas of definitions, as far as release contents are at hand.
#[derive(Clone, Debug, Default)]
pub struct Schemas(BTreeMap<(Version, String), BTreeMap<String, Held>>);

/// The schema of a version.
#[derive(Clone, Debug)]
struct Held {
    schema: Schema,
    /// Whether it knows every field that an object may have by itself: defaults of any version, and status.
    holds_all: bool,
}

impl Schemas {
    /// Adds those of a definition of a release; versions without a schema that can be read, or with one that says nothing
    /// of any field, are left out.
    pub fn add(&mut self, release: &Version, definition: &Value) {
        let Some(name) = definition.pointer("/metadata/name").and_then(Value::as_str) else {
            return;
        };
        let read = |version: &'_ Value| {
            let name = version.get("name")?.as_str()?.to_owned();
            let schema = Schema::read(definition, &name).ok()?;
            let raw = version.pointer("/schema/openAPIV3Schema")?.clone();
            let says = ["properties", "x-kubernetes-preserve-unknown-fields"];
            says.iter().find(|key| raw.get(key).is_some())?;
            Some((name, schema, raw))
        };
        let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
        let read: Vec<(String, Schema, Value)> = versions.into_iter().flatten().filter_map(read).collect();
        let holds_all = |own: &Value| {
            let spec = own.pointer("/properties/spec").unwrap_or(&Value::Null);
            read.iter().all(|(.., other)| !lacks(own, other, &Part::Whole { spec }))
        };
        let all: Vec<bool> = read.iter().map(|(.., raw)| holds_all(raw)).collect();
        let held = |((name, schema, _), holds_all)| (name, Held { schema, holds_all });
        let versions = read.into_iter().zip(all).map(held).collect();
        self.0.insert((release.clone(), name.to_owned()), versions);
    }

    /// Adds those of all definitions of a manifest.
    pub fn add_all(&mut self, release: &Version, manifest: &Stream) {
        for document in manifest.documents() {
            if &*document.head().kind == "CustomResourceDefinition"
                && let Some(definition) = document.root().and_then(value::of)
            {
                self.add(release, &definition);
            }
        }
    }

    pub(super) fn get(&self, release: &Version, crd: &str, version: &str) -> Option<&Schema> {
        let versions = self.0.get(&(release.clone(), crd.to_owned()))?;
        versions.get(version).map(|held| &held.schema)
    }

    /// Tells whether a version knows every field that an object may have by itself at a release: defaults of any version,
    /// and status. `false` also where schemas are missing.
    pub(super) fn holds_all(&self, release: &Version, crd: &str, version: &str) -> bool {
        let versions = self.0.get(&(release.clone(), crd.to_owned()));
        versions
            .and_then(|versions| versions.get(version))
            .is_some_and(|held| held.holds_all)
    }
}

/// Which part of an object a schema is of.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// All of it, with the old schema of `spec`.
    Whole { spec: &'a Value },
    /// What people write; only defaults are there by themselves.
    Spec,
    /// What controllers write.
    Status { spec: &'a Value },
}

/// Tells whether a schema lacks a field of another that may be there by itself.
fn lacks(own: &Value, other: &Value, part: &Part<'_>) -> bool {
    if own.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true)) {
        return false;
    }
    let below = |key: &str| match (own.get(key), other.get(key)) {
        (Some(own), Some(other)) => lacks(own, other, part),
        _ => false,
    };
    let known = |name: &str| own.get("properties").and_then(|properties| properties.get(name));
    let properties = other.get("properties").and_then(Value::as_object);
    let misses = |(name, other): (&String, &Value)| match (known(name), part) {
        (_, Part::Whole { .. }) if matches!(name.as_str(), "apiVersion" | "kind" | "metadata") => false,
        (Some(own), Part::Whole { spec }) if name == "status" => lacks(own, other, &Part::Status { spec }),
        (Some(own), Part::Whole { .. }) => lacks(own, other, &Part::Spec),
        (Some(own), part) => lacks(own, other, part),
        (None, _) if own.get("additionalProperties").is_some() => false,
        (None, Part::Status { spec }) => !is_note_of_unknown(name, spec),
        (None, _) => other.get("default").is_some(),
    };
    properties.into_iter().flatten().any(misses) || below("items") || below("additionalProperties")
}

/// Tells whether a field of status notes a field of spec that the old version does not have, and so is not there.
fn is_note_of_unknown(name: &str, spec: &Value) -> bool {
    let Some(noted) = name.strip_prefix("observed") else {
        return false;
    };
    let mut letters = noted.chars();
    let first = letters.next().map(|first| first.to_ascii_lowercase());
    let noted: String = first.into_iter().chain(letters).collect();
    noted != "generation"
        && spec
            .get("properties")
            .is_some_and(|properties| properties.get(&noted).is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(old: Value, new: Value, expected: bool) {
        let version = |name: &str, properties: &Value| json!({"name": name, "schema": {"openAPIV3Schema": {"type": "object", "properties": properties}}});
        let definition = json!({"metadata": {"name": "as.b.c"}, "spec": {"versions": [version("v1beta1", &old), version("v1", &new)]}});
        let mut schemas = Schemas::default();
        let release = Version::new(2, 0, 0);
        schemas.add(&release, &definition);
        assert_eq!(
            schemas.holds_all(&release, "as.b.c", "v1beta1"),
            expected,
            "{old} {new}"
        );
    }

    #[test]
    fn an_old_version_must_know_defaults_and_status_but_no_other_field() {
        let spec = |properties: Value| json!({"spec": {"type": "object", "properties": properties}});
        let status = |properties: Value| json!({"spec": {"properties": {"a": {}}}, "status": {"type": "object", "properties": properties}});
        check(spec(json!({"a": {}})), spec(json!({"a": {}, "b": {}})), true);
        check(
            spec(json!({"a": {}})),
            spec(json!({"a": {}, "b": {"default": 1}})),
            false,
        );
        check(
            spec(json!({"a": {"properties": {}}})),
            spec(json!({"a": {"properties": {"b": {"default": 1}}}})),
            false,
        );
        check(
            spec(json!({"a": {"items": {"properties": {}}}})),
            spec(json!({"a": {"items": {"properties": {"b": {"default": 1}}}}})),
            false,
        );
        check(
            spec(json!({"a": {"x-kubernetes-preserve-unknown-fields": true}})),
            spec(json!({"a": {"properties": {"b": {"default": 1}}}})),
            true,
        );
        check(status(json!({"x": {}})), status(json!({"x": {}, "history": {}})), false);
        check(
            status(json!({"x": {}})),
            status(json!({"x": {}, "observedA": {}})),
            false,
        );
        check(
            status(json!({"x": {}})),
            status(json!({"x": {}, "observedB": {}})),
            true,
        );
    }

    #[test]
    fn nothing_is_claimed_without_schemas() {
        let release = Version::new(2, 0, 0);
        assert!(!Schemas::default().holds_all(&release, "as.b.c", "v1"));
        let mut schemas = Schemas::default();
        let version = json!({"name": "v1", "schema": {"openAPIV3Schema": {"type": "object"}}});
        schemas.add(
            &release,
            &json!({"metadata": {"name": "as.b.c"}, "spec": {"versions": [version]}}),
        );
        assert!(!schemas.holds_all(&release, "as.b.c", "v1"));
        assert!(schemas.get(&release, "as.b.c", "v1").is_none());
    }
}
