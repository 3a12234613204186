//! Says when two spellings are the same value to Kubernetes.
//!
//! In: the text and style of a scalar. Out: a number that is equal for equal values. The rules are those of the YAML
//! reader of the API server's clients, written down anew.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use libyaml_safer::ScalarStyle;

/// What a scalar means.
#[derive(Debug, PartialEq)]
pub(super) enum Meaning {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
}

/// Finds the meaning of a scalar.
pub(super) fn meaning(text: &str, style: ScalarStyle, tag: Option<&str>) -> Meaning {
    let is_text = tag.is_some_and(|tag| tag == "!" || tag.ends_with(":str"));
    if style != ScalarStyle::Plain || is_text {
        return Meaning::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Meaning::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            return Meaning::Bool(true);
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            return Meaning::Bool(false);
        }
        _ => {}
    }
    integer(text)
        .map(Meaning::Int)
        .or_else(|| float(text).map(Meaning::Float))
        .unwrap_or_else(|| Meaning::Text(text.to_owned()))
}

fn integer(text: &str) -> Option<i128> {
    let digits = text.replace('_', "");
    let (negative, digits) = match digits.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, digits.strip_prefix('+').unwrap_or(&digits)),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let lower = digits.to_ascii_lowercase();
    let (radix, body) = if let Some(body) = lower.strip_prefix("0x") {
        (16, body)
    } else if let Some(body) = lower.strip_prefix("0b") {
        (2, body)
    } else if let Some(body) = lower.strip_prefix("0o") {
        (8, body)
    } else if lower.len() > 1 && lower.starts_with('0') {
        (8, &lower[1..])
    } else {
        (10, lower.as_str())
    };
    if body.starts_with(['-', '+']) {
        return None;
    }
    let number = i128::from_str_radix(body, radix).ok()?;
    Some(if negative { -number } else { number })
}

fn float(text: &str) -> Option<f64> {
    let body = text.strip_prefix(['-', '+']).unwrap_or(text);
    let first = body.strip_prefix('.').unwrap_or(body);
    let allowed = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !first.starts_with(|c: char| c.is_ascii_digit()) || !body.chars().all(allowed) {
        return None;
    }
    text.parse().ok()
}

/// Gives the number of a scalar's meaning.
pub(super) fn scalar_hash(text: &str, style: ScalarStyle, tag: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    match meaning(text, style, tag) {
        Meaning::Null => 0_u8.hash(&mut hasher),
        Meaning::Bool(value) => (1_u8, value).hash(&mut hasher),
        Meaning::Int(value) => (2_u8, value).hash(&mut hasher),
        Meaning::Float(value) => (3_u8, value.to_bits()).hash(&mut hasher),
        Meaning::Text(value) => (4_u8, value).hash(&mut hasher),
    }
    // A tag that is not one of YAML's own says more than the text.
    if let Some(tag) = tag.filter(|tag| !tag.starts_with("tag:yaml.org,2002:") && *tag != "!") {
        tag.hash(&mut hasher);
    }
    hasher.finish()
}

/// Gives the number of a list, which depends on the order.
pub(super) fn list_hash(items: impl Iterator<Item = u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    5_u8.hash(&mut hasher);
    for item in items {
        item.hash(&mut hasher);
    }
    hasher.finish()
}

/// Gives the number of a map, which does not depend on the order of the keys.
pub(super) fn map_hash<'a>(entries: impl Iterator<Item = (&'a str, u64)>) -> u64 {
    let mut sum = 6_u64;
    for (key, value) in entries {
        let mut hasher = DefaultHasher::new();
        (key, value).hash(&mut hasher);
        sum = sum.wrapping_add(hasher.finish());
    }
    let mut hasher = DefaultHasher::new();
    (7_u8, sum).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::{Meaning, ScalarStyle, meaning};

    #[test]
    fn spellings_mean_what_kubernetes_reads() {
        let plain = |text| meaning(text, ScalarStyle::Plain, None);
        assert_eq!(plain("0644"), Meaning::Int(420));
        assert_eq!(plain("1_000"), Meaning::Int(1000));
        assert_eq!(plain("0x1F"), Meaning::Int(31));
        assert_eq!(plain("0o17"), Meaning::Int(15));
        assert_eq!(plain("-3"), Meaning::Int(-3));
        assert_eq!(plain("on"), Meaning::Bool(true));
        assert_eq!(plain("N"), Meaning::Bool(false));
        assert_eq!(plain("~"), Meaning::Null);
        assert_eq!(plain("1.50"), Meaning::Float(1.5));
        assert_eq!(plain("12:30:45"), Meaning::Text("12:30:45".into()));
        assert_eq!(plain("0899"), Meaning::Float(899.0));
        assert_eq!(plain("v1.2"), Meaning::Text("v1.2".into()));
        assert_eq!(plain("1.2.3"), Meaning::Text("1.2.3".into()));
        assert_eq!(
            meaning("yes", ScalarStyle::SingleQuoted, None),
            Meaning::Text("yes".into())
        );
        assert_eq!(
            meaning("1", ScalarStyle::Plain, Some("tag:yaml.org,2002:str")),
            Meaning::Text("1".into())
        );
    }
}
