//! Scalars of the plain part of YAML.

use memchr::memchr;

use super::{Reader, line_end, place};
use crate::parse::builder::Place;
use crate::parse::node::{Layout, Text};
use crate::scalar::Style;

/// Gives the offset behind the closing quote of a quoted scalar on one line; `None` with escapes or over lines.
pub(super) fn closing(bytes: &[u8], at: usize, limit: usize) -> Option<usize> {
    let quote = bytes[at];
    let line = line_end(bytes, at, limit);
    let end = at + 1 + memchr(quote, &bytes[at + 1..line])?;
    let inner = &bytes[at + 1..end];
    let escaped = bytes[..limit].get(end + 1) == Some(&quote) || (quote == b'"' && inner.contains(&b'\\'));
    (!escaped).then_some(end + 1)
}

impl Reader<'_> {
    /// Reads the scalar at an offset, whose holder stands at a column.
    pub(super) fn scalar(&mut self, at: usize, column: usize) -> Option<()> {
        match self.bytes[at] {
            b'|' | b'>' => self.block(at, column),
            b'"' | b'\'' => self.quoted(at),
            b'{' => self.empty_flow(at, b'}'),
            b'[' => self.empty_flow(at, b']'),
            b'&' | b'*' | b'!' | b'%' | b'@' | b'`' | b'?' | b',' | b']' | b'}' | b'#' | b':' => None,
            b'-' if self.is_dash(at) => None,
            _ => self.plain(at, column),
        }
    }

    fn empty_flow(&mut self, at: usize, bracket: u8) -> Option<()> {
        if self.bytes[..self.end].get(at + 1) != Some(&bracket) {
            return None;
        }
        self.line_must_end(at + 2)?;
        let place = place(at..at + 1);
        match bracket {
            b'}' => self.builder.open_mapping(place, Layout::Flow),
            _ => self.builder.open_sequence(place, Layout::Flow),
        }
        self.builder.close(at + 2);
        Some(())
    }

    /// Passes over the rest of a line that may hold a comment only.
    fn line_must_end(&mut self, from: usize) -> Option<()> {
        let at = self.skip_blanks(from);
        if !self.is_line_end(at, from) {
            return None;
        }
        self.at = line_end(self.bytes, at, self.end);
        Some(())
    }

    fn quoted(&mut self, at: usize) -> Option<()> {
        let end = closing(self.bytes, at, self.end)?;
        self.line_must_end(end)?;
        let style = if self.bytes[at] == b'"' {
            Style::Double
        } else {
            Style::Single
        };
        self.builder
            .scalar(place(at..end), style, Text::Source(at as u32 + 1, end as u32 - 1));
        Some(())
    }

    fn plain(&mut self, at: usize, column: usize) -> Option<()> {
        let (end, commented) = self.plain_line(at)?;
        let Some(mut last) = self.continues(column, commented)? else {
            self.builder
                .scalar(place(at..end), Style::Plain, Text::Source(at as u32, end as u32));
            return Some(());
        };
        let mut text = self.text(at, end).to_owned();
        loop {
            for _ in 1..last.breaks {
                text.push('\n');
            }
            if last.breaks == 1 {
                text.push(' ');
            }
            let (end, commented) = self.plain_line(last.at)?;
            text.push_str(self.text(last.at, end));
            match self.continues(column, commented)? {
                Some(next) => last = next,
                None => {
                    self.builder
                        .scalar(place(at..end), Style::Plain, Text::Cooked(text.into()));
                    return Some(());
                }
            }
        }
    }

    fn text(&self, from: usize, to: usize) -> &str {
        std::str::from_utf8(&self.bytes[from..to]).unwrap_or_default()
    }

    /// Gives the end of plain text on a line and whether a comment follows it, and passes over the line; `None` for text
    /// that needs a closer look.
    fn plain_line(&mut self, at: usize) -> Option<(usize, Commented)> {
        let limit = line_end(self.bytes, at, self.end);
        let line = self.bytes[at..limit].trim_ascii_end();
        self.at = limit;
        let mut from = 0;
        while let Some(found) = memchr::memchr2(b':', b'#', &line[from..]) {
            let index = from + found;
            let next = line.get(index + 1);
            match line[index] {
                b':' if matches!(next, None | Some(b' ')) => return None,
                b'#' if index == 0 => return None,
                b'#' if line[index - 1] == b' ' => {
                    return Some((at + line[..index].trim_ascii_end().len(), Commented::Yes));
                }
                _ => {}
            }
            from = index + 1;
        }
        Some((at + line.len(), Commented::No))
    }

    /// Tells whether the next line goes on with plain text, and after how many line breaks; `None` for doubt.
    #[expect(
        clippy::option_option,
        reason = "the outer option is doubt, the inner one the end of the text"
    )]
    fn continues(&mut self, column: usize, commented: Commented) -> Option<Option<Continued>> {
        if commented == Commented::Yes {
            return Some(None);
        }
        let mut at = self.at;
        let mut breaks = 1;
        while at < self.end {
            let depth = self.bytes[at..self.end]
                .iter()
                .take_while(|byte| **byte == b' ')
                .count();
            match self.bytes[..self.end].get(at + depth) {
                None => return Some(None),
                Some(b'\n') => {
                    breaks += 1;
                    at += depth + 1;
                }
                // Behind a comment no text may go on; the parser says so with its own words.
                Some(b'#') => return Some(None),
                Some(_) if depth > column => return Some(Some(Continued { at: at + depth, breaks })),
                Some(_) => return Some(None),
            }
        }
        Some(None)
    }

    /// Reads a block scalar without an explicit indentation.
    fn block(&mut self, at: usize, column: usize) -> Option<()> {
        let style = if self.bytes[at] == b'|' {
            Style::Literal
        } else {
            Style::Folded
        };
        let chomp = self.bytes[..self.end]
            .get(at + 1)
            .copied()
            .filter(|byte| matches!(byte, b'-' | b'+'));
        self.line_must_end(at + 1 + usize::from(chomp.is_some()))?;
        let mut lines: Vec<&[u8]> = Vec::new();
        let mut indent = 0;
        let mut last_content = 0;
        while self.at < self.end {
            let end = line_end(self.bytes, self.at, self.end);
            let line = &self.bytes[self.at..end];
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let depth = line.iter().take_while(|byte| **byte == b' ').count();
            if depth == line.len() {
                if indent > 0 && depth > indent || indent == 0 && depth > column + 1 {
                    return None;
                }
                lines.push(&[]);
            } else {
                if indent == 0 {
                    if depth <= column {
                        return None;
                    }
                    indent = depth;
                }
                if depth < indent {
                    if depth > column {
                        return None;
                    }
                    break;
                }
                lines.push(&line[indent..]);
                last_content = lines.len();
            }
            self.at = end;
        }
        if indent == 0 {
            return None;
        }
        let text = block_text(&lines, last_content, style, chomp)?;
        let place = Place {
            properties: at,
            span: at..self.at,
            tag: None,
            anchor: 0,
        };
        self.builder.scalar(place, style, Text::Cooked(text.into()));
        Some(())
    }
}

