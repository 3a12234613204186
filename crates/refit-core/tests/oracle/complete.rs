//! Objects with every field that their version has in a release: what the real repositories do not use is judged, too.
//!
//! They are made of the schemas in the release manifests. A branch of alternatives that cannot stand together is made in
//! the first way that the schema accepts.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use refit_manifest::{Entry, Path, Tree};
use serde_json::{Map, Value, json};

use crate::definitions::Definitions;
use crate::repositories::Repository;

/// Fields of which an object has one: each object is made without the one and without the other.
const EITHER: [&str; 2] = ["chartRef", "chart"];

/// Texts of which one fits nearly every pattern of the definitions.
const TEXTS: [&str; 9] = [
    "app",
    "5m",
    "https://example.com/app",
    "oci://example.com/app",
    "v1",
    "spec.values",
    "main",
    "sha256:0000000000000000000000000000000000000000000000000000000000000000",
    "*/5 * * * *",
];

/// Makes the objects of all versions of some releases; the same object is there once.
pub(crate) fn repository<'a>(releases: impl IntoIterator<Item = (&'a str, &'a Definitions)>) -> Repository {
    let (mut tree, mut texts) = (Tree::new(), BTreeSet::new());
    for (release, definitions) in releases {
        for (group, kind, version, schema) in definitions.schemas() {
            let Some(spec) = schema.pointer("/properties/spec") else {
                continue;
            };
            for (at, spec) in forms(value(spec, "spec")).into_iter().enumerate() {
                let text = write(&json!({
                    "apiVersion": format!("{group}/{version}"),
                    "kind": kind,
                    "metadata": {"name": "complete", "namespace": "apps"},
                    "spec": spec,
                }));
                if texts.insert(text.clone()) {
                    let path = Path::new(format!("{kind}/{version}/{release}-{at}.yaml"));
                    tree.insert(path, Entry::file(text.into_bytes()));
                }
            }
        }
    }
    let name = "complete".to_owned();
    Repository { name, tree }
}

/// Gives a spec as it is, or in two forms where it has both fields of a pair.
fn forms(spec: Value) -> Vec<Value> {
    if EITHER.iter().any(|name| spec.get(name).is_none()) {
        return vec![spec];
    }
    let without = |name: &str| {
        let mut spec = spec.clone();
        spec.as_object_mut().unwrap().remove(name);
        spec
    };
    EITHER.iter().map(|name| without(name)).collect()
}

/// Makes a value with all fields of a schema.
fn value(schema: &Value, name: &str) -> Value {
    let given = schema.pointer("/enum/0").or_else(|| schema.get("default"));
    if let Some(given) = given.filter(|given| !given.is_object()) {
        return given.clone();
    }
    match schema.get("type").and_then(Value::as_str) {
        Some("object") => object(schema, name),
        Some("array") => {
            let item = value(schema.get("items").unwrap_or(&Value::Null), name);
            Value::Array(vec![item])
        }
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        _ => json!(text(schema, name)),
    }
}

fn object(schema: &Value, name: &str) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut map = Map::new();
    for (key, of_field) in properties.into_iter().flatten() {
        map.insert(key.clone(), value(of_field, key));
    }
    if let Some(of_each) = schema.get("additionalProperties").filter(|of_each| of_each.is_object()) {
        map.insert("key".to_owned(), value(of_each, name));
    }
    Value::Object(map)
}

fn text(schema: &Value, name: &str) -> String {
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let fits = |text: &&str| {
        let regex = pattern.and_then(|pattern| regex::Regex::new(pattern).ok());
        regex.is_none_or(|regex| regex.is_match(text))
    };
    let first = match name {
        "apiVersion" => "apps/v1",
        "kind" => "Deployment",
        "url" => "https://example.com/app",
        "interval" | "timeout" | "retryInterval" => "5m",
        _ => "app",
    };
    let text = std::iter::once(first).chain(TEXTS).find(fits);
    text.unwrap_or_else(|| panic!("no text for {name} fits {pattern:?}"))
        .to_owned()
}

/// Writes a value in blocks.
fn write(object: &Value) -> String {
    let mut text = String::new();
    block(object, 0, &mut text);
    text
}

fn block(value: &Value, depth: usize, out: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                write!(out, "{indent}{key}:").unwrap();
                below(value, depth + 1, out);
            }
        }
        Value::Array(items) => {
            for item in items {
                let mut text = String::new();
                block(item, depth + 1, &mut text);
                writeln!(out, "{indent}- {}", text.trim()).unwrap();
            }
        }
        scalar => writeln!(out, "{indent}{scalar}").unwrap(),
    }
}

fn below(value: &Value, depth: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, depth, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(value, depth, out);
        }
        scalar => writeln!(out, " {scalar}").unwrap(),
    }
}
