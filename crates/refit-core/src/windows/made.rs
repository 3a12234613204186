//! What is made for a request while its files are converted.
//!
//! In: readings of files. Out: edits, what they change, and what was left.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Noted;
use crate::applied::File;
use crate::conversion::{Reading, Use};

/// What was made for a request.
#[derive(Default)]
pub(super) struct Made {
    pub(super) edits: BTreeMap<File, Arc<[u8]>>,
    pub(super) changes: Vec<(File, Use)>,
    pub(super) left: Vec<Use>,
    pub(super) notes: Vec<Noted>,
}

impl Made {
    /// Takes what became of a file; where no byte changed, nothing was converted.
    pub(super) fn take(&mut self, file: File, before: &Arc<[u8]>, reading: &Reading) {
        self.left.extend(reading.left().cloned());
        self.notes.extend(reading.notes.iter().map(|note| Noted {
            file: file.clone(),
            note: note.clone(),
        }));
        if reading.bytes != *before {
            self.changes
                .extend(reading.changes().map(|used| (file.clone(), used.clone())));
            self.edits.insert(file, Arc::clone(&reading.bytes));
        }
    }

    /// Gives the reason why something was left for a person.
    pub(super) fn reason(&self, is_meant: impl Fn(&Use) -> bool) -> Option<String> {
        let mut left = self.left.iter().filter(|used| is_meant(used));
        left.find_map(|used| used.convertible.reason().map(ToOwned::to_owned))
    }
}
