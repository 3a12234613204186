//! The release that the files are meant for, and what it wants.

use std::path::Path as FilePath;
use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::configuration::{self, Configuration};
use refit_core::conversion::Wanted;
use refit_core::finding::{Code, Finding};
use refit_core::own_rules;
use refit_core::release::{Series, Version};
use refit_manifest::{Entry, Stream};

use super::What;
use crate::args::Global;
use crate::disk;
use crate::failure::Failure;
use crate::wiring;

/// A release and what it wants.
pub(super) struct Aim {
    pub(super) version: Version,
    pub(super) catalog: Catalog,
    pub(super) wanted: Wanted,
    pub(super) findings: Vec<Finding>,
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
    let mut catalog = wiring::built_in()?;
    add_rules(&mut catalog, what)?;
    let version = version(what, &catalog)?;
    if catalog.is_older_than(&version) {
        return newer(catalog, version, global);
    }
    Ok(Aim {
        wanted: Wanted::of(&catalog, &version),
        catalog,
        version,
        findings: Vec::new(),
    })
}

/// Adds the rules that `refit.yaml` in one of the folders names, and those of the command line.
fn add_rules(catalog: &mut Catalog, what: &What) -> Result<(), Failure> {
    for folder in what.paths.iter().filter(|path| path.is_dir()) {
        let Some(bytes) = bytes_of(&folder.join(configuration::FILE)) else {
            continue;
        };
        let shown = folder.join(configuration::FILE).display().to_string();
        let said = Configuration::read(&bytes).map_err(|error| {
            Failure::new(format!("`{shown}` cannot be used"))
                .caused_by(&error)
                .hint("correct the file, see docs/configuration.md")
        })?;
        let problems = own_rules::add(catalog, &said.spec, |name| bytes_of(&folder.join(name)));
        if let Some(problem) = problems.into_iter().next() {
            return Err(refused(problem));
        }
    }
    for file in &what.rules {
        let name = file.display().to_string();
        own_rules::add_file(catalog, &name, bytes_of(file).as_deref()).map_err(refused)?;
    }
    Ok(())
}

fn bytes_of(path: &FilePath) -> Option<Arc<[u8]>> {
    match disk::read_file(path) {
        Ok(Entry::File { bytes, .. }) => Some(bytes),
        _ => None,
    }
}

fn refused(finding: Finding) -> Failure {
    Failure::new(format!("rule file `{}`: {}", finding.subject, finding.message)).hint(finding.remedy)
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
        wanted: Wanted::of_manifests(&catalog, &version, &streams),
        catalog,
        findings: vec![Finding::new(Code::CatalogOlderThanTarget, version.to_string(), message)],
        version,
    })
}
