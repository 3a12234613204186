//! What a kustomization does to the objects that it has, in kustomize's order.

use super::Evaluation;
use crate::built::{Entry, Field};
use crate::images;
use crate::kustomization::Kustomization;
use crate::marks;
use crate::names;
use crate::patches::Patches;
use crate::replacements;
use crate::resource::Resource;
use crate::stop::Stop;
use crate::value::Value;

/// Fields of a kustomization that are not evaluated.
const UNSUPPORTED: [&str; 11] = [
    "openapi",
    "crds",
    "vars",
    "helmGlobals",
    "helmCharts",
    "helmChartInflationGenerator",
    "configurations",
    "generators",
    "transformers",
    "validators",
    "buildMetadata",
];

impl Evaluation<'_> {
    pub(super) fn note_unsupported(&mut self, kustomization: &Kustomization) {
        // Only the outermost kustomization decides about metadata.
        let outermost = self.open.len() == 1;
        for field in UNSUPPORTED {
            let used = kustomization.get(field).is_some_and(|value| !value.is_empty());
            if used && (field != "buildMetadata" || outermost) {
                let message = format!("`{field}` is not evaluated");
                let line = kustomization.line(field);
                self.notes.take(Stop::unsure(&kustomization.path, line, message));
            }
        }
    }

    pub(super) fn transform(
        &mut self,
        kustomization: &Kustomization,
        resources: &mut Vec<Resource>,
    ) -> Result<(), Stop> {
        self.patch(kustomization, Field::PatchesStrategicMerge, resources);
        self.patch(kustomization, Field::Patches, resources);
        self.rename(kustomization, resources)?;
        self.mark(kustomization, resources)?;
        self.patch(kustomization, Field::PatchesJson6902, resources);
        for (entry, value) in kustomization.entries(Field::Replicas) {
            let result = images::replicas(resources, &value);
            result.map_err(|failure| at_entry(&entry, resources, failure))?;
        }
        for field in [Field::Images, Field::ImageTags] {
            for (entry, value) in kustomization.entries(field) {
                let result = images::images(resources, &value);
                result.map_err(|failure| at_entry(&entry, resources, failure))?;
            }
        }
        for (entry, value) in kustomization.entries(Field::Replacements) {
            replacements::replace(self.tree, &entry, &value, resources)?;
        }
        Ok(())
    }

    fn patch(&mut self, kustomization: &Kustomization, field: Field, resources: &mut Vec<Resource>) {
        let mut patches = Patches {
            tree: self.tree,
            resources,
            applied: &mut self.applied,
            notes: &mut self.notes,
        };
        patches.apply(kustomization, field);
    }

    fn rename(&mut self, kustomization: &Kustomization, resources: &mut [Resource]) -> Result<(), Stop> {
        let namespace = kustomization.text("namespace");
        if !namespace.is_empty() {
            let result = names::namespace(resources, namespace);
            result.map_err(|failure| at_field(kustomization, "namespace", resources, failure))?;
        }
        if !kustomization.text("namePrefix").is_empty() {
            names::prefix(resources, kustomization.text("namePrefix"));
        }
        if !kustomization.text("nameSuffix").is_empty() {
            names::suffix(resources, kustomization.text("nameSuffix"));
        }
        Ok(())
    }

    fn mark(&mut self, kustomization: &Kustomization, resources: &mut [Resource]) -> Result<(), Stop> {
        for (entry, value) in kustomization.entries(Field::Labels) {
            let specs = marks::of_entry(&value).map_err(|reason| Stop::entry(&entry, reason))?;
            let pairs = value.get("pairs").cloned().unwrap_or(Value::Null);
            let result = marks::set(resources, &pairs, &specs);
            result.map_err(|(at, reason)| at_entry(&entry, resources, (Some(at), reason)))?;
        }
        let fields = [
            ("commonLabels", marks::common()),
            ("commonAnnotations", marks::annotations()),
        ];
        for (field, specs) in fields {
            if let Some(pairs) = kustomization.get(field) {
                let result = marks::set(resources, pairs, &specs);
                result.map_err(|failure| at_field(kustomization, field, resources, failure))?;
            }
        }
        Ok(())
    }
}

fn at_entry(entry: &Entry, resources: &[Resource], (at, reason): (Option<usize>, String)) -> Stop {
    match at.and_then(|at| resources.get(at)) {
        Some(resource) => {
            let identity = resource.id().identity();
            let message = format!("`{identity}`: {reason}");
            Stop::object(entry, identity, message)
        }
        None => Stop::entry(entry, reason),
    }
}

fn at_field(kustomization: &Kustomization, field: &str, resources: &[Resource], (at, reason): (usize, String)) -> Stop {
    let object = resources.get(at).map(|resource| resource.id().identity());
    let words = object
        .as_ref()
        .map(|object| format!("`{object}`: "))
        .unwrap_or_default();
    let line = kustomization.line(field);
    let mut stop = Stop::failed(&kustomization.path, line, format!("{words}{reason}"));
    stop.amend(|failure| failure.object = object);
    stop
}
