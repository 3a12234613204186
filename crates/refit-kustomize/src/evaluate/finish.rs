//! What happens once, when all directories are built: hashes, references, order, and the evaluator's own notes go.

use super::Evaluation;
use crate::built::Object;
use crate::generators;
use crate::kustomization::Kustomization;
use crate::order;
use crate::read::finished;
use crate::references;
use crate::resource::{Resource, set_strings, strings, twice};
use crate::stop::Stop;

/// Objects with this annotation are for local use alone.
const LOCAL: &str = "config.kubernetes.io/local-config";
/// Annotations that kustomize keeps for itself.
const OWN: [&str; 5] = [
    "config.kubernetes.io/path",
    "config.kubernetes.io/index",
    "config.k8s.io/id",
    "config.kubernetes.io/origin",
    "alpha.config.kubernetes.io/transformations",
];

impl Evaluation<'_> {
    pub(super) fn finish(
        &mut self,
        kustomization: &Kustomization,
        mut resources: Vec<Resource>,
    ) -> Result<Vec<Object>, Stop> {
        let place = |resources: &[Resource], (at, reason): (usize, String)| {
            let object = resources.get(at).map(|resource| resource.id().identity());
            let words = object.map(|object| format!("`{object}`: ")).unwrap_or_default();
            Stop::failed(&kustomization.path, 1, format!("{words}{reason}"))
        };
        for resource in &resources {
            if let Some(key) = &resource.unsure {
                let identity = resource.id().identity();
                let message = format!("`{identity}`: `{key}`, which stands in several fields, is changed again");
                self.notes.take(Stop::unsure(&kustomization.path, 1, message));
            }
        }
        if let Err((at, reason)) = generators::add_hashes(&mut resources) {
            let identity = resources.get(at).map(|resource| resource.id().identity().to_string());
            let message = format!("`{}`: {reason}", identity.unwrap_or_default());
            self.notes.take(Stop::unsure(&kustomization.path, 1, message));
        }
        if let Some(resource) = resources.iter().find(|resource| resource.was_nameless()) {
            let message = format!("`{}` had no name or no kind on the way", resource.id().identity());
            return Err(Stop::failed(&kustomization.path, 1, message));
        }
        let result = references::follow(&mut resources);
        result.map_err(|failure| place(&resources, failure))?;
        if let Some(key) = twice(&resources) {
            let message = format!("in the end there are two objects `{}/{}`", key.1, key.2);
            return Err(Stop::failed(&kustomization.path, 1, message));
        }
        let nameless = |resource: &&Resource| {
            let id = resource.id();
            id.kind.is_empty() || (id.name.is_empty() && !id.kind.ends_with("List"))
        };
        if let Some(resource) = resources.iter().find(nameless) {
            let message = format!("in the end a `{}` has no name or no kind", resource.id().kind);
            return Err(Stop::failed(&kustomization.path, 1, message));
        }
        resources.retain(|resource| {
            let annotations = strings(&resource.value, "annotations");
            annotations.get(LOCAL).is_none_or(|value| value == "false")
        });
        let sorted = order::sort(&mut resources, kustomization.get("sortOptions"));
        sorted.map_err(|reason| Stop::failed(&kustomization.path, kustomization.line("sortOptions"), reason))?;
        let mut objects = Vec::with_capacity(resources.len());
        for resource in resources {
            let identity = resource.id().identity();
            let failed = |reason| place(&[], (0, format!("`{identity}`: {reason}")));
            objects.push(object(resource).map_err(failed)?);
        }
        Ok(objects)
    }
}

/// Takes the annotations of the evaluation off a resource.
fn object(mut resource: Resource) -> Result<Object, String> {
    let (identity, original) = (resource.id().identity(), resource.original().identity());
    let mut annotations = strings(&resource.value, "annotations");
    annotations.retain(|key, _| !is_own(key));
    set_strings(&mut resource.value, "annotations", &annotations);
    Ok(Object {
        value: finished(resource.value)?,
        identity,
        original,
        origin: resource.origin,
        through: resource.through,
    })
}

fn is_own(key: &str) -> bool {
    key.starts_with(crate::resource::INTERNAL) || OWN.contains(&key)
}
