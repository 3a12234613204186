//! What the merge suites share: a merge of texts with everything checked.

use refit_manifest::Outcome;
use refit_testkit::merging::{self, Checked};

/// Merges base, ours and theirs; expects the bytes and the strongest outcome, no violation and words in the messages.
pub(crate) fn check_merge(sides: [&str; 3], expected: &str, outcome: Outcome, words: &[&str]) -> Checked {
    check_file("d.yaml", sides, expected, outcome, words)
}

/// The same for a file of another name.
pub(crate) fn check_file(path: &str, sides: [&str; 3], expected: &str, outcome: Outcome, words: &[&str]) -> Checked {
    let checked = merging::texts(path, sides);
    assert_eq!(
        checked.text(path),
        expected,
        "decisions: {:#?}",
        checked.merged.decisions
    );
    assert_eq!(checked.violations, Vec::<String>::new());
    assert_eq!(checked.outcome(), outcome, "{:#?}", checked.merged.decisions);
    let told: String = checked
        .merged
        .decisions
        .iter()
        .map(|decision| format!("{}\n", decision.message))
        .collect();
    for word in words {
        assert!(told.contains(word), "no message holds `{word}`: {told}");
    }
    checked
}
