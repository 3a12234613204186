//! Documents of files as values.
//!
//! In: parsed documents. Out: [`Value`]s, or why kustomize stops there, or why nothing is said about it. Objects are read
//! by the rules of yaml.v3, kustomizations and lists of operations by those of goyaml.v2: there `yes` is a boolean.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::{self, Style};
use refit_manifest::{Document, Stream};

use crate::value::Value;

/// Why a text gives no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// The line, counted from 1.
    pub(crate) line: usize,
    /// What is wrong, in words.
    pub(crate) message: String,
    /// Whether kustomize is known to stop there.
    pub(crate) certain: bool,
}

impl Trouble {
    /// Kustomize stops there.
    pub(crate) fn fails(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
            certain: true,
        }
    }

    /// What kustomize does there is not evaluated.
    pub(crate) fn unsure(line: usize, message: impl Into<String>) -> Self {
        Self {
            line,
            message: message.into(),
            certain: false,
        }
    }
}

/// The rules by which plain scalars are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Those of yaml.v3: objects and strategic merges.
    Objects,
    /// Those of goyaml.v2: kustomizations and operations.
    Settings,
}

/// Splits a text into documents.
pub(crate) fn split(bytes: &Arc<[u8]>) -> Result<Stream, Trouble> {
    Stream::split(bytes.clone()).map_err(|error| Trouble::fails(1, format!("this is no YAML: {error}")))
}

/// Reads one document; `None` where there is nothing in it.
pub(crate) fn document(document: &Document, rules: Rules) -> Result<Option<Value>, Trouble> {
    if document.is_empty() {
        return Ok(None);
    }
    let line = line_of(document.whole_text(), 0);
    let parsed = document
        .parsed()
        .map_err(|error| Trouble::fails(line, format!("this is no YAML: {error}")))?;
    if parsed.is_masked() {
        return Err(Trouble::unsure(line, "the text holds templates"));
    }
    parsed.root().map(|root| value(root, rules)).transpose()
}

/// Gives the line of an offset, counted from 1.
pub(crate) fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())]
        .iter()
        .filter(|byte| **byte == b'\n')
        .count()
        + 1
}

/// Gives the line where a node begins, counted from 1.
pub(crate) fn line(node: NodeRef<'_>) -> usize {
    let before = &node.bytes()[..node.span().start];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// Reads a node and all below it; aliases and `<<` are followed.
pub(crate) fn value(node: NodeRef<'_>, rules: Rules) -> Result<Value, Trouble> {
    let node = node.target();
    match node.kind() {
        Kind::Mapping(_) => mapping(node, rules),
        Kind::Sequence(_) => {
            check_tag(node, &["seq"])?;
            node.items()
                .map(|item| value(item, rules))
                .collect::<Result<_, _>>()
                .map(Value::List)
        }
        Kind::Scalar(style) => scalar(node, style, rules),
        Kind::Alias => Err(Trouble::fails(line(node), "an alias refers to nothing")),
    }
}

fn check_tag(node: NodeRef<'_>, known: &[&str]) -> Result<(), Trouble> {
    match node.tag() {
        Some(tag) if !known.contains(&tag) => Err(Trouble::unsure(line(node), format!("the tag `{tag}` is used"))),
        _ => Ok(()),
    }
}

fn mapping(node: NodeRef<'_>, rules: Rules) -> Result<Value, Trouble> {
    check_tag(node, &["map"])?;
    let mut map = BTreeMap::new();
    let mut merged = Vec::new();
    for (key, entry) in node.entries() {
        let key = key.target();
        if key.text() == Some("<<") && matches!(key.kind(), Kind::Scalar(Style::Plain)) {
            merged.push(entry);
            continue;
        }
        let name = self::value(key, rules)?;
        let name = match (&name, rules) {
            (Value::Text(text), _) => text.clone(),
            (Value::Number(text), Rules::Settings) if !text.is_empty() => text.clone(),
            (Value::Bool(value), Rules::Settings) => value.to_string().into(),
            _ => {
                let message = format!("the key `{}` is no string", key.source());
                return Err(Trouble::fails(line(key), message));
            }
        };
        if map.insert(name.clone(), value(entry, rules)?).is_some() {
            return Err(Trouble::fails(line(key), format!("the key `{name}` stands twice")));
        }
    }
    for entry in merged {
        merge(&mut map, entry.target(), rules)?;
    }
    Ok(Value::Map(map))
}

/// Takes the entries behind a `<<` in that are not there yet.
fn merge(map: &mut BTreeMap<Arc<str>, Value>, from: NodeRef<'_>, rules: Rules) -> Result<(), Trouble> {
    match from.kind() {
        Kind::Mapping(_) => {
            if let Value::Map(more) = mapping(from, rules)? {
                for (key, value) in more {
                    map.entry(key).or_insert(value);
                }
            }
            Ok(())
        }
        Kind::Sequence(_) => from.items().try_for_each(|item| merge(map, item.target(), rules)),
        _ => Err(Trouble::fails(line(from), "`<<` needs a mapping")),
    }
}

fn scalar(node: NodeRef<'_>, style: Style, rules: Rules) -> Result<Value, Trouble> {
    let text = node.text().unwrap_or_default();
    match node.tag() {
        None if style != Style::Plain => Ok(Value::text(text)),
        Some("str") => Ok(Value::text(text)),
        None if rules == Rules::Objects && is_other_time(text) => Err(Trouble::unsure(
            line(node),
            format!("the time `{text}` is written without quotes"),
        )),
        None => Ok(plain(text, rules)),
        Some("int" | "float" | "bool" | "null") if style == Style::Plain => Ok(plain(text, rules)),
        Some(tag) => Err(Trouble::unsure(line(node), format!("the tag `{tag}` is used"))),
    }
}

/// Tells whether a plain scalar may be a time that is printed in another form than it is written in.
fn is_other_time(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let is_date = shape.starts_with("0000-0") && shape.matches('-').count() >= 2;
    is_date && shape != "0000-00-00T00:00:00Z"
}

/// Reads a plain scalar.
pub(crate) fn plain(text: &str, rules: Rules) -> Value {
    match text {
        "" => return Value::blank(),
        "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }
    match scalar::resolve(text, Style::Plain, None) {
        scalar::Value::Int(_) | scalar::Value::Float(_) => Value::Number(text.into()),
        scalar::Value::Bool(value) if rules == Rules::Settings => Value::Bool(value),
        _ => Value::text(text),
    }
}

/// Gives a value as it is printed: numbers in their shortest form, one spelling of null; `Err` names a number that cannot be
/// printed.
pub(crate) fn finished(value: Value) -> Result<Value, String> {
    Ok(match value {
        Value::Number(text) if text.is_empty() => Value::Null,
        Value::Number(text) => match scalar::resolve(&text, Style::Plain, None) {
            scalar::Value::Int(number) => Value::Number(number.to_string().into()),
            scalar::Value::Float(number) if number.is_finite() => Value::Number(number.to_string().into()),
            _ => return Err(format!("`{text}` cannot be written as JSON")),
        },
        Value::List(items) => Value::List(items.into_iter().map(finished).collect::<Result<_, _>>()?),
        Value::Map(map) => Value::Map(
            map.into_iter()
                .map(|(key, value)| Ok((key, finished(value)?)))
                .collect::<Result<_, String>>()?,
        ),
        other => other,
    })
}
