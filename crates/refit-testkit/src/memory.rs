//! A repository in memory, behind the same port as the real one.
//!
//! In: a tree of files. Out: commits, branches and notes that clones of the value share, also between threads. Knows
//! neither disks nor Git.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refit_engine::ports::{
    Base, BlobId, Change, CommitId, CommitSummary, History, Listed, ListedKind, Log, Logged, Past, PortError,
    PortErrorKind, Repository, Timestamp,
};
use refit_manifest::{Entry, Path, Tree};

/// A repository in memory; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    blobs: BTreeMap<BlobId, Arc<[u8]>>,
    commits: BTreeMap<CommitId, Commit>,
    branches: BTreeMap<String, CommitId>,
    notes: BTreeMap<String, Arc<[u8]>>,
    head: String,
    worktree: Worktree,
    author: Option<String>,
}

/// The worktree that HEAD's branch is checked out in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Worktree {
    /// There is none, as in a bare repository.
    #[default]
    None,
    /// It has no changes.
    Clean,
    /// It has changes that are not committed.
    Dirty,
}

type Files = BTreeMap<Path, (ListedKind, BlobId)>;

#[derive(Debug)]
struct Commit {
    parent: Option<CommitId>,
    files: Files,
    author: String,
    message: String,
    /// How many commits were before it.
    age: i64,
}

const AUTHOR: &str = "Memory <memory@example.org>";

/// When the first commit came, in seconds; each one comes a minute after its parent.
const BEGIN: i64 = 1_767_322_800;

impl Memory {
    /// Makes a repository whose branch has one commit with these files.
    pub fn new(branch: &str, tree: &Tree) -> Self {
        let memory = Self::default();
        {
            let mut state = memory.state();
            branch.clone_into(&mut state.head);
            let files = tree.iter().map(|(path, entry)| {
                let kept = state.keep(entry);
                (path.clone(), kept)
            });
            let files = files.collect();
            let first = state.write(None, files, "Begin\n");
            state.branches.insert(branch.to_owned(), first);
        }
        memory
    }

    /// Sets how the worktree of HEAD's branch is.
    pub fn set_worktree(&self, worktree: Worktree) {
        self.state().worktree = worktree;
    }

    /// Sets who commits from now on: name and address.
    pub fn set_author(&self, author: &str) {
        self.state().author = Some(author.to_owned());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn keep(&mut self, entry: &Entry) -> (ListedKind, BlobId) {
        let (kind, bytes): (_, Arc<[u8]>) = match entry {
            Entry::File { bytes, executable } => {
                let kind = if *executable {
                    ListedKind::Executable
                } else {
                    ListedKind::File
                };
                (kind, bytes.clone())
            }
            Entry::Link(target) => (ListedKind::Link, target.as_bytes().into()),
        };
        let id = BlobId(identify(("blob", &bytes)).into());
        self.blobs.insert(id.clone(), bytes);
        (kind, id)
    }

    fn author(&self) -> String {
        self.author.clone().unwrap_or_else(|| AUTHOR.to_owned())
    }

    fn write(&mut self, parent: Option<CommitId>, files: Files, message: &str) -> CommitId {
        let author = self.author();
        self.write_as(parent, files, (&author, message))
    }

    fn write_as(&mut self, parent: Option<CommitId>, files: Files, (author, message): (&str, &str)) -> CommitId {
        let listed: Vec<_> = files.iter().map(|(path, (kind, id))| (path, *kind as u8, id)).collect();
        let id = CommitId(identify(("commit", &parent, listed, author, message)).into());
        let before = parent.as_ref().and_then(|parent| self.commits.get(parent));
        let commit = Commit {
            age: before.map_or(0, |before| before.age + 1),
            parent,
            files,
            author: author.to_owned(),
            message: message.to_owned(),
        };
        self.commits.insert(id.clone(), commit);
        id
    }

    fn commit(&self, id: &CommitId) -> Result<&Commit, PortError> {
        let lost = || PortError::new(PortErrorKind::NotFound, format!("commit `{id}` is not in memory"));
        self.commits.get(id).ok_or_else(lost)
    }

    /// Gives the files of a commit with changes.
    fn changed(&mut self, parent: &CommitId, changes: &[Change]) -> Result<Files, PortError> {
        let mut files = self.commit(parent)?.files.clone();
        for change in changes.iter().filter(|change| change.entry.is_none()) {
            check_path(&change.path)?;
            if is_directory(&files, &change.path) {
                return Err(in_the_way(&change.path));
            }
            files.remove(&change.path);
        }
        for change in changes {
            check_path(&change.path)?;
            if let Some(entry) = &change.entry {
                let kept = self.keep(entry);
                files.insert(change.path.clone(), kept);
            }
        }
        if let Some(change) = changes.iter().find(|change| {
            let mut above = change.path.directory();
            let mut below_file = false;
            while !above.is_empty() && change.entry.is_some() {
                below_file |= files.contains_key(&Path::from(above));
                above = above.rsplit_once('/').map_or("", |(directory, _)| directory);
            }
            below_file || (change.entry.is_some() && is_directory(&files, &change.path))
        }) {
            return Err(in_the_way(&change.path));
        }
        Ok(files)
    }

    /// Gives a commit and its ancestors, newest first.
    fn line(&self, id: &CommitId) -> Result<Vec<CommitId>, PortError> {
        let mut line = vec![id.clone()];
        let mut next = &self.commit(id)?.parent;
        while let Some(parent) = next {
            line.push(parent.clone());
            next = &self.commit(parent)?.parent;
        }
        Ok(line)
    }
}

impl Repository for Memory {
    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn base(&self, wanted: Option<&str>) -> Result<Base, PortError> {
        let state = self.state();
        let branch = wanted.unwrap_or(&state.head).to_owned();
        let commit = state.branches.get(&branch).cloned().ok_or_else(|| {
            PortError::new(PortErrorKind::NotFound, format!("there is no branch `{branch}`"))
                .hint("choose one with `--base BRANCH`")
        })?;
        Ok(Base { branch, commit })
    }

