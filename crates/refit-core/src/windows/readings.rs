//! Readings of files, each made once.
//!
//! In: a file's bytes, the releases that must accept what is written. Out: its [`Reading`]. The same bytes are not read
//! again for the same releases.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use refit_manifest::Stream;

use super::accepted::{Accepted, Releases};
use super::seen;
use crate::applied::File;
use crate::conversion::{self, Reading};
use crate::places::Sort;

/// The last reading of a file for some releases.
type Held = BTreeMap<(File, Releases), (Arc<[u8]>, Rc<Reading>)>;

/// Readings that were made.
pub(super) struct Readings {
    /// The files that hold parts of objects.
    patches: BTreeSet<File>,
    held: RefCell<Held>,
}

impl Readings {
    pub(super) fn of(patches: BTreeSet<File>) -> Self {
        Self {
            patches,
            held: RefCell::default(),
        }
    }

    /// Tells what the documents of a file are.
    pub(super) fn sort(&self, file: &File) -> Sort {
        seen::sort(&self.patches, file)
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
        let stream = || Stream::split(Arc::clone(bytes)).ok();
        let is_part = self.patches.contains(file) && wanted.may_concern(&file.path, bytes);
        let reading = match is_part.then(stream).flatten() {
            Some(stream) => conversion::read_as(Sort::Patch, &file.path, &stream, &wanted),
            None => conversion::read(&file.path, bytes, &wanted),
        };
        let reading = Rc::new(reading);
        held.insert(key, (Arc::clone(bytes), Rc::clone(&reading)));
        reading
    }
}
