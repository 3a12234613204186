//! Builds Git repositories in temporary directories, with fixed authors and dates.
//!
//! In: trees of files or directories. Out: repositories that no configuration of the machine reaches, so that the same
//! input gives the same commit ids. Knows only the `git` program.

use std::ffi::OsString;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::process::Command;

use refit_manifest::{Entry, Tree};
use tempfile::TempDir;

/// A Git repository in a temporary directory, which goes with the value.
#[derive(Debug)]
pub struct GitRepository {
    directory: TempDir,
    name: &'static str,
    variables: Vec<(OsString, OsString)>,
}

impl GitRepository {
    /// Makes a repository whose branch `main` has no commit yet.
    pub fn empty() -> Self {
        Self::with_arguments(&[])
    }

    /// Makes an empty repository with more arguments to `git init`.
    pub fn with_arguments(arguments: &[&str]) -> Self {
        let made = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            name: "work",
            variables: isolated(),
        };
        let all = [&["init", "--quiet", "--initial-branch=main"], arguments, &["work"]].concat();
        made.git_in(made.directory.path(), &all);
        made
    }

    /// Makes a repository whose branch `main` has one commit with these files.
    pub fn of_tree(tree: &Tree) -> Self {
        let made = Self::empty();
        made.commit(tree, "Begin");
        made
    }

    /// Makes a repository whose branch `main` has one commit with the files of a directory.
    pub fn of_directory(directory: &FilePath) -> Self {
        let made = Self::empty();
        copy(directory, &made.path());
        made.git(&["add", "--all"]);
        made.git(&["commit", "--quiet", "--message=Begin"]);
        made
    }

    /// Makes a bare clone of it.
    pub fn bare(&self) -> Self {
        self.cloned("bare.git", &["--bare"])
    }

    /// Makes a clone of it, with it as the remote `origin`.
    pub fn clone_of(&self) -> Self {
        self.cloned("clone", &[])
    }

    /// Makes a clone of it that has the newest commit only.
    pub fn shallow(&self) -> Self {
        self.cloned("shallow", &["--depth=1"])
    }

    fn cloned(&self, name: &'static str, arguments: &[&str]) -> Self {
        let made = Self {
            directory: tempfile::tempdir().expect("a temporary directory"),
            name,
            variables: isolated(),
        };
        let url = format!("file://{}", self.path().display());
        let all = [&["clone", "--quiet"], arguments, &[&url, name]].concat();
        made.git_in(made.directory.path(), &all);
        made
    }

    /// Gives its directory: the worktree, or the bare repository itself.
    pub fn path(&self) -> PathBuf {
        self.directory.path().join(self.name)
    }

    /// Gives its directory as text.
    pub fn location(&self) -> String {
        self.path().display().to_string()
    }

    /// Gives the variables that keep the machine's configuration away and fix authors and dates.
    pub fn environment(&self) -> Vec<(OsString, OsString)> {
        self.variables.clone()
    }

    /// Writes files into the worktree.
    pub fn write(&self, tree: &Tree) {
        for (path, entry) in tree.iter() {
            let file = self.path().join(path.as_str());
            fs::create_dir_all(file.parent().expect("a directory")).expect("a new directory");
            write_entry(&file, entry);
        }
    }

    /// Writes files into the worktree and commits all that is there.
    pub fn commit(&self, tree: &Tree, message: &str) {
        self.write(tree);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// Runs `git` in it, which must succeed, and gives what it printed without the last line break.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.path(), arguments)
    }

    fn git_in(&self, directory: &FilePath, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        for name in [
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_WORK_TREE",
            "GIT_OBJECT_DIRECTORY",
            "GIT_PREFIX",
        ] {
            command.env_remove(name);
        }
        command.current_dir(directory).args(arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let output = command.output().expect("the git program");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {complaint}");
        String::from_utf8_lossy(&output.stdout)
            .trim_end_matches('\n')
            .to_owned()
    }
}

fn isolated() -> Vec<(OsString, OsString)> {
    let pairs = [
        ("GIT_CONFIG_GLOBAL", "/dev/null"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("GIT_AUTHOR_NAME", "Ada Test"),
        ("GIT_AUTHOR_EMAIL", "ada@example.org"),
        ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
        ("GIT_COMMITTER_NAME", "Ada Test"),
        ("GIT_COMMITTER_EMAIL", "ada@example.org"),
        ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
    ];
    pairs.map(|(name, value)| (name.into(), value.into())).into()
}

#[cfg(unix)]
fn write_entry(file: &FilePath, entry: &Entry) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    drop(fs::remove_file(file));
    match entry {
        Entry::File { bytes, executable } => {
            fs::write(file, bytes).expect("a written file");
            let mode = if *executable { 0o755 } else { 0o644 };
            fs::set_permissions(file, fs::Permissions::from_mode(mode)).expect("a mode");
        }
        Entry::Link(target) => symlink(&**target, file).expect("a link"),
    }
}

#[cfg(not(unix))]
fn write_entry(file: &FilePath, entry: &Entry) {
    if let Entry::File { bytes, .. } = entry {
        fs::write(file, bytes).expect("a written file");
    }
}

/// Copies files and links below a directory; `.git` stays behind.
fn copy(from: &FilePath, to: &FilePath) {
    fs::create_dir_all(to).expect("a new directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type().expect("a kind");
        if entry.file_name() == ".git" {
            continue;
        } else if kind.is_dir() {
            copy(&source, &target);
        } else if kind.is_symlink() {
            let link = fs::read_link(&source).expect("a link");
            write_entry(&target, &Entry::Link(link.to_string_lossy().into()));
        } else {
            fs::copy(&source, &target).expect("a copied file");
        }
    }
}
