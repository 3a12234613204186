//! What every implementation of a port must do, as checks that run against any of them.
//!
//! In: a way to make a fresh place with [`start`] on branch `main`. Out: a panic that names what is broken. Knows no
//! implementation.

pub mod forge;
pub mod repository;

use refit_engine::ports::{BlobId, Change, CommitId, Draft, ListedKind, Repository, RequestState};
use refit_manifest::{Entry, Path, Tree};

/// A fresh repository whose branch `main` has one commit with the files of [`start`].
pub trait Place {
    /// Opens it, as another process would.
    fn open(&self) -> Box<dyn Repository + Send>;
}

/// Gives the files that a place begins with.
pub fn start() -> Tree {
    let file = |text: &str| Entry::file(text.as_bytes());
    [
        (Path::from("README.md"), file("hello\n")),
        (Path::from("apps/a.yaml"), file("a: 1\r\n")),
        (
            Path::from("apps/deep/run.sh"),
            Entry::File {
                bytes: b"#!/bin/sh\n".as_slice().into(),
                executable: true,
            },
        ),
        (Path::from("link"), Entry::Link("apps/a.yaml".into())),
    ]
    .into_iter()
    .collect()
}

/// Makes a change that writes a file.
pub(crate) fn write(path: &str, text: &str) -> Change {
    Change {
        path: path.into(),
        entry: Some(Entry::file(text.as_bytes())),
    }
}

/// Makes a change that removes a path.
pub(crate) fn remove(path: &str) -> Change {
    Change {
        path: path.into(),
        entry: None,
    }
}

/// Gives the newest commit of `main`.
pub(crate) fn head(repository: &dyn Repository) -> CommitId {
    repository.base(None).expect("a base").commit
}

/// Writes a commit on top of `main` that nothing points to.
pub(crate) fn child(repository: &dyn Repository, text: &str) -> CommitId {
    let message = format!("Say {text}\n\nRefit-Upgrade: 1234\n");
    repository
        .commit(&head(repository), &[write("said", text)], &message)
        .expect("a commit")
}

/// Lists a commit as one line per path: kind, size, path.
pub(crate) fn listing(repository: &dyn Repository, commit: &CommitId) -> Vec<String> {
    let listed = repository.list(commit).expect("a listing");
    let line = |kind, size: u64, path: &str| format!("{kind} {size} {path}");
    let mut lines: Vec<String> = listed
        .iter()
        .map(|listed| {
            let kind = match listed.kind {
                ListedKind::File => "file",
                ListedKind::Executable => "executable",
                ListedKind::Link => "link",
                ListedKind::Submodule => "submodule",
            };
            line(kind, listed.size, listed.path.as_str())
        })
        .collect();
    lines.sort();
    lines
}

/// Gives the blob at a path of a commit.
pub(crate) fn blob(repository: &dyn Repository, commit: &CommitId, path: &str) -> BlobId {
    let listed = repository.list(commit).expect("a listing");
    let found = listed.into_iter().find(|listed| listed.path.as_str() == path);
    found.expect("a listed path").blob
}

/// Gives the bytes at a path of a commit.
pub(crate) fn content(repository: &dyn Repository, commit: &CommitId, path: &str) -> Vec<u8> {
    repository
        .read(&blob(repository, commit, path))
        .expect("a blob")
        .to_vec()
}

/// Makes a draft of a request for a branch.
pub(crate) fn draft(branch: &str, head: &CommitId, state: RequestState) -> Draft {
    Draft {
        title: format!("Change {branch}"),
        body: "for the reviewer\n".to_owned(),
        branch: branch.to_owned(),
        base: "main".to_owned(),
        head: head.clone(),
        state,
    }
}
