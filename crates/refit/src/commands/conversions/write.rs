//! Writes converted files, each whole or not at all, or shows what would be written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path as OsPath;
use std::sync::Arc;

use refit_core::conversion::{self, Convertible};
use refit_core::finding::{Code, Finding};
use refit_core::places::Content;
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

/// Reads the files that change once more, one at a time, and writes them.
///
/// A file that cannot be written is an error after all others were.
pub(super) fn write(seen: &Seen, aim: &Aim, way: Way) -> Result<Written, Failure> {
    let mut written = Written::default();
    let mut failed = Vec::new();
    for folder in &seen.folders {
        let mut changing: Vec<&Found> = folder
            .found
            .iter()
            .filter(|file| file.is_meant && file.changes)
            .collect();
        let filtered = filtered(folder, &changing)?;
        for file in changing.iter().filter(|file| filtered.contains(&file.name)) {
            let finding = Finding::new(Code::FilteredFile, file.path.as_str(), FILTERED);
            written.findings.push(finding);
            written
                .refused
                .extend(file.uses.iter().map(|used| refused(used.line_for(&aim.version))));
        }
        changing.retain(|file| !filtered.contains(&file.name));
        let listing = Listing {
            root: folder.listing.root.clone(),
            is_file: folder.listing.is_file,
            names: changing.iter().map(|file| file.name.clone()).collect(),
            links: Vec::new(),
            odd: Vec::new(),
        };
        let contents: BTreeMap<&str, &Content> = changing
            .iter()
            .map(|file| (file.name.as_str(), &file.content))
            .collect();
        let (_, done) = files::each(&listing, |(): &mut (), name, bytes| {
            let content = contents.get(name).copied().unwrap_or(&Content::Objects);
            convert(&listing, (name, bytes, content), aim, way)
        });
        for one in done {
            match one {
                Ok(file) => written.changed.push(file),
                Err(failure) => failed.push(failure),
            }
        }
    }
    match failed.into_iter().next() {
        Some(failure) => Err(failure.hint(format!("{} other files were converted", written.changed.len()))),
        None => Ok(written),
    }
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
    listing: &Listing,
    (name, bytes, content): (&str, std::io::Result<&[u8]>, &Content),
    aim: &Aim,
    way: Way,
) -> Option<Result<ChangedFile, Failure>> {
    let shown = listing.shown(name);
    let bytes: Arc<[u8]> = match bytes {
        Ok(bytes) => bytes.into(),
        Err(error) => {
            return Some(Err(Failure::new(format!("could not read `{shown}`")).caused_by(&error)));
        }
    };
    let path = Path::new(shown.as_str());
    let stream = refit_manifest::Stream::split(Arc::clone(&bytes)).ok()?;
    let reading = conversion::read_as(content, &path, &stream, &aim.wanted);
    if reading.bytes == bytes {
        return None;
    }
    let file = ChangedFile {
        changes: reading.changes().map(|used| used.line_for(&aim.version)).collect(),
        diff: (way == Way::Diff).then(|| view::diff(&shown, &bytes, &reading.bytes)),
        path: shown,
    };
    if way == Way::Write
        && let Err(failure) = disk::write_file(&listing.root.join(name), &Entry::file(reading.bytes))
    {
        return Some(Err(failure));
    }
    Some(Ok(file))
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
    let full = |file: &&Found| prefix.join(&file.name).display().to_string();
    let paths: Vec<String> = changing.iter().map(full).collect();
    let filtered = git.filtered_in_worktree(&paths)?;
    let names = changing.iter().zip(&paths).filter(|(_, path)| filtered.contains(*path));
    Ok(names.map(|(file, _)| file.name.clone()).collect())
}
