//! Reads catalog files and refuses those that contradict themselves.

use std::collections::BTreeSet;

use refit_manifest::parse;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::rules::{self, ConversionRules};
use super::{Catalog, Component, Floor, Group, Release, Resource, Seen};
use crate::release::{InvalidPlatform, Platform, Version};
use crate::value;

/// Why a catalog cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not YAML.
    #[error("catalog file `{file}` is not YAML; hint: fetch it again")]
    Syntax {
        /// The file.
        file: &'static str,
        /// What the parser says.
        source: parse::Error,
    },
    /// The text has other fields than a catalog file.
    #[error("catalog file `{file}` does not have the fields of one; hint: compare it with the one in the repository")]
    Shape {
        /// The file.
        file: &'static str,
        /// What is missing or too much.
        source: serde_json::Error,
    },
    /// The text has no content, or far too much.
    #[error("catalog file `{file}` is empty or without end; hint: fetch it again")]
    Extent {
        /// The file.
        file: &'static str,
    },
    /// The name of the platform is no name.
    #[error("catalog file `{file}` names no platform; hint: correct its line `platform`")]
    Platform {
        /// The file.
        file: &'static str,
        /// What is wrong with the name.
        source: InvalidPlatform,
    },
    /// The rules cannot be used.
    #[error("catalog file `{file}` cannot be used; hint: correct it as the cause says")]
    Rules {
        /// The file.
        file: &'static str,
        /// What is wrong.
        source: rules::Error,
    },
    /// Two statements do not go together.
    #[error("catalog file `{file}` contradicts itself: {what}; hint: correct that line")]
    Contradiction {
        /// The file.
        file: &'static str,
        /// What does not go together.
        what: String,
    },
}

/// The texts of a catalog's files.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// `platform.yaml`: components, optional groups, Kubernetes floors.
    pub platform: &'a str,
    /// `releases.yaml`: versions and image tags.
    pub releases: &'a str,
    /// `apis.yaml`: API versions of the custom resources.
    pub apis: &'a str,
    /// `conversions.yaml`: rules by which objects are converted.
    pub conversions: &'a str,
}

impl Texts<'static> {
    /// The embedded catalog of Flux.
    pub const FLUX: Self = Self {
        platform: include_str!("../../../../catalog/flux/platform.yaml"),
        releases: include_str!("../../../../catalog/flux/releases.yaml"),
        apis: include_str!("../../../../catalog/flux/apis.yaml"),
        conversions: include_str!("../../../../catalog/flux/conversions.yaml"),
    };
}

const PLATFORM: &str = "platform.yaml";
const RELEASES: &str = "releases.yaml";
const APIS: &str = "apis.yaml";
const CONVERSIONS: &str = "conversions.yaml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlatformFile {
    platform: String,
    namespace: String,
    registry: String,
    components: Vec<Component>,
    groups: Vec<Group>,
    kubernetes: Kubernetes,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Kubernetes {
    #[serde(rename = "origin")]
    _origin: String,
    floors: Vec<Floor>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleasesFile {
    #[serde(rename = "origin")]
    _origin: String,
    date: jiff::civil::Date,
    components: Vec<String>,
    releases: Vec<ReleaseLine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReleaseLine {
    version: Version,
    manifest: Seen,
    #[serde(default)]
    tags: Vec<Option<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApisFile {
    #[serde(rename = "origin")]
    _origin: String,
    resources: Vec<Resource>,
}

impl Catalog {
    /// Reads a catalog from the texts of its files.
    pub fn read(texts: &Texts<'_>) -> Result<Self, Error> {
        let about: PlatformFile = file(PLATFORM, texts.platform)?;
        let listed: ReleasesFile = file(RELEASES, texts.releases)?;
        let apis: ApisFile = file(APIS, texts.apis)?;
        let platform = Platform::parse(&about.platform).map_err(|source| Error::Platform { file: PLATFORM, source })?;
        let names: BTreeSet<&str> = about
            .components
            .iter()
            .map(|component| component.name.as_str())
            .collect();
        check_names(RELEASES, &names, listed.components.iter().map(String::as_str))?;
        check_names(
            APIS,
            &names,
            apis.resources.iter().map(|resource| resource.component.as_str()),
        )?;
        let date = listed.date;
        let releases = releases(listed)?;
        apis.resources.iter().try_for_each(check_history)?;
        ascending(PLATFORM, about.kubernetes.floors.iter().map(|floor| &floor.from))?;
        let rules = ConversionRules::read(CONVERSIONS, texts.conversions).map_err(|source| Error::Rules {
            file: CONVERSIONS,
            source,
        })?;
        Ok(Self {
            platform,
            date,
            namespace: about.namespace,
            registry: about.registry,
            components: about.components,
            groups: about.groups,
            floors: about.kubernetes.floors,
            releases,
            resources: apis.resources,
            rules,
        })
    }
}

fn file<T: DeserializeOwned>(file: &'static str, text: &str) -> Result<T, Error> {
    let parsed = parse::parse(text.as_bytes(), 0..text.len()).map_err(|source| Error::Syntax { file, source })?;
    let content = parsed.root().and_then(value::of).ok_or(Error::Extent { file })?;
    serde_json::from_value(content).map_err(|source| Error::Shape { file, source })
}

fn releases(listed: ReleasesFile) -> Result<Vec<Release>, Error> {
    ascending(RELEASES, listed.releases.iter().map(|line| &line.version))?;
    let mut releases = Vec::with_capacity(listed.releases.len());
    for line in listed.releases {
        if line.tags.len() > listed.components.len() {
            return Err(contradiction(
                RELEASES,
                format!("`{}` has more tags than components", line.version),
            ));
        }
        if line.tags.is_empty() != (line.manifest == Seen::None) {
            return Err(contradiction(
                RELEASES,
                format!("`{}` must have tags or `manifest: none`", line.version),
            ));
        }
        let tags = listed
            .components
            .iter()
            .cloned()
            .zip(line.tags)
            .filter_map(|(name, tag)| Some((name, tag?)));
        releases.push(Release {
            version: line.version,
            seen: line.manifest,
            tags: tags.collect(),
        });
    }
    Ok(releases)
}

fn check_history(resource: &Resource) -> Result<(), Error> {
    ascending(APIS, resource.changes.iter().map(|change| &change.from))?;
    for change in &resource.changes {
        let served = |version: &String| change.served.contains(version);
        if !served(&change.storage) || !change.deprecated.iter().all(served) {
            let what = format!(
                "`{}` at `{}` stores or deprecates a version that is not served",
                resource.crd, change.from
            );
            return Err(contradiction(APIS, what));
        }
    }
    Ok(())
}

fn check_names<'a>(
    file: &'static str,
    known: &BTreeSet<&str>,
    mut names: impl Iterator<Item = &'a str>,
) -> Result<(), Error> {
    match names.find(|name| !known.contains(name)) {
        None => Ok(()),
        Some(name) => Err(contradiction(file, format!("`{name}` is no component of `{PLATFORM}`"))),
    }
}

fn ascending<'a>(file: &'static str, versions: impl Iterator<Item = &'a Version>) -> Result<(), Error> {
    let versions: Vec<&Version> = versions.collect();
    match versions.windows(2).find(|pair| pair[0] >= pair[1]) {
        None => Ok(()),
        Some(pair) => Err(contradiction(file, format!("`{}` comes after `{}`", pair[1], pair[0]))),
    }
}

fn contradiction(file: &'static str, what: String) -> Error {
    Error::Contradiction { file, what }
}
