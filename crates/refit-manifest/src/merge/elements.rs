//! Puts entries and items into collections of ours and takes them out.

use super::merger::{Holder, Merger};
use crate::elements::{self, Element, Spot};
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef};

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
        self.add(elements::insert_block(all, spot, lines));
    }

    /// Inserts an element into a flow collection, parted like its neighbours.
    pub(super) fn insert_flow(&mut self, all: &[Element<'a>], spot: Spot, text: &str) {
        self.add(elements::insert_flow(all, spot, text));
    }

    /// Takes elements out; at least one stays.
    pub(super) fn remove(&mut self, layout_of: Layout, all: &[Element<'a>], gone: &[bool]) {
        match elements::remove(layout_of, all, gone) {
            Ok(splices) => splices.into_iter().for_each(|splice| self.add(splice)),
            Err(reason) => self.block(reason),
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
                let comment = layout::comment_behind(ours.bytes(), start);
                self.splice(start..layout::content_end(ours), format!(" {text}{comment}"));
            }
            None => self.block("the whole document would become empty"),
        }
    }
}
