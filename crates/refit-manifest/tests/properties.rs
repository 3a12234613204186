//! Properties of the merge over seeded random inputs: identity, idempotence, commutation, no panic.
//!
//! The numbers of runs are bounded, so that all of it takes well under a minute; `REFIT_SWEEP=all` runs more.

use refit_manifest::merge::{Settings, merge};
use refit_manifest::schema::ListKeys;
use refit_manifest::{Stream, Tree};
use refit_testkit::flux::{Manifests, Set};
use refit_testkit::generate::{GENERATED, Look, Value, edit_object, object, write};
use refit_testkit::merging;
use refit_testkit::random::Random;

const FILE: &str = "d.yaml";

fn tree(text: &str) -> Tree {
    merging::tree(FILE, text)
}

fn merged(base: &Tree, ours: &Tree, theirs: &Tree) -> Tree {
    merge(base, ours, theirs, &Settings::default()).tree
}

/// Merges where only one side changed, and expects that side byte for byte.
fn identities(base: &Tree, other: &Tree) {
    assert_eq!(&merged(base, base, base), base);
    assert_eq!(&merged(base, other, base), other);
    assert_eq!(&merged(base, base, other), other);
    assert_eq!(&merged(base, other, other), other);
}

fn objects(random: &mut Random) -> Vec<Value> {
    (0..1 + random.below(3)).map(|number| object(random, number)).collect()
}

fn edited(random: &mut Random, objects: &[Value]) -> Vec<Value> {
    let mut objects = objects.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(objects.len());
        edit_object(random, &mut objects[at]);
    }
    if random.once_in(8) {
        let number = objects.len() + random.below(3);
        let new = object(random, number);
        objects.push(new);
    }
    if random.once_in(8) && objects.len() > 1 {
        objects.remove(random.below(objects.len()));
    }
    objects
}

fn look(random: &mut Random) -> Look {
    Look {
        step: 2 + 2 * random.below(2),
        list: 2 * random.below(2),
        comment_every: random.below(5),
        line_end: if random.once_in(4) { "\r\n" } else { "\n" },
    }
}

#[test]
fn a_side_that_alone_changed_comes_out_byte_for_byte() {
    let mut random = Random::new(1);
    for _ in 0..300 {
        let base = objects(&mut random);
        let other = edited(&mut random, &base);
        let look = look(&mut random);
        identities(&tree(&write(&base, GENERATED)), &tree(&write(&other, look)));
        let noise = [noise(&mut random), noise(&mut random)].map(|bytes| {
            [(FILE.into(), refit_manifest::Entry::file(bytes))]
                .into_iter()
                .collect::<Tree>()
        });
        identities(&noise[0], &noise[1]);
    }
}

/// Merges random edits of both sides; the checker and the second merges must find nothing.
fn random_merges(seed: u64, part: usize) {
    let all = std::env::var_os("REFIT_SWEEP").is_some_and(|value| value == "all");
    let times = if all { 20 * part } else { part };
    let mut random = Random::new(seed);
    let mut wrong = Vec::new();
    for number in 0..times {
        let base = objects(&mut random);
        let (ours, theirs) = (edited(&mut random, &base), edited(&mut random, &base));
        let look = if random.once_in(3) {
            GENERATED
        } else {
            look(&mut random)
        };
        let texts = [write(&base, GENERATED), write(&ours, look), write(&theirs, GENERATED)];
        let checked = merging::texts(FILE, [&texts[0], &texts[1], &texts[2]]);
        if let Some(first) = checked.violations.first() {
            let sides = format!(
                "--- base\n{}--- ours\n{}--- theirs\n{}--- result\n{}",
                texts[0],
                texts[1],
                texts[2],
                checked.text(FILE)
            );
            wrong.push((sides.len(), format!("run {number} of seed {seed}: {first}\n{sides}")));
        }
    }
    wrong.sort();
    let shown: Vec<&str> = wrong.iter().take(3).map(|(_, text)| text.as_str()).collect();
    assert!(
        wrong.is_empty(),
        "{} of {times} wrong, the shortest:\n{}",
        wrong.len(),
        shown.join("\n\n")
    );
}

#[test]
fn random_merges_hold_the_definition_and_can_be_repeated() {
    random_merges(2, 400);
}

#[test]
fn more_random_merges_hold_the_definition_and_can_be_repeated() {
    random_merges(3, 400);
}

