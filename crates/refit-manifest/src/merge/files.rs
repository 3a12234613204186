//! Files that are not merged by their objects.

use std::sync::Arc;

use super::index::Place;
use super::lines::{self, Lines};
use super::merger::{Choice, answered};
use super::trees::{State, file_decision};
use crate::decision::{Outcome, Rule};
use crate::stream::Error;
use crate::tree::{Entry, Path, Tree};

impl State<'_> {
    /// Gives why a manifest that would have to be merged must not be touched: a side is no text, too large, or holds a
    /// merge of Git that nobody finished.
    pub(super) fn unfit(&self, path: &Path) -> Option<String> {
        if self.ours.get(path) == self.theirs.get(path) || self.ours.get(path).is_none() {
            return None;
        }
        let sides = [
            ("base", &self.sides.base),
            ("ours", &self.sides.ours),
            ("theirs", &self.sides.theirs),
        ];
        let (side, error) = sides
            .into_iter()
            .find_map(|(side, index)| Some((side, index.failed.get(path)?)))?;
        Some(match error {
            Error::NotUtf8 { offset } => {
                format!("{side} is not UTF-8 at byte {offset}: save it as UTF-8, then merge again")
            }
            Error::ConflictMarker { line } => {
                format!("{side} has a conflict marker of Git on line {line}: finish that merge first")
            }
            Error::TooLarge { size } => format!("{side} has {size} bytes, too many to be merged by structure"),
        })
    }

    /// Takes a file of theirs whose counterpart ours never changed.
    pub(super) fn take_whole(&mut self, path: &Path) {
        if self.ours.get(path) == self.theirs.get(path) {
            return;
        }
        let message = match self.theirs.get(path) {
            Some(entry) => {
                self.out.tree.insert(path.clone(), entry.clone());
                "you never changed it; took the new version"
            }
            None => {
                self.out.tree.remove(path);
                "the new version no longer has it; removed"
            }
        };
        let rule = if self.theirs.get(path).is_some() {
            Rule::TheirsChanged
        } else {
            Rule::Removed
        };
        self.out
            .decisions
            .push(file_decision(path, rule, Outcome::Clean, message));
    }

    /// Removes a file that theirs removed, when nothing of the user is left in it.
    pub(super) fn drop_when_empty(&mut self, path: &Path) {
        let left = self.out.tree.bytes(path).is_some_and(|bytes| {
            crate::stream::Stream::split(Arc::clone(bytes))
                .is_ok_and(|stream| stream.documents().iter().any(|document| !document.is_empty()))
        });
        if !left {
            self.out.tree.remove(path);
            self.out.splices.remove(path);
            self.out.decisions.push(file_decision(
                path,
                Rule::Removed,
                Outcome::Clean,
                "nothing is left in it; removed",
            ));
        }
    }

    /// Makes a file that ours does not have from the documents that belong there.
    pub(super) fn new_file(&mut self, path: &Path) {
        let Some(arrivals) = self.arrivals.get(path).cloned() else {
            return;
        };
        let Some(Entry::File { bytes, executable }) = self.theirs.get(path) else {
            return;
        };
        let all = self
            .sides
            .theirs
            .stream(path)
            .map_or(0, |stream| stream.objects().count());
        let bytes = if arrivals.len() == all {
            Arc::clone(bytes)
        } else {
            let part = |place: &Place| {
                let document = self.sides.theirs.document(*place);
                document.whole_text()
            };
            arrivals
                .iter()
                .map(|(_, place, _)| part(place))
                .collect::<String>()
                .into_bytes()
                .into()
        };
        self.out.tree.insert(
            path.clone(),
            Entry::File {
                bytes,
                executable: *executable,
            },
        );
        self.out
            .decisions
            .extend(arrivals.into_iter().map(|(_, _, decision)| decision));
    }

    /// A file whose changed parts do not parse is merged by lines, or not at all.
    pub(super) fn unparsable(&mut self, path: &Path, error: &str) {
        let texts = (
            self.text(self.base, path),
            self.text(self.ours, path),
            self.text(self.theirs, path),
        );
        let (Some(base), Some(ours), Some(theirs)) = texts else {
            return self.block(path, error);
        };
        match lines::merge(base, ours, theirs) {
            Lines::Merged(text) => {
                let entry = Entry::file(text.into_bytes());
                self.out.tree.insert(path.clone(), entry);
                let message = format!("does not parse ({error}); merged by lines");
                self.out
                    .decisions
                    .push(file_decision(path, Rule::Lines, Outcome::Noted, &message));
            }
            Lines::Overlap => self.block(path, error),
        }
    }

    pub(super) fn by_lines(&mut self, path: &Path) {
        let (base, ours, theirs) = (self.base.get(path), self.ours.get(path), self.theirs.get(path));
        if ours == theirs {
            return;
        }
        match (base, ours, theirs) {
            (Some(_), None, Some(_)) => {
                let message = "was deleted by you and changed upstream; left out";
                self.out
                    .decisions
                    .push(file_decision(path, Rule::DeletionKept, Outcome::Noted, message));
            }
            (Some(_), Some(_), None) => self.conflict(
                path,
                "the new version removed it; you changed it; kept yours, choose with `refit resolve <id>`",
            ),
            _ => self.text_file(path),
        }
    }

    fn text_file(&mut self, path: &Path) {
        let texts = (
            self.text(self.base, path),
            self.text(self.ours, path),
            self.text(self.theirs, path),
        );
        let same_bytes = |a: &Tree, b: &Tree| a.bytes(path) == b.bytes(path);
        if same_bytes(self.base, self.theirs) || same_bytes(self.ours, self.theirs) {
            return self.modes(path);
        }
        let merged = match texts {
            _ if same_bytes(self.base, self.ours) => self.theirs.bytes(path).map(|bytes| bytes.to_vec()),
            (Some(base), Some(ours), Some(theirs)) => match lines::merge(base, ours, theirs) {
                Lines::Merged(text) => Some(text.into_bytes()),
                Lines::Overlap => None,
            },
            _ => None,
        };
        match merged {
            Some(bytes) => {
                let executable = matches!(self.ours.get(path), Some(Entry::File { executable: true, .. }));
                self.out.tree.insert(
                    path.clone(),
                    Entry::File {
                        bytes: bytes.into(),
                        executable,
                    },
                );
                self.out
                    .decisions
                    .push(file_decision(path, Rule::Lines, Outcome::Noted, "merged by lines"));
                self.modes(path);
            }
            None => self.conflict(
                path,
                "both sides changed the same lines; kept yours, choose with `refit resolve <id>`",
            ),
        }
    }

    /// Merges the mode of a file: the side that changed it decides.
    pub(super) fn modes(&mut self, path: &Path) {
        let mode = |tree: &Tree| match tree.get(path) {
            Some(Entry::File { executable, .. }) => Some(*executable),
            _ => None,
        };
        let (base, ours, theirs) = (mode(self.base), mode(self.ours), mode(self.theirs));
        if base == ours
            && theirs.is_some()
            && theirs != ours
            && let (Some(Entry::File { bytes, .. }), Some(executable)) = (self.out.tree.get(path).cloned(), theirs)
        {
            self.out.tree.insert(path.clone(), Entry::File { bytes, executable });
            let message = "the mode follows the new version";
            self.out
                .decisions
                .push(file_decision(path, Rule::TheirsChanged, Outcome::Clean, message));
        }
    }

    fn text<'t>(&self, tree: &'t Tree, path: &Path) -> Option<&'t str> {
        tree.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    pub(super) fn conflict(&mut self, path: &Path, message: &str) {
        let decision = file_decision(path, Rule::BothChanged, Outcome::Conflict, message);
        let (decision, choice) = answered(&self.settings, decision, Choice::Ours);
        self.out.decisions.push(decision);
        match (choice, self.theirs.get(path)) {
            (Choice::Theirs, Some(entry)) => drop(self.out.tree.insert(path.clone(), entry.clone())),
            (Choice::Theirs, None) => drop(self.out.tree.remove(path)),
            _ => {}
        }
    }

    pub(super) fn block(&mut self, path: &Path, reason: &str) {
        let message = format!("left untouched: {reason}");
        self.out
            .decisions
            .push(file_decision(path, Rule::Unmergeable, Outcome::Blocked, &message));
    }
}
