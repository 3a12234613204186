//! Finds the real data that may stand beside the repository.
//!
//! In: the name of a file or folder of `../shared`. Out: its path, or a line that says what is skipped.

use std::path::{Path, PathBuf};

/// Gives the repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Finds a file or folder of `../shared`; prints a `skipped` line when it is not there.
pub fn find(name: &str) -> Option<PathBuf> {
    let path = root().join("../shared").join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: ../shared/{name} is not there");
    None
}
