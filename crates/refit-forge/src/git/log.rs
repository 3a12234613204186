//! Reads the history: the contents of a path, the commits between two.
//!
//! In: commits. Out: contents and summaries. Knows nothing of branches.

use std::fs;

use refit_engine::ports::{BlobId, CommitId, CommitSummary, History, Past, PortError};
use refit_manifest::Path;

use super::Git;

impl Git {
    /// Refuses what is not the id of a commit that is here; ids may come from notes that others wrote.
    pub(super) fn check_commit(&self, commit: &CommitId) -> Result<(), PortError> {
        let hexadecimal = commit.0.len() >= 40 && commit.0.bytes().all(|byte| byte.is_ascii_hexdigit());
        if hexadecimal && self.commit_at(&commit.0)?.is_some_and(|found| found == *commit) {
            return Ok(());
        }
        Err(self
            .lost("commit", &commit.0)
            .hint("fetch it, or run the command again so that it starts from what is there now"))
    }

    /// Lists the contents of a path along first parents.
    pub(super) fn path_history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError> {
        self.check_commit(commit)?;
        // Each content is followed by one removal at most.
        let count = format!("--max-count={}", limit.saturating_mul(2).saturating_add(1));
        let what = format!("could not read the history of `{path}` in {}", self.location);
        let arguments = ["rev-list", "--first-parent", &count, &commit.0, "--", path.as_str()];
        let listed = self.program.ask(&what, &arguments)?;
        let mut history = History::default();
        for id in String::from_utf8_lossy(&listed).lines() {
            let found = self.find(&format!("{id}^{{tree}}"), path.as_str())?;
            let Some(item) = found.filter(|item| item.mode.starts_with("10") || item.mode == "120000") else {
                continue;
            };
            history.contents.push(Past {
                commit: CommitId(id.into()),
                blob: BlobId(item.id.into()),
            });
            if history.contents.len() == limit {
                break;
            }
        }
        history.cut = match history.contents.last() {
            Some(oldest) => self.is_boundary(&oldest.commit),
            None => false,
        };
        Ok(history)
    }

    /// Tells whether a shallow clone cuts the history off at a commit.
    fn is_boundary(&self, commit: &CommitId) -> bool {
        let boundaries = fs::read_to_string(self.common.join("shallow")).unwrap_or_default();
        boundaries.lines().any(|line| line == &*commit.0)
    }

    /// Sums up the commits that `to` has and `from` lacks.
    pub(super) fn summaries(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError> {
        self.check_commit(from)?;
        self.check_commit(to)?;
        let what = format!("could not list the commits from {from} to {to} in {}", self.location);
        let without = format!("^{from}");
        let listed = self
            .program
            .ask(&what, &["rev-list", "--topo-order", &to.0, &without, "--"])?;
        let text = String::from_utf8_lossy(&listed);
        text.lines().map(|id| self.summary(id)).collect()
    }

    fn summary(&self, id: &str) -> Result<CommitSummary, PortError> {
        let object = self.object(id)?.ok_or_else(|| self.lost("commit", id))?;
        let text = String::from_utf8_lossy(&object.bytes);
        let (header, message) = text.split_once("\n\n").unwrap_or((&text, ""));
        let author = header
            .lines()
            .find_map(|line| line.strip_prefix("author "))
            .unwrap_or_default();
        // What follows the address is the time.
        let author = author.rfind('>').map_or(author, |end| &author[..=end]);
        Ok(CommitSummary::new(CommitId(id.into()), author, message))
    }
}
