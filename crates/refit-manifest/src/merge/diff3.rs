//! Three-way comparison of sequences.
//!
//! In: three slices of comparable items. Out: regions in order. Used for lines of text and for lists without keys.

use std::hash::Hash;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A run of items of the three sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Region {
    /// The items of base.
    pub(crate) base: Range<usize>,
    /// The items of ours.
    pub(crate) ours: Range<usize>,
    /// The items of theirs.
    pub(crate) theirs: Range<usize>,
    /// Who changed.
    pub(crate) change: Change,
}

/// Who changed a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Nobody.
    None,
    /// Ours alone.
    Ours,
    /// Theirs alone.
    Theirs,
    /// Both, to the same items.
    Agreed,
    /// Both, to different items.
    Both,
}

/// Compares ours and theirs with base.
pub(crate) fn compare<T: Hash + Eq + Ord>(base: &[T], ours: &[T], theirs: &[T]) -> Vec<Region> {
    let left = changes(base, ours);
    let right = changes(base, theirs);
    let mut regions = Vec::new();
    let (mut at, mut l, mut r) = (0, 0, 0);
    let (mut ours_at, mut theirs_at) = (0, 0);
    while l < left.len() || r < right.len() {
        let next_left = left.get(l).map_or(usize::MAX, |hunk| hunk.0.start);
        let next_right = right.get(r).map_or(usize::MAX, |hunk| hunk.0.start);
        let start = next_left.min(next_right);
        let skip = start - at;
        push_same(&mut regions, at, ours_at, theirs_at, skip);
        ours_at += skip;
        theirs_at += skip;
        let group = gather(&left, &right, (l, r), start);
        let width = group.end - start;
        let ours_len = grown(width, &left[l..group.left]);
        let theirs_len = grown(width, &right[r..group.right]);
        let region = Region {
            base: start..group.end,
            ours: ours_at..ours_at + ours_len,
            theirs: theirs_at..theirs_at + theirs_len,
            change: Change::None,
        };
        let change = match (group.left > l, group.right > r) {
            (true, false) => Change::Ours,
            (false, true) => Change::Theirs,
            _ if ours[region.ours.clone()] == theirs[region.theirs.clone()] => Change::Agreed,
            // An earlier merge put theirs behind ours in this gap.
            _ if width == 0 && ours[region.ours.clone()].ends_with(&theirs[region.theirs.clone()]) => Change::Agreed,
            _ => Change::Both,
        };
        regions.push(Region { change, ..region });
        (at, l, r) = (group.end, group.left, group.right);
        ours_at += ours_len;
        theirs_at += theirs_len;
    }
    push_same(&mut regions, at, ours_at, theirs_at, base.len() - at);
    regions
}

type Hunk = (Range<usize>, Range<usize>);

struct Group {
    end: usize,
    left: usize,
    right: usize,
}

/// Gathers the hunks of both sides that touch each other from a start on: hunks without an unchanged item between them.
fn gather(left: &[Hunk], right: &[Hunk], from: (usize, usize), start: usize) -> Group {
    let mut group = Group {
        end: start,
        left: from.0,
        right: from.1,
    };
    loop {
        let before = (group.left, group.right);
        for (hunks, next) in [(left, &mut group.left), (right, &mut group.right)] {
            while let Some(hunk) = hunks.get(*next).filter(|hunk| hunk.0.start <= group.end) {
                group.end = group.end.max(hunk.0.end);
                *next += 1;
            }
        }
        if (group.left, group.right) == before {
            return group;
        }
    }
}

/// Gives the length of a side's part of a group: the group's width with its hunks exchanged.
fn grown(width: usize, hunks: &[Hunk]) -> usize {
    let removed: usize = hunks.iter().map(|hunk| hunk.0.len()).sum();
    let added: usize = hunks.iter().map(|hunk| hunk.1.len()).sum();
    width - removed + added
}

fn push_same(regions: &mut Vec<Region>, base: usize, ours: usize, theirs: usize, len: usize) {
    if len > 0 {
        regions.push(Region {
            base: base..base + len,
            ours: ours..ours + len,
            theirs: theirs..theirs + len,
            change: Change::None,
        });
    }
}

fn changes<T: Hash + Eq + Ord>(old: &[T], new: &[T]) -> Vec<Hunk> {
    let mut hunks: Vec<Hunk> = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, old, new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (before, after) = (op.old_range(), op.new_range());
        match hunks.last_mut() {
            Some(last) if last.0.end == before.start && last.1.end == after.start => {
                last.0.end = before.end;
                last.1.end = after.end;
            }
            _ => hunks.push((before, after)),
        }
    }
    hunks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
        let split = |text: &str| text.chars().collect::<Vec<_>>();
        let (b, o, t) = (split(base), split(ours), split(theirs));
        let text: Vec<String> = compare(&b, &o, &t)
            .into_iter()
            .map(|region| {
                let part = |side: &[char], range: &Range<usize>| side[range.clone()].iter().collect::<String>();
                let (b, o, t) = (part(&b, &region.base), part(&o, &region.ours), part(&t, &region.theirs));
                format!("{:?}({b},{o},{t})", region.change)
            })
            .collect();
        assert_eq!(text.join(" "), expected);
    }

    #[test]
    fn changes_of_one_side_are_told_apart() {
        check(
            "abcd",
            "aXcd",
            "abcY",
            "None(a,a,a) Ours(b,X,b) None(c,c,c) Theirs(d,d,Y)",
        );
    }

    #[test]
    fn insertions_in_one_gap_are_both() {
        check("ab", "aXb", "aYb", "None(a,a,a) Both(,X,Y) None(b,b,b)");
    }

    #[test]
    fn hunks_that_touch_are_one_and_a_second_merge_changes_nothing() {
        check("abcd", "abd", "abcNd", "None(ab,ab,ab) Both(c,,cN) None(d,d,d)");
        check("ab", "aXYb", "aYb", "None(a,a,a) Agreed(,XY,Y) None(b,b,b)");
    }

    #[test]
    fn equal_changes_agree_and_overlaps_are_both() {
        check("abc", "aXc", "aXc", "None(a,a,a) Agreed(b,X,X) None(c,c,c)");
        check("abcd", "aXd", "abYd", "None(a,a,a) Both(bc,X,bY) None(d,d,d)");
    }
}