#[test]
fn independent_edits_commute() {
    let mut random = Random::new(4);
    for _ in 0..200 {
        let base = write(&objects(&mut random), GENERATED);
        // Scalars of the form `key: n12`; items of lists are no independent places.
        let number = |at: &usize| base.as_bytes().get(at + 3).is_some_and(u8::is_ascii_digit);
        let scalars: Vec<usize> = base
            .match_indices(": n")
            .map(|(at, _)| at + 1)
            .filter(|at| number(&(at - 1)))
            .collect();
        let (Some(first), Some(second)) = (random.pick(&scalars), random.pick(&scalars)) else {
            continue;
        };
        if first == second {
            continue;
        }
        let change = |text: &str, at: usize, new: &str| format!("{}{new}{}", &text[..at], &text[at + 2..]);
        let (one, two) = (change(&base, *first, " q"), change(&base, *second, " z"));
        let both = change(&change(&base, *first, " q"), *second, " z");
        let [b, o, t] = [&base, &one, &two].map(|text| tree(text));
        let there = merge(&b, &o, &t, &Settings::default());
        let back = merge(&b, &t, &o, &Settings::default());
        let asked = there
            .decisions
            .iter()
            .any(|d| d.outcome > refit_manifest::Outcome::Noted);
        assert!(!asked, "{:#?}", there.decisions);
        assert_eq!(there.tree, tree(&both));
        assert_eq!(back.tree, tree(&both));
    }
}

const FRAGMENTS: [&str; 40] = [
    "a: ",
    "- ",
    "\n",
    "\n  ",
    "\n    ",
    "---\n",
    "...\n",
    "{",
    "}",
    "[",
    "]",
    ",",
    ": ",
    "# c",
    " # c\n",
    "|",
    ">-\n",
    "|2+\n",
    "'",
    "\"",
    "&a ",
    "*a",
    "<<: *a",
    "!!str ",
    "%YAML 1.1\n",
    "\t",
    "\r\n",
    "\u{feff}",
    "{{ x }}",
    "${A:=b}",
    "? ",
    "é",
    "🦀",
    "\\",
    "@",
    "`",
    "kind: A\nmetadata: {name: n}\n",
    "~",
    "<<<<<<< x\n",
    "0x1F",
];

fn noise(random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for _ in 0..random.below(24) {
        if random.once_in(12) {
            bytes.push(u8::try_from(random.below(256)).unwrap_or(0));
        } else if let Some(fragment) = random.pick(&FRAGMENTS) {
            bytes.extend_from_slice(fragment.as_bytes());
        }
    }
    bytes
}

/// Runs everything that reads bytes; it may refuse them and must not panic.
fn survives(base: &[u8], ours: &[u8], theirs: &[u8]) {
    for bytes in [base, ours, theirs] {
        if let Ok(stream) = Stream::split(bytes.into()) {
            ListKeys::read(&stream);
            assert_eq!(
                stream.documents().iter().map(|d| d.span().len()).sum::<usize>(),
                bytes.len()
            );
            for document in stream.documents() {
                let _ = (document.head(), document.parsed().is_ok());
            }
        }
    }
    let trees = [base, ours, theirs].map(|bytes| {
        [(FILE.into(), refit_manifest::Entry::file(bytes))]
            .into_iter()
            .collect::<Tree>()
    });
    let result = merge(&trees[0], &trees[1], &trees[2], &Settings::default());
    assert!(result.decisions.iter().all(|decision| !decision.message.is_empty()));
}

#[test]
fn arbitrary_bytes_never_panic() {
    let mut random = Random::new(5);
    for _ in 0..4000 {
        let (base, ours, theirs) = (noise(&mut random), noise(&mut random), noise(&mut random));
        survives(&base, &ours, &theirs);
    }
}

/// Damages bytes at a few places.
fn damaged(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(3) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => drop(bytes.remove(at)),
            1 => bytes[at] = u8::try_from(random.below(256)).unwrap_or(0),
            2 => {
                let fragment = random.pick(&FRAGMENTS).map_or("", |fragment| *fragment);
                bytes.splice(at..at, fragment.bytes());
            }
            _ => {
                let end = (at + random.below(200)).min(bytes.len());
                bytes.drain(at..end);
            }
        }
    }
    bytes
}

#[test]
fn damaged_manifests_never_panic() {
    let mut random = Random::new(6);
    for _ in 0..400 {
        let base = write(&objects(&mut random), GENERATED).into_bytes();
        let (ours, theirs) = (damaged(&mut random, &base), damaged(&mut random, &base));
        survives(&base, &ours, &theirs);
    }
}

#[test]
fn damaged_real_manifests_never_panic() {
    let Some(manifests) = Manifests::find() else { return };
    let mut random = Random::new(7);
    let versions: Vec<_> = manifests.versions().iter().step_by(20).collect();
    for pair in versions.windows(2) {
        let texts = pair
            .iter()
            .filter_map(|version| manifests.read(version, Set::Default))
            .collect::<Vec<_>>();
        for _ in 0..3 {
            let ours = damaged(&mut random, texts[0].as_bytes());
            survives(texts[0].as_bytes(), &ours, texts[1].as_bytes());
        }
    }
}
