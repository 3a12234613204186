//! Where a patch stands: kustomization, list, entry, document, operation.
//!
//! In: entries of an evaluation. Out: [`Slot`]s, counted as in the files before any answer changed them.

use std::collections::{BTreeMap, BTreeSet};

use refit_kustomize::{AppliedPatch, Content, Entry, Field, reach};
use refit_manifest::parse::NodeRef;
use refit_manifest::{Path, Stream, Tree};

/// The lists that hold patches.
const PATCHES: [Field; 3] = [Field::Patches, Field::PatchesStrategicMerge, Field::PatchesJson6902];

/// The place of a patch or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// The kustomization.
    pub kustomization: Path,
    /// The list.
    pub field: Field,
    /// The place in the list, counted from 0.
    pub index: usize,
    /// The document of the patch; `None` for all of it.
    pub document: Option<usize>,
    /// The operation of a list of operations; `None` for the document.
    pub operation: Option<usize>,
}

impl Slot {
    /// Gives the place of a whole entry.
    pub fn of_entry(entry: &Entry) -> Self {
        Self {
            kustomization: entry.kustomization.clone(),
            field: entry.field,
            index: entry.index,
            document: None,
            operation: None,
        }
    }

    /// Gives the place of one document of a patch.
    pub fn of(patch: &AppliedPatch) -> Self {
        let document = match &patch.content {
            Content::Inline { document } => *document,
            Content::File(place) => place.document,
        };
        Self {
            document: Some(document),
            ..Self::of_entry(&patch.entry)
        }
    }

    /// Gives the place of one of its operations.
    #[must_use]
    pub fn operation(&self, index: usize) -> Self {
        Self {
            operation: Some(index),
            ..self.clone()
        }
    }

    /// Gives the place without operation.
    #[must_use]
    pub fn whole(&self) -> Self {
        Self {
            operation: None,
            ..self.clone()
        }
    }

    /// Gives the place of the whole entry.
    #[must_use]
    pub fn entry(&self) -> Self {
        Self {
            document: None,
            ..self.whole()
        }
    }

    /// Writes the place inside its kustomization, such as `patches[2]`.
    pub fn field_text(&self) -> String {
        let mut text = format!("{}[{}]", self.field.name(), self.index);
        if let Some(operation) = self.operation {
            text.push_str(&format!(".patch[{operation}].path"));
        }
        text
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.kustomization == other.kustomization && self.field == other.field
    }
}

/// What answers took out of the files, so that places can be counted as before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shift {
    removed: BTreeSet<Slot>,
    /// Of kustomizations that are not the same before: the place before of each entry, `None` for a new one.
    moved: BTreeMap<(Path, Field, usize), Option<usize>>,
}

impl Shift {
    /// Takes down places that were removed, counted as before.
    pub fn new(removed: impl IntoIterator<Item = Slot>) -> Self {
        Self {
            removed: removed.into_iter().collect(),
            moved: BTreeMap::new(),
        }
    }

    /// Pairs the entries of kustomizations that are not the same on both sides: by their text, else by their place.
    #[must_use]
    pub fn aligned(mut self, before: &Tree, after: &Tree) -> Self {
        let changed = after
            .iter()
            .filter(|(path, entry)| reach::is_kustomization(path) && before.get(path) != Some(*entry));
        for (path, _) in changed {
            for field in PATCHES {
                let (old, new) = (texts(before, path, field), texts(after, path, field));
                let mut taken: BTreeSet<usize> = BTreeSet::new();
                let mut places: Vec<Option<usize>> = Vec::with_capacity(new.len());
                for text in &new {
                    let mut same = old
                        .iter()
                        .enumerate()
                        .filter(|(at, other)| *other == text && !taken.contains(at));
                    let found = same.next().map(|(at, _)| at);
                    taken.extend(found);
                    places.push(found);
                }
                for (at, place) in places.into_iter().enumerate() {
                    let by_place = (at < old.len() && !taken.contains(&at)).then_some(at);
                    self.moved.insert((path.clone(), field, at), place.or(by_place));
                }
            }
        }
        self
    }

    /// Gives the place on the other side of a place that is counted as before the answers; `None` for a new entry.
    pub fn earlier(&self, slot: &Slot) -> Option<Slot> {
        match self.moved.get(&(slot.kustomization.clone(), slot.field, slot.index)) {
            None => Some(slot.clone()),
            Some(place) => place.map(|index| Slot { index, ..slot.clone() }),
        }
    }

    /// Tells whether a place was taken out.
    pub fn has(&self, slot: &Slot) -> bool {
        let places = [slot.clone(), slot.whole(), slot.entry()];
        places.iter().any(|place| self.removed.contains(place))
    }

    /// Gives the place before of a place now.
    pub fn before(&self, now: &Slot) -> Slot {
        let mut slot = now.clone();
        let entries = self
            .removed
            .iter()
            .filter(|gone| gone.is_beside(now) && gone.document.is_none());
        slot.index = counted(now.index, entries.map(|gone| gone.index));
        if let Some(document) = now.document {
            let same = |gone: &&Slot| gone.is_beside(now) && gone.index == slot.index && gone.operation.is_none();
            let gone = self.removed.iter().filter(same).filter_map(|gone| gone.document);
            slot.document = Some(counted(document, gone));
        }
        if let Some(operation) = now.operation {
            let same = |gone: &&Slot| gone.is_beside(now) && gone.index == slot.index && gone.document == slot.document;
            let gone = self.removed.iter().filter(same).filter_map(|gone| gone.operation);
            slot.operation = Some(counted(operation, gone));
        }
        slot
    }
}

/// Gives the texts of the entries of a list of a kustomization.
fn texts(tree: &Tree, path: &Path, field: Field) -> Vec<String> {
    let stream = tree.bytes(path).and_then(|bytes| Stream::split(bytes.clone()).ok());
    let documents = stream.iter().flat_map(Stream::documents);
    let lists = documents.filter_map(|document| document.root()?.get(field.name()));
    lists
        .flat_map(NodeRef::items)
        .map(|item| item.source().to_owned())
        .collect()
}

/// Gives the place that something had before others, listed in order, were removed.
fn counted(now: usize, removed: impl Iterator<Item = usize>) -> usize {
    removed.fold(now, |at, gone| if gone <= at { at + 1 } else { at })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(index: usize, document: Option<usize>, operation: Option<usize>) -> Slot {
        Slot {
            kustomization: Path::from("kustomization.yaml"),
            field: Field::Patches,
            index,
            document,
            operation,
        }
    }

    #[test]
    fn places_are_counted_as_before_the_answers() {
        let shift = Shift::new([
            slot(0, None, None),
            slot(1, None, None),
            slot(3, Some(0), Some(1)),
            slot(3, Some(1), None),
        ]);
        let cases = [
            (slot(0, Some(0), Some(0)), slot(2, Some(0), Some(0))),
            (slot(1, Some(0), Some(1)), slot(3, Some(0), Some(2))),
            (slot(1, Some(1), Some(1)), slot(3, Some(2), Some(1))),
        ];
        for (now, before) in cases {
            assert_eq!(shift.before(&now), before);
        }
    }
}
