//! Decisions and files as people read them.

use std::collections::HashMap;
use std::sync::Arc;

use refit_manifest::{Answer, Decision, Entry, Path, Tree};

use super::{Edits, Write, is_open, is_told};
use crate::digest;
use crate::report::{DecisionLine, FileChange};

/// Lists the files of a merged tree that differ from before.
pub(super) fn writes(before: &Tree, after: &Tree) -> Vec<Write> {
    let changed = after.iter().filter(|(path, entry)| before.get(path) != Some(entry));
    changed
        .filter_map(|(path, entry)| match entry {
            Entry::File { bytes, executable } => Some(Write {
                path: path.clone(),
                bytes: Arc::clone(bytes),
                executable: *executable,
            }),
            Entry::Link(_) => None,
        })
        .collect()
}

/// Gives the files that a request edits beside those of the generator.
pub(super) fn edited(before: &Tree, edits: &Edits) -> Vec<Write> {
    let write = |(path, bytes): (&Path, &Arc<[u8]>)| Write {
        path: path.clone(),
        bytes: Arc::clone(bytes),
        executable: matches!(before.get(path), Some(Entry::File { executable: true, .. })),
    };
    let differs = |write: &Write| before.bytes(&write.path) != Some(&write.bytes);
    edits.files.iter().map(write).filter(differs).collect()
}

/// Adds files that are not there already.
pub(super) fn put(writes: &mut Vec<Write>, more: Vec<Write>) {
    for write in more {
        if !writes.iter().any(|known| known.path == write.path) {
            writes.push(write);
        }
    }
}

/// Adds files in place of those of the same path.
pub(super) fn replace(writes: &mut Vec<Write>, newer: Vec<Write>) {
    writes.retain(|known| !newer.iter().any(|write| write.path == known.path));
    writes.extend(newer);
}

/// Gives the decisions that people care about: open ones first, then the others that are not clean or were answered.
pub(super) fn lines(decisions: &[Decision]) -> Vec<DecisionLine> {
    let mut lines: Vec<DecisionLine> = decisions
        .iter()
        .filter(|decision| is_told(decision))
        .map(line)
        .collect();
    lines.sort_by_key(|line| !line.open);
    lines
}

/// Gives a decision as people and programs read it.
pub fn line(decision: &Decision) -> DecisionLine {
    DecisionLine {
        id: decision.id.to_string(),
        path: decision.path.to_string(),
        object: decision.object.as_ref().map(ToString::to_string).unwrap_or_default(),
        field: decision.field.clone(),
        base: decision.base.clone(),
        ours: decision.ours.clone(),
        theirs: decision.theirs.clone(),
        class: decision.class.word().to_owned(),
        rule: decision.rule.word().to_owned(),
        outcome: decision.outcome.word().to_owned(),
        message: decision.message.clone(),
        answer: decision.answer.as_ref().map(line_of_answer),
        open: is_open(decision),
    }
}

/// Gives an answer in words: `ours`, `theirs` or `value: TEXT`.
pub fn line_of_answer(answer: &Answer) -> String {
    match answer {
        Answer::Ours => "ours".to_owned(),
        Answer::Theirs => "theirs".to_owned(),
        Answer::Value(value) => format!("value: {value}"),
    }
}

/// Sums up the files that are written and removed.
pub(super) fn files(tree: &Tree, writes: &[Write], removes: &[Path]) -> Vec<FileChange> {
    let sum = |write: &Write| {
        let before = tree.bytes(&write.path);
        let (added, removed) = count(before.map_or(&[][..], |bytes| bytes), &write.bytes);
        FileChange {
            path: write.path.to_string(),
            change: if before.is_some() { "changed" } else { "added" }.to_owned(),
            digest: digest::of(&write.bytes),
            added,
            removed,
        }
    };
    let gone = |path: &Path| FileChange {
        path: path.to_string(),
        change: "removed".to_owned(),
        digest: String::new(),
        added: 0,
        removed: tree.bytes(path).map_or(0, |bytes| count(bytes, &[]).1),
    };
    writes.iter().map(sum).chain(removes.iter().map(gone)).collect()
}

/// Counts the lines that only one side has; a line that moved counts for neither.
fn count(before: &[u8], after: &[u8]) -> (usize, usize) {
    let mut balance: HashMap<&[u8], isize> = HashMap::new();
    for line in after.split_inclusive(|byte| *byte == b'\n') {
        *balance.entry(line).or_default() += 1;
    }
    for line in before.split_inclusive(|byte| *byte == b'\n') {
        *balance.entry(line).or_default() -= 1;
    }
    let sum = |sign: isize| balance.values().map(|count| (count * sign).max(0).unsigned_abs()).sum();
    (sum(1), sum(-1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_where_only_one_side_has_them() {
        assert_eq!(count(b"a\nb\nc\n", b"a\nx\nc\nc\n"), (2, 1));
        assert_eq!(count(b"", b"a\nb"), (2, 0));
        assert_eq!(count(b"a\nb\n", b"b\na\n"), (0, 0));
    }
}
