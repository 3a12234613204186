//! What stands in the way of a target, and which targets can be reached.
//!
//! In: a cluster of the inventory, the catalog, the target's manifest. Out: findings. Knows no cluster status: what may
//! be stored is assumed, and said so.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::finding::{Code, Finding};
use crate::generated::{Definition, Generated};
use crate::release::Version;

/// The API versions by CRD name.
pub type Definitions = BTreeMap<String, Definition>;

/// How far a target without a version may go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To the newest release that can be reached.
    #[default]
    Newest,
    /// To the newest patch of the installed minor (`--patch`).
    Patch,
}

/// Gives the definitions of a manifest.
pub fn definitions(manifest: &Generated<'_>) -> Definitions {
    manifest
        .definitions()
        .map(|(name, definition)| (name.to_owned(), definition.clone()))
        .collect()
}

/// Lists the releases that an upgrade without a version may go to, newest first: stable, newer than the installed one,
/// of each minor the newest.
pub fn targets(from: &Version, versions: &[Version], reach: Reach) -> Vec<Version> {
    let mut newest = BTreeMap::new();
    for version in versions.iter().filter(|version| version.is_stable() && *version > from) {
        let same = version.series() == from.series();
        if reach == Reach::Newest || same {
            let best = newest.entry(version.series()).or_insert_with(|| version.clone());
            if version > best {
                *best = version.clone();
            }
        }
    }
    newest.into_values().rev().collect()
}

/// Lists the versions in which objects may be stored, by CRD: the storage versions of the installed definitions and, so
/// that a half-raised file does not hide one, those that the catalog states for the installed release.
pub fn stored(installed: &Definitions, from: &Version, catalog: &Catalog) -> BTreeMap<String, Vec<String>> {
    let of = |(name, definition): (&String, &Definition)| {
        let mut stored: Vec<String> = definition.storage().map(ToOwned::to_owned).into_iter().collect();
        if let Some(api) = catalog.knows(from).then(|| catalog.api(name, from)).flatten()
            && !stored.contains(&api.versions.storage)
        {
            stored.push(api.versions.storage.clone());
        }
        (name.clone(), stored)
    };
    installed.iter().map(of).collect()
}

/// One version that may be stored and that the target lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The CRD.
    pub name: String,
    /// The version.
    pub version: String,
}

/// Lists the stored versions that the target's definitions lack; a CRD that the target does not have stays as it is.
pub fn removed(stored: &BTreeMap<String, Vec<String>>, has: impl Fn(&str) -> Option<Vec<String>>) -> Vec<Removed> {
    let mut removed = Vec::new();
    for (name, versions) in stored {
        let Some(target) = has(name) else { continue };
        let lost = versions.iter().filter(|version| !target.contains(version));
        removed.extend(lost.map(|version| Removed {
            name: name.clone(),
            version: version.clone(),
        }));
    }
    removed
}

/// Lists the versions of a definition.
pub fn names(definition: &Definition) -> Vec<String> {
    definition.versions.iter().map(|version| version.name.clone()).collect()
}

/// What is known of a target before its manifest is compared.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The wanted release.
    pub to: &'a Version,
    /// What is known about releases.
    pub catalog: &'a Catalog,
}

impl Target<'_> {
    /// Compares the wanted version with the ones that exist.
    pub fn version(&self, versions: &[Version]) -> Vec<Finding> {
        let mut findings = Vec::new();
        if !versions.contains(self.to) {
            findings.push(unknown(self.to, versions));
        }
        findings
    }

    /// Says what the catalog has to say about the target.
    pub fn surroundings(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        if self.catalog.is_older_than(self.to) {
            let message = "it is newer than what `refit` has data about; only its manifests were compared";
            findings.push(Finding::new(Code::CatalogOlderThanTarget, self.to.to_string(), message));
        }
        findings
    }
}

