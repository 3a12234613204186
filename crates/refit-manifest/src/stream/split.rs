//! Where documents begin and end.

use std::ops::Range;

use memchr::{memchr, memmem, memrchr};

/// The bytes of a byte order mark.
const BOM: &[u8] = b"\xef\xbb\xbf";

/// Lists the spans of the documents; together they cover the bytes.
pub(super) fn chunks(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut starts = vec![0];
    let mut at = if bytes.starts_with(BOM) { BOM.len() } else { 0 };
    let mut is_open = prefix_has_content(bytes, &mut at);
    while let Some(marker) = next_marker(bytes, at) {
        let end = line_end(bytes, marker);
        if bytes[marker] == b'-' {
            if is_open {
                starts.push(marker);
            }
            is_open = true;
            at = end;
        } else {
            // Behind `...` a document may begin without a marker: at its directives or at its content.
            at = end;
            let mut next = end;
            if prefix_has_content(bytes, &mut next) {
                starts.push(next);
                at = next;
            } else if next < bytes.len() && bytes[next] == b'%' {
                starts.push(next);
                is_open = false;
                at = next;
            }
        }
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([bytes.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| start..end)
}

/// Passes over blank lines and comments; tells whether content stands there: neither marker, directive nor the end.
fn prefix_has_content(bytes: &[u8], at: &mut usize) -> bool {
    for (start, line) in lines(bytes, *at) {
        *at = start;
        if !is_blank_or_comment(line) {
            return !is_marker(line, b"---") && !is_marker(line, b"...") && line.first() != Some(&b'%');
        }
    }
    *at = bytes.len();
    false
}

/// Finds the next line that begins with `---` or `...`, at an offset that begins a line or behind it.
fn next_marker(bytes: &[u8], from: usize) -> Option<usize> {
    let is_here = |at: usize| is_marker(&bytes[at..], b"---") || is_marker(&bytes[at..], b"...");
    if from < bytes.len() && is_here(from) && (from == 0 || matches!(bytes[from - 1], b'\n' | 0xbf)) {
        return Some(from);
    }
    let dash = find_marker(bytes, from, b"\n---");
    let limit = dash.map_or(bytes.len(), |at| (at + 4).min(bytes.len()));
    find_marker(&bytes[..limit], from, b"\n...").or(dash)
}

fn find_marker(bytes: &[u8], from: usize, wanted: &[u8; 4]) -> Option<usize> {
    let mut found = memmem::find_iter(&bytes[from.min(bytes.len())..], wanted).map(|at| from + at + 1);
    found.find(|at| is_marker(&bytes[*at..], &wanted[1..]))
}

/// Gives the lines of content in a chunk: from the first to the last that is neither blank, comment nor marker.
///
/// A comment that stands deeper than column 0 counts as content when content stands before it: it may be text of a
/// block scalar.
pub(super) fn body(bytes: &[u8], span: &Range<usize>) -> Range<usize> {
    let from = after_marker(bytes, span);
    let is_content = |line: &[u8]| !is_blank_or_comment(line) && line.first() != Some(&b'%');
    let Some((start, first)) = lines(&bytes[..span.end], from).find(|(_, line)| is_content(line)) else {
        return span.end..span.end;
    };
    let mut limit = span.end;
    if let Some(end) = find_marker(&bytes[..span.end], start, b"\n...") {
        limit = end;
    }
    let mut end = limit;
    while end > start + first.len() {
        let line = line_start(bytes, end - 1).max(start);
        let text = &bytes[line..end];
        let is_text = !is_blank_or_comment(text) || (!is_blank(text) && matches!(text.first(), Some(b' ' | b'\t')));
        if is_text {
            break;
        }
        end = line;
    }
    extend_over_kept_blanks(bytes, start..end, limit)
}

/// Takes blank lines at the end into the body where its last line may be text of a block scalar that keeps them.
fn extend_over_kept_blanks(bytes: &[u8], body: Range<usize>, limit: usize) -> Range<usize> {
    if !lines(&bytes[..limit], body.end)
        .next()
        .is_some_and(|(_, line)| is_blank(line))
    {
        return body;
    }
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
    let first = find_line(bytes, 0, b"\n<<<<<<< ")?;
    let middle = find_line(bytes, first, b"\n=======")?;
    find_line(bytes, middle, b"\n>>>>>>> ")?;
    Some(1 + bytes[..first].iter().filter(|byte| **byte == b'\n').count())
}

/// Finds a line by its start; the start is given with the line end before it.
fn find_line(bytes: &[u8], from: usize, start: &[u8]) -> Option<usize> {
    if bytes[from..].starts_with(&start[1..]) {
        return Some(from);
    }
    memmem::find(&bytes[from..], start).map(|at| from + at + 1)
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
        let len = memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let start = at;
        at += len;
        Some((start, &rest[..len]))
    })
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |end| at + end + 1)
}

fn line_start(bytes: &[u8], at: usize) -> usize {
    memrchr(b'\n', &bytes[..at]).map_or(0, |end| end + 1)
}
