//! Nodes in an arena, and the view that walks them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::scalar::{self, Style, Value};

/// How a collection is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layout {
    /// By lines and indentation.
    Block,
    /// In `{}` or `[]`.
    Flow,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar and its style.
    Scalar(Style),
    /// A mapping.
    Mapping(Layout),
    /// A sequence.
    Sequence(Layout),
    /// An alias of an anchored node.
    Alias,
}

#[derive(Debug)]
pub(super) enum Text {
    /// The text stands in the file as it is.
    Source(u32, u32),
    /// The text after folding and escapes.
    Cooked(Box<str>),
}

#[derive(Debug)]
pub(super) enum Content {
    Scalar(Style, Text),
    Mapping(Layout, Box<[(u32, u32)]>),
    Sequence(Layout, Box<[u32]>),
    Alias(Option<u32>),
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) content: Content,
    /// Where anchor and tag begin; equal to `start` without them.
    pub(super) properties: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

/// A parsed document.
#[derive(Debug)]
pub struct Parsed {
    pub(super) text: Arc<str>,
    pub(super) nodes: Vec<Node>,
    pub(super) root: Option<u32>,
    pub(super) tags: BTreeMap<u32, Box<str>>,
    pub(super) anchored: BTreeMap<u32, Box<str>>,
    pub(super) masked: bool,
}

impl Parsed {
    /// Gives the root node; `None` for a document without content.
    pub fn root(&self) -> Option<NodeRef<'_>> {
        self.root.map(|id| NodeRef { parsed: self, id })
    }

    /// Tells whether template text was masked to parse the document.
    pub fn is_masked(&self) -> bool {
        self.masked
    }
}

/// A node of a parsed document.
#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'a> {
    parsed: &'a Parsed,
    id: u32,
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.parsed, other.parsed) && self.id == other.id
    }
}

