//! The order of things: what two lists have in common, and whether something new stands where theirs has it.
//!
//! In: lists. Out: pairs of indexes, or what is misplaced.

use super::dom::Node;

/// Finds the longest common subsequence of two lists, as pairs of indexes.
pub(super) fn common(left: &[Node], right: &[Node]) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let mut lengths = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            lengths[i * width + j] = if left[i].hash == right[j].hash {
                lengths[(i + 1) * width + j + 1] + 1
            } else {
                lengths[(i + 1) * width + j].max(lengths[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < left.len() && j < right.len() {
        if left[i].hash == right[j].hash {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[(i + 1) * width + j] >= lengths[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

/// Finds something new that does not stand between the neighbours that theirs gives it.
pub(super) fn misplaced<'k, K: PartialEq>(ours: &[K], result: &'k [K], theirs: &[K]) -> Option<&'k K> {
    let at = |key: &K| result.iter().position(|other| other == key);
    result.iter().enumerate().find_map(|(place, key)| {
        let index = theirs.iter().position(|other| other == key)?;
        let before = theirs[..index].iter().rev().find_map(at);
        let after = theirs[index + 1..].iter().find_map(at);
        let wrong = match (before, after) {
            (Some(before), Some(after)) if before < after => place < before || place > after,
            (Some(before), _) => place < before,
            (None, Some(after)) => place > after,
            (None, None) => false,
        };
        (wrong && !ours.contains(key)).then_some(key)
    })
}
