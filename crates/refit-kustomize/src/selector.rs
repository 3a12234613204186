//! Which objects a target selects.
//!
//! In: selectors as written. Out: answers about objects. Regular expressions match whole words, as kustomize anchors them.

use regex::Regex;

use crate::built::Target;
use crate::id::Id;
use crate::resource::{Resource, Strings, strings};
use crate::value::Value;

/// A selector, ready to ask.
pub(crate) struct Selector {
    group: Option<Regex>,
    version: Option<Regex>,
    kind: Option<Regex>,
    name: Option<Regex>,
    namespace: Option<Regex>,
    labels: Requirements,
    annotations: Requirements,
}

/// Reads a target as written.
pub(crate) fn target(value: &Value) -> Target {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    Target {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        name: text("name"),
        namespace: text("namespace"),
        label_selector: text("labelSelector"),
        annotation_selector: text("annotationSelector"),
    }
}

impl Selector {
    /// Makes a selector ready; `Err` says what is wrong with it.
    pub(crate) fn new(target: &Target) -> Result<Self, String> {
        Ok(Self {
            group: anchored(&target.group)?,
            version: anchored(&target.version)?,
            kind: anchored(&target.kind)?,
            name: anchored(&target.name)?,
            namespace: anchored(&target.namespace)?,
            labels: Requirements::parse(&target.label_selector)?,
            annotations: Requirements::parse(&target.annotation_selector)?,
        })
    }

    /// Tells whether an object is selected as the target of a patch: by its name and namespace now or at first.
    pub(crate) fn selects(&self, resource: &Resource) -> bool {
        let (now, first) = (resource.id(), resource.original());
        let namespace = |id: &Id| {
            let namespace = id.effective_namespace().unwrap_or("_non_namespaceable_");
            fits(self.namespace.as_ref(), namespace)
        };
        (namespace(&now) || namespace(&first))
            && (fits(self.name.as_ref(), &now.name) || fits(self.name.as_ref(), &first.name))
            && self.selects_kind(&now)
            && self.selects_marks(&resource.value)
    }

    /// Tells whether an id is selected, with the namespace as it is written.
    pub(crate) fn selects_id(&self, id: &Id) -> bool {
        self.selects_kind(id) && fits(self.name.as_ref(), &id.name) && fits(self.namespace.as_ref(), &id.namespace)
    }

    /// Tells whether labels and annotations are as wanted.
    pub(crate) fn selects_marks(&self, value: &Value) -> bool {
        self.labels.hold(&strings(value, "labels")) && self.annotations.hold(&strings(value, "annotations"))
    }

    fn selects_kind(&self, id: &Id) -> bool {
        fits(self.group.as_ref(), id.group())
            && fits(self.version.as_ref(), id.version())
            && fits(self.kind.as_ref(), &id.kind)
    }
}

fn fits(pattern: Option<&Regex>, text: &str) -> bool {
    pattern.is_none_or(|pattern| pattern.is_match(text))
}

fn anchored(pattern: &str) -> Result<Option<Regex>, String> {
    if pattern.is_empty() {
        return Ok(None);
    }
    let regex = Regex::new(&format!("^(?:{pattern})$"));
    regex
        .map(Some)
        .map_err(|_| format!("`{pattern}` is no regular expression"))
}

/// Requirements on labels or annotations, by the rules of Kubernetes.
struct Requirements(Vec<Requirement>);

enum Requirement {
    Exists(String),
    Absent(String),
    In(String, Vec<String>),
    NotIn(String, Vec<String>),
    Greater(String, i64),
    Less(String, i64),
}

impl Requirements {
    fn parse(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no selector");
        let mut requirements = Vec::new();
        if text.trim().is_empty() {
            return Ok(Self(requirements));
        }
        for part in parts(text) {
            requirements.push(requirement(part.trim()).ok_or_else(wrong)?);
        }
        Ok(Self(requirements))
    }

