//! The class of a field, from the kind of its object and its path.

use crate::decision::Class;

const SIZING: [&str; 9] = [
    "replicas",
    "resources",
    "affinity",
    "tolerations",
    "nodeSelector",
    "topologySpreadConstraints",
    "minAvailable",
    "maxUnavailable",
    "priorityClassName",
];

/// Gives the class of a field (DESIGN.md section 4, rule 4).
///
/// In: the kind of the object (empty when unknown) and the keys on the way to the field; items of lists are written
/// `[…]`.
pub fn class_of_field(kind: &str, path: &[String]) -> Class {
    let key = path
        .iter()
        .rev()
        .find(|step| !step.starts_with('['))
        .map_or("", String::as_str);
    let first = path.first().map_or("", String::as_str);
    let has = |name: &str| path.iter().any(|step| step == name);
    if kind == "CustomResourceDefinition" && first == "spec" {
        return if key == "description" {
            Class::Text
        } else {
            Class::Contract
        };
    }
    if kind == "SealedSecret" || first == "sops" {
        return Class::Secret;
    }
    if matches!(first, "apiVersion" | "kind") || is_rbac(kind, first) || is_webhook(kind, first) {
        return Class::Contract;
    }
    match key {
        "image" => Class::Image,
        "args" | "command" => Class::Arguments,
        _ if SIZING.iter().any(|name| has(name)) => Class::Sizing,
        _ if has("selector") || has("matchLabels") || has("matchExpressions") || key == "serviceAccountName" => {
            Class::Contract
        }
        _ => Class::Other,
    }
}

fn is_rbac(kind: &str, first: &str) -> bool {
    matches!(kind, "Role" | "ClusterRole" | "RoleBinding" | "ClusterRoleBinding")
        && matches!(first, "rules" | "aggregationRule" | "roleRef" | "subjects")
}

fn is_webhook(kind: &str, first: &str) -> bool {
    kind.ends_with("WebhookConfiguration") && first == "webhooks"
}
