//! Operations that take a value from one place to another.

use std::cmp::Ordering;

use super::super::draft::{Draft, Entry, Hindrance, Item, Mapping, Sequence, check_whole};
use super::super::field::{At, Field, Step, text_of};
use super::super::rule::{Place, Weight};
use super::super::version::compare_versions;
use super::steps::item_of;
use super::{Runner, shown};

impl<'a> Runner<'a, '_> {
    /// Moves or renames.
    pub(super) fn relocate(&mut self, from: &[At], to: &[At]) -> Result<(), Hindrance<'a>> {
        let (old, new) = (text_of(from), text_of(to));
        let Some(value) = self.out.draft.at(from) else {
            return Ok(());
        };
        if let Some(known) = self.out.draft.at(to) {
            return self.drop_equal(from, &value, &known, &new);
        }
        let (entry, index) = self.take(from)?;
        let before = shown(&entry.value);
        self.put(from, to, entry, index)?;
        self.change(&old, before.clone(), before, &format!("`{old}` became `{new}`"));
        Ok(())
    }

    /// Takes a value out that another place has already.
    fn drop_equal(
        &mut self,
        from: &[At],
        value: &Draft<'a>,
        known: &Draft<'a>,
        new: &str,
    ) -> Result<(), Hindrance<'a>> {
        if !value.is_same(known) {
            return Err(Hindrance {
                node: known.origin(),
                reason: format!("has another value than `{new}`, which takes its place; keep one of the two"),
            });
        }
        let before = shown(value);
        self.take(from)?;
        self.prune(from, 0);
        let old = text_of(from);
        self.change(
            &old,
            before,
            String::new(),
            &format!("`{old}` removed, `{new}` has its value"),
        );
        Ok(())
    }

    pub(super) fn copy(&mut self, from: &[At], to: &[At]) -> Result<(), Hindrance<'a>> {
        let Some(value) = self.out.draft.at(from) else {
            return Ok(());
        };
        let (old, new) = (text_of(from), text_of(to));
        if let Some(known) = self.out.draft.at(to) {
            if !value.is_same(&known) {
                let message = format!("`{old}` and `{new}` have different values; give both the same");
                self.review(Weight::Review, &new, known.origin(), &message);
            }
            return Ok(());
        }
        check_whole(&value)?;
        let Some((At::Key(key), above)) = to.split_last() else {
            return Ok(());
        };
        let index = match (from.split_last(), above) {
            (Some((At::Key(old), home)), above) if home == above => self.out.draft.reach(home)?.open()?.own(old)? + 1,
            _ => usize::MAX,
        };
        let shown = shown(&value);
        let mapping = self.make(above, None)?.open()?;
        let entry = Entry {
            key: key.clone(),
            source: None,
            value,
        };
        mapping.entries.insert(index.min(mapping.entries.len()), entry);
        self.change(&new, String::new(), shown, &format!("`{new}` written beside `{old}`"));
        Ok(())
    }

    pub(super) fn contract(&mut self, old: &[At], new: &[At]) -> Result<(), Hindrance<'a>> {
        let (Some(value), Some(known)) = (self.out.draft.at(old), self.out.draft.at(new)) else {
            return Ok(());
        };
        self.drop_equal(old, &value, &known, &text_of(new))
    }

    /// Tells whether a part may fill a list, whose items replace those of the object; tells a person where it may not, and
    /// where the object may fill the list that the part writes.
    ///
    /// A part that writes both fields replaces both, before and after. An item of a list is written whole in a part, too.
    pub(super) fn may_fill(&mut self, from: &Field, to: &Field) -> bool {
        let (old, new) = (from.steps(), to.steps());
        if new.contains(&Step::Each) {
            return true;
        }
        let written = |steps: &[Step]| self.found(steps).first().and_then(|place| self.out.draft.at(place));
        let (value, list) = (written(old), written(new));
        let raised = self
            .subject
            .wanted
            .and_then(|wanted| compare_versions(self.subject.version, wanted));
        let (old, new) = (from.to_string(), to.to_string());
        match (value, list) {
            (Some(_), Some(_)) => return true,
            (Some(value), None) => {
                let message = format!(
                    "`{old}` would become part of `{new}`, but a patch replaces the whole list: what the object has there \
                     would be lost; write the whole list by hand"
                );
                self.review(Weight::Stop, &old, value.origin(), &message);
            }
            (None, Some(list)) if raised == Some(Ordering::Less) => {
                let message = format!(
                    "a patch replaces the whole list, of which `{old}` of the object becomes a part; write here what it \
                     has there, too"
                );
                self.review(Weight::Review, &new, list.origin(), &message);
            }
            _ => {}
        }
        false
    }

    /// Puts a value, or the items of a list, into a list.
    pub(super) fn insert(&mut self, from: &[At], to: &[At], place: Place) -> Result<(), Hindrance<'a>> {
        let known = self.out.draft.at(to).filter(|known| !known.is_null());
        if let Some(known) = known.as_ref().filter(|known| !known.is_list()) {
            return Err(Hindrance {
                node: known.origin(),
                reason: format!("goes into `{}`, which is no list", text_of(to)),
            });
        }
        let (entry, index) = self.take(from)?;
        let (old, new, before) = (text_of(from), text_of(to), shown(&entry.value));
        let is_empty = entry.value.is_null() || entry.value.text() == Some("");
        if is_empty || (entry.value.is_list() && entry.value.length() == 0) {
            self.change(&old, before, String::new(), &format!("`{old}` removed, it is empty"));
            return Ok(());
        }
        if known.is_some() {
            self.join(entry, to, place)?;
        } else {
            self.start_list(from, to, entry, index)?;
        }
        let after = self.out.draft.at(to).map(|list| shown(&list)).unwrap_or_default();
        self.change(&old, before, after, &format!("`{old}` became part of `{new}`"));
        Ok(())
    }

    /// Puts items into a list that is there.
    fn join(&mut self, entry: Entry<'a>, to: &[At], place: Place) -> Result<(), Hindrance<'a>> {
        let mut items: Vec<Item<'a>> = match entry.value {
            Draft::Kept(node) if entry.value.is_list() => Sequence::of(node.target()).items,
            Draft::Sequence(sequence) => sequence.items,
            _ => vec![item_of(entry)],
        };
        let list = self.out.draft.reach(to)?.open_list()?;
        let end = match place {
            Place::First => list.items.first(),
            Place::Last => list.items.last(),
        };
        let stands =
            |item: &Item<'a>| item.value.text().is_some() && end.is_some_and(|end| end.value.is_same(&item.value));
        if items.len() == 1 && stands(&items[0]) {
            return Ok(());
        }
        match place {
            Place::First => {
                items.append(&mut list.items);
                list.items = items;
            }
            Place::Last => list.items.append(&mut items),
        }
        Ok(())
    }

    /// Makes a list of a value where there is none, in its place where both have one parent.
    fn start_list(&mut self, from: &[At], to: &[At], entry: Entry<'a>, index: usize) -> Result<(), Hindrance<'a>> {
        let source = entry.source;
        let value = match entry.value {
            list if list.is_list() => list,
            value => Draft::Sequence(Sequence {
                origin: None,
                items: vec![Item { source: None, value }],
            }),
        };
        if self.out.draft.at(to).is_some() {
            // The key is written without a value.
            *self.out.draft.reach(to)? = value;
            self.prune(from, 0);
            return Ok(());
        }
        let entry = Entry {
            key: entry.key,
            source,
            value,
        };
        self.put(from, to, entry, index)
    }

    /// Puts an entry that was taken from a place at another.
    fn put(&mut self, from: &[At], to: &[At], entry: Entry<'a>, index: usize) -> Result<(), Hindrance<'a>> {
        let (Some((At::Key(key), above)), Some((_, home))) = (to.split_last(), from.split_last()) else {
            return Ok(());
        };
        let entry = Entry {
            key: key.clone(),
            ..entry
        };
        if above == home {
            self.out.draft.reach(above)?.open()?.entries.insert(index, entry);
            return Ok(());
        }
        let shared = above.iter().zip(home).take_while(|(a, b)| a == b).count();
        let at = match home.get(shared) {
            None => index,
            Some(At::Key(key)) => self.out.draft.reach(&home[..shared])?.open()?.index(key).unwrap_or(0),
            Some(At::Index(_)) => usize::MAX,
        };
        if shared == above.len() {
            self.out.draft.reach(above)?.open()?.entries.insert(at, entry);
        } else {
            self.make(above, Some((shared, at)))?.open()?.entries.push(entry);
        }
        self.prune(from, shared);
        Ok(())
    }

    /// Gives the value at a place; mappings that are missing are made, behind the entries that are there, but the one of
    /// a depth at an index of its parent.
    pub(super) fn make(
        &mut self,
        places: &[At],
        wanted: Option<(usize, usize)>,
    ) -> Result<&mut Draft<'a>, Hindrance<'a>> {
        for depth in 0..places.len() {
            let place = &places[..=depth];
            if self.out.draft.at(place).is_some() {
                continue;
            }
            let Some((At::Key(key), above)) = place.split_last() else {
                break;
            };
            let mapping = self.out.draft.reach(above)?.open()?;
            let entry = Entry {
                key: key.clone(),
                source: None,
                value: Draft::Mapping(Mapping::default()),
            };
            let index = wanted
                .filter(|(at, _)| *at == depth)
                .map_or(usize::MAX, |(_, index)| index);
            mapping.entries.insert(index.min(mapping.entries.len()), entry);
        }
        self.out.draft.reach(places)
    }

    /// Takes out the mappings above a place that a move left empty, down to a depth.
    fn prune(&mut self, place: &[At], depth: usize) {
        for end in (depth + 1..place.len()).rev() {
            let above = &place[..end];
            let is_empty =
                matches!(self.out.draft.at(above), Some(Draft::Mapping(mapping)) if mapping.entries.is_empty());
            if !is_empty || self.take(above).is_err() {
                return;
            }
        }
    }
}
