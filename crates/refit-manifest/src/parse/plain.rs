//! Reads the plain part of YAML, in which generated manifests are written, several times faster than the parser.
//!
//! In: the bytes of a document. Out: the same [`Parsed`] that the parser gives, or `None` for a document that uses
//! anything else: anchors, tags, flow collections with content, escapes, tabs, explicit indentation, CRLF. A document
//! that is refused here is read by the parser, so this module decides speed and never what is valid.

mod scalars;

use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr2};

use super::DEPTH_LIMIT;
use super::builder::{Builder, Place};
use super::node::{Layout, Parsed, Text};
use crate::scalar::Style;

/// Reads a document; `None` when it must be read by the parser.
pub(super) fn parse(text: &Arc<str>, span: Range<usize>) -> Option<Parsed> {
    let bytes = text.as_bytes();
    if memchr2(b'\r', b'\t', &bytes[span.clone()]).is_some() {
        return None;
    }
    let start = content_start(bytes, &span)?;
    let mut reader = Reader {
        bytes,
        at: start,
        end: span.end,
        builder: Builder::new(Arc::clone(text), span.start),
        depth: 0,
    };
    reader.end = reader.document_end()?;
    let Some(line) = reader.next_line() else {
        return Some(reader.builder.finish());
    };
    reader.node(line)?;
    match reader.next_line() {
        None => Some(reader.builder.finish()),
        Some(_) => None,
    }
}

/// Gives the offset behind the marker line; `None` where something else stands on it or before it.
fn content_start(bytes: &[u8], span: &Range<usize>) -> Option<usize> {
    let mut at = span.start;
    while at < span.end {
        let end = line_end(bytes, at, span.end);
        let line = &bytes[at..end];
        match line.first() {
            None | Some(b'#' | b'\n') => {}
            Some(b'-') if line.starts_with(b"---") => {
                let rest = line[3..].trim_ascii();
                return (rest.is_empty() || rest.starts_with(b"#") && line[3] == b' ').then_some(end);
            }
            Some(b'%' | 0xef) => return None,
            _ => return Some(at),
        }
        at = end;
    }
    Some(span.end)
}

fn line_end(bytes: &[u8], at: usize, limit: usize) -> usize {
    memchr(b'\n', &bytes[at..limit]).map_or(limit, |end| at + end + 1)
}

/// The first byte of a line's content.
#[derive(Clone, Copy)]
struct Line {
    at: usize,
    column: usize,
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Where the next line begins, or where the rest of a line that was read in part begins.
    at: usize,
    end: usize,
    builder: Builder,
    depth: usize,
}

