//! The edge to Git and to forges: repositories and change requests behind the ports of `refit-engine`.
//!
//! In: a path or URL, [`Settings`]. Out: a [`Git`] repository, and the [`BuiltIn`] forge that keeps its requests in it.
//! Knows neither Kubernetes nor the terminal.
//!
//! # How Git is used
//! The `git` program (2.31 or later) does the work, through its plumbing: one `git cat-file --batch` process answers all
//! reads of objects and references, `git fast-import` takes the blobs of a commit in one go, `git mktree --batch` its
//! trees, `git commit-tree` makes (and signs) it. So every object format, reference backend, alternate, partial clone,
//! credential helper, proxy and signing program of the user works, and a whole upgrade starts about ten processes of 2 ms
//! each. A library such as `gix` would start none of them, but know fewer formats, sign nothing, and still need `git` for
//! everything on the network. Nothing is ever checked out, save by `git merge --ff-only` in [`fast_forward`].
//!
//! Objects are written first and a reference moves last, by compare-and-swap: a kill at any point leaves objects that
//! nothing points to, which `git gc` collects. Hooks do not run. Author, committer and signature follow the user's Git
//! configuration; an identity is never made up from the host's name.
//!
//! # Where branches and notes live
//! Without a remote: in `refs/heads/` and `refs/refit/` of the repository. With one: in the remote, read from
//! `refs/remotes/<remote>/` and `refs/refit-remote/<remote>/` after a fetch with explicit refspecs, and written by a push
//! with a lease; local branches are not moved. The remote is the one that [`Settings::remote`] names, the only one, the
//! upstream's of the current branch, or `origin`, in this order.
//!
//! # Protocols
//! https and ssh, and local paths unless [`Protocols::NetworkOnly`]; a `GIT_ALLOW_PROTOCOL` of the user's environment
//! stands instead. URLs never reach a command as options, and messages show none of their credentials.
//!
//! [`fast_forward`]: refit_engine::ports::Repository::fast_forward

mod builtin;
mod git;

pub use builtin::BuiltIn;
pub use git::{Git, Prompt, Protocols, Settings, SignOff};
