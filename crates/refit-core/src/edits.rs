//! What a user changed against what the generator wrote.
//!
//! In: both manifests. Out: one [`ChangeLine`] per field, element or object that differs in meaning. Style, order and
//! comments are no change here; the merge keeps them.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::parse::{Kind, NodeRef, same};
use refit_manifest::{Document, Identity, Path, Stream};

use crate::report::ChangeLine;

/// Lists the changes from base to ours, in the order of base; objects of the user come last.
pub fn find(path: &Path, base: &Stream, ours: &Stream) -> Vec<ChangeLine> {
    let mine: BTreeMap<&Identity, &Document> = ours.objects().collect();
    let generated: BTreeSet<&Identity> = base.objects().map(|(identity, _)| identity).collect();
    let mut found = Found {
        path,
        object: String::new(),
        lines: Vec::new(),
    };
    for (identity, document) in base.objects() {
        found.object = identity.to_string();
        match mine.get(identity) {
            None => found.add("", Some("the object".to_owned()), None),
            Some(own) if own.body_text() == document.body_text() => {}
            Some(own) => {
                if let (Some(base), Some(ours)) = (document.root(), own.root()) {
                    found.node("", base, ours);
                }
            }
        }
    }
    for (identity, _) in ours.objects().filter(|(identity, _)| !generated.contains(identity)) {
        found.object = identity.to_string();
        found.add("", None, Some("the object".to_owned()));
    }
    found.lines
}

struct Found<'a> {
    path: &'a Path,
    object: String,
    lines: Vec<ChangeLine>,
}

impl Found<'_> {
    fn add(&mut self, field: &str, generated: Option<String>, has: Option<String>) {
        self.lines.push(ChangeLine {
            path: self.path.to_string(),
            object: self.object.clone(),
            field: field.to_owned(),
            generated,
            has,
        });
    }

    fn node(&mut self, field: &str, base: NodeRef<'_>, ours: NodeRef<'_>) {
        if same(base, ours) {
            return;
        }
        match (base.target().kind(), ours.target().kind()) {
            (Kind::Mapping(_), Kind::Mapping(_)) => self.mapping(field, base, ours),
            (Kind::Sequence(_), Kind::Sequence(_)) => self.sequence(field, base, ours),
            _ => self.add(field, Some(text(base)), Some(text(ours))),
        }
    }

    fn mapping(&mut self, field: &str, base: NodeRef<'_>, ours: NodeRef<'_>) {
        for (key, value) in base.entries() {
            let key = key.text().unwrap_or_default();
            match ours.get(key) {
                Some(own) => self.node(&below(field, key), value, own),
                None => self.add(&below(field, key), Some(text(value)), None),
            }
        }
        for (key, value) in ours.entries() {
            let key = key.text().unwrap_or_default();
            if key != "<<" && base.get(key).is_none() {
                self.add(&below(field, key), None, Some(text(value)));
            }
        }
    }

    /// Elements are the same when they have the same name or set the same flag, else when they are equal.
    fn sequence(&mut self, field: &str, base: NodeRef<'_>, ours: NodeRef<'_>) {
        let find = |list: NodeRef<'_>, wanted: NodeRef<'_>| list.items().any(|item| is_same(item, wanted));
        for item in base.items() {
            let place = element(field, item);
            match ours.items().find(|own| is_same(*own, item)) {
                Some(own) => self.node(&place, item, own),
                None => self.add(&place, Some(text(item)), None),
            }
        }
        for item in ours.items().filter(|item| !find(base, *item)) {
            self.add(&element(field, item), None, Some(text(item)));
        }
    }
}

fn is_same(one: NodeRef<'_>, other: NodeRef<'_>) -> bool {
    match (key(one), key(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => same(one, other),
        _ => false,
    }
}

/// Gives what an element is told by: its name, or the flag of an argument.
fn key(node: NodeRef<'_>) -> Option<String> {
    if let Some(name) = node.get("name").and_then(NodeRef::text) {
        return Some(format!("name={name}"));
    }
    let (flag, _) = node.text()?.split_once('=')?;
    flag.starts_with('-').then(|| flag.to_owned())
}

fn element(field: &str, item: NodeRef<'_>) -> String {
    format!("{field}[{}]", key(item).unwrap_or_default())
}

fn below(field: &str, key: &str) -> String {
    match field {
        "" => key.to_owned(),
        field => format!("{field}.{key}"),
    }
}

fn text(node: NodeRef<'_>) -> String {
    let written = || node.source().trim_end().to_owned();
    node.text().map_or_else(written, ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(base: &str, ours: &str, expected: &[&str]) {
        let split = |text: &str| Stream::split(text.as_bytes().into()).unwrap();
        let lines: Vec<String> = find(&Path::from("g.yaml"), &split(base), &split(ours))
            .iter()
            .map(|line| {
                let side = |value: &Option<String>| value.clone().unwrap_or_else(|| "-".into());
                format!(
                    "{} {}: {} -> {}",
                    line.object,
                    line.field,
                    side(&line.generated),
                    side(&line.has)
                )
            })
            .collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn each_field_element_and_object_that_differs_is_one_change() {
        check(
            "kind: A\nmetadata: {name: a}\nspec:\n  replicas: 1\n  args: [--x, --y, --l=1]\n  containers:\n  - name: m\n    image: i:1\n---\nkind: B\nmetadata: {name: b}\n",
            "kind: A\nmetadata: {name: a, labels: {t: u}}\nspec:\n  args: [\"--x\", --z, --l=2]\n  containers:\n  - image: i:2\n    name: m\n---\nkind: C\nmetadata: {name: c}\n",
            &[
                "A/a metadata.labels: - -> {t: u}",
                "A/a spec.replicas: 1 -> -",
                "A/a spec.args[]: --y -> -",
                "A/a spec.args[--l]: --l=1 -> --l=2",
                "A/a spec.args[]: - -> --z",
                "A/a spec.containers[name=m].image: i:1 -> i:2",
                "B/b : the object -> -",
                "C/c : - -> the object",
            ],
        );
    }

    #[test]
    fn style_order_and_comments_are_no_change() {
        check(
            "kind: A\nmetadata: {name: a}\nspec: {x: 1, y: \"z\"}\n",
            "# mine\nkind: A\nmetadata:\n  name: a\nspec:\n  y: z # here\n  x: 1\n",
            &[],
        );
    }
}
