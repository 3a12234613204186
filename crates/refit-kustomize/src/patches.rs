//! Patches of a kustomization, applied to objects.
//!
//! In: an entry of `patches`, `patchesStrategicMerge` or `patchesJson6902`, and the objects. Out: changed objects and a
//! record of what each patch matched and did.

mod load;

use refit_manifest::Tree;

use crate::built::{AppliedPatch, Effect, Entry, Field, Form, Merge};
use crate::kustomization::Kustomization;
use crate::merge;
use crate::operations::{self, Written, without_internal};
use crate::resource::{
    ALLOW_KIND, ALLOW_NAME, ENABLED, INTERNAL, NEEDS_HASH, Resource, id_of, raw_at, set_metadata, set_strings, strings,
    twice,
};
use crate::selector::{self, Selector};
use crate::stop::{Notes, Stop};
use crate::value::Value;

use load::{Body, Document, Loaded};

/// The patches of one kustomization, and what they work on.
pub(crate) struct Patches<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) resources: &'a mut Vec<Resource>,
    pub(crate) applied: &'a mut Vec<AppliedPatch>,
    pub(crate) notes: &'a mut Notes,
}

impl Patches<'_> {
    /// Applies all entries of one list; an entry that fails is noted, and the others are applied.
    pub(crate) fn apply(&mut self, kustomization: &Kustomization, field: Field) {
        for (entry, value) in kustomization.entries(field) {
            if let Err(stop) = self.entry(&entry, &value) {
                self.notes.take(stop);
            }
            // Strategic merges of `patchesStrategicMerge` are one step in kustomize.
            if field != Field::PatchesStrategicMerge {
                self.drop_deleted();
            }
        }
        self.drop_deleted();
    }

    fn drop_deleted(&mut self) {
        self.resources.retain(|resource| !resource.deleted);
    }

    fn entry(&mut self, entry: &Entry, value: &Value) -> Result<(), Stop> {
        let loaded = load::load(self.tree, entry, value)?;
        let written = value
            .get("target")
            .filter(|target| !target.is_null())
            .map(selector::target);
        let ready = written.as_ref().map(Selector::new).transpose();
        let selector = ready.map_err(|reason| Stop::entry(entry, reason))?;
        if entry.field == Field::PatchesJson6902 && written.as_ref().is_none_or(|target| target.name.is_empty()) {
            return Err(Stop::entry(entry, "the patch needs a `target` with a name"));
        }
        let record = |form: Form, loaded: &Loaded, document: Option<&Document>| AppliedPatch {
            entry: entry.clone(),
            content: loaded.content(document),
            form,
            target: written.clone(),
            own: document.map(|document| id_of(&document.value).identity()),
            own_api_version: document
                .map(|document| raw_at(&document.value, &["apiVersion"]).to_owned())
                .unwrap_or_default(),
            effects: Vec::new(),
        };
        match &loaded.body {
            Body::Merges(documents) => {
                if selector.is_some() && documents.len() > 1 {
                    let message = "a patch with `target` holds more than one document; kustomize allows one";
                    return Err(Stop::entry(entry, message));
                }
                for document in documents {
                    let mut patch = record(Form::StrategicMerge, &loaded, Some(document));
                    let result = self.merge(entry, document, selector.as_ref(), &mut patch);
                    self.applied.push(patch);
                    if let Err(stop) = result {
                        self.notes.take(stop);
                    }
                }
                Ok(())
            }
            Body::Operations(operations) => {
                let Some(selector) = selector else {
                    return Err(Stop::entry(entry, "a patch by RFC 6902 needs a `target`"));
                };
                let mut patch = record(Form::Json6902, &loaded, None);
                let result = self.operations(entry, operations, &selector, &mut patch);
                self.applied.push(patch);
                result
            }
        }
    }

    fn merge(
        &mut self,
        entry: &Entry,
        document: &Document,
        selector: Option<&Selector>,
        patch: &mut AppliedPatch,
    ) -> Result<(), Stop> {
        let selected: Vec<usize> = match selector {
            Some(selector) => self.select(selector),
            None => vec![self.named(entry, document)?],
        };
        // With a target, and in `patchesStrategicMerge`, kustomize fits the patch to each object first.
        let fits = selector.is_some() || entry.field == Field::PatchesStrategicMerge;
        for at in selected {
            let resource = &mut self.resources[at];
            let value = if fits {
                fitted(&document.value, resource)
            } else {
                document.value.clone()
            };
            let effect = merge_one(resource, &value);
            let effect = effect.map_err(|reason| Stop::object(entry, resource.id().identity(), reason))?;
            patch.effects.push(effect);
        }
        if fits {
            self.resources.retain(|resource| !resource.deleted);
            if let Some(key) = twice(self.resources) {
                let message = format!("after the patch there are two objects `{}/{}`", key.1, key.2);
                return Err(Stop::entry(entry, message));
            }
        }
        Ok(())
    }

    fn select(&self, selector: &Selector) -> Vec<usize> {
        let resources = self.resources.iter().enumerate();
        let selected = resources.filter(|(_, resource)| !resource.deleted && selector.selects(resource));
        selected.map(|(at, _)| at).collect()
    }

    /// Finds the one object that a patch without target is for.
    fn named(&self, entry: &Entry, document: &Document) -> Result<usize, Stop> {
        let wanted = id_of(&document.value);
        let is_meant = |resource: &Resource| !resource.deleted && resource.ids().contains(&wanted);
        let mut found = (0..self.resources.len()).filter(|at| is_meant(&self.resources[*at]));
        let identity = wanted.identity();
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (None, _) => {
                let message = format!(
                    "no object is the `{identity}` of `{}` that the patch is for",
                    wanted.api_version
                );
                Err(Stop::object(entry, identity, message))
            }
            (Some(_), Some(_)) => {
                let message = format!("more than one object is the `{identity}` that the patch is for");
                Err(Stop::object(entry, identity, message))
            }
        }
    }

    fn operations(
        &mut self,
        entry: &Entry,
        operations: &[Written],
        selector: &Selector,
        patch: &mut AppliedPatch,
    ) -> Result<(), Stop> {
        let mut first = Ok(());
        for at in self.select(selector) {
            let resource = &mut self.resources[at];
            let mut effect = begin(resource);
            if entry.field == Field::Patches {
                resource.remember();
            }
            let before = resource.value.clone();
            let applied = operations::apply(&before, operations);
            effect.operations = applied.operations;
            if let Some(reason) = applied.failure {
                let stop = Stop::object(entry, effect.object.clone(), format!("`{}`: {reason}", effect.object));
                patch.effects.push(effect);
                // Kustomize ends here; the other objects are looked at all the same.
                first = first.and(Err(stop));
                continue;
            }
            resource.value = applied.value;
            // All values are new ones now.
            resource.shared.clear();
            let mut annotations = strings(&resource.value, "annotations");
            let kept = strings(&before, "annotations");
            annotations.extend(kept.into_iter().filter(|(key, _)| key.starts_with(INTERNAL)));
            set_strings(&mut resource.value, "annotations", &annotations);
            effect.changed = without_internal(&before) != without_internal(&resource.value);
            patch.effects.push(effect);
        }
        first
    }
}

