//! The release that the files are meant for, and what it wants.

use refit_core::catalog::Catalog;
use refit_core::conversion::Wanted;
use refit_core::finding::{Code, Finding};
use refit_core::release::{Series, Version};
use refit_manifest::Stream;

use super::What;
use crate::args::Global;
use crate::failure::Failure;
use crate::wiring;

/// A release and what it wants.
pub(super) struct Aim {
    pub(super) version: Version,
    /// What is known of releases, without rules of one's own.
    pub(super) catalog: Catalog,
    /// The manifests of the release, where the catalog does not know it.
    manifests: Vec<Stream>,
    pub(super) findings: Vec<Finding>,
}

impl Aim {
    /// Gives what is wanted by a catalog that has rules of one's own.
    pub(super) fn wanted(&self, catalog: &Catalog) -> Wanted {
        if self.manifests.is_empty() {
            Wanted::of(catalog, &self.version)
        } else {
            Wanted::of_manifests(catalog, &self.version, &self.manifests)
        }
    }
}

/// Finds the release that is named; one that is newer than the catalog is read from a source of releases.
pub(super) fn of(what: &What, global: &Global) -> Result<Aim, Failure> {
    let platform = what.to.platform.as_deref().unwrap_or("flux");
    if platform != "flux" {
        return Err(
            Failure::usage(format!("nothing is known about the API versions of `{platform}`"))
                .hint("the only platform so far is `flux`"),
        );
    }
    let catalog = wiring::built_in()?;
    let version = version(what, &catalog)?;
    if catalog.is_older_than(&version) {
        return newer(catalog, version, global);
    }
    Ok(Aim {
        catalog,
        version,
        manifests: Vec::new(),
        findings: Vec::new(),
    })
}

fn version(what: &What, catalog: &Catalog) -> Result<Version, Failure> {
    let Some(text) = what.to.version.as_deref() else {
        return Err(Failure::usage("which version?").hint("write it like `--to flux@v2.9.4`"));
    };
    if let Some(series) = series(text) {
        let newest = catalog.newest_in(series).cloned();
        return newest.ok_or_else(|| {
            Failure::usage(format!("no release of {series} is known"))
                .hint("name a whole version, such as `flux@v2.9.4`")
        });
    }
    let version = Version::parse(text).map_err(|error| Failure::usage(error.to_string()))?;
    if !catalog.knows(&version) && !catalog.is_older_than(&version) {
        let newest = catalog
            .newest_in(version.series())
            .map(|newest| format!("; the newest of {} is {newest}", version.series()));
        return Err(Failure::usage(format!(
            "there is no release {version} of flux{}",
            newest.unwrap_or_default()
        ))
        .hint("`refit version` tells up to which release the data goes"));
    }
    Ok(version)
}

/// Reads `v2.9` or `2.9`.
fn series(text: &str) -> Option<Series> {
    let (major, minor) = text.trim_start_matches('v').split_once('.')?;
    Some(Series {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
    })
}

fn newer(catalog: Catalog, version: Version, global: &Global) -> Result<Aim, Failure> {
    let releases = wiring::releases(&wiring::named(global), global)?;
    let contents = releases.contents("flux", &version.to_string())?;
    let split = |content: &refit_engine::ports::Content| {
        Stream::split(content.bytes.clone())
            .map_err(|error| Failure::new(format!("could not read {}", content.origin)).caused_by(&error))
    };
    let streams = contents.iter().map(split).collect::<Result<Vec<_>, _>>()?;
    let newest = catalog.newest().map(ToString::to_string).unwrap_or_default();
    let message = format!(
        "the data goes up to {newest}; API versions of {version} were read from {}",
        releases.location()
    );
    Ok(Aim {
        catalog,
        manifests: streams,
        findings: vec![Finding::new(Code::CatalogOlderThanTarget, version.to_string(), message)],
        version,
    })
}
