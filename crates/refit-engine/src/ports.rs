//! The edges that the engine needs, as small traits.
//!
//! Each has a real implementation in an edge crate and an in-memory one in `refit-testkit`; both pass the same contract
//! test. Every effect is safe to repeat.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

pub use jiff::Timestamp;
use refit_core::finding::{Code, Finding};
use refit_core::plan::TRAILER;
use refit_manifest::{Entry, Path};

/// What a port answers when it cannot answer: the operation and object in words, a remedy, the source.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct PortError {
    /// What could not be done, to which object.
    pub message: String,
    /// What the user can do about it.
    pub remedy: Option<String>,
    /// What kind of failure it is, so that the engine can choose an exit code.
    pub kind: PortErrorKind,
    /// The cause below.
    #[source]
    pub source: Option<Box<dyn StdError + Send + Sync>>,
}

impl PortError {
    /// Makes an error that names the operation and the object.
    pub fn new(kind: PortErrorKind, message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            remedy: None,
            kind,
            source: None,
        }
    }

    /// Adds what the user can do about it.
    #[must_use]
    pub fn hint(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// Adds the cause below.
    #[must_use]
    pub fn because(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl PortError {
    /// Says in an answer that a source is silent.
    pub fn finding(&self) -> Finding {
        let mut message = self.message.clone();
        if let Some(source) = &self.source {
            message.push_str(&format!(": {source}"));
        }
        let finding = Finding::new(Code::SourceUnreachable, "", message);
        match &self.remedy {
            Some(remedy) => finding.with_remedy(remedy),
            None => finding,
        }
    }
}

/// The kinds of failure that the engine tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortErrorKind {
    /// The thing asked for does not exist.
    NotFound,
    /// A compare-and-swap failed: somebody else moved it.
    Moved,
    /// The working tree has changes in the way.
    Dirty,
    /// Reading or writing is not permitted.
    Forbidden,
    /// The object is in a state that does not allow it: a draft, a closed request.
    NotReady,
    /// The input is damaged or fails its digest.
    Corrupt,
    /// A server does not answer, or may not be asked.
    Unreachable,
    /// Anything else.
    Other,
}

/// The id of a commit, in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CommitId(pub Arc<str>);

/// The id of a blob, in hexadecimal; equal ids are equal bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub Arc<str>);

impl fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The branch that an upgrade starts from and asks to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The name without `refs/heads/`.
    pub branch: String,
    /// Its newest commit (after a fetch, where a remote has it).
    pub commit: CommitId,
}

/// One file, link or submodule of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The path from the repository's root.
    pub path: Path,
    /// The id of its content.
    pub blob: BlobId,
    /// The size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: ListedKind,
    /// Whether Git attributes (LFS, filters) stand between the stored and the checked-out bytes.
    pub filtered: bool,
}

/// The kinds of tree entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListedKind {
    /// A file.
    File,
    /// A file with mode 100755.
    Executable,
    /// A symbolic link.
    Link,
    /// A submodule.
    Submodule,
}

/// A change of one path in a new commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The path from the repository's root.
    pub path: Path,
    /// The new content; `None` removes the path.
    pub entry: Option<Entry>,
}

/// One content of a path in its history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Past {
    /// The commit that brought this content.
    pub commit: CommitId,
    /// The content.
    pub blob: BlobId,
}

/// The contents that one path has had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The contents, newest first; the same content can come back.
    pub contents: Vec<Past>,
    /// Whether a shallow clone hides what was before: the oldest commit may not have brought its content.
    pub cut: bool,
}

/// One change of a path on the way of the first parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Logged {
    /// The commit on the way.
    pub commit: CommitId,
    /// Its first parent; `None` for the first commit of all, or where a shallow clone has no more.
    pub parent: Option<CommitId>,
    /// Who wrote the content, name and address: the author of the commit, or of the one that a merge brought.
    pub author: String,
    /// When the commit came, by its committer.
    pub time: Timestamp,
    /// The message of the commit, or of the one that a merge brought.
    pub message: String,
    /// The path.
    pub path: Path,
    /// The content before.
    pub before: Option<BlobId>,
    /// The content after.
    pub after: Option<BlobId>,
}

/// The changes of a directory's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log {
    /// The changes, newest first; those of one commit by path.
    pub changes: Vec<Logged>,
    /// Whether a shallow clone hides what was before: what its oldest commit seems to bring may be older.
    pub cut: bool,
}

