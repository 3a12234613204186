//! Operations on one field.

use super::super::draft::{Draft, Entry, Form, Hindrance, Item, Mapping, Scalar, check_whole};
use super::super::field::{At, Field, text_of};
use super::super::rule::{Defaults, Operation, Place, Shapes, Texts, Weight};
use super::super::{template, wrap};
use super::{Extent, Runner, shown};
use crate::layout;
use crate::parse::{self, Kind, Layout, NodeRef};
use crate::scalar::{self, Style};

impl<'a> Runner<'a, '_> {
    pub(super) fn operation(&mut self, operation: &Operation) {
        let is_part = self.subject.extent == Extent::Part;
        match operation {
            Operation::Default { .. } | Operation::Require { .. } if is_part => {}
            Operation::SetVersion => self.set_version(),
            Operation::Remove(field) => self.each(field, Self::remove),
            Operation::Move { from, to } => self.pairwise(from, to, Self::relocate),
            Operation::Copy { from, to } => self.pairwise(from, to, Self::copy),
            Operation::Contract { old, new } => self.pairwise(old, new, Self::contract),
            Operation::Insert { from, to, .. } if is_part && !self.may_fill(from, to) => {}
            Operation::Insert { from, to, place } => {
                self.pairwise(from, to, |runner, from, to| runner.insert(from, to, *place));
            }
            Operation::WrapItems { list, key } => self.each(list, |runner, place| runner.wrap_items(place, key)),
            Operation::Wrap(field) => self.each(field, Self::wrap),
            Operation::Set { field, value, place } => self.set(field, value, *place),
            Operation::Default { field, value, mode } => self.default_of(field, value, *mode),
            Operation::Rewrite { field, shapes } => self.each(field, |runner, place| runner.rewrite(place, *shapes)),
            Operation::Require { field, reason } => self.require(field, reason),
            Operation::Review {
                field,
                text,
                weight,
                message,
            } => self.mark(field.as_ref(), text.as_ref(), *weight, message),
        }
    }

    /// Runs on each place of a field that is written.
    fn each(&mut self, field: &Field, run: impl Fn(&mut Self, &[At]) -> Result<(), Hindrance<'a>>) {
        // From behind, so that what is taken out moves no place that is still to come.
        for place in self.found(field.steps()).into_iter().rev() {
            if let Err(hindrance) = run(self, &place) {
                self.hinder(&place, hindrance);
            }
        }
    }

    fn pairwise(
        &mut self,
        from: &Field,
        to: &Field,
        run: impl Fn(&mut Self, &[At], &[At]) -> Result<(), Hindrance<'a>>,
    ) {
        for (from, to) in self.pairs(from, to) {
            if let Err(hindrance) = run(self, &from, &to) {
                self.hinder(&from, hindrance);
            }
        }
    }

    pub(super) fn raise(&mut self, group: &str, wanted: &str) {
        let place = [At::Key("apiVersion".to_owned())];
        let wanted = if group.is_empty() {
            wanted.to_owned()
        } else {
            format!("{group}/{wanted}")
        };
        let done = self.out.draft.reach(&place).map(|value| {
            let Draft::Kept(node) = value else { return None };
            let (node, before) = (*node, shown(value));
            let style = match node.kind() {
                Kind::Scalar(style @ (Style::Plain | Style::Single | Style::Double)) => style,
                _ => return None,
            };
            let source = scalar::write(&wanted, style);
            *value = Draft::Scalar(Scalar {
                text: wanted.clone(),
                form: Form::Edited(node, source),
            });
            Some(before)
        });
        match done {
            Ok(Some(before)) => {
                let what = format!("`{before}` -> `{wanted}`");
                self.change("apiVersion", before, wanted, &what);
            }
            Ok(None) => self.hinder(
                &place,
                Hindrance {
                    node: self.subject.object.get("apiVersion"),
                    reason: "is an alias or text of several lines".to_owned(),
                },
            ),
            Err(hindrance) => self.hinder(&place, hindrance),
        }
    }

    fn remove(&mut self, place: &[At]) -> Result<(), Hindrance<'a>> {
        let (entry, _) = self.take(place)?;
        let field = text_of(place);
        let what = format!("`{field}` removed");
        self.change(&field, shown(&entry.value), String::new(), &what);
        Ok(())
    }

    /// Takes an entry out and gives it with its index.
    pub(super) fn take(&mut self, place: &[At]) -> Result<(Entry<'a>, usize), Hindrance<'a>> {
        let Some((At::Key(key), above)) = place.split_last() else {
            let reason = "is an item of a list".to_owned();
            return Err(Hindrance { node: None, reason });
        };
        let mapping = self.out.draft.reach(above)?.open()?;
        let index = mapping.own(key)?;
        check_whole(&mapping.entries[index].value)?;
        Ok((mapping.entries.remove(index), index))
    }

    fn wrap_items(&mut self, place: &[At], key: &str) -> Result<(), Hindrance<'a>> {
        let list = self.out.draft.reach(place)?.open_list()?;
        let layout = list.layout().unwrap_or(Layout::Block);
        let (mut wrapped, mut beside) = (0, Vec::new());
        for item in &mut list.items {
            let Draft::Kept(node) = item.value else { continue };
            if node.get(key).is_some_and(|text| text.as_str().is_some()) {
                continue;
            }
            let from = layout::dash(node).unwrap_or(node.full_span().start);
            let scalar = text_of_patch(node, layout)?;
            beside.extend(comments(from, node));
            item.value = Draft::Mapping(Mapping {
                origin: None,
                entries: vec![Entry {
                    key: key.to_owned(),
                    source: None,
                    value: Draft::Scalar(scalar),
                }],
            });
            wrapped += 1;
        }
        self.out.comments.append(&mut beside);
        if wrapped > 0 {
            let field = text_of(place);
            let what = format!("items of `{field}` became texts under `{key}`");
            self.change(
                &field,
                format!("{wrapped} items"),
                format!("{wrapped} items with `{key}`"),
                &what,
            );
        }
        Ok(())
    }

    fn wrap(&mut self, place: &[At]) -> Result<(), Hindrance<'a>> {
        let (last, above) = place.split_last().ok_or(Hindrance {
            node: None,
            reason: "is the object".to_owned(),
        })?;
        let holder = self.out.draft.reach(above)?;
        let layout = match holder.origin().map(NodeRef::kind) {
            Some(Kind::Mapping(layout) | Kind::Sequence(layout)) => layout,
            _ => Layout::Block,
        };
        let key = |node: NodeRef<'a>| {
            let holder = holder.origin()?;
            let (key, _) = holder.entries().find(|(_, value)| *value == node)?;
            Some(key.full_span().end)
        };
        let from = holder
            .at(std::slice::from_ref(last))
            .and_then(|value| value.origin())
            .map(|node| key(node).unwrap_or(node.full_span().start));
        let value = holder.reach(std::slice::from_ref(last))?;
        let Draft::Kept(node) = *value else { return Ok(()) };
        if !matches!(node.target().kind(), Kind::Mapping(_) | Kind::Sequence(_)) {
            return Ok(());
        }
        let before = shown(value);
        let scalar = text_of_patch(node, layout)?;
        let beside = comments(from.unwrap_or(node.full_span().start), node);
        let after = shown(&Draft::Scalar(scalar.clone()));
        *value = Draft::Scalar(scalar);
        self.out.comments.extend(beside);
        let field = text_of(place);
        let what = format!("`{field}` became a text");
        self.change(&field, before, after, &what);
        Ok(())
    }

    fn set(&mut self, field: &Field, value: &str, place: Place) {
        let (head, tail) = field.split_each();
        for head in self.found(head) {
            let full = [head, super::places(tail)].concat();
            let result = self.set_one(&full, value, place);
            match result {
                Err(hindrance) => self.hinder(&full, hindrance),
                Ok(None) => {}
                Ok(Some(before)) => {
                    let name = text_of(&full);
                    let what = format!("`{name}` set to `{value}`");
                    self.change(&name, before, value.to_owned(), &what);
                }
            }
        }
    }

    /// Sets one scalar; gives what stood there, `None` when it stood there already.
    fn set_one(&mut self, place: &[At], value: &str, end: Place) -> Result<Option<String>, Hindrance<'a>> {
        let parsed = parse::parse(value.as_bytes(), 0..value.len()).ok();
        let Some(text) = parsed.as_ref().and_then(|parsed| parsed.root()?.text()) else {
            let reason = format!("would be set to `{value}`, which is no scalar");
            return Err(Hindrance { node: None, reason });
        };
        let written = Draft::Scalar(Scalar {
            text: text.to_owned(),
            form: Form::Written(value.to_owned()),
        });
        if let Some(known) = self.out.draft.at(place) {
            if known.text() == Some(text) {
                return Ok(None);
            }
            let before = shown(&known);
            *self.out.draft.reach(place)? = written;
            return Ok(Some(before));
        }
        let Some((At::Key(key), above)) = place.split_last() else {
            return Ok(None);
        };
        let mapping = self.make(above, None)?.open()?;
        let index = match end {
            Place::First => 0,
            Place::Last => mapping.entries.len(),
        };
        let entry = Entry {
            key: key.clone(),
            source: None,
            value: written,
        };
        mapping.entries.insert(index, entry);
        Ok(Some(String::new()))
    }

    fn default_of(&mut self, field: &Field, value: &str, mode: Defaults) {
        let (head, tail) = field.split_each();
        for head in self.found(head) {
            let full = [head, super::places(tail)].concat();
            let above = &full[..full.len().saturating_sub(1)];
            if self.out.draft.at(&full).is_some() || self.out.draft.at(above).is_none() {
                continue;
            }
            let name = text_of(&full);
            match (mode, self.message.to_owned()) {
                (Defaults::Report, message) => {
                    let node = self.out.draft.at(above).and_then(|above| above.origin());
                    let message =
                        format!("`{name}` is not written; write `{value}` to keep the old default: {message}");
                    self.review(Weight::Report, &name, node, &message);
                }
                (Defaults::Write, _) => match self.set_one(&full, value, Place::Last) {
                    Ok(_) => {
                        let what = format!("`{name}` set to `{value}`, the old default");
                        self.change(&name, String::new(), value.to_owned(), &what);
                    }
                    Err(hindrance) => self.hinder(&full, hindrance),
                },
            }
        }
    }

    fn rewrite(&mut self, place: &[At], shapes: Shapes) -> Result<(), Hindrance<'a>> {
        let Some(found) = self.out.draft.at(place) else {
            return Ok(());
        };
        let (Some(text), Some(node)) = (found.text(), found.origin()) else {
            return Ok(());
        };
        let rewritten = match shapes {
            Shapes::FluxUpdated => template::updated(text),
        };
        let field = text_of(place);
        for unknown in &rewritten.unknown {
            let message = format!("`{field}`: {unknown}: {}", self.message);
            self.review(Weight::Review, &field, Some(node), &message);
        }
        if rewritten.text == text || !rewritten.unknown.is_empty() {
            return Ok(());
        }
        for note in &rewritten.notes {
            let message = format!("`{field}`: {note}");
            self.review(Weight::Review, &field, Some(node), &message);
        }
        let source = template::source(node, &rewritten.text);
        let (before, after) = (
            shown(&found),
            rewritten.text.split_whitespace().collect::<Vec<_>>().join(" "),
        );
        let after = after.chars().take(80).collect();
        let value = self.out.draft.reach(place)?;
        if !matches!(value, Draft::Kept(_)) || node.kind() == Kind::Alias || node.is_aliased() {
            let reason = "has an anchor or alias; write the text here first".to_owned();
            return Err(Hindrance {
                node: Some(node),
                reason,
            });
        }
        *value = Draft::Scalar(Scalar {
            text: rewritten.text,
            form: source.map_or(Form::Lines, |source| Form::Edited(node, source)),
        });
        let what = format!("the template in `{field}` was rewritten");
        self.change(&field, before, after, &what);
        Ok(())
    }

    fn require(&mut self, field: &Field, reason: &str) {
        let (head, tail) = field.split_each();
        for head in self.found(head) {
            let full = [head.clone(), super::places(tail)].concat();
            let missing = self.out.draft.at(&full).is_none_or(|value| value.is_null());
            if missing {
                let node = self.out.draft.at(&head).and_then(|above| above.origin());
                let name = text_of(&full);
                self.review(Weight::Stop, &name, node, &format!("`{name}` is missing: {reason}"));
            }
        }
    }

    fn mark(&mut self, field: Option<&Field>, text: Option<&Texts>, weight: Weight, message: &str) {
        let Some(field) = field else {
            return self.review(weight, "", None, message);
        };
        for place in self.found(field.steps()) {
            let value = self.out.draft.at(&place);
            let has = |texts: &Texts| {
                value
                    .as_ref()
                    .and_then(Draft::text)
                    .is_some_and(|text| texts.have(text))
            };
            if text.is_none_or(has) {
                let node = value.as_ref().and_then(Draft::origin);
                self.review(weight, &text_of(&place), node, message);
            }
        }
    }
}

