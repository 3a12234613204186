//! Makes types of nodes of rule files, and says in words of the file why one cannot be made.
//!
//! In: a node and a type. Out: the value, or the node that is wrong and what is wrong with it.

use refit_manifest::parse::NodeRef;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::value;

/// Makes a type of a node.
pub(super) fn of<T: DeserializeOwned>(node: NodeRef<'_>) -> Result<T, (NodeRef<'_>, String)> {
    let content = value::of(node).ok_or_else(|| (node, "the file is without end".to_owned()))?;
    serde_json::from_value(content.clone()).map_err(|error| {
        let text = error.to_string();
        match culprit::<T>(&content, &text) {
            Some(name) => {
                let at = node.entries().find(|(key, _)| key.text() == Some(&name));
                let at = at.map_or(node, |(key, _)| key);
                (at, told(&text, &format!("`{name}`")))
            }
            None => (node, told(&text, "it")),
        }
    })
}

/// Finds the field whose value is wrong: with the fields in front of it alone, another error or none is given.
fn culprit<T: DeserializeOwned>(content: &Value, error: &str) -> Option<String> {
    if !error.starts_with("invalid ") && !error.starts_with("data did not match") {
        return None;
    }
    let mut some = Map::new();
    for (name, value) in content.as_object()? {
        some.insert(name.clone(), value.clone());
        let tried = serde_json::from_value::<T>(Value::Object(some.clone()));
        if tried.is_err_and(|tried| tried.to_string() == error) {
            return Some(name.clone());
        }
    }
    None
}

/// Says an error of serde in words of the file; `what` is the field that it is about.
fn told(error: &str, what: &str) -> String {
    if let Some(field) = error.strip_prefix("missing field ") {
        return format!("{field} is missing");
    }
    if let Some(field) = error.strip_prefix("duplicate field ") {
        return format!("{field} stands twice");
    }
    for kind in ["field", "variant"] {
        let Some(rest) = error.strip_prefix("unknown ").and_then(|rest| rest.strip_prefix(kind)) else {
            continue;
        };
        let (name, known) = rest.split_once(", expected ").unwrap_or((rest, ""));
        let known = known.trim_start_matches("one of ");
        let known = if known.is_empty() {
            String::new()
        } else {
            format!("; known are {known}")
        };
        return format!("unknown field{name}{known}");
    }
    let Some(rest) = error
        .strip_prefix("invalid type: ")
        .or_else(|| error.strip_prefix("invalid value: "))
    else {
        return match error.starts_with("data did not match") {
            true => format!("{what} is no text, number or flag"),
            false => error.to_owned(),
        };
    };
    let (found, wanted) = rest.split_once(", expected ").unwrap_or((rest, ""));
    format!("{what} is {}, but must be {}", found_word(found), wanted_word(wanted))
}

/// Names what stands in the file, without its value.
fn found_word(found: &str) -> &'static str {
    match found.split(' ').next().unwrap_or_default() {
        "null" | "unit" => "empty",
        "boolean" => "a flag",
        "integer" | "floating" | "number" => "a number",
        "string" => "a text",
        "sequence" => "a list",
        "map" => "a mapping",
        _ => "something else",
    }
}

/// Names what must stand in the file.
fn wanted_word(wanted: &str) -> &'static str {
    match wanted {
        "a string" => "a text",
        "a boolean" => "`true` or `false`",
        "a sequence" => "a list",
        wanted if wanted.starts_with("struct") || wanted == "a map" => "a mapping",
        wanted if wanted.starts_with("enum") || wanted.contains("enum") => "a mapping with one field",
        wanted if wanted.starts_with(['u', 'i']) => "a whole number",
        _ => "of another form",
    }
}
