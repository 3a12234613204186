//! Patches by RFC 6902.
//!
//! In: the text of a patch, and an object. Out: the object after it, and for each operation what its pointer means there.
//! It follows kustomize where that differs from the standard: `replace` makes a key that is not there, and indexes below
//! zero count from the end.

use crate::built::{Operation, Step};
use crate::read::{self, Rules, Trouble, finished};
use crate::resource::INTERNAL;
use crate::value::Value;

/// One operation as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    op: String,
    path: Option<String>,
    from: Option<String>,
    value: Option<Value>,
}

/// What a patch did to one object.
pub(crate) struct Applied {
    /// The object after all operations, or after those before the one that failed.
    pub(crate) value: Value,
    /// The operations up to the one that failed.
    pub(crate) operations: Vec<Operation>,
    /// Why kustomize stops.
    pub(crate) failure: Option<String>,
}

/// Reads the operations of a patch; text that begins with `[` must be JSON.
pub(crate) fn parse(text: &str) -> Result<Vec<Written>, Trouble> {
    if text.starts_with('[') {
        let json: Result<serde_json::Value, _> = serde_json::from_str(text);
        if let Err(error) = json {
            let message = format!("a patch that begins with `[` must be JSON: {error}");
            return Err(Trouble::fails(1, message));
        }
    }
    let stream = read::split(&text.as_bytes().into())?;
    let Some(first) = stream.documents().iter().find(|document| !document.is_empty()) else {
        return Ok(Vec::new());
    };
    let line = read::line_of(text, first.body().start);
    let Some(Value::List(items)) = read::document(first, Rules::Settings)? else {
        return Err(Trouble::fails(line, "a patch by RFC 6902 is a list of operations"));
    };
    items.iter().map(|item| written(item, line)).collect()
}

fn written(item: &Value, line: usize) -> Result<Written, Trouble> {
    if item.as_map().is_none() {
        return Err(Trouble::fails(line, "an operation is a mapping with `op` and `path`"));
    }
    let text = |key: &str| item.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let value = item.get("value").cloned().map(finished).transpose();
    Ok(Written {
        op: text("op").unwrap_or_default(),
        path: text("path"),
        from: text("from"),
        value: value.map_err(|message| Trouble::fails(line, message))?,
    })
}

/// Applies operations to an object.
pub(crate) fn apply(object: &Value, patch: &[Written]) -> Applied {
    let mut applied = Applied {
        value: object.clone(),
        operations: Vec::new(),
        failure: None,
    };
    match finished(applied.value.clone()) {
        Ok(value) => applied.value = value,
        Err(message) => {
            applied.failure = Some(message);
            return applied;
        }
    }
    for (index, written) in patch.iter().enumerate() {
        let pointer = written.path.clone().unwrap_or_default();
        let mut operation = Operation {
            index,
            op: written.op.clone(),
            meaning: meaning(&applied.value, &pointer),
            before: at(&applied.value, &pointer).map(without_internal),
            value: written.value.clone(),
            from_meaning: written
                .from
                .as_ref()
                .map(|from| meaning(&applied.value, from))
                .unwrap_or_default(),
            from: written.from.clone(),
            pointer,
            resolved: true,
        };
        if let Err(reason) = run(&mut applied.value, written) {
            operation.resolved = false;
            applied.failure = Some(format!(
                "operation {index} (`{}` of `{}`): {reason}",
                operation.op, operation.pointer
            ));
        }
        applied.operations.push(operation);
        if applied.failure.is_some() {
            break;
        }
    }
    applied.value = rounded(applied.value);
    applied
}

fn run(object: &mut Value, written: &Written) -> Result<(), String> {
    let path = written.path.as_deref().ok_or("it has no `path`")?;
    let value = || written.value.clone().unwrap_or(Value::Null);
    match written.op.as_str() {
        "add" => add(object, path, value()),
        "remove" => remove(object, path).map(|_| ()),
        "replace" if path.is_empty() => match value() {
            value @ Value::Map(_) => {
                *object = value;
                Ok(())
            }
            _ => Err("an object is replaced by something else".to_owned()),
        },
        "replace" => replace(object, path, value()),
        "move" => {
            let moved = remove(object, written.from.as_deref().ok_or("it has no `from`")?)?;
            add(object, path, moved)
        }
        "copy" => {
            let from = written.from.as_deref().ok_or("it has no `from`")?;
            let (parent, key) = parent(object, from)?;
            let copied = existing(parent, &key)?.cloned().unwrap_or(Value::Null);
            add(object, path, copied)
        }
        "test" => test(object, path, &value()),
        other => Err(format!("`{other}` is no operation")),
    }
}

fn test(object: &mut Value, path: &str, wanted: &Value) -> Result<(), String> {
    let found = if path.is_empty() {
        Some(object.clone())
    } else {
        let (parent, key) = parent(object, path)?;
        existing(parent, &key)?.cloned()
    };
    if found.as_ref().unwrap_or(&Value::Null) == wanted {
        return Ok(());
    }
    let found = found.map_or("nothing".to_owned(), |value| format!("`{}`", without_internal(&value)));
    Err(format!("the value is {found}, not `{wanted}`"))
}