/// Whether a comment ends a line of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commented {
    Yes,
    No,
}

struct Continued {
    at: usize,
    breaks: usize,
}

fn block_text(lines: &[&[u8]], content: usize, style: Style, chomp: Option<u8>) -> Option<String> {
    let size = lines.iter().map(|line| line.len() + 1).sum();
    let mut out = Vec::with_capacity(size);
    if style == Style::Literal {
        for (index, line) in lines[..content].iter().enumerate() {
            if index > 0 {
                out.push(b'\n');
            }
            out.extend_from_slice(line);
        }
    } else {
        fold(&lines[..content], &mut out)?;
    }
    match chomp {
        Some(b'-') => {}
        Some(_) => out.extend(std::iter::repeat_n(b'\n', lines.len() - content + 1)),
        None => out.push(b'\n'),
    }
    String::from_utf8(out).ok()
}

/// Folds lines; `None` where one stands deeper than the others.
fn fold(lines: &[&[u8]], out: &mut Vec<u8>) -> Option<()> {
    let mut blanks = 0;
    for (index, line) in lines.iter().enumerate() {
        match line.first() {
            None => blanks += 1,
            Some(b' ') => return None,
            Some(_) => {
                match (index, blanks) {
                    (0, _) => {}
                    (_, 0) => out.push(b' '),
                    (_, blanks) => out.extend(std::iter::repeat_n(b'\n', blanks)),
                }
                blanks = 0;
                out.extend_from_slice(line);
            }
        }
    }
    Some(())
}