    fn hold(&self, marks: &Strings) -> bool {
        let number = |key: &str| marks.get(key).and_then(|value| value.parse::<i64>().ok());
        self.0.iter().all(|requirement| match requirement {
            Requirement::Exists(key) => marks.contains_key(key),
            Requirement::Absent(key) => !marks.contains_key(key),
            Requirement::In(key, values) => marks.get(key).is_some_and(|value| values.contains(value)),
            Requirement::NotIn(key, values) => marks.get(key).is_none_or(|value| !values.contains(value)),
            Requirement::Greater(key, limit) => number(key).is_some_and(|number| number > *limit),
            Requirement::Less(key, limit) => number(key).is_some_and(|number| number < *limit),
        })
    }
}

/// Splits at commas outside of brackets.
fn parts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn requirement(text: &str) -> Option<Requirement> {
    if let Some(key) = text.strip_prefix('!') {
        return key_of(key).map(Requirement::Absent);
    }
    for (sign, equal) in [("!=", false), ("==", true), ("=", true)] {
        if let Some((key, value)) = text.split_once(sign) {
            let (key, values) = (key_of(key)?, vec![value_of(value)?]);
            return Some(if equal {
                Requirement::In(key, values)
            } else {
                Requirement::NotIn(key, values)
            });
        }
    }
    if let Some((key, limit)) = text.split_once('>') {
        return Some(Requirement::Greater(key_of(key)?, limit.trim().parse().ok()?));
    }
    if let Some((key, limit)) = text.split_once('<') {
        return Some(Requirement::Less(key_of(key)?, limit.trim().parse().ok()?));
    }
    if let Some(list) = text.strip_suffix(')') {
        let (head, list) = list.split_once('(')?;
        let values: Option<Vec<String>> = list.split(',').map(value_of).collect();
        let (key, word) = head.trim().rsplit_once(char::is_whitespace)?;
        return match word {
            "in" => Some(Requirement::In(key_of(key)?, values?)),
            "notin" => Some(Requirement::NotIn(key_of(key)?, values?)),
            _ => None,
        };
    }
    key_of(text).map(Requirement::Exists)
}

fn key_of(text: &str) -> Option<String> {
    let text = text.trim();
    let (prefix, name) = text.rsplit_once('/').unwrap_or(("", text));
    let prefix_fits = prefix.len() <= 253
        && prefix
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.');
    (prefix_fits && !name.is_empty() && is_word(name)).then(|| text.to_owned())
}

fn value_of(text: &str) -> Option<String> {
    let text = text.trim();
    (text.is_empty() || is_word(text)).then(|| text.to_owned())
}

fn is_word(text: &str) -> bool {
    let inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    text.len() <= 63
        && text.chars().all(inner)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selectors_are_read_as_kubernetes_reads_them() {
        let marks: Strings = [("a".to_owned(), "1".to_owned()), ("b/c".to_owned(), "x".to_owned())].into();
        let holds = |text: &str| Requirements::parse(text).map(|requirements| requirements.hold(&marks));
        for text in [
            "",
            "a",
            "a=1",
            "a==1,b/c",
            "a!=2",
            "!z",
            "a in (0, 1)",
            "a notin (2)",
            "z!=1",
            "a>0",
            "a<2",
        ] {
            assert_eq!(holds(text), Ok(true), "{text}");
        }
        for text in [
            "z",
            "a=2",
            "a!=1",
            "!a",
            "a in (2)",
            "a notin (1)",
            "a>1",
            "b/c>1",
            "a,z",
        ] {
            assert_eq!(holds(text), Ok(false), "{text}");
        }
        for text in ["=1", "a b", "a in 1", "a,", "-a", "a=b=c", "a=-"] {
            assert!(holds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_pattern_matches_the_whole_word() {
        let name = |pattern: &str, name: &str| {
            let selector = Selector::new(&Target {
                name: pattern.to_owned(),
                ..Target::default()
            });
            let id = Id {
                name: name.to_owned(),
                ..Id::default()
            };
            selector.map(|selector| selector.selects_id(&id))
        };
        assert_eq!(name("a|b", "b"), Ok(true));
        assert_eq!(name("a|b", "ab"), Ok(false));
        assert_eq!(name("source-.*", "source-controller"), Ok(true));
        assert!(name("(", "x").is_err());
    }
}
