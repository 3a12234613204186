//! The request that marks objects before another one moves them to another Kustomization of Flux.
//!
//! In: the plan of a request and what it moves. Out: the [`Leg`] that comes before it, and what must be seen in the cluster
//! between the two. A conversion never moves an object: it changes versions and fields where they stand. An upgrade does,
//! where the release drops an object that another Kustomization has as well, such as a policy that people copied.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_core::plan::{Edits, Plan};
use refit_core::pruning::{self, Moving};
use refit_core::record::Record;
use refit_core::stage::{Conversion, Gate, Later, Place, Said, Stage, Wait};
use refit_manifest::{Identity, Path, Stream};

use super::ground::Flow;
use super::journey::{Leads, Leg};

/// Gives the request that comes before another one, where that moves what is not marked; what cannot be marked here blocks
/// the plan.
pub(super) fn before(flow: Flow<'_>, leg: &Leg, plan: &mut Plan) -> Option<Leg> {
    let unmarked: Vec<&Moving> = plan.moves.iter().filter(|moving| moving.kept.is_none()).collect();
    if unmarked.is_empty() || leg.place.stage == Stage::Detach {
        return None;
    }
    let detached = pruning::detach(&[&flow.ground.snapshot.tree], &unmarked);
    let changes = |path: &Path| -> Vec<String> {
        let here = unmarked.iter().filter(|moving| {
            let place = moving.place.as_ref();
            place.is_some_and(|place| place.document.path == *path)
        });
        here.map(|moving| format!("{moving}: annotated with `kustomize.toolkit.fluxcd.io/prune: disabled` first"))
            .collect()
    };
    let conversion = |path: &Path| Conversion {
        path: path.to_string(),
        changes: changes(path),
    };
    let paths = detached.edits.keys().map(|file| &file.path);
    let conversions: Vec<Conversion> = paths.map(conversion).collect();
    let edits = Edits {
        files: detached
            .edits
            .into_iter()
            .map(|(file, bytes)| (file.path, bytes))
            .collect(),
        conversions,
        ..Edits::default()
    };
    plan.findings.extend(detached.findings);
    if edits.files.is_empty() {
        return None;
    }
    let gates = std::iter::once(gate(Vec::new())).chain(leg.place.gate.iter().cloned());
    let next = Later {
        stage: leg.place.stage,
        title: plan.title.clone(),
        gate: gates.collect(),
    };
    let later = std::iter::once(next).chain(leg.place.later.iter().cloned()).collect();
    Some(Leg {
        leads: Leads::On,
        upgrade: leg.upgrade.clone(),
        from: leg.from.clone(),
        to: leg.from.clone(),
        place: Place {
            stage: Stage::Detach,
            gate: Vec::new(),
            later,
            ..leg.place.clone()
        },
        edits,
        findings: Vec::new(),
        said: Said::default(),
    })
}

fn gate(ways: Vec<String>) -> Gate {
    Gate {
        wait: Wait::Reconciled,
        why: vec!["objects that move have their mark in the cluster first, so that they are not removed".to_owned()],
        ways,
        shows: true,
    }
}

/// Gives what must be seen in the cluster after a request that marked objects, and whether the snapshot shows it; `None`
/// where the branch has no mark any more.
pub(super) fn seen(flow: Flow<'_>, record: &Record) -> Option<(Gate, bool)> {
    let tree = &flow.ground.snapshot.tree;
    let files = record.conversions.iter();
    let marked: BTreeSet<Identity> = files
        .filter_map(|file| Stream::split(Arc::clone(tree.bytes(&Path::new(file.path.as_str()))?)).ok())
        .flat_map(|stream| pruning::marked(&stream))
        .collect();
    if marked.is_empty() {
        return None;
    }
    let snapshot = flow.ask.snapshot.as_ref();
    let shown = snapshot.is_some_and(|snapshot| marked.is_subset(&snapshot.evidence.kept));
    Some((gate(marked.iter().map(look).collect()), shown))
}

/// Gives the line that adds an object to a snapshot.
fn look(object: &Identity) -> String {
    let kind = object.kind.to_lowercase();
    let kind = match &*object.group {
        "" => kind,
        group => format!("{kind}.{group}"),
    };
    let namespace = match &*object.namespace {
        "" => String::new(),
        namespace => format!(" -n {namespace}"),
    };
    format!("kubectl get {kind} {}{namespace} -o json >> snapshot.json", object.name)
}
