//! Merges the documents of one file and guards the result.

use std::sync::Arc;

use super::Settings;
use super::document::{self, Sides, Wanted};
use super::merger::{Merger, Subject};
use crate::decision::Decision;
use crate::edit::{self, Splice};
use crate::layout;
use crate::parse::{self, Kind, NodeRef};
use crate::render::Target;
use crate::stream::{Document, Stream};
use crate::tree::Path;

/// A document of theirs that goes into a file of ours.
pub(super) struct Arrival<'a> {
    /// The document of ours that it follows; `None` puts it first.
    pub(super) after: Option<usize>,
    pub(super) document: &'a Document,
    pub(super) decision: Decision,
}

/// What is to be done with one file of ours.
pub(super) struct Work<'a> {
    pub(super) path: &'a Path,
    pub(super) ours: &'a Stream,
    /// For each document of ours its counterparts; `None` for documents that are left alone.
    pub(super) sides: Vec<Option<Sides<'a>>>,
    pub(super) arrivals: Vec<Arrival<'a>>,
}

/// A merged file.
pub(super) struct Done {
    pub(super) bytes: Arc<[u8]>,
    pub(super) decisions: Vec<Decision>,
    pub(super) splices: Vec<(Splice, usize)>,
}

/// Why a file cannot be merged by structure.
pub(super) enum Failure {
    /// A document that both sides changed does not parse.
    Syntax(parse::Error),
    /// The result would not read back as computed.
    Guard(String),
}

/// Merges a file.
pub(super) fn merge<'a>(settings: &'a Settings, work: Work<'a>) -> Result<Done, Failure> {
    let mut done = Done {
        bytes: Arc::clone(work.ours.bytes()),
        decisions: Vec::new(),
        splices: Vec::new(),
    };
    let mut wanted: Vec<Wanted<'a>> = Vec::new();
    for (index, document) in work.ours.documents().iter().enumerate() {
        let Some(sides) = work.sides[index] else {
            if !document.is_empty() {
                wanted.push(Wanted::Same(document));
            }
            push_arrivals(&work, Some(index), &mut wanted);
            continue;
        };
        let object = document.identity().cloned();
        let mut merger = Merger::new(
            settings,
            Subject {
                path: work.path.clone(),
                object,
            },
        );
        let result = document::merge(&mut merger, sides).map_err(Failure::Syntax)?;
        if let Some(reason) = merger.blocked {
            return Err(Failure::Guard(reason));
        }
        if !matches!(result, Wanted::Gone) && !document.is_empty() {
            wanted.push(result);
        }
        push_arrivals(&work, Some(index), &mut wanted);
        let offset = done.decisions.len();
        done.decisions.extend(merger.decisions);
        done.splices.extend(
            merger
                .splices
                .into_iter()
                .map(|(splice, decision)| (splice, decision + offset)),
        );
    }
    insert_arrivals(&work, &mut done);
    let mut first: Vec<Wanted<'a>> = Vec::new();
    push_arrivals(&work, None, &mut first);
    first.extend(wanted);
    finish(work.ours, done, &first)
}

fn push_arrivals<'a>(work: &Work<'a>, after: Option<usize>, wanted: &mut Vec<Wanted<'a>>) {
    let here = work.arrivals.iter().filter(|arrival| arrival.after == after);
    wanted.extend(here.map(|arrival| Wanted::Same(arrival.document)));
}

fn insert_arrivals(work: &Work<'_>, done: &mut Done) {
    let documents = work.ours.documents();
    let bytes = work.ours.bytes();
    for arrival in &work.arrivals {
        done.decisions.push(arrival.decision.clone());
        let decision = done.decisions.len() - 1;
        let neighbour = documents.get(arrival.after.unwrap_or(0)).and_then(Document::root);
        let target = Target {
            column: 0,
            ours: neighbour.and_then(layout::indents),
            theirs: arrival.document.root().and_then(layout::indents),
        };
        let text = document::text_of(arrival.document, target);
        let (at, text) = match arrival.after {
            Some(index) => after_document(bytes, documents[index].span().end, text),
            None => before_first(documents, text),
        };
        done.splices.push((Splice { range: at..at, text }, decision));
    }
}

fn after_document(bytes: &[u8], at: usize, text: String) -> (usize, String) {
    if at > 0 && bytes[at - 1] != b'\n' {
        return (at, format!("\n{}", text.trim_end_matches('\n')));
    }
    (at, text)
}

fn before_first(documents: &[Document], text: String) -> (usize, String) {
    let Some(first) = documents.first() else {
        return (0, text);
    };
    if first.has_marker() {
        return (first.span().start, text);
    }
    let body = text.strip_prefix("---\n").unwrap_or(&text);
    (first.lead().start, format!("{body}---\n"))
}

/// Applies the splices with the file's line ends, reads the result back and compares.
fn finish(ours: &Stream, mut done: Done, wanted: &[Wanted<'_>]) -> Result<Done, Failure> {
    if done.splices.is_empty() {
        return Ok(done);
    }
    if layout::is_crlf(ours.bytes()) {
        for (splice, _) in &mut done.splices {
            splice.text = splice.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    let splices: Vec<Splice> = done.splices.iter().map(|(splice, _)| splice.clone()).collect();
    done.bytes = edit::apply(ours.bytes(), &splices).map_err(|error| Failure::Guard(error.to_string()))?;
    let stream = Stream::split(Arc::clone(&done.bytes)).map_err(|error| Failure::Guard(error.to_string()))?;
    let found: Vec<&Document> = stream
        .documents()
        .iter()
        .filter(|document| !document.is_empty())
        .collect();
    if found.len() != wanted.len() {
        return Err(Failure::Guard(format!(
            "the result has {} documents, not {}",
            found.len(),
            wanted.len()
        )));
    }
    for (wanted, found) in wanted.iter().zip(found) {
        if !document::fits(wanted, found) {
            let name = found
                .identity()
                .map_or_else(|| "a document".to_owned(), ToString::to_string);
            let own = ours.documents().iter().find(|own| own.identity() == found.identity());
            let cause = own.and_then(shared_value).unwrap_or_default();
            return Err(Failure::Guard(format!(
                "{name} would not read back as computed{cause}; write the values of anchors and tags plainly first, or merge \
                 this file by hand"
            )));
        }
    }
    Ok(done)
}

/// Names the first anchor of a document: what stands there is the value of other places too.
fn shared_value(document: &Document) -> Option<String> {
    let mut open = vec![document.root()?];
    while let Some(node) = open.pop() {
        if let Some(anchor) = node.anchor() {
            let line = document.line_of(node.span().start);
            return Some(format!(
                " (the anchor `&{anchor}` on line {line} stands for several places)"
            ));
        }
        let mut below: Vec<NodeRef<'_>> = node.entries().map(|(_, value)| value).chain(node.items()).collect();
        below.reverse();
        open.extend(below.into_iter().filter(|node| node.kind() != Kind::Alias));
    }
    None
}
