//! What a merged document must read back as: the guard against every error of our own writing.

use crate::parse::{Kind, NodeRef, same, view};
use crate::scalar::Value;

/// The tree that a merge computed, as references into the sides.
#[derive(Clone, Debug)]
pub(super) enum Expect<'a> {
    /// The value of a node of one side.
    Node(NodeRef<'a>),
    /// A mapping; the order of keys does not count.
    Mapping(Vec<(String, Expect<'a>)>),
    /// A sequence in this order.
    Sequence(Vec<Expect<'a>>),
    /// A string.
    Text(String),
    /// An alias of this spelling: its value follows its anchor.
    Alias(String),
    /// Whatever comes through `<<`.
    Inherited,
    /// A scalar written by a person: the text as YAML.
    Written(String),
}

/// Tells whether a node reads as expected.
pub(super) fn holds(expected: &Expect<'_>, found: NodeRef<'_>) -> bool {
    match expected {
        Expect::Node(node) => same(*node, found),
        Expect::Inherited => true,
        Expect::Alias(name) => found.kind() == Kind::Alias && found.source() == name,
        Expect::Text(text) => found.value() == Some(Value::Text(text)),
        Expect::Written(text) => found.text() == Some(text),
        Expect::Sequence(items) => {
            matches!(found.target().kind(), Kind::Sequence(_))
                && items.len() == found.items().len()
                && items.iter().zip(found.items()).all(|(item, node)| holds(item, node))
        }
        Expect::Mapping(entries) => {
            let known = view(found);
            matches!(found.target().kind(), Kind::Mapping(_)) && known.len() == entries.len() && {
                let by_key: std::collections::HashMap<&str, NodeRef<'_>> = known.into_iter().collect();
                entries
                    .iter()
                    .all(|(key, value)| by_key.get(key.as_str()).is_some_and(|node| holds(value, *node)))
            }
        }
    }
}
