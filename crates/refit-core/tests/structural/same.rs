//! The verdict of a real API server on generated objects, and ours.

use refit_core::structural::{Checked, Kind, Schema};
use refit_testkit::flux::{Manifests, Set};
use refit_testkit::random::Random;
use refit_testkit::testenv::{ApiServer, Apply, Object};
use serde_json::{Value, json};

use crate::generate;

/// How many objects are made per version of a definition.
const OBJECTS: usize = 24;

#[derive(Debug, PartialEq, Eq)]
enum Verdict {
    Fits,
    Unknown,
    Invalid,
}

fn ours(checked: &Checked) -> Verdict {
    let unknown = checked
        .violations
        .iter()
        .any(|violation| violation.kind == Kind::UnknownField);
    match (unknown, checked.violations.is_empty()) {
        (true, _) => Verdict::Unknown,
        (false, true) => Verdict::Fits,
        (false, false) => Verdict::Invalid,
    }
}

/// Asks the server: a strict dry run of the creation. Gives also whether a rule in CEL alone may have refused it.
fn theirs(server: &ApiServer, api_version: &str, kind: &str, object: &Value) -> (Verdict, String) {
    let address = Object {
        api_version,
        kind,
        namespace: "default",
        name: "",
    };
    let path = format!("{}?dryRun=All&fieldValidation=Strict", server.path(&address).unwrap());
    let (status, answer) = server.request("POST", &path, "application/json", object.to_string().as_bytes());
    let message = answer["message"].as_str().unwrap_or_default().to_owned();
    let verdict = match status {
        201 => Verdict::Fits,
        400 if message.contains("unknown field") => Verdict::Unknown,
        400 | 422 => Verdict::Invalid,
        other => panic!("{other}: {message}"),
    };
    (verdict, message)
}

fn check(release: &str, seed: u64) {
    let Some(manifests) = Manifests::find() else { return };
    let Some(server) = ApiServer::fresh() else { return };
    let of = manifests
        .versions()
        .iter()
        .find(|version| version.name == release)
        .unwrap();
    let text = manifests.read(of, Set::Six).unwrap();
    let is_definition = |document: &&str| document.contains("\nkind: CustomResourceDefinition\n");
    let stream = text
        .split("\n---\n")
        .filter(is_definition)
        .collect::<Vec<_>>()
        .join("\n---\n");
    let definitions = server.apply(stream.as_bytes(), &Apply::by("people")).unwrap();
    let mut random = Random::new(seed);
    let (mut counts, mut by_rule) = ([0, 0, 0], 0);
    for definition in &definitions {
        let (group, kind) = (
            definition["spec"]["group"].as_str().unwrap(),
            &definition["spec"]["names"]["kind"],
        );
        let kind = kind.as_str().unwrap();
        for version in definition["spec"]["versions"].as_array().unwrap() {
            let name = version["name"].as_str().unwrap();
            let api_version = format!("{group}/{name}");
            let schema = Schema::read(definition, name).unwrap();
            let of_spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
            for number in 0..OBJECTS {
                let mut spec = generate::value(of_spec, &mut random);
                if number % 4 != 0 {
                    generate::spoil(&mut spec, &mut random);
                }
                let object = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
                let checked = schema.check(&object);
                let (ours, (theirs, message)) = (ours(&checked), theirs(&server, &api_version, kind, &object));
                // Rules in CEL run only where the schema holds; their refusals are none of the schema's.
                if ours == Verdict::Fits && theirs == Verdict::Invalid && !checked.not_evaluated.is_empty() {
                    by_rule += 1;
                    continue;
                }
                assert_eq!(ours, theirs, "{object}\n{message}\n{:?}", checked.violations);
                counts[ours as usize] += 1;
            }
        }
    }
    println!("{release}: fits, unknown, invalid {counts:?}, by rules {by_rule}");
    assert!(counts.iter().all(|count| *count > 20), "{counts:?}");
    let all: usize = counts.iter().sum();
    assert!(
        by_rule * 5 < all,
        "{by_rule} of {all} were refused by rules that are not evaluated"
    );
}

#[test]
fn the_server_says_the_same_of_objects_of_2_9() {
    check("v2.9.4", 1);
}

#[test]
fn the_server_says_the_same_of_objects_of_older_releases() {
    check("v2.2.3", 2);
    check("v0.41.2", 3);
}
