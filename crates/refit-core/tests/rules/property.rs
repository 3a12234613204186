//! Generated objects: whatever stands around the fields of a rule, a conversion gives the expected tree, keeps all other
//! bytes and is done once.

use refit_manifest::Stream;
use refit_manifest::parse::{self, NodeRef, Parsed, same};
use refit_testkit::generate::{self, Look, Value};
use refit_testkit::random::Random;

use super::support::run;

const RUNS: u64 = 400;

/// The fields of a Kustomization that rules are about.
struct Made {
    noise: Vec<(String, Value)>,
    strategic: Option<Vec<Value>>,
    existing: Option<Vec<Value>>,
    json: Option<Vec<Value>>,
    validation: bool,
}

fn text(value: &str) -> Value {
    Value::Scalar(value.to_owned())
}

fn map(entries: Vec<(&str, Value)>) -> Value {
    Value::Map(
        entries
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect(),
    )
}

fn make(random: &mut Random) -> Made {
    let some = |random: &mut Random| (!random.once_in(3)).then(|| 1 + random.below(2));
    let patch = |random: &mut Random| {
        let mut entries = vec![("kind".to_owned(), text("Deployment"))];
        if let Value::Map(more) = generate::map(random, 2) {
            entries.extend(more);
        }
        Value::Map(entries)
    };
    let operation = |random: &mut Random| {
        map(vec![
            ("op", text("add")),
            ("path", text("/a/b")),
            ("value", generate::value(random, 2)),
        ])
    };
    let noise = match generate::map(random, 2) {
        Value::Map(entries) => entries,
        _ => Vec::new(),
    };
    let list = |random: &mut Random, one: &dyn Fn(&mut Random) -> Value| {
        some(random).map(|count| (0..count).map(|_| one(random)).collect::<Vec<Value>>())
    };
    Made {
        noise,
        strategic: list(random, &patch),
        existing: list(random, &|random| {
            map(vec![(
                "patch",
                Value::Text(vec!["kind: P".to_owned(), format!("n: {}", random.below(9))]),
            )])
        }),
        json: list(random, &|random| {
            let operations = (0..=random.below(2)).map(|_| operation(random)).collect();
            map(vec![
                ("target", generate::map(random, 1)),
                ("patch", Value::List(operations)),
            ])
        }),
        validation: random.once_in(2),
    }
}

/// Writes the object with its fields among the others in any order.
fn object(made: &Made, random: &mut Random, look: Look) -> String {
    let mut spec = made.noise.clone();
    let mut put = |key: &str, value: Option<Value>| {
        let at = random.below(spec.len() + 1);
        spec.extend(value.map(|value| (key.to_owned(), value)));
        let moved = spec.len() - 1;
        if spec.get(moved).is_some_and(|(known, _)| known == key) {
            let entry = spec.remove(moved);
            spec.insert(at.min(spec.len()), entry);
        }
    };
    put("patchesStrategicMerge", made.strategic.clone().map(Value::List));
    put("patches", made.existing.clone().map(Value::List));
    put("patchesJson6902", made.json.clone().map(Value::List));
    put("validation", made.validation.then(|| text("client")));
    put("prune", Some(text("true")));
    let object = map(vec![
        ("apiVersion", text("kustomize.toolkit.fluxcd.io/v1beta2")),
        ("kind", text("Kustomization")),
        ("spec", Value::Map(spec)),
    ]);
    generate::write(&[object], look)
}

fn parsed(text: &str) -> Parsed {
    parse::parse(text.as_bytes(), 0..text.len()).unwrap()
}

/// Checks that a text of a patch reads as a value.
fn check_patch(patch: NodeRef<'_>, value: &Value, look: Look, context: &str) {
    let (found, wanted) = (
        parsed(patch.text().unwrap()),
        parsed(&generate::write(std::slice::from_ref(value), look)),
    );
    assert!(same(found.root().unwrap(), wanted.root().unwrap()), "{context}");
}

