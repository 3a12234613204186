//! Puts two lists of splices, one after the other, into one.

use std::ops::Range;

use crate::edit::Splice;

/// A part of the text between and after the splices.
enum Piece {
    /// Bytes of the first text.
    Kept(Range<usize>),
    /// New bytes, with the index of the decision that explains them.
    New(String, usize),
}

impl Piece {
    fn len(&self) -> usize {
        match self {
            Self::Kept(range) => range.len(),
            Self::New(text, _) => text.len(),
        }
    }

    /// Cuts the piece; cuts of new text fall between characters, since splices do.
    fn split(self, at: usize) -> (Self, Self) {
        match self {
            Self::Kept(range) => (
                Self::Kept(range.start..range.start + at),
                Self::Kept(range.start + at..range.end),
            ),
            Self::New(mut text, decision) => {
                let rest = text.split_off(at);
                (Self::New(text, decision), Self::New(rest, decision))
            }
        }
    }
}

/// Gives the splices of a text that do what two lists do, the second by offsets of what the first one makes.
pub(super) fn both(length: usize, first: &[(Splice, usize)], second: &[(Splice, usize)]) -> Vec<(Splice, usize)> {
    let pieces = apply(vec![Piece::Kept(0..length)], first);
    let pieces = apply(pieces, second);
    let mut out: Vec<(Splice, usize)> = Vec::new();
    let mut at = 0;
    let mut open: Option<(String, usize)> = None;
    for piece in pieces.into_iter().chain([Piece::Kept(length..length)]) {
        match piece {
            Piece::New(text, decision) => {
                let (mut known, _) = open.take().unwrap_or_default();
                known.push_str(&text);
                open = Some((known, decision));
            }
            Piece::Kept(range) => {
                if let Some((text, decision)) = open.take() {
                    let range = at..range.start;
                    out.push((Splice { range, text }, decision));
                }
                at = range.end;
            }
        }
    }
    out
}

fn apply(pieces: Vec<Piece>, splices: &[(Splice, usize)]) -> Vec<Piece> {
    let mut order: Vec<&(Splice, usize)> = splices.iter().collect();
    order.sort_by_key(|(splice, _)| (splice.range.start, splice.range.end));
    let mut rest = pieces;
    rest.reverse();
    let mut out = Vec::new();
    let mut at = 0;
    for (splice, decision) in order {
        at = pass(&mut rest, at, splice.range.start, &mut Some(&mut out));
        at = pass(&mut rest, at, splice.range.end, &mut None);
        out.push(Piece::New(splice.text.clone(), *decision));
    }
    rest.reverse();
    out.extend(rest);
    out
}

/// Takes pieces up to an offset, and keeps them where somebody wants them.
fn pass(rest: &mut Vec<Piece>, mut at: usize, end: usize, out: &mut Option<&mut Vec<Piece>>) -> usize {
    while at < end {
        let Some(piece) = rest.pop() else { break };
        let length = piece.len();
        let taken = if at + length > end {
            let (head, tail) = piece.split(end - at);
            rest.push(tail);
            head
        } else {
            piece
        };
        at += taken.len();
        if let Some(out) = out {
            out.push(taken);
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edit;

    #[test]
    fn both_lists_in_one_make_the_same_text() {
        let splice = |range: Range<usize>, text: &str| {
            (
                Splice {
                    range,
                    text: text.to_owned(),
                },
                0,
            )
        };
        let text = b"0123456789";
        let lists = [
            vec![],
            vec![splice(0..0, "a"), splice(2..4, "")],
            vec![splice(1..3, "xyz"), splice(5..5, "q"), splice(8..10, "")],
            vec![splice(0..10, "abcdefg")],
        ];
        let bare = |list: &[(Splice, usize)]| list.iter().map(|(splice, _)| splice.clone()).collect::<Vec<_>>();
        for first in &lists {
            let middle = edit::apply(text, &bare(first)).unwrap();
            for start in 0..=middle.len() {
                for end in start..=middle.len() {
                    let second = vec![splice(start..end, "NEW")];
                    let wanted = edit::apply(&middle, &bare(&second)).unwrap();
                    let all = both(text.len(), first, &second);
                    assert_eq!(edit::apply(text, &bare(&all)).unwrap(), wanted, "{first:?} {second:?}");
                }
            }
        }
    }
}
