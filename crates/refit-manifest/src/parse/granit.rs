//! The only place that knows the parser crate.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StructureStyle, Tag};

use super::builder::{AliasFault, Builder, Place};
use super::node::{Layout, Parsed, Text};
use super::{DEPTH_LIMIT, Error, Kind};
use crate::mask;
use crate::scalar::Style;

/// Parses one document, with its templates masked where it does not parse without.
pub(super) fn parse(file: &Arc<str>, span: Range<usize>) -> Result<Parsed, Error> {
    let text = &file[span.clone()];
    let first = read(file, text, span.start, Source::Plain);
    if !mask::has_templates(text) {
        return first;
    }
    match first {
        Ok(parsed) if !looks_templated(&parsed) => Ok(parsed),
        first => match read(file, &mask::mask(text), span.start, Source::Masked) {
            Ok(parsed) => Ok(Parsed { masked: true, ..parsed }),
            Err(_) => first,
        },
    }
}

/// Tells whether a mapping has a mapping as key: what `{{ x }}` is to a YAML parser.
fn looks_templated(parsed: &Parsed) -> bool {
    parsed.root().is_some_and(|root| {
        let mut open = vec![root];
        while let Some(node) = open.pop() {
            for (key, value) in node.entries() {
                if matches!(key.kind(), Kind::Mapping(_)) {
                    return true;
                }
                open.push(value);
            }
            if node.kind() != Kind::Alias {
                open.extend(node.items());
            }
        }
        false
    })
}

/// Whether the parsed text is the file's own or a masked copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Plain,
    Masked,
}

fn read(file: &Arc<str>, text: &str, offset: usize, source: Source) -> Result<Parsed, Error> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    options.emit_anchor_events = true;
    options.flow_nesting_limit = DEPTH_LIMIT;
    options.block_nesting_limit = DEPTH_LIMIT;
    let mut reader = Reader {
        builder: Builder::new(Arc::clone(file), offset),
        bytes: file.as_bytes(),
        text,
        offset,
        source,
    };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| error_of(&error, file.as_bytes(), offset))?;
        reader.take(event, &span);
    }
    match reader.builder.alias_fault() {
        None => Ok(reader.builder.finish()),
        Some(AliasFault::Loop(at)) => Err(Error::AliasLoop {
            line: line_of(file.as_bytes(), at),
        }),
        Some(AliasFault::TooMany) => Err(Error::TooManyAliases {
            line: line_of(file.as_bytes(), offset),
        }),
    }
}

struct Reader<'a> {
    builder: Builder,
    bytes: &'a [u8],
    text: &'a str,
    offset: usize,
    source: Source,
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, span: &Span) {
        let range = span.byte_range().unwrap_or(0..0);
        let range = range.start + self.offset..range.end + self.offset;
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(text, style, place(range, span, self.offset, anchor, tag))
            }
            Event::MappingStart(style, anchor, tag) => {
                self.builder
                    .open_mapping(place(range, span, self.offset, anchor, tag), layout(style));
            }
            Event::SequenceStart(style, anchor, tag) => {
                let layout = layout(style);
                let start = if layout == Layout::Block {
                    self.first_dash(range.start)
                } else {
                    range.start
                };
                let end = range.end.max(start);
                self.builder
                    .open_sequence(place(start..end, span, self.offset, anchor, tag), layout);
            }
            Event::MappingEnd | Event::SequenceEnd => self.builder.close(range.end),
            Event::Alias(anchor) => self.builder.alias(range, anchor),
            Event::Anchor(anchor, name) => self.builder.name_anchor(anchor, &name, range.start),
            _ => {}
        }
    }

    fn scalar(&mut self, text: Cow<'_, str>, style: ScalarStyle, mut place: Place) {
        let style = match style {
            ScalarStyle::Plain => Style::Plain,
            ScalarStyle::SingleQuoted => Style::Single,
            ScalarStyle::DoubleQuoted => Style::Double,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
        };
        let text = match style {
            _ if self.source == Source::Masked => source(&place.span),
            Style::Plain if place.span.is_empty() => Text::Cooked("".into()),
            Style::Plain if self.bytes[place.span.clone()] == *text.as_bytes() => source(&place.span),
            Style::Single | Style::Double => {
                let inner = place.span.start + 1..place.span.end.saturating_sub(1).max(place.span.start + 1);
                if self.bytes[inner.clone()] == *text.as_bytes() {
                    source(&inner)
                } else {
                    Text::Cooked(text.into())
                }
            }
            _ => Text::Cooked(text.into()),
        };
        if matches!(style, Style::Literal | Style::Folded) {
            let at = self.indicator(place.span.start);
            if place.properties == place.span.start {
                place.properties = at;
            }
            place.span.start = at;
            let blanks = self.bytes[at..place.span.end]
                .iter()
                .rev()
                .take_while(|byte| **byte == b' ')
                .count();
            if self.bytes[..place.span.end - blanks].last() == Some(&b'\n') {
                place.span.end -= blanks;
            }
        }
        self.builder.scalar(place, style, text);
    }

    /// Gives the offset of the first dash of a block sequence: the parser says where its first item begins when the
    /// sequence stands as deep as its key.
    fn first_dash(&self, at: usize) -> usize {
        if matches!(self.bytes[at..], [b'-', b' ' | b'\n' | b'\r' | b'\t', ..] | [b'-']) {
            return at;
        }
        let before = self.bytes[..at].trim_ascii_end();
        if before.last() == Some(&b'-') {
            before.len() - 1
        } else {
            at
        }
    }

    /// Finds the `|` or `>` of a block scalar whose content begins at an offset.
    fn indicator(&self, content: usize) -> usize {
        let from = self.builder.last_end.min(content) - self.offset;
        let mut in_comment = false;
        let mut at = from;
        for (index, byte) in self.text.as_bytes()[from..content - self.offset].iter().enumerate() {
            match byte {
                b'\n' => in_comment = false,
                b'#' => in_comment = true,
                b'|' | b'>' if !in_comment => {
                    at = from + index;
                    break;
                }
                _ => {}
            }
        }
        at + self.offset
    }
}

fn source(span: &Range<usize>) -> Text {
    Text::Source(span.start as u32, span.end as u32)
}

fn layout(style: StructureStyle) -> Layout {
    match style {
        StructureStyle::Block => Layout::Block,
        StructureStyle::Flow => Layout::Flow,
    }
}

fn place(range: Range<usize>, span: &Span, offset: usize, anchor: usize, tag: Option<Cow<'_, Tag>>) -> Place {
    let tagged = span.tag_span().and_then(|tag| tag.byte_range());
    let properties = tagged.map_or(range.start, |tag| tag.start + offset);
    let tag = tag.map(|tag| {
        tag.core_suffix()
            .map_or_else(|| tag.original(), ToOwned::to_owned)
            .into()
    });
    Place {
        properties,
        span: range,
        tag,
        anchor,
    }
}

fn error_of(error: &granit_parser::ScanError, bytes: &[u8], offset: usize) -> Error {
    let marker = error.marker();
    let line = line_of(bytes, offset) + marker.line().saturating_sub(1);
    let reason = error.info().to_string();
    if reason.contains("nesting") || reason.contains("recursion") {
        return Error::TooDeep {
            line,
            limit: DEPTH_LIMIT,
        };
    }
    Error::Syntax {
        line,
        column: marker.col() + 1,
        reason,
    }
}

fn line_of(bytes: &[u8], offset: usize) -> usize {
    1 + bytes[..offset].iter().filter(|byte| **byte == b'\n').count()
}
