//! The `metadata` of an object, which no definition describes.

use serde_json::Value;

use super::{Kind, Violation, is_open, is_variable, join, type_of};

/// What a field of `metadata` holds.
enum Holds {
    Text,
    Number,
    Texts,
    List,
}

/// Gives what a field of `metadata` holds; `None` for one that there is not (`ObjectMeta` of `k8s.io/apimachinery`).
fn field(name: &str) -> Option<Holds> {
    Some(match name {
        "name" | "generateName" | "namespace" | "selfLink" | "uid" | "resourceVersion" | "creationTimestamp"
        | "deletionTimestamp" | "clusterName" => Holds::Text,
        "generation" | "deletionGracePeriodSeconds" => Holds::Number,
        "labels" | "annotations" => Holds::Texts,
        "ownerReferences" | "finalizers" | "managedFields" => Holds::List,
        _ => return None,
    })
}

/// Checks the head of an object at a path.
pub(super) fn check(object: &Value, path: &str, violations: &mut Vec<Violation>) {
    for name in ["apiVersion", "kind"] {
        let path = join(path, name);
        match object.get(name) {
            None => violations.push(violation(path, Kind::Required, "must be there".to_owned())),
            Some(Value::String(_)) => {}
            Some(other) => wrong_type(path, "a string", other, violations),
        }
    }
    let path = join(path, "metadata");
    match object.get("metadata") {
        None | Some(Value::Null) => {}
        Some(Value::Object(fields)) => {
            for (name, value) in fields {
                check_field(name, value, &join(&path, name), violations);
            }
        }
        Some(other) => wrong_type(path, "an object", other, violations),
    }
}

fn check_field(name: &str, value: &Value, path: &str, violations: &mut Vec<Violation>) {
    if value.is_null() || is_open(value) || is_variable(name) {
        return;
    }
    let path = path.to_owned();
    match field(name) {
        None => violations.push(violation(
            path,
            Kind::UnknownField,
            "is no field of `metadata`".to_owned(),
        )),
        Some(Holds::Text) if !value.is_string() => wrong_type(path, "a string", value, violations),
        Some(Holds::Number) if !value.is_i64() => wrong_type(path, "an integer", value, violations),
        Some(Holds::List) if !value.is_array() => wrong_type(path, "a list", value, violations),
        Some(Holds::Texts) => match value {
            Value::Object(texts) => {
                let wrong = texts.iter().filter(|(_, text)| !text.is_string() && !text.is_null());
                for (key, other) in wrong {
                    wrong_type(join(&path, key), "a string", other, violations);
                }
            }
            other => wrong_type(path, "an object", other, violations),
        },
        Some(_) => {}
    }
}

fn wrong_type(field: String, wanted: &str, found: &Value, violations: &mut Vec<Violation>) {
    violations.push(violation(
        field,
        Kind::Type,
        format!("must be {wanted}, and is {}", type_of(found)),
    ));
}

fn violation(field: String, kind: Kind, message: String) -> Violation {
    Violation { field, kind, message }
}