impl Reader<'_> {
    /// Cuts the end at a `...` line; `None` when content follows it.
    fn document_end(&self) -> Option<usize> {
        let mut from = self.at;
        while let Some(found) = memchr::memmem::find(&self.bytes[from..self.end], b"\n...") {
            let line = from + found + 1;
            let end = line_end(self.bytes, line, self.end);
            if self.bytes[line + 3..end].trim_ascii().is_empty() {
                return self.bytes[end..self.end].trim_ascii().is_empty().then_some(line);
            }
            from = end;
        }
        Some(self.end)
    }

    /// Passes over blank lines and comments and gives the next line with content.
    fn next_line(&mut self) -> Option<Line> {
        while self.at < self.end {
            let column = self.bytes[self.at..self.end]
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
            let at = self.at + column;
            match self.bytes[..self.end].get(at) {
                None => self.at = self.end,
                Some(b'\n') => self.at = at + 1,
                Some(b'#') => self.at = line_end(self.bytes, at, self.end),
                Some(_) => return Some(Line { at, column }),
            }
        }
        None
    }

    fn is_dash(&self, at: usize) -> bool {
        self.bytes[at] == b'-' && matches!(self.bytes[..self.end].get(at + 1), None | Some(b' ' | b'\n'))
    }

    /// Reads the block collection that begins at a line.
    fn node(&mut self, line: Line) -> Option<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT / 2 {
            return None;
        }
        if self.is_dash(line.at) {
            self.sequence(line)?
        } else {
            self.mapping(line)?
        }
        self.depth -= 1;
        Some(())
    }

    fn mapping(&mut self, first: Line) -> Option<()> {
        self.builder.open_mapping(empty_place(first.at), Layout::Block);
        let mut line = first;
        loop {
            let colon = self.key(line.at)?;
            self.value_of_key(line, colon)?;
            match self.next_line() {
                Some(next) if next.column == first.column && !self.is_dash(next.at) => line = next,
                Some(next) if next.column > first.column => return None,
                _ => break,
            }
        }
        self.builder.close(self.at);
        Some(())
    }

    fn value_of_key(&mut self, line: Line, colon: usize) -> Option<()> {
        let at = self.skip_blanks(colon + 1);
        if !self.is_line_end(at, colon + 1) {
            return self.scalar(at, line.column);
        }
        self.at = line_end(self.bytes, at, self.end);
        match self.next_line() {
            Some(next) if next.column > line.column || (next.column == line.column && self.is_dash(next.at)) => {
                if !self.is_dash(next.at) && self.find_colon(next.at).is_none() {
                    return None;
                }
                self.node(next)
            }
            _ => {
                self.builder
                    .scalar(empty_place(colon + 1), Style::Plain, Text::Cooked("".into()));
                Some(())
            }
        }
    }

    fn sequence(&mut self, first: Line) -> Option<()> {
        self.builder.open_sequence(empty_place(first.at), Layout::Block);
        let mut line = first;
        loop {
            let at = self.skip_blanks(line.at + 1);
            if self.is_line_end(at, line.at + 1) {
                self.at = line_end(self.bytes, at, self.end);
                let next = self.next_line().filter(|next| next.column > line.column)?;
                if !self.is_dash(next.at) && self.find_colon(next.at).is_none() {
                    return None;
                }
                self.node(next)?;
            } else if self.is_dash(at) || self.find_colon(at).is_some() {
                self.node(Line {
                    at,
                    column: line.column + (at - line.at),
                })?;
            } else {
                self.scalar(at, line.column)?;
            }
            match self.next_line() {
                Some(next) if next.column == first.column && self.is_dash(next.at) => line = next,
                Some(next) if next.column > first.column => return None,
                _ => break,
            }
        }
        self.builder.close(self.at);
        Some(())
    }

    fn skip_blanks(&self, at: usize) -> usize {
        at + self.bytes[at..self.end]
            .iter()
            .take_while(|byte| **byte == b' ')
            .count()
    }

    /// Tells whether a line holds nothing more from an offset on; a comment must follow a blank.
    fn is_line_end(&self, at: usize, from: usize) -> bool {
        match self.bytes[..self.end].get(at) {
            None | Some(b'\n') => true,
            Some(b'#') => at > from,
            _ => false,
        }
    }

    /// Finds the colon that ends the key which begins at an offset.
    fn find_colon(&self, at: usize) -> Option<usize> {
        let first = self.bytes[at];
        if matches!(first, b'"' | b'\'') {
            let end = scalars::closing(self.bytes, at, self.end)?;
            return (self.bytes.get(end) == Some(&b':') && self.ends_key(end)).then_some(end);
        }
        let limit = line_end(self.bytes, at, self.end);
        let mut from = at;
        loop {
            let colon = from + memchr(b':', &self.bytes[from..limit])?;
            if self.ends_key(colon) {
                return Some(colon);
            }
            from = colon + 1;
        }
    }

    fn ends_key(&self, colon: usize) -> bool {
        matches!(self.bytes[..self.end].get(colon + 1), None | Some(b' ' | b'\n'))
    }

    /// Reads a key and gives the offset of its colon.
    fn key(&mut self, at: usize) -> Option<usize> {
        let colon = self.find_colon(at)?;
        let bytes = &self.bytes[at..colon];
        let first = *bytes.first()?;
        if matches!(first, b'"' | b'\'') {
            let style = if first == b'"' { Style::Double } else { Style::Single };
            let inner = Text::Source(at as u32 + 1, colon as u32 - 1);
            self.builder.scalar(place(at..colon), style, inner);
            return Some(colon);
        }
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'$' | b'~');
        if !bytes.iter().all(plain) || (first == b'-' && bytes.len() < 2) {
            return None;
        }
        self.builder
            .scalar(place(at..colon), Style::Plain, Text::Source(at as u32, colon as u32));
        Some(colon)
    }
}

fn place(span: Range<usize>) -> Place {
    Place {
        properties: span.start,
        span,
        tag: None,
        anchor: 0,
    }
}

fn empty_place(at: usize) -> Place {
    place(at..at)
}
