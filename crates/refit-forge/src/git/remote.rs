//! Fetches from the remote and pushes to it.
//!
//! In: the name of a remote, references with expected values. Out: remote-tracking references, pushed references. Knows
//! the network only through the `git` program.

use refit_engine::ports::{Base, PortError, PortErrorKind};

use super::Git;
use super::complaint::failure;
use super::names::check_reference;
use super::program::Output;
use super::refs::{Published, other_value};

/// The branches of change requests are fetched together, by pattern.
const OURS: &str = "refit/";

impl Git {
    /// Chooses the remote to work with.
    pub(super) fn choose_remote(&self, wanted: Option<&str>) -> Result<Option<String>, PortError> {
        let remotes = self.config.remotes();
        if let Some(wanted) = wanted {
            let known = remotes.contains(wanted);
            return known.then(|| Some(wanted.to_owned())).ok_or_else(|| {
                let message = format!("{} has no remote `{wanted}`", self.location);
                PortError::new(PortErrorKind::NotFound, message).hint("choose one of `git remote`")
            });
        }
        if remotes.len() < 2 {
            return Ok(remotes.into_iter().next());
        }
        let upstream = self.head_branch().ok().and_then(|branch| {
            let upstream = self.config.get(&format!("branch.{branch}.remote"))?;
            remotes.get(upstream).cloned()
        });
        if let Some(chosen) = upstream.or_else(|| remotes.get("origin").cloned()) {
            return Ok(Some(chosen));
        }
        let names: Vec<_> = remotes.iter().map(|name| format!("`{name}`")).collect();
        Err(PortError::new(
            PortErrorKind::NotFound,
            format!("{} has several remotes: {}", self.location, names.join(", ")),
        )
        .hint(
            "choose one with `git branch --set-upstream-to NAME/BRANCH`: the upstream's remote is taken, else `origin`",
        ))
    }

    /// Fetches and resolves the target branch: the wanted one, else the remote's default.
    pub(super) fn remote_base(&self, remote: &str, wanted: Option<&str>) -> Result<Base, PortError> {
        if let Some(branch) = wanted {
            check_reference(branch)?;
            return self.fetched_base(remote, branch);
        }
        if let Some(noted) = self.noted_default(remote)? {
            match self.fetched_base(remote, &noted) {
                // What was noted at the clone may have been renamed.
                Err(error) if error.kind == PortErrorKind::NotFound => {}
                answer => return answer,
            }
        }
        let branch = self.asked_default(remote)?;
        self.fetched_base(remote, &branch)
    }

    fn fetched_base(&self, remote: &str, branch: &str) -> Result<Base, PortError> {
        self.fetch(remote, Some(branch))?;
        match self.commit_at(&format!("refs/remotes/{remote}/{branch}"))? {
            Some(commit) => Ok(Base {
                branch: branch.to_owned(),
                commit,
            }),
            None => Err(PortError::new(
                PortErrorKind::NotFound,
                format!("remote `{remote}` of {} has no branch `{branch}`", self.location),
            )
            .hint(format!(
                "choose one of `git ls-remote --heads {remote}` with `--base BRANCH`, or push it first"
            ))),
        }
    }

    /// Gives the default branch that a clone or `git remote set-head` noted.
    fn noted_default(&self, remote: &str) -> Result<Option<String>, PortError> {
        let prefix = format!("refs/remotes/{remote}/");
        let head = self
            .program
            .run(&["symbolic-ref", "--quiet", &format!("{prefix}HEAD")])?;
        let name = String::from_utf8_lossy(&head.stdout).trim_end().to_owned();
        Ok(name.strip_prefix(&prefix).map(str::to_owned))
    }

    /// Asks the remote for its default branch.
    fn asked_default(&self, remote: &str) -> Result<String, PortError> {
        let what = format!(
            "could not ask remote `{remote}` of {} for its default branch",
            self.location
        );
        let listed = self
            .program
            .ask(&what, &["ls-remote", "--symref", "--", remote, "HEAD"])?;
        let text = String::from_utf8_lossy(&listed);
        let branch = text.lines().find_map(|line| {
            let (name, _) = line.strip_prefix("ref: refs/heads/")?.split_once('\t')?;
            Some(name.to_owned())
        });
        branch.ok_or_else(|| {
            PortError::new(
                PortErrorKind::NotFound,
                format!(
                    "remote `{remote}` of {} has no default branch, perhaps no commit yet",
                    self.location
                ),
            )
            .hint("name the target branch with `--base BRANCH`, or push the platform's files first")
        })
    }