impl<'a> NodeRef<'a> {
    fn node(self) -> &'a Node {
        &self.parsed.nodes[self.id as usize]
    }

    fn sibling(self, id: u32) -> Self {
        Self {
            parsed: self.parsed,
            id,
        }
    }

    /// Gives the document that the node is part of.
    pub fn parsed(self) -> &'a Parsed {
        self.parsed
    }

    /// Gives the span of the document in the file: from its `---` line, or the start of the file, to the next such line.
    pub fn document_span(self) -> Range<usize> {
        let bytes = self.bytes();
        let (before, behind) = bytes.split_at(self.span().start.min(bytes.len()));
        let start = memchr::memmem::rfind(before, b"\n---").map_or(0, |at| at + 1);
        let end = memchr::memmem::find(behind, b"\n---").map_or(bytes.len(), |at| before.len() + at + 1);
        start..end
    }

    /// Tells what the node is.
    pub fn kind(self) -> Kind {
        match &self.node().content {
            Content::Scalar(style, _) => Kind::Scalar(*style),
            Content::Mapping(layout, _) => Kind::Mapping(*layout),
            Content::Sequence(layout, _) => Kind::Sequence(*layout),
            Content::Alias(_) => Kind::Alias,
        }
    }

    /// Gives the span of the node's content in the file, without anchor and tag; a block scalar begins at its `|` or
    /// `>`, a block collection ends with its last child.
    pub fn span(self) -> Range<usize> {
        self.node().start as usize..self.node().end as usize
    }

    /// Gives the span with anchor and tag.
    pub fn full_span(self) -> Range<usize> {
        self.node().properties as usize..self.node().end as usize
    }

    /// Gives the bytes of the node as they stand in the file, without anchor and tag.
    pub fn source(self) -> &'a str {
        &self.parsed.text[self.span()]
    }

    /// Gives the text of a span of the file.
    pub(crate) fn bytes_text(self, span: Range<usize>) -> &'a str {
        &self.parsed.text[span]
    }

    /// Gives the file's bytes.
    pub fn bytes(self) -> &'a [u8] {
        self.parsed.text.as_bytes()
    }

    /// Gives the name of the node's anchor.
    pub fn anchor(self) -> Option<&'a str> {
        self.parsed.anchored.get(&self.id).map(AsRef::as_ref)
    }

    /// Tells whether an alias of the document stands for the node.
    pub(crate) fn is_aliased(self) -> bool {
        let stands_for = |node: &Node| matches!(node.content, Content::Alias(Some(id)) if id == self.id);
        self.anchor().is_some() && self.parsed.nodes.iter().any(stands_for)
    }

    /// Gives the node's tag, core tags by their suffix.
    pub fn tag(self) -> Option<&'a str> {
        self.parsed.tags.get(&self.id).map(AsRef::as_ref)
    }

    /// Follows an alias to its anchored node; other nodes are given back.
    pub fn target(self) -> Self {
        match self.node().content {
            Content::Alias(Some(id)) => self.sibling(id),
            _ => self,
        }
    }

    /// Gives the text of a scalar after escapes and folding; aliases are followed.
    pub fn text(self) -> Option<&'a str> {
        match &self.target().node().content {
            Content::Scalar(_, Text::Cooked(text)) => Some(text),
            Content::Scalar(_, Text::Source(start, end)) => self.parsed.text.get(*start as usize..*end as usize),
            _ => None,
        }
    }

    /// Gives the value of a scalar; aliases are followed.
    pub fn value(self) -> Option<Value<'a>> {
        let target = self.target();
        match target.node().content {
            Content::Scalar(style, _) => Some(scalar::resolve(target.text()?, style, target.tag())),
            _ => None,
        }
    }

    /// Gives the text of a scalar that is a string; aliases are followed.
    pub fn as_str(self) -> Option<&'a str> {
        match self.value()? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Tells whether the node is null, written or empty.
    pub fn is_null(self) -> bool {
        matches!(self.value(), Some(Value::Null))
    }

    /// Lists the keys and values of a mapping in their order, as written: `<<` is an entry; aliases are followed.
    pub fn entries(self) -> impl DoubleEndedIterator<Item = (NodeRef<'a>, NodeRef<'a>)> + ExactSizeIterator {
        let entries: &'a [(u32, u32)] = match &self.target().node().content {
            Content::Mapping(_, entries) => entries,
            _ => &[],
        };
        entries
            .iter()
            .map(move |(key, value)| (self.sibling(*key), self.sibling(*value)))
    }

    /// Lists the items of a sequence; aliases are followed.
    pub fn items(self) -> impl DoubleEndedIterator<Item = NodeRef<'a>> + ExactSizeIterator {
        let items: &'a [u32] = match &self.target().node().content {
            Content::Sequence(_, items) => items,
            _ => &[],
        };
        items.iter().map(move |id| self.sibling(*id))
    }

    /// Gives the value of a key in a mapping, the last one where a key stands twice; `<<` is followed.
    pub fn get(self, key: &str) -> Option<NodeRef<'a>> {
        let Content::Mapping(_, entries) = &self.target().node().content else {
            return None;
        };
        let mut merged = None;
        for (name, value) in entries.iter().rev() {
            let name = self.sibling(*name);
            if name.is_text(key) {
                return Some(self.sibling(*value));
            }
            if name.is_text("<<") {
                merged = Some(self.sibling(*value));
            }
        }
        let merged = merged?;
        match merged.target().kind() {
            Kind::Mapping(_) => merged.get(key),
            _ => merged.items().find_map(|item| item.get(key)),
        }
    }

    /// Tells whether the text of a scalar is this word; most are told apart by their length.
    fn is_text(self, word: &str) -> bool {
        match &self.node().content {
            Content::Scalar(_, Text::Source(start, end)) => {
                let length = (*end as usize).saturating_sub(*start as usize);
                length == word.len() && self.text() == Some(word)
            }
            _ => self.text() == Some(word),
        }
    }

    /// Gives the node at a path of mapping keys.
    pub fn at(self, path: &[&str]) -> Option<NodeRef<'a>> {
        path.iter().try_fold(self, |node, key| node.get(key))
    }
}
