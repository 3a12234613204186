//! Tells whether a target branch has what the branch of a request brings.
//!
//! In: a repository, the target branch, the head of the request's branch, the head that the request was opened or updated
//! with. Out: merged, or not, or a branch that brings nothing. A merge is found by history (fast-forward, merge commit) and
//! by content (squash, rebase): one commit that the target branch gained has every file as the request leaves it. Forges
//! whose server does not say it use this.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::Path;

use crate::ports::{BlobId, CommitId, ListedKind, PortError, PortErrorKind, Repository};

/// How many contents of a file are looked at.
const CONTENTS: usize = 50;

/// What a target branch has of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// All of it: it was merged.
    All,
    /// Not all of it.
    Open,
    /// The request's branch has no change any more, such as one that somebody reset to the target branch.
    Nothing,
}

type Files = BTreeMap<Path, (ListedKind, BlobId)>;

/// Tells how much of a request a target branch has; what is not here any more was not merged.
pub fn brought(
    repository: &dyn Repository,
    base: &CommitId,
    head: &CommitId,
    written: &CommitId,
) -> Result<Brought, PortError> {
    if !contains(repository, base, head)? {
        let merged = has_content(repository, base, head)?;
        return Ok(if merged { Brought::All } else { Brought::Open });
    }
    let merged = contains(repository, base, written)? || has_content(repository, base, written)?;
    Ok(if merged { Brought::All } else { Brought::Nothing })
}

/// Tells whether a commit is in the history of another; one that is not here any more is not.
pub fn contains(repository: &dyn Repository, commit: &CommitId, part: &CommitId) -> Result<bool, PortError> {
    Ok(present(repository.commits_between(commit, part))?.is_some_and(|missing| missing.is_empty()))
}

/// Tells whether the target branch gained a commit with the content that a head brings.
fn has_content(repository: &dyn Repository, base: &CommitId, head: &CommitId) -> Result<bool, PortError> {
    let Some(gained) = present(repository.commits_between(head, base))? else {
        return Ok(false);
    };
    let gained: BTreeSet<CommitId> = gained.into_iter().map(|commit| commit.id).collect();
    let ahead = repository.commits_between(base, head)?;
    let fork = ahead.last().and_then(|oldest| oldest.parents.first());
    let Some(fork) = fork.filter(|_| !gained.is_empty()) else {
        return Ok(false);
    };
    let (before, after) = (files(repository, fork)?, files(repository, head)?);
    let all: BTreeSet<&Path> = before.keys().chain(after.keys()).collect();
    let changed: Vec<&Path> = all
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path))
        .collect();
    let has = |commit: &CommitId| -> Result<bool, PortError> {
        let there = files(repository, commit)?;
        Ok(changed.iter().all(|path| there.get(*path) == after.get(*path)))
    };
    if changed.is_empty() {
        return Ok(false);
    }
    let Some((path, (_, blob))) = changed.iter().find_map(|path| after.get_key_value(*path)) else {
        return has(base);
    };
    for past in repository.history(base, path, CONTENTS)?.contents {
        if past.blob == *blob && gained.contains(&past.commit) && has(&past.commit)? {
            return Ok(true);
        }
    }
    // Where several commits brought it, the last of them has it all, unless the target branch went on from there.
    has(base)
}

fn files(repository: &dyn Repository, commit: &CommitId) -> Result<Files, PortError> {
    let listed = repository.list(commit)?.into_iter();
    Ok(listed.map(|item| (item.path, (item.kind, item.blob))).collect())
}

fn present<T>(answer: Result<T, PortError>) -> Result<Option<T>, PortError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind == PortErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
