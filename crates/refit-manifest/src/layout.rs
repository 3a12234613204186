//! Where nodes stand in their lines.
//!
//! In: bytes and nodes. Out: offsets of lines, columns, the comments that belong to a node.

use memchr::{memchr, memrchr};

use crate::parse::{Kind, Layout, NodeRef};
use crate::scalar::Style;

/// Gives the start of the line that holds an offset.
pub(crate) fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1)
}

/// Gives the offset behind the line end of the line that holds an offset.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)
}

/// Gives the number of bytes between the start of the line and an offset.
pub(crate) fn column(bytes: &[u8], at: usize) -> usize {
    at - line_start(bytes, at)
}

/// Tells whether only spaces stand before an offset on its line.
pub(crate) fn first_on_line(bytes: &[u8], at: usize) -> bool {
    bytes[line_start(bytes, at)..at].iter().all(|byte| *byte == b' ')
}

/// Tells whether a node is a block scalar that keeps its last blank lines.
fn keeps_blanks(node: NodeRef<'_>) -> bool {
    matches!(node.kind(), Kind::Scalar(Style::Literal | Style::Folded))
        && node
            .source()
            .lines()
            .next()
            .is_some_and(|header| header.split('#').next().unwrap_or("").contains('+'))
}

/// Gives the end of a node's last byte of content, without the line ends behind a block scalar.
pub(crate) fn content_end(node: NodeRef<'_>) -> usize {
    let span = node.span();
    match node.kind() {
        Kind::Scalar(Style::Literal | Style::Folded) => {
            let text = node.source();
            let kept = if keeps_blanks(node) {
                without_line_end(text)
            } else {
                without_blank_lines(text)
            };
            span.start + kept.len()
        }
        Kind::Mapping(Layout::Block) => node
            .entries()
            .last()
            .map_or(span.end, |(key, value)| content_end(value).max(key.full_span().end)),
        Kind::Sequence(Layout::Block) => node.items().last().map_or(span.end, content_end),
        _ => span.end,
    }
}

/// Cuts the blank lines at the end of a text and the last line end; blanks behind text stay.
pub(crate) fn without_blank_lines(text: &str) -> &str {
    let mut text = without_line_end(text);
    while let Some((before, last)) = text.rsplit_once('\n') {
        if !last.trim().is_empty() {
            break;
        }
        text = before.strip_suffix('\r').unwrap_or(before);
    }
    text
}

fn without_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// Gives the offset behind the last line of a node, its trailing comment included.
pub(crate) fn after(node: NodeRef<'_>) -> usize {
    line_end(node.bytes(), content_end(node))
}

/// Gives the start of the comment lines that stand directly above a line, not before `floor`.
pub(crate) fn lead_start(bytes: &[u8], element: usize, floor: usize) -> usize {
    let mut start = line_start(bytes, element);
    while start > floor {
        let above = line_start(bytes, start - 1);
        if above < floor || !is_comment(&bytes[above..start]) {
            break;
        }
        start = above;
    }
    start
}

/// Tells whether a line holds nothing but a comment.
pub(crate) fn is_comment(line: &[u8]) -> bool {
    line.iter().find(|byte| !matches!(byte, b' ' | b'\t')) == Some(&b'#')
}

/// Gives the offset behind the colon of a key.
pub(crate) fn after_colon(key: NodeRef<'_>) -> Option<usize> {
    let bytes = key.bytes();
    let end = key.full_span().end;
    let skip = bytes[end..]
        .iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))?;
    (bytes[end + skip] == b':').then_some(end + skip + 1)
}

/// Gives the offset of the dash of an item of a block sequence.
pub(crate) fn dash(item: NodeRef<'_>) -> Option<usize> {
    let bytes = item.bytes();
    let mut end = item.full_span().start;
    loop {
        let start = line_start(bytes, end);
        let line = &bytes[start..end];
        let text = match line.iter().position(|byte| *byte == b'#') {
            Some(comment) if line[..comment].last().is_none_or(|byte| matches!(byte, b' ' | b'\t')) => &line[..comment],
            _ => line,
        };
        match text
            .iter()
            .rposition(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        {
            Some(at) => return (text[at] == b'-').then_some(start + at),
            None if start == 0 => return None,
            None => end = start - 1,
        }
    }
}

/// Gives the comment behind a node on its last line, with the blanks before it.
pub(crate) fn trailing_comment(node: NodeRef<'_>) -> &str {
    let bytes = node.bytes();
    let end = content_end(node);
    let line = &bytes[end..line_end(bytes, end)];
    let text = std::str::from_utf8(line).unwrap_or("").trim_end();
    if text.trim_start().starts_with('#') && text.starts_with([' ', '\t']) {
        text
    } else {
        ""
    }
}

/// Gives the comment on the first line of a block of text, with the blanks before it.
pub(crate) fn header_comment(node: NodeRef<'_>) -> &str {
    if !matches!(node.kind(), Kind::Scalar(Style::Literal | Style::Folded)) {
        return "";
    }
    let header = node.source().lines().next().unwrap_or("");
    let indicator = header.split([' ', '\t']).next().unwrap_or("");
    header[indicator.len()..].trim_end()
}

/// Gives the comment on the line of a key or dash whose value stands on the lines below, with the blanks before it.
pub(crate) fn comment_behind(bytes: &[u8], slot: usize) -> String {
    let line = String::from_utf8_lossy(&bytes[slot..line_end(bytes, slot)]);
    if line.trim_start().starts_with('#') {
        line.trim_end().to_owned()
    } else {
        String::new()
    }
}

/// Tells whether most lines end in CRLF.
pub(crate) fn is_crlf(bytes: &[u8]) -> bool {
    let mut total = 0_usize;
    let mut crlf = 0_usize;
    for (at, byte) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').take(2000) {
        let _ = byte;
        total += 1;
        crlf += usize::from(at > 0 && bytes[at - 1] == b'\r');
    }
    crlf * 2 > total
}

/// How a file indents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Indents {
    /// Columns from a key to the keys of its mapping.
    pub(crate) step: usize,
    /// Columns from a key to the dashes of its sequence.
    pub(crate) sequence: usize,
}

/// Reads the indents of a document from its first block mapping and sequence that stand under a key.
pub(crate) fn indents(root: NodeRef<'_>) -> Option<Indents> {
    let mut step = None;
    let mut sequence = None;
    let mut open = vec![root];
    let mut visited = 0;
    while let Some(node) = open.pop() {
        visited += 1;
        if visited > 4000 || (step.is_some() && sequence.is_some()) {
            break;
        }
        for (key, value) in node.entries().rev() {
            let from = column(key.bytes(), key.full_span().start);
            let to = |at: usize| column(value.bytes(), at).checked_sub(from);
            match value.kind() {
                Kind::Mapping(Layout::Block) => step = to(value.span().start).or(step),
                Kind::Sequence(Layout::Block) => {
                    sequence = value.items().next().and_then(dash).and_then(to).or(sequence);
                }
                _ => {}
            }
            if value.kind() != Kind::Alias {
                open.push(value);
            }
        }
        if node.kind() != Kind::Alias {
            open.extend(node.items());
        }
    }
    match (step, sequence) {
        (None, None) => None,
        (step, sequence) => Some(Indents {
            step: step.unwrap_or(2),
            sequence: sequence.unwrap_or(usize::MAX),
        }),
    }
}
