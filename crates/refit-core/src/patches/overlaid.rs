//! Whether patches can reach the generated files of a cluster, and what each patch of a build matches.
//!
//! In: a tree and a sync root. Out: yes or no; lines for the inventory.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_kustomize::{AppliedPatch, Content, Object, Origin, State, build_as_flux};
use refit_manifest::parse::NodeRef;
use refit_manifest::{Identity, Path, Stream, Tree};

use super::words;
use crate::report::PatchLine;
use crate::roots::Root;

/// The keys under which patches stand, or components that may have some.
const KEYS: [&str; 4] = ["patches", "patchesStrategicMerge", "patchesJson6902", "components"];

/// Tells whether a kustomization on the way to a generated file has patches or components.
pub fn reach_generated(tree: &Tree, root: &Root) -> bool {
    let through: BTreeSet<Path> = root.generated.iter().flat_map(|file| root.build.chain(file)).collect();
    through.iter().any(|path| has_patches(tree, path))
}

/// Tells whether a kustomization has patches or components.
pub fn has_patches(tree: &Tree, path: &Path) -> bool {
    let stream = tree.bytes(path).and_then(|bytes| Stream::split(Arc::clone(bytes)).ok());
    let documents = stream.iter().flat_map(Stream::documents);
    let mut roots = documents.filter_map(|document| document.root());
    roots.any(|root| {
        let mut lists = KEYS.iter().filter_map(|key| root.get(key)).map(NodeRef::items);
        lists.any(|items| items.len() > 0)
    })
}

/// Lists the patches on the way to the generated files of a cluster and those that reach one of their objects, each with
/// what it matches; `None` where the cluster cannot be evaluated.
pub fn matched(tree: &Tree, root: &Root) -> Option<Vec<PatchLine>> {
    if !reach_generated(tree, root) {
        return None;
    }
    let built = build_as_flux(tree, &root.directory);
    if built.state != State::Evaluated {
        return None;
    }
    let through: BTreeSet<Path> = root.generated.iter().flat_map(|file| root.build.chain(file)).collect();
    let generated: BTreeSet<&Identity> = built
        .objects
        .iter()
        .filter_map(|object| of_generator(object, root))
        .collect();
    let counts = |patch: &&AppliedPatch| {
        let mut effects = patch.effects.iter();
        through.contains(&patch.entry.kustomization)
            || effects.any(|effect| generated.contains(&effect.original) || generated.contains(&effect.object))
    };
    Some(built.applied.iter().filter(counts).map(line).collect())
}

fn of_generator<'o>(object: &'o Object, root: &Root) -> Option<&'o Identity> {
    match &object.origin {
        Origin::File(place) => root.generated.contains(&place.path).then_some(&object.original),
        Origin::Generator(_) => None,
    }
}

fn line(patch: &AppliedPatch) -> PatchLine {
    let (path, kind) = match &patch.content {
        Content::File(place) => (&place.path, "patchFile"),
        Content::Inline { .. } => (&patch.entry.kustomization, "patch"),
    };
    let names: Vec<String> = patch.matched().map(ToString::to_string).collect();
    let target = words::target(patch);
    let target = match names.as_slice() {
        [] => format!("{target} (matches nothing)"),
        [only] if *only == target => format!("{target} (matches it)"),
        [..] => format!("{target} (matches {})", names.join(", ")),
    };
    PatchLine {
        path: path.to_string(),
        kind: kind.to_owned(),
        target,
    }
}
