//! Compares two texts with the changed places cut out.
//!
//! In: a text and its cuts, twice. Out: the first line that differs and may not. Where an entry was cut, the comments,
//! blank lines and document markers right beside it may come and go with it.

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::ops::Range;

use super::comments;

/// How a place is cut out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cutting {
    /// The text of a scalar; the rest of its lines stays.
    Scalar,
    /// A value that changes its form; blanks before it may change too.
    Value,
    /// A whole entry, item or document, with the comment that trails it.
    Entry,
}

/// A place to cut out.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    pub(super) range: Range<usize>,
    pub(super) cutting: Cutting,
    /// Whether the place is the value of the entry that is looked at.
    pub(super) own: bool,
}

/// The comments of the sides that may replace those of ours.
pub(super) struct Known {
    pub(super) base: BTreeSet<String>,
    pub(super) theirs: BTreeSet<String>,
    /// Every line of ours and theirs without its indentation.
    pub(super) lines: HashSet<String>,
}

/// A line of a text after the cuts.
#[derive(Clone, Debug)]
pub(super) struct Line {
    text: String,
    /// Only a comment, a marker or nothing.
    soft: bool,
    /// An entry was cut out of this line.
    cut: bool,
    /// An entry was cut out beside this line.
    near: bool,
}

const SCALAR: char = '\u{1}';
const VALUE: char = '\u{2}';
const ENTRY: char = '\u{3}';

/// Cuts a text and gives what is left, line by line.
pub(super) fn lines(text: &str, mut cuts: Vec<Cut>) -> Vec<Line> {
    cuts.sort_by_key(|cut| (cut.range.start, std::cmp::Reverse(cut.range.end)));
    let mut out = String::new();
    let mut at = 0;
    for Cut { range, cutting, .. } in cuts {
        if range.start < at {
            continue;
        }
        out.push_str(&text[at..range.start]);
        let body = text[range.clone()].trim_end();
        at = range.start + body.len();
        match cutting {
            Cutting::Scalar => out.push(SCALAR),
            Cutting::Value => {
                out.truncate(out.trim_end_matches([' ', '\t', '\n', '\r']).len());
                out.push(VALUE);
            }
            Cutting::Entry => {
                out.push(ENTRY);
                let rest = text[at..].split('\n').next().unwrap_or("");
                if rest.trim().is_empty() || rest.trim_start().starts_with('#') {
                    at += rest.trim_end_matches('\r').len();
                }
            }
        }
    }
    out.push_str(&text[at..]);
    let mut lines: Vec<Line> = out.split('\n').map(line).collect();
    mark_near(&mut lines);
    lines
}

fn line(text: &str) -> Line {
    let bare = text.trim();
    let marker = bare == "---" || bare == "..." || bare.starts_with("--- #");
    Line {
        text: text.to_owned(),
        soft: bare.is_empty() || bare.starts_with('#') || marker,
        cut: text.contains(ENTRY),
        near: false,
    }
}

/// Marks the soft lines and the first hard line on each side of a cut.
fn mark_near(lines: &mut [Line]) {
    let marks: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].cut).collect();
    for mark in marks {
        for at in (0..mark).rev() {
            lines[at].near = true;
            if !lines[at].soft {
                break;
            }
        }
        for line in lines.iter_mut().skip(mark + 1) {
            line.near = true;
            if !line.soft {
                break;
            }
        }
    }
}

impl Line {
    /// Tells whether the line may be missing on the other side.
    fn optional(&self, comes_from: &BTreeSet<String>, not_from: &BTreeSet<String>) -> bool {
        let bare = self.text.trim();
        let only_cut = self.cut
            && self
                .text
                .chars()
                .all(|c| matches!(c, ENTRY | '-' | ',' | ' ' | '\t' | '\r'));
        let replaced = bare.starts_with('#') && comes_from.contains(bare) && !not_from.contains(bare);
        only_cut || (self.soft && self.near) || replaced
    }
}

