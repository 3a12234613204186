//! Builds the arena from events.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::node::{Content, Layout, Node, Parsed, Text};
use crate::scalar::Style;

enum Frame {
    Mapping {
        id: u32,
        layout: Layout,
        entries: Vec<(u32, u32)>,
        key: Option<u32>,
    },
    Sequence {
        id: u32,
        layout: Layout,
        items: Vec<u32>,
    },
}

impl Frame {
    fn id(&self) -> u32 {
        match self {
            Self::Mapping { id, .. } | Self::Sequence { id, .. } => *id,
        }
    }
}

/// Takes events in their order and yields a [`Parsed`].
pub(super) struct Builder {
    /// The bytes of the file.
    text: Arc<str>,
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    root: Option<u32>,
    tags: BTreeMap<u32, Box<str>>,
    anchored: BTreeMap<u32, Box<str>>,
    anchors: BTreeMap<usize, u32>,
    /// How many nodes a reader visits who follows every alias, for each closed node.
    sizes: Vec<u64>,
    /// Where an alias refers to a node that holds it.
    looping: Option<usize>,
    /// Where the last token ended.
    pub(super) last_end: usize,
}

/// The most nodes that aliases may add to those written.
const ALIAS_LIMIT: u64 = 200_000;

/// What can be wrong with aliases.
pub(super) enum AliasFault {
    /// The alias at this offset refers to a node that holds it.
    Loop(usize),
    /// They stand for too many nodes.
    TooMany,
}

/// What an event tells of its node beside its content.
pub(super) struct Place {
    pub(super) properties: usize,
    pub(super) span: Range<usize>,
    pub(super) tag: Option<Box<str>>,
    pub(super) anchor: usize,
}

impl Builder {
    pub(super) fn new(text: Arc<str>, start: usize) -> Self {
        Self {
            text,
            nodes: Vec::new(),
            frames: Vec::new(),
            root: None,
            tags: BTreeMap::new(),
            anchored: BTreeMap::new(),
            anchors: BTreeMap::new(),
            sizes: Vec::new(),
            looping: None,
            last_end: start,
        }
    }

    pub(super) fn scalar(&mut self, place: Place, style: Style, text: Text) {
        let id = self.push(place, Content::Scalar(style, text));
        self.attach(id);
    }

    pub(super) fn alias(&mut self, span: Range<usize>, anchor: usize) {
        let target = self.anchors.get(&anchor).copied();
        if self.frames.iter().any(|frame| Some(frame.id()) == target) {
            self.looping.get_or_insert(span.start);
        }
        let place = Place {
            properties: span.start,
            span,
            tag: None,
            anchor: 0,
        };
        let id = self.push(place, Content::Alias(target));
        self.attach(id);
    }

    pub(super) fn open_mapping(&mut self, place: Place, layout: Layout) {
        let id = self.push(place, Content::Mapping(layout, Box::default()));
        self.frames.push(Frame::Mapping {
            id,
            layout,
            entries: Vec::new(),
            key: None,
        });
    }

    pub(super) fn open_sequence(&mut self, place: Place, layout: Layout) {
        let id = self.push(place, Content::Sequence(layout, Box::default()));
        self.frames.push(Frame::Sequence {
            id,
            layout,
            items: Vec::new(),
        });
    }

