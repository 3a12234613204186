//! Reads YAML with a second parser into trees with byte spans.
//!
//! In: the bytes of a file. Out: documents, or the parser's complaint. Knows nothing of the product's own parser.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use libyaml_safer::{Event, EventData, MappingStyle, Parser, SequenceStyle};

use super::value;

/// A node with its place in the file and a number that is equal for equal values.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The bytes of the node; of a collection from its first to its last part.
    pub(crate) span: Range<usize>,
    /// Equal for equal values, whatever their spelling; lists count in order, maps do not.
    pub(crate) hash: u64,
}

/// How a collection is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    Block,
    Flow,
}

/// What a node is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Scalar { text: String },
    List { items: Vec<Node>, shape: Shape },
    Map { entries: Vec<(Node, Node)>, shape: Shape },
    Alias { name: String, target: Option<Rc<Node>> },
}

impl Node {
    /// Gives the text of a scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Gives the value of a key of a map; the last one when the key stands twice.
    pub(crate) fn get(&self, key: &str) -> Option<&Node> {
        self.entries()
            .iter()
            .rev()
            .find(|(k, _)| k.text() == Some(key))
            .map(|(_, v)| v)
    }

    /// Gives the entries of a map, nothing for other nodes.
    pub(crate) fn entries(&self) -> &[(Node, Node)] {
        match &self.kind {
            Kind::Map { entries, .. } => entries,
            _ => &[],
        }
    }

    /// Gives the items of a list, nothing for other nodes.
    pub(crate) fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List { items, .. } => items,
            _ => &[],
        }
    }

    pub(crate) fn is_map(&self) -> bool {
        matches!(self.kind, Kind::Map { .. })
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List { .. })
    }

    /// Gives a short text for messages.
    pub(crate) fn shown(&self) -> String {
        let text = match &self.kind {
            Kind::Scalar { text, .. } => format!("`{text}`"),
            Kind::List { items, .. } => {
                format!("[{}]", items.iter().map(Node::shown).collect::<Vec<_>>().join(", "))
            }
            Kind::Map { entries, .. } => {
                let shown = |(k, v): &(Node, Node)| format!("{}: {}", k.text().unwrap_or("?"), v.shown());
                format!("{{{}}}", entries.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Kind::Alias { name, .. } => format!("*{name}"),
        };
        if text.chars().count() > 160 {
            text.chars().take(160).chain("...".chars()).collect()
        } else {
            text
        }
    }
}

/// Reads all documents of a file; templates and variables are masked when the file does not parse as it is.
pub(crate) fn read(bytes: &[u8]) -> Result<Vec<Node>, String> {
    let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
    read_text(text).or_else(|complaint| {
        if text.contains("{{") {
            read_text(&mask(text))
        } else if text.contains("${") {
            read_text(&mask_variables(text))
        } else {
            Err(complaint)
        }
    })
}

/// Replaces template actions by as many other bytes.
fn mask(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut masked = String::new();
        let mut rest = line;
        let mut only_actions = true;
        while let Some(start) = rest.find("{{") {
            let end = rest[start..]
                .find("}}")
                .map_or(rest.trim_end().len(), |at| start + at + 2);
            only_actions &= rest[..start].trim().is_empty();
            masked.push_str(&rest[..start]);
            masked.push_str(&"x".repeat(end - start));
            rest = &rest[end..];
        }
        only_actions &= rest.trim().is_empty() && !masked.is_empty();
        masked.push_str(rest);
        if only_actions {
            masked = masked.replacen('x', "#", 1);
        }
        out.push_str(&masked);
    }
    out
}

/// Replaces variables by as many other bytes.
fn mask_variables(text: &str) -> String {
    let mut out = text.to_owned();
    while let Some(start) = out.find("${") {
        let end = out[start..].find(['}', '\n']).map_or(out.len(), |at| start + at + 1);
        out.replace_range(start..end, &"x".repeat(end - start));
    }
    out
}

