//! Which commits of a branch people wrote.
//!
//! In: the target branch, the head of a request's branch, what request and note say that this program wrote. Out: their
//! commits, newest first. What a request says makes it more careful, never less.

use std::collections::BTreeSet;

use refit_core::request;

use super::{notes, observe};
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
    /// Reads a branch. This program writes one commit, the oldest; another with its trailer, or one that neither
    /// the request nor the note knows by its id, such as one that somebody amended, counts as a person's.
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
        let noted = match request {
            Some(request) => notes::read(ports, &observe::upgrade_of(&request.branch))?,
            None => None,
        };
        let noted = noted.map(|note| note.written).unwrap_or_default();
        let is_known = |id: &CommitId| {
            known
                .as_ref()
                .is_none_or(|known| known.contains(id) || noted.iter().any(|written| **written == *id.0))
        };
        let first = commits.last().filter(|commit| commit.ours && is_known(&commit.id));
        let own = first.map(|commit| commit.id.clone());
        Ok(Self { commits, own })
    }

    /// Tells whether the commit of this program is there.
    pub(super) fn has_own(&self) -> bool {
        self.own.is_some()
    }

    /// Lists the commits of people, newest first.
    pub(super) fn people(&self) -> impl Iterator<Item = &CommitSummary> {
        self.commits
            .iter()
            .filter(|commit| self.own.as_ref() != Some(&commit.id))
    }

    /// Lists the commits of people that were not agreed to yet, and those that were kept; `kept` is the head up to which
    /// they were.
    pub(super) fn asked_and_kept(&self, kept: Option<&str>) -> (Vec<String>, Vec<String>) {
        // What follows that head is new.
        let agreed = self.commits.iter().position(|commit| kept == Some(&*commit.id.0));
        let new = agreed.unwrap_or(self.commits.len());
        let (mut asked, mut kept) = (Vec::new(), Vec::new());
        for commit in self.people() {
            let place = self.commits.iter().position(|other| other.id == commit.id);
            let side = if place < Some(new) { &mut asked } else { &mut kept };
            side.push(commit.line());
        }
        (asked, kept)
    }

    /// Lists the commits of people as lines.
    pub(super) fn lines(&self) -> Vec<String> {
        self.people().map(CommitSummary::line).collect()
    }
}
