//! Labels and annotations that are set on all objects.
//!
//! In: objects and pairs. Out: objects with the pairs in the fields that kustomize sets them in.

use crate::fields::{FieldSpec, Make, made_field, table, visit};
use crate::id::Gvk;
use crate::resource::{Resource, raw_at};
use crate::value::Value;

/// Where labels of pods stand.
const TEMPLATES: &str = "\
||Deployment +spec/template/metadata/labels
apps||StatefulSet +spec/template/metadata/labels
apps||StatefulSet +spec/volumeClaimTemplates[]/metadata/labels
batch||CronJob +spec/jobTemplate/metadata/labels
batch||CronJob +spec/jobTemplate/spec/template/metadata/labels
batch||Job +spec/template/metadata/labels
|v1|ReplicationController +spec/template/metadata/labels
||DaemonSet +spec/template/metadata/labels
||ReplicaSet +spec/template/metadata/labels";

/// Where labels select something.
const SELECTORS: &str = "\
|v1|Service +spec/selector
|v1|ReplicationController +spec/selector
||Deployment +spec/selector/matchLabels
||DaemonSet +spec/selector/matchLabels
||ReplicaSet +spec/selector/matchLabels
apps||StatefulSet +spec/selector/matchLabels
batch||CronJob spec/jobTemplate/spec/selector/matchLabels
batch||Job spec/selector/matchLabels
policy||PodDisruptionBudget spec/selector/matchLabels
networking.k8s.io||NetworkPolicy spec/egress/to/podSelector/matchLabels
networking.k8s.io||NetworkPolicy spec/ingress/from/podSelector/matchLabels
networking.k8s.io||NetworkPolicy spec/podSelector/matchLabels";

/// Where labels of pods are meant by the scheduler, below the template of Deployments and StatefulSets.
const SCHEDULING: [&str; 5] = [
    "affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels",
    "affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels",
    "topologySpreadConstraints/labelSelector/matchLabels",
];

/// Where annotations stand.
const ANNOTATIONS: &str = "\
|| +metadata/annotations
||Deployment +spec/template/metadata/annotations
||StatefulSet +spec/template/metadata/annotations
batch||CronJob +spec/jobTemplate/metadata/annotations
batch||CronJob +spec/jobTemplate/spec/template/metadata/annotations
batch||Job +spec/template/metadata/annotations
|v1|ReplicationController +spec/template/metadata/annotations
||DaemonSet +spec/template/metadata/annotations
||ReplicaSet +spec/template/metadata/annotations";

/// Gives the fields of `commonLabels`.
pub(crate) fn common() -> Vec<FieldSpec> {
    let mut specs = templates();
    specs.extend(table(SELECTORS));
    for kind in ["Deployment", "StatefulSet"] {
        specs.extend(SCHEDULING.iter().map(|path| FieldSpec {
            gvk: Gvk {
                group: "apps".to_owned(),
                version: String::new(),
                kind: kind.to_owned(),
            },
            path: format!("spec/template/spec/{path}"),
            create: false,
        }));
    }
    specs
}

fn templates() -> Vec<FieldSpec> {
    let mut specs = table(TEMPLATES);
    specs.push(made_field("metadata/labels"));
    specs
}

/// Gives the fields of an entry of `labels`; `Err` says why kustomize stops.
pub(crate) fn of_entry(entry: &Value) -> Result<Vec<FieldSpec>, String> {
    let says = |key: &str| entry.get(key) == Some(&Value::Bool(true));
    let own = entry
        .get("fields")
        .map_or(&[][..], Value::items)
        .iter()
        .map(|spec| FieldSpec {
            gvk: Gvk {
                group: raw_at(spec, &["group"]).to_owned(),
                version: raw_at(spec, &["version"]).to_owned(),
                kind: raw_at(spec, &["kind"]).to_owned(),
            },
            path: raw_at(spec, &["path"]).to_owned(),
            create: spec.get("create") == Some(&Value::Bool(true)),
        });
    let mut specs: Vec<FieldSpec> = own.collect();
    let more = match (says("includeSelectors"), says("includeTemplates")) {
        (true, _) => common(),
        (false, true) => templates(),
        (false, false) => vec![made_field("metadata/labels")],
    };
    for spec in more {
        let wider = |other: &&FieldSpec| other.path == spec.path && selects(&spec.gvk, &other.gvk);
        match specs.iter().find(wider) {
            Some(same) if same.create != spec.create => {
                return Err(format!("the field `{}` is given twice, once with `create`", spec.path));
            }
            Some(_) => {}
            None => specs.push(spec),
        }
    }
    Ok(specs)
}

fn selects(wanted: &Gvk, other: &Gvk) -> bool {
    let fits = |wanted: &str, is: &str| wanted.is_empty() || wanted == is;
    fits(&wanted.group, &other.group) && fits(&wanted.version, &other.version) && fits(&wanted.kind, &other.kind)
}

/// Gives the fields of `commonAnnotations`.
pub(crate) fn annotations() -> Vec<FieldSpec> {
    table(ANNOTATIONS)
}

/// Sets pairs in fields of all objects; `Err` has the object and why kustomize stops.
pub(crate) fn set(resources: &mut [Resource], pairs: &Value, specs: &[FieldSpec]) -> Result<(), (usize, String)> {
    for (at, resource) in resources.iter_mut().enumerate() {
        let before = (!resource.shared.is_empty()).then(|| resource.value.clone());
        for (key, text) in pairs.as_map().into_iter().flatten() {
            let mut new = 0;
            for spec in specs {
                let mut set = |field: &mut Value| match field {
                    Value::Map(map) => {
                        let text = Value::text(if text.is_null() { "" } else { text.raw() });
                        new += usize::from(map.insert(key.clone(), text).is_none());
                        Ok(())
                    }
                    field if field.is_null() => Ok(()),
                    _ => Err("something else stands where a mapping is wanted".to_owned()),
                };
                visit(&mut resource.value, spec, Make::Mapping, &mut set).map_err(|reason| (at, reason))?;
            }
            if new > 1 {
                resource.shared.insert(key.clone());
            }
        }
        if let Some(before) = before {
            resource.note_shared(&before);
        }
    }
    Ok(())
}
