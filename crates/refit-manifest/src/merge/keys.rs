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

/// The keys of the items of one list.
#[derive(Clone, Debug)]
pub(super) struct Keys {
    pub(super) keying: Keying,
    /// Values of the first of several key fields that at most one item of each side has: such an item is the same one
    /// although its other key fields changed (a port whose protocol changed).
    short: HashSet<String>,
}

impl Keys {
    /// Chooses the keys of a list.
    pub(super) fn of(lists: &ListKeys, place: &ListPlace<'_>, sides: &[NodeRef<'_>]) -> Self {
        let keying = choose(lists, place, sides);
        let short = match &keying {
            Keying::Fields(fields) if fields.len() > 1 => short_keys(&fields[0].0, sides),
            _ => HashSet::new(),
        };
        Self { keying, short }
    }

    /// Gives the key of an item.
    pub(super) fn key(&self, item: NodeRef<'_>) -> Option<String> {
        let key = key_of(&self.keying, item)?;
        let first = key.split(',').next().unwrap_or_default();
        Some(if self.short.contains(first) {
            first.to_owned()
        } else {
            key
        })
    }
}

fn short_keys(field: &str, sides: &[NodeRef<'_>]) -> HashSet<String> {
    let mut all = HashSet::new();
    let mut repeated = HashSet::new();
    for side in sides {
        let mut seen = HashSet::new();
        for value in side.items().filter_map(|item| item.get(field)?.text()) {
            let key = format!("{field}={value}");
            if !seen.insert(key.clone()) {
                repeated.insert(key.clone());
            }
            all.insert(key);
        }
    }
    all.difference(&repeated).cloned().collect()
}

/// Chooses the way for a list, the first rule that applies (facts/yaml.md section 9); keys that are not unique on every
/// side fall back to sequence comparison.
fn choose(lists: &ListKeys, place: &ListPlace<'_>, sides: &[NodeRef<'_>]) -> Keying {
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
fn key_of(keying: &Keying, item: NodeRef<'_>) -> Option<String> {
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
