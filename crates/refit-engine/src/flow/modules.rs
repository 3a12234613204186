//! Submodules that a cluster applies: their files are in other repositories, which are not looked at.
//!
//! In: the files and submodules of the target branch, a group. Out: findings. Flux enters submodules where the source of a
//! Kustomization says `recurseSubmodules`.

use std::collections::BTreeMap;

use refit_core::applied::{Applied, Reached};
use refit_core::finding::{Code, Finding};
use refit_core::inventory::Group;
use refit_core::streams::Streams;
use refit_kustomize::reach;
use refit_manifest::Path;
use refit_manifest::parse::NodeRef;

use super::ground::Flow;
use super::served;

/// Names the submodules below what a group applies.
pub(super) fn look(flow: Flow<'_>, group: &Group<'_>) -> Vec<Finding> {
    let snapshot = &flow.ground.snapshot;
    let modules = snapshot.paths.iter().filter(|(_, seen)| seen.submodule);
    let modules: Vec<&Path> = modules.map(|(path, _)| path).collect();
    if modules.is_empty() {
        return Vec::new();
    }
    let streams = Streams::split(&snapshot.tree);
    let reached = served::reached(&[served::repository(snapshot, &streams)], group);
    let said = Said::read(&reached, &streams);
    let mut found: BTreeMap<&Path, &str> = BTreeMap::new();
    for applied in reached.applied.iter().filter(|applied| said.enters_modules(applied)) {
        let below = |path: &&&Path| reach::is_inside(path.as_str(), &applied.directory);
        for path in modules.iter().filter(below) {
            found.entry(path).or_insert(&applied.name);
        }
    }
    let names = group.names().join("`, `");
    let finding = |(path, name): (&Path, &str)| {
        let message = format!(
            "`{names}` applies what the Kustomization `{name}` names, which is not looked at: `{path}` is a submodule, and the \
             source of the Kustomization has `recurseSubmodules`"
        );
        Finding::new(Code::SourceNotRead, path.as_str(), message)
    };
    found.into_iter().map(finding).collect()
}

/// What the objects of a group say about its sources.
struct Said {
    /// The source of each Kustomization of Flux, both as `namespace/name`.
    sources: BTreeMap<String, String>,
    /// The Git repositories whose submodules are entered, as `namespace/name`.
    entered: Vec<String>,
}

impl Said {
    fn read(reached: &Reached, streams: &Streams) -> Self {
        let (mut sources, mut entered) = (BTreeMap::new(), Vec::new());
        let files = reached.objects.iter().filter_map(|file| streams.get(&file.path));
        for root in files
            .flat_map(|stream| stream.documents())
            .filter_map(|document| document.root())
        {
            let text = |path: &[&str]| root.at(path).and_then(NodeRef::text).map(str::to_owned);
            let (group, namespace) = (
                text(&["apiVersion"]).unwrap_or_default(),
                text(&["metadata", "namespace"]),
            );
            let namespace = namespace.unwrap_or_default();
            let Some(name) = text(&["metadata", "name"]) else {
                continue;
            };
            match text(&["kind"]).as_deref() {
                Some("Kustomization") if group.starts_with("kustomize.toolkit.fluxcd.io/") => {
                    let source = text(&["spec", "sourceRef", "name"]).unwrap_or_default();
                    let of = text(&["spec", "sourceRef", "namespace"]).unwrap_or(namespace.clone());
                    sources.insert(format!("{namespace}/{name}"), format!("{of}/{source}"));
                }
                Some("GitRepository") if text(&["spec", "recurseSubmodules"]).as_deref() == Some("true") => {
                    entered.push(format!("{namespace}/{name}"));
                }
                _ => {}
            }
        }
        Self { sources, entered }
    }

    fn enters_modules(&self, applied: &Applied) -> bool {
        let source = self.sources.get(&applied.name);
        source.is_some_and(|source| self.entered.contains(source))
    }
}
