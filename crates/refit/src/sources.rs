//! The sources of releases of one run.
//!
//! In: what the user named, and later what `refit.yaml` names. Out: one source. Opens nothing before it is asked for.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::PathBuf;
use std::rc::Rc;

use refit_core::configuration;
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};
use refit_source::Opening;

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

    /// Finds a source that the repository names; folders begin at its top.
    fn place(&self, source: &str) -> Result<OsString, PortError> {
        if source.contains("://") {
            return Ok(source.into());
        }
        let Some(top) = &self.top else {
            let message = format!(
                "`{}` names the folder `{source}`, and nothing is checked out",
                configuration::FILE
            );
            return Err(PortError::new(PortErrorKind::NotFound, message)
                .hint("run this in a clone of the repository, or name the source with `--catalog`"));
        };
        Ok(top.join(source).into_os_string())
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
        for source in sources {
            let place = self.place(source)?;
            if !all.contains(&place) {
                all.push(place);
            }
        }
        let opened = refit_source::open(&all, &self.opening).map_err(|error| {
            let message = format!("a source that `{}` names cannot be used", configuration::FILE);
            PortError::new(PortErrorKind::Other, message)
                .hint("correct `spec.catalog.sources`, see docs/configuration.md")
                .because(error)
        })?;
        self.opened.replace(opened.into());
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
