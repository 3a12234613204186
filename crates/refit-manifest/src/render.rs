//! Writes nodes of theirs as text that fits into ours.
//!
//! In: nodes and the place where they go. Out: text with `\n` line ends. Bytes are copied from theirs wherever the
//! indentation of both sides agrees; else the structure is written anew around copied scalars.

use crate::layout::{self, Indents};
use crate::parse::{Kind, Layout, NodeRef};
use crate::scalar::{self, Style, Value};

/// How the text must look at its new place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Target {
    /// The column of the first byte.
    pub(crate) column: usize,
    /// The indents of ours.
    pub(crate) ours: Option<Indents>,
    /// The indents of theirs.
    pub(crate) theirs: Option<Indents>,
}

impl Target {
    fn copies(&self) -> bool {
        match (self.ours, self.theirs) {
            (Some(ours), Some(theirs)) => {
                let sequences_fit =
                    ours.sequence == theirs.sequence || ours.sequence == usize::MAX || theirs.sequence == usize::MAX;
                ours.step == theirs.step && sequences_fit
            }
            _ => true,
        }
    }

    pub(crate) fn indents(&self) -> Indents {
        let indents = self.ours.or(self.theirs).unwrap_or(Indents { step: 2, sequence: 0 });
        let sequence = match indents.sequence {
            usize::MAX => self.theirs.map_or(0, |theirs| theirs.sequence),
            known => known,
        };
        Indents {
            sequence: if sequence == usize::MAX { 0 } else { sequence },
            ..indents
        }
    }
}

/// Writes an entry of a block mapping as whole lines, with the comments that belong to it.
pub(crate) fn entry(key: NodeRef<'_>, value: NodeRef<'_>, floor: usize, target: Target) -> String {
    let start = key.full_span().start;
    let mut out = lead(key.bytes(), start, floor, target.column);
    if target.copies() {
        out.push_str(&copied(
            key,
            start,
            layout::after(value).max(layout::line_end(key.bytes(), start)),
            target.column,
        ));
    } else {
        emit_entry(&mut out, key, value, target.column, target.indents());
    }
    out
}

/// Writes an item of a block sequence as whole lines, with the comments that belong to it.
pub(crate) fn item(node: NodeRef<'_>, floor: usize, target: Target) -> String {
    let start = layout::dash(node).unwrap_or(node.full_span().start);
    let mut out = lead(node.bytes(), start, floor, target.column);
    if target.copies() && node.bytes()[start] == b'-' {
        out.push_str(&copied(node, start, layout::after(node), target.column));
    } else {
        emit_item(&mut out, node, target.column, target.indents());
    }
    out
}

/// Writes the body of a document whose root stands at column 0.
pub(crate) fn document(root: NodeRef<'_>, target: Target) -> String {
    if target.copies() || root.span().start != layout::line_start(root.bytes(), root.span().start) {
        let start = layout::line_start(root.bytes(), root.full_span().start);
        return terminated(unix(&text_of(root, start, layout::after(root))));
    }
    let mut out = String::new();
    emit_lines(&mut out, root, 0, target.indents());
    out
}

/// Writes a value that stands behind a colon or dash: the rest of that line, then whole lines.
pub(crate) fn value(node: NodeRef<'_>, parent: Parent, target: Target) -> (String, String) {
    let mut out = String::new();
    let indents = target.indents();
    match parent {
        Parent::Key => emit_value(&mut out, node, target.column, indents),
        Parent::Dash => emit_item(&mut out, node, target.column, indents),
    }
    let out = match parent {
        Parent::Key => out,
        Parent::Dash => out.trim_start_matches(' ').strip_prefix('-').unwrap_or(&out).to_owned(),
    };
    match out.split_once('\n') {
        Some((inline, lines)) => (inline.to_owned(), lines.to_owned()),
        None => (out, String::new()),
    }
}

/// What a value hangs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parent {
    /// A key of a mapping; the column is the key's.
    Key,
    /// A dash of a sequence; the column is the dash's.
    Dash,
}

