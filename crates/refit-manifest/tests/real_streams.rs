//! Splitting and reading real files: every document parses, the cheap scan of heads equals the parsed tree.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says with a panic what is wrong"
)]

use std::path::{Path, PathBuf};

use refit_manifest::parse::{self, Kind, NodeRef};
use refit_manifest::{Document, Stream};

fn shared(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared")
        .join(folder);
    if path.is_dir() {
        return Some(path);
    }
    println!("skipped: ../shared/{folder} is not there");
    None
}

fn yaml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            yaml_files(&path, found);
        } else if path
            .extension()
            .is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
        {
            found.push(path);
        }
    }
}

/// Writes all that a node states of itself.
fn shown(node: NodeRef<'_>) -> String {
    let (kind, full, span) = (node.kind(), node.full_span(), node.span());
    format!(
        "{kind:?} {full:?} {span:?} {:?} {:?} {:?}",
        node.text(),
        node.tag(),
        node.anchor()
    )
}

/// Walks two trees of one text side by side: kind, place, text, tag and anchor of every node are equal.
fn check_same(a: NodeRef<'_>, b: NodeRef<'_>, file: &Path) {
    assert_eq!(shown(a), shown(b), "{}", file.display());
    if a.kind() == Kind::Alias {
        return;
    }
    assert_eq!(
        (a.entries().len(), a.items().len()),
        (b.entries().len(), b.items().len()),
        "{}",
        file.display()
    );
    for ((key, value), (other_key, other)) in a.entries().zip(b.entries()) {
        check_same(key, other_key, file);
        check_same(value, other, file);
    }
    for (item, other) in a.items().zip(b.items()) {
        check_same(item, other, file);
    }
}

fn check_quick_reader(file: &Path, stream: &Stream, document: &Document) {
    let slow = parse::parse_by_crate(&stream.text().into(), document.span());
    match (document.parsed(), slow) {
        (Ok(quick), Ok(slow)) => match (quick.root(), slow.root()) {
            (Some(quick), Some(slow)) => check_same(quick, slow, file),
            (quick, slow) => assert_eq!(quick.is_some(), slow.is_some(), "{}", file.display()),
        },
        (quick, slow) => assert_eq!(quick.is_ok(), slow.is_ok(), "{}", file.display()),
    }
}

fn check_head(file: &Path, document: &Document) {
    let head = document.head().clone();
    let root = match document.parsed() {
        Ok(parsed) => parsed.root(),
        Err(error) => panic!("{}: {error}", file.display()),
    };
    let text = |path: &[&str]| {
        root.and_then(|root| root.at(path))
            .and_then(|node| node.text())
            .unwrap_or_default()
    };
    assert_eq!(&*head.api_version, text(&["apiVersion"]), "{}", file.display());
    assert_eq!(&*head.kind, text(&["kind"]), "{}", file.display());
    assert_eq!(&*head.namespace, text(&["metadata", "namespace"]), "{}", file.display());
    assert_eq!(&*head.name, text(&["metadata", "name"]), "{}", file.display());
}

fn check_folder(folder: &str, every: usize) {
    let Some(folder) = shared(folder) else { return };
    let mut files = Vec::new();
    yaml_files(&folder, &mut files);
    files.sort();
    let mut documents = 0;
    for file in files.iter().step_by(every) {
        let bytes = std::fs::read(file).expect("the file is readable");
        let stream = Stream::split(bytes.into()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let mut at = 0;
        for document in stream.documents() {
            assert_eq!(document.span().start, at, "{}", file.display());
            at = document.span().end;
            check_head(file, document);
            check_quick_reader(file, &stream, document);
            documents += 1;
        }
        assert_eq!(at, stream.bytes().len());
    }
    assert!(documents > 50, "only {documents} documents in {}", folder.display());
}

#[test]
fn odd_text_reads_the_same_with_and_without_the_quick_reader() {
    for text in [
        "a: b # c\n  d\n",
        "a: b\n  c # d\nx: 1\n",
        "a: b\n  c\n\n  d\nx: 1\n",
        "a: |\n\n  x\n\n\n# c\nb: 1\n",
        "a: |+\n  x\n\n\nb: 1\n",
        "a: |-\n  x\n  # y\nb: >\n  x\n  y\n\n  z\n",
        "a: >-\n  x\n   y\n  z\n",
        "a:\n- b\n-\n  c: d\n- - e\n  - f\n",
        "a:\n  - b: 1\n    c:\n    - 2\n  -   d: 3\n      e: 4\n",
        "a: {}\nb: []\nc: {x: 1}\n",
        "\"a\": 'b'\n'c': \"d\"\ne: \"f\\n\"\ng: 'it''s'\n",
        "a: b: c\n",
        "a: 'b' c\n",
        "a: -1\nb: - 1\n",
        "a:\n\n  b: 1\n c: 2\n",
        "a: x\n...\n# end\n",
        "a: x\n...\nb: y\n",
        "- a\n- b: c\n",
        "--- # c\na: 1\n",
        "---\n# c\na:\n# d\n  b: 1\n",
        "a: |\n  x\n y\n",
        "a: |\n   \n  x\n",
        "? a\n: b\n",
        "a: *b\n",
        "a: &b c\nd: *b\n",
        "a: http://x:1/y#z\n",
        "a: x #y\nb: x#y\n",
        "a:b\n",
        "a: \n",
        "a:\n  text\n",
        "a: \"x\n  y\"\n",
        "a: >=1\n",
        "a: @b\n",
        "a : b\n",
        "x y: 1\n",
        "a: 1\n- b\n",
        "- b\na: 1\n",
        "a: |\n  x",
        "a: b",
        "a:\n  - b\n c: 1\n",
    ] {
        let stream = Stream::split(text.as_bytes().into()).expect("a stream");
        for document in stream.documents() {
            check_quick_reader(Path::new(text), &stream, document);
        }
    }
}

#[test]
fn the_heads_of_flux_manifests_are_read_right() {
    check_folder("flux-manifests", 8);
}

#[test]
fn the_heads_of_the_corpus_are_read_right() {
    check_folder("corpus", 1);
}

#[test]
fn the_heads_of_k0rdent_files_are_read_right() {
    check_folder("k0rdent", 1);
}
