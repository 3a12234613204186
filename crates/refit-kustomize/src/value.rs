//! Values of objects: owned trees without spans or comments.
//!
//! In: parsed nodes. Out: [`Value`]s. Keys are in the order of their bytes, as kustomize prints them.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A value of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number, as it is written.
    Number(Arc<str>),
    /// A string.
    Text(Arc<str>),
    /// A list.
    List(Vec<Value>),
    /// A mapping by its keys.
    Map(BTreeMap<Arc<str>, Value>),
}

impl Value {
    /// Makes a string.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Makes an empty mapping.
    pub fn map() -> Self {
        Self::Map(BTreeMap::new())
    }

    /// Gives the text of a string; `None` for everything else.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Gives a scalar as it is written, a string without quotes; `None` for collections.
    pub fn scalar(&self) -> Option<&str> {
        match self {
            Self::Null => Some("null"),
            Self::Bool(true) => Some("true"),
            Self::Bool(false) => Some("false"),
            Self::Number(text) | Self::Text(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }

    /// Gives the items of a list; none for everything else.
    pub fn items(&self) -> &[Value] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Gives the value of a key; `None` where this is no mapping or has no such key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        match self {
            Self::Map(map) => map.get(key),
            _ => None,
        }
    }

    /// Gives the value at a path of mapping keys.
    pub fn at(&self, path: &[&str]) -> Option<&Value> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Tells whether this is null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null) || self.is_blank()
    }

    /// Makes a null that is written as nothing at all; a strategic merge drops it where it keeps a written one. It never
    /// leaves the evaluator: finished objects hold [`Value::Null`].
    pub(crate) fn blank() -> Self {
        Self::Number("".into())
    }

    /// Tells whether this is a null that is written as nothing.
    pub(crate) fn is_blank(&self) -> bool {
        matches!(self, Self::Number(text) if text.is_empty())
    }

    /// Tells whether there is nothing in it: null, an empty mapping or an empty list.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::List(items) => items.is_empty(),
            Self::Map(map) => map.is_empty(),
            other => other.is_null(),
        }
    }

    /// Gives a scalar as it is written, and nothing for collections.
    pub(crate) fn raw(&self) -> &str {
        self.scalar().unwrap_or_default()
    }

    /// Gives the entries of a mapping; `None` for everything else.
    pub(crate) fn as_map(&self) -> Option<&BTreeMap<Arc<str>, Value>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Gives the entries of a mapping to change; `None` for everything else.
    pub(crate) fn as_map_mut(&mut self) -> Option<&mut BTreeMap<Arc<str>, Value>> {
        match self {
            Self::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Gives the value of a key to change.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Value> {
        self.as_map_mut()?.get_mut(key)
    }

    /// Sets a key of a mapping; nothing happens to other values.
    pub(crate) fn set(&mut self, key: &str, value: Value) {
        if let Self::Map(map) = self {
            map.insert(key.into(), value);
        }
    }

    /// Takes a key out of a mapping.
    pub(crate) fn take(&mut self, key: &str) -> Option<Value> {
        self.as_map_mut()?.remove(key)
    }

    /// Makes a mapping of strings.
    pub(crate) fn strings<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::Map(
            pairs
                .into_iter()
                .map(|(key, text)| (key.into(), Self::text(text)))
                .collect(),
        )
    }
}

impl fmt::Display for Value {
    /// Writes the value as JSON on one line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => formatter.write_str(self.scalar().unwrap_or_default()),
            Self::Text(text) => quoted(text, formatter),
            Self::List(items) => {
                formatter.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        formatter.write_str(",")?;
                    }
                    item.fmt(formatter)?;
                }
                formatter.write_str("]")
            }
            Self::Map(entries) => {
                formatter.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        formatter.write_str(",")?;
                    }
                    quoted(key, formatter)?;
                    formatter.write_str(":")?;
                    value.fmt(formatter)?;
                }
                formatter.write_str("}")
            }
        }
    }
}

fn quoted(text: &str, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
    formatter.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' => formatter.write_str("\\\"")?,
            '\\' => formatter.write_str("\\\\")?,
            '\n' => formatter.write_str("\\n")?,
            '\r' => formatter.write_str("\\r")?,
            '\t' => formatter.write_str("\\t")?,
            c if u32::from(c) < 0x20 => write!(formatter, "\\u{:04x}", u32::from(c))?,
            c => write!(formatter, "{c}")?,
        }
    }
    formatter.write_str("\"")
}
