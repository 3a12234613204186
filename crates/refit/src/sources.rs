//! The sources of releases of one run.
//!
//! In: what the user named, and later what `refit.yaml` names. Out: one source. Opens nothing before it is asked for.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use refit_core::configuration;
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};
use refit_source::{Opening, Several};

use crate::failure::Failure;

/// The sources of the user, and behind them those that the repository names, which are known once it is read.
pub(crate) struct Sources {
    opening: Opening,
    named: Vec<OsString>,
    /// The folder that the repository is checked out to.
    top: Option<PathBuf>,
    said: RefCell<Vec<String>>,
    opened: RefCell<Rc<dyn Releases>>,
}

impl Sources {
    /// Opens the sources that the user named.
    pub(crate) fn open(named: Vec<OsString>, opening: Opening, top: Option<PathBuf>) -> Result<Self, Failure> {
        let first = refit_source::open(&named, &opening).map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Self {
            opening,
            named,
            top,
            said: RefCell::default(),
            opened: RefCell::new(first.into()),
        })
    }

    fn now(&self) -> Rc<dyn Releases> {
        Rc::clone(&self.opened.borrow())
    }

    /// Finds a source that the repository names; folders begin at its top, and there are none where nothing is checked out.
    fn place(&self, source: &str) -> Option<OsString> {
        if source.contains("://") {
            return Some(source.into());
        }
        Some(self.top.as_ref()?.join(source).into_os_string())
    }
}

/// A folder that the repository names where nothing is checked out.
struct Absent(String);

impl Absent {
    fn error(&self) -> PortError {
        let file = configuration::FILE;
        let message = format!("`{file}` names the folder `{}`, and nothing is checked out", self.0);
        PortError::new(PortErrorKind::NotFound, message)
            .hint("run this in a clone of the repository, or name the source with `--catalog`")
    }
}

impl Releases for Absent {
    fn location(&self) -> String {
        self.0.clone()
    }

    fn versions(&self, _: &str) -> Result<Vec<String>, PortError> {
        Err(self.error())
    }

    fn contents(&self, _: &str, _: &str) -> Result<Vec<Content>, PortError> {
        Err(self.error())
    }
}

impl Releases for Sources {
    fn location(&self) -> String {
        self.now().location()
    }

    fn extend(&self, sources: &[String]) -> Result<(), PortError> {
        if *self.said.borrow() == sources {
            return Ok(());
        }
        let mut all = self.named.clone();
        let mut absent: Vec<Box<dyn Releases>> = Vec::new();
        for source in sources {
            match self.place(source) {
                Some(place) if all.contains(&place) => {}
                Some(place) => all.push(place),
                None => absent.push(Box::new(Absent(source.clone()))),
            }
        }
        // A repository that names no source has the ones that the user named, or the public releases.
        let mut opened = match all.is_empty() && !absent.is_empty() {
            true => Vec::new(),
            false => refit_source::open_each(&all, &self.opening).map_err(|error| {
                let message = format!("a source that `{}` names cannot be used", configuration::FILE);
                PortError::new(PortErrorKind::Other, message)
                    .hint("correct `spec.catalog.sources`, see docs/configuration.md")
                    .because(error)
            })?,
        };
        opened.append(&mut absent);
        self.opened.replace(Rc::new(Several::new(opened)));
        self.said.replace(sources.to_vec());
        Ok(())
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.now().versions(platform)
    }

    fn available(&self, platform: &str) -> Result<Available, PortError> {
        self.now().available(platform)
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        self.now().contents(platform, version)
    }
}