/// A Git repository, read and written through its object database, without a checkout.
pub trait Repository {
    /// Gives where it is, for messages: a path or a URL without credentials.
    fn location(&self) -> String;
    /// Resolves the target branch: the wanted one, else the default branch of the remote, else the branch of HEAD.
    /// Fetches first where there is a remote; the other functions see what was fetched last.
    fn base(&self, wanted: Option<&str>) -> Result<Base, PortError>;
    /// Lists the paths of a commit in the order of Git; paths that are not UTF-8 are left out.
    fn list(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError>;
    /// Lists the paths of a commit below a directory, such as `.refit`; whether they are filtered is not asked.
    fn list_below(&self, commit: &CommitId, directory: &str) -> Result<Vec<Listed>, PortError> {
        let mut listed = self.list(commit)?;
        listed.retain(|item| {
            let rest = item.path.as_str().strip_prefix(directory);
            rest.is_some_and(|rest| rest.starts_with('/'))
        });
        Ok(listed)
    }
    /// Reads one blob.
    fn read(&self, blob: &BlobId) -> Result<Arc<[u8]>, PortError>;
    /// Reads many blobs, in their order; faster than one after the other.
    fn read_all(&self, blobs: &[BlobId]) -> Result<Vec<Arc<[u8]>>, PortError> {
        blobs.iter().map(|blob| self.read(blob)).collect()
    }
    /// Lists the contents of a path along the first parents of a commit, newest first; at most `limit` contents.
    fn history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError>;
    /// Lists what changed directly in a directory along the first parents of a commit, newest first.
    fn log(&self, commit: &CommitId, directory: &Path) -> Result<Log, PortError>;
    /// Gives the commits that `to` has and `from` lacks, newest first.
    fn commits_between(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError>;
    /// Writes a commit with one parent; nothing points to it yet. Author and signature follow the Git configuration,
    /// the message is taken as given. Removing a path that is not there changes nothing.
    fn commit(&self, parent: &CommitId, changes: &[Change], message: &str) -> Result<CommitId, PortError>;
    /// Writes a commit of somebody again on another parent: author and message are those of the original, committer and
    /// signature follow the Git configuration.
    fn commit_again(&self, original: &CommitId, parent: &CommitId, changes: &[Change]) -> Result<CommitId, PortError>;
    /// Gives name and address of whoever commits here; without them, the settings to make are named.
    fn person(&self) -> Result<String, PortError>;
    /// Gives the commit of a branch, where it is published (the remote, where there is one).
    fn branch(&self, name: &str) -> Result<Option<CommitId>, PortError>;
    /// Lists the published branches whose names begin with a prefix that ends with `/`, in their order.
    fn branches(&self, prefix: &str) -> Result<Vec<String>, PortError>;
    /// Moves, makes or removes (`new` = `None`) a published branch, if it is still at `expected`
    /// ([`PortErrorKind::Moved`] otherwise). A branch that is at `new` already is a success.
    fn publish(&self, name: &str, new: Option<&CommitId>, expected: Option<&CommitId>) -> Result<(), PortError>;
    /// Reads a small note kept under `refs/refit/<name>`.
    fn note(&self, name: &str) -> Result<Option<Arc<[u8]>>, PortError>;
    /// Lists the names of the notes below a prefix.
    fn notes(&self, prefix: &str) -> Result<Vec<String>, PortError>;
    /// Writes or removes a note, if it still has the expected content ([`PortErrorKind::Moved`] otherwise); published
    /// like a branch. A note that has the new content already is a success.
    fn put_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError>;
    /// Moves the target branch forward to a commit as a person's merge would: a checked-out clean branch by
    /// `git merge --ff-only`, a dirty one is refused ([`PortErrorKind::Dirty`]), another by compare-and-swap.
    fn fast_forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError>;
}

/// A commit in a few words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// The commit.
    pub id: CommitId,
    /// The author's name and address.
    pub author: String,
    /// The first line of the message.
    pub subject: String,
    /// Whether this program wrote it (its message ends with the trailer `Refit-Upgrade:`).
    pub ours: bool,
    /// The commits that it follows; a merge has several.
    pub parents: Vec<CommitId>,
}

impl CommitSummary {
    /// Sums up a commit with its whole message.
    pub fn new(id: CommitId, author: impl Into<String>, message: &str) -> Self {
        let last_paragraph = message.trim_end().rsplit("\n\n").next().unwrap_or_default();
        Self {
            id,
            author: author.into(),
            subject: message.lines().next().unwrap_or_default().to_owned(),
            ours: last_paragraph.lines().any(|line| line.starts_with(TRAILER)),
            parents: Vec::new(),
        }
    }

    /// Adds the commits that it follows.
    #[must_use]
    pub fn after(mut self, parents: Vec<CommitId>) -> Self {
        self.parents = parents;
        self
    }

