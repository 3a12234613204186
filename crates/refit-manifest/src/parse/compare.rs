//! Structural equality of nodes.

use std::collections::HashMap;

use super::node::{Kind, NodeRef};

/// The most nodes that one comparison visits; aliases can make a small text endless.
const BUDGET: usize = 20_000_000;

/// Tells whether two nodes have the same value: order of keys, style and comments do not count; aliases are followed.
pub fn same(a: NodeRef<'_>, b: NodeRef<'_>) -> bool {
    let mut budget = BUDGET;
    same_within(a, b, &mut budget)
}

fn same_within(a: NodeRef<'_>, b: NodeRef<'_>, budget: &mut usize) -> bool {
    if a == b {
        return true;
    }
    let (a, b) = (a.target(), b.target());
    *budget = budget.saturating_sub(1);
    if *budget == 0 {
        return false;
    }
    match (a.kind(), b.kind()) {
        (Kind::Scalar(_), Kind::Scalar(_)) => custom_tag(a) == custom_tag(b) && a.value() == b.value(),
        (Kind::Mapping(_), Kind::Mapping(_)) => same_mapping(a, b, budget),
        (Kind::Sequence(_), Kind::Sequence(_)) => {
            a.items().len() == b.items().len() && a.items().zip(b.items()).all(|(x, y)| same_within(x, y, budget))
        }
        _ => false,
    }
}

fn custom_tag(node: NodeRef<'_>) -> Option<&str> {
    node.tag().filter(|tag| tag.starts_with('!'))
}

fn same_mapping(a: NodeRef<'_>, b: NodeRef<'_>, budget: &mut usize) -> bool {
    let (left, right) = (view(a), view(b));
    if left.len() != right.len() {
        return false;
    }
    let in_order = left.iter().zip(&right).all(|((x, _), (y, _))| x == y);
    if in_order {
        return left
            .iter()
            .zip(&right)
            .all(|((_, x), (_, y))| same_within(*x, *y, budget));
    }
    let by_key: HashMap<&str, NodeRef<'_>> = right.into_iter().collect();
    left.iter()
        .all(|(key, x)| by_key.get(key).is_some_and(|y| same_within(*x, *y, budget)))
}

/// Lists the entries that a mapping has for a reader: `<<` resolved, the last of two equal keys.
pub(crate) fn view(node: NodeRef<'_>) -> Vec<(&str, NodeRef<'_>)> {
    let mut out: Vec<(&str, NodeRef<'_>)> = Vec::with_capacity(node.entries().len());
    let mut plain = true;
    for (key, value) in node.entries() {
        let name = key.text().unwrap_or_else(|| key.source());
        if name == "<<" {
            plain = false;
        }
        out.push((name, value));
    }
    if plain && !has_duplicates(&out) {
        return out;
    }
    resolve_merges(out)
}

fn has_duplicates(entries: &[(&str, NodeRef<'_>)]) -> bool {
    if entries.len() < 9 {
        return entries
            .iter()
            .enumerate()
            .any(|(at, (key, _))| entries[..at].iter().any(|(other, _)| other == key));
    }
    let mut seen = std::collections::HashSet::with_capacity(entries.len());
    !entries.iter().all(|(key, _)| seen.insert(*key))
}

fn resolve_merges<'a>(entries: Vec<(&'a str, NodeRef<'a>)>) -> Vec<(&'a str, NodeRef<'a>)> {
    let mut out: Vec<(&str, NodeRef<'_>)> = Vec::new();
    let mut merged = Vec::new();
    for (key, value) in entries {
        if key == "<<" {
            match value.target().kind() {
                Kind::Mapping(_) => merged.push(value.target()),
                _ => merged.extend(value.items().map(NodeRef::target)),
            }
        } else if let Some(known) = out.iter_mut().find(|(name, _)| *name == key) {
            known.1 = value;
        } else {
            out.push((key, value));
        }
    }
    for source in merged.into_iter().take(64) {
        for (key, value) in source.entries() {
            let name = key.text().unwrap_or_else(|| key.source());
            if name != "<<" && !out.iter().any(|(known, _)| *known == name) {
                out.push((name, value));
            }
        }
    }
    out
}

/// Writes a value so that two values are the same exactly when their texts are equal; aliases stay names, so that a
/// small text cannot become an endless one.
pub(crate) fn canonical(node: NodeRef<'_>) -> String {
    let mut out = String::new();
    write_canonical(node, &mut out);
    out
}

fn write_canonical(node: NodeRef<'_>, out: &mut String) {
    match node.kind() {
        Kind::Alias => out.push_str(node.source()),
        Kind::Scalar(_) => {
            out.push_str(&format!("{:?}{:?}", custom_tag(node), node.value()));
        }
        Kind::Sequence(_) => {
            out.push('[');
            for item in node.items() {
                write_canonical(item, out);
                out.push(',');
            }
            out.push(']');
        }
        Kind::Mapping(_) => {
            let mut parts: Vec<String> = node
                .entries()
                .map(|(key, value)| format!("{}:{}", canonical(key), canonical(value)))
                .collect();
            parts.sort();
            out.push('{');
            out.push_str(&parts.join(","));
            out.push('}');
        }
    }
}
