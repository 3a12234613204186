//! Published branches and notes: where they are, and how they move.
//!
//! In: names and expected values. Out: references moved by compare-and-swap, here or in the remote. Knows nothing of what
//! the commits and notes hold.

use std::path::PathBuf;

use refit_engine::ports::{Base, PortError, PortErrorKind};

use super::Git;
use super::complaint::failure;
use super::names::check_reference;
use super::open::os_string;

/// A branch or note at the place where others see it.
pub(super) struct Published {
    /// What it is, for messages.
    pub(super) what: String,
    /// The branch, where it is one.
    pub(super) branch: Option<String>,
    /// The reference in the place of publication.
    pub(super) reference: String,
    /// The reference that it is read from here; the same where there is no remote.
    pub(super) tracking: String,
}

impl Git {
    /// Says where a branch is published.
    pub(super) fn published_branch(&self, name: &str) -> Result<Published, PortError> {
        check_reference(name)?;
        let reference = format!("refs/heads/{name}");
        Ok(Published {
            what: format!("branch `{name}`"),
            branch: Some(name.to_owned()),
            tracking: match &self.remote {
                Some(remote) => format!("refs/remotes/{remote}/{name}"),
                None => reference.clone(),
            },
            reference,
        })
    }

    /// Says where a note is published.
    pub(super) fn published_note(&self, name: &str) -> Result<Published, PortError> {
        check_reference(name)?;
        Ok(Published {
            what: format!("note `{name}`"),
            branch: None,
            reference: format!("refs/refit/{name}"),
            tracking: format!("{}/{name}", self.notes_root()),
        })
    }

    /// Gives the reference below which notes are read.
    fn notes_root(&self) -> String {
        match &self.remote {
            Some(remote) => format!("refs/refit-remote/{remote}"),
            None => "refs/refit".to_owned(),
        }
    }

    /// Lists the names of the published branches below a prefix.
    pub(super) fn branch_names(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        let root = match &self.remote {
            Some(remote) => format!("refs/remotes/{remote}"),
            None => "refs/heads".to_owned(),
        };
        self.names_below(&root, prefix, "branches")
    }

    /// Lists the names of the notes below a prefix.
    pub(super) fn note_names(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.names_below(&self.notes_root(), prefix, "notes")
    }

    fn names_below(&self, root: &str, prefix: &str, kind: &str) -> Result<Vec<String>, PortError> {
        let prefix = prefix.trim_end_matches('/');
        let below = if prefix.is_empty() {
            root.to_owned()
        } else {
            check_reference(prefix)?;
            format!("{root}/{prefix}")
        };
        let what = format!("could not list the {kind} of {}", self.location);
        let listed = self
            .program
            .ask(&what, &["for-each-ref", "--format=%(refname)", &below])?;
        let text = String::from_utf8_lossy(&listed);
        let names = text
            .lines()
            .filter_map(|line| line.strip_prefix(root)?.strip_prefix('/'));
        Ok(names.map(str::to_owned).collect())
    }

    /// Gives the id of the object that a reference names.
    pub(super) fn id_at(&self, reference: &str) -> Result<Option<String>, PortError> {
        Ok(self.named(reference, "")?.map(|object| object.id))
    }

    /// Writes or removes a note, if it has the expected content.
    pub(super) fn swap_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError> {
        let published = self.published_note(name)?;
        self.sync(None)?;
        let current = self.note_at(&published.tracking)?;
        let content = current.as_ref().map(|blob| blob.bytes.as_slice());
        if content == new {
            let id = current.map(|blob| blob.id);
            // A remote may have moved on since it was fetched; the push tells.
            return if self.remote.is_some() {
                self.swap(&published, id.clone(), id)
            } else {
                Ok(())
            };
        }
        if content != expected {
            return Err(moved(&published.what, "has another content than expected"));
        }
        let new = match new {
            Some(bytes) => Some(self.write_blob(bytes)?),
            None => None,
        };
        self.swap(&published, new, current.map(|blob| blob.id))
    }

    /// Moves a published reference from the expected to the new value; `None` is its absence.
    pub(super) fn swap(
        &self,
        published: &Published,
        new: Option<String>,
        expected: Option<String>,
    ) -> Result<(), PortError> {
        if let Some(remote) = &self.remote {
            return self.push(remote, published, new, expected);
        }
        let current = self.id_at(&published.reference)?;
        if current == new {
            return Ok(());
        }
        if current != expected {
            return Err(other_value(published, expected.as_deref(), current.as_deref()));
        }
        if let Some(branch) = published.branch.as_deref().filter(|_| current.is_some()) {
            self.refuse_checked_out(branch)?;
        }
        self.update_reference(published, new, expected)
    }

