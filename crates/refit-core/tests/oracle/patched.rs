//! Objects with every field of their version, each patched by operations on all of its fields.
//!
//! An operation puts there what is there, or compares with it. After a conversion the patch must apply to the converted
//! object, and what is built must be accepted, once the operations are taken out by hand that were told to a person.

use std::collections::BTreeSet;

use refit_core::conversion::{self, Reading};
use refit_core::places::Sort;
use refit_manifest::{Entry, Path, Tree};
use serde_json::Value;

use crate::applied::Applied;
use crate::{Target, convert, objects};

/// What was seen in all objects.
#[derive(Debug, Default)]
pub(crate) struct Count {
    /// The operations that were converted, or taken out.
    pub(crate) converted: usize,
    /// Those that were left for a person.
    pub(crate) left: usize,
}

/// Patches each object of a tree that a conversion changes, and judges what is built.
pub(crate) fn check(tree: &Tree, target: &Target, count: &mut Count) {
    for (path, entry) in tree.iter() {
        let bytes = entry.bytes().unwrap();
        let reading = conversion::read(path, bytes, &target.wanted);
        if reading.left().next().is_some() || reading.changes().next().is_none() {
            continue;
        }
        let text = std::str::from_utf8(bytes).unwrap();
        for written in objects::all(&[(path.clone(), entry.clone())].into_iter().collect()) {
            for op in ["replace", "test"] {
                check_one(text, (&written.value, op), target, count);
            }
        }
    }
}

fn check_one(object: &str, (value, op): (&Value, &str), target: &Target, count: &mut Count) {
    let kustomization = kustomization(value, op);
    let read = |text: &str| conversion::read(&"kustomization.yaml".into(), &text.as_bytes().into(), &target.wanted);
    let pointers = |reading: &Reading| reading.uses.iter().filter(|used| used.sort == Sort::Pointer).count();
    let before = read(&kustomization);
    let left: BTreeSet<usize> = before.left().map(|used| used.line).collect();
    assert_eq!(
        left.len(),
        before.left().count(),
        "an operation is told once: {:#?}",
        before.uses
    );
    count.left += left.len();
    count.converted += pointers(&before) - left.len();
    let stays = kustomization
        .lines()
        .enumerate()
        .filter(|(at, _)| !left.contains(&(at + 1)));
    let kustomization: String = stays.map(|(_, line)| format!("{line}\n")).collect();
    let tree: Tree = [("kustomization.yaml", kustomization.as_str()), ("o.yaml", object)]
        .into_iter()
        .map(|(path, text)| (Path::from(path), Entry::file(text.as_bytes())))
        .collect();
    let (converted, _) = convert(&tree, &target.wanted);
    let built = Applied::of(&converted);
    let shown = || String::from_utf8_lossy(converted.bytes(&"kustomization.yaml".into()).unwrap()).into_owned();
    assert!(
        built.unbuilt.is_empty(),
        "{}: {:?}\n{}\n{object}",
        target.name,
        built.unbuilt,
        shown()
    );
    assert_eq!(built.cases.len(), 1);
    let plain = Applied::of(
        &[(Path::from("o.yaml"), converted.get(&"o.yaml".into()).unwrap().clone())]
            .into_iter()
            .collect(),
    );
    let (patched, plain) = (&built.cases[0].object, &plain.cases[0].object);
    let wrong = target.definitions.judge(patched).messages();
    assert_eq!(
        wrong,
        target.definitions.judge(plain).messages(),
        "{}\n{object}",
        shown()
    );
    assert_eq!(patched, plain, "{}", shown());
}

/// Writes a kustomization with one operation a line for each field below the spec of an object.
fn kustomization(object: &Value, op: &str) -> String {
    let (group, _) = object["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    let mut out = format!(
        "resources: [o.yaml]\npatches:\n- target: {{group: {group}, kind: {}}}\n  patch: |\n    - {{op: test, path: /metadata/name, value: complete}}\n",
        object["kind"].as_str().unwrap()
    );
    fields(&object["spec"], "/spec", &mut |pointer, value| {
        let pointer = Value::from(pointer);
        out.push_str(&format!(
            "    - {{\"op\": \"{op}\", \"path\": {pointer}, \"value\": {value}}}\n"
        ));
    });
    out
}

/// The lists into which rules put what an object has elsewhere: what writes them whole, or counts their items, is not told,
/// since it is not known whether the object has more for them. The guide says so.
const FILLED: [&str; 2] = ["valuesFiles", "patches"];

/// Tells whether a value is or holds a list that is filled, or lies in one.
fn is_filled(value: &Value, pointer: &str) -> bool {
    let holds = |value: &Value| match value {
        Value::Object(map) => map.iter().any(|(key, value)| is_filled(value, &format!("/{key}"))),
        Value::Array(items) => items.iter().any(|value| is_filled(value, "")),
        _ => false,
    };
    pointer.split('/').any(|part| FILLED.contains(&part)) || holds(value)
}

fn fields(value: &Value, pointer: &str, take: &mut dyn FnMut(&str, &Value)) {
    if !is_filled(value, pointer) {
        take(pointer, value);
    }
    let below = |key: &str| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| fields(value, &below(key), take)),
        Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(at, value)| fields(value, &below(&at.to_string()), take));
        }
        _ => {}
    }
}