fn read_text(text: &str) -> Result<Vec<Node>, String> {
    let bom = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let body = &text[bom..];
    let mut input = body.as_bytes();
    let mut parser = Parser::new();
    parser.set_input_string(&mut input);
    let mut reader = Reader {
        body,
        bom,
        anchors: HashMap::new(),
    };
    let mut documents = Vec::new();
    loop {
        let event = parser.parse().map_err(|error| error.to_string())?;
        match event.data {
            EventData::StreamEnd => return Ok(documents),
            EventData::DocumentStart { .. } => {
                reader.anchors.clear();
                let first = parser.parse().map_err(|error| error.to_string())?;
                documents.push(reader.node(first, &mut parser)?);
            }
            _ => {}
        }
    }
}

struct Reader<'t> {
    body: &'t str,
    bom: usize,
    anchors: HashMap<String, Rc<Node>>,
}

impl Reader<'_> {
    fn span(&self, event: &Event) -> Range<usize> {
        // The marks count bytes.
        let byte = |index: u64| usize::try_from(index).unwrap_or(usize::MAX).min(self.body.len());
        let (start, end) = (byte(event.start_mark.index), byte(event.end_mark.index));
        self.bom + start..self.bom + end.max(start)
    }

    fn node(&mut self, event: Event, parser: &mut Parser<&mut &[u8]>) -> Result<Node, String> {
        let span = self.span(&event);
        let shape = |is_flow| if is_flow { Shape::Flow } else { Shape::Block };
        let (node, anchor) = match event.data {
            EventData::Scalar {
                anchor,
                tag,
                value,
                style,
                ..
            } => {
                let hash = value::scalar_hash(&value, style, tag.as_deref());
                // The span of a scalar with properties starts at them; what changes is the text alone.
                (
                    Node {
                        kind: Kind::Scalar { text: value },
                        span,
                        hash,
                    },
                    anchor,
                )
            }
            EventData::Alias { anchor } => {
                let target = self.anchors.get(&anchor).cloned();
                let hash = target.as_ref().map_or(0, |node| node.hash);
                return Ok(Node {
                    kind: Kind::Alias { name: anchor, target },
                    span,
                    hash,
                });
            }
            EventData::SequenceStart { anchor, style, .. } => {
                (self.list(span, shape(style == SequenceStyle::Flow), parser)?, anchor)
            }
            EventData::MappingStart { anchor, style, .. } => {
                (self.map(span, shape(style == MappingStyle::Flow), parser)?, anchor)
            }
            other => return Err(format!("unexpected event {other:?}")),
        };
        if let Some(name) = anchor {
            self.anchors.insert(name, Rc::new(node.clone()));
        }
        Ok(node)
    }

    fn list(&mut self, start: Range<usize>, shape: Shape, parser: &mut Parser<&mut &[u8]>) -> Result<Node, String> {
        let mut items: Vec<Node> = Vec::new();
        let mut span = start;
        loop {
            let event = parser.parse().map_err(|error| error.to_string())?;
            if matches!(event.data, EventData::SequenceEnd) {
                span.end = if shape == Shape::Flow {
                    self.span(&event).end
                } else {
                    items.last().map_or(span.end, |i| i.span.end)
                };
                let hash = value::list_hash(items.iter().map(|item| item.hash));
                return Ok(Node {
                    kind: Kind::List { items, shape },
                    span,
                    hash,
                });
            }
            items.push(self.node(event, parser)?);
        }
    }

    fn map(&mut self, start: Range<usize>, shape: Shape, parser: &mut Parser<&mut &[u8]>) -> Result<Node, String> {
        let mut entries: Vec<(Node, Node)> = Vec::new();
        let mut span = start;
        loop {
            let event = parser.parse().map_err(|error| error.to_string())?;
            if matches!(event.data, EventData::MappingEnd) {
                span.end = if shape == Shape::Flow {
                    self.span(&event).end
                } else {
                    entries.last().map_or(span.end, |e| e.1.span.end)
                };
                let hash = value::map_hash(entries.iter().map(|(k, v)| (k.text().unwrap_or("?"), v.hash)));
                return Ok(Node {
                    kind: Kind::Map { entries, shape },
                    span,
                    hash,
                });
            }
            let key = self.node(event, parser)?;
            let next = parser.parse().map_err(|error| error.to_string())?;
            let mut held = self.node(next, parser)?;
            if held.span.is_empty() {
                // An empty value stands right after the colon, not where the next token starts.
                let colon = self.body[key.span.end - self.bom..].find(':').map_or(0, |at| at + 1);
                held.span = key.span.end + colon..key.span.end + colon;
            }
            entries.push((key, held));
        }
    }
}