fn begin(resource: &Resource) -> Effect {
    Effect {
        object: resource.id().identity(),
        original: resource.original().identity(),
        api_version: raw_at(&resource.value, &["apiVersion"]).to_owned(),
        changed: false,
        deleted: false,
        operations: Vec::new(),
        merge: Merge::default(),
    }
}

/// Gives a patch the API version of an object; labels and annotations become strings on the way, as they do in kustomize.
fn fitted(patch: &Value, resource: &Resource) -> Value {
    let mut patch = patch.clone();
    for field in ["labels", "annotations"] {
        let mut marks = strings(&patch, field);
        marks.remove(NEEDS_HASH);
        set_strings(&mut patch, field, &marks);
    }
    if raw_at(&patch, &["metadata", "namespace"]).is_empty()
        && let Some(metadata) = patch.get_mut("metadata")
    {
        metadata.take("namespace");
    }
    patch.set("apiVersion", Value::text(raw_at(&resource.value, &["apiVersion"])));
    patch
}

fn merge_one(resource: &mut Resource, patch: &Value) -> Result<Effect, String> {
    let mut effect = begin(resource);
    let id = resource.id();
    let allowed = |key: &str| patch.at(&["metadata", "annotations", key]).map(Value::raw) == Some(ENABLED);
    let (name, kind) = (allowed(ALLOW_NAME), allowed(ALLOW_KIND));
    if name || kind {
        resource.remember();
    }
    let before = without_internal(&resource.value);
    let merged = merge::merge(&resource.value, patch)?;
    let whole = (!resource.shared.is_empty()).then(|| resource.value.clone());
    effect.merge = Merge {
        replaced: merged.replaced,
        directives: merge::directives(patch),
    };
    match merged.value.filter(|value| !value.is_empty()) {
        Some(value) => resource.value = value,
        None => {
            resource.deleted = true;
            effect.deleted = true;
            effect.changed = true;
            return Ok(effect);
        }
    }
    if let Some(whole) = whole {
        resource.note_shared(&whole);
    }
    let value = &mut resource.value;
    if !kind && raw_at(value, &["kind"]) != id.kind {
        value.set("kind", Value::text(&id.kind));
    }
    if !name && raw_at(value, &["metadata", "name"]) != id.name {
        set_metadata(value, "name", &id.name);
    }
    if id.namespace.is_empty() {
        if let Some(metadata) = value.get_mut("metadata") {
            metadata.take("namespace");
        }
    } else if raw_at(value, &["metadata", "namespace"]) != id.namespace {
        set_metadata(value, "namespace", &id.namespace);
    }
    effect.changed = before != without_internal(value);
    Ok(effect)
}
