//! Splitting and reading real files: every document parses, the cheap scan of heads equals the parsed tree.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "a test says with a panic what is wrong"
)]

use std::path::{Path, PathBuf};

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
            documents += 1;
        }
        assert_eq!(at, stream.bytes().len());
    }
    assert!(documents > 50, "only {documents} documents in {}", folder.display());
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
