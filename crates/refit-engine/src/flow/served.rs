//! Whether what a cluster applies after a request is written in versions that its release serves.
//!
//! In: the request that comes next, the files. Out: findings. What a place means is the core's; here the files are those of
//! one group, as they are once the request is merged.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::applied::{self, Reached, Repository};
use refit_core::finding::Finding;
use refit_core::inventory::Group;
use refit_core::meant::{Meant, Survey};
use refit_core::release::Version;
use refit_core::served::{self, Case};
use refit_core::snapshot::Snapshot;
use refit_core::stage::Stage;
use refit_core::streams::Streams;
use refit_kustomize::reach;
use refit_manifest::{Entry, Path};

use super::ground::Flow;
use super::order::Request;
use super::target;
use crate::Error;

/// Looks at all that shapes what a group applies once a request is merged, but for the generated files.
pub(super) fn look(flow: Flow<'_>, group: &Group<'_>, request: &Request) -> Result<Vec<Finding>, Error> {
    let hop = (&request.hop.from, &request.hop.to);
    all(flow, group, (request.stage, hop), &request.edits.files)
}

/// Looks at the same as it is now, where nothing newer is to come: what the installed release does not serve.
pub(super) fn standing(flow: Flow<'_>, group: &Group<'_>, installed: &Version) -> Result<Vec<Finding>, Error> {
    all(flow, group, (Stage::Upgrade, (installed, installed)), &BTreeMap::new())
}

fn all(
    flow: Flow<'_>,
    group: &Group<'_>,
    (stage, (from, to)): (Stage, (&Version, &Version)),
    edits: &BTreeMap<Path, Arc<[u8]>>,
) -> Result<Vec<Finding>, Error> {
    let snapshot = &flow.ground.snapshot;
    let streams = Streams::split(&snapshot.tree);
    let reached = reached(&[repository(snapshot, &streams)], group);
    let mut files: BTreeSet<Path> = reached.files.into_iter().map(|file| file.path).collect();
    for generated in group.files() {
        files.remove(&generated.path);
    }
    let unbuilt = unbuilt(snapshot, group, &files);
    let mut tree = snapshot.tree.clone();
    for (path, bytes) in edits {
        let bytes = Arc::clone(bytes);
        tree.insert(
            path.clone(),
            Entry::File {
                bytes,
                executable: false,
            },
        );
    }
    let components = group
        .main()
        .map(|file| file.options.components.iter().cloned().collect());
    let case = Case {
        known: &target::known(flow, group, (from, Some(to)))?,
        components: &components.unwrap_or_default(),
        stage,
        from,
        to,
    };
    let mut findings = served::look(&case, &tree, &files);
    findings.extend(unbuilt);
    Ok(findings)
}

/// Finds kustomizations of what a group applies beside its own directories that cannot be built, as a scan does; those of the
/// own ones are told where they are built.
fn unbuilt(snapshot: &Snapshot, group: &Group<'_>, files: &BTreeSet<Path>) -> Vec<Finding> {
    let mut applied = files.clone();
    for path in group.clusters().flat_map(|cluster| &cluster.root.build.kustomizations) {
        applied.remove(path);
    }
    if !applied.iter().any(reach::is_kustomization) {
        return Vec::new();
    }
    let mut survey = Survey::new();
    for (path, seen) in &snapshot.paths {
        match snapshot.tree.bytes(path) {
            _ if seen.linked || seen.submodule => survey.note_link(path.as_str()),
            Some(bytes) => survey.note(path, bytes, None),
            None => survey.note(path, b"", None),
        }
    }
    survey.broken(&Meant::Reached(applied), ToOwned::to_owned)
}

/// Gives the platform repository as what clusters apply files of.
pub(super) fn repository<'a>(snapshot: &'a Snapshot, streams: &'a Streams) -> Repository<'a> {
    Repository {
        name: &snapshot.repository,
        urls: std::slice::from_ref(&snapshot.repository),
        tree: &snapshot.tree,
        streams,
    }
}

/// Finds what the clusters of a group apply; their own repository is the first.
pub(super) fn reached(repositories: &[Repository<'_>], group: &Group<'_>) -> Reached {
    let mut reached = Reached::default();
    for cluster in group.clusters() {
        reached.join(applied::find(repositories, 0, &cluster.root));
    }
    reached
}