/// Writes a node on one line for a flow collection; `json` asks for JSON.
pub(crate) fn flow(node: NodeRef<'_>, notation: Notation) -> String {
    match node.target().kind() {
        Kind::Mapping(_) => {
            let parts: Vec<String> = node
                .entries()
                .map(|(key, value)| format!("{}: {}", flow_key(key, notation), flow(value, notation)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        Kind::Sequence(_) => {
            let parts: Vec<String> = node.items().map(|item| flow(item, notation)).collect();
            format!("[{}]", parts.join(", "))
        }
        _ => flow_scalar(node, notation),
    }
}

/// What a flow collection is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notation {
    /// YAML.
    Yaml,
    /// JSON: keys and strings in double quotes.
    Json,
}

/// Writes a key for a flow mapping.
pub(crate) fn flow_key(key: NodeRef<'_>, notation: Notation) -> String {
    match notation {
        Notation::Json => scalar::write(key.text().unwrap_or_default(), Style::Double),
        Notation::Yaml => flow_scalar(key, notation),
    }
}

fn flow_scalar(node: NodeRef<'_>, notation: Notation) -> String {
    let node = node.target();
    let text = node.text().unwrap_or_default();
    match node.value() {
        Some(Value::Text(_)) if notation == Notation::Json => scalar::write(text, Style::Double),
        Some(Value::Text(_)) => match node.kind() {
            Kind::Scalar(style @ (Style::Single | Style::Double)) => scalar::write(text, style),
            _ => scalar::write(text, Style::Plain),
        },
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Bool(flag)) if notation == Notation::Json => flag.to_string(),
        Some(Value::Int(number)) if notation == Notation::Json => number.to_string(),
        _ => text.to_owned(),
    }
}

/// Writes a scalar of theirs on one line for a place where ours has a scalar in a wanted style.
pub(crate) fn scalar_text(node: NodeRef<'_>, wanted: Option<Style>) -> String {
    let node = node.target();
    match (node.kind(), wanted) {
        (Kind::Scalar(own), Some(style)) if own != style && matches!(node.value(), Some(Value::Text(_))) => {
            scalar::write(node.text().unwrap_or_default(), style)
        }
        (Kind::Scalar(Style::Literal | Style::Folded), _) => {
            scalar::write(node.text().unwrap_or_default(), Style::Double)
        }
        _ if node.source().contains('\n') => match node.kind() {
            Kind::Scalar(Style::Plain) => scalar::write(node.text().unwrap_or_default(), Style::Plain),
            _ => scalar::write(node.text().unwrap_or_default(), Style::Double),
        },
        _ if node.source().is_empty() => "null".to_owned(),
        _ => node.source().to_owned(),
    }
}

pub(crate) fn lead(bytes: &[u8], start: usize, floor: usize, column: usize) -> String {
    if !layout::first_on_line(bytes, start) {
        return String::new();
    }
    let line = layout::line_start(bytes, start);
    let text = String::from_utf8_lossy(&bytes[layout::lead_start(bytes, start, floor)..line]);
    text.lines()
        .map(|comment| format!("{:column$}{}\n", "", comment.trim()))
        .collect()
}

fn text_of(node: NodeRef<'_>, start: usize, end: usize) -> String {
    String::from_utf8_lossy(&node.bytes()[start..end]).into_owned()
}

pub(crate) fn copied(node: NodeRef<'_>, start: usize, end: usize, column: usize) -> String {
    let from = layout::column(node.bytes(), start);
    let text = terminated(unix(&text_of(node, start, end)));
    format!("{:column$}{}", "", shifted(&text, from, column))
}

fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

fn terminated(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// Moves all lines but the first from one column to another.
fn shifted(text: &str, from: usize, to: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let depth = line.len() - line.trim_start_matches(' ').len();
        if index == 0 || line.trim().is_empty() {
            out.push_str(line);
        } else if depth >= from {
            out.push_str(&" ".repeat(depth - from + to));
            out.push_str(&line[depth..]);
        } else {
            out.push_str(&" ".repeat(to + 2));
            out.push_str(&line[depth..]);
        }
    }
    out
}

/// Moves the lines behind the first so that the shallowest of them stands at a column.
fn continued(text: &str, column: usize) -> String {
    let lines = text.lines().skip(1).filter(|line| !line.trim().is_empty());
    let from = lines
        .map(|line| line.len() - line.trim_start_matches(' ').len())
        .min()
        .unwrap_or(0);
    shifted(text, from, column)
}

fn emit_lines(out: &mut String, node: NodeRef<'_>, column: usize, indents: Indents) {
    match node.kind() {
        Kind::Mapping(Layout::Block) => {
            let mut floor = layout::line_start(node.bytes(), node.span().start);
            for (key, value) in node.entries() {
                out.push_str(&lead(key.bytes(), key.full_span().start, floor, column));
                emit_entry(out, key, value, column, indents);
                floor = layout::after(value);
            }
        }
        Kind::Sequence(Layout::Block) => {
            let mut floor = layout::line_start(node.bytes(), node.span().start);
            for item in node.items() {
                let start = layout::dash(item).unwrap_or(item.full_span().start);
                out.push_str(&lead(item.bytes(), start, floor, column));
                emit_item(out, item, column, indents);
                floor = layout::after(item);
            }
        }
        _ => out.push_str(&terminated(shifted(&unix(node.source()), 0, column))),
    }
}

pub(crate) fn emit_entry(out: &mut String, key: NodeRef<'_>, value: NodeRef<'_>, column: usize, indents: Indents) {
    out.push_str(&" ".repeat(column));
    out.push_str(key.bytes_text(key.full_span()));
    out.push(':');
    emit_value(out, value, column, indents);
}

fn emit_item(out: &mut String, node: NodeRef<'_>, column: usize, indents: Indents) {
    out.push_str(&" ".repeat(column));
    out.push('-');
    match node.kind() {
        Kind::Mapping(Layout::Block) | Kind::Sequence(Layout::Block) => {
            emit_properties(out, node);
            let mut inner = String::new();
            emit_lines(&mut inner, node, column + 2, indents);
            out.push(' ');
            out.push_str(inner.trim_start_matches(' '));
        }
        _ => emit_value(out, node, column, indents),
    }
}

fn emit_properties(out: &mut String, node: NodeRef<'_>) {
    let properties = node.full_span().start..node.span().start;
    let text = node.bytes_text(properties);
    if !text.trim().is_empty() {
        out.push(' ');
        out.push_str(text.trim());
    }
}

fn emit_value(out: &mut String, node: NodeRef<'_>, column: usize, indents: Indents) {
    emit_properties(out, node);
    let comment = layout::trailing_comment(node);
    match node.kind() {
        Kind::Mapping(Layout::Block) => {
            out.push('\n');
            emit_lines(out, node, column + indents.step, indents);
        }
        Kind::Sequence(Layout::Block) => {
            out.push('\n');
            emit_lines(out, node, column + indents.sequence, indents);
        }
        Kind::Scalar(Style::Literal | Style::Folded) => emit_block_scalar(out, node, column, indents.step),
        Kind::Scalar(_) if node.source().is_empty() => {
            out.push_str(comment);
            out.push('\n');
        }
        _ => {
            out.push(' ');
            out.push_str(&continued(&unix(node.source()), column + indents.step));
            out.push_str(comment);
            out.push('\n');
        }
    }
}

/// Writes a block scalar behind a key at a column: an explicit indentation counts from there, else the content stands one
/// step deeper.
fn emit_block_scalar(out: &mut String, node: NodeRef<'_>, column: usize, step: usize) {
    let source = unix(node.source());
    let (header, body) = source.split_once('\n').unwrap_or((&source, ""));
    let indicator = header.split('#').next().unwrap_or("");
    let explicit = indicator
        .chars()
        .find_map(|c| c.to_digit(10))
        .map(|digit| digit as usize);
    let depth = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let (from, to) = match explicit {
        Some(digit) => (key_column(node) + digit, column + digit),
        None => (
            body.lines().find(|line| !line.trim().is_empty()).map_or(0, depth),
            column + step,
        ),
    };
    let body = if indicator.contains('+') {
        body
    } else {
        layout::without_blank_lines(body)
    };
    out.push_str(&terminated(format!(" {header}\n{}", indented(body, from, to))));
}

/// Gives the column of the key or dash that a node hangs on, when it begins on the same line.
fn key_column(node: NodeRef<'_>) -> usize {
    let start = layout::line_start(node.bytes(), node.span().start);
    let line = node.bytes_text(start..node.span().start);
    let mut column = 0;
    let mut rest = line;
    loop {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        column += blanks;
        rest = &rest[blanks..];
        match rest.strip_prefix("- ") {
            Some(after) if after.contains(':') || after.trim_start().starts_with("- ") => {
                column += 2;
                rest = after;
            }
            _ => return column,
        }
    }
}

fn indented(text: &str, from: usize, to: usize) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        match line.get(from..) {
            Some(rest) if !line.trim().is_empty() => {
                out.push_str(&" ".repeat(to));
                out.push_str(rest);
            }
            _ => out.push_str(line),
        }
    }
    out
}
