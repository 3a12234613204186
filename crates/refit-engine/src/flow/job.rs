//! The Job that migrates stored objects inside a cluster: where its file stands, when it comes and when it goes.
//!
//! In: a hop, the clusters, what `refit.yaml` says. Out: files to write or to remove. It is written where the configuration
//! names an image, beside what each cluster synchronises; the request of the hop takes it out again.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_core::inventory::Group;
use refit_core::migration::{self, Job};
use refit_core::roots::Root;
use refit_core::route::Hop;
use refit_manifest::{Path, Tree};

use super::ground::Flow;

/// What the names of the files begin with.
const PREFIX: &str = "refit-migrate-";

/// What kustomizations are called; where one stands, it lists its files itself.
const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// What is to be done about the Job of a hop.
pub(super) enum State {
    /// None is asked for, or none is needed.
    None,
    /// These files bring it.
    Due(BTreeMap<Path, Arc<[u8]>>),
    /// It is there, under this name and namespace.
    There(String, String),
    /// It cannot be written, for this reason.
    Not(String),
}

impl State {
    /// Gives the files that bring it, where it is due.
    pub(super) fn due(&self) -> Option<&BTreeMap<Path, Arc<[u8]>>> {
        match self {
            Self::Due(files) => Some(files),
            Self::None | Self::There(..) | Self::Not(_) => None,
        }
    }
}

/// Finds out about the Job of a hop.
pub(super) fn of(flow: Flow<'_>, group: &Group<'_>, hop: &Hop) -> State {
    let ground = flow.ground;
    let (Some(image), false) = (&ground.inventory.said.migration.image, hop.gate.is_empty()) else {
        return State::None;
    };
    let Some(main) = group.main() else { return State::None };
    let tree = &ground.snapshot.tree;
    let listed = |root: &Root| {
        KUSTOMIZATIONS
            .map(|name| below(root, name))
            .into_iter()
            .find(|path| tree.get(path).is_some())
    };
    if let Some(path) = group.clusters().find_map(|cluster| listed(&cluster.root)) {
        return State::Not(format!(
            "no Job is written, since `{path}` lists the files that are applied; run the commands of the next request, or add \
             a Job of your own"
        ));
    }
    let job = Job {
        name: migration::name(hop),
        namespace: &main.options.namespace,
        image,
        gate: &hop.gate,
    };
    let bytes: Arc<[u8]> = migration::manifest(&job).into_bytes().into();
    let file = |root: &Root| below(root, &format!("{}.yaml", job.name));
    let files: BTreeMap<Path, Arc<[u8]>> = group
        .clusters()
        .map(|cluster| (file(&cluster.root), Arc::clone(&bytes)))
        .collect();
    match files.keys().all(|path| tree.get(path).is_some()) {
        true => State::There(job.name.clone(), job.namespace.to_owned()),
        false => State::Due(files),
    }
}

/// Lists the files of Jobs that the clusters have.
pub(super) fn files(tree: &Tree, group: &Group<'_>) -> Vec<Path> {
    let is_own = |path: &&Path| {
        let mut clusters = group.clusters();
        path.file_name().starts_with(PREFIX) && clusters.any(|cluster| path.directory() == cluster.root.directory)
    };
    tree.iter().map(|(path, _)| path).filter(is_own).cloned().collect()
}

fn below(root: &Root, name: &str) -> Path {
    match root.directory.as_str() {
        "" => Path::from(name),
        directory => Path::new(format!("{directory}/{name}")),
    }
}
