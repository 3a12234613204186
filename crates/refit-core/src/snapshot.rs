//! What was read of a repository at one commit.
//!
//! In: paths and bytes from the edges. Out: a [`Snapshot`]. Knows no Git.

use std::collections::BTreeMap;

use refit_manifest::{Path, Tree};

use crate::record::Record;

/// The largest file that is read; a plane of Flux with all components has 1 MB.
pub const SIZE_LIMIT: u64 = 16 << 20;

/// A repository at one commit.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Where the repository is, for messages.
    pub repository: String,
    /// The target branch.
    pub branch: String,
    /// Its newest commit.
    pub commit: String,
    /// Every path of the commit.
    pub paths: BTreeMap<Path, Seen>,
    /// The files that matter, see [`wanted`].
    pub tree: Tree,
}

impl Snapshot {
    /// Gives all files, with a note of what is there and was not read, so that whoever looks for it does not take it for
    /// missing or empty.
    pub fn whole(&self) -> Tree {
        let mut tree = self.tree.clone();
        for (path, seen) in &self.paths {
            if tree.get(path).is_none() {
                tree.leave_unread(path.clone(), seen.unread());
            }
        }
        tree
    }
}

/// What is known about a path without its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The size in bytes.
    pub size: u64,
    /// Whether Git attributes stand between the stored and the checked-out bytes.
    pub filtered: bool,
    /// Whether the file may be run.
    pub executable: bool,
    /// Whether it is a symbolic link, which is never followed.
    pub linked: bool,
    /// Whether it is a submodule, whose files are in another repository.
    pub submodule: bool,
}

impl Seen {
    /// Tells what it is that was not read.
    fn unread(&self) -> &'static str {
        match self {
            Self { linked: true, .. } => "a symbolic link",
            Self { submodule: true, .. } => "a submodule",
            Self { size, .. } if *size > SIZE_LIMIT => "a file of more than 16 MiB",
            _ => "a file of a kind that is not read",
        }
    }
}

/// Tells whether a file can matter to a plane, and so must be read.
pub fn wanted(path: &Path, size: u64) -> bool {
    size <= SIZE_LIMIT
        && (path.is_yaml()
            || path.file_name() == "Kustomization"
            || path.is_json()
            || is_renovate(path)
            || path.as_str().ends_with(".tf"))
}

/// Tells whether a file configures Renovate.
pub fn is_renovate(path: &Path) -> bool {
    let places = ["", ".github", ".gitlab"];
    let names = [
        "renovate.json",
        "renovate.json5",
        ".renovaterc",
        ".renovaterc.json",
        ".renovaterc.json5",
    ];
    places.contains(&path.directory()) && names.contains(&path.file_name())
}

/// Tells whether a file is the record of a cluster's last upgrade.
pub fn is_record(path: &Path) -> bool {
    path.directory() == Record::DIRECTORY && path.is_json()
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    #[test]
    fn what_was_not_read_is_noted_with_what_it_is() {
        let mut snapshot = Snapshot::default();
        snapshot.tree.insert(Path::from("a.yaml"), Entry::file(*b"a"));
        let linked = Seen {
            linked: true,
            ..Seen::default()
        };
        let submodule = Seen {
            submodule: true,
            ..Seen::default()
        };
        let large = Seen {
            size: SIZE_LIMIT + 1,
            ..Seen::default()
        };
        for (path, seen) in [
            ("a.yaml", Seen::default()),
            ("link.yaml", linked),
            ("module", submodule),
            ("large.yaml", large),
            ("notes.txt", Seen::default()),
        ] {
            snapshot.paths.insert(Path::from(path), seen);
        }
        let whole = snapshot.whole();
        let what = |path: &str| whole.unread(&Path::from(path));
        assert_eq!(whole.len(), 1);
        assert_eq!(what("a.yaml"), None);
        assert_eq!(what("link.yaml"), Some("a symbolic link"));
        assert_eq!(what("module"), Some("a submodule"));
        assert_eq!(what("large.yaml"), Some("a file of more than 16 MiB"));
        assert_eq!(what("notes.txt"), Some("a file of a kind that is not read"));
    }

    #[test]
    fn only_files_that_can_matter_are_read() {
        let want = |path: &str, size| wanted(&Path::from(path), size);
        assert!(want("a/b.yaml", 10));
        assert!(want("a/b.yml", 10));
        assert!(want(".refit/production.json", 10));
        assert!(want(".github/renovate.json5", 10));
        assert!(want("infra/main.tf", 10));
        assert!(!want("README.md", 10));
        assert!(!want("a/renovate.json5", 10));
        assert!(!want("a/b.yaml", SIZE_LIMIT + 1));
    }
}