fn check(made: &Made, before: &str, look: Look) {
    let (after, converted) = run("v1", before);
    let context = format!("{before}\n--- became ---\n{after}\n{:#?}", converted.reviews);
    assert!(!converted.is_stopped(), "{context}");
    let stream = Stream::split(after.as_bytes().into()).unwrap();
    let root = stream.documents()[0].root().unwrap();
    assert_eq!(
        root.get("apiVersion").and_then(NodeRef::text),
        Some("kustomize.toolkit.fluxcd.io/v1"),
        "{context}"
    );
    let spec = root.get("spec").unwrap();
    let wanted = parsed(&generate::write(
        &[Value::Map(
            [made.noise.clone(), vec![("prune".to_owned(), text("true"))]].concat(),
        )],
        look,
    ));
    let wanted = wanted.root().unwrap();
    for (key, value) in wanted.entries() {
        let found = spec.get(key.text().unwrap());
        assert!(found.is_some_and(|found| same(found, value)), "{context}");
    }
    let all = [&made.strategic, &made.existing, &made.json].map(|list| list.as_deref().unwrap_or_default());
    let count: usize = all.iter().map(|list| list.len()).sum();
    assert_eq!(
        spec.entries().len(),
        wanted.entries().len() + usize::from(count > 0),
        "{context}"
    );
    let patches: Vec<NodeRef<'_>> = spec.get("patches").into_iter().flat_map(NodeRef::items).collect();
    assert_eq!(patches.len(), count, "{context}");
    let field = |value: &Value, key: &str| match value {
        Value::Map(entries) => entries
            .iter()
            .find(|(known, _)| known == key)
            .map(|(_, value)| value.clone())
            .unwrap(),
        _ => unreachable!("patches are maps"),
    };
    for (patch, value) in patches.iter().zip(all[0]) {
        check_patch(patch.get("patch").unwrap(), value, look, &context);
    }
    for (patch, value) in patches[all[0].len() + all[1].len()..].iter().zip(all[2]) {
        check_patch(patch.get("patch").unwrap(), &field(value, "patch"), look, &context);
        let target = parsed(&generate::write(&[field(value, "target")], look));
        assert!(same(patch.get("target").unwrap(), target.root().unwrap()), "{context}");
    }
    check_bytes(before, &after, &converted.splices, &context);
    let (again, second) = run("v1", &after);
    assert!(
        again == after && second.changes.is_empty(),
        "a second run changes something: {context}"
    );
}

/// Checks that all bytes outside of the splices stand in the result in their order, and that the line ends are kept.
fn check_bytes(before: &str, after: &str, splices: &[refit_manifest::edit::Splice], context: &str) {
    let mut order: Vec<_> = splices.iter().collect();
    order.sort_by_key(|splice| (splice.range.start, splice.range.end));
    let (mut old, mut new) = (0, 0);
    for splice in order {
        let kept = &before[old..splice.range.start];
        assert_eq!(&after[new..new + kept.len()], kept, "{context}");
        new += kept.len() + splice.text.len();
        old = splice.range.end;
    }
    assert_eq!(&after[new..], &before[old..], "{context}");
    let bare = |text: &str| text.matches('\n').count() - text.matches("\r\n").count();
    assert!(bare(before) > 0 || bare(after) == 0, "{context}");
    assert!(
        after.matches("\r\n").count() == 0 || before.contains("\r\n"),
        "{context}"
    );
}

#[test]
fn generated_kustomizations_are_converted_as_computed_and_once() {
    for seed in 0..RUNS {
        let mut random = Random::new(seed);
        let look = Look {
            step: [2, 4][random.below(2)],
            list: [0, 2][random.below(2)],
            comment_every: random.below(4),
            line_end: ["\n", "\r\n"][random.below(2)],
        };
        let made = make(&mut random);
        let before = object(&made, &mut random, look);
        check(&made, &before, look);
    }
}
