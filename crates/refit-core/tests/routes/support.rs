//! What the tests of routes begin with.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use refit_core::catalog::Catalog;
use refit_core::check::{self, Definitions};
use refit_core::generated::Generated;
use refit_core::release::Version;
use refit_core::route::{Known, Source, Start, Stored};
use refit_manifest::Stream;
use refit_testkit::flux::{Manifests, Set};

pub(crate) static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::flux().unwrap());

/// The two sets of components that planes have.
pub(crate) const FOUR: &[&str] = &[
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
];
pub(crate) const SIX: &[&str] = &[
    "source-controller",
    "kustomize-controller",
    "helm-controller",
    "notification-controller",
    "image-reflector-controller",
    "image-automation-controller",
];

pub(crate) fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

pub(crate) fn components(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// A plane that was installed with this release and has never been upgraded.
pub(crate) fn fresh(from: &Version, names: &[&str], known: &Known<'_>) -> Start {
    let stored = Stored::concluded(known, Source::Since(from.clone()), from, &[]);
    Start::at(from, stored, components(names), known)
}

pub(crate) fn catalog_versions() -> Vec<Version> {
    CATALOG
        .releases()
        .iter()
        .map(|release| release.version.clone())
        .collect()
}

/// Reads the definitions of a release's manifest, of the largest one that there is.
pub(crate) fn definitions(manifests: &Manifests, name: &str) -> Option<Definitions> {
    let version = manifests.versions().iter().find(|version| version.name == name)?;
    let text = manifests
        .read(version, Set::Six)
        .or_else(|| manifests.read(version, Set::Default))?;
    let stream = Stream::split(Arc::from(text.into_bytes())).unwrap();
    Some(check::definitions(&Generated::read(&stream, &CATALOG)))
}
