//! One Git repository behind the `Repository` port.
//!
//! In: a path or URL and [`Settings`]. Out: [`Git`]. Knows no forge, no plan and no YAML.

mod complaint;
mod config;
mod list;
mod log;
mod merge;
mod names;
mod objects;
mod open;
mod program;
mod refs;
mod remote;
mod write;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refit_engine::ports::{Base, BlobId, Change, CommitId, CommitSummary, History, Listed, Log, PortError, Repository};
use refit_manifest::Path;

use config::Config;
use objects::Reader;
use program::Program;

/// What the caller decides about the use of Git.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The remote to work with, where there are several.
    pub remote: Option<String>,
    /// Whether Git may ask for credentials.
    pub prompt: Prompt,
    /// Which transports are allowed.
    pub protocols: Protocols,
    /// The directory for what can be fetched again; clones of URLs are kept in `repositories` below it, and a URL is
    /// refused without one.
    pub cache: Option<PathBuf>,
    /// Variables that are set for every `git` process.
    pub environment: Vec<(OsString, OsString)>,
    /// Whether commits end with a `Signed-off-by:` line.
    pub sign_off: SignOff,
}

/// Whether a person certifies the origin of commits by a `Signed-off-by:` line (`git commit --signoff`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SignOff {
    /// No line.
    #[default]
    Absent,
    /// A line with the committer of the Git configuration.
    Committer,
}

/// Whether Git may ask a person for credentials.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prompt {
    /// No: there is no terminal.
    #[default]
    Never,
    /// Yes.
    Allowed,
}

/// Which transports Git may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocols {
    /// https, ssh and local paths; for a platform repository that is local itself.
    #[default]
    WithLocal,
    /// https and ssh; for what a repository of others names.
    NetworkOnly,
}

/// A repository on disk, used through the `git` program.
#[derive(Debug)]
pub struct Git {
    program: Program,
    /// The directory that worktrees share.
    common: PathBuf,
    bare: bool,
    config: Config,
    sign_off: SignOff,
    remote: Option<String>,
    location: String,
    reader: Mutex<Option<Reader>>,
    /// The branches that were fetched; `None` before the first fetch.
    fetched: Mutex<Option<BTreeSet<String>>>,
}

impl Git {
    /// Gives the folder that the repository is checked out to; `None` for a bare one.
    pub fn worktree(&self) -> Option<&std::path::Path> {
        (!self.bare).then(|| std::path::Path::new(&self.location))
    }

    fn reader(&self) -> MutexGuard<'_, Option<Reader>> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetched(&self) -> MutexGuard<'_, Option<BTreeSet<String>>> {
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Repository for Git {
    fn location(&self) -> String {
        self.location.clone()
    }

    fn base(&self, wanted: Option<&str>) -> Result<Base, PortError> {
        match (&self.remote, wanted) {
            (Some(remote), _) => self.remote_base(remote, wanted),
            (None, Some(branch)) => self.local_base(branch),
            (None, None) => self.local_base(&self.head_branch()?),
        }
    }

    fn list(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError> {
        self.list_paths(commit)
    }

    fn list_below(&self, commit: &CommitId, directory: &str) -> Result<Vec<Listed>, PortError> {
        self.list_directory(commit, directory)
    }

    fn read(&self, blob: &BlobId) -> Result<Arc<[u8]>, PortError> {
        self.read_blob(blob)
    }

    fn read_all(&self, blobs: &[BlobId]) -> Result<Vec<Arc<[u8]>>, PortError> {
        self.read_blobs(blobs)
    }

    fn history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError> {
        self.path_history(commit, path, limit)
    }

    fn log(&self, commit: &CommitId, directory: &Path) -> Result<Log, PortError> {
        self.directory_log(commit, directory)
    }

    fn commits_between(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError> {
        self.summaries(from, to)
    }

    fn commit(&self, parent: &CommitId, changes: &[Change], message: &str) -> Result<CommitId, PortError> {
        self.write_commit(parent, changes, message)
    }

    fn commit_again(&self, original: &CommitId, parent: &CommitId, changes: &[Change]) -> Result<CommitId, PortError> {
        self.write_again(original, parent, changes)
    }

    fn person(&self) -> Result<String, PortError> {
        self.committer()
    }

    fn branch(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        let published = self.published_branch(name)?;
        self.sync(Some(name))?;
        self.commit_at(&published.tracking)
    }

    fn branches(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.sync(None)?;
        self.branch_names(prefix)
    }

    fn publish(&self, name: &str, new: Option<&CommitId>, expected: Option<&CommitId>) -> Result<(), PortError> {
        let published = self.published_branch(name)?;
        if let Some(new) = new {
            self.check_commit(new)?;
        }
        self.sync(Some(name))?;
        let text = |id: Option<&CommitId>| id.map(|id| id.0.to_string());
        self.swap(&published, text(new), text(expected))
    }

    fn note(&self, name: &str) -> Result<Option<Arc<[u8]>>, PortError> {
        let published = self.published_note(name)?;
        self.sync(None)?;
        Ok(self.note_at(&published.tracking)?.map(|blob| blob.bytes.into()))
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.sync(None)?;
        self.note_names(prefix)
    }

    fn put_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError> {
        self.swap_note(name, new, expected)
    }

    fn fast_forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError> {
        self.forward(base, to)
    }
}