/// Writes a patch as text for a place of a layout.
fn text_of_patch(node: NodeRef<'_>, layout: Layout) -> Result<Scalar<'_>, Hindrance<'_>> {
    let refuse = |reason: &str| {
        let reason = reason.to_owned();
        Err(Hindrance {
            node: Some(node),
            reason,
        })
    };
    if let (Some(text), Kind::Scalar(_)) = (node.as_str(), node.kind()) {
        let text = text.to_owned();
        return Ok(Scalar {
            text,
            form: Form::Lines,
        });
    }
    if has_references(node) {
        return refuse("holds anchors or aliases, which a text cannot; write the values there first");
    }
    let text = match layout {
        Layout::Block => wrap::lines(node),
        Layout::Flow => wrap::json(node),
    };
    match text {
        Some(text) => Ok(Scalar {
            text,
            form: Form::Lines,
        }),
        None => refuse("cannot be written as a text of the same value"),
    }
}

/// Lists the comments in a value and beside it, from behind its key or its dash on.
fn comments(from: usize, node: NodeRef<'_>) -> Vec<&str> {
    let (mut open, mut scalars) = (vec![node], Vec::new());
    while let Some(node) = open.pop() {
        if let Kind::Scalar(_) = node.kind() {
            scalars.push(node.span());
        }
        open.extend(node.entries().flat_map(|(key, value)| [key, value]));
        open.extend(node.items());
    }
    scalars.sort_unstable_by_key(|span| span.start);
    let end = layout::after(node);
    let text = node.bytes_text(from..end);
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = text[at..].find('#').map(|next| at + next) {
        let is_in_scalar = scalars.iter().find(|span| span.contains(&(from + next)));
        let line = text[next..].find('\n').map_or(text.len(), |end| next + end);
        let is_comment = text[..next].ends_with([' ', '\t', '\n']);
        at = match is_in_scalar {
            Some(span) => (span.end - from).min(text.len()),
            None if is_comment => line,
            None => next + 1,
        };
        if is_in_scalar.is_none() && is_comment {
            found.push(text[next..line].trim_end());
        }
    }
    found
}

fn has_references(node: NodeRef<'_>) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() == Kind::Alias || node.anchor().is_some() {
            return true;
        }
        open.extend(node.entries().flat_map(|(key, value)| [key, value]));
        open.extend(node.items());
    }
    false
}

/// Makes an item of a value that stood under a key.
pub(super) fn item_of(entry: Entry<'_>) -> Item<'_> {
    Item {
        source: entry.source,
        value: entry.value,
    }
}
