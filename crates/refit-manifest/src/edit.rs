//! Edits as splices over immutable bytes.
//!
//! In: bytes and a list of splices. Out: new bytes. Every byte outside the splices is copied.

use std::ops::Range;
use std::sync::Arc;

/// One replacement; an empty range inserts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Splice {
    /// What is replaced.
    pub range: Range<usize>,
    /// What stands there afterwards.
    pub text: String,
}

/// Why splices cannot be applied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// Two splices touch the same bytes.
    #[error("two edits overlap at byte {offset}")]
    Overlap {
        /// Where the second begins.
        offset: usize,
    },
    /// A splice reaches beyond the bytes.
    #[error("an edit ends at byte {offset}, beyond the end")]
    Beyond {
        /// Where it ends.
        offset: usize,
    },
}

/// Applies splices; those at one place are applied in the order of the list.
pub fn apply(bytes: &[u8], splices: &[Splice]) -> Result<Arc<[u8]>, Error> {
    let mut order: Vec<&Splice> = splices.iter().collect();
    order.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let added: usize = splices.iter().map(|splice| splice.text.len()).sum();
    let mut out = Vec::with_capacity(bytes.len() + added);
    let mut at = 0;
    for splice in order {
        if splice.range.start < at {
            return Err(Error::Overlap {
                offset: splice.range.start,
            });
        }
        if splice.range.end > bytes.len() || splice.range.start > splice.range.end {
            return Err(Error::Beyond {
                offset: splice.range.end,
            });
        }
        out.extend_from_slice(&bytes[at..splice.range.start]);
        out.extend_from_slice(splice.text.as_bytes());
        at = splice.range.end;
    }
    out.extend_from_slice(&bytes[at..]);
    Ok(out.into())
}

/// Applies splices, which are by offsets of a file, to a part of it that holds them all, and gives this part.
pub fn apply_within(bytes: &[u8], part: Range<usize>, splices: &[Splice]) -> Result<Arc<[u8]>, Error> {
    let beyond = splices
        .iter()
        .find(|splice| splice.range.start < part.start || part.end < splice.range.end);
    if let Some(splice) = beyond {
        return Err(Error::Beyond {
            offset: splice.range.end,
        });
    }
    let moved = splices.iter().map(|splice| Splice {
        range: splice.range.start - part.start..splice.range.end - part.start,
        text: splice.text.clone(),
    });
    apply(bytes.get(part.clone()).unwrap_or_default(), &moved.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn splice(range: Range<usize>, text: &str) -> Splice {
        Splice {
            range,
            text: text.to_owned(),
        }
    }

    #[test]
    fn insertions_at_one_place_keep_their_order() {
        let out = apply(b"ad", &[splice(1..1, "b"), splice(1..1, "c")]);
        assert_eq!(out.as_deref(), Ok(&b"abcd"[..]));
    }

    #[test]
    fn overlapping_splices_are_refused() {
        assert_eq!(
            apply(b"abcd", &[splice(0..2, ""), splice(1..3, "")]),
            Err(Error::Overlap { offset: 1 })
        );
    }
}
