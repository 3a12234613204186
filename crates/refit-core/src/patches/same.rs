//! Whether two values without a name of their own are the same thing in two releases, and what a list hides.

use std::collections::BTreeSet;

use refit_kustomize::{Step, Value};

/// Gives the value at a place.
pub(super) fn at<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Element { index, .. } => value.items().get(*index),
        Step::End => None,
    })
}

/// Tells whether two elements are the same thing: equal scalars, flags of one name, rules about the same resources,
/// mappings that share at least half of what they say.
pub(super) fn is_same(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Map(_), Value::Map(_)) if before.get("verbs").is_some() && after.get("verbs").is_some() => {
            ["apiGroups", "resources", "nonResourceURLs"]
                .iter()
                .all(|key| overlaps(before.get(key), after.get(key)))
        }
        (Value::Map(_), Value::Map(_)) => {
            let (before, after) = (leaves(before), leaves(after));
            let shared = before.intersection(&after).count();
            shared * 2 >= before.len().min(after.len()).max(1)
        }
        _ => match (before.as_str().and_then(flag), after.as_str().and_then(flag)) {
            (Some(before), Some(after)) => before == after,
            _ => before == after,
        },
    }
}

/// Gives the name of a command-line flag.
pub(super) fn flag(text: &str) -> Option<&str> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    (name.starts_with('-') && name.len() > 1 && !name.contains(char::is_whitespace)).then_some(name)
}

/// Tells whether two lists share an item, or neither has one.
fn overlaps(before: Option<&Value>, after: Option<&Value>) -> bool {
    let items = |list: Option<&Value>| list.map(|list| list.items().to_vec()).unwrap_or_default();
    let (before, after) = (items(before), items(after));
    (before.is_empty() && after.is_empty()) || before.iter().any(|item| after.contains(item))
}

/// Lists the scalars of a value with their places.
fn leaves(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![(String::new(), value)];
    while let Some((path, value)) = open.pop() {
        match value {
            Value::Map(map) => open.extend(map.iter().map(|(key, value)| (format!("{path}.{key}"), value))),
            Value::List(items) => open.extend(items.iter().map(|item| (format!("{path}[]"), item))),
            scalar => {
                found.insert(format!("{path}={scalar}"));
            }
        }
    }
    found
}

/// Lists the items that a release adds or changes and a list written whole lacks.
pub(super) fn hidden(before: Option<&Value>, after: Option<&Value>, written: &Value) -> Vec<String> {
    let had = before.map(Value::items).unwrap_or_default();
    let has = after.map(Value::items).unwrap_or_default();
    has.iter()
        .filter(|item| !had.contains(item) && !written.items().contains(item))
        .map(shown)
        .collect()
}

/// Lists the items that a list written whole keeps although the release dropped them.
pub(super) fn dropped(before: Option<&Value>, after: Option<&Value>, written: &Value) -> Vec<String> {
    let has = after.map(Value::items).unwrap_or_default();
    let named = |item: &Value| has.iter().any(|other| item == other || is_one_flag(item, other));
    let had = before.map(Value::items).unwrap_or_default();
    had.iter()
        .filter(|item| !named(item) && written.items().contains(item))
        .map(shown)
        .collect()
}

fn is_one_flag(one: &Value, other: &Value) -> bool {
    let name = |value: &Value| value.as_str().and_then(flag).map(ToOwned::to_owned);
    name(one).is_some_and(|name_of_one| name(other).is_some_and(|name| name == name_of_one))
}

/// Writes an item: a scalar as it is, a mapping by its name, else as JSON.
pub(super) fn shown(item: &Value) -> String {
    let name = item.get("name").and_then(Value::as_str);
    name.or_else(|| item.scalar())
        .map_or_else(|| item.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Value::text(item)).collect())
    }

    fn map(entries: &[(&str, Value)]) -> Value {
        Value::Map(
            entries
                .iter()
                .map(|(key, value)| ((*key).into(), value.clone()))
                .collect(),
        )
    }

    fn rule(groups: &[&str], resources: &[&str], verbs: &[&str]) -> Value {
        map(&[
            ("apiGroups", list(groups)),
            ("resources", list(resources)),
            ("verbs", list(verbs)),
        ])
    }

    #[test]
    fn a_rule_is_the_same_while_it_is_about_the_same_resources() {
        let secrets = rule(&[""], &["secrets"], &["get"]);
        assert!(is_same(
            &secrets,
            &rule(&[""], &["secrets", "configmaps"], &["get", "list"])
        ));
        assert!(!is_same(&secrets, &rule(&[""], &["events"], &["get"])));
        assert!(!is_same(&secrets, &rule(&["apps"], &["secrets"], &["get"])));
    }

    #[test]
    fn a_flag_is_the_same_by_its_name_and_another_scalar_by_its_value() {
        let same = |before: &str, after: &str| is_same(&Value::text(before), &Value::text(after));
        assert!(same("--log-level=info", "--log-level=debug"));
        assert!(!same("--log-level=info", "--watch-all-namespaces=true"));
        assert!(same("get", "get") && !same("get", "list"));
    }

    #[test]
    fn what_a_whole_list_hides_is_what_the_release_adds_or_changes() {
        let before = list(&["--events-addr=http://a", "--log-level=info", "--old"]);
        let after = list(&["--events-addr=http://b", "--log-level=info", "--new"]);
        let written = list(&["--events-addr=http://a", "--log-level=debug", "--old"]);
        assert_eq!(
            hidden(Some(&before), Some(&after), &written),
            ["--events-addr=http://b", "--new"]
        );
        assert_eq!(dropped(Some(&before), Some(&after), &written), ["--old"]);
    }
}
