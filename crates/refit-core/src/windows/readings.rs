//! Readings of files, each made once.
//!
//! In: a file's bytes, the releases that must accept what is written. Out: its [`Reading`]. The same bytes are not read
//! again for the same releases.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use super::accepted::{Accepted, Releases};
use crate::applied::File;
use crate::conversion::{self, Reading};
use crate::places::Content;

/// The last reading of a file for some releases.
type Held = BTreeMap<(File, Releases), (Arc<[u8]>, Rc<Reading>)>;

/// Readings that were made.
pub(super) struct Readings {
    /// What the files hold that kustomizations name as patches or replacements.
    contents: BTreeMap<File, Content>,
    held: RefCell<Held>,
}

impl Readings {
    pub(super) fn of(contents: BTreeMap<File, Content>) -> Self {
        Self {
            contents,
            held: RefCell::default(),
        }
    }

    /// Tells what a file holds.
    pub(super) fn content(&self, file: &File) -> Content {
        self.contents.get(file).cloned().unwrap_or_default()
    }

    /// Reads a file.
    pub(super) fn read(&self, file: &File, bytes: &Arc<[u8]>, (to, of): (&Releases, &Accepted<'_>)) -> Rc<Reading> {
        let key = (file.clone(), to.clone());
        let mut held = self.held.borrow_mut();
        if let Some((known, reading)) = held.get(&key)
            && Arc::ptr_eq(known, bytes)
        {
            return Rc::clone(reading);
        }
        let wanted = of.wanted(to);
        let reading = Rc::new(conversion::read_content(
            &self.content(file),
            &file.path,
            bytes,
            &wanted,
        ));
        held.insert(key, (Arc::clone(bytes), Rc::clone(&reading)));
        reading
    }
}
