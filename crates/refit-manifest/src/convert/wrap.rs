//! Writes lists and mappings as the text of a patch.
//!
//! In: a node. Out: YAML of the same value at column 0 with its comments, or JSON on one line.

use crate::layout;
use crate::parse::{self, Kind, Layout, NodeRef, same};
use crate::render::{self, Notation, Target};

/// Writes a value as YAML in block style: its lists and mappings in braces on the first levels become lines.
pub(super) fn lines(node: NodeRef<'_>) -> Option<String> {
    let mut out = String::new();
    match node.kind() {
        Kind::Sequence(_) if node.items().len() == 0 => out.push_str("[]\n"),
        Kind::Sequence(_) => sequence(&mut out, node),
        _ => mapping(&mut out, node, 0),
    }
    checked(node, out)
}

/// Writes a value as JSON.
pub(super) fn json(node: NodeRef<'_>) -> Option<String> {
    checked(node, render::flow(node, Notation::Json))
}

/// Gives the text where it reads as the node.
fn checked(node: NodeRef<'_>, text: String) -> Option<String> {
    let parsed = parse::parse(text.as_bytes(), 0..text.len()).ok()?;
    parsed.root().is_some_and(|found| same(node, found)).then_some(text)
}

fn sequence(out: &mut String, node: NodeRef<'_>) {
    let mut floor = 0;
    for item in node.items() {
        if let Some(dash) = layout::dash(item).filter(|_| node.kind() == Kind::Sequence(Layout::Block)) {
            out.push_str(&render::lead(item.bytes(), dash, floor, 0));
        }
        let mut inner = String::new();
        match item.kind() {
            Kind::Mapping(_) => mapping(&mut inner, item, 2),
            _ => inner = format!("{}\n", render::flow(item, Notation::Yaml)),
        }
        out.push_str("- ");
        out.push_str(inner.trim_start_matches(' '));
        floor = layout::after(item);
    }
}

fn mapping(out: &mut String, node: NodeRef<'_>, column: usize) {
    let root = node.parsed().root().unwrap_or(node);
    let target = Target {
        column,
        ours: layout::indents(root),
        theirs: None,
    };
    match node.kind() {
        Kind::Mapping(Layout::Block) => {
            out.push_str(&render::copied(node, node.span().start, layout::after(node), column));
        }
        Kind::Mapping(Layout::Flow) if node.entries().len() > 0 => {
            for (key, value) in node.entries() {
                render::emit_entry(out, key, value, column, target.indents());
            }
        }
        _ => out.push_str(&format!("{:column$}{}\n", "", render::flow(node, Notation::Yaml))),
    }
}
