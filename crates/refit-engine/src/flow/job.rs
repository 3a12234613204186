//! The Job that migrates stored objects inside a cluster: where its file stands, when it comes and when it goes.
//!
//! In: a hop, the clusters, what `refit.yaml` says. Out: files to write or to remove. It is written where the configuration
//! names an image, beside what each cluster synchronises; the request of the hop takes it out again.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_core::inventory::Group;
use refit_core::migration::{self, Job};
use refit_core::roots::Root;
use refit_core::route::Stale;
use refit_core::stage::Stage;
use refit_kustomize::reach;
use refit_manifest::{Entry, Path, Tree};

use super::ground::Flow;
use super::order::Request;

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

/// Finds out about the Job that migrates before a request.
pub(super) fn of(flow: Flow<'_>, group: &Group<'_>, (request, gate): (&Request, &[Stale])) -> State {
    let ground = flow.ground;
    let (Some(image), false) = (&ground.inventory.said.migration.image, gate.is_empty()) else {
        return State::None;
    };
    let Some(main) = group.main() else { return State::None };
    let tree = &ground.snapshot.tree;
    let listed = |root: &Root| {
        reach::NAMES
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
        name: name(request),
        namespace: &main.options.namespace,
        image,
        gate,
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

/// Gives the name of the Job before a request: a conversion has one of its own, since a Job cannot become another one.
fn name(request: &Request) -> String {
    let name = migration::name(&request.hop);
    match request.stage {
        Stage::Convert => format!("{name}-convert"),
        Stage::Upgrade | Stage::Detach | Stage::Migrate => name,
    }
}

/// The files of Jobs that the clusters have.
#[derive(Default)]
pub(super) struct There {
    /// Those that are as they were written here.
    pub(super) written: Vec<Path>,
    /// Those that say so and are not: somebody edited them.
    pub(super) edited: Vec<Path>,
}

/// Lists the files of Jobs that the clusters have; what is only called like one is no concern here.
pub(super) fn files(tree: &Tree, group: &Group<'_>) -> There {
    let mut there = There::default();
    for (path, entry) in tree.iter() {
        let mut clusters = group.clusters();
        let name = path.file_name().strip_suffix(".yaml");
        let Some(name) = name.filter(|name| name.starts_with(migration::PREFIX)) else {
            continue;
        };
        let Entry::File { bytes, .. } = entry else { continue };
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        if !clusters.any(|cluster| path.directory() == cluster.root.directory) {
            continue;
        }
        if migration::is_manifest(name, text) {
            there.written.push(path.clone());
        } else if migration::is_like_one(text) {
            there.edited.push(path.clone());
        }
    }
    there
}

fn below(root: &Root, name: &str) -> Path {
    match root.directory.as_str() {
        "" => Path::from(name),
        directory => Path::new(format!("{directory}/{name}")),
    }
}
