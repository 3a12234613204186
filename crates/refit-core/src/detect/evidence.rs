//! What labels, images, definitions and header say about the version.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::{Catalog, Release};
use crate::generated::{Definition, Generated};
use crate::release::Version;

/// Where evidence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Source {
    /// The labels `app.kubernetes.io/version`.
    Labels,
    /// The image tags of the controllers.
    Images,
    /// The API versions of the definitions.
    Definitions,
    /// The comment at the top.
    Header,
}

impl Source {
    /// Gives the word for messages.
    pub fn word(self) -> &'static str {
        match self {
            Self::Labels => "labels",
            Self::Images => "images",
            Self::Definitions => "definitions",
            Self::Header => "header",
        }
    }
}

/// What one source says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// The source.
    pub source: Source,
    /// The versions that it names or fits; empty when it fits none that the catalog knows.
    pub versions: Vec<Version>,
    /// Releases that most of the source's carriers fit, though not all.
    pub nearly: Vec<Version>,
    /// What was seen, for messages.
    pub seen: String,
}

impl Evidence {
    /// Tells whether less than half of what was seen fits a version.
    pub fn speaks_against(&self, version: &Version) -> bool {
        !self.versions.contains(version) && !self.nearly.contains(version)
    }
}

/// Gathers the evidence of a manifest; a source that has nothing to say is left out.
pub(super) fn gather(manifest: &Generated<'_>, catalog: &Catalog) -> Vec<Evidence> {
    let sources = [
        labels(manifest),
        images(manifest, catalog),
        definitions(manifest, catalog),
        header(manifest),
    ];
    sources.into_iter().flatten().collect()
}

/// Names the version that more than half of the labels state; `latest` and other words say nothing.
fn labels(manifest: &Generated<'_>) -> Option<Evidence> {
    let mut counts: BTreeMap<Version, usize> = BTreeMap::new();
    for version in manifest
        .parts
        .iter()
        .filter_map(|part| Version::parse(part.version_label.as_deref()?).ok())
    {
        *counts.entry(version).or_default() += 1;
    }
    let all: usize = counts.values().sum();
    let seen: Vec<String> = counts
        .iter()
        .map(|(version, count)| format!("`{version}` on {count} objects"))
        .collect();
    let most = counts
        .into_iter()
        .find(|(_, count)| count * 2 > all)
        .map(|(version, _)| version);
    (all > 0).then(|| Evidence {
        source: Source::Labels,
        versions: most.into_iter().collect(),
        nearly: Vec::new(),
        seen: seen.join(", "),
    })
}

fn header(manifest: &Generated<'_>) -> Option<Evidence> {
    let version = manifest.header.version.clone()?;
    Some(Evidence {
        source: Source::Header,
        seen: format!("`{version}`"),
        versions: vec![version],
        nearly: Vec::new(),
    })
}

/// Names the releases that bring just these image tags.
fn images(manifest: &Generated<'_>, catalog: &Catalog) -> Option<Evidence> {
    let images = manifest
        .controllers()
        .filter_map(|controller| Some((controller.name, controller.image()?)));
    let tags: Vec<(&str, &str)> = images
        .filter(|(name, image)| *name == image.name)
        .map(|(name, image)| (name, image.tag))
        .collect();
    let fits = |release: &Release| {
        let known: Vec<bool> = tags
            .iter()
            .filter_map(|(name, tag)| Some(release.tags.get(*name)? == tag))
            .collect();
        Count::of(&known)
    };
    let seen: Vec<String> = tags.iter().map(|(name, tag)| format!("`{name}:{tag}`")).collect();
    (!tags.is_empty()).then(|| evidence(Source::Images, catalog, fits, seen.join(", ")))
}

/// Names the releases whose definitions have just these API versions.
fn definitions(manifest: &Generated<'_>, catalog: &Catalog) -> Option<Evidence> {
    let known: Vec<(&str, &Definition)> = manifest
        .definitions()
        .filter(|(crd, _)| catalog.resource(crd).is_some())
        .collect();
    let fits = |release: &Release| {
        let fitting: Vec<bool> = known
            .iter()
            .map(|(crd, found)| is_of(crd, found, &release.version, catalog))
            .collect();
        Count::of(&fitting)
    };
    let seen: Vec<String> = known
        .iter()
        .map(|(crd, found)| format!("`{crd}` {}", spell(found)))
        .collect();
    (!known.is_empty()).then(|| evidence(Source::Definitions, catalog, fits, seen.join(", ")))
}

fn evidence(source: Source, catalog: &Catalog, fits: impl Fn(&Release) -> Count, seen: String) -> Evidence {
    let mut versions = Vec::new();
    let mut nearly = Vec::new();
    for release in catalog.releases() {
        match fits(release) {
            Count::All => versions.push(release.version.clone()),
            Count::Most => nearly.push(release.version.clone()),
            Count::Few => {}
        }
    }
    Evidence {
        source,
        versions,
        nearly,
        seen,
    }
}

enum Count {
    All,
    Most,
    Few,
}

impl Count {
    /// Counts how many of what can be compared fits.
    fn of(fitting: &[bool]) -> Self {
        let count = fitting.iter().filter(|fits| **fits).count();
        if count == 0 {
            Self::Few
        } else if count == fitting.len() {
            Self::All
        } else if count * 2 >= fitting.len() {
            Self::Most
        } else {
            Self::Few
        }
    }
}

/// Tells whether a definition has the API versions of a release.
pub(super) fn is_of(crd: &str, found: &Definition, version: &Version, catalog: &Catalog) -> bool {
    catalog.api(crd, version).is_some_and(|api| {
        let mut served: Vec<&str> = found.served().collect();
        let mut known: Vec<&str> = api.versions.served.iter().map(String::as_str).collect();
        served.sort_unstable();
        known.sort_unstable();
        served == known && found.storage() == Some(api.versions.storage.as_str())
    })
}

/// Spells the versions of a definition, the stored one with `*`.
pub(super) fn spell(found: &Definition) -> String {
    let spelt = found
        .versions
        .iter()
        .filter(|version| version.served || version.storage);
    let names: Vec<String> = spelt
        .map(|version| format!("{}{}", version.name, if version.storage { "*" } else { "" }))
        .collect();
    names.join("/")
}
