//! Writes converted files, each whole or not at all, or shows what would be written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as OsPath;
use std::sync::Arc;

use refit_core::conversion::{self, Convertible, Wanted};
use refit_core::finding::{Code, Finding};
use refit_core::places::Content;
use refit_core::release::Version;
use refit_core::report::{ChangedFile, UseLine};
use refit_engine::ports::PortErrorKind;
use refit_forge::{Git, Settings};
use refit_manifest::{Entry, Path};

use super::look::{Folder, Found, Seen};
use super::target::Aim;
use crate::disk;
use crate::failure::Failure;
use crate::files::{self, Listing};
use crate::view::conversions as view;

/// What is done with a converted file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Write,
    Diff,
}

/// What was written.
#[derive(Default)]
pub(super) struct Written {
    pub(super) changed: Vec<ChangedFile>,
    /// The uses in files that must not be written.
    pub(super) refused: Vec<UseLine>,
    pub(super) findings: Vec<Finding>,
}

/// Reads the files that change once more, one at a time, and writes them; a file that cannot be written is told.
pub(super) fn write(seen: &Seen, aim: &Aim, way: Way) -> Result<Written, Failure> {
    let mut written = Written::default();
    for folder in &seen.folders {
        let mut changing: Vec<&Found> = folder
            .found
            .iter()
            .filter(|file| file.is_meant && file.changes)
            .collect();
        let filtered = filtered(folder, &changing)?;
        for file in changing.iter().filter(|file| filtered.contains(file.name.as_str())) {
            let finding = Finding::new(Code::FilteredFile, file.path.as_str(), FILTERED);
            written.findings.push(finding);
            written
                .refused
                .extend(file.uses.iter().map(|used| refused(used.line_for(&aim.version))));
        }
        changing.retain(|file| !filtered.contains(file.name.as_str()));
        let listing = folder
            .listing
            .with_names(changing.iter().map(|file| file.name.clone()).collect());
        let contents = changing.iter().map(|file| (file.name.as_str(), &file.content));
        let contents: BTreeMap<&str, &Content> = contents.collect();
        let (_, done) = files::each(&listing, |(): &mut (), name, bytes| {
            let name = name.as_str();
            let file = (name, contents.get(name).copied().unwrap_or(&Content::Objects));
            convert((&listing, &folder.wanted, &aim.version), file, bytes, way)
        });
        for one in done {
            match one {
                Ok(file) => written.changed.push(file),
                Err(finding) => written.findings.push(*finding),
            }
        }
    }
    Ok(written)
}

/// Removes what runs that were cut off left behind; gives what it removed, and what is in use or cannot be removed.
pub(super) fn clear_leftovers(seen: &Seen) -> (Vec<String>, Vec<String>) {
    let all = seen.folders.iter().flat_map(|folder| {
        let listing = &folder.listing;
        listing
            .leftovers
            .iter()
            .map(|name| (listing.root.join(name), listing.shown(name)))
    });
    let (cleared, kept): (Vec<_>, Vec<_>) = all.partition(|(path, _)| disk::clear_leftover(path));
    let names = |list: Vec<(_, String)>| list.into_iter().map(|(_, name)| name).collect();
    (names(cleared), names(kept))
}

const FILTERED: &str = "Git attributes change its bytes, so it is not written";

fn refused(mut line: UseLine) -> UseLine {
    if line.convertible == "yes" {
        line.convertible = Convertible::No(String::new()).word().to_owned();
        line.reason = Some(FILTERED.to_owned());
    }
    line
}

fn convert(
    (listing, wanted, to): (&Listing, &Wanted, &Version),
    (name, content): (&str, &Content),
    bytes: std::io::Result<&[u8]>,
    way: Way,
) -> Option<Result<ChangedFile, Box<Finding>>> {
    let shown = listing.shown(name);
    let bytes: Arc<[u8]> = match bytes {
        Ok(bytes) => bytes.into(),
        Err(error) => return Some(Err(not_written(&shown, &error))),
    };
    let path = Path::new(shown.as_str());
    let stream = refit_manifest::Stream::split(Arc::clone(&bytes)).ok()?;
    let reading = conversion::read_as(content, &path, &stream, wanted);
    if reading.bytes == bytes {
        return None;
    }
    let changes = reading.changes().map(|used| used.line_for(to)).collect();
    let diff = (way == Way::Diff).then(|| view::diff(&shown, &bytes, &reading.bytes));
    if way == Way::Write
        && let Err(error) = disk::swap(&listing.root.join(name), &bytes, &Entry::file(reading.bytes))
    {
        return Some(Err(not_written(&shown, &error)));
    }
    Some(Ok(ChangedFile {
        path: shown,
        changes,
        diff,
    }))
}

/// Says that a file stayed as it was because it could not be written.
fn not_written(path: &str, error: &std::io::Error) -> Box<Finding> {
    let remedy = match error.kind() {
        std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
            "give yourself the right to write in its folder, then run the command again: it takes up what is left"
        }
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            "make room on the disk, then run the command again: it takes up what is left"
        }
        _ => "run the command again: it takes up what is left",
    };
    let message = format!("it could not be written and stayed as it was: {error}");
    Box::new(Finding::new(Code::FileNotWritten, path, message).with_remedy(remedy))
}

/// Lists the files between whose stored and whose checked-out bytes a filter of Git stands; none outside of a repository.
fn filtered(folder: &Folder, changing: &[&Found]) -> Result<BTreeSet<String>, Failure> {
    let root = &folder.listing.root;
    let Ok(whole) = std::fs::canonicalize(root) else {
        return Ok(BTreeSet::new());
    };
    let is_in_git = whole.ancestors().any(|above| above.join(".git").exists());
    if changing.is_empty() || !is_in_git {
        return Ok(BTreeSet::new());
    }
    let git = match Git::open(&whole.display().to_string(), &Settings::default()) {
        Ok(git) => git,
        Err(error) if error.kind == PortErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) => return Err(error.into()),
    };
    let prefix = git
        .worktree()
        .and_then(|top| whole.strip_prefix(top).ok())
        .unwrap_or(OsPath::new(""));
    let full = |file: &&Found| prefix.join(file.name.as_str()).display().to_string();
    let paths: Vec<String> = changing.iter().map(full).collect();
    let filtered = git.filtered_in_worktree(&paths)?;
    let names = changing.iter().zip(&paths).filter(|(_, path)| filtered.contains(*path));
    Ok(names.map(|(file, _)| file.name.to_string()).collect())
}
