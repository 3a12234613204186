//! Puts entries and items into collections of ours and takes them out.

use super::layout;
use super::merger::{Holder, Merger};
use super::replace::comment_behind;
use crate::parse::{Kind, Layout, NodeRef};

/// An entry of a mapping or an item of a sequence of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element<'a> {
    /// Where the key or the dash begins (in flow style: where key or item begins).
    pub(super) start: usize,
    /// The value or the item.
    pub(super) value: NodeRef<'a>,
    /// The end of key and value.
    pub(super) end: usize,
}

/// Lists the elements of a collection as they are written.
pub(super) fn elements(node: NodeRef<'_>) -> Vec<Element<'_>> {
    match node.kind() {
        Kind::Sequence(Layout::Block) => node
            .items()
            .map(|item| Element {
                start: layout::dash(item).unwrap_or(item.full_span().start),
                value: item,
                end: layout::content_end(item),
            })
            .collect(),
        Kind::Sequence(Layout::Flow) => node
            .items()
            .map(|item| Element {
                start: item.full_span().start,
                value: item,
                end: item.full_span().end,
            })
            .collect(),
        _ => node
            .entries()
            .map(|(key, value)| Element {
                start: key.full_span().start,
                value,
                end: layout::content_end(value).max(key.full_span().end),
            })
            .collect(),
    }
}

/// Where a new element goes, by the index of an element of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    After(usize),
    Before(usize),
}

/// The places for new elements of theirs: after the nearest element before it in theirs that ours has too, and after
/// what ours alone has there; else before the next one that both have.
pub(super) struct Places {
    /// For each element of theirs the nearest one of ours before it.
    before: Vec<Option<usize>>,
    /// For each element of theirs the nearest one of ours behind it.
    behind: Vec<Option<usize>>,
    /// For each element of ours the last of the user's own elements that follow it without a gap.
    run_end: Vec<usize>,
}

impl Places {
    /// In: for each element of theirs the index in ours; which elements of ours are the user's own.
    pub(super) fn new(in_ours: &[Option<usize>], own: &[bool]) -> Self {
        let nearest = |index: &Option<usize>, last: &mut Option<usize>| {
            let found = *last;
            *last = index.or(*last);
            found
        };
        let mut last = None;
        let before = in_ours.iter().map(|index| nearest(index, &mut last)).collect();
        let mut next = None;
        let mut behind: Vec<_> = in_ours.iter().rev().map(|index| nearest(index, &mut next)).collect();
        behind.reverse();
        let mut run_end: Vec<usize> = (0..own.len()).collect();
        for index in (1..own.len()).rev() {
            if own[index] {
                run_end[index - 1] = run_end[index];
            }
        }
        Self {
            before,
            behind,
            run_end,
        }
    }

    /// Gives the place of an element of theirs.
    pub(super) fn spot(&self, new: usize) -> Option<Spot> {
        if let Some(at) = self.before[new] {
            return Some(Spot::After(self.run_end[at]));
        }
        let last = || self.run_end.len().checked_sub(1).map(Spot::After);
        self.behind[new].map(Spot::Before).or_else(last)
    }
}

