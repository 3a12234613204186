//! Fields of objects that kustomize sets in many kinds.
//!
//! In: an object and where a field is. Out: a visit to each place where it is, made where that is wanted.

use crate::id::{Gvk, Id};
use crate::value::Value;

/// Where a field is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldSpec {
    pub(crate) gvk: Gvk,
    pub(crate) path: String,
    pub(crate) create: bool,
}

/// What is made where the field is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Make {
    Nothing,
    Scalar,
    Mapping,
}

/// Makes a field of any kind, which is set where it is.
pub(crate) fn field(path: &str) -> FieldSpec {
    FieldSpec {
        gvk: Gvk::default(),
        path: path.to_owned(),
        create: false,
    }
}

/// Makes a field of any kind, which is made where it is not.
pub(crate) fn made_field(path: &str) -> FieldSpec {
    FieldSpec {
        create: true,
        ..field(path)
    }
}

/// Reads a table with `GROUP|VERSION|KIND PATH` on each line; `+` before the path makes it where it is not there.
pub(crate) fn table(text: &str) -> Vec<FieldSpec> {
    text.lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(gvk, path)| FieldSpec {
            gvk: Gvk::parse(gvk),
            path: path.trim_start_matches('+').to_owned(),
            create: path.starts_with('+'),
        })
        .collect()
}

/// Visits a field of an object of a kind that the field is in; `Err` says why kustomize stops.
pub(crate) fn visit(
    object: &mut Value,
    spec: &FieldSpec,
    make: Make,
    set: &mut dyn FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    let id = Id {
        api_version: object.get("apiVersion").map(Value::raw).unwrap_or_default().to_owned(),
        kind: object.get("kind").map(Value::raw).unwrap_or_default().to_owned(),
        ..Id::default()
    };
    if !spec.gvk.selects(&id) {
        return Ok(());
    }
    let path = split(&spec.path);
    let make = if spec.create { make } else { Make::Nothing };
    walk(object, &path, make, set).map_err(|reason| format!("{reason} (field `{}`)", spec.path))
}

/// Splits a path at `/`, where `\/` stands for the character itself.
pub(crate) fn split(path: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut joins = false;
    for part in path.strip_prefix('/').unwrap_or(path).split('/') {
        let text = part.strip_suffix('\\').unwrap_or(part);
        match parts.last_mut() {
            Some(last) if joins => {
                last.push('/');
                last.push_str(text);
            }
            _ => parts.push(text.to_owned()),
        }
        joins = part.ends_with('\\');
    }
    parts
}

fn walk(
    value: &mut Value,
    path: &[String],
    make: Make,
    set: &mut dyn FnMut(&mut Value) -> Result<(), String>,
) -> Result<(), String> {
    let Some((first, rest)) = path.split_first() else {
        return set(value);
    };
    match value {
        value if value.is_null() => Ok(()),
        Value::List(items) => items.iter_mut().try_for_each(|item| walk(item, path, make, set)),
        Value::Map(map) => {
            let name = first.trim_end_matches("[]");
            let is_list = name.len() < first.len();
            let made = match make {
                _ if is_list => None,
                Make::Nothing => None,
                Make::Scalar if rest.is_empty() => Some(Value::text("")),
                _ => Some(Value::map()),
            };
            match (map.get(name), made) {
                (None, None) => return Ok(()),
                (Some(there), _) if there.is_null() && is_list => {
                    map.insert(name.into(), Value::List(Vec::new()));
                }
                (None, Some(made)) => {
                    map.insert(name.into(), made);
                }
                (Some(there), Some(made)) if there.is_null() => {
                    map.insert(name.into(), made);
                }
                (Some(_), _) => {}
            }
            match map.get_mut(name) {
                Some(next) => walk(next, rest, make, set),
                None => Ok(()),
            }
        }
        _ => Err("a scalar stands where a mapping or list is wanted".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_split_at_slashes_that_are_not_escaped() {
        assert_eq!(
            split("metadata/annotations/a.b\\/c"),
            ["metadata", "annotations", "a.b/c"]
        );
        assert_eq!(split("spec/containers[]/image"), ["spec", "containers[]", "image"]);
    }
}