    /// Moves a reference of this repository; a failure is told apart by what the reference is afterwards.
    pub(super) fn update_reference(
        &self,
        published: &Published,
        new: Option<String>,
        expected: Option<String>,
    ) -> Result<(), PortError> {
        let reference = published.reference.as_str();
        // An empty old value means that the reference must not exist.
        let old = expected.as_deref().unwrap_or_default();
        // What a symbolic reference points to is somebody else's; the target branch may well be one.
        let own = ["refs/heads/refit/", "refs/refit/"]
            .iter()
            .any(|own| reference.starts_with(own));
        let mut arguments = vec!["update-ref"];
        arguments.extend(own.then_some("--no-deref"));
        match &new {
            Some(new) => arguments.extend(["-m", "refit: publish", reference, new, old]),
            None => arguments.extend(["-d", reference, old]),
        }
        let output = self.program.run(&arguments)?;
        if output.success {
            return Ok(());
        }
        let current = self.id_at(reference)?;
        if current == new {
            return Ok(());
        }
        if current != expected {
            return Err(other_value(published, expected.as_deref(), current.as_deref()));
        }
        let what = format!("could not move {} in {}", published.what, self.location);
        Err(failure(&what, &output.stderr))
    }

    /// Refuses to move a branch below somebody's feet.
    fn refuse_checked_out(&self, branch: &str) -> Result<(), PortError> {
        let Some(worktree) = self.worktree_of(branch)? else {
            return Ok(());
        };
        let worktree = worktree.display();
        Err(PortError::new(
            PortErrorKind::Dirty,
            format!("branch `{branch}` is checked out in `{worktree}`"),
        )
        .hint(format!(
            "leave it with `git -C '{worktree}' switch --detach`, then run this again"
        )))
    }

    /// Gives the worktree that a branch is checked out in.
    pub(super) fn worktree_of(&self, branch: &str) -> Result<Option<PathBuf>, PortError> {
        let reference = format!("refs/heads/{branch}");
        let what = format!("could not ask where branch `{branch}` is checked out");
        let arguments = ["for-each-ref", "--format=%(refname)%00%(worktreepath)%00", &reference];
        let listed = self.program.ask(&what, &arguments)?;
        let mut fields = listed.split(|byte| *byte == 0);
        let path = match (fields.next(), fields.next()) {
            (Some(name), Some(path)) if name == reference.as_bytes() && !path.is_empty() => path,
            _ => return Ok(None),
        };
        let path = PathBuf::from(os_string(path.to_vec()));
        // A bare repository counts as a worktree of its HEAD for Git.
        let is_bare = self.bare && (path == self.common || path.join(".git") == self.common);
        Ok((!is_bare && path.exists()).then_some(path))
    }

    /// Resolves the target branch of a repository without a remote.
    pub(super) fn local_base(&self, branch: &str) -> Result<Base, PortError> {
        check_reference(branch)?;
        let reference = format!("refs/heads/{branch}");
        let commit = self.commit_at(&reference)?.ok_or_else(|| {
            let damaged = self.lost("the commit of", &reference);
            if damaged.kind == PortErrorKind::Corrupt {
                return damaged;
            }
            let lost = PortErrorKind::NotFound;
            match self.has_commits() {
                Ok(true) | Err(_) => {
                    PortError::new(lost, format!("there is no branch `{branch}` in {}", self.location))
                        .hint("choose one of `git branch` with `--base BRANCH`")
                }
                Ok(false) => PortError::new(lost, format!("the repository {} has no commit yet", self.location))
                    .hint("commit the platform's files first, or name another repository with `--repo`"),
            }
        })?;
        Ok(Base {
            branch: branch.to_owned(),
            commit,
        })
    }

    fn has_commits(&self) -> Result<bool, PortError> {
        let what = format!("could not list the branches of {}", self.location);
        let arguments = ["for-each-ref", "--count=1", "refs/heads", "refs/remotes"];
        Ok(!self.program.ask(&what, &arguments)?.is_empty())
    }

    /// Gives the branch that HEAD names, born or not.
    pub(super) fn head_branch(&self) -> Result<String, PortError> {
        let head = self.program.run(&["symbolic-ref", "--quiet", "HEAD"])?;
        let name = String::from_utf8_lossy(&head.stdout).trim_end().to_owned();
        match name.strip_prefix("refs/heads/") {
            Some(branch) => Ok(branch.to_owned()),
            None => Err(PortError::new(
                PortErrorKind::NotFound,
                format!("HEAD of {} is on no branch", self.location),
            )
            .hint("name the target branch with `--base BRANCH`, or check one out with `git switch`")),
        }
    }
}

/// Says that somebody else moved a reference.
pub(super) fn other_value(published: &Published, expected: Option<&str>, current: Option<&str>) -> PortError {
    let short = |id: &str| id.get(..10).unwrap_or(id).to_owned();
    let detail = match (expected, current) {
        (_, None) => "was removed meanwhile".to_owned(),
        (None, Some(current)) => format!("exists already, at {}", short(current)),
        (Some(expected), Some(current)) => format!("is at {}, not at {}", short(current), short(expected)),
    };
    moved(&published.what, &detail)
}

fn moved(what: &str, detail: &str) -> PortError {
    PortError::new(PortErrorKind::Moved, format!("{what} {detail}"))
        .hint("run the command again: it starts from what is there now")
}
