//! Reads a file with its splices and compares it with the draft.

use super::draft::{Draft, Form};
use super::field::At;
use super::run::Outcome;
use crate::edit::{self, Splice};
use crate::parse::{Kind, NodeRef, same, view};
use crate::scalar::{Style, Value};
use crate::stream::Stream;

/// Checks that the splices make the draft of an object and leave all else alone, and that the rules would leave it so;
/// the error says what differs.
pub(super) fn check(
    object: NodeRef<'_>,
    Outcome { draft, comments, .. }: &Outcome<'_>,
    splices: &[Splice],
    is_settled: &dyn Fn(NodeRef<'_>) -> bool,
) -> Result<(), String> {
    // One document alone: a file may have thousands.
    let part = object.document_span();
    let start = object.span().start - part.start;
    let old = object.bytes_text(part.clone());
    let bytes = edit::apply_within(object.bytes(), part, splices).map_err(|error| error.to_string())?;
    let stream = Stream::split(bytes).map_err(|error| error.to_string())?;
    let document = stream
        .documents()
        .iter()
        .find(|document| document.span().contains(&start));
    let document = document.ok_or("the document is gone")?;
    let found = document.parsed().map_err(|error| error.to_string())?.root();
    let found = found.ok_or("the document is empty")?;
    let root = object.parsed().root().ok_or("the document is empty")?;
    if !is_as_wanted(root, found, object, draft) {
        return Err("the result would not read back as computed".to_owned());
    }
    let times = |text: &str, comment: &str| text.matches(comment).count();
    let is_lost = |comment: &str| times(stream.text(), comment) < times(old, comment);
    if comments.iter().any(|comment| is_lost(comment)) {
        return Err("a comment beside a patch would be lost; give it a line of its own above the patch".to_owned());
    }
    match counterpart(root, found, object) {
        Some(object) if !is_settled(object) => Err("its rules would change the result once more".to_owned()),
        _ => Ok(()),
    }
}

/// Tells whether the splices write one plain word for another inside the scalar of the API version, which no other place
/// refers to: that reads back as it is written, and touches nothing else.
pub(super) fn is_word_for_word(object: NodeRef<'_>, draft: &Draft<'_>, splices: &[Splice]) -> bool {
    let wanted = draft.at(&[At::Key("apiVersion".to_owned())]);
    let (Some(node), Some(wanted), [splice]) = (object.get("apiVersion"), &wanted, splices) else {
        return false;
    };
    let quotes = match node.kind() {
        Kind::Scalar(Style::Plain) => 0,
        Kind::Scalar(Style::Single | Style::Double) => 1,
        _ => return false,
    };
    let span = node.span();
    let inner = span.start + quotes..span.end.saturating_sub(quotes);
    let Some(old) = node.bytes().get(inner.clone()) else {
        return false;
    };
    if splice.range.start < inner.start || inner.end < splice.range.end {
        return false;
    }
    let (before, behind) = (splice.range.start - inner.start, splice.range.end - inner.start);
    let new = [&old[..before], splice.text.as_bytes(), &old[behind..]].concat();
    let is_alone = node.anchor().is_none() && node.tag().is_none() && !object.parsed().is_masked();
    is_alone && is_word(old) && is_word(&new) && wanted.text().map(str::as_bytes) == Some(&new)
}

/// Tells whether a text reads as itself in every style: it begins with a letter, has a digit, and nothing that YAML knows.
fn is_word(text: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'/' | b'-');
    text.first().is_some_and(u8::is_ascii_alphabetic)
        && text.iter().any(u8::is_ascii_digit)
        && text.iter().all(is_plain)
}

/// Compares a value with what it was, and the object in it with its draft.
fn is_as_wanted<'a>(old: NodeRef<'a>, found: NodeRef<'_>, object: NodeRef<'a>, draft: &Draft<'a>) -> bool {
    if old == object {
        return reads_as(draft, found);
    }
    let span = old.full_span();
    if old.kind() == Kind::Alias || object.span().start < span.start || span.end < object.span().end {
        return same(old, found);
    }
    let inside = |a, b| is_as_wanted(a, b, object, draft);
    match (old.kind(), found.kind()) {
        (Kind::Mapping(_), Kind::Mapping(_)) => {
            old.entries().len() == found.entries().len()
                && old
                    .entries()
                    .zip(found.entries())
                    .all(|((key, a), (name, b))| key.text() == name.text() && inside(a, b))
        }
        (Kind::Sequence(_), Kind::Sequence(_)) => {
            old.items().len() == found.items().len() && old.items().zip(found.items()).all(|(a, b)| inside(a, b))
        }
        _ => same(old, found),
    }
}

/// Finds what an object became.
fn counterpart<'b>(old: NodeRef<'_>, found: NodeRef<'b>, object: NodeRef<'_>) -> Option<NodeRef<'b>> {
    let span = old.full_span();
    if old == object {
        return Some(found);
    }
    if object.span().start < span.start || span.end < object.span().end {
        return None;
    }
    let values = old.entries().zip(found.entries()).map(|((_, a), (_, b))| (a, b));
    let items = old.items().zip(found.items());
    values.chain(items).find_map(|(a, b)| counterpart(a, b, object))
}

/// Tells whether a value reads as a draft says.
fn reads_as(draft: &Draft<'_>, found: NodeRef<'_>) -> bool {
    match draft {
        Draft::Kept(node) => same(*node, found),
        Draft::Scalar(scalar) => match scalar.form {
            Form::Written(_) => found.text() == Some(&scalar.text),
            _ => found.value() == Some(Value::Text(&scalar.text)),
        },
        Draft::Sequence(sequence) => {
            matches!(found.kind(), Kind::Sequence(_))
                && sequence.items.len() == found.items().len()
                && sequence
                    .items
                    .iter()
                    .zip(found.items())
                    .all(|(item, node)| reads_as(&item.value, node))
        }
        Draft::Mapping(mapping) => {
            let entries: Vec<_> = found.entries().collect();
            matches!(found.kind(), Kind::Mapping(_))
                && view(found).len() >= mapping.entries.len()
                && entries.len() == mapping.entries.len()
                && mapping.entries.iter().all(|entry| {
                    let mut named = entries.iter().filter(|(key, _)| key.text() == Some(&entry.key));
                    named.any(|(_, value)| reads_as(&entry.value, *value))
                })
        }
    }
}
