//! The list keys that a merge needs, from the CRDs that the user names.
//!
//! In: paths of CRD files. Out: [`ListKeys`]. Knows no schema itself; the merge reads the CRDs of theirs on its own.

use std::path::PathBuf;
use std::sync::Arc;

use refit_manifest::Stream;
use refit_manifest::schema::ListKeys;

use crate::disk;
use crate::failure::Failure;

/// Reads the list keys.
pub(crate) fn read(files: &[PathBuf]) -> Result<ListKeys, Failure> {
    let mut keys = ListKeys::default();
    for file in files {
        let entry = disk::read_file(file)?;
        let bytes = entry.bytes().map(Arc::clone).unwrap_or_default();
        let stream = Stream::split(bytes).map_err(|error| {
            Failure::new(format!("could not read the schema file `{}`", file.display())).caused_by(&error)
        })?;
        keys.extend(ListKeys::read(&stream));
    }
    Ok(keys)
}