fn equal(left: &Line, right: &Line, known: &Known) -> bool {
    if left.text == right.text {
        return true;
    }
    if left.cut || right.cut {
        let dropped = |c: char| matches!(c, ENTRY | ',' | ' ' | '\t' | '-' | '\r');
        let pure = |text: &str| text.replace(dropped, "");
        let both = left.cut && right.cut;
        if pure(&left.text) == pure(&right.text) && (both || !pure(&left.text).is_empty()) {
            return true;
        }
    }
    // The comma after the last item stands on a line whose neighbour was cut on one side only.
    let comma = |line: &Line| line.text.trim_end_matches(['\r', ',']).to_owned();
    if (left.near || right.near) && comma(left) == comma(right) {
        return true;
    }
    if (left.near || left.cut) && (right.near || right.cut) && dashless(&left.text) == dashless(&right.text) {
        return true;
    }
    let trailing = |line: &Line| {
        let at = line.text.find(SCALAR).or(line.text.find(VALUE))?;
        let (head, tail) = line.text.split_at(at);
        Some((head.to_owned(), tail[1..].trim().to_owned()))
    };
    let (Some((before, mine)), Some((after, new))) = (trailing(left), trailing(right)) else {
        return false;
    };
    let gone = mine.is_empty() || (known.base.contains(&mine) && !known.theirs.contains(&mine));
    before == after && gone && (new.is_empty() || known.theirs.contains(&new)) && mine != new
}

/// Replaces the dashes before an item by blanks, and leaves out the comma after it.
fn dashless(text: &str) -> String {
    let body = text.trim_start_matches([' ', '-']);
    let head = text.len() - body.len();
    format!("{}{}", " ".repeat(head), body.trim_end_matches([',', '\r', ENTRY]))
}

/// Gives a line without the blanks before it and without its end.
pub(super) fn without_indentation(line: &str) -> &str {
    line.trim_start_matches([' ', '\t']).trim_end_matches(['\r', '\n'])
}

/// Finds the first line that differs and may not.
pub(super) fn compare(left: &[Line], right: &[Line], known: &Known) -> Option<String> {
    let mut seen = HashSet::new();
    let mut open = VecDeque::from([(0, 0)]);
    let mut furthest = (0, 0);
    while let Some((i, j)) = open.pop_front() {
        if i == left.len() && j == right.len() {
            return None;
        }
        if i + j > furthest.0 + furthest.1 {
            furthest = (i, j);
        }
        let mut go = |next| {
            if seen.insert(next) {
                open.push_back(next);
            }
        };
        if i < left.len() && j < right.len() && equal(&left[i], &right[j], known) {
            go((i + 1, j + 1));
        }
        if i < left.len() && left[i].optional(&known.base, &known.theirs) {
            go((i + 1, j));
        }
        let copied = |line: &Line| {
            let bare = without_indentation(&line.text);
            line.cut || bare == "---" || known.lines.contains(bare)
        };
        if j < right.len() && right[j].optional(&known.theirs, &known.base) && copied(&right[j]) {
            go((i, j + 1));
        }
    }
    let (i, j) = furthest;
    let shown = |lines: &[Line], at: usize| {
        lines
            .get(at)
            .map_or("(end)".to_owned(), |line| format!("{:?}", line.text))
    };
    Some(format!(
        "bytes outside of changed places differ: line {} of what is left of ours is {}, the result has {} (line before: {})",
        i + 1,
        shown(left, i),
        shown(right, j),
        if i > 0 { shown(left, i - 1) } else { "none".to_owned() },
    ))
}

/// Counts how often a comment stands in or right beside places that were cut out of a text.
pub(super) fn gone_with_cuts(text: &str, cuts: &[Cut], comment: &str) -> usize {
    let count = |lines: &[Line], all: bool| {
        let counted = lines.iter().filter(|line| all || !line.near && !line.cut);
        let comments = counted.filter_map(|line| comments::of_line(&line.text));
        comments.filter(|other| *other == comment).count()
    };
    let whole = lines(text, Vec::new());
    count(&whole, true) - count(&lines(text, cuts.to_vec()), false).min(count(&whole, true))
}
