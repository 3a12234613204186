//! Finds the programs of the parts: built by `testenv/build`, or of a Debian package.
//!
//! In: the name of a part or program. Out: where it is, or a line `skipped: ...`; where `CI` is set, that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::shared;

/// Builds a part, or finds it built; its programs are in the folder. Other processes that want it wait for this one.
pub(super) fn built(part: &str) -> Option<PathBuf> {
    let script = shared::root().join("testenv/build");
    let output = Command::new(&script)
        .arg(part)
        .stderr(Stdio::inherit())
        .output()
        .expect("`testenv/build` is a program");
    if !output.status.success() {
        return missing(&format!("`testenv/build {part}` gave {}", output.status));
    }
    let folder = String::from_utf8(output.stdout).expect("a path in UTF-8");
    Some(PathBuf::from(folder.trim_end()))
}

/// Finds a program of a Debian package.
pub(super) fn installed(program: &str, package: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|candidate| Path::is_file(candidate));
    if found.is_none() {
        return missing(&format!("`{program}` is not installed (Debian package `{package}`)"));
    }
    found
}

/// Says that a part is missing.
///
/// # Panics
/// Where `CI` is set.
pub(super) fn missing<T>(what: &str) -> Option<T> {
    assert!(
        std::env::var_os("CI").is_none(),
        "{what}; with `CI` set nothing is skipped"
    );
    println!("skipped: {what}");
    None
}
