//! Opens sources for tests: no waiting, a cache of their own.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use refit_core::catalog::Catalog;
use refit_engine::ports::Releases;
use refit_source::{Credentials, Opening, Reach, Settings};

/// Gives settings that wait for nothing.
pub(crate) fn settings(cache: Option<&Path>) -> Settings {
    Settings {
        cache: cache.map(Path::to_owned),
        pause: Duration::ZERO,
        silence: Duration::from_millis(400),
        wait: |_| {},
        ..Settings::default()
    }
}

/// Opens sources.
pub(crate) fn open(sources: &[&str], settings: Settings) -> Box<dyn Releases> {
    open_as(sources, settings, Credentials::default())
}

/// Opens sources as a user.
pub(crate) fn open_as(sources: &[&str], settings: Settings, credentials: Credentials) -> Box<dyn Releases> {
    let opening = Opening {
        settings,
        credentials,
        catalog: Arc::new(Catalog::flux().unwrap()),
    };
    let sources: Vec<OsString> = sources.iter().map(OsString::from).collect();
    refit_source::open(&sources, &opening).unwrap()
}

/// The same, but no server may be asked.
pub(crate) fn offline(settings: Settings) -> Settings {
    Settings {
        reach: Reach::Offline,
        ..settings
    }
}
