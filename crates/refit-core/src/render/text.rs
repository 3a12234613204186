//! Splices that need no tree.

use std::ops::Range;

use refit_manifest::edit::Splice;
use refit_manifest::{Document, Stream};

/// Replaces a range, unless it has the text already.
pub(super) fn replace(bytes: &[u8], range: Range<usize>, text: String) -> Option<Splice> {
    (bytes.get(range.clone()) != Some(text.as_bytes())).then_some(Splice { range, text })
}

/// Gives the whole lines that a span touches.
pub(super) fn lines(bytes: &[u8], span: Range<usize>) -> Range<usize> {
    let start = bytes[..span.start]
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |at| at + 1);
    let end = bytes[span.end..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(bytes.len(), |at| span.end + at + 1);
    start..end
}

/// Gives the part of a definition's document before its `spec`: schemas never name the plane's namespace.
pub(super) fn before_spec(document: &Document) -> Range<usize> {
    let body = document.body();
    let end = document
        .body_text()
        .find("\nspec:")
        .map_or(body.end, |at| body.start + at);
    body.start..end
}

/// Replaces the namespace of a plane in a range: where it stands alone, and where it ends a longer name.
pub(super) fn namespace(range: Range<usize>, stream: &Stream, names: (&str, &str)) -> Vec<Splice> {
    let (given, wanted) = names;
    if given == wanted || given.is_empty() {
        return Vec::new();
    }
    let text = stream
        .bytes()
        .get(range.clone())
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let stands_alone = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + given.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(|c| is_word(c) || c == '-')
    };
    let found = text
        .match_indices(given)
        .map(|(at, _)| at)
        .filter(|at| stands_alone(*at));
    found
        .map(|at| {
            let start = range.start + at;
            Splice {
                range: start..start + given.len(),
                text: wanted.to_owned(),
            }
        })
        .collect()
}
