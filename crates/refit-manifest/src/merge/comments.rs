//! Comments of entries: those that a generator wrote follow theirs, an edited one stays.

use std::collections::HashMap;
use std::ops::Range;

use super::merger::{Choice, Holder, Merger, Proposal, Three};
use crate::decision::{Class, Outcome, Rule};
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef, view};

impl<'a> Merger<'a> {
    /// Lets the comment behind a replaced value follow theirs, where ours still has that of base.
    pub(super) fn follow_trailing(&mut self, three: Three<'a>) {
        let Some(base) = three.base else { return };
        let (old, own, new) = (
            layout::trailing_comment(base),
            layout::trailing_comment(three.ours),
            layout::trailing_comment(three.theirs),
        );
        if old == own && own != new {
            let start = layout::content_end(three.ours);
            self.splice(start..start + own.len(), new.replace('\t', " "));
        }
    }

    /// Lets all comments inside a value follow theirs where theirs changed nothing but comments.
    pub(super) fn follow_comments(&mut self, three: Three<'a>) {
        let Some(base) = three.base else { return };
        let (old, new) = (base.source(), three.theirs.source());
        if old == new || !(old.contains('#') || new.contains('#')) {
            return;
        }
        let children = children(three);
        if children.is_empty() {
            return self.follow_trailing_alone(three);
        }
        self.follow_leads(three);
        for (step, child) in children {
            self.within(step, |merger| match child.ours.kind() {
                Kind::Scalar(_) => merger.follow_trailing_alone(child),
                _ => merger.follow_comments(child),
            });
        }
    }

    fn follow_trailing_alone(&mut self, three: Three<'a>) {
        let is_scalar = |node: NodeRef<'a>| matches!(node.kind(), Kind::Scalar(_)) && !node.source().is_empty();
        let Some(base) = three
            .base
            .filter(|base| is_scalar(*base) && is_scalar(three.ours) && is_scalar(three.theirs))
        else {
            return;
        };
        let comments = [base, three.ours, three.theirs].map(layout::trailing_comment);
        if comments[0] == comments[1] && comments[1] != comments[2] {
            let (rule, outcome, choice) = (Rule::Comment, Outcome::Clean, Choice::Theirs);
            let message = "the comment behind it follows the new version";
            let proposal = Proposal::bare(rule, outcome, choice, message);
            self.decide_as(Class::Other, proposal);
            self.follow_trailing(three);
        }
    }

    /// Lets the comment lines above the keys of a mapping follow theirs, where ours still has those of base.
    pub(super) fn follow_leads(&mut self, three: Three<'a>) {
        let Some(base) = three.base else { return };
        let plain = |node: NodeRef<'a>| node.kind() != Kind::Mapping(Layout::Block) || node.anchor().is_some();
        if [base, three.ours, three.theirs].into_iter().any(plain) {
            return;
        }
        if !base.source().contains('#') && !three.theirs.source().contains('#') {
            return;
        }
        let (old, own, new) = (leads(base), leads(three.ours), leads(three.theirs));
        let mut follows: Vec<(&str, Range<usize>, String)> = own
            .iter()
            .filter_map(|(key, (range, text))| {
                let (before, after) = (&old.get(key)?.1, &new.get(key)?.1);
                (before != after && before == text).then(|| {
                    let column = layout::column(three.ours.bytes(), three.ours.span().start);
                    let lines = after.lines().map(|line| format!("{:column$}{line}\n", ""));
                    (*key, range.clone(), lines.collect())
                })
            })
            .collect();
        follows.sort_by_key(|(_, range, _)| range.start);
        for (key, range, text) in follows {
            let (rule, outcome, choice) = (Rule::Comment, Outcome::Clean, Choice::Theirs);
            let message = "the comment above it follows the new version";
            let proposal = Proposal::bare(rule, outcome, choice, message);
            self.within(key.to_owned(), |merger| merger.decide_as(Class::Other, proposal));
            self.splice(range, text);
        }
    }
}

/// Pairs the entries or items that all three sides of a block collection have.
fn children(three: Three<'_>) -> Vec<(String, Three<'_>)> {
    let Some(base) = three.base else { return Vec::new() };
    let (ours, theirs) = (three.ours, three.theirs);
    match (base.kind(), ours.kind(), theirs.kind()) {
        (Kind::Mapping(Layout::Block), Kind::Mapping(Layout::Block), Kind::Mapping(Layout::Block)) => {
            let (old, new): (HashMap<_, _>, HashMap<_, _>) =
                (view(base).into_iter().collect(), view(theirs).into_iter().collect());
            ours.entries()
                .filter_map(|(key, value)| {
                    let name = key.text()?;
                    let (base, theirs) = (Some(*old.get(name)?), *new.get(name)?);
                    let holder = Holder::Key(key, Layout::Block);
                    Some((
                        name.to_owned(),
                        Three {
                            holder,
                            base,
                            ours: value,
                            theirs,
                        },
                    ))
                })
                .collect()
        }
        (Kind::Sequence(Layout::Block), Kind::Sequence(Layout::Block), Kind::Sequence(Layout::Block))
            if base.items().len() == ours.items().len() && ours.items().len() == theirs.items().len() =>
        {
            let holder = Holder::Item(Layout::Block);
            let triples = base.items().zip(ours.items()).zip(theirs.items()).enumerate();
            triples
                .map(|(index, ((base, ours), theirs))| {
                    (
                        format!("[{index}]"),
                        Three {
                            holder,
                            base: Some(base),
                            ours,
                            theirs,
                        },
                    )
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

/// Gives the comment lines above each key but the first: their place and their text without indentation.
fn leads(node: NodeRef<'_>) -> HashMap<&str, (Range<usize>, String)> {
    let bytes = node.bytes();
    let mut floor = None;
    let mut out = HashMap::new();
    for (key, value) in node.entries() {
        let start = key.full_span().start;
        if let (Some(floor), Some(name)) = (floor, key.text()) {
            let range = layout::lead_start(bytes, start, floor)..layout::line_start(bytes, start);
            let text: String = key
                .bytes_text(range.clone())
                .lines()
                .map(|line| format!("{}\n", line.trim()))
                .collect();
            out.insert(name, (range, text));
        }
        floor = Some(layout::after(value).max(layout::line_end(bytes, start)));
    }
    out
}
