//! The list keys that a merge needs, from the CRDs that the user names and from those of theirs.
//!
//! In: paths of CRD files and the tree of theirs. Out: [`ListKeys`]. Knows no schema itself.

use std::path::PathBuf;

use refit_manifest::Tree;
use refit_manifest::schema::ListKeys;

use crate::disk;
use crate::failure::Failure;

/// Reads the list keys.
pub(crate) fn read(files: &[PathBuf], _theirs: &Tree) -> Result<ListKeys, Failure> {
    for file in files {
        disk::read_file(file)?;
    }
    Ok(ListKeys)
}
