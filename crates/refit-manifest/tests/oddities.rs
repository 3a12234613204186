//! Comments, anchors, tags and block scalars beside a change, each merged byte for byte.

use refit_manifest::merge::{Settings, merge};
use refit_manifest::{Entry, Path, Tree};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
    let tree = |text: &str| -> Tree {
        let entry = Entry::file(format!("{HEAD}{text}").into_bytes());
        [(Path::from("a.yaml"), entry)].into_iter().collect()
    };
    let merged = merge(&tree(base), &tree(ours), &tree(theirs), &Settings::default());
    let found = merged
        .tree
        .bytes(&Path::from("a.yaml"))
        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    assert_eq!(found, Some(format!("{HEAD}{expected}")), "{:?}", merged.decisions);
}

#[test]
fn a_comment_behind_a_key_stays_when_its_value_goes() {
    check(
        "a:\n  x: 1\nb: 1\n",
        "a:   # mine\n  x: 1\nb: 2\n",
        "a:\nb: 1\n",
        "a:   # mine\nb: 2\n",
    );
}

#[test]
fn a_folded_plain_text_keeps_its_indentation() {
    check(
        "a: one\n  two\nb: 2\n",
        "a: one\n  two\nb: 3\n",
        "a: one\n  four\nb: 2\n",
        "a: one\n  four\nb: 3\n",
    );
}

#[test]
fn a_block_with_explicit_indentation_stays_a_block() {
    check(
        "a: |2+\n    one\n  two\n\n\nb: 1\n",
        "a: |2+\n    one\n  two\n\n\nb: 2\n",
        "a: |2+\n    one\n  two\n  three\n\n\nb: 1\n",
        "a: |2+\n    one\n  two\n  three\n\n\nb: 2\n",
    );
}

#[test]
fn blanks_behind_the_text_of_a_block_stay() {
    check(
        "e:\n  f: 1\n",
        "e:\n  f: 1\nz: 1\n",
        "e:\n  f:\n    d: |\n        a  \n    g: 1\n",
        "e:\n  f:\n    d: |\n      a  \n    g: 1\nz: 1\n",
    );
}

#[test]
fn an_alias_follows_its_anchor_and_is_not_written_out() {
    check(
        "x: &A 1\ny: *A\nz: 0\n",
        "x: &A 1\ny: *A\nz: 5\n",
        "x: &A 2\ny: *A\nz: 0\n",
        "x: &A 2\ny: *A\nz: 5\n",
    );
    check(
        "b: &b {p: 1}\nd:\n  <<: *b\nz: 0\n",
        "b: &b {p: 1}\nd:\n  <<: *b\nz: 1\n",
        "b: &b {p: 9}\nd:\n  <<: *b\nz: 0\n",
        "b: &b {p: 9}\nd:\n  <<: *b\nz: 1\n",
    );
}

#[test]
fn a_tag_comes_with_its_value() {
    check(
        "a: !!str 1\nz: 0\n",
        "a: !!str 1\nz: 1\n",
        "a: !!str 2\nz: 0\n",
        "a: !!str 2\nz: 1\n",
    );
}

#[test]
fn comments_of_the_generator_follow_and_stand_above_their_own_keys() {
    check(
        "a: 1\nb: 2\n",
        "a: 1\nb: 3\n",
        "a: 1\n# about c\nc: 5 # five\n# about b\nb: 2\n",
        "a: 1\n# about c\nc: 5 # five\n# about b\nb: 3\n",
    );
    check(
        "# old\na: 1 # o\nb: 1\n",
        "# old\na: 1 # o\nb: 2\n",
        "# new\na: 1 # n\nb: 1\n",
        "# new\na: 1 # n\nb: 2\n",
    );
}

#[test]
fn a_document_that_the_user_broke_is_merged_by_lines_and_no_deletion() {
    check(
        "a: 1\nb: 1\n",
        "a: [1\nb: 1\n",
        "a: 1\nb: 1\nc: 1\n",
        "a: [1\nb: 1\nc: 1\n",
    );
}

#[test]
fn an_object_that_stands_twice_is_noted() {
    let text = format!("{HEAD}x: 1\n---\n{HEAD}x: 9\n");
    let tree: Tree = [(Path::from("a.yaml"), Entry::file(text.into_bytes()))]
        .into_iter()
        .collect();
    let theirs: Tree = [(Path::from("a.yaml"), Entry::file(format!("{HEAD}x: 2\n").into_bytes()))]
        .into_iter()
        .collect();
    let merged = merge(&tree, &tree, &theirs, &Settings::default());
    let notes = merged.notes_on_duplicates();
    assert_eq!(notes.len(), 1);
    assert_eq!(
        notes[0].message,
        "a.yaml: ConfigMap/a: stands more than once (a.yaml, a.yaml); matched by file and order"
    );
}
