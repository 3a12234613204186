//! Reads the history: the contents of a path, the commits between two.
//!
//! In: commits. Out: contents and summaries. Knows nothing of branches.

use std::collections::BTreeMap;
use std::fs;

use refit_engine::ports::{BlobId, CommitId, CommitSummary, History, Log, Logged, Past, PortError, Timestamp};
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
        let written = self.written(id)?;
        let summary = CommitSummary::new(CommitId(id.into()), written.author, &written.message);
        Ok(summary.after(written.parents))
    }

    /// Reads the object of a commit.
    pub(super) fn written(&self, id: &str) -> Result<Written, PortError> {
        let object = self
            .object(id)?
            .filter(|object| object.kind == "commit")
            .ok_or_else(|| self.lost("commit", id))?;
        Ok(Written::read(&object.bytes))
    }

    /// Lists what changed directly in a directory along first parents.
    pub(super) fn directory_log(&self, commit: &CommitId, directory: &Path) -> Result<Log, PortError> {
        self.check_commit(commit)?;
        let what = format!("could not read the history of `{directory}` in {}", self.location);
        let arguments = ["rev-list", "--first-parent", &commit.0, "--", directory.as_str()];
        let listed = self.program.ask(&what, &arguments)?;
        let mut log = Log::default();
        for id in String::from_utf8_lossy(&listed).lines() {
            let written = self.written(id)?;
            let commit = CommitId(id.into());
            let hidden = self.is_boundary(&commit);
            log.cut |= hidden;
            let parent = written.parents.first().filter(|_| !hidden).cloned();
            let before = match &parent {
                Some(parent) => self.files_in(parent, directory)?,
                None => BTreeMap::new(),
            };
            let after = self.files_in(&commit, directory)?;
            let mut paths: Vec<&Path> = before.keys().chain(after.keys()).collect();
            paths.sort();
            paths.dedup();
            for path in paths {
                let (before, after) = (before.get(path).cloned(), after.get(path).cloned());
                if before == after {
                    continue;
                }
                let from = match (&parent, written.parents.len()) {
                    (Some(parent), 2..) => self.merged(parent, &commit, path)?,
                    _ => None,
                };
                let from = from.as_ref().unwrap_or(&written);
                log.changes.push(Logged {
                    commit: commit.clone(),
                    parent: parent.clone(),
                    author: from.author.clone(),
                    time: written.time,
                    message: from.message.clone(),
                    path: path.clone(),
                    before,
                    after,
                });
            }
        }
        log.cut |= log.changes.is_empty() && self.common.join("shallow").exists();
        Ok(log)
    }

    /// Finds the newest commit that a merge brought and that changed a path.
    fn merged(&self, parent: &CommitId, merge: &CommitId, path: &Path) -> Result<Option<Written>, PortError> {
        let what = format!("could not look into the merge {merge} in {}", self.location);
        let without = format!("^{parent}");
        let arguments = [
            "rev-list",
            "--no-merges",
            "--max-count=1",
            &merge.0,
            &without,
            "--",
            path.as_str(),
        ];
        let listed = self.program.ask(&what, &arguments)?;
        let first = String::from_utf8_lossy(&listed).lines().next().map(str::to_owned);
        first.map(|id| self.written(&id)).transpose()
    }

    /// Gives the files and links that stand directly in a directory of a commit; one that is not there has none.
    fn files_in(&self, commit: &CommitId, directory: &Path) -> Result<BTreeMap<Path, BlobId>, PortError> {
        let root = format!("{commit}^{{tree}}");
        let tree = match self.find(&root, directory.as_str())? {
            Some(item) if item.is_tree() => self.tree(&item.id)?,
            _ => Vec::new(),
        };
        let mut files = BTreeMap::new();
        for item in tree {
            let is_file = item.mode.starts_with("10") || item.mode == "120000";
            if let (true, Ok(name)) = (is_file, String::from_utf8(item.name)) {
                files.insert(Path::new(format!("{directory}/{name}")), BlobId(item.id.into()));
            }
        }
        Ok(files)
    }
}

/// What the object of a commit says.
pub(super) struct Written {
    /// The commits that it follows.
    pub(super) parents: Vec<CommitId>,
    /// The author's name and address.
    pub(super) author: String,
    /// When the author wrote it, as Git notes it: seconds and offset.
    pub(super) authored: String,
    /// When it was committed.
    pub(super) time: Timestamp,
    /// The encoding of the message, where it is not UTF-8.
    pub(super) encoding: Option<String>,
    /// The message as it is stored.
    pub(super) raw: Vec<u8>,
    /// The message as text.
    pub(super) message: String,
}

impl Written {
    fn read(bytes: &[u8]) -> Self {
        let end = bytes.windows(2).position(|two| two == b"\n\n");
        let (header, raw) = match end {
            Some(end) => (&bytes[..end], &bytes[end + 2..]),
            None => (bytes, &[][..]),
        };
        let header = String::from_utf8_lossy(header);
        let field = |name: &str| {
            header
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap_or_default()
        };
        // What follows the address is the time.
        let parted = |text: &str| match text.rfind('>') {
            Some(end) => (text[..=end].to_owned(), text[end + 1..].trim().to_owned()),
            None => (text.to_owned(), String::new()),
        };
        let (author, authored) = parted(field("author "));
        let (_, committed) = parted(field("committer "));
        let seconds = committed
            .split(' ')
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or_default();
        let parents = header.lines().filter_map(|line| line.strip_prefix("parent "));
        Self {
            parents: parents.map(|id| CommitId(id.into())).collect(),
            author,
            authored,
            time: Timestamp::from_second(seconds).unwrap_or_default(),
            encoding: Some(field("encoding ").to_owned()).filter(|name| !name.is_empty()),
            raw: raw.to_vec(),
            message: String::from_utf8_lossy(raw).into_owned(),
        }
    }
}
