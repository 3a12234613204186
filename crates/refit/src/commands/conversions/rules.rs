//! The rules of one's own that count for a path: those of its repository, and those of the command line.
//!
//! In: a path. Out: what is wanted there. A `refit.yaml` counts for the files of its own folder alone, not for those of the
//! other paths on the command line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use refit_core::configuration::{self, Configuration, Spec};
use refit_core::conversion::Wanted;
use refit_core::finding::{Code, Finding};
use refit_core::own_rules::{self, Unread};

use super::What;
use super::target::Aim;
use crate::disk;
use crate::failure::Failure;

/// The rules of one's own.
pub(super) struct Rules<'a> {
    aim: &'a Aim,
    /// The files of the command line with their bytes.
    named: Vec<(String, Arc<[u8]>)>,
    /// What is wanted by the `refit.yaml` that counts.
    known: BTreeMap<Option<PathBuf>, Arc<Wanted>>,
    /// What is wrong with rule files.
    pub(super) findings: Vec<Finding>,
}

impl<'a> Rules<'a> {
    /// Reads the files of the command line.
    pub(super) fn of(what: &What, aim: &'a Aim) -> Result<Self, Failure> {
        let mut named = Vec::new();
        for path in &what.rules {
            let entry = disk::read_file(path)?;
            let bytes = entry.bytes().cloned().unwrap_or_default();
            named.push((path.display().to_string(), bytes));
        }
        Ok(Self {
            aim,
            named,
            known: BTreeMap::new(),
            findings: Vec::new(),
        })
    }

    /// Gives what is wanted of the files below a path.
    pub(super) fn wanted(&mut self, path: &FilePath) -> Arc<Wanted> {
        let counts = configuration_of(path);
        if let Some(wanted) = self.known.get(&counts) {
            return Arc::clone(wanted);
        }
        let mut catalog = self.aim.catalog.clone();
        let mut found = Vec::new();
        if let Some(file) = &counts {
            match said(file) {
                Ok(said) => {
                    let folder = file.parent().unwrap_or(FilePath::new("."));
                    found.extend(own_rules::add(&mut catalog, &said, |name| read(folder, name)));
                }
                Err(finding) => found.push(*finding),
            }
        }
        for (name, bytes) in &self.named {
            found.extend(own_rules::add_file(&mut catalog, name, bytes));
        }
        for finding in found {
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
        let wanted = Arc::new(self.aim.wanted(&catalog));
        self.known.insert(counts, Arc::clone(&wanted));
        wanted
    }
}

/// Finds the `refit.yaml` that counts for a path: in its folder, else in those above it up to the top of its repository.
fn configuration_of(path: &FilePath) -> Option<PathBuf> {
    let whole = fs::canonicalize(path).ok()?;
    let folder = if whole.is_dir() {
        whole.as_path()
    } else {
        whole.parent()?
    };
    let is_in_repository = folder.ancestors().any(|above| above.join(".git").exists());
    for above in folder.ancestors() {
        let file = above.join(configuration::FILE);
        if file.is_file() {
            return Some(file);
        }
        if !is_in_repository || above.join(".git").exists() {
            return None;
        }
    }
    None
}

fn said(file: &FilePath) -> Result<Spec, Box<Finding>> {
    let finding = |message: String| {
        Box::new(
            Finding::new(Code::InvalidConfiguration, shown(file), message)
                .with_remedy("correct the file, see docs/configuration.md; none of its rules was used"),
        )
    };
    let bytes = disk::read_plain(file).map_err(|error| finding(format!("it cannot be read: {error}")))?;
    let said = Configuration::read(&bytes.into()).map_err(|error| {
        let cause = std::error::Error::source(&error).map(|source| format!(": {source}"));
        finding(format!("{error}{}", cause.unwrap_or_default()))
    })?;
    Ok(said.spec)
}

/// Reads a rule file that a `refit.yaml` names; links do not lead out of its folder.
fn read(folder: &FilePath, name: &str) -> Result<Arc<[u8]>, Unread> {
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Unread::Missing,
        _ => Unread::Failed(error.to_string()),
    };
    let whole = fs::canonicalize(folder.join(name)).map_err(failed)?;
    if !whole.starts_with(folder) {
        return Err(Unread::Outside);
    }
    disk::read_plain(&whole).map(Into::into).map_err(failed)
}

/// Gives a whole path as the user would write it.
fn shown(file: &FilePath) -> String {
    let here = std::env::current_dir().and_then(fs::canonicalize).ok();
    let within = here.as_ref().and_then(|here| file.strip_prefix(here).ok());
    within.unwrap_or(file).display().to_string()
}
