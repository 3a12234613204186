//! The object as the rules leave it, with the places that its parts come from.
//!
//! In: nodes. Out: a tree that keeps them and adds to them. Reading follows aliases and `<<`; editing does not: what
//! stands for several places is never edited through one of them.

use super::field::{At, Step};
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef, same};

/// A value of the object.
#[derive(Clone, Debug)]
pub(super) enum Draft<'a> {
    /// As it is written.
    Kept(NodeRef<'a>),
    Mapping(Mapping<'a>),
    Sequence(Sequence<'a>),
    Scalar(Scalar<'a>),
}

/// A mapping whose entries may differ from those written.
#[derive(Clone, Debug, Default)]
pub(super) struct Mapping<'a> {
    /// The mapping that is edited; `None` for a new one.
    pub(super) origin: Option<NodeRef<'a>>,
    pub(super) entries: Vec<Entry<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: String,
    /// The key that is written, here or where the entry comes from.
    pub(super) source: Option<Source<'a>>,
    pub(super) value: Draft<'a>,
}

/// A sequence whose items may differ from those written.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence<'a> {
    /// The sequence that is edited; `None` for a new one.
    pub(super) origin: Option<NodeRef<'a>>,
    pub(super) items: Vec<Item<'a>>,
}

#[derive(Clone, Debug)]
pub(super) struct Item<'a> {
    /// The item that is written, here or where the item comes from; the key, for the value of an entry.
    pub(super) source: Option<Source<'a>>,
    pub(super) value: Draft<'a>,
}

/// A key or item of the file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) node: NodeRef<'a>,
    /// Where the key, or the dash of the item, begins.
    pub(super) start: usize,
    /// No comment before this offset belongs to it.
    pub(super) floor: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Scalar<'a> {
    /// The text that it reads as.
    pub(super) text: String,
    pub(super) form: Form<'a>,
}

/// How a scalar is written.
#[derive(Clone, Debug)]
pub(super) enum Form<'a> {
    /// As a string of lines after `|` where the place allows it.
    Lines,
    /// As a rule writes it: a number, a flag or a string.
    Written(String),
    /// With this source in place of that of the node.
    Edited(NodeRef<'a>, String),
}

/// Why a place cannot be edited.
#[derive(Clone, Debug)]
pub(super) struct Hindrance<'a> {
    pub(super) node: Option<NodeRef<'a>>,
    pub(super) reason: String,
}

fn hindrance<'a, T>(node: NodeRef<'a>, reason: impl Into<String>) -> Result<T, Hindrance<'a>> {
    Err(Hindrance {
        node: Some(node),
        reason: reason.into(),
    })
}

