//! Checks that no comment of the user is lost and that none is invented.
//!
//! In: the four sides. Out: violations. Comments are found with the spans of scalars: a `#` after a blank outside of all
//! of them.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::Path;

use super::dom::{Kind, Node};
use super::objects::{File, Side};
use super::{Case, Sides};

/// Checks the comments of all files.
pub(super) fn check(case: &Case<'_>, sides: &Sides<'_>) -> Vec<String> {
    let mut violations = Vec::new();
    let [base, ours, theirs] = [sides.base, sides.ours, sides.theirs].map(counts);
    for (comment, made) in counts(sides.result) {
        let [b, o, t] = [&base, &ours, &theirs].map(|side| side.get(&comment).copied().unwrap_or(0));
        if made > o.max(t).max((o + t).saturating_sub(b)) && !comment.starts_with(COMPONENTS) {
            violations.push(format!(
                "the comment {comment:?} stands {made} times, in ours {o}, in theirs {t}"
            ));
        }
    }
    for (path, ours) in &sides.ours.files {
        if case.base.get(path) == case.ours.get(path) {
            continue;
        }
        violations.extend(header(sides, path));
        let made = sides.result.files.get(path).map(of).unwrap_or_default();
        for (comment, count) in tally(of(ours)) {
            let generated = base.get(&comment).copied().unwrap_or(0);
            let left = made.iter().filter(|other| **other == comment).count();
            if left + removed(sides, ours, &comment) + generated < count {
                violations.push(format!("{path}: your comment {comment:?} is lost"));
            }
        }
    }
    violations
}

/// The header line that may state other components than theirs.
const COMPONENTS: &str = "# Components:";

/// Checks that an unedited header follows theirs.
fn header(sides: &Sides<'_>, path: &Path) -> Option<String> {
    let lines = |side: &Side| {
        let text = side
            .files
            .get(path)
            .map_or("", |file| file.text.trim_start_matches('\u{feff}'));
        let head = text
            .lines()
            .take_while(|line| line.starts_with('#') || line.trim() == "---");
        let fixed = head.filter(|line| !line.starts_with(COMPONENTS));
        fixed.map(|line| line.trim_end().to_owned()).collect::<Vec<_>>()
    };
    let [base, ours, theirs, result] = [sides.base, sides.ours, sides.theirs, sides.result].map(lines);
    let there = [sides.theirs, sides.result]
        .iter()
        .all(|side| side.files.contains_key(path));
    let wrong = there && !base.is_empty() && ours == base && !theirs.is_empty() && result != theirs && result != ours;
    let stale = there && !base.is_empty() && ours == base && theirs != base && result == ours;
    let blocked = sides.ours.files.get(path).map(|f| &f.text) == sides.result.files.get(path).map(|f| &f.text);
    ((wrong || stale) && !blocked).then(|| format!("{path}: the header is {result:?}, theirs is {theirs:?}"))
}

/// Counts how often the comment stood in, before or behind something that the result does not have any more.
fn removed(sides: &Sides<'_>, ours: &File, comment: &str) -> usize {
    let Ok(documents) = &ours.documents else { return 0 };
    let cuts = documents
        .iter()
        .flat_map(|document| match sides.result.find(&document.name) {
            None => vec![document.root.span.clone()],
            Some((_, made)) => gone(&document.root, &made.root),
        })
        .map(|range| super::skeleton::Cut {
            range,
            cutting: super::skeleton::Cutting::Entry,
            own: false,
        })
        .collect::<Vec<_>>();
    super::skeleton::gone_with_cuts(&ours.text, &cuts, comment)
}

/// Lists the places of ours that the result does not have.
fn gone(ours: &Node, result: &Node) -> Vec<std::ops::Range<usize>> {
    if ours.hash == result.hash {
        return Vec::new();
    }
    if ours.is_map() && result.is_map() {
        return ours
            .entries()
            .iter()
            .flat_map(|(key, value)| match key.text().and_then(|text| result.get(text)) {
                None => std::iter::once(key.span.start..value.span.end).collect(),
                Some(other) => gone(value, other),
            })
            .collect();
    }
    if ours.is_list() && result.is_list() {
        let same = |item: &Node| {
            let name = |node: &Node| node.get("name").and_then(Node::text).map(str::to_owned);
            let named = |other: &&Node| name(item).is_some() && name(other) == name(item);
            result
                .items()
                .iter()
                .find(|other| other.hash == item.hash || named(other))
        };
        return ours
            .items()
            .iter()
            .flat_map(|item| same(item).map_or(vec![item.span.clone()], |other| gone(item, other)))
            .collect();
    }
    Vec::new()
}

fn counts(side: &Side) -> BTreeMap<String, usize> {
    tally(side.files.values().flat_map(of).collect())
}

fn tally(comments: Vec<String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for comment in comments {
        *counts.entry(comment).or_insert(0) += 1;
    }
    counts
}

/// Gives the set of comments of files.
pub(super) fn set<'f>(files: impl Iterator<Item = &'f File>) -> BTreeSet<String> {
    files.flat_map(of).collect()
}

/// Lists the comments of a file, without the blanks around them.
pub(super) fn of(file: &File) -> Vec<String> {
    let Ok(documents) = &file.documents else {
        return Vec::new();
    };
    let mut spans = Vec::new();
    for document in documents {
        scalars(&document.root, &mut spans);
    }
    spans.sort_by_key(|span| span.start);
    let mut found = Vec::new();
    let mut at = 0;
    for span in spans {
        if span.start >= at {
            gap(&file.text, at, span.start, &mut found);
            found.extend(of_header(&file.text[span.clone()]));
            at = span.end;
        }
    }
    gap(&file.text, at, file.text.len(), &mut found);
    found
}

/// Gives the comment behind the indicator of a block of text.
fn of_header(scalar: &str) -> Option<String> {
    let header = scalar.strip_prefix(['|', '>'])?.lines().next()?;
    let (indicator, comment) = header.split_once('#')?;
    let is_header = indicator.trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    (is_header.trim().is_empty() && !is_header.is_empty()).then(|| format!("#{}", comment.trim_end()))
}

fn scalars(node: &Node, spans: &mut Vec<std::ops::Range<usize>>) {
    match &node.kind {
        Kind::Scalar { .. } | Kind::Alias { .. } => spans.push(node.span.clone()),
        Kind::List { items, .. } => items.iter().for_each(|item| scalars(item, spans)),
        Kind::Map { entries, .. } => {
            for (key, value) in entries {
                scalars(key, spans);
                scalars(value, spans);
            }
        }
    }
}

fn gap(text: &str, start: usize, end: usize, found: &mut Vec<String>) {
    let before = text[..start].chars().next_back();
    let mut last = before.unwrap_or('\n');
    let mut at = start;
    while at < end {
        let Some(c) = text[at..end].chars().next() else { return };
        if c == '#' && (last.is_whitespace() || last == '\u{feff}') {
            let line = text[at..].split('\n').next().unwrap_or("");
            found.push(line.trim_end().to_owned());
            at += line.len();
            last = '#';
            continue;
        }
        last = c;
        at += c.len_utf8();
    }
}

/// Gives the comment of a line that holds no quoted text with a `#`.
pub(super) fn of_line(line: &str) -> Option<&str> {
    let bare = line.trim();
    if bare.starts_with('#') {
        return Some(bare);
    }
    line.find(" #").map(|at| line[at + 1..].trim_end())
}
