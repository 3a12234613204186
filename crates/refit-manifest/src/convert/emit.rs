//! Writes new parts of a draft as text.
//!
//! In: parts of a draft and the place where they go. Out: text with `\n` line ends. What is written in the file already
//! is copied, with its comments.

use super::draft::{Draft, Entry, Form, Item, Scalar, Source};
use crate::layout::{self, Indents};
use crate::parse::{Kind, Layout, NodeRef};
use crate::render::{self, Notation, Parent, Target};
use crate::scalar::{self, Style};

/// How the file is written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hand {
    pub(super) indents: Option<Indents>,
    pub(super) notation: Notation,
}

impl Hand {
    fn target(self, column: usize) -> Target {
        Target {
            column,
            ours: self.indents,
            theirs: self.indents,
        }
    }

    /// Writes an entry of a block mapping as whole lines.
    pub(super) fn entry(self, entry: &Entry<'_>, column: usize) -> String {
        if let (Some(source), Draft::Kept(value)) = (entry.source, &entry.value)
            && source.node.text() == Some(&entry.key)
            && stands_in_block(source.node)
        {
            return render::entry(source.node, *value, source.floor, self.target(column));
        }
        let mut out = lead(entry.source, column);
        out.push_str(&format!("{:column$}{}:", "", self.key(entry)));
        out.push_str(&self.behind(&entry.value, column));
        out
    }

    /// Writes an item of a block sequence as whole lines.
    pub(super) fn item(self, item: &Item<'_>, column: usize) -> String {
        if let (Some(source), Draft::Kept(value)) = (item.source, &item.value)
            && source.node == *value
            && layout::dash(*value).is_some()
        {
            return render::item(*value, source.floor, self.target(column));
        }
        let mut out = lead(item.source, column);
        out.push_str(&format!("{:column$}-", ""));
        match &item.value {
            Draft::Kept(node) => {
                let (inline, lines) = render::value(*node, Parent::Dash, self.target(column));
                out.push_str(&format!("{inline}\n{lines}"));
            }
            Draft::Mapping(mapping) if mapping.layout() != Some(Layout::Flow) && !mapping.entries.is_empty() => {
                let inner: String = mapping
                    .entries
                    .iter()
                    .map(|entry| self.entry(entry, column + 2))
                    .collect();
                out.push_str(&format!(" {}", inner.trim_start_matches(' ')));
            }
            other => out.push_str(&self.behind(other, column)),
        }
        out
    }

    /// Writes a value behind the colon or dash at a column: the rest of the line, then whole lines.
    pub(super) fn value(self, draft: &Draft<'_>, parent: Parent, column: usize) -> (String, String) {
        let out = match (parent, draft) {
            (Parent::Dash, Draft::Mapping(_)) => {
                let item = Item {
                    source: None,
                    value: draft.clone(),
                };
                let text = self.item(&item, column);
                text.trim_start_matches(' ')
                    .strip_prefix('-')
                    .unwrap_or(&text)
                    .to_owned()
            }
            _ => self.behind(draft, column),
        };
        match out.split_once('\n') {
            Some((inline, lines)) => (inline.to_owned(), lines.to_owned()),
            None => (out, String::new()),
        }
    }

    fn behind(self, draft: &Draft<'_>, column: usize) -> String {
        let indents = self.target(column).indents();
        match draft {
            Draft::Kept(node) => {
                let (inline, lines) = render::value(*node, Parent::Key, self.target(column));
                format!("{inline}\n{lines}")
            }
            Draft::Mapping(mapping) if mapping.layout() != Some(Layout::Flow) && !mapping.entries.is_empty() => {
                let column = column + indents.step;
                let lines: String = mapping.entries.iter().map(|entry| self.entry(entry, column)).collect();
                format!("\n{lines}")
            }
            Draft::Sequence(sequence) if sequence.layout() != Some(Layout::Flow) && !sequence.items.is_empty() => {
                let column = column + indents.sequence;
                let lines: String = sequence.items.iter().map(|item| self.item(item, column)).collect();
                format!("\n{lines}")
            }
            Draft::Scalar(scalar) if has_lines(scalar) => lines(&scalar.text, column + indents.step),
            other => format!(" {}\n", self.flow(other)),
        }
    }

