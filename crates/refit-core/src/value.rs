//! Turns nodes of YAML documents into plain values.
//!
//! In: nodes. Out: [`serde_json::Value`]s, from which serde makes types. Does not know what the values mean.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_kustomize::Value as Built;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Value as Scalar;
use serde_json::{Map, Number, Value};

/// The most values that one text may yield; aliases can make a small text endless.
const LIMIT: usize = 1_000_000;

/// Converts a node with all that is below it; aliases and `<<` are followed. `None` when it has too many values.
pub(crate) fn of(node: NodeRef<'_>) -> Option<Value> {
    convert(node, &mut LIMIT.clone())
}

/// Finds the first key that stands twice in a mapping, as a field such as `spec.clusters[0].name`; aliases are not followed.
pub(crate) fn twice(node: NodeRef<'_>) -> Option<String> {
    let mut seen = BTreeSet::new();
    for (key, value) in node.entries() {
        let name = key.text().unwrap_or_default();
        if name != "<<" && !seen.insert(name) {
            return Some(name.to_owned());
        }
        if let Some(below) = below(value) {
            return Some(format!(
                "{name}{}{below}",
                if below.starts_with('[') { "" } else { "." }
            ));
        }
    }
    node.items().enumerate().find_map(|(at, item)| {
        let below = below(item)?;
        Some(format!(
            "[{at}]{}{below}",
            if below.starts_with('[') { "" } else { "." }
        ))
    })
}

fn below(node: NodeRef<'_>) -> Option<String> {
    match node.kind() {
        Kind::Alias | Kind::Scalar(_) => None,
        Kind::Mapping(_) | Kind::Sequence(_) => twice(node),
    }
}

/// Gives a complaint about the shape of a value in the words of people who write YAML.
pub(crate) fn plain(error: &serde_json::Error) -> serde_json::Error {
    let text = error.to_string();
    let Some((before, named)) = text.split_once("struct ") else {
        return serde::de::Error::custom(text);
    };
    let rest = match named.split_once(" elements") {
        Some((_, rest)) => rest,
        None => named.split_once(' ').map_or("", |(_, rest)| rest),
    };
    let before = match before.starts_with("invalid length") {
        true => "a list stands there, expected ",
        false => before,
    };
    let blank = if rest.is_empty() { "" } else { " " };
    serde::de::Error::custom(format!("{before}a mapping{blank}{}", rest.trim_start()))
}

/// Converts a value that was built.
pub(crate) fn of_built(value: &Built) -> Value {
    match value {
        Built::Null => Value::Null,
        Built::Bool(flag) => Value::Bool(*flag),
        Built::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        Built::Text(text) => Value::String(text.to_string()),
        Built::List(items) => items.iter().map(of_built).collect(),
        Built::Map(map) => {
            let entry = |(key, value): (&Arc<str>, &Built)| (key.to_string(), of_built(value));
            Value::Object(map.iter().map(entry).collect())
        }
    }
}

fn convert(node: NodeRef<'_>, left: &mut usize) -> Option<Value> {
    *left = left.checked_sub(1)?;
    match node.target().kind() {
        Kind::Mapping(_) => mapping(node, left).map(Value::Object),
        Kind::Sequence(_) => {
            let items: Option<Vec<_>> = node.items().map(|item| convert(item, left)).collect();
            items.map(Value::Array)
        }
        Kind::Scalar(_) | Kind::Alias => Some(scalar(node)),
    }
}

fn mapping(node: NodeRef<'_>, left: &mut usize) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for (key, value) in node.entries() {
        let name = key.text().unwrap_or_default();
        if name == "<<" {
            merge(&mut map, value, left)?;
        } else {
            map.insert(name.to_owned(), convert(value, left)?);
        }
    }
    Some(map)
}

fn merge(map: &mut Map<String, Value>, source: NodeRef<'_>, left: &mut usize) -> Option<()> {
    let sources = match source.target().kind() {
        Kind::Sequence(_) => source.items().collect(),
        _ => vec![source],
    };
    for source in sources {
        for (key, value) in mapping(source, left)? {
            map.entry(key).or_insert(value);
        }
    }
    Some(())
}

fn scalar(node: NodeRef<'_>) -> Value {
    match node.value() {
        None | Some(Scalar::Null) => Value::Null,
        Some(Scalar::Bool(flag)) => Value::Bool(flag),
        Some(Scalar::Int(number)) => Number::from_i128(number).map_or(Value::Null, Value::Number),
        Some(Scalar::Float(number)) => Number::from_f64(number).map_or(Value::Null, Value::Number),
        Some(Scalar::Text(text)) => Value::String(text.to_owned()),
    }
}
