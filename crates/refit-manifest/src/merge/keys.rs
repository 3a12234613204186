//! How the items of one list are told apart on all three sides.

use std::collections::HashSet;

use crate::parse::{Kind, NodeRef};
use crate::schema::{ListKeys, ListType, kubernetes_keys};

/// The way that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Keying {
    /// By the values of these keys, with defaults.
    Fields(Vec<(String, Option<String>)>),
    /// By the flag's name of a command-line argument.
    Flag,
    /// By their place: sequence comparison.
    Sequence,
}

/// Where a list stands.
pub(super) struct ListPlace<'p> {
    pub(super) group: &'p str,
    pub(super) kind: &'p str,
    pub(super) path: &'p [String],
}

/// Chooses the way for a list, the first rule that applies (facts/yaml.md section 9); keys that are not unique on every
/// side fall back to sequence comparison.
pub(super) fn choose(lists: &ListKeys, place: &ListPlace<'_>, sides: &[NodeRef<'_>]) -> Keying {
    let field = place
        .path
        .iter()
        .rev()
        .find(|step| !step.starts_with('['))
        .map_or("", String::as_str);
    let wanted = match lists.find(place.group, place.kind, place.path) {
        Some(ListType::Map(keys)) => Some(keys.clone()),
        Some(ListType::Set | ListType::Atomic) => return Keying::Sequence,
        None => kubernetes_keys(place.kind, field).map(|keys| {
            keys.iter()
                .map(|(key, default)| ((*key).to_owned(), default.map(ToOwned::to_owned)))
                .collect()
        }),
    };
    if let Some(keys) = wanted {
        let keying = Keying::Fields(keys);
        if unique(&keying, sides) {
            return keying;
        }
    }
    if matches!(field, "args" | "command") && unique(&Keying::Flag, sides) {
        return Keying::Flag;
    }
    let guesses: [&[&str]; 2] = [&["name"], &["apiVersion", "kind", "name", "namespace"]];
    for guess in guesses {
        let defaults = |key: &&str| {
            if guess.len() > 1 {
                Some(String::new())
            } else {
                key.is_empty().then(String::new)
            }
        };
        let keying = Keying::Fields(guess.iter().map(|key| ((*key).to_owned(), defaults(key))).collect());
        let named = sides
            .iter()
            .flat_map(|side| side.items())
            .all(|item| item.get("name").is_some());
        if named && unique(&keying, sides) {
            return keying;
        }
    }
    Keying::Sequence
}

fn unique(keying: &Keying, sides: &[NodeRef<'_>]) -> bool {
    sides.iter().all(|side| {
        let mut seen = HashSet::new();
        side.items()
            .all(|item| key_of(keying, item).is_some_and(|key| seen.insert(key)))
    })
}

/// Gives the key of an item, readable: `name=manager` or `--log-level`.
pub(super) fn key_of(keying: &Keying, item: NodeRef<'_>) -> Option<String> {
    match keying {
        Keying::Sequence => None,
        Keying::Flag => {
            let text = item.as_str()?;
            let name = text.split_once('=').map_or(text, |(name, _)| name);
            (name.starts_with('-') && name.len() > 1 && !name.contains(char::is_whitespace)).then(|| name.to_owned())
        }
        Keying::Fields(fields) => {
            if !matches!(item.target().kind(), Kind::Mapping(_)) {
                return None;
            }
            let mut shown = Vec::with_capacity(fields.len());
            for (field, default) in fields {
                let value = item.get(field).filter(|node| !node.is_null()).and_then(NodeRef::text);
                let value = value.or(default.as_deref())?;
                if !value.is_empty() {
                    shown.push(format!("{field}={value}"));
                }
            }
            Some(shown.join(","))
        }
    }
}
