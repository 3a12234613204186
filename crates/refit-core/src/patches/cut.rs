//! Takes items out of sequences and documents out of files, as splices.
//!
//! In: nodes. Out: splices that touch nothing else, or the reason why there are none.

use std::ops::Range;

use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind, Layout, NodeRef};

/// Why something cannot be edited.
pub(super) type Unfit = &'static str;

/// The reason for a layout that would have to be written anew.
pub(super) const STYLE: Unfit = "it is written in a style that cannot be edited without writing the text anew";

/// What becomes of the comment lines directly above an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Above {
    /// They go with it.
    Goes,
    /// They stay.
    Stays,
}

/// Takes one item out of a sequence that has others.
pub(super) fn item(sequence: NodeRef<'_>, index: usize, above: Above) -> Result<Splice, Unfit> {
    let items: Vec<NodeRef<'_>> = sequence.items().collect();
    let item = *items.get(index).ok_or(STYLE)?;
    match sequence.kind() {
        Kind::Sequence(Layout::Block) => lines(item, above).map(removal),
        Kind::Sequence(Layout::Flow) => {
            let range = match (
                index.checked_sub(1).and_then(|before| items.get(before)),
                items.get(index + 1),
            ) {
                (_, Some(next)) => item.full_span().start..next.full_span().start,
                (Some(before), None) => before.full_span().end..item.full_span().end,
                (None, None) => item.full_span(),
            };
            let bytes = item.bytes();
            let own = item.full_span();
            let around = bytes[range.start..own.start.max(range.start)]
                .iter()
                .chain(&bytes[own.end.min(range.end)..range.end]);
            let plain = around.copied().all(|byte| byte == b',' || byte.is_ascii_whitespace());
            if plain { Ok(removal(range)) } else { Err(STYLE) }
        }
        _ => Err(STYLE),
    }
}

/// Takes a key with its block sequence out of a mapping.
pub(super) fn key(mapping: NodeRef<'_>, name: &str) -> Result<Splice, Unfit> {
    let found = mapping.entries().find(|(key, _)| key.text() == Some(name));
    let (key, value) = found.ok_or(STYLE)?;
    if mapping.kind() != Kind::Mapping(Layout::Block) {
        return Err(STYLE);
    }
    let bytes = key.bytes();
    let start = line_start(bytes, key.full_span().start);
    if bytes[start..key.full_span().start].iter().any(|byte| *byte != b' ') {
        return Err(STYLE);
    }
    Ok(removal(start..last_line_end(value)))
}

/// Gives the lines of an item of a block sequence.
fn lines(item: NodeRef<'_>, above: Above) -> Result<Range<usize>, Unfit> {
    let bytes = item.bytes();
    let before = &bytes[..item.full_span().start];
    let dash = before
        .iter()
        .rposition(|byte| !byte.is_ascii_whitespace())
        .filter(|at| before[*at] == b'-')
        .ok_or(STYLE)?;
    let mut start = line_start(bytes, dash);
    if bytes[start..dash].iter().any(|byte| *byte != b' ') {
        return Err(STYLE);
    }
    while above == Above::Goes && start > 0 {
        let line = line_start(bytes, start - 1);
        let text = bytes[line..start].trim_ascii_start();
        if !text.starts_with(b"#") {
            break;
        }
        start = line;
    }
    let end = last_line_end(item);
    // Without a line end after it, the one before it goes.
    let start = if bytes[..end].ends_with(b"\n") {
        start
    } else {
        start.saturating_sub(1)
    };
    Ok(start..end)
}

/// Gives the offset behind the line where a node's content ends.
fn last_line_end(node: NodeRef<'_>) -> usize {
    let span = node.full_span();
    let bytes = node.bytes();
    let content = span.start + bytes[span.clone()].trim_ascii_end().len();
    let rest = bytes[content..].iter().position(|byte| *byte == b'\n');
    rest.map_or(bytes.len(), |end| content + end + 1)
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    let before = bytes[..at].iter().rposition(|byte| *byte == b'\n');
    before.map_or(0, |end| end + 1)
}

/// Replaces the text of a scalar and keeps its quotes.
pub(super) fn rewritten(scalar: NodeRef<'_>, text: &str) -> Result<Splice, Unfit> {
    use refit_manifest::scalar::Style;
    let span = scalar.span();
    let range = match scalar.kind() {
        Kind::Scalar(Style::Plain) => span,
        Kind::Scalar(Style::Single | Style::Double) if span.len() >= 2 => span.start + 1..span.end - 1,
        _ => return Err(STYLE),
    };
    Ok(Splice {
        range,
        text: text.to_owned(),
    })
}

pub(super) fn removal(range: Range<usize>) -> Splice {
    Splice {
        range,
        text: String::new(),
    }
}
