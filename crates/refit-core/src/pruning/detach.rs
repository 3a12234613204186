//! Marks what moves, so that the Kustomization of Flux that it leaves does not take it away.
//!
//! In: trees and what moves. Out: files with the mark; every other byte is equal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{Kind, Layout, NodeRef};
use refit_manifest::{Document, Identity, Stream, Tree};

use super::{MARKS, Moving};
use crate::applied::File;
use crate::finding::{Code, Finding};

/// What marking gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Detached {
    /// The files with the marks.
    pub edits: BTreeMap<File, Arc<[u8]>>,
    /// What a person must mark.
    pub findings: Vec<Finding>,
}

/// Marks objects with `kustomize.toolkit.fluxcd.io/prune: disabled`, where they are written.
pub fn detach(trees: &[&Tree], moving: &[&Moving]) -> Detached {
    let mut detached = Detached::default();
    let mut places: BTreeMap<File, Vec<(usize, &Moving)>> = BTreeMap::new();
    for moving in moving {
        match &moving.place {
            Some(place) => {
                let file = File {
                    repository: place.repository,
                    path: place.document.path.clone(),
                };
                places.entry(file).or_default().push((place.document.document, moving));
            }
            None => detached.findings.push(by_hand(moving, "it is generated")),
        }
    }
    for (file, documents) in places {
        let bytes = trees.get(file.repository).and_then(|tree| tree.bytes(&file.path));
        let stream = bytes.and_then(|bytes| Stream::split(Arc::clone(bytes)).ok());
        let mut splices = Vec::new();
        for (index, moving) in documents {
            let document = stream.as_ref().and_then(|stream| stream.documents().get(index));
            match document.filter(|document| is_of(document, moving)).and_then(mark) {
                Some(splice) => splices.push(splice),
                None => detached
                    .findings
                    .push(by_hand(moving, "its file cannot be edited without writing it anew")),
            }
        }
        if let Some(stream) = stream.filter(|_| !splices.is_empty())
            && let Ok(edited) = edit::apply(stream.bytes(), &splices)
        {
            detached.edits.insert(file, edited);
        }
    }
    detached
}

fn by_hand(moving: &Moving, why: &str) -> Finding {
    let message = format!("{moving}, and is not marked first: {why}");
    Finding::new(Code::MoveNotMarked, moving.object.to_string(), message)
}

/// Lists the objects of a file that have the annotation.
pub fn marked(stream: &Stream) -> BTreeSet<Identity> {
    let [mark, _] = MARKS;
    let is_marked = |document: &Document| {
        let value = document.root()?.at(&["metadata", "annotations", mark])?;
        Some(value.text()? == "disabled")
    };
    let objects = stream.objects();
    objects
        .filter(|(_, document)| is_marked(document) == Some(true))
        .map(|(identity, _)| identity.clone())
        .collect()
}

/// Marks those of a file's objects that are wanted and have no mark; gives the same bytes where there is none.
pub fn keep(stream: &Stream, wanted: &BTreeSet<Identity>) -> Arc<[u8]> {
    let objects = stream.objects();
    let splices: Vec<Splice> = objects
        .filter(|(identity, _)| wanted.contains(identity))
        .filter_map(|(_, document)| mark(document))
        .collect();
    edit::apply(stream.bytes(), &splices).unwrap_or_else(|_| Arc::clone(stream.bytes()))
}

/// Tells whether a document is the object that moves, and no list that has it among its items.
fn is_of(document: &Document, moving: &Moving) -> bool {
    let own = document.identity();
    own.is_some_and(|own| own.kind == moving.object.kind)
}

/// Gives the splice that marks the object of a document.
fn mark(document: &Document) -> Option<Splice> {
    if document.parsed().ok()?.is_masked() {
        return None;
    }
    let metadata = document.root()?.get("metadata")?;
    let end = if metadata.bytes().windows(2).any(|pair| pair == b"\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let [mark, _] = MARKS;
    match metadata.get("annotations") {
        Some(annotations) if !annotations.is_null() => {
            if annotations.get(mark).is_some() {
                return None;
            }
            first(annotations, &|_| format!("{mark}: disabled"), end)
        }
        Some(_) => None,
        None => first(
            metadata,
            &|indent| match indent {
                Some(indent) => format!("annotations:{end}{indent}  {mark}: disabled"),
                None => format!("annotations: {{{mark}: disabled}}"),
            },
            end,
        ),
    }
}

/// Puts an entry before the first of a mapping; the text gets the indentation of a block, none inside braces.
fn first(mapping: NodeRef<'_>, text: &dyn Fn(Option<&str>) -> String, end: &str) -> Option<Splice> {
    if mapping.anchor().is_some() {
        return None;
    }
    let entry = mapping.entries().next().map(|(key, _)| key.full_span().start);
    match mapping.kind() {
        Kind::Mapping(Layout::Block) => {
            let at = entry?;
            let line = mapping.bytes()[..at]
                .iter()
                .rposition(|byte| *byte == b'\n')
                .map_or(0, |before| before + 1);
            let indent = " ".repeat(at - line);
            let text = format!("{}{end}{indent}", text(Some(&indent)));
            Some(Splice { range: at..at, text })
        }
        Kind::Mapping(Layout::Flow) => {
            let at = mapping.span().start + 1;
            let between = if entry.is_some() { ", " } else { "" };
            Some(Splice {
                range: at..at,
                text: format!("{}{between}", text(None)),
            })
        }
        _ => None,
    }
}