fn add(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (parent, key) = parent(object, path)?;
    match parent {
        Value::Map(map) => {
            map.insert(key.as_str().into(), value);
            Ok(())
        }
        Value::List(items) if key == "-" => {
            items.push(value);
            Ok(())
        }
        Value::List(items) => {
            let at = index(&key, items.len() + 1)?;
            items.insert(at, value);
            Ok(())
        }
        _ => Err(missing(path)),
    }
}

fn replace(object: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (parent, key) = parent(object, path)?;
    match parent {
        Value::Map(map) => {
            map.insert(key.as_str().into(), value);
        }
        Value::List(items) => {
            let at = index(&key, items.len())?;
            items[at] = value;
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn remove(object: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, key) = parent(object, path)?;
    match parent {
        Value::Map(map) => map.remove(key.as_str()).ok_or_else(|| missing(path)),
        Value::List(items) => {
            let at = index(&key, items.len())?;
            Ok(items.remove(at))
        }
        _ => Err(missing(path)),
    }
}

fn existing<'a>(parent: &'a Value, key: &str) -> Result<Option<&'a Value>, String> {
    match parent {
        Value::List(items) => Ok(items.get(index(key, items.len())?)),
        parent => Ok(parent.get(key)),
    }
}

fn missing(path: &str) -> String {
    format!("there is nothing at `{path}`")
}

/// Gives the collection that the last part of a pointer is in, and that part.
fn parent<'a>(object: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), String> {
    let mut parts: Vec<String> = path.split('/').skip(1).map(decoded).collect();
    let Some(last) = parts.pop() else {
        return Err(format!("`{path}` is no pointer: it must begin with `/`"));
    };
    let mut value = object;
    for part in &parts {
        value = match value {
            Value::List(items) => {
                let at = index(part, items.len())?;
                &mut items[at]
            }
            value => value.get_mut(part).ok_or_else(|| missing(path))?,
        };
        if value.scalar().is_some() {
            return Err(missing(path));
        }
    }
    Ok((value, last))
}

fn decoded(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

fn index(key: &str, length: usize) -> Result<usize, String> {
    let number: i64 = key.parse().map_err(|_| format!("`{key}` is no place in a list"))?;
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let number = if number < 0 { number + length } else { number };
    match usize::try_from(number) {
        Ok(at) if number < length => Ok(at),
        _ => Err(format!("the list has no place `{key}`")),
    }
}

fn at<'a>(object: &'a Value, path: &str) -> Option<&'a Value> {
    let mut value = object;
    for part in path.split('/').skip(1).map(decoded) {
        value = match value {
            Value::List(items) => items.get(index(&part, items.len()).ok()?)?,
            value => value.get(&part)?,
        };
    }
    Some(value)
}

/// Tells what a pointer means in an object, as far as it leads.
pub(crate) fn meaning(object: &Value, path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut value = Some(object);
    for part in path.split('/').skip(1).map(decoded) {
        let Some(here) = value else {
            steps.push(Step::Key(part));
            continue;
        };
        match here {
            Value::List(_) if part == "-" => {
                steps.push(Step::End);
                value = None;
            }
            Value::List(items) => {
                let Ok(at) = index(&part, items.len()) else {
                    let at = part.parse().unwrap_or(items.len());
                    steps.push(Step::Element {
                        index: at,
                        identity: Vec::new(),
                    });
                    value = None;
                    continue;
                };
                let list = steps.iter().rev().find_map(|step| match step {
                    Step::Key(key) => Some(key.as_str()),
                    _ => None,
                });
                let kind = object.get("kind").map(Value::raw).unwrap_or_default();
                steps.push(Step::Element {
                    index: at,
                    identity: identity(&items[at], kind, list.unwrap_or_default()),
                });
                value = items.get(at);
            }
            other => {
                value = other.get(&part);
                steps.push(Step::Key(part));
            }
        }
    }
    steps
}

/// Tells what an element of a list is called: by the keys that Kubernetes gives its list, else by its name.
fn identity(item: &Value, kind: &str, list: &str) -> Vec<(String, String)> {
    let of = |key: &str, default: Option<&str>| {
        let value = item.get(key).map(Value::raw).or(default)?;
        Some((key.to_owned(), value.to_owned()))
    };
    let known = refit_manifest::schema::kubernetes_keys(kind, list);
    let keyed: Option<Vec<_>> = known.and_then(|keys| keys.iter().map(|(key, default)| of(key, *default)).collect());
    keyed.unwrap_or_else(|| of("name", None).into_iter().collect())
}

/// Leaves out what the evaluator itself notes in an object.
pub(crate) fn without_internal(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let kept = map.iter().filter(|(key, _)| !key.starts_with(INTERNAL));
            let kept = kept.map(|(key, value)| (key.clone(), without_internal(value)));
            Value::Map(kept.collect())
        }
        Value::List(items) => Value::List(items.iter().map(without_internal).collect()),
        other => other.clone(),
    }
}

/// Numbers go through 64-bit floating point.
fn rounded(value: Value) -> Value {
    match value {
        Value::Number(text) => {
            let number: Option<f64> = text.parse().ok();
            match number {
                Some(number) if number.abs() > 9_007_199_254_740_992.0 => Value::Number(format!("{number}").into()),
                _ => Value::Number(text),
            }
        }
        Value::List(items) => Value::List(items.into_iter().map(rounded).collect()),
        Value::Map(map) => Value::Map(map.into_iter().map(|(key, value)| (key, rounded(value))).collect()),
        other => other,
    }
}
