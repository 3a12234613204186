//! Makes splices of a draft.

use super::draft::{Draft, Form, Mapping, Sequence};
use super::emit::Hand;
use crate::edit::Splice;
use crate::elements::{self, Element, Spot};
use crate::layout;
use crate::parse::{Kind, Layout, NodeRef};
use crate::render::{Notation, Parent};
use crate::scalar::Style;

/// What a value hangs on.
#[derive(Clone, Copy)]
enum Holder<'a> {
    Root,
    Key(NodeRef<'a>, Layout),
    Item(Layout),
}

struct Writer {
    hand: Hand,
    splices: Vec<Splice>,
}

type Done = Result<(), String>;

/// Gives the splices that make a draft of an object, with the line ends of the file; the error says why there are none.
pub(super) fn splices(object: NodeRef<'_>, draft: &Draft<'_>) -> Result<Vec<Splice>, String> {
    let root = object.parsed().root().unwrap_or(object);
    let mut writer = Writer {
        hand: Hand {
            indents: layout::indents(root),
            notation: notation(object),
        },
        splices: Vec::new(),
    };
    writer.node(Holder::Root, object, draft)?;
    let mut splices = writer.splices;
    if layout::is_crlf(object.bytes()) {
        for splice in &mut splices {
            splice.text = splice.text.replace("\r\n", "\n").replace('\n', "\r\n");
        }
    }
    splices.retain(|splice| object.bytes().get(splice.range.clone()) != Some(splice.text.as_bytes()));
    if object.parsed().is_masked() {
        let touches = |splice: &Splice| {
            let old = object.bytes().get(splice.range.clone()).unwrap_or_default();
            crate::mask::has_templates(&String::from_utf8_lossy(old)) || crate::mask::has_templates(&splice.text)
        };
        if splices.iter().any(touches) {
            return Err("template text stands where the edit goes".to_owned());
        }
    }
    Ok(splices)
}

/// Tells whether an object is written as JSON: its first key stands in double quotes, in braces.
fn notation(object: NodeRef<'_>) -> Notation {
    let quoted = |(key, _): (NodeRef<'_>, NodeRef<'_>)| key.kind() == Kind::Scalar(Style::Double);
    match object.kind() {
        Kind::Mapping(Layout::Flow) if object.entries().next().is_some_and(quoted) => Notation::Json,
        _ => Notation::Yaml,
    }
}

