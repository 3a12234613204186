//! Puts a value of theirs, or a person's value, where ours has one.

use super::expect::Expect;
use super::merger::{Holder, Merger, Three};
use crate::elements;
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef};
use crate::render::{self, Parent};
use crate::scalar::{self, Style, Value};

impl<'a> Merger<'a> {
    /// Replaces the value of ours by that of theirs, in the style of ours.
    pub(super) fn replace(&mut self, three: Three<'a>) -> Expect<'a> {
        let Three {
            holder, ours, theirs, ..
        } = three;
        match holder {
            Holder::Root => {
                let start = layout::line_start(ours.bytes(), ours.full_span().start);
                let text = render::document(theirs, self.target(0));
                self.replace_lines(ours, start..layout::after(ours), &text);
            }
            Holder::Key(_, Layout::Flow) | Holder::Item(Layout::Flow) => {
                let text = render::flow(theirs, self.notation);
                self.splice(spot(ours), padded(ours, text));
            }
            _ if fits_inline(ours) && fits_inline(theirs) && has_place(three) => {
                let text = self.inline_text(three);
                self.splice(spot(ours), padded(ours, text));
                self.follow_trailing(three);
            }
            Holder::Key(key, Layout::Block) => {
                let column = layout::column(key.bytes(), key.full_span().start);
                let written = render::value(theirs, Parent::Key, self.target(column));
                match layout::after_colon(key) {
                    Some(start) => self.replace_slot(three, start, written),
                    None => self.block("a key without a colon cannot be edited"),
                }
            }
            Holder::Item(Layout::Block) => match layout::dash(ours) {
                Some(dash) => {
                    let column = layout::column(ours.bytes(), dash);
                    let written = render::value(theirs, Parent::Dash, self.target(column));
                    self.replace_slot(three, dash + 1, written);
                }
                None => self.block("a list item without a dash cannot be edited"),
            },
        }
        Expect::Node(theirs)
    }

    /// Replaces a scalar of ours by a string, in the style of ours.
    pub(super) fn replace_text(&mut self, three: Three<'a>, text: &str) -> Expect<'a> {
        let style = match three.ours.kind() {
            Kind::Scalar(style @ (Style::Plain | Style::Single | Style::Double)) => style,
            _ => Style::Double,
        };
        self.put_scalar(three, scalar::write(text, style));
        Expect::Text(text.to_owned())
    }

    /// Replaces a scalar of ours by the value that a person gave: a string where theirs is one, else as written.
    pub(super) fn replace_written(&mut self, three: Three<'a>, text: &str) -> Expect<'a> {
        if matches!(three.theirs.value(), Some(Value::Text(_))) {
            return self.replace_text(three, text);
        }
        self.put_scalar(three, text.to_owned());
        Expect::Written(text.to_owned())
    }

    fn put_scalar(&mut self, three: Three<'a>, text: String) {
        if fits_inline(three.ours) && has_place(three) {
            self.splice(spot(three.ours), padded(three.ours, text));
            return;
        }
        let slot = match three.holder {
            Holder::Key(key, Layout::Block) => layout::after_colon(key),
            Holder::Item(Layout::Block) => layout::dash(three.ours).map(|dash| dash + 1),
            _ => None,
        };
        match slot {
            Some(start) => self.replace_slot(three, start, (format!(" {text}"), String::new())),
            None => self.block("the value has no place that can be edited"),
        }
    }

    /// Writes a scalar of theirs for a place on one line: in the style of theirs where ours never changed the style.
    fn inline_text(&self, three: Three<'a>) -> String {
        let own = match three.ours.kind() {
            Kind::Scalar(style) if !three.ours.source().is_empty() => style,
            _ => return render::scalar_text(three.theirs, None),
        };
        let base = three.base.and_then(|base| match base.kind() {
            Kind::Scalar(style) => Some(style),
            _ => None,
        });
        if !matches!(three.theirs.kind(), Kind::Scalar(_)) {
            return three.theirs.source().to_owned();
        }
        if three.theirs.tag().is_some() && three.ours.anchor().is_none() {
            return three.theirs.bytes_text(three.theirs.full_span()).to_owned();
        }
        render::scalar_text(three.theirs, (base.is_some() && base != Some(own)).then_some(own))
    }

    /// Replaces what stands behind a colon or dash by the rest of a line and whole lines.
    fn replace_slot(&mut self, three: Three<'a>, start: usize, written: (String, String)) {
        let (inline, lines) = with_header_comment(three, written);
        for splice in elements::replace_slot(three.ours, start, (&inline, &lines)) {
            self.add(splice);
        }
    }

    fn replace_lines(&mut self, ours: NodeRef<'a>, range: std::ops::Range<usize>, lines: &str) {
        let ends = ours.bytes()[..range.end].last() == Some(&b'\n');
        let text = if ends {
            lines
        } else {
            lines.strip_suffix('\n').unwrap_or(lines)
        };
        self.splice(range, text);
    }
}

/// Keeps the comment on the first line of a block of text of ours, unless it is that of base.
fn with_header_comment(three: Three<'_>, written: (String, String)) -> (String, String) {
    let (inline, lines) = written;
    let own = layout::header_comment(three.ours);
    if own.is_empty() || three.base.is_some_and(|base| layout::header_comment(base) == own) {
        return (inline, lines);
    }
    let new = layout::header_comment(three.theirs);
    let header = inline.strip_suffix(new).unwrap_or(&inline);
    (format!("{header}{own}"), lines)
}

/// Tells whether the value has bytes, or an empty place behind its colon.
fn has_place(three: Three<'_>) -> bool {
    !three.ours.source().is_empty() || matches!(three.holder, Holder::Key(..))
}

/// Gives the bytes that a new scalar takes: an anchor stays, a tag goes.
fn spot(ours: NodeRef<'_>) -> std::ops::Range<usize> {
    if ours.anchor().is_some() {
        ours.span()
    } else {
        ours.full_span()
    }
}

/// Puts a blank before a text that takes the place of an empty value.
fn padded(ours: NodeRef<'_>, text: String) -> String {
    let span = ours.full_span();
    let before = span.start.checked_sub(1).map(|at| ours.bytes()[at]);
    if span.is_empty() && before.is_some_and(|byte| !matches!(byte, b' ' | b'\n')) {
        format!(" {text}")
    } else {
        text
    }
}

/// Tells whether a node is written on one line without being a block.
fn fits_inline(node: NodeRef<'_>) -> bool {
    match node.kind() {
        Kind::Scalar(Style::Literal | Style::Folded) | Kind::Mapping(Layout::Block) | Kind::Sequence(Layout::Block) => {
            false
        }
        Kind::Scalar(_) | Kind::Alias => !node.source().contains('\n'),
        Kind::Mapping(Layout::Flow) | Kind::Sequence(Layout::Flow) => !node.source().contains('\n'),
    }
}
