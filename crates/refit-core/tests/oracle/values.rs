//! Nodes of documents and built objects as values of JSON.

use refit_kustomize::Value as Built;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Value as Scalar;
use serde_json::{Map, Number, Value};

/// Reads a node; aliases and `<<` are followed.
pub(crate) fn of_node(node: NodeRef<'_>) -> Value {
    match node.target().kind() {
        Kind::Mapping(_) => Value::Object(mapping(node.target())),
        Kind::Sequence(_) => Value::Array(node.target().items().map(of_node).collect()),
        Kind::Scalar(_) | Kind::Alias => match node.target().value() {
            None | Some(Scalar::Null) => Value::Null,
            Some(Scalar::Bool(flag)) => Value::Bool(flag),
            Some(Scalar::Int(number)) => Number::from_i128(number).map_or(Value::Null, Value::Number),
            Some(Scalar::Float(number)) => Number::from_f64(number).map_or(Value::Null, Value::Number),
            Some(Scalar::Text(text)) => Value::String(text.to_owned()),
        },
    }
}

fn mapping(node: NodeRef<'_>) -> Map<String, Value> {
    let mut map = Map::new();
    for (key, value) in node.entries() {
        match key.text().unwrap_or_default() {
            "<<" => {
                if let Value::Object(merged) = of_node(value) {
                    merged.into_iter().for_each(|(key, value)| {
                        map.entry(key).or_insert(value);
                    });
                }
            }
            name => {
                map.insert(name.to_owned(), of_node(value));
            }
        }
    }
    map
}

/// Reads a built object.
pub(crate) fn of_built(built: &Built) -> Value {
    match built {
        Built::Null => Value::Null,
        Built::Bool(flag) => Value::Bool(*flag),
        Built::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_string())),
        Built::Text(text) => Value::String(text.to_string()),
        Built::List(items) => Value::Array(items.iter().map(of_built).collect()),
        Built::Map(map) => Value::Object(
            map.iter()
                .map(|(key, value)| (key.to_string(), of_built(value)))
                .collect(),
        ),
    }
}
