//! Inputs made to exhaust: each ends, with an answer that names what is wrong.

use refit_manifest::merge::{Merged, Settings, merge};
use refit_manifest::{Entry, Outcome, Path, Stream, Tree};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

fn merged(base: &str, ours: &str, theirs: &str) -> Merged {
    let tree = |text: &str| -> Tree {
        let entry = Entry::file(format!("{HEAD}{text}").into_bytes());
        [(Path::from("a.yaml"), entry)].into_iter().collect()
    };
    merge(&tree(base), &tree(ours), &tree(theirs), &Settings::default())
}

fn blocked_with(merged: &Merged, words: &str) -> bool {
    merged
        .decisions
        .iter()
        .any(|decision| decision.outcome == Outcome::Blocked && decision.message.contains(words))
}

#[test]
fn an_alias_that_holds_itself_blocks_the_file() {
    let merged = merged(
        "a: &a [*a]\nz: 1\n",
        "a: &a [*a]\nz: 2\n",
        "a: &a [*a]\nz: 1\nb: 1\ny:\n  k: [1, 2]\n",
    );
    assert!(
        blocked_with(&merged, "refers to a node that it is part of"),
        "{:?}",
        merged.decisions
    );
    assert!(merged.splices.is_empty());
}

#[test]
fn aliases_of_aliases_are_told_before_they_are_followed() {
    let mut bomb = "a0: &a0 {x: 1, y: 2}\n".to_owned();
    for level in 1..40 {
        let below = level - 1;
        bomb.push_str(&format!(
            "a{level}: &a{level}\n  p: *a{below}\n  q: *a{below}\n  r: *a{below}\n"
        ));
    }
    let theirs = format!("y: 1\n{}", bomb.replace("x: 1", "x: 9"));
    let merged = merged(&bomb, &format!("{bomb}z: 2\n"), &theirs);
    let told = merged.decisions.iter().any(|decision| {
        decision.outcome >= Outcome::Noted && decision.message.contains("stand for more nodes than are read")
    });
    assert!(told, "{:?}", merged.decisions);
}

#[test]
fn deep_nesting_is_an_error_that_names_the_limit() {
    let deep: String = (0..300).map(|level| format!("{:level$}a:\n", "")).collect();
    let stream = Stream::split(deep.into_bytes().into()).expect("a stream");
    let error = stream.documents()[0].parsed().expect_err("too deep");
    assert!(error.to_string().contains("nested deeper than 200 levels"), "{error}");
}

#[test]
fn a_mapping_with_very_many_keys_merges_key_by_key() {
    let keys = |value: &dyn Fn(usize) -> usize| -> String {
        let lines: String = (0..60_000).map(|key| format!("  k{key}: {}\n", value(key))).collect();
        format!("data:\n{lines}")
    };
    let even = |key: usize| usize::from(key.is_multiple_of(2));
    let merged = merged(&keys(&|_| 7), &keys(&|key| 7 + even(key)), &keys(&|key| 8 - even(key)));
    let expected = format!("{HEAD}{}", keys(&|_| 8));
    assert!(
        merged
            .tree
            .bytes(&Path::from("a.yaml"))
            .is_some_and(|bytes| **bytes == *expected.as_bytes())
    );
}