impl Writer {
    fn node<'a>(&mut self, holder: Holder<'a>, old: NodeRef<'a>, new: &Draft<'a>) -> Done {
        match new {
            Draft::Kept(node) if *node == old => Ok(()),
            Draft::Mapping(mapping) if mapping.origin == Some(old) => self.mapping(holder, old, mapping),
            Draft::Sequence(sequence) if sequence.origin == Some(old) => self.sequence(holder, old, sequence),
            Draft::Scalar(scalar) => match &scalar.form {
                Form::Edited(node, source) if *node == old => {
                    self.splices.push(narrowed(old, source));
                    Ok(())
                }
                _ => self.replace(holder, old, new),
            },
            _ => self.replace(holder, old, new),
        }
    }

    fn mapping<'a>(&mut self, holder: Holder<'a>, old: NodeRef<'a>, new: &Mapping<'a>) -> Done {
        let written: Vec<(NodeRef<'a>, NodeRef<'a>)> = old.entries().collect();
        let places: Vec<Option<usize>> = new
            .entries
            .iter()
            .map(|entry| {
                written
                    .iter()
                    .position(|(key, _)| entry.source.is_some_and(|from| from.node == *key))
            })
            .collect();
        let Some(work) = self.collection(holder, old, &places, &Draft::Mapping(new.clone()))? else {
            return Ok(());
        };
        for (entry, place) in new.entries.iter().zip(&places) {
            let Some(place) = place else { continue };
            let (key, value) = written[*place];
            if key.text() != Some(&entry.key) && key.source() != entry.key {
                self.splices.push(Splice {
                    range: key.span(),
                    text: self.hand.renamed(key, &entry.key),
                });
            }
            self.node(Holder::Key(key, work.layout), value, &entry.value)?;
        }
        for (index, entry) in new
            .entries
            .iter()
            .enumerate()
            .filter(|(index, _)| places[*index].is_none())
        {
            let hand = self.hand;
            self.insert(&work, spot(&places, index), |column| match work.layout {
                Layout::Block => hand.entry(entry, column),
                Layout::Flow => hand.flow_entry(entry),
            });
        }
        Ok(())
    }

    fn sequence<'a>(&mut self, holder: Holder<'a>, old: NodeRef<'a>, new: &Sequence<'a>) -> Done {
        let written: Vec<NodeRef<'a>> = old.items().collect();
        let places: Vec<Option<usize>> = new
            .items
            .iter()
            .map(|item| {
                written
                    .iter()
                    .position(|node| item.source.is_some_and(|from| from.node == *node))
            })
            .collect();
        let Some(work) = self.collection(holder, old, &places, &Draft::Sequence(new.clone()))? else {
            return Ok(());
        };
        for (item, place) in new.items.iter().zip(&places) {
            if let Some(place) = place {
                self.node(Holder::Item(work.layout), written[*place], &item.value)?;
            }
        }
        for (index, item) in new
            .items
            .iter()
            .enumerate()
            .filter(|(index, _)| places[*index].is_none())
        {
            let hand = self.hand;
            self.insert(&work, spot(&places, index), |column| match work.layout {
                Layout::Block => hand.item(item, column),
                Layout::Flow => hand.flow(&item.value),
            });
        }
        Ok(())
    }

    /// Takes out what goes; `None` when the whole collection was written anew.
    fn collection<'a>(
        &mut self,
        holder: Holder<'a>,
        old: NodeRef<'a>,
        places: &[Option<usize>],
        new: &Draft<'a>,
    ) -> Result<Option<Work<'a>>, String> {
        let all = elements::elements(old);
        let gone: Vec<bool> = (0..all.len()).map(|index| !places.contains(&Some(index))).collect();
        if gone.iter().all(|gone| *gone) {
            let anew = if all.is_empty() { unwritten(new) } else { new.clone() };
            if !(all.is_empty() && places.is_empty()) {
                self.replace(holder, old, &anew)?;
            }
            return Ok(None);
        }
        let layout = match old.kind() {
            Kind::Mapping(layout) | Kind::Sequence(layout) => layout,
            _ => return Err("a scalar has no entries".to_owned()),
        };
        self.splices.extend(elements::remove(layout, &all, &gone)?);
        Ok(Some(Work { layout, all }))
    }

    fn insert(&mut self, work: &Work<'_>, spot: Spot, text: impl FnOnce(usize) -> String) {
        let bytes = work.all[0].value.bytes();
        let splice = match work.layout {
            Layout::Block => {
                let lines = text(layout::column(bytes, work.all[0].start));
                elements::insert_block(&work.all, spot, &lines)
            }
            Layout::Flow => elements::insert_flow(&work.all, spot, &text(0)),
        };
        self.splices.push(splice);
    }

    /// Writes a value anew where another stands.
    fn replace<'a>(&mut self, holder: Holder<'a>, old: NodeRef<'a>, new: &Draft<'a>) -> Done {
        let (start, parent, from) = match holder {
            Holder::Root => return Err("the whole object would be written anew".to_owned()),
            Holder::Key(_, Layout::Flow) | Holder::Item(Layout::Flow) => {
                let blank = if old.span().is_empty() { " " } else { "" };
                self.splices.push(Splice {
                    range: old.full_span(),
                    text: format!("{blank}{}", self.hand.flow(new)),
                });
                return Ok(());
            }
            Holder::Key(key, Layout::Block) => (layout::after_colon(key), Parent::Key, key.full_span().start),
            Holder::Item(Layout::Block) => {
                let dash = layout::dash(old);
                (dash.map(|dash| dash + 1), Parent::Dash, dash.unwrap_or_default())
            }
        };
        let start = start.ok_or("a value has no place that can be edited")?;
        let (inline, lines) = self.hand.value(new, parent, layout::column(old.bytes(), from));
        let comment = layout::trailing_comment(old);
        let mut splices = elements::replace_slot(old, start, (&inline, &lines));
        // A comment that the new text has already must not stand twice.
        if !comment.is_empty() && format!("{inline}\n{lines}").contains(comment.trim()) {
            let end = layout::content_end(old);
            splices.push(Splice {
                range: end..end + comment.len(),
                text: String::new(),
            });
        }
        self.splices.extend(splices);
        Ok(())
    }
}

/// Gives a collection that takes the layout of its place: braces without content say nothing about it.
fn unwritten<'a>(draft: &Draft<'a>) -> Draft<'a> {
    match draft.clone() {
        Draft::Mapping(mapping) => Draft::Mapping(Mapping {
            origin: None,
            ..mapping
        }),
        Draft::Sequence(sequence) => Draft::Sequence(Sequence {
            origin: None,
            ..sequence
        }),
        other => other,
    }
}

struct Work<'a> {
    layout: Layout,
    all: Vec<Element<'a>>,
}

/// Gives the place of a new element: behind the nearest one before it that is written, else before the next one.
fn spot(places: &[Option<usize>], index: usize) -> Spot {
    let before = places[..index].iter().rev().find_map(|place| *place);
    let behind = || places[index..].iter().find_map(|place| *place).unwrap_or(0);
    before.map_or_else(|| Spot::Before(behind()), Spot::After)
}

/// Replaces only the bytes of a scalar that differ.
fn narrowed(old: NodeRef<'_>, source: &str) -> Splice {
    let (span, text) = (old.span(), old.source());
    let prefix: usize = text
        .chars()
        .zip(source.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    let suffix: usize = text[prefix..]
        .chars()
        .rev()
        .zip(source[prefix..].chars().rev())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    Splice {
        range: span.start + prefix..span.end - suffix,
        text: source[prefix..source.len() - suffix].to_owned(),
    }
}
