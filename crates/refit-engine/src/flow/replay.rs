//! Puts the commits of people on top of what was computed anew.
//!
//! In: the work, the head of the request's branch. Out: the new head, or what does not fit. Each commit is merged by
//! content: base is the file before it, ours the file after it, theirs the file as it was computed anew. Nothing is
//! dropped: where both sides changed the same thing, it stops and names commit and file.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Decision, Entry, Outcome, Path, Rule, Tree};

use super::observe;
use super::people::Branch;
use super::prepare::Work;
use crate::ports::{BlobId, Change, ChangeRequest, CommitId, CommitSummary, Listed, ListedKind};
use crate::{Error, Ports};

/// How a replay ended.
pub(super) enum Replayed {
    /// The new state.
    Head {
        /// The commit of this program.
        first: CommitId,
        /// The newest commit.
        head: CommitId,
    },
    /// What does not fit: commit, file and reason.
    Conflicts(Vec<String>),
}

type Files = BTreeMap<Path, (ListedKind, BlobId)>;

/// Writes the plan's commit and the commits of people on top of it; nothing points to them yet.
pub(super) fn replay(
    ports: &Ports<'_>,
    work: &Work,
    head: &CommitId,
    request: Option<&ChangeRequest>,
) -> Result<Replayed, Error> {
    let branch = Branch::read(ports, &work.base.commit, head, request)?;
    let first = ports
        .repository
        .commit(&work.base.commit, &observe::changes(&work.plan), &work.plan.message)?;
    let mut newest = first.clone();
    let mut people: Vec<&CommitSummary> = branch.people().collect();
    people.reverse();
    for commit in people {
        match changes(ports, work, commit, &newest)? {
            Changes::Nothing => {}
            Changes::Fit(changes) => newest = ports.repository.commit_again(&commit.id, &newest, &changes)?,
            Changes::Conflicts(conflicts) => return Ok(Replayed::Conflicts(conflicts)),
        }
    }
    Ok(Replayed::Head { first, head: newest })
}

enum Changes {
    Fit(Vec<Change>),
    /// All of it is there already.
    Nothing,
    Conflicts(Vec<String>),
}

/// Merges what a commit changed into the newest state.
fn changes(ports: &Ports<'_>, work: &Work, commit: &CommitSummary, newest: &CommitId) -> Result<Changes, Error> {
    let after = files(&ports.repository.list(&commit.id)?);
    let before = match commit.parents.first() {
        Some(parent) => files(&ports.repository.list(parent)?),
        None => Files::new(),
    };
    let now = files(&ports.repository.list(newest)?);
    let brought = brought(ports, work, commit)?;
    let paths: BTreeSet<&Path> = before.keys().chain(after.keys()).collect();
    let touched: Vec<&Path> = paths
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path) && after.get(*path) != now.get(*path))
        .filter(|path| !brought.iter().any(|files| files.get(*path) == after.get(*path)))
        .collect();
    let submodule =
        |files: &Files, path: &Path| files.get(path).is_some_and(|(kind, _)| *kind == ListedKind::Submodule);
    let said = |path: &str, reason: &str| format!("`{path}` of {}: {reason}", commit.line());
    let modules = touched
        .iter()
        .filter(|path| [&before, &after, &now].iter().any(|files| submodule(files, path)));
    let modules: Vec<String> = modules.map(|path| said(path.as_str(), "a submodule changed")).collect();
    if !modules.is_empty() {
        return Ok(Changes::Conflicts(modules));
    }
    let base = tree(ports, &before, &touched)?;
    let ours = tree(ports, &after, &touched)?;
    let theirs = tree(ports, &now, &touched)?;
    let merged = merge(&base, &ours, &theirs, &Settings::default());
    let conflicts: Vec<String> = merged
        .decisions
        .iter()
        .filter(|decision| is_lost(decision))
        .map(|decision| said(&place(decision), "the commit and the new state changed it differently"))
        .collect();
    if !conflicts.is_empty() {
        return Ok(Changes::Conflicts(conflicts));
    }
    let all: BTreeSet<&Path> = touched
        .iter()
        .copied()
        .chain(merged.tree.iter().map(|(path, _)| path))
        .collect();
    let changed = all.into_iter().filter(|path| merged.tree.get(path) != theirs.get(path));
    let changes: Vec<Change> = changed
        .map(|path| Change {
            path: path.clone(),
            entry: merged.tree.get(path).cloned(),
        })
        .collect();
    // A commit that never changed a file is there for its message, and of an amended commit of this program the message is
    // somebody's.
    let says = commit.ours || (before == after && commit.parents.len() == 1);
    Ok(if changes.is_empty() && !says {
        Changes::Nothing
    } else {
        Changes::Fit(changes)
    })
}

/// Tells whether a person's change would not stand: nobody decided, or a rule raised the older tag that a person wrote.
fn is_lost(decision: &Decision) -> bool {
    matches!(decision.outcome, Outcome::Conflict | Outcome::Blocked) || decision.rule == Rule::TagRaised
}

/// Names file, object and field.
fn place(decision: &Decision) -> String {
    let object = decision
        .object
        .as_ref()
        .map(|object| format!(" {object}"))
        .unwrap_or_default();
    let place = format!("{}{object} {}", decision.path, decision.field);
    place.trim().to_owned()
}

/// Gives the files of the commits of the target branch that a merge brought: what it has from there is nobody's change.
fn brought(ports: &Ports<'_>, work: &Work, commit: &CommitSummary) -> Result<Vec<Files>, Error> {
    let mut brought = Vec::new();
    for parent in commit.parents.iter().skip(1) {
        if ports.repository.commits_between(&work.base.commit, parent)?.is_empty() {
            brought.push(files(&ports.repository.list(parent)?));
        }
    }
    Ok(brought)
}

fn files(listed: &[Listed]) -> Files {
    let file = |item: &Listed| (item.path.clone(), (item.kind, item.blob.clone()));
    listed.iter().map(file).collect()
}

fn tree(ports: &Ports<'_>, files: &Files, paths: &[&Path]) -> Result<Tree, Error> {
    let mut tree = Tree::new();
    for path in paths {
        let Some((kind, blob)) = files.get(*path) else { continue };
        let bytes = ports.repository.read(blob)?;
        let entry = match kind {
            ListedKind::Link => Entry::Link(String::from_utf8_lossy(&bytes).into()),
            kind => Entry::File {
                bytes,
                executable: *kind == ListedKind::Executable,
            },
        };
        tree.insert((*path).clone(), entry);
    }
    Ok(tree)
}
