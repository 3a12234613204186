//! Fields as rules name them: `spec.postRenderers[].kustomize.patches`.

use std::fmt;

/// A field of objects; `[]` stands for each item of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Field(Vec<Step>);

/// One step into an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Step {
    /// Into the value of a key.
    Key(String),
    /// Into each item of a list.
    Each,
}

/// One step to a single place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum At {
    /// Into the value of a key.
    Key(String),
    /// Into one item of a list.
    Index(usize),
}

/// Why a text names no field.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` names no field; write keys with dots between them, and `[]` behind the key of a list")]
pub struct InvalidField {
    /// The text.
    pub text: String,
}

impl Field {
    /// Reads a field; a key that holds dots stands in `["…"]`.
    pub fn parse(text: &str) -> Result<Self, InvalidField> {
        let invalid = || InvalidField { text: text.to_owned() };
        let mut steps = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("[]") {
                steps.push(Step::Each);
                rest = after;
            } else if let Some(after) = rest.strip_prefix("[\"") {
                let (key, after) = after.split_once("\"]").ok_or_else(invalid)?;
                steps.push(Step::Key(key.to_owned()));
                rest = after;
            } else {
                let end = rest.find(['.', '[']).unwrap_or(rest.len());
                let key = &rest[..end];
                if key.is_empty() || key.contains([' ', ']', '"']) {
                    return Err(invalid());
                }
                steps.push(Step::Key(key.to_owned()));
                rest = &rest[end..];
            }
            if let Some(after) = rest.strip_prefix('.') {
                if after.is_empty() || after.starts_with('[') {
                    return Err(invalid());
                }
                rest = after;
            }
        }
        match steps.first() {
            Some(Step::Key(_)) => Ok(Self(steps)),
            _ => Err(invalid()),
        }
    }

    pub(super) fn steps(&self) -> &[Step] {
        &self.0
    }

    /// Gives the part up to the last `[]`, and what stands behind it.
    pub(super) fn split_each(&self) -> (&[Step], &[Step]) {
        let at = self
            .0
            .iter()
            .rposition(|step| *step == Step::Each)
            .map_or(0, |at| at + 1);
        self.0.split_at(at)
    }

    /// Gives the field up to its last `[]` as text; empty without.
    pub fn lists(&self) -> String {
        Self(self.split_each().0.to_vec()).to_string()
    }

    /// Gives the field that holds it as text; empty at the top.
    pub fn parent(&self) -> String {
        let above = self.0.split_last().map_or(&[][..], |(_, above)| above);
        Self(above.to_vec()).to_string()
    }

    /// Tells whether the field lies inside another, or is the same.
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// Makes steps to a single place of steps without `[]`.
pub(super) fn places(steps: &[Step]) -> Vec<At> {
    let keys = steps.iter().filter_map(|step| match step {
        Step::Key(key) => Some(At::Key(key.clone())),
        Step::Each => None,
    });
    keys.collect()
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.0.iter().enumerate() {
            match step {
                Step::Each => formatter.write_str("[]")?,
                Step::Key(key) => write_key(formatter, key, index)?,
            }
        }
        Ok(())
    }
}

fn write_key(formatter: &mut impl fmt::Write, key: &str, index: usize) -> fmt::Result {
    if key.contains(['.', '[']) {
        return write!(formatter, "[\"{key}\"]");
    }
    let dot = if index == 0 { "" } else { "." };
    write!(formatter, "{dot}{key}")
}

/// Writes a single place as people read it.
pub(super) fn text_of(places: &[At]) -> String {
    let mut out = String::new();
    for (index, step) in places.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ = match step {
            At::Index(item) => fmt::Write::write_fmt(&mut out, format_args!("[{item}]")),
            At::Key(key) => write_key(&mut out, key, index),
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_written_as_it_was_read() {
        for text in [
            "apiVersion",
            "spec.a.b",
            "spec.l[].k.m",
            "spec.l[][].k",
            "metadata.annotations[\"a.b/c\"]",
        ] {
            assert_eq!(Field::parse(text).map(|field| field.to_string()), Ok(text.to_owned()));
        }
    }

    #[test]
    fn other_texts_name_no_field() {
        for text in ["", "[]", ".a", "a.", "a..b", "a.[]", "a b", "a[0]", "a[\"b"] {
            assert!(Field::parse(text).is_err(), "{text}");
        }
    }
}