impl<'a> Merger<'a> {
    /// Inserts whole lines that were written for the column of the elements.
    pub(super) fn insert_block(&mut self, all: &[Element<'a>], spot: Spot, lines: &str) {
        match spot {
            Spot::After(index) => {
                let element = all[index];
                let bytes = element.value.bytes();
                self.insert_lines(bytes, after_lines(element), lines);
            }
            Spot::Before(index) => {
                let element = all[index];
                let bytes = element.value.bytes();
                if layout::first_on_line(bytes, element.start) {
                    self.insert_lines(bytes, lead_of(all, index), lines);
                } else {
                    let column = layout::column(bytes, element.start);
                    let text = format!("{}{:column$}", lines.trim_start_matches(' '), "");
                    self.splice(element.start..element.start, text);
                }
            }
        }
    }

    /// Inserts an element into a flow collection, parted like its neighbours.
    pub(super) fn insert_flow(&mut self, all: &[Element<'a>], spot: Spot, text: &str) {
        match spot {
            Spot::After(index) => {
                let gap = gap_of(all, index);
                let end = all[index].end;
                self.splice(end..end, format!(",{gap}{text}"));
            }
            Spot::Before(index) => {
                let gap = gap_of(all, index);
                let start = all[index].start;
                self.splice(start..start, format!("{text},{gap}"));
            }
        }
    }

    /// Takes elements out; at least one stays.
    pub(super) fn remove(&mut self, layout_of: Layout, all: &[Element<'a>], gone: &[bool]) {
        let first_staying = gone.iter().position(|gone| !gone).unwrap_or(all.len());
        for index in (0..all.len()).filter(|index| gone[*index]) {
            match layout_of {
                Layout::Block => self.remove_block(all, first_staying, index),
                Layout::Flow => self.remove_flow(all, first_staying, index),
            }
        }
    }

    fn remove_block(&mut self, all: &[Element<'a>], first_staying: usize, index: usize) {
        let element = all[index];
        let bytes = element.value.bytes();
        if layout::first_on_line(bytes, element.start) {
            let in_first_run = index > 0 && index < first_staying;
            if in_first_run && !layout::first_on_line(bytes, all[0].start) {
                // The splice of the first key behind the dash takes the whole run.
                return;
            }
            self.splice(lead_of(all, index)..after_lines(element), "");
            return;
        }
        // The first key behind a dash: the first one that stays takes its place.
        match all.get(first_staying) {
            Some(next) => self.splice(element.start..next.start, ""),
            None => self.block("all keys of a list item would go"),
        }
    }

    fn remove_flow(&mut self, all: &[Element<'a>], first_staying: usize, index: usize) {
        match (index > first_staying, all.get(index + 1)) {
            (true, _) => self.splice(all[index - 1].end..all[index].end, ""),
            (false, Some(next)) => self.splice(all[index].start..next.start, ""),
            (false, None) => self.block("all elements of a flow collection would go"),
        }
    }

    /// Empties a collection of ours.
    pub(super) fn empty(&mut self, holder: Holder<'a>, ours: NodeRef<'a>) {
        let text = if matches!(ours.kind(), Kind::Sequence(_)) {
            "[]"
        } else {
            "{}"
        };
        if !matches!(
            ours.kind(),
            Kind::Mapping(Layout::Block) | Kind::Sequence(Layout::Block)
        ) {
            self.splice(ours.span(), text);
            return;
        }
        let start = match holder {
            Holder::Key(key, _) => layout::after_colon(key),
            Holder::Item(_) => layout::dash(ours).map(|dash| dash + 1),
            Holder::Root => None,
        };
        match start {
            Some(start) => {
                let comment = comment_behind(ours.bytes(), start);
                self.splice(start..layout::content_end(ours), format!(" {text}{comment}"));
            }
            None => self.block("the whole document would become empty"),
        }
    }
}

/// Gives the offset behind the lines of an element, with the blank lines that its block scalar keeps.
fn after_lines(element: Element<'_>) -> usize {
    let at = layout::line_end(element.value.bytes(), element.end);
    if keeps_more(element.value, at) {
        element.value.span().end
    } else {
        at
    }
}

/// Gives where the comment lines above an element begin, behind the element before it.
fn lead_of(all: &[Element<'_>], index: usize) -> usize {
    let bytes = all[index].value.bytes();
    let floor = index
        .checked_sub(1)
        .map_or(0, |at| layout::line_end(bytes, all[at].end));
    layout::lead_start(bytes, all[index].start, floor)
}

/// Tells whether a block scalar keeps blank lines behind an offset.
fn keeps_more(node: NodeRef<'_>, at: usize) -> bool {
    let keeps = node.source().lines().next().is_some_and(|header| header.contains('+'));
    matches!(
        node.kind(),
        Kind::Scalar(crate::scalar::Style::Literal | crate::scalar::Style::Folded)
    ) && keeps
        && node.span().end > at
}

/// Gives the blanks that part elements of a flow collection: those before the second element, else before the first.
fn gap_of(all: &[Element<'_>], index: usize) -> String {
    let bytes = all[index].value.bytes();
    let element = if all.len() > 1 { &all[index.max(1)] } else { &all[0] };
    let blanks = bytes[..element.start]
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    let gap = String::from_utf8_lossy(&bytes[element.start - blanks..element.start]).replace("\r\n", "\n");
    if gap.is_empty() { " ".to_owned() } else { gap }
}
