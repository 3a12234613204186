//! The fields that a schema does not have.

use serde_json::{Map, Value};

use super::{Kind, Violation, flag, is_variable, join, meta};

/// Finds every field of an object that its schema does not have.
pub(super) fn check(schema: &Value, object: &Value, violations: &mut Vec<Violation>) {
    if let Value::Object(fields) = object {
        let outside = |name: &str| matches!(name, "apiVersion" | "kind" | "metadata");
        object_fields(
            schema,
            fields,
            &Place {
                path: "",
                outside: &outside,
            },
            violations,
        );
    }
}

struct Place<'a> {
    path: &'a str,
    /// Fields that need no schema.
    outside: &'a dyn Fn(&str) -> bool,
}

fn walk(schema: &Value, value: &Value, path: &str, violations: &mut Vec<Violation>) {
    match value {
        Value::Object(fields) if flag(schema, "x-kubernetes-embedded-resource") => {
            meta::check(value, path, violations);
            let outside = |name: &str| matches!(name, "apiVersion" | "kind" | "metadata");
            object_fields(
                schema,
                fields,
                &Place {
                    path,
                    outside: &outside,
                },
                violations,
            );
        }
        Value::Object(fields) => object_fields(
            schema,
            fields,
            &Place {
                path,
                outside: &|_| false,
            },
            violations,
        ),
        Value::Array(items) => {
            let Some(of_item) = schema.get("items") else { return };
            for (at, item) in items.iter().enumerate() {
                walk(of_item, item, &format!("{path}[{at}]"), violations);
            }
        }
        _ => {}
    }
}

fn object_fields(schema: &Value, fields: &Map<String, Value>, place: &Place<'_>, violations: &mut Vec<Violation>) {
    // A value of another type is told as such, not field by field.
    let of_object = schema.get("type").and_then(Value::as_str).unwrap_or("object") == "object";
    if !of_object || flag(schema, "x-kubernetes-int-or-string") {
        return;
    }
    let properties = schema.get("properties");
    let additional = schema.get("additionalProperties");
    for (name, value) in fields {
        let path = join(place.path, name);
        if let Some(of_field) = properties.and_then(|properties| properties.get(name)) {
            if !(place.outside)(name) {
                walk(of_field, value, &path, violations);
            }
            continue;
        }
        match additional {
            Some(Value::Bool(true)) => {}
            Some(of_field @ Value::Object(_)) => walk(of_field, value, &path, violations),
            _ if (place.outside)(name) || flag(schema, "x-kubernetes-preserve-unknown-fields") || is_variable(name) => {
            }
            _ => violations.push(Violation {
                field: path,
                kind: Kind::UnknownField,
                message: "is no field of this version".to_owned(),
            }),
        }
    }
}
