//! The order in which objects are printed.
//!
//! In: objects in the order in which they were reached. Out: the order that `sortOptions` ask for; without them the legacy
//! one: kinds that others need come first, webhooks last.

use std::cmp::Ordering;

use crate::id::Id;
use crate::resource::{Resource, raw_at};
use crate::value::Value;

const FIRST: [&str; 22] = [
    "Namespace",
    "ResourceQuota",
    "StorageClass",
    "CustomResourceDefinition",
    "ServiceAccount",
    "PodSecurityPolicy",
    "Role",
    "ClusterRole",
    "RoleBinding",
    "ClusterRoleBinding",
    "ConfigMap",
    "Secret",
    "Endpoints",
    "Service",
    "LimitRange",
    "PriorityClass",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Deployment",
    "StatefulSet",
    "CronJob",
    "PodDisruptionBudget",
];
const LAST: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];

/// Orders objects; `Err` says why kustomize stops.
pub(crate) fn sort(resources: &mut Vec<Resource>, options: Option<&Value>) -> Result<(), String> {
    let owned = |list: &[&str]| list.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    let (mut first, mut last) = (owned(&FIRST), owned(&LAST));
    if let Some(options) = options {
        let legacy = options.get("legacySortOptions").filter(|legacy| !legacy.is_null());
        match (raw_at(options, &["order"]), legacy) {
            ("fifo", None) => return Ok(()),
            ("fifo", Some(_)) => return Err("`legacySortOptions` need `order: legacy`".to_owned()),
            ("legacy", Some(legacy)) => {
                let list = |key: &str| -> Vec<String> {
                    let items = legacy.get(key).map_or(&[][..], Value::items);
                    items.iter().map(|item| item.raw().to_owned()).collect()
                };
                (first, last) = (list("orderFirst"), list("orderLast"));
            }
            ("legacy", None) => {}
            (order, _) => return Err(format!("`sortOptions.order` is `fifo` or `legacy`, not `{order}`")),
        }
    }
    let rank = |kind: &str| -> isize {
        let place = |list: &[String]| {
            list.iter()
                .rposition(|other| other == kind)
                .and_then(|at| isize::try_from(at).ok())
        };
        let length = isize::try_from(first.len()).unwrap_or(isize::MAX);
        match (place(&last), place(&first)) {
            (Some(at), _) => at + 1,
            (None, Some(at)) => at - length,
            (None, None) => 0,
        }
    };
    let mut named: Vec<(Id, Resource)> = resources.drain(..).map(|resource| (resource.id(), resource)).collect();
    named.sort_by(|(one, _), (other, _)| compare(one, other, &rank));
    resources.extend(named.into_iter().map(|(_, resource)| resource));
    Ok(())
}

fn compare(one: &Id, other: &Id, rank: &dyn Fn(&str) -> isize) -> Ordering {
    if (&one.api_version, &one.kind) != (&other.api_version, &other.kind) {
        let by_rank = rank(&one.kind).cmp(&rank(&other.kind));
        let by_type = kind_word(one).cmp(&kind_word(other));
        let both_namespaces = one.kind == "Namespace" && other.kind == "Namespace";
        let core = one.group().is_empty() || other.group().is_empty();
        return by_rank.then(if both_namespaces && core {
            by_type.reverse()
        } else {
            by_type
        });
    }
    place_word(one).cmp(&place_word(other))
}

fn or<'a>(text: &'a str, missing: &'a str) -> &'a str {
    if text.is_empty() { missing } else { text }
}

fn kind_word(id: &Id) -> String {
    format!(
        "{}_{}_{}",
        or(id.group(), "~G"),
        or(id.version(), "~V"),
        or(&id.kind, "~K")
    )
}

fn place_word(id: &Id) -> String {
    format!("{}|{}", or(&id.namespace, "~X"), or(&id.name, "~N"))
}
