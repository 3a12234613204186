//! Writes YAML anew in another style, as formatters do.
//!
//! In: block YAML and a style. Out: the same values with other indentation, quotes or line ends. Uses the second parser
//! to find out what stands where.

use std::collections::BTreeMap;

use crate::checker::dom::{self, Kind, Node, Shape};

/// How far a formatter indents.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Blanks for a map inside a map.
    pub map: usize,
    /// Blanks for the dashes of a list inside a map.
    pub list: usize,
}

/// What a formatter like prettier does to a list: two blanks before its dashes.
pub const LISTS_INDENTED: Style = Style { map: 2, list: 2 };

/// What an editor with four blanks does.
pub const FOUR_BLANKS: Style = Style { map: 4, list: 4 };

/// Indents a file anew and writes single quotes as double ones; `None` when it cannot be read.
pub fn reindent(text: &str, style: Style) -> Option<String> {
    let documents = dom::read(text.as_bytes()).ok()?;
    let starts: Vec<usize> = std::iter::once(0)
        .chain(text.match_indices('\n').map(|(at, _)| at + 1))
        .collect();
    let mut layout = Layout {
        text,
        starts,
        style,
        lines: BTreeMap::new(),
        quotes: Vec::new(),
    };
    for document in &documents {
        layout.node(document, 0);
    }
    Some(layout.write())
}

/// Gives a file carriage returns.
pub fn carriage_returns(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

struct Layout<'t> {
    text: &'t str,
    starts: Vec<usize>,
    style: Style,
    /// By line number: the old and the new column of the first thing on it.
    lines: BTreeMap<usize, (usize, usize)>,
    /// Where single quotes begin and end that can be double ones.
    quotes: Vec<usize>,
}

impl Layout<'_> {
    fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset) - 1
    }

    fn column_of(&self, offset: usize) -> usize {
        offset - self.starts[self.line_of(offset)]
    }

    fn set(&mut self, offset: usize, column: usize) {
        let line = self.line_of(offset);
        let old = self.column_of(offset);
        self.lines.entry(line).or_insert((old, column));
    }

    fn node(&mut self, node: &Node, column: usize) {
        match &node.kind {
            Kind::Map {
                entries,
                shape: Shape::Block,
            } => {
                for (key, value) in entries {
                    self.set(key.span.start, column);
                    self.node(key, column);
                    let inner = match &value.kind {
                        Kind::List {
                            shape: Shape::Block, ..
                        } => column + self.style.list,
                        Kind::Map {
                            shape: Shape::Block, ..
                        } => column + self.style.map,
                        _ => column,
                    };
                    self.node(value, inner);
                }
            }
            Kind::List {
                items,
                shape: Shape::Block,
            } => {
                for item in items {
                    let head = self.text[..item.span.start].rfind('-').unwrap_or(item.span.start);
                    if self.line_of(head) == self.line_of(item.span.start) {
                        self.set(head, column);
                    }
                    self.node(item, column + 2);
                }
            }
            Kind::Scalar { .. } => self.quote(node),
            _ => {}
        }
    }

    fn quote(&mut self, node: &Node) {
        let raw = &self.text[node.span.clone()];
        let inner = raw.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
        if inner.is_some_and(|inner| !inner.contains(['\'', '"', '\\', '\n'])) {
            self.quotes.extend([node.span.start, node.span.end - 1]);
        }
    }

    fn write(&self) -> String {
        let mut text = self.text.as_bytes().to_vec();
        for at in &self.quotes {
            text[*at] = b'"';
        }
        let text = String::from_utf8_lossy(&text).into_owned();
        let mut out = String::new();
        let mut shift = (0, 0);
        for (number, line) in text.split_inclusive('\n').enumerate() {
            let body = line.trim_start_matches(' ');
            let old = line.len() - body.len();
            let comment = body.starts_with('#') && !self.lines.contains_key(&number);
            if let Some(found) = self.lines.get(&number) {
                shift = *found;
            } else if comment && let Some((_, found)) = self.lines.range(number..).next() {
                out.push_str(&" ".repeat(found.1));
                out.push_str(body);
                continue;
            }
            let marker = old == 0 && (body.starts_with("---") || body.starts_with("..."));
            if !body.trim().is_empty() && !marker {
                out.push_str(&" ".repeat((old + shift.1).saturating_sub(shift.0)));
            }
            out.push_str(body);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::{FOUR_BLANKS, LISTS_INDENTED, carriage_returns, reindent};
    use crate::checker::dom;

    const TEXT: &str = "# head\na:\n  # about b\n  b:\n  - name: x\n    text: |-\n      one\n\n        two\n    c: 'q'\n  - - y\n  d: one\n    two\n---\nk: [1,\n  2]\n";

    #[test]
    fn a_reformatted_file_has_the_same_values() {
        for style in [LISTS_INDENTED, FOUR_BLANKS] {
            let after = reindent(TEXT, style).expect("it can be read");
            let values = |text: &str| {
                dom::read(text.as_bytes())
                    .expect("YAML")
                    .iter()
                    .map(|n| n.hash)
                    .collect::<Vec<_>>()
            };
            assert_ne!(after, TEXT);
            assert_eq!(values(&after), values(TEXT), "{after}");
        }
        assert!(
            reindent(TEXT, LISTS_INDENTED)
                .expect("it can be read")
                .contains("\n    - name: x\n      text: |-\n        one\n")
        );
        assert_eq!(carriage_returns("a\nb\r\n"), "a\r\nb\r\n");
    }
}
