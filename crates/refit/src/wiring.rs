//! Puts the real edges behind the engine's ports.
//!
//! In: the global options and the environment. Out: [`Edges`]. Decides nothing about upgrades.

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use refit_core::catalog::Catalog;
use refit_engine::Ports;
use refit_engine::ports::{Clock, Content, PortError, PortErrorKind, Releases};
use refit_forge::{BuiltIn, Git, Prompt, Protocols, Settings, SignOff};

use refit_source::Directory;

use crate::args::Global;
use crate::failure::Failure;

/// The edges of one run.
pub(crate) struct Edges {
    git: Git,
    releases: Box<dyn Releases>,
    catalog: Catalog,
}

impl Edges {
    /// Opens repository and catalog.
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        let location = global.repo.as_deref().unwrap_or(".");
        let git = Git::open(location, &settings(global))?;
        Ok(Self {
            git,
            releases: releases(global),
            catalog: built_in()?,
        })
    }

    /// Gives the folder that the repository is checked out to; `None` for a bare one or a URL.
    pub(crate) fn worktree(&self) -> Option<&Path> {
        self.git.worktree()
    }

    /// Lists the sources of releases that the user named, as `refit.yaml` would name them: folders of the repository
    /// relative to its top.
    pub(crate) fn named_sources(&self, global: &Global) -> Vec<String> {
        let named = global.catalog.iter().filter(|folder| !folder.as_os_str().is_empty());
        named.map(|folder| self.named_source(folder)).collect()
    }

    fn named_source(&self, folder: &Path) -> String {
        let whole = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let within = self.worktree().and_then(|top| whole.strip_prefix(top).ok());
        within.unwrap_or(&whole).display().to_string()
    }

    /// Runs a flow of the engine.
    pub(crate) fn run<T>(&self, flow: impl FnOnce(&Ports<'_>) -> Result<T, refit_engine::Error>) -> Result<T, Failure> {
        let forge = BuiltIn::new(&self.git);
        let ports = Ports {
            repository: &self.git,
            forge: &forge,
            releases: &*self.releases,
            clock: &SystemClock,
            catalog: &self.catalog,
        };
        flow(&ports).map_err(Failure::from)
    }
}

/// Reads what is known about releases.
pub(crate) fn built_in() -> Result<Catalog, Failure> {
    Catalog::flux().map_err(|error| Failure::new("the built-in catalog cannot be read").caused_by(&error))
}

/// Opens the folder of releases that the user named; without one no release is known.
pub(crate) fn releases(global: &Global) -> Box<dyn Releases> {
    match &global.catalog {
        Some(folder) if !folder.as_os_str().is_empty() => Box::new(Directory::new(folder)),
        _ => Box::new(NoCatalog),
    }
}

/// Stands where no catalog was named: it has no version of anything.
struct NoCatalog;

impl Releases for NoCatalog {
    fn location(&self) -> String {
        "any catalog, since none was named".into()
    }

    fn versions(&self, _: &str) -> Result<Vec<String>, PortError> {
        Ok(Vec::new())
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let message = format!("the contents of {platform} {version} are nowhere to be found: no catalog was named");
        Err(PortError::new(PortErrorKind::NotFound, message)
            .hint("name the folder that holds releases with `--catalog DIR` or `REFIT_CATALOG`"))
    }
}

fn settings(global: &Global) -> Settings {
    let terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
    Settings {
        prompt: if terminal { Prompt::Allowed } else { Prompt::Never },
        protocols: Protocols::WithLocal,
        cache: cache(),
        sign_off: if global.signoff {
            SignOff::Committer
        } else {
            SignOff::Absent
        },
        ..Settings::default()
    }
}

/// Gives the folder for what can be fetched again.
fn cache() -> Option<PathBuf> {
    let variable = |name| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let caches = variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(".cache")));
    caches.map(|caches| caches.join("refit"))
}

/// The clock of this machine.
struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::now()
    }
}
