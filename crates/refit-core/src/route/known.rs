//! What is known of the definitions of releases.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Api, ApiVersions, Catalog, Resource};
use crate::check::{Definitions, names};
use crate::evidence::Evidence;
use crate::release::Version;

/// The API versions of a definition at one release, or in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Versions {
    /// The kind of its objects.
    pub kind: String,
    /// The component that brings it; `None` counts always.
    pub component: Option<String>,
    /// All of `spec.versions`.
    pub all: Vec<String>,
    /// Those that are served.
    pub served: Vec<String>,
    /// The one that objects are stored in when they are written.
    pub storage: String,
}

/// The definitions of a release by the names of their CRDs.
pub type Matrix = BTreeMap<String, Versions>;

/// What is known of releases: from the catalog where it lists the release, else from manifests that were given.
#[derive(Clone, Debug)]
pub struct Known<'a> {
    catalog: &'a Catalog,
    given: BTreeMap<Version, Matrix>,
    releases: BTreeSet<Version>,
}

impl<'a> Known<'a> {
    /// Begins with what the catalog knows.
    pub fn new(catalog: &'a Catalog) -> Self {
        Self {
            catalog,
            given: BTreeMap::new(),
            releases: catalog
                .releases()
                .iter()
                .map(|release| release.version.clone())
                .collect(),
        }
    }

    /// Adds the definitions of a release's manifest; for one that the catalog lists it is asked first.
    #[must_use]
    pub fn with(mut self, version: &Version, definitions: &Definitions) -> Self {
        self.releases.insert(version.clone());
        self.given.insert(version.clone(), matrix(definitions, self.catalog));
        self
    }

    /// Tells whether something is known of a release.
    pub fn knows(&self, version: &Version) -> bool {
        self.catalog.knows(version) || self.given.contains_key(version)
    }

    /// Gives the definitions of a release, of all components; `None` where nothing is known of it.
    pub fn of(&self, version: &Version) -> Option<Matrix> {
        if !self.catalog.knows(version) {
            return self.given.get(version).cloned();
        }
        let entry = |api: &Api<'_>| (api.resource.crd.clone(), of_api(api));
        Some(self.catalog.apis(version).iter().map(entry).collect())
    }

    /// Gives one definition of a release.
    pub fn versions(&self, crd: &str, version: &Version) -> Option<Versions> {
        if self.catalog.knows(version) {
            return self.catalog.api(crd, version).as_ref().map(of_api);
        }
        self.given.get(version)?.get(crd).cloned()
    }

    /// Lists the releases of which something is known, oldest first.
    pub fn releases(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.releases.iter()
    }

    /// Gives the catalog with what some releases have that it does not say, as far as it is known.
    pub fn noted(&self, releases: &BTreeSet<Version>) -> Catalog {
        let mut resources = self.catalog.resources().to_vec();
        for resource in &mut resources {
            for release in releases {
                note(resource, release, self);
            }
        }
        self.catalog.clone().with_resources(resources)
    }

    /// Gives the catalog.
    pub fn catalog(&self) -> &'a Catalog {
        self.catalog
    }
}

/// Gives the definitions that a cluster holds.
pub fn of_cluster(evidence: &Evidence, catalog: &Catalog) -> Matrix {
    let of_platform = |part_of: Option<&str>| part_of == Some(catalog.platform().as_str());
    let mut matrix = Matrix::new();
    for (crd, held) in &evidence.definitions {
        let resource = catalog.resource(crd);
        if resource.is_none() && !of_platform(held.part_of.as_deref()) {
            continue;
        }
        let component = resource.map(|resource| resource.component.clone());
        let versions = Versions {
            kind: held.kind.clone(),
            component: component.or_else(|| held.component.clone()),
            all: held.names().map(ToOwned::to_owned).collect(),
            served: held
                .versions
                .iter()
                .filter(|version| version.served)
                .map(|version| version.name.clone())
                .collect(),
            storage: held.storage().unwrap_or_default().to_owned(),
        };
        matrix.insert(crd.clone(), versions);
    }
    matrix
}

fn of_api(api: &Api<'_>) -> Versions {
    Versions {
        kind: api.resource.kind.clone(),
        component: Some(api.resource.component.clone()),
        // No definition of a release has a version that it does not serve.
        all: api.versions.served.clone(),
        served: api.versions.served.clone(),
        storage: api.versions.storage.clone(),
    }
}

/// Reads the definitions of a manifest.
pub(crate) fn matrix(definitions: &Definitions, catalog: &Catalog) -> Matrix {
    let mut matrix = Matrix::new();
    for (crd, definition) in definitions {
        let Some(storage) = definition.storage() else { continue };
        let resource = catalog.resource(crd);
        let label = definition.component_label.as_deref();
        let component = resource.map(|resource| resource.component.as_str()).or(label);
        let versions = Versions {
            kind: resource.map_or_else(
                || crd.split('.').next().unwrap_or_default().to_owned(),
                |r| r.kind.clone(),
            ),
            component: component.map(ToOwned::to_owned),
            all: names(definition),
            served: definition.served().map(ToOwned::to_owned).collect(),
            storage: storage.to_owned(),
        };
        matrix.insert(crd.clone(), versions);
    }
    matrix
}

/// Notes in the history of a kind what a release has that the catalog does not say.
fn note(resource: &mut Resource, release: &Version, known: &Known<'_>) {
    let Some(has) = known.versions(&resource.crd, release) else {
        return;
    };
    let before = resource.changes.iter().rfind(|change| change.from <= *release);
    if before.is_some_and(|before| before.served == has.served && before.storage == has.storage) {
        return;
    }
    let deprecated = before.map(|before| before.deprecated.clone()).unwrap_or_default();
    let said = ApiVersions {
        from: release.clone(),
        deprecated: deprecated.into_iter().filter(|old| has.served.contains(old)).collect(),
        served: has.served,
        storage: has.storage,
        trust: false,
    };
    resource.changes.retain(|change| change.from != *release);
    let at = resource.changes.partition_point(|change| change.from < *release);
    resource.changes.insert(at, said);
}