impl<'a> Draft<'a> {
    /// Gives the value at a place; aliases and `<<` are followed.
    pub(super) fn at(&self, places: &[At]) -> Option<Draft<'a>> {
        let mut here = self;
        for (index, place) in places.iter().enumerate() {
            here = match (here, place) {
                // What is as it is written is looked up there, and nothing of the draft is copied on the way.
                (Draft::Kept(node), _) => return kept_at(*node, &places[index..]).map(Draft::Kept),
                (Draft::Mapping(mapping), At::Key(key)) => match mapping.get(key) {
                    Some(value) => value,
                    None => return kept_at(mapping.inherited(key)?, &places[index + 1..]).map(Draft::Kept),
                },
                (Draft::Sequence(sequence), At::Index(index)) => &sequence.items.get(*index)?.value,
                _ => return None,
            };
        }
        Some(here.clone())
    }

    /// Tells whether a field is written, at one place at least.
    pub(super) fn has(&self, steps: &[Step]) -> bool {
        let Some((step, rest)) = steps.split_first() else {
            return true;
        };
        match (self, step) {
            (Draft::Kept(node), _) => has_kept(*node, steps),
            (Draft::Mapping(mapping), Step::Key(key)) => match mapping.get(key) {
                Some(value) => value.has(rest),
                None => mapping.inherited(key).is_some_and(|node| has_kept(node, rest)),
            },
            (Draft::Sequence(sequence), Step::Each) => sequence.items.iter().any(|item| item.value.has(rest)),
            _ => false,
        }
    }

    /// Gives the text of a scalar.
    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Draft::Kept(node) => node.text(),
            Draft::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Draft::Kept(node) if node.is_null())
    }

    /// Tells whether the value is a list, also an alias of one.
    pub(super) fn is_list(&self) -> bool {
        match self {
            Draft::Kept(node) => matches!(node.target().kind(), Kind::Sequence(_)),
            other => matches!(other, Draft::Sequence(_)),
        }
    }

    /// Gives the number of items of a list.
    pub(super) fn length(&self) -> usize {
        match self {
            Draft::Kept(node) => node.items().len(),
            Draft::Sequence(sequence) => sequence.items.len(),
            _ => 0,
        }
    }

    /// Gives the node that the value is, or comes from.
    pub(super) fn origin(&self) -> Option<NodeRef<'a>> {
        match self {
            Draft::Kept(node) => Some(*node),
            Draft::Mapping(mapping) => mapping.origin,
            Draft::Sequence(sequence) => sequence.origin,
            Draft::Scalar(scalar) => match scalar.form {
                Form::Edited(node, _) => Some(node),
                _ => None,
            },
        }
    }

    /// Tells whether two values are the same, as far as both stand in the file or are scalars.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Draft::Kept(a), Draft::Kept(b)) => same(*a, *b),
            _ => self.text().is_some() && self.text() == other.text(),
        }
    }

    /// Gives the mapping for an edit.
    pub(super) fn open(&mut self) -> Result<&mut Mapping<'a>, Hindrance<'a>> {
        if let Draft::Kept(node) = self {
            let node = *node;
            check_place(node)?;
            *self = Draft::Mapping(match node.kind() {
                Kind::Mapping(_) => Mapping::of(node),
                _ if node.is_null() => Mapping::default(),
                _ => return hindrance(node, "is no mapping"),
            });
        }
        match self {
            Draft::Mapping(mapping) => Ok(mapping),
            other => Err(Hindrance {
                node: other.origin(),
                reason: "is no mapping".to_owned(),
            }),
        }
    }

    /// Gives the sequence for an edit.
    pub(super) fn open_list(&mut self) -> Result<&mut Sequence<'a>, Hindrance<'a>> {
        if let Draft::Kept(node) = self {
            let node = *node;
            check_place(node)?;
            *self = Draft::Sequence(match node.kind() {
                Kind::Sequence(_) => Sequence::of(node),
                _ if node.is_null() => Sequence::default(),
                _ => return hindrance(node, "is no list"),
            });
        }
        match self {
            Draft::Sequence(sequence) => Ok(sequence),
            other => Err(Hindrance {
                node: other.origin(),
                reason: "is no list".to_owned(),
            }),
        }
    }

    /// Gives the value at a place for an edit; the place must be there.
    pub(super) fn reach(&mut self, places: &[At]) -> Result<&mut Draft<'a>, Hindrance<'a>> {
        let mut here = self;
        for place in places {
            here = match place {
                At::Key(key) => {
                    let mapping = here.open()?;
                    let index = mapping.own(key)?;
                    &mut mapping.entries[index].value
                }
                At::Index(index) => {
                    let sequence = here.open_list()?;
                    match sequence.items.get_mut(*index) {
                        Some(item) => &mut item.value,
                        None => {
                            return Err(Hindrance {
                                node: sequence.origin,
                                reason: "has fewer items".to_owned(),
                            });
                        }
                    }
                }
            };
        }
        Ok(here)
    }
}

/// Tells whether a field is written below a node; aliases and `<<` are followed.
fn has_kept(node: NodeRef<'_>, steps: &[Step]) -> bool {
    match steps.split_first() {
        None => true,
        Some((Step::Key(key), rest)) => node.get(key).is_some_and(|node| has_kept(node, rest)),
        Some((Step::Each, rest)) => node.items().any(|item| has_kept(item, rest)),
    }
}

/// Finds a value below a node; aliases and `<<` are followed.
fn kept_at<'a>(node: NodeRef<'a>, places: &[At]) -> Option<NodeRef<'a>> {
    places.iter().try_fold(node, |node, place| match place {
        At::Key(key) => node.get(key),
        At::Index(index) => node.items().nth(*index),
    })
}

