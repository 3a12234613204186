//! Paths of fields, parted by dots.

use regex::Regex;

use crate::value::Value;

/// Why a path leads nowhere.
pub(super) enum Miss {
    /// Kustomize stops.
    Fails(String),
    /// What kustomize does is not evaluated.
    Unsure(String),
}

/// What is made where a field is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Create {
    Nothing,
    Scalar,
    Collection,
}

enum Part {
    Field(String),
    Index(usize),
    Every,
    Matching(String, String),
}

/// Gives the value at a path.
pub(super) fn look_up<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, Miss> {
    let mut value = object;
    for part in parts(path)? {
        let next = match (&part, value) {
            (_, value) if value.is_null() => None,
            (Part::Field(name), Value::Map(map)) => map.get(name.as_str()),
            (Part::Index(index), Value::List(items)) => items.get(*index),
            (Part::Matching(field, wanted), Value::List(items)) if field.is_empty() => {
                items.iter().find(|item| item.scalar() == Some(wanted))
            }
            (Part::Matching(field, wanted), Value::List(items)) => {
                let fits = |item: &&Value| item.get(field).is_some_and(|value| value.raw() == wanted);
                items.iter().find(fits)
            }
            _ => return Err(Miss::Fails(format!("the path `{path}` does not fit the object"))),
        };
        match next {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// Visits each place that a path leads to and gives their number.
pub(super) fn places(
    object: &mut Value,
    path: &str,
    create: Create,
    set: &mut dyn FnMut(&mut Value) -> Result<(), Miss>,
) -> Result<usize, Miss> {
    walk(object, &parts(path)?, create, set)
}

fn walk(
    value: &mut Value,
    parts: &[Part],
    create: Create,
    set: &mut dyn FnMut(&mut Value) -> Result<(), Miss>,
) -> Result<usize, Miss> {
    let Some((first, rest)) = parts.split_first() else {
        set(value)?;
        return Ok(1);
    };
    match (first, value) {
        (_, value) if value.is_null() => Err(Miss::Unsure("the path of a field leads through null".to_owned())),
        (Part::Field(name), Value::Map(map)) => {
            if !map.contains_key(name.as_str()) {
                let made = match (create, rest.first()) {
                    (Create::Nothing, _) => return Ok(0),
                    (_, Some(Part::Field(_))) => Value::map(),
                    (Create::Scalar, None) => Value::blank(),
                    _ => return Err(Miss::Unsure("a list or a collection is created".to_owned())),
                };
                map.insert(name.as_str().into(), made);
            }
            let Some(next) = map.get_mut(name.as_str()) else {
                return Ok(0);
            };
            if next.scalar().is_some() && !rest.is_empty() {
                return Err(Miss::Unsure(format!(
                    "the field `{name}` holds text with values inside"
                )));
            }
            walk(next, rest, create, set)
        }
        (Part::Index(index), Value::List(items)) => match items.get_mut(*index) {
            Some(next) => walk(next, rest, create, set),
            None if create != Create::Nothing => Err(Miss::Unsure("an element is created".to_owned())),
            None => Err(Miss::Fails(format!("the list has no element {index}"))),
        },
        (Part::Every, Value::List(items)) => {
            let mut found = 0;
            for item in items {
                found += walk(item, rest, create, set)?;
            }
            Ok(found)
        }
        (Part::Matching(field, pattern), Value::List(items)) => {
            let mut found = 0;
            for item in matching(items, field, pattern)? {
                found += walk(item, rest, create, set)?;
            }
            if found == 0 && create != Create::Nothing {
                return Err(Miss::Unsure("an element is created".to_owned()));
            }
            Ok(found)
        }
        _ => Err(Miss::Fails("the path of a field does not fit the object".to_owned())),
    }
}

/// Finds the elements with a value that fits a pattern; without the name of a field their own value counts.
fn matching<'a>(items: &'a mut [Value], field: &str, pattern: &str) -> Result<Vec<&'a mut Value>, Miss> {
    let regex = Regex::new(pattern).map_err(|_| Miss::Unsure(format!("`{pattern}` is no regular expression")))?;
    let fits = |item: &Value| {
        let value = if field.is_empty() { Some(item) } else { item.get(field) };
        value.is_some_and(|value| value.scalar().is_some_and(|text| regex.is_match(text)))
    };
    Ok(items.iter_mut().filter(|item| fits(item)).collect())
}

/// Parts a path at dots; `[…]` holds one part, with or without dots.
fn parts(path: &str) -> Result<Vec<Part>, Miss> {
    if path.contains('\\') {
        return Err(Miss::Unsure(format!("the path `{path}` holds an escape")));
    }
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    for word in path.trim_start_matches('.').split('.') {
        match words.last_mut() {
            Some(last) if open => {
                last.push('.');
                last.push_str(word);
                open = !word.ends_with(']');
            }
            _ => {
                words.push(word.to_owned());
                open = word.starts_with('[') && !word.ends_with(']');
            }
        }
    }
    Ok(words.iter().map(|word| part(word)).collect())
}

fn part(word: &str) -> Part {
    if word == "*" {
        return Part::Every;
    }
    if let Ok(index) = word.parse() {
        return Part::Index(index);
    }
    match word.strip_prefix('[').and_then(|word| word.strip_suffix(']')) {
        Some(inner) => match inner.split_once('=') {
            Some((field, wanted)) => Part::Matching(field.to_owned(), wanted.to_owned()),
            None => Part::Field(inner.to_owned()),
        },
        None => Part::Field(word.to_owned()),
    }
}
