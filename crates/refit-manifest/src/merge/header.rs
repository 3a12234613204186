//! The comment lines in front of documents; those of a generator follow theirs.

use super::lines::{self, Lines};

/// How the comments in front of a document change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lead {
    /// They stay.
    Kept,
    /// Ours never changed them.
    Follows(String),
    /// Both changed them; the generator's lines follow theirs and the user's stay.
    Joined(String),
}

/// Merges the comments in front of a document.
pub(super) fn merge(base: &str, ours: &str, theirs: &str) -> Lead {
    let unix = |text: &str| text.replace("\r\n", "\n");
    let (base, ours, theirs) = (unix(base), unix(ours), unix(theirs));
    if base == theirs || ours == theirs {
        return Lead::Kept;
    }
    if base == ours {
        return Lead::Follows(theirs);
    }
    let joined = match lines::merge(&base, &ours, &theirs) {
        Lines::Merged(text) => text,
        Lines::Overlap => generated_lines(&ours, &theirs),
    };
    if joined == ours {
        Lead::Kept
    } else {
        Lead::Joined(joined)
    }
}

/// Replaces the lines that a generator writes by those of theirs and leaves the others.
fn generated_lines(ours: &str, theirs: &str) -> String {
    let title = |line: &str| line.split_once(':').map(|(title, _)| title.to_ascii_lowercase());
    ours.split_inclusive('\n')
        .map(|line| {
            let is_ours = |other: &&str| title(other).is_some() && title(other) == title(line);
            theirs.split_inclusive('\n').find(is_ours).unwrap_or(line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generator_lines_follow_and_the_users_comment_stays() {
        let merged = merge(
            "# Flux Version: v1\n# Components: a\n",
            "# mine\n# Flux Version: v0\n",
            "# Flux Version: v2\n# Components: b\n",
        );
        assert_eq!(merged, Lead::Joined("# mine\n# Flux Version: v2\n".to_owned()));
    }
}