    /// Closes the innermost collection; a flow collection ends where its bracket does, a block one with its last child.
    pub(super) fn close(&mut self, bracket_end: usize) {
        let (id, layout, content) = match self.frames.pop() {
            Some(Frame::Mapping {
                id, layout, entries, ..
            }) => (id, layout, Content::Mapping(layout, entries.into())),
            Some(Frame::Sequence { id, layout, items }) => (id, layout, Content::Sequence(layout, items.into())),
            None => return,
        };
        let start = self.nodes[id as usize].start;
        let end = match (layout, &content) {
            (Layout::Flow, _) => bracket_end as u32,
            (Layout::Block, Content::Mapping(_, entries)) => entries
                .last()
                .map_or(start, |(key, value)| self.end_of(*value).max(self.end_of(*key))),
            (Layout::Block, Content::Sequence(_, items)) => items.last().map_or(start, |item| self.end_of(*item)),
            (Layout::Block, _) => start,
        };
        let inner: u64 = match &content {
            Content::Mapping(_, entries) => entries
                .iter()
                .map(|(key, value)| self.size(*key) + self.size(*value))
                .sum(),
            Content::Sequence(_, items) => items.iter().map(|item| self.size(*item)).sum(),
            _ => 0,
        };
        self.sizes[id as usize] = inner.saturating_add(1);
        let node = &mut self.nodes[id as usize];
        node.content = content;
        node.end = end.max(start);
        self.last_end = self.last_end.max(node.end as usize);
        self.attach(id);
    }

    pub(super) fn name_anchor(&mut self, anchor: usize, name: &str, start: usize) {
        if let Some(id) = self.anchors.get(&anchor).copied() {
            self.anchored.insert(id, name.into());
            let node = &mut self.nodes[id as usize];
            node.properties = node.properties.min(start as u32);
        }
    }

    /// Gives the document; an empty scalar without tag and anchor is no content.
    pub(super) fn finish(self) -> Parsed {
        let root = self.root.filter(|id| {
            let node = &self.nodes[*id as usize];
            node.properties != node.end || self.tags.contains_key(id) || self.anchored.contains_key(id)
        });
        Parsed {
            text: self.text,
            nodes: self.nodes,
            root,
            tags: self.tags,
            anchored: self.anchored,
            masked: false,
        }
    }

    /// Tells what is wrong with the aliases: where one refers to a node that holds it, or that following all of them
    /// would visit far more nodes than are written.
    pub(super) fn alias_fault(&self) -> Option<AliasFault> {
        let visits = self.root.map_or(0, |id| self.size(id));
        match self.looping {
            Some(at) => Some(AliasFault::Loop(at)),
            None => (visits > self.nodes.len() as u64 + ALIAS_LIMIT).then_some(AliasFault::TooMany),
        }
    }

    /// Capped, so that sums cannot overflow.
    fn size(&self, id: u32) -> u64 {
        self.sizes[id as usize].min(1 << 40)
    }

    fn end_of(&self, id: u32) -> u32 {
        self.nodes[id as usize].end
    }

    fn push(&mut self, place: Place, content: Content) -> u32 {
        let id = self.nodes.len() as u32;
        if let Some(tag) = place.tag {
            self.tags.insert(id, tag);
        }
        if place.anchor != 0 {
            self.anchors.insert(place.anchor, id);
            self.anchored.insert(id, "".into());
        }
        self.last_end = self.last_end.max(place.span.end);
        self.sizes.push(match content {
            Content::Alias(Some(target)) => self.size(target),
            _ => 1,
        });
        self.nodes.push(Node {
            content,
            properties: place.properties as u32,
            start: place.span.start as u32,
            end: place.span.end as u32,
        });
        id
    }

    /// Puts an empty value directly behind the colon of its key, wherever the parser saw it end.
    fn settle_empty(&mut self, name: u32, id: u32) {
        let node = &self.nodes[id as usize];
        if node.start != node.end || node.properties != node.start {
            return;
        }
        let from = self.nodes[name as usize].end as usize;
        let blanks = self.text.as_bytes()[from..]
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\t'))
            .count();
        if self.text.as_bytes().get(from + blanks) == Some(&b':') {
            let at = (from + blanks + 1) as u32;
            let node = &mut self.nodes[id as usize];
            (node.properties, node.start, node.end) = (at, at, at);
        }
    }

    fn attach(&mut self, id: u32) {
        match self.frames.last_mut() {
            None => self.root = self.root.or(Some(id)),
            Some(Frame::Sequence { items, .. }) => items.push(id),
            Some(Frame::Mapping { entries, key, .. }) => match key.take() {
                None => *key = Some(id),
                Some(name) => {
                    entries.push((name, id));
                    self.settle_empty(name, id);
                }
            },
        }
    }
}
