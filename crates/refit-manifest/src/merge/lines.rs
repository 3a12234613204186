//! Merges text by lines.

use super::diff3::{self, Change};

/// The result of a merge by lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lines {
    /// Both changes stand in the text.
    Merged(String),
    /// The two changes touch the same lines.
    Overlap,
}

/// Merges three texts; line ends belong to their lines.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Lines {
    let split = |text: &'_ str| {
        text.split_inclusive('\n')
            .map(ToOwned::to_owned)
            .collect::<Vec<String>>()
    };
    let (b, o, t) = (split(base), split(ours), split(theirs));
    let mut out = String::with_capacity(ours.len().max(theirs.len()));
    for region in diff3::compare(&b, &o, &t) {
        match region.change {
            Change::Theirs => out.extend(t[region.theirs].iter().map(String::as_str)),
            Change::Both => return Lines::Overlap,
            Change::None | Change::Ours | Change::Agreed => out.extend(o[region.ours].iter().map(String::as_str)),
        }
    }
    Lines::Merged(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_different_lines_merge() {
        assert_eq!(
            merge("a\nb\nc\n", "x\nb\nc\n", "a\nb\ny\n"),
            Lines::Merged("x\nb\ny\n".to_owned())
        );
        assert_eq!(merge("a\n", "x\n", "y\n"), Lines::Overlap);
    }
}