    /// Gives it as people read it: the beginning of the id, subject and author.
    pub fn line(&self) -> String {
        let short: String = self.id.0.chars().take(10).collect();
        format!("{short} {} ({})", self.subject, self.author)
    }
}

/// The state of a change request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Open and ready for review.
    Open,
    /// Open, not to be merged yet.
    Draft,
    /// Merged.
    Merged,
    /// Closed without a merge.
    Closed,
}

/// A change request on a forge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeRequest {
    /// The forge's number.
    pub number: u64,
    /// The title.
    pub title: String,
    /// The text for the reviewer, Markdown.
    pub body: String,
    /// The branch with the change.
    pub branch: String,
    /// The branch it asks to change.
    pub base: String,
    /// The newest commit of the branch that the forge knows.
    pub head: CommitId,
    /// The state.
    pub state: RequestState,
    /// Where a person can see it: a URL, or the command that shows it.
    pub url: String,
}

/// What a request is opened with or updated to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The title.
    pub title: String,
    /// The text for the reviewer.
    pub body: String,
    /// The branch with the change, already published.
    pub branch: String,
    /// The branch it asks to change.
    pub base: String,
    /// The commit of the branch.
    pub head: CommitId,
    /// [`RequestState::Open`] or [`RequestState::Draft`].
    pub state: RequestState,
}

/// A place where change requests are reviewed.
pub trait Forge {
    /// Lists the requests of all states, newest first, as they are: one that somebody merged by hand is merged.
    fn list(&self) -> Result<Vec<ChangeRequest>, PortError>;
    /// Opens a request; one that is already open for the same branch is updated in its place.
    fn open(&self, draft: &Draft) -> Result<ChangeRequest, PortError>;
    /// Updates an open request.
    fn update(&self, number: u64, draft: &Draft) -> Result<ChangeRequest, PortError>;
    /// Merges a request whose head is the given commit. A draft is [`PortErrorKind::NotReady`]; a head or target branch
    /// that moved is [`PortErrorKind::Moved`]; one that is merged already is a success.
    fn merge(&self, number: u64, head: &CommitId) -> Result<ChangeRequest, PortError>;
    /// Closes a request without a merge and removes its branch, unless people added commits to it.
    fn close(&self, number: u64) -> Result<ChangeRequest, PortError>;
}

/// One file of a release that holds a superset of its components.
#[derive(Clone, Debug)]
pub struct Content {
    /// The manifest's bytes.
    pub bytes: Arc<[u8]>,
    /// The SHA-256 of the bytes, `sha256:` and hexadecimal.
    pub digest: String,
    /// Where it came from, for messages.
    pub origin: String,
    /// Whether it is byte for byte what the generator writes; otherwise it was made of a published manifest of another
    /// form.
    pub exact: bool,
    /// Whether a digest was on record that the bytes were compared with.
    pub compared: bool,
}

/// What can be had of a platform at the moment.
#[derive(Debug, Default)]
pub struct Available {
    /// The versions, as the sources spell them, in no order.
    pub versions: Vec<String>,
    /// Why some of the sources could not be asked; then the versions are those known from before.
    pub unreachable: Vec<PortError>,
}

impl Available {
    /// Gives the versions; where nothing is known and somebody was silent, that is the error.
    pub fn known(mut self) -> Result<Vec<String>, PortError> {
        match self.unreachable.pop() {
            Some(error) if self.versions.is_empty() => Err(error),
            _ => Ok(self.versions),
        }
    }
}

/// A source of releases and their contents.
pub trait Releases {
    /// Gives where it is, for messages.
    fn location(&self) -> String;
    /// Adds the sources that the platform repository names, behind those of the user; naming them again changes nothing.
    /// A source that is fixed takes none.
    fn extend(&self, sources: &[String]) -> Result<(), PortError> {
        let _ = sources;
        Ok(())
    }
    /// Lists the versions that the source has for a platform, as it spells them, in no order.
    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError>;
    /// Lists the versions, even when a server does not answer: that is no reason to say nothing.
    fn available(&self, platform: &str) -> Result<Available, PortError> {
        match self.versions(platform) {
            Ok(versions) => Ok(Available {
                versions,
                unreachable: Vec::new(),
            }),
            Err(error) if error.kind == PortErrorKind::Unreachable => Ok(Available {
                versions: Vec::new(),
                unreachable: vec![error],
            }),
            Err(error) => Err(error),
        }
    }
    /// Gives the manifests of a version, the one with most components first; a recorded digest that does not match is
    /// [`PortErrorKind::Corrupt`].
    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError>;
}

/// The time of day.
pub trait Clock {
    /// Gives the present time in UTC.
    fn now(&self) -> Timestamp;
}