    /// Fetches where it was not done yet: requests, notes, and the branch that is asked for.
    pub(super) fn sync(&self, branch: Option<&str>) -> Result<(), PortError> {
        let Some(remote) = &self.remote else {
            return Ok(());
        };
        let known = self
            .fetched()
            .as_ref()
            .is_some_and(|known| branch.is_none_or(|name| name.starts_with(OURS) || known.contains(name)));
        if known { Ok(()) } else { self.fetch(remote, branch) }
    }

    /// Fetches requests, notes and a branch; a branch that the remote lacks is forgotten here, too.
    fn fetch(&self, remote: &str, branch: Option<&str>) -> Result<(), PortError> {
        let branch = branch.filter(|name| !name.starts_with(OURS));
        let mut output = self.fetch_once(remote, branch)?;
        if let Some(name) = branch
            && !output.success
            && output.stderr.contains("couldn't find remote ref")
        {
            let stale = format!("refs/remotes/{remote}/{name}");
            self.program
                .ask("could not forget a branch", &["update-ref", "-d", &stale])?;
            output = self.fetch_once(remote, None)?;
        }
        output.or_fail(&format!("could not fetch from remote `{remote}` of {}", self.location))?;
        let mut fetched = self.fetched();
        fetched.get_or_insert_default().extend(branch.map(str::to_owned));
        Ok(())
    }

    fn fetch_once(&self, remote: &str, branch: Option<&str>) -> Result<Output, PortError> {
        let mut arguments: Vec<String> = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--prune",
            "--no-prune-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--refmap=",
            "--",
            remote,
        ]
        .map(str::to_owned)
        .into();
        let heads = |name: &str| format!("+refs/heads/{name}:refs/remotes/{remote}/{name}");
        arguments.extend(branch.map(heads));
        arguments.push(heads("refit/*"));
        arguments.push(format!("+refs/refit/*:refs/refit-remote/{remote}/*"));
        self.program.run(&arguments)
    }

    /// Pushes a reference if the remote still has the expected value.
    pub(super) fn push(
        &self,
        remote: &str,
        published: &Published,
        new: Option<String>,
        expected: Option<String>,
    ) -> Result<(), PortError> {
        let reference = &published.reference;
        let lease = format!(
            "--force-with-lease={reference}:{}",
            expected.as_deref().unwrap_or_default()
        );
        let what = format!("{}:{reference}", new.as_deref().unwrap_or_default());
        let output = self.program.run(&[
            "push",
            "--porcelain",
            "--no-verify",
            "--no-follow-tags",
            "--recurse-submodules=no",
            &lease,
            "--",
            remote,
            &what,
        ])?;
        if output.success {
            return self.track(published, new.as_deref());
        }
        // The remote tells what is there now, whatever the push said: it may even have arrived.
        *self.fetched() = None;
        self.sync(published.branch.as_deref())?;
        let current = self.id_at(&published.tracking)?;
        if current == new {
            return Ok(());
        }
        if current != expected {
            return Err(other_value(published, expected.as_deref(), current.as_deref()));
        }
        let complaint = format!("{}{}", String::from_utf8_lossy(&output.stdout), output.stderr);
        let what = format!(
            "could not push {} to remote `{remote}` of {}",
            published.what, self.location
        );
        Err(failure(&what, &complaint))
    }

    /// Notes here what was pushed; where that fails, the next read fetches.
    fn track(&self, published: &Published, new: Option<&str>) -> Result<(), PortError> {
        let tracking = published.tracking.as_str();
        let output = match new {
            Some(new) => self
                .program
                .run(&["update-ref", "-m", "refit: pushed", tracking, new])?,
            None => self.program.run(&["update-ref", "-d", tracking])?,
        };
        if !output.success {
            *self.fetched() = None;
        }
        Ok(())
    }
}
