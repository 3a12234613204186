//! The objects of a snapshot.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::Identity;
use serde_json::Value;

use super::{Error, Evidence, Held, Running};
use crate::configuration::kubernetes;
use crate::generated::{COMPONENT_LABEL, PART_OF_LABEL, Served, VERSION_LABEL};
use crate::release::Version;

/// The versions in managed fields by group and kind.
type Managed = BTreeMap<(String, String), BTreeSet<String>>;

#[derive(Default)]
struct Gathered {
    evidence: Evidence,
    managed: Managed,
    nodes: Option<Version>,
    objects: usize,
    empty_lists: usize,
}

/// Gathers what the documents say.
pub(super) fn evidence(documents: Vec<Value>) -> Result<Evidence, Error> {
    let mut gathered = Gathered::default();
    for document in &documents {
        gathered.take(document)?;
    }
    gathered.finish(&documents)
}

impl Gathered {
    fn take(&mut self, object: &Value) -> Result<(), Error> {
        if let Some(server) = object.get("serverVersion") {
            self.objects += 1;
            self.evidence.kubernetes = text(server, &["gitVersion"]).and_then(kubernetes);
            return Ok(());
        }
        let Some(kind) = text(object, &["kind"]) else {
            return Ok(());
        };
        if let Some(items) = object.get("items").and_then(Value::as_array) {
            // An empty list is an answer as well.
            self.empty_lists += usize::from(items.is_empty());
            self.take_listed(object, kind);
            return items.iter().try_for_each(|item| self.take(item));
        }
        self.objects += 1;
        self.evidence.kept.extend(kept(object, kind));
        match kind {
            "CustomResourceDefinition" => self.take_definition(object),
            "Deployment" => {
                self.evidence.controllers.extend(running(object));
                Ok(())
            }
            "Node" => {
                let version = text(object, &["status", "nodeInfo", "kubeletVersion"]).and_then(kubernetes);
                self.nodes = self.nodes.take().max(version);
                Ok(())
            }
            _ => {
                self.take_managed(object, kind);
                Ok(())
            }
        }
    }

    fn take_definition(&mut self, object: &Value) -> Result<(), Error> {
        let Some(name) = text(object, &["metadata", "name"]) else {
            return Ok(());
        };
        let held = held(object);
        if held.stored.is_empty() || held.versions.is_empty() {
            return Err(Error::NotFromCluster { name: name.to_owned() });
        }
        match self.evidence.definitions.insert(name.to_owned(), held) {
            Some(before) if self.evidence.definitions.get(name) != Some(&before) => {
                Err(Error::Twice { name: name.to_owned() })
            }
            _ => Ok(()),
        }
    }

    /// Notes that all objects of a kind are there, where a list says of which kind it is; `List` alone does not.
    fn take_listed(&mut self, list: &Value, kind: &str) {
        let is_whole = text(list, &["metadata", "continue"]).is_none_or(str::is_empty);
        let group = text(list, &["apiVersion"]).and_then(|text| text.split_once('/'));
        if let (true, Some((group, _)), Some(of)) = (is_whole, group, kind.strip_suffix("List")) {
            self.managed.entry((group.to_owned(), of.to_owned())).or_default();
        }
    }

    fn take_managed(&mut self, object: &Value, kind: &str) {
        let fields = object.pointer("/metadata/managedFields").and_then(Value::as_array);
        for entry in fields.into_iter().flatten() {
            let Some((group, version)) = text(entry, &["apiVersion"]).and_then(|text| text.split_once('/')) else {
                continue;
            };
            let of_kind = self.managed.entry((group.to_owned(), kind.to_owned()));
            of_kind.or_default().insert(version.to_owned());
        }
    }

    fn finish(mut self, documents: &[Value]) -> Result<Evidence, Error> {
        if self.objects + self.empty_lists == 0 {
            let begins = documents.first().map(first_words).unwrap_or_default();
            return Err(Error::NoObjects { begins });
        }
        if self.evidence.definitions.is_empty() {
            return Err(Error::NoDefinitions { objects: self.objects });
        }
        for (name, held) in &self.evidence.definitions {
            if let Some(versions) = self.managed.remove(&(held.group.clone(), held.kind.clone())) {
                self.evidence.managed.insert(name.clone(), versions);
            }
        }
        self.evidence.kubernetes = self.evidence.kubernetes.take().or(self.nodes);
        Ok(self.evidence)
    }
}

fn held(object: &Value) -> Held {
    let list = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
    let label = |name: &str| text(object, &["metadata", "labels", name]).map(ToOwned::to_owned);
    let of_spec = |path: &[&str]| text(object, path).unwrap_or_default().to_owned();
    Held {
        kind: of_spec(&["spec", "names", "kind"]),
        group: of_spec(&["spec", "group"]),
        version_label: label(VERSION_LABEL),
        part_of: label(PART_OF_LABEL),
        component: label(COMPONENT_LABEL),
        versions: list("/spec/versions").map(served).collect(),
        stored: list("/status/storedVersions")
            .filter_map(Value::as_str)
            .map(ToOwned::to_owned)
            .collect(),
        deleting: text(object, &["metadata", "deletionTimestamp"]).is_some(),
    }
}

fn served(version: &Value) -> Served {
    let flag = |name: &str| version.get(name).and_then(Value::as_bool).unwrap_or_default();
    Served {
        name: text(version, &["name"]).unwrap_or_default().to_owned(),
        served: flag("served"),
        storage: flag("storage"),
        deprecated: flag("deprecated"),
    }
}

/// Gives what an object is called that kustomize-controller does not prune.
fn kept(object: &Value, kind: &str) -> Option<Identity> {
    let mark = text(
        object,
        &["metadata", "annotations", "kustomize.toolkit.fluxcd.io/prune"],
    )?;
    let own = |key: &str| text(object, &["metadata", key]);
    let group = text(object, &["apiVersion"])?.split_once('/');
    (mark == "disabled").then_some(Identity {
        group: group.map_or("", |(group, _)| group).into(),
        kind: kind.into(),
        namespace: own("namespace").unwrap_or_default().into(),
        name: own("name")?.into(),
    })
}

fn running(object: &Value) -> Option<Running> {
    let own = |path: &[&str]| text(object, path).map(ToOwned::to_owned);
    let containers = object.pointer("/spec/template/spec/containers")?.as_array()?;
    let named = |container: &&Value| text(container, &["name"]) == Some("manager");
    let container = containers.iter().find(named).or_else(|| containers.first())?;
    let number = |path: &str| object.pointer(path).and_then(Value::as_i64);
    let wanted = number("/spec/replicas").unwrap_or(1);
    let observed = number("/status/observedGeneration") >= number("/metadata/generation");
    let all = |path: &str| number(path).unwrap_or_default() == wanted;
    Some(Running {
        namespace: own(&["metadata", "namespace"]).unwrap_or_default(),
        name: own(&["metadata", "name"])?,
        part_of: own(&["metadata", "labels", PART_OF_LABEL])?,
        version_label: own(&["metadata", "labels", VERSION_LABEL]),
        image: text(container, &["image"]).unwrap_or_default().to_owned(),
        rolled_out: observed
            && [
                "/status/replicas",
                "/status/updatedReplicas",
                "/status/availableReplicas",
            ]
            .into_iter()
            .all(all),
    })
}

fn text<'a>(object: &'a Value, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(object, |value, key| value.get(key))?.as_str()
}

fn first_words(document: &Value) -> String {
    let text = match document {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    words.join(" ").chars().take(60).collect()
}
