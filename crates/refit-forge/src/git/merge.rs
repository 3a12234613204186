//! Moves the target branch forward, as a person's merge would.
//!
//! In: the branch with its commit, the commit to move to. Out: the branch moved, in a worktree, here or in the remote.

use std::path::Path;

use refit_engine::ports::{Base, CommitId, PortError, PortErrorKind};

use super::Git;
use super::complaint::failure;
use super::program;

impl Git {
    /// Moves the target branch to a descendant of where it is.
    pub(super) fn forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError> {
        if base.commit == *to {
            return Ok(());
        }
        self.check_commit(&base.commit)?;
        self.check_commit(to)?;
        if !self.is_ancestor(&base.commit, to)? {
            return Err(not_forward(base, to));
        }
        let published = self.published_branch(&base.branch)?;
        let (new, expected) = (Some(to.0.to_string()), Some(base.commit.0.to_string()));
        if self.remote.is_some() {
            return self.swap(&published, new, expected);
        }
        match self.worktree_of(&base.branch)? {
            Some(worktree) => self.merge_in(&worktree, base, to),
            None => self.update_reference(&published, new, expected),
        }
    }

    fn merge_in(&self, worktree: &Path, base: &Base, to: &CommitId) -> Result<(), PortError> {
        let current = self.commit_at(&format!("refs/heads/{}", base.branch))?;
        if current.as_ref() == Some(to) {
            return Ok(());
        }
        if current.as_ref() != Some(&base.commit) {
            return Err(not_forward(base, to));
        }
        let what = format!("could not look for changes in `{}`", worktree.display());
        let status = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=no",
            "--ignore-submodules=dirty",
        ];
        let changed = program::finish(self.program.command_in(worktree, &status), &[])?.or_fail(&what)?;
        if !changed.is_empty() && !self.holds_already(worktree, to)? {
            return Err(dirty(worktree, &base.branch, to, "has changes that are not committed"));
        }
        // A file that Git ignores is a person's all the same.
        let merge = [
            "merge",
            "--ff-only",
            "--no-overwrite-ignore",
            "--no-stat",
            "--quiet",
            &*to.0,
        ];
        let mut command = self.program.command_in(worktree, &merge);
        command.env("GIT_REFLOG_ACTION", "refit request merge");
        let output = program::finish(command, &[])?;
        if output.success {
            return Ok(());
        }
        if output.stderr.contains("would be overwritten") {
            let files = "has files in the way that git does not know";
            return Err(dirty(worktree, &base.branch, to, files).because(output.stderr.trim().to_owned()));
        }
        if output.stderr.contains("Not possible to fast-forward") {
            return Err(not_forward(base, to));
        }
        let what = format!(
            "could not merge into branch `{}` in `{}`",
            base.branch,
            worktree.display()
        );
        Err(failure(&what, &output.stderr))
    }

    /// Tells whether index and files are those of a commit already: a merge was cut before it moved the branch.
    fn holds_already(&self, worktree: &Path, to: &CommitId) -> Result<bool, PortError> {
        let index = ["diff-index", "--cached", "--quiet", &*to.0, "--"];
        let files = ["diff", "--quiet", "--no-ext-diff", "--ignore-submodules=dirty"];
        let same = |arguments: &[&str]| {
            program::finish(self.program.command_in(worktree, arguments), &[]).map(|output| output.success)
        };
        Ok(same(&index)? && same(&files)?)
    }

    /// Tells whether one commit is in the history of another.
    fn is_ancestor(&self, old: &CommitId, new: &CommitId) -> Result<bool, PortError> {
        let output = self.program.run(&["merge-base", "--is-ancestor", &old.0, &new.0])?;
        if output.success || output.stderr.is_empty() {
            return Ok(output.success);
        }
        Err(failure(&format!("could not compare {old} with {new}"), &output.stderr))
    }
}

fn not_forward(base: &Base, to: &CommitId) -> PortError {
    PortError::new(
        PortErrorKind::Moved,
        format!("branch `{}` has commits that {to} lacks", base.branch),
    )
    .hint("run `refit resume`: it computes the change anew from what is there now")
}

fn dirty(worktree: &Path, branch: &str, to: &CommitId, reason: &str) -> PortError {
    let worktree = worktree.display();
    PortError::new(
        PortErrorKind::Dirty,
        format!("branch `{branch}` is checked out in `{worktree}`, which {reason}"),
    )
    .hint(format!(
        "stash them with `git -C '{worktree}' stash --include-untracked` (move away what Git ignores), then run `git -C '{worktree}' merge --ff-only --no-overwrite-ignore {to}`; or commit them, then run `refit request merge` again"
    ))
}