    fn list(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError> {
        let state = self.state();
        let files = &state.commit(commit)?.files;
        let listed = |(path, (kind, blob)): (&Path, &(ListedKind, BlobId))| Listed {
            path: path.clone(),
            blob: blob.clone(),
            size: state.blobs.get(blob).map_or(0, |bytes| bytes.len() as u64),
            kind: *kind,
            filtered: false,
        };
        Ok(files.iter().map(listed).collect())
    }

    fn read(&self, blob: &BlobId) -> Result<Arc<[u8]>, PortError> {
        let found = self.state().blobs.get(blob).cloned();
        found.ok_or_else(|| PortError::new(PortErrorKind::NotFound, format!("blob `{}` is not in memory", blob.0)))
    }

    fn history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError> {
        let state = self.state();
        let mut contents = Vec::new();
        for id in state.line(commit)? {
            let here = state.commit(&id)?;
            let before = match &here.parent {
                Some(parent) => state.commit(parent)?.files.get(path),
                None => None,
            };
            let now = here.files.get(path);
            if let Some((_, blob)) = now.filter(|_| now != before) {
                contents.push(Past {
                    commit: id,
                    blob: blob.clone(),
                });
            }
        }
        contents.truncate(limit);
        Ok(History { contents, cut: false })
    }

    fn commits_between(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError> {
        let state = self.state();
        let known: BTreeSet<_> = state.line(from)?.into_iter().collect();
        let new = state.line(to)?.into_iter().take_while(|id| !known.contains(id));
        new.map(|id| {
            let commit = state.commit(&id)?;
            let summary = CommitSummary::new(id.clone(), commit.author.as_str(), &commit.message);
            Ok(summary.after(commit.parent.iter().cloned().collect()))
        })
        .collect()
    }

    fn log(&self, commit: &CommitId, directory: &Path) -> Result<Log, PortError> {
        let state = self.state();
        let mut log = Log::default();
        for id in state.line(commit)? {
            let here = state.commit(&id)?;
            let nothing = Files::new();
            let before = match &here.parent {
                Some(parent) => &state.commit(parent)?.files,
                None => &nothing,
            };
            let paths: BTreeSet<&Path> = here.files.keys().chain(before.keys()).collect();
            let below = |path: &&&Path| path.directory() == directory.as_str();
            for path in paths.iter().filter(below) {
                let blob = |files: &Files| files.get(*path).map(|(_, blob)| blob.clone());
                let (before, after) = (blob(before), blob(&here.files));
                if before != after {
                    log.changes.push(Logged {
                        commit: id.clone(),
                        parent: here.parent.clone(),
                        author: here.author.clone(),
                        time: Timestamp::from_second(BEGIN + 60 * here.age).unwrap_or_default(),
                        message: here.message.clone(),
                        path: (*path).clone(),
                        before,
                        after,
                    });
                }
            }
        }
        Ok(log)
    }

    fn commit(&self, parent: &CommitId, changes: &[Change], message: &str) -> Result<CommitId, PortError> {
        let mut state = self.state();
        let files = state.changed(parent, changes)?;
        Ok(state.write(Some(parent.clone()), files, message))
    }

    fn commit_again(&self, original: &CommitId, parent: &CommitId, changes: &[Change]) -> Result<CommitId, PortError> {
        let mut state = self.state();
        let files = state.changed(parent, changes)?;
        let commit = state.commit(original)?;
        let (author, message) = (commit.author.clone(), commit.message.clone());
        Ok(state.write_as(Some(parent.clone()), files, (&author, &message)))
    }

    fn person(&self) -> Result<String, PortError> {
        Ok(self.state().author())
    }

    fn branch(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        Ok(self.state().branches.get(name).cloned())
    }

    fn branches(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        let state = self.state();
        let names = state.branches.keys().filter(|name| name.starts_with(prefix));
        let mut names: Vec<String> = names.cloned().collect();
        names.sort();
        Ok(names)
    }

    fn publish(&self, name: &str, new: Option<&CommitId>, expected: Option<&CommitId>) -> Result<(), PortError> {
        let mut state = self.state();
        if let Some(new) = new {
            state.commit(new)?;
        }
        swap(&mut state.branches, name, new.cloned(), expected)
    }

    fn note(&self, name: &str) -> Result<Option<Arc<[u8]>>, PortError> {
        Ok(self.state().notes.get(name).cloned())
    }

    fn notes(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        let state = self.state();
        let inside = |name: &&String| match name.strip_prefix(prefix) {
            Some(rest) => prefix.is_empty() || rest.starts_with('/'),
            None => false,
        };
        Ok(state.notes.keys().filter(inside).cloned().collect())
    }

    fn put_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError> {
        let expected: Option<Arc<[u8]>> = expected.map(Into::into);
        swap(&mut self.state().notes, name, new.map(Into::into), expected.as_ref())
    }

    fn fast_forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError> {
        let mut state = self.state();
        if state.branches.get(&base.branch) == Some(to) {
            return Ok(());
        }
        if !state.line(to)?.contains(&base.commit) {
            return Err(moved(&base.branch));
        }
        if state.head == base.branch && state.worktree == Worktree::Dirty {
            let message = format!("branch `{}` is checked out with changes", base.branch);
            return Err(PortError::new(PortErrorKind::Dirty, message).hint("commit or stash them"));
        }
        swap(&mut state.branches, &base.branch, Some(to.clone()), Some(&base.commit))
    }
}

fn swap<V: PartialEq>(
    values: &mut BTreeMap<String, V>,
    name: &str,
    new: Option<V>,
    expected: Option<&V>,
) -> Result<(), PortError> {
    let current = values.get(name);
    if current == new.as_ref() {
        return Ok(());
    }
    if current != expected {
        return Err(moved(name));
    }
    match new {
        Some(new) => values.insert(name.to_owned(), new),
        None => values.remove(name),
    };
    Ok(())
}

fn moved(name: &str) -> PortError {
    PortError::new(PortErrorKind::Moved, format!("`{name}` was moved by somebody else"))
        .hint("run the command again: it starts from what is there now")
}

fn in_the_way(path: &Path) -> PortError {
    let message = format!("`{path}` cannot be changed: a file or directory is in the way");
    PortError::new(PortErrorKind::Other, message)
}

fn is_directory(files: &Files, path: &Path) -> bool {
    let inside = format!("{path}/");
    files.keys().any(|file| file.as_str().starts_with(&inside))
}

fn check_path(path: &Path) -> Result<(), PortError> {
    let bad = |part: &str| matches!(part, "" | "." | ".." | ".git");
    if path.as_str().split('/').any(bad) {
        let message = format!("`{path}` cannot be a path in a repository");
        return Err(PortError::new(PortErrorKind::Other, message));
    }
    Ok(())
}

/// Makes an id of 40 digits; equal values have equal ids.
fn identify(value: impl Hash) -> String {
    let part = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, &value).hash(&mut hasher);
        hasher.finish()
    };
    let digits = format!("{:016x}{:016x}{:016x}", part(0), part(1), part(2));
    digits.chars().take(40).collect()
}
