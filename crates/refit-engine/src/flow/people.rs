//! Which commits of a branch people wrote.
//!
//! In: the target branch, the head of a request's branch, what the request says that this program wrote last. Out: their
//! commits, newest first. What a request says makes it more careful, never less.

use std::collections::BTreeSet;

use refit_core::request;

use crate::ports::{ChangeRequest, CommitId, CommitSummary, PortErrorKind};
use crate::{Error, Ports};

/// The commits of a branch beyond the target branch.
pub(super) struct Branch {
    /// All of them, newest first.
    pub(super) commits: Vec<CommitSummary>,
    /// The one of this program, where it is there.
    own: Option<CommitId>,
}

impl Branch {
    /// Reads a branch. This program writes one commit, the oldest; another with its trailer, or one that the request does
    /// not know of, such as one that somebody amended, counts as a person's.
    pub(super) fn read(
        ports: &Ports<'_>,
        base: &CommitId,
        head: &CommitId,
        request: Option<&ChangeRequest>,
    ) -> Result<Self, Error> {
        let commits = ports.repository.commits_between(base, head)?;
        let written = request.and_then(|request| request::block(&request.body));
        let written = written.map(|block| CommitId(block.head.into()));
        let known: Option<BTreeSet<CommitId>> = match written.filter(|written| written != head) {
            Some(written) => Some(match ports.repository.commits_between(base, &written) {
                Ok(before) => before.into_iter().map(|commit| commit.id).collect(),
                Err(error) if error.kind == PortErrorKind::NotFound => BTreeSet::new(),
                Err(error) => return Err(error.into()),
            }),
            None => None,
        };
        let is_known = |id: &CommitId| known.as_ref().is_none_or(|known| known.contains(id));
        let first = commits.last().filter(|commit| commit.ours && is_known(&commit.id));
        let own = first.map(|commit| commit.id.clone());
        Ok(Self { commits, own })
    }

    /// Lists the commits of people, newest first.
    pub(super) fn people(&self) -> impl Iterator<Item = &CommitSummary> {
        self.commits
            .iter()
            .filter(|commit| self.own.as_ref() != Some(&commit.id))
    }

    /// Lists the commits of people as lines.
    pub(super) fn lines(&self) -> Vec<String> {
        self.people().map(CommitSummary::line).collect()
    }
}
