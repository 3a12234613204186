//! Finds the files of the repository; for all tests that read the project itself.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines of the form `file:line: what`.
pub(crate) type Violations = Vec<String>;

/// Gives the root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

/// Lists the files below a directory that end in one of the extensions (all, when none is given), in order; build output is left out.
pub(crate) fn walk(directory: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            if path.is_symlink() || name == "target" || name == ".git" {
                continue;
            }
            if path.is_dir() {
                open.push(path);
            } else if extensions.is_empty() || extensions.iter().any(|end| name.ends_with(&format!(".{end}"))) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
