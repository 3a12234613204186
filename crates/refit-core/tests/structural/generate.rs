//! Makes objects of a schema, and spoils them in one place.

use refit_testkit::random::Random;
use serde_json::{Map, Value, json};

/// Makes a value that fits a schema, as far as patterns are known here.
pub(crate) fn value(schema: &Value, random: &mut Random) -> Value {
    if schema["x-kubernetes-int-or-string"] == true {
        return json!(3);
    }
    if let Some(allowed) = schema["enum"].as_array() {
        return random.pick(allowed).cloned().unwrap_or_default();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "object" => object(schema, random),
        "array" => {
            let least = schema["minItems"].as_u64().unwrap_or(0) as usize;
            let items = least.max(random.below(3));
            Value::Array(
                (0..items.min(1 + least))
                    .map(|_| value(&schema["items"], random))
                    .collect(),
            )
        }
        "string" => text(schema),
        "integer" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "number" => json!(1.5),
        "boolean" => json!(random.once_in(2)),
        _ => json!({"any": [1, "b"]}),
    }
}

fn object(schema: &Value, random: &mut Random) -> Value {
    let mut fields = Map::new();
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, of_field) in schema["properties"].as_object().into_iter().flatten() {
        if required.contains(&name.as_str()) || random.once_in(3) {
            fields.insert(name.clone(), value(of_field, random));
        }
    }
    if schema["additionalProperties"].is_object() {
        fields.insert("any".to_owned(), value(&schema["additionalProperties"], random));
    }
    if schema["x-kubernetes-preserve-unknown-fields"] == true && random.once_in(2) {
        fields.insert("free".to_owned(), json!({"a": [1]}));
    }
    Value::Object(fields)
}

/// The texts that fit the patterns of Flux's definitions, the plainest first.
const TEXTS: &[&str] = &[
    "a",
    "5m",
    "60s",
    "https://example.org/a",
    "ssh://example.org/a",
    "oci://example.org/a",
    "sha256:abc",
    "2024-01-02T03:04:05Z",
    "",
];

fn text(schema: &Value) -> Value {
    if schema["format"] == "date-time" {
        return json!("2024-01-02T03:04:05Z");
    }
    let least = schema["minLength"].as_u64().unwrap_or(0) as usize;
    let pattern = schema["pattern"]
        .as_str()
        .and_then(|pattern| regex::Regex::new(pattern).ok());
    let fits = |text: &&&str| text.len() >= least && pattern.as_ref().is_none_or(|pattern| pattern.is_match(text));
    json!(TEXTS.iter().find(fits).unwrap_or(&"aaaa"))
}

/// Changes a value in one place, so that it may break its schema.
pub(crate) fn spoil(value: &mut Value, random: &mut Random) {
    let places = count(value);
    let mut at = random.below(places);
    visit(value, &mut at, random);
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Object(map) => map.values().map(count).sum::<usize>(),
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

fn visit(value: &mut Value, left: &mut usize, random: &mut Random) -> bool {
    if *left == 0 {
        change(value, random);
        return true;
    }
    *left -= 1;
    match value {
        Value::Object(map) => map.values_mut().any(|value| visit(value, left, random)),
        Value::Array(items) => items.iter_mut().any(|value| visit(value, left, random)),
        _ => false,
    }
}

fn change(value: &mut Value, random: &mut Random) {
    let kind = random.below(5);
    match value {
        Value::Object(map) if kind < 2 => {
            map.insert("unknownToAll".to_owned(), json!(1));
        }
        Value::Object(map) if kind < 4 && !map.is_empty() => {
            let name = map.keys().nth(random.below(map.len())).cloned().unwrap_or_default();
            map.shift_remove(&name);
        }
        Value::Array(items) if kind < 2 && !items.is_empty() => items.push(items[0].clone()),
        Value::String(text) if kind < 2 => *text = "no such text ~".to_owned(),
        Value::String(text) if kind == 2 => *text = "a".repeat(5000),
        Value::String(text) if kind == 3 => text.clear(),
        Value::Number(_) if kind < 3 => *value = json!(-7),
        _ => {
            let others = [
                json!("text"),
                json!(12),
                json!(true),
                json!([]),
                json!({}),
                json!(null),
                json!(1.5),
            ];
            *value = random.pick(&others).cloned().unwrap_or_default();
        }
    }
}
