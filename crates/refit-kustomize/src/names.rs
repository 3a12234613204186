//! Namespace, prefix and suffix.
//!
//! In: objects and what the kustomization wants. Out: renamed objects that remember what they were called.

use crate::fields::{FieldSpec, Make, table, visit};
use crate::resource::{PREFIXES, Resource, SUFFIXES, counts, entry, owned_key, raw_at, set_metadata};
use crate::value::Value;

/// Where a namespace stands beside `metadata.namespace`.
const NAMESPACES: &str = "\
|v1|Namespace +metadata/name
apiextensions.k8s.io||CustomResourceDefinition spec/conversion/webhook/clientConfig/service/namespace
apiregistration.k8s.io||APIService +spec/service/namespace";

/// Puts all objects into a namespace; `Err` has the object and why kustomize stops.
pub(crate) fn namespace(resources: &mut [Resource], namespace: &str) -> Result<(), (usize, String)> {
    let specs = table(NAMESPACES);
    let mut counts = counts(resources);
    for (at, resource) in resources.iter_mut().enumerate() {
        let before = owned_key(&resource.id());
        resource.remember();
        one_namespace(resource, namespace, &specs).map_err(|reason| (at, reason))?;
        let after = owned_key(&resource.id());
        if before != after {
            *counts.entry(before).or_insert(1) -= 1;
            *counts.entry(after.clone()).or_insert(0) += 1;
        }
        if counts.get(&after).is_some_and(|count| *count > 1) {
            return Err((at, format!("in the namespace `{namespace}` it is there twice")));
        }
    }
    Ok(())
}

fn one_namespace(resource: &mut Resource, namespace: &str, specs: &[FieldSpec]) -> Result<(), String> {
    let id = resource.id();
    let value = &mut resource.value;
    if !id.is_cluster_scoped() {
        set_metadata(value, "namespace", namespace);
    }
    if matches!(id.kind.as_str(), "RoleBinding" | "ClusterRoleBinding") {
        subjects(value, namespace)?;
    }
    for spec in specs {
        visit(value, spec, Make::Scalar, &mut |field| {
            scalar(field, |_| namespace.to_owned())
        })?;
    }
    Ok(())
}

/// Sets the namespace of subjects that are called `default`.
fn subjects(value: &mut Value, namespace: &str) -> Result<(), String> {
    match value.get_mut("subjects") {
        None => Ok(()),
        Some(subjects) if subjects.is_null() => Ok(()),
        Some(Value::List(subjects)) => {
            for subject in subjects {
                if subject.as_map().is_none() && !subject.is_null() {
                    return Err("a subject is no mapping".to_owned());
                }
                if raw_at(subject, &["name"]) == "default" {
                    subject.set("namespace", Value::text(namespace));
                }
            }
            Ok(())
        }
        Some(_) => Err("`subjects` is no list".to_owned()),
    }
}

fn scalar(field: &mut Value, text: impl Fn(&str) -> String) -> Result<(), String> {
    if field.scalar().is_none() {
        return Err("a collection stands where a scalar is wanted".to_owned());
    }
    *field = Value::text(&text(if field.is_null() { "" } else { field.raw() }));
    Ok(())
}

/// Puts a prefix before all names.
pub(crate) fn prefix(resources: &mut [Resource], prefix: &str) {
    rename(resources, PREFIXES, prefix, |name| format!("{prefix}{name}"));
}

/// Puts a suffix behind all names.
pub(crate) fn suffix(resources: &mut [Resource], suffix: &str) {
    rename(resources, SUFFIXES, suffix, |name| format!("{name}{suffix}"));
}

fn rename(resources: &mut [Resource], note: &str, word: &str, new: impl Fn(&str) -> String) {
    for resource in resources {
        let first = resource.original();
        let keeps_its_name = matches!(first.kind.as_str(), "CustomResourceDefinition" | "Namespace")
            || (first.kind == "APIService" && first.group() == "apiregistration.k8s.io");
        if keeps_its_name {
            continue;
        }
        resource.append(note, word);
        resource.remember();
        let name = new(&resource.id().name);
        entry(&mut resource.value, "metadata").set("name", Value::text(&name));
    }
}
