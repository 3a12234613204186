//! Whether a request that was computed anew is still the one that somebody reviewed.
//!
//! In: a request before and after, with the records on its branch. Out: what changed, in words. What the target branch
//! changed elsewhere, or in the files that the request changes anyway, is no other request.

use std::collections::{BTreeMap, BTreeSet};

use refit_core::record::Record;
use refit_core::release::Version;
use refit_core::snapshot;
use refit_core::stage::Stage;
use refit_manifest::Path;

use crate::ports::{BlobId, ChangeRequest, CommitId, Listed};
use crate::{Error, Ports};

/// The most files that are named.
const NAMED: usize = 5;

/// What a request does, as far as a reviewer has to look anew when it changes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reviewed {
    stage: Stage,
    to: Version,
    files: BTreeSet<Path>,
}

impl Reviewed {
    /// Looks at a request whose branch brings a record.
    pub(super) fn of(
        ports: &Ports<'_>,
        base: &CommitId,
        request: &ChangeRequest,
        record: &Record,
    ) -> Result<Self, Error> {
        Ok(Self {
            stage: record.stage,
            to: record.to.clone(),
            files: changed(ports, base, &request.head)?,
        })
    }

    /// Says how a request that was computed anew differs; `None` where nobody has to look at it again.
    pub(super) fn differs(&self, anew: &Self, title: &str) -> Option<String> {
        let mut said = Vec::new();
        if (self.stage, &self.to) != (anew.stage, &anew.to) {
            said.push(format!("it is now \"{title}\""));
        }
        let more: Vec<&Path> = anew.files.difference(&self.files).collect();
        let less: Vec<&Path> = self.files.difference(&anew.files).collect();
        if !more.is_empty() {
            said.push(format!("it changes {} too", named(&more)));
        }
        if !less.is_empty() {
            said.push(format!("it does not change {} any more", named(&less)));
        }
        (!said.is_empty()).then(|| said.join(", and "))
    }
}

fn named(paths: &[&Path]) -> String {
    let mut names: Vec<String> = paths.iter().take(NAMED).map(|path| format!("`{path}`")).collect();
    if paths.len() > NAMED {
        names.push(format!("{} more", paths.len() - NAMED));
    }
    names.join(", ")
}

/// Lists the files that a branch changes from where it left the target branch; its records come with every request.
fn changed(ports: &Ports<'_>, base: &CommitId, head: &CommitId) -> Result<BTreeSet<Path>, Error> {
    let commits = ports.repository.commits_between(base, head)?;
    let Some(start) = commits.last().and_then(|oldest| oldest.parents.first()) else {
        return Ok(BTreeSet::new());
    };
    let by_path = |listed: Vec<Listed>| -> BTreeMap<Path, BlobId> {
        listed.into_iter().map(|item| (item.path, item.blob)).collect()
    };
    let before = by_path(ports.repository.list(start)?);
    let after = by_path(ports.repository.list(head)?);
    let paths = before.keys().chain(after.keys());
    let other = paths.filter(|path| before.get(*path) != after.get(*path) && !snapshot::is_record(path));
    Ok(other.cloned().collect())
}