/// Names the versions nearest to one that does not exist.
fn unknown(wanted: &Version, versions: &[Version]) -> Finding {
    let mut sorted: Vec<&Version> = versions.iter().collect();
    sorted.sort();
    let at = sorted.partition_point(|version| *version < wanted);
    let near = &sorted[at.saturating_sub(2)..(at + 2).min(sorted.len())];
    let names: Vec<String> = near.iter().map(|version| format!("`{version}`")).collect();
    let finding = Finding::new(
        Code::UnknownVersion,
        wanted.to_string(),
        "no catalog source has this version",
    );
    match names.as_slice() {
        [] => finding,
        _ => finding.with_remedy(format!(
            "choose one of the nearest, {}, or add a catalog that holds it with `--catalog DIR`",
            names.join(", ")
        )),
    }
}

/// Reports components that the release contents lack.
pub fn missing(to: &Version, missing: &[String], origin: &str) -> Vec<Finding> {
    let finding = |component: &String| {
        let message = format!("{origin} has no {component} for {to}, which the plane runs");
        Finding::new(Code::MissingComponent, component.as_str(), message)
    };
    missing.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::Served;

    fn versions(texts: &[&str]) -> Vec<Version> {
        texts.iter().map(|text| Version::parse(text).unwrap()).collect()
    }

    fn check_targets(from: &str, reach: Reach, expected: &[&str]) {
        let known = versions(&[
            "v2.6.1",
            "v2.6.4",
            "v2.7.0",
            "v2.7.5",
            "v2.8.0-rc.1",
            "v2.5.0",
            "v3.0.0",
        ]);
        let targets: Vec<String> = targets(&Version::parse(from).unwrap(), &known, reach)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(targets, expected);
    }

    #[test]
    fn targets_are_the_newest_stable_release_of_each_newer_minor() {
        check_targets("v2.6.1", Reach::Newest, &["v3.0.0", "v2.7.5", "v2.6.4"]);
        check_targets("v2.6.1", Reach::Patch, &["v2.6.4"]);
        check_targets("v2.6.4", Reach::Patch, &[]);
        check_targets("v3.0.0", Reach::Newest, &[]);
    }

    fn definition(versions: &[&str]) -> Definition {
        let served = |(at, name): (usize, &&str)| Served {
            name: (*name).to_owned(),
            served: true,
            storage: at == 0,
            deprecated: false,
        };
        Definition {
            versions: versions.iter().enumerate().map(served).collect(),
            ..Definition::default()
        }
    }

    fn findings(to: &str) -> Vec<String> {
        let catalog = Catalog::flux().unwrap();
        let to = Version::parse(to).unwrap();
        let target_of = Target {
            to: &to,
            catalog: &catalog,
        };
        let mut findings = target_of.version(&versions(&["v2.6.4", "v2.7.5", "v9.0.0"]));
        findings.extend(target_of.surroundings());
        findings
            .iter()
            .map(|finding| format!("{} {}", finding.code, finding.subject))
            .collect()
    }

    #[test]
    fn unknown_and_very_new_targets_are_named() {
        assert_eq!(findings("v2.6.9"), ["UnknownVersion v2.6.9"]);
        assert_eq!(findings("v9.0.0"), ["CatalogOlderThanTarget v9.0.0"]);
    }

    #[test]
    fn an_unknown_version_names_its_neighbours() {
        let wanted = Version::parse("v2.6.3").unwrap();
        let finding = unknown(&wanted, &versions(&["v2.9.0", "v2.6.4", "v2.6.1", "v2.5.0"]));
        assert!(
            finding
                .remedy
                .starts_with("choose one of the nearest, `v2.5.0`, `v2.6.1`, `v2.6.4`, `v2.9.0`,"),
            "{}",
            finding.remedy
        );
    }

    #[test]
    fn the_catalog_adds_the_storage_version_of_the_installed_release_to_a_half_raised_file() {
        let catalog = Catalog::flux().unwrap();
        let raised = Definitions::from([(
            "ocirepositories.source.toolkit.fluxcd.io".to_owned(),
            definition(&["v1"]),
        )]);
        let stored = stored(&raised, &Version::parse("v2.5.1").unwrap(), &catalog);
        assert_eq!(stored["ocirepositories.source.toolkit.fluxcd.io"], ["v1", "v1beta2"]);
    }
}