/// Refuses what stands for several places.
fn check_place(node: NodeRef<'_>) -> Result<(), Hindrance<'_>> {
    if node.kind() == Kind::Alias {
        return hindrance(
            node,
            format!("is the alias `{}`; write its value here first", node.source()),
        );
    }
    if node.is_aliased() {
        let name = node.anchor().unwrap_or_default();
        return hindrance(
            node,
            format!("has the anchor `&{name}`, whose value stands in other places, too; write the values there first"),
        );
    }
    Ok(())
}

/// Refuses to take out or reshape what other places refer to.
pub(super) fn check_whole<'a>(draft: &Draft<'a>) -> Result<(), Hindrance<'a>> {
    let mut open: Vec<NodeRef<'a>> = draft.origin().into_iter().collect();
    while let Some(node) = open.pop() {
        if node.kind() == Kind::Alias {
            continue;
        }
        if node.is_aliased() {
            check_place(node)?;
        }
        open.extend(node.entries().flat_map(|(key, value)| [key, value]));
        open.extend(node.items());
    }
    Ok(())
}

impl<'a> Mapping<'a> {
    /// Lists the entries of a written mapping.
    fn of(node: NodeRef<'a>) -> Self {
        let mut floor = 0;
        let entries = node.entries().map(|(key, value)| {
            let source = Source {
                node: key,
                start: key.full_span().start,
                floor,
            };
            floor = layout::after(value).max(floor);
            Entry {
                key: key.text().unwrap_or_else(|| key.source()).to_owned(),
                source: Some(source),
                value: Draft::Kept(value),
            }
        });
        Self {
            entries: entries.collect(),
            origin: Some(node),
        }
    }

    /// Gives what is written here; see [`Self::inherited`] for the rest.
    fn get(&self, key: &str) -> Option<&Draft<'a>> {
        let own = self.entries.iter().rev().find(|entry| entry.key == key);
        own.map(|entry| &entry.value)
    }

    /// Gives what comes through `<<`.
    fn inherited(&self, key: &str) -> Option<NodeRef<'a>> {
        let merged = self.entries.iter().find(|entry| entry.key == "<<")?.value.origin()?;
        match merged.target().kind() {
            Kind::Mapping(_) => merged.get(key),
            _ => merged.items().find_map(|item| item.get(key)),
        }
    }

    pub(super) fn index(&self, key: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }

    /// Gives the index of an entry that is written here, once.
    pub(super) fn own(&self, key: &str) -> Result<usize, Hindrance<'a>> {
        let mut found = self.entries.iter().enumerate().filter(|(_, entry)| entry.key == key);
        let Some((index, entry)) = found.next() else {
            let reason = match self.inherited(key) {
                Some(_) => format!("`{key}` comes through `<<`; write it here, or change it at its anchor"),
                None => format!("has no `{key}`"),
            };
            return Err(Hindrance {
                node: self.origin,
                reason,
            });
        };
        match found.next() {
            None => Ok(index),
            Some(_) => Err(Hindrance {
                node: entry.source.map(|source| source.node),
                reason: format!("has the key `{key}` twice"),
            }),
        }
    }

    /// Tells how the mapping is written; `None` for a new one.
    pub(super) fn layout(&self) -> Option<Layout> {
        match self.origin?.kind() {
            Kind::Mapping(layout) => Some(layout),
            _ => None,
        }
    }
}

impl<'a> Sequence<'a> {
    /// Lists the items of a written sequence.
    pub(super) fn of(node: NodeRef<'a>) -> Self {
        let mut floor = 0;
        let items = node.items().map(|item| {
            let source = Source {
                node: item,
                start: layout::dash(item).unwrap_or(item.full_span().start),
                floor,
            };
            floor = layout::after(item).max(floor);
            Item {
                source: Some(source),
                value: Draft::Kept(item),
            }
        });
        Self {
            items: items.collect(),
            origin: Some(node),
        }
    }

    /// Tells how the sequence is written; `None` for a new one.
    pub(super) fn layout(&self) -> Option<Layout> {
        match self.origin?.kind() {
            Kind::Sequence(layout) => Some(layout),
            _ => None,
        }
    }
}
