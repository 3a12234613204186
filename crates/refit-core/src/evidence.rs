//! What a cluster itself says about its definitions and controllers: a file of objects, as `kubectl get -o json` prints it.
//!
//! In: the bytes of the file, JSON or YAML, one `List` or several documents. Out: an [`Evidence`], or why the file is none.
//! It needs no right to the cluster: whoever has one writes the file. Decides nothing about a route.

mod object;
mod read;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use read::{Error, SIZE_LIMIT};

use crate::generated::Served;
use crate::release::Version;

/// The lines that write the file.
///
/// The second one tells the version of Kubernetes, the third one which versions stand in the managed fields of objects.
pub const COMMANDS: [&str; 3] = [
    "kubectl get crds,deployments -A -o json > snapshot.json",
    "kubectl version -o json >> snapshot.json",
    "for crd in $(kubectl get crds -l app.kubernetes.io/part-of=flux -o name | cut -d/ -f2); do kubectl get \"$crd\" -A \
     --show-managed-fields -o json; done >> snapshot.json",
];

/// What a cluster says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Evidence {
    /// The definitions by the names of their CRDs.
    pub definitions: BTreeMap<String, Held>,
    /// The Deployments that are part of a platform.
    pub controllers: Vec<Running>,
    /// The version of Kubernetes: the server's where the file tells it, else the newest of the nodes'.
    pub kubernetes: Option<Version>,
    /// The API versions in the managed fields of objects, by CRD; only of CRDs of which the file has such objects.
    pub managed: BTreeMap<String, BTreeSet<String>>,
}

/// A definition that a cluster holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// The kind of its objects.
    pub kind: String,
    /// Their API group.
    pub group: String,
    /// The value of the version label.
    pub version_label: Option<String>,
    /// The platform that it is part of.
    pub part_of: Option<String>,
    /// The component that brings it.
    pub component: Option<String>,
    /// What `spec.versions` says.
    pub versions: Vec<Served>,
    /// What `status.storedVersions` says.
    pub stored: Vec<String>,
    /// Whether it is being deleted.
    pub deleting: bool,
}

impl Held {
    /// Lists every version of `spec.versions`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.versions.iter().map(|version| version.name.as_str())
    }

    /// Gives the version in which objects are stored when they are written.
    pub fn storage(&self) -> Option<&str> {
        let storage = self.versions.iter().find(|version| version.storage);
        storage.map(|version| version.name.as_str())
    }
}

/// A controller that a cluster runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Running {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// The platform that it is part of.
    pub part_of: String,
    /// The value of the version label.
    pub version_label: Option<String>,
    /// The image of the container `manager`, or of the first one.
    pub image: String,
    /// Whether every replica runs what its Deployment says.
    pub rolled_out: bool,
}

impl Evidence {
    /// Reads a file; nothing is taken from one that is cut off, mixes clusters or was not read from a cluster.
    pub fn read(bytes: &Arc<[u8]>) -> Result<Self, Error> {
        let documents = read::documents(bytes)?;
        object::evidence(documents)
    }

    /// Gives the release that the labels of a platform's definitions and controllers name most often.
    pub fn release(&self, platform: &str) -> Option<Version> {
        let of_platform = |part_of: Option<&str>| part_of == Some(platform);
        let definitions = self.definitions.values();
        let labels = definitions
            .filter(|held| of_platform(held.part_of.as_deref()))
            .filter_map(|held| held.version_label.as_deref());
        let running = self.controllers.iter();
        let running = running
            .filter(|controller| of_platform(Some(&controller.part_of)))
            .filter_map(|controller| controller.version_label.as_deref());
        let mut counts: BTreeMap<Version, usize> = BTreeMap::new();
        for version in labels.chain(running).filter_map(|label| Version::parse(label).ok()) {
            *counts.entry(version).or_default() += 1;
        }
        counts
            .into_iter()
            .max_by_key(|(version, count)| (*count, version.clone()))
            .map(|(version, _)| version)
    }
}
