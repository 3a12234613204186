//! Finds moves that undo each other: a second conversion would move what the first one moved.

use std::collections::BTreeMap;

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
    let Some((first, last)) = circle(&moves) else {
        return Ok(());
    };
    Err(Error {
        file: last.rule.file.clone(),
        line: last.rule.line,
        rule: Some(last.rule.rule.id.clone()),
        what: format!(
            "the moves are a circle: `{}` goes to `{}` in rule `{}`, and comes back from `{}` to `{}`",
            first.from, first.to, first.rule.rule.id, last.from, last.to
        ),
        remedy: "take one of the moves out".to_owned(),
    })
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

/// Gives the first and the last move of a circle of moves that feed each other, where there is one.
fn circle<'a, 'b>(moves: &'b [Move<'a>]) -> Option<(&'b Move<'a>, &'b Move<'a>)> {
    let fed = Fed::of(moves);
    // Each move is walked from once: 0 stands for new, 1 for one of the way, 2 for done.
    let mut state = vec![0_u8; moves.len()];
    for start in 0..moves.len() {
        if state[start] != 0 {
            continue;
        }
        state[start] = 1;
        let mut way = vec![(start, fed.by(start))];
        while let Some((at, open)) = way.last_mut() {
            let at = *at;
            match open.pop() {
                Some(next) if state[next] == 1 => return Some((&moves[next], &moves[at])),
                Some(next) if state[next] == 0 => {
                    state[next] = 1;
                    way.push((next, fed.by(next)));
                }
                Some(_) => {}
                None => {
                    state[at] = 2;
                    way.pop();
                }
            }
        }
    }
    None
}

/// The moves by the text of the field that they take.
struct Fed<'a, 'b> {
    moves: &'b [Move<'a>],
    taking: BTreeMap<String, Vec<usize>>,
}

impl<'a, 'b> Fed<'a, 'b> {
    fn of(moves: &'b [Move<'a>]) -> Self {
        let mut taking: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, one) in moves.iter().enumerate() {
            taking.entry(one.from.to_string()).or_default().push(at);
        }
        Self { moves, taking }
    }

    /// Lists the moves that take what one leaves: they take its field, or one around it.
    fn by(&self, at: usize) -> Vec<usize> {
        let field = self.moves[at].to.to_string();
        let ends = field.match_indices(['.', '[']).map(|(end, _)| end);
        let ends = ends
            .chain(field.match_indices(']').map(|(end, _)| end + 1))
            .chain([field.len()]);
        let mut found: Vec<usize> = ends
            .filter_map(|end| self.taking.get(&field[..end]))
            .flatten()
            .copied()
            .filter(|next| feeds(&self.moves[at], &self.moves[*next]))
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }
}
