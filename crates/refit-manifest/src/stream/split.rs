//! Where documents begin and end.

use std::ops::Range;

/// The bytes of a byte order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Lists the spans of the documents; together they cover the bytes.
pub(super) fn chunks(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut starts = vec![0];
    let mut in_prefix = true;
    let mut ended = false;
    for (at, line) in lines(bytes, 0) {
        let content = if at == 0 {
            line.strip_prefix(BOM).unwrap_or(line)
        } else {
            line
        };
        if is_marker(content, b"---") {
            if !in_prefix {
                starts.push(at);
            }
            in_prefix = false;
            ended = false;
        } else if ended && content.first() == Some(&b'%') {
            starts.push(at);
            in_prefix = true;
            ended = false;
        } else if is_marker(content, b"...") {
            ended = true;
        } else if in_prefix && !is_blank_or_comment(content) && content.first() != Some(&b'%') {
            in_prefix = false;
        } else if ended && !is_blank_or_comment(content) {
            starts.push(at);
            ended = false;
        }
    }
    let end = bytes.len();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([end]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end)
}

/// Gives the lines of content in a chunk: from the first to the last that is neither blank, comment nor marker.
pub(super) fn body(bytes: &[u8], span: &Range<usize>) -> Range<usize> {
    let from = after_marker(bytes, span);
    let mut start = None;
    let mut end = from;
    for (at, line) in lines(&bytes[..span.end], from) {
        if start.is_some() && is_marker(line, b"...") {
            break;
        }
        if is_blank_or_comment(line) || (start.is_none() && line.first() == Some(&b'%')) {
            // An indented comment line may be text of a block scalar, which only counts when content follows or the
            // line stands deeper than column 0.
            if start.is_some() && !is_blank(line) && matches!(line.first(), Some(b' ' | b'\t')) {
                end = at + line.len();
            }
            continue;
        }
        start = start.or(Some(at));
        end = at + line.len();
    }
    let start = start.unwrap_or(end.max(from));
    extend_over_kept_blanks(bytes, start..end.max(start), span.end)
}

/// Takes blank lines at the end into the body where its last line may be text of a block scalar that keeps them.
fn extend_over_kept_blanks(bytes: &[u8], body: Range<usize>, limit: usize) -> Range<usize> {
    let text = &bytes[body.clone()];
    if !text.windows(2).any(|pair| matches!(pair, [b'|' | b'>', b'+'])) && !has_kept_indent(text) {
        return body;
    }
    let mut end = body.end;
    for (at, line) in lines(&bytes[..limit], body.end) {
        if !is_blank(line) {
            break;
        }
        end = at + line.len();
    }
    body.start..end
}

fn has_kept_indent(text: &[u8]) -> bool {
    text.windows(3)
        .any(|part| matches!(part, [b'|' | b'>', b'1'..=b'9', b'+']))
}

/// Gives the offset behind the marker of a chunk: behind its line, or behind `--- ` where content follows on the line.
pub(super) fn after_marker(bytes: &[u8], span: &Range<usize>) -> usize {
    let mut start = span.start;
    if start == 0 && bytes.starts_with(BOM) {
        start = BOM.len();
    }
    for (at, line) in lines(&bytes[..span.end], start) {
        if is_marker(line, b"---") {
            let rest = &line[3..];
            return if is_blank_or_comment(rest) {
                at + line.len()
            } else {
                at + 3
            };
        }
        if !is_blank_or_comment(line) && line.first() != Some(&b'%') {
            return start;
        }
    }
    start
}

/// Finds a line that Git writes into a file with a merge conflict: all three kinds must stand in order.
pub(super) fn conflict_marker(bytes: &[u8]) -> Option<usize> {
    let text = bytes;
    let first = find_line(text, 0, b"<<<<<<< ")?;
    let middle = find_line(text, first, b"=======")?;
    find_line(text, middle, b">>>>>>> ")?;
    Some(1 + text[..first].iter().filter(|byte| **byte == b'\n').count())
}

fn find_line(bytes: &[u8], from: usize, start: &[u8]) -> Option<usize> {
    lines(bytes, from)
        .find(|(_, line)| line.starts_with(start))
        .map(|(at, _)| at)
}

fn is_marker(line: &[u8], marker: &[u8]) -> bool {
    line.starts_with(marker) && matches!(line.get(3), None | Some(b' ' | b'\t' | b'\n' | b'\r'))
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'))
}

fn is_blank_or_comment(line: &[u8]) -> bool {
    let first = line.iter().find(|byte| !matches!(byte, b' ' | b'\t'));
    matches!(first, None | Some(b'#' | b'\n' | b'\r'))
}

/// Lists the lines from an offset with their offsets and line ends.
pub(crate) fn lines(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8])> {
    let mut at = from;
    std::iter::from_fn(move || {
        if at >= bytes.len() {
            return None;
        }
        let rest = &bytes[at..];
        let len = memchr(rest).map_or(rest.len(), |end| end + 1);
        let start = at;
        at += len;
        Some((start, &rest[..len]))
    })
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}
