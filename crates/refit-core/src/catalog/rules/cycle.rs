//! Finds moves that undo each other: a second conversion would move what the first one moved.

use refit_manifest::convert::{Field, Operation};

use super::{ConversionRule, Error};

struct Move<'a> {
    rule: &'a ConversionRule,
    from: &'a Field,
    to: &'a Field,
}

/// Refuses rules of one kind whose moves lead a field back to where it was.
pub(super) fn check(rules: &[ConversionRule]) -> Result<(), Error> {
    let moves: Vec<Move<'_>> = rules.iter().flat_map(moves).collect();
    for start in 0..moves.len() {
        if let Some(last) = leads_back(&moves, start) {
            let (first, last) = (&moves[start], &moves[last]);
            return Err(Error {
                file: last.rule.file.clone(),
                line: last.rule.line,
                rule: Some(last.rule.rule.id.clone()),
                what: format!(
                    "the moves are a circle: `{}` goes to `{}` in rule `{}`, and comes back from `{}` to `{}`",
                    first.from, first.to, first.rule.rule.id, last.from, last.to
                ),
                remedy: "take one of the moves out".to_owned(),
            });
        }
    }
    Ok(())
}

fn moves(rule: &ConversionRule) -> Vec<Move<'_>> {
    let ends = |operation| match operation {
        &Operation::Move { ref from, ref to }
        | &Operation::Insert { ref from, ref to, .. }
        | &Operation::Copy { ref from, ref to } => Some(Move { rule, from, to }),
        _ => None,
    };
    rule.rule.operations.iter().filter_map(ends).collect()
}

/// Tells whether what one move leaves is what another takes.
fn feeds(a: &Move<'_>, b: &Move<'_>) -> bool {
    let shares_kind = a
        .rule
        .rule
        .kinds
        .iter()
        .any(|kind| b.rule.rule.is_about(&a.rule.rule.group, kind));
    shares_kind && (a.to.is_within(b.from) || b.from == a.to)
}

/// Gives the move that ends where a first one began, along moves that feed each other.
fn leads_back(moves: &[Move<'_>], start: usize) -> Option<usize> {
    let mut seen = vec![false; moves.len()];
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        for next in (0..moves.len()).filter(|next| feeds(&moves[at], &moves[*next])) {
            if next == start {
                return Some(at);
            }
            if !std::mem::replace(&mut seen[next], true) {
                open.push(next);
            }
        }
    }
    None
}
