//! Puts the real edges behind the engine's ports.
//!
//! In: the global options and the environment. Out: [`Edges`]. Decides nothing about upgrades.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_engine::Ports;
use refit_engine::ports::{Clock, Releases};
use refit_forge::{BuiltIn, Git, Prompt, Protocols, Settings, SignOff};
use refit_source::{Credentials, Opening, Reach};

use crate::args::Global;
use crate::failure::Failure;
use crate::sources::Sources;

/// The edges of one run.
pub(crate) struct Edges {
    git: Git,
    releases: Sources,
    catalog: Catalog,
}

impl Edges {
    /// Opens repository and catalog.
    pub(crate) fn open(global: &Global) -> Result<Self, Failure> {
        let location = global.repo.as_deref().unwrap_or(".");
        let git = Git::open(location, &settings(global))?;
        let top = git.worktree().map(Path::to_owned);
        Ok(Self {
            git,
            releases: Sources::open(named(global), opening(global)?, top)?,
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
        named(global).iter().map(|source| self.named_source(source)).collect()
    }

    fn named_source(&self, source: &OsStr) -> String {
        if let Some(url) = refit_source::shown(source) {
            return url;
        }
        let folder = Path::new(source);
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
            releases: &self.releases,
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

/// Lists the sources of releases that the user named: the options, else the parts of `REFIT_CATALOG`.
pub(crate) fn named(global: &Global) -> Vec<OsString> {
    let filled = |source: &OsString| !source.is_empty();
    if global.catalog.iter().any(filled) {
        return global.catalog.iter().filter(|source| filled(source)).cloned().collect();
    }
    let Some(variable) = std::env::var_os("REFIT_CATALOG").filter(filled) else {
        return Vec::new();
    };
    match variable.to_str() {
        Some(text) => {
            let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
            parts.map(OsString::from).collect()
        }
        None => vec![variable],
    }
}

/// Opens sources of releases as one; without any, the public releases.
pub(crate) fn releases(sources: &[OsString], global: &Global) -> Result<Box<dyn Releases>, Failure> {
    refit_source::open(sources, &opening(global)?).map_err(|error| Failure::usage(error.to_string()))
}

/// Opens sources of releases, each by itself.
pub(crate) fn each_of(sources: &[OsString], global: &Global) -> Result<Vec<Box<dyn Releases>>, Failure> {
    refit_source::open_each(sources, &opening(global)?).map_err(|error| Failure::usage(error.to_string()))
}

fn opening(global: &Global) -> Result<Opening, Failure> {
    let reach = if global.offline || is_set("REFIT_OFFLINE") {
        Reach::Offline
    } else {
        Reach::Online
    };
    Ok(Opening {
        settings: refit_source::Settings {
            reach,
            cache: cache(),
            ..refit_source::Settings::default()
        },
        credentials: Credentials::of_environment(),
        catalog: Arc::new(built_in()?),
    })
}

/// Tells whether a variable says yes. Clap would take a variable for an option, and print no help without a command.
fn is_set(name: &str) -> bool {
    let value = std::env::var(name).unwrap_or_default().to_ascii_lowercase();
    !["", "0", "false", "no", "off"].contains(&value.trim())
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