    /// Writes an entry on one line for a flow mapping.
    pub(super) fn flow_entry(self, entry: &Entry<'_>) -> String {
        format!("{}: {}", self.key(entry), self.flow(&entry.value))
    }

    /// Writes a value on one line.
    pub(super) fn flow(self, draft: &Draft<'_>) -> String {
        match draft {
            Draft::Kept(node) if node.kind() == Kind::Alias => node.source().to_owned(),
            Draft::Kept(node) => render::flow(*node, self.notation),
            Draft::Mapping(mapping) => {
                let parts: Vec<String> = mapping.entries.iter().map(|entry| self.flow_entry(entry)).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Draft::Sequence(sequence) => {
                let parts: Vec<String> = sequence.items.iter().map(|item| self.flow(&item.value)).collect();
                format!("[{}]", parts.join(", "))
            }
            Draft::Scalar(scalar) => self.scalar(scalar),
        }
    }

    fn scalar(self, scalar: &Scalar<'_>) -> String {
        match (&scalar.form, self.notation) {
            (Form::Written(source), _) => source.clone(),
            (_, Notation::Json) => scalar::write(&scalar.text, Style::Double),
            (Form::Lines, Notation::Yaml) => scalar::write(&scalar.text, Style::Single),
            _ => scalar::write(&scalar.text, Style::Plain),
        }
    }

    /// Writes the name of an entry, in the style of the key that it comes from.
    fn key(self, entry: &Entry<'_>) -> String {
        match entry.source.map(|source| source.node) {
            Some(node) if node.text() == Some(&entry.key) && self.notation == Notation::Yaml => {
                node.bytes_text(node.full_span()).to_owned()
            }
            Some(node) => self.renamed(node, &entry.key),
            None => match self.notation {
                Notation::Json => scalar::write(&entry.key, Style::Double),
                Notation::Yaml => scalar::write(&entry.key, Style::Plain),
            },
        }
    }

    /// Writes a new name for a key in its style.
    pub(super) fn renamed(self, key: NodeRef<'_>, name: &str) -> String {
        match (key.kind(), self.notation) {
            (_, Notation::Json) => scalar::write(name, Style::Double),
            (Kind::Scalar(style @ (Style::Single | Style::Double)), _) => scalar::write(name, style),
            _ => scalar::write(name, Style::Plain),
        }
    }
}

/// Tells whether a text is to stand as lines behind `|`, and can.
fn has_lines(scalar: &Scalar<'_>) -> bool {
    let text = &scalar.text;
    let wanted = match &scalar.form {
        Form::Lines => text.contains('\n'),
        Form::Edited(node, _) => matches!(node.kind(), Kind::Scalar(Style::Literal | Style::Folded)),
        Form::Written(_) => false,
    };
    wanted
        && !text.starts_with([' ', '\n', '\t'])
        && !text.trim().is_empty()
        && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

/// Writes a text as lines behind `|`.
fn lines(text: &str, column: usize) -> String {
    let body = text.trim_end_matches('\n');
    let (chomping, blanks) = match text.len() - body.len() {
        0 => ("-", 0),
        1 => ("", 0),
        more => ("+", more - 1),
    };
    let mut out = format!(" |{chomping}\n");
    for line in body.split('\n') {
        if line.is_empty() {
            out.push('\n');
        } else {
            out.push_str(&format!("{:column$}{line}\n", ""));
        }
    }
    out.push_str(&"\n".repeat(blanks));
    out
}

/// Gives the comments above a key or item, for a new column.
fn lead(source: Option<Source<'_>>, column: usize) -> String {
    source.map_or_else(String::new, |from| {
        render::lead(from.node.bytes(), from.start, from.floor, column)
    })
}

/// Tells whether a key or item is the first on its line, or stands directly behind dashes.
fn stands_in_block(node: NodeRef<'_>) -> bool {
    let start = node.full_span().start;
    let line = layout::line_start(node.bytes(), start);
    node.bytes()[line..start].iter().all(|byte| matches!(byte, b' ' | b'-'))
}
