//! Edits of kustomizations and patch files that answers ask for.
//!
//! In: a tree and, by place, what is to be done. Out: the files as they would be; every other byte is equal.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Path, Stream, Tree};

use super::cut::{self, Above, STYLE, Unfit};
use super::mapped::Mapped;
use super::problem::End;
use super::{Shift, Slot};

/// What is done to a patch or a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It goes.
    Remove,
    /// Its operation gets another pointer.
    Pointer(End, String),
    /// Its target gets another name.
    Target(String),
}

/// All that is to be done, by places counted as before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Edits(pub(super) BTreeMap<Slot, Change>);

/// What the edits make of the files.
#[derive(Clone, Debug, Default)]
pub(super) struct Edited {
    /// The files by path; `None` where a file goes.
    pub(super) files: BTreeMap<Path, Option<Arc<[u8]>>>,
    /// What was taken out.
    pub(super) shift: Shift,
}

impl Edits {
    /// Applies all edits to the files of a tree.
    pub(super) fn apply(&self, tree: &Tree) -> Result<Edited, Unfit> {
        let mut edited = Edited::default();
        let mut removed = BTreeSet::new();
        let mut by_kustomization: BTreeMap<&Path, Vec<(&Slot, &Change)>> = BTreeMap::new();
        for (slot, change) in &self.0 {
            by_kustomization
                .entry(&slot.kustomization)
                .or_default()
                .push((slot, change));
        }
        for (path, changes) in by_kustomization {
            let bytes = tree.bytes(path).ok_or(STYLE)?;
            let stream = Stream::split(Arc::clone(bytes)).map_err(|_| STYLE)?;
            let root = stream
                .documents()
                .iter()
                .find_map(|document| document.root())
                .ok_or(STYLE)?;
            let mut work = Work {
                tree,
                root,
                own: Vec::new(),
                files: BTreeMap::new(),
                gone: BTreeSet::new(),
                removed: BTreeSet::new(),
            };
            work.entries(&changes)?;
            if !work.own.is_empty() {
                let text = edit::apply(bytes, &work.own).map_err(|_| STYLE)?;
                edited.files.insert(path.clone(), Some(text));
            }
            for (file, splices) in &work.files {
                let text = edit::apply(tree.bytes(file).ok_or(STYLE)?, splices).map_err(|_| STYLE)?;
                edited.files.insert(file.clone(), Some(text));
            }
            edited.files.extend(work.gone.into_iter().map(|file| (file, None)));
            removed.extend(work.removed);
        }
        edited.shift = Shift::new(removed);
        for bytes in edited.files.values().flatten() {
            let stream = Stream::split(Arc::clone(bytes)).map_err(|_| STYLE)?;
            if stream.documents().iter().any(|document| document.parsed().is_err()) {
                return Err(STYLE);
            }
        }
        Ok(edited)
    }
}

/// Gives the file that an entry of a kustomization takes its patch from, where there is one.
pub(super) fn file_of(tree: &Tree, slot: &Slot, root: NodeRef<'_>) -> Option<Path> {
    let entry = root.get(slot.field.name())?.items().nth(slot.index)?;
    let name = entry.get("path").and_then(NodeRef::text).or_else(|| entry.text())?;
    let path = Path::new(reach::resolve(slot.kustomization.directory(), name));
    tree.bytes(&path).is_some().then_some(path)
}

struct Work<'a> {
    tree: &'a Tree,
    root: NodeRef<'a>,
    /// Splices over the kustomization.
    own: Vec<Splice>,
    /// Splices over patch files.
    files: BTreeMap<Path, Vec<Splice>>,
    gone: BTreeSet<Path>,
    removed: BTreeSet<Slot>,
}

impl Work<'_> {
    fn entries(&mut self, changes: &[(&Slot, &Change)]) -> Result<(), Unfit> {
        let mut by_entry: BTreeMap<Slot, Vec<(&Slot, &Change)>> = BTreeMap::new();
        for (slot, change) in changes {
            by_entry.entry(slot.entry()).or_default().push((slot, change));
        }
        let mut whole: Vec<Slot> = Vec::new();
        for (entry, changes) in by_entry {
            if self.entry(&entry, &changes)? {
                whole.push(entry);
            }
        }
        let mut fields: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for slot in &whole {
            fields.entry(slot.field.name()).or_default().push(slot.index);
        }
        for (field, indices) in fields {
            let list = self.root.get(field).ok_or(STYLE)?;
            if indices.len() == list.items().len() {
                self.own.push(cut::key(self.root, field)?);
            } else {
                self.own.extend(several(list, &indices, Above::Goes)?);
            }
        }
        self.removed.extend(whole);
        Ok(())
    }

    /// Edits one entry; true when nothing of it is left.
    fn entry(&mut self, entry: &Slot, changes: &[(&Slot, &Change)]) -> Result<bool, Unfit> {
        let list = self.root.get(entry.field.name()).ok_or(STYLE)?;
        let node = list.items().nth(entry.index).ok_or(STYLE)?;
        let file = file_of(self.tree, entry, self.root);
        let scalar = node.get("patch").unwrap_or(node);
        let is_shared = |node: NodeRef<'_>| node.kind() == Kind::Alias || node.anchor().is_some();
        let parts = [
            Some(list),
            Some(node),
            Some(scalar),
            node.get("target"),
            node.at(&["target", "name"]),
        ];
        if parts.into_iter().flatten().any(is_shared) {
            return Err("it is written with a YAML anchor or alias, so that others may use its text, too");
        }
        let text: Arc<[u8]> = match &file {
            Some(file) => Arc::clone(self.tree.bytes(file).ok_or(STYLE)?),
            None => scalar.text().ok_or(STYLE)?.as_bytes().into(),
        };
        let stream = Stream::split(text).map_err(|_| STYLE)?;
        let mut content = Inside {
            stream: &stream,
            splices: Vec::new(),
            removed: BTreeSet::new(),
        };
        let is_whole = changes
            .iter()
            .any(|(slot, change)| slot.document.is_none() && **change == Change::Remove);
        let mut targets = Vec::new();
        if !is_whole {
            for (slot, change) in changes {
                match (change, node.at(&["target", "name"])) {
                    (Change::Target(name), Some(scalar)) => targets.push(cut::rewritten(scalar, name)?),
                    _ => content.change(slot, change)?,
                }
            }
        }
        if is_whole || content.finish()? {
            self.gone.extend(file);
            return Ok(true);
        }
        self.own.extend(targets);
        self.removed.extend(content.removed);
        match file {
            Some(file) => self.files.entry(file).or_default().extend(content.splices),
            None if content.splices.is_empty() => {}
            None => {
                let mapped = Mapped::of(scalar).ok_or(STYLE)?;
                for splice in content.splices {
                    let quote = scalar.source().chars().next().filter(|c| matches!(c, '\'' | '"'));
                    if quote.is_some_and(|quote| splice.text.contains(quote)) {
                        return Err(STYLE);
                    }
                    self.own.push(mapped.splice(splice).ok_or(STYLE)?);
                }
            }
        }
        Ok(false)
    }
}

/// Edits inside the text of a patch.
struct Inside<'a> {
    stream: &'a Stream,
    splices: Vec<Splice>,
    removed: BTreeSet<Slot>,
}

impl Inside<'_> {
    fn change(&mut self, slot: &Slot, change: &Change) -> Result<(), Unfit> {
        let documents = self.stream.documents();
        let document = documents.get(slot.document.unwrap_or_default()).ok_or(STYLE)?;
        let root = document.root().ok_or(STYLE)?;
        match change {
            Change::Remove => {
                self.removed.insert(slot.clone());
            }
            Change::Target(name) => {
                let scalar = root.at(&["metadata", "name"]).ok_or(STYLE)?;
                self.splices.push(cut::rewritten(scalar, name)?);
            }
            Change::Pointer(end, pointer) => {
                let index = slot.operation.ok_or(STYLE)?;
                let operation = root.items().nth(index).ok_or(STYLE)?;
                self.splices
                    .push(cut::rewritten(operation.get(end.key()).ok_or(STYLE)?, pointer)?);
            }
        }
        Ok(())
    }

    /// Writes the removals as splices; true when no document is left.
    fn finish(&mut self) -> Result<bool, Unfit> {
        let mut operations: BTreeMap<Slot, Vec<usize>> = BTreeMap::new();
        for slot in self.removed.iter().filter(|slot| slot.operation.is_some()) {
            operations.entry(slot.whole()).or_default().extend(slot.operation);
        }
        for (document, indices) in operations {
            let at = document.document.unwrap_or_default();
            let root = self
                .stream
                .documents()
                .get(at)
                .and_then(|document| document.root())
                .ok_or(STYLE)?;
            if indices.len() == root.items().len() {
                self.removed.retain(|slot| slot.whole() != document);
                self.removed.insert(document);
            } else if !self.removed.contains(&document) {
                self.splices.extend(several(root, &indices, Above::Stays)?);
            }
        }
        let full = |document: &&refit_manifest::Document| !document.is_empty();
        let gone: Vec<usize> = self
            .removed
            .iter()
            .filter(|slot| slot.operation.is_none())
            .filter_map(|slot| slot.document)
            .collect();
        if gone.len() == self.stream.documents().iter().filter(full).count() {
            return Ok(true);
        }
        for at in gone {
            let document = self.stream.documents().get(at).ok_or(STYLE)?;
            self.splices.push(cut::removal(document.span()));
        }
        Ok(false)
    }
}

/// Takes several items out of a sequence.
fn several(sequence: NodeRef<'_>, indices: &[usize], above: Above) -> Result<Vec<Splice>, Unfit> {
    if indices.len() > 1 && !matches!(sequence.kind(), Kind::Sequence(refit_manifest::parse::Layout::Block)) {
        return Err(STYLE);
    }
    indices.iter().map(|index| cut::item(sequence, *index, above)).collect()
}

/// Checks a value for a decision about a patch; `present` is what it would take the place of, a pointer or a name.
pub fn fits(present: &str, value: &str) -> Result<(), &'static str> {
    let checked = match present.starts_with('/') {
        true => pointer(value),
        false => target(value),
    };
    checked.map(|_| ())
}

/// Checks a JSON pointer that a person gave.
pub(super) fn pointer(text: &str) -> Result<String, Unfit> {
    let odd = |c: char| c.is_whitespace() || c.is_control() || "\"'\\{}[],#`".contains(c);
    if !text.starts_with('/') {
        return Err("a JSON pointer begins with `/`");
    }
    if text.contains(odd) {
        return Err("it holds characters that cannot be written in every style");
    }
    Ok(text.to_owned())
}

/// Checks the name of a target that a person gave; a regular expression is one, too.
pub(super) fn target(text: &str) -> Result<String, Unfit> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-._()|*+?^$".contains(c);
    let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '(' | '^' | '.'));
    if begins && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("it is no name of an object")
    }
}

#[cfg(test)]
mod tests {
    use refit_kustomize::Field;
    use refit_manifest::Entry;

    use super::*;

    const KUSTOMIZATION: &str = "\
resources: [g.yaml]
patches:
# Why the first one is here.
- target: {kind: Deployment, name: old}
  patch: '[{op: replace, path: /spec/r, value: 3}, {op: add, path: /spec/s, value: 4}]'
# Why the second one is here.
- patch: |
    # in front
    - op: add
      path: /args/-
      value: --a
    # commented out:
    # - op: add
    #   path: /args/-
    - op: add
      path: \"/args/0\"
      value: --b
  target:
    kind: Deployment # all of them
    name: (a|b)
# At the end.
patchesStrategicMerge:
- deletions.yaml
- |-
  kind: Service
  metadata:
    name: s
  ---
  kind: Service
  metadata:
    name: t
";
    const DELETIONS: &str = "\
---
# Delete a.
$patch: delete
kind: Policy
metadata: {name: a}
---
# Delete b.
$patch: delete
kind: Policy
metadata: {name: b}
";

    fn slot(
        field: Field,
        index: usize,
        document: impl Into<Option<usize>>,
        operation: impl Into<Option<usize>>,
    ) -> Slot {
        Slot {
            kustomization: "kustomization.yaml".into(),
            field,
            index,
            document: document.into(),
            operation: operation.into(),
        }
    }

    fn edited(edits: &[(Slot, Change)]) -> Result<Edited, Unfit> {
        let file = |path: &str, text: &str| (Path::from(path), Entry::file(text.as_bytes()));
        let tree: Tree = [
            file("kustomization.yaml", KUSTOMIZATION),
            file("deletions.yaml", DELETIONS),
        ]
        .into_iter()
        .collect();
        Edits(edits.iter().cloned().collect()).apply(&tree)
    }

    /// Checks that a file is the original without, or with other, text at one place.
    fn check(edits: &[(Slot, Change)], path: &str, replaced: &[(&str, &str)]) {
        let mut expected = if path == "deletions.yaml" {
            DELETIONS
        } else {
            KUSTOMIZATION
        }
        .to_owned();
        for (old, new) in replaced {
            assert!(expected.contains(old), "{old}");
            expected = expected.replacen(old, new, 1);
        }
        let files = edited(edits).unwrap().files;
        let text = files[&Path::from(path)].as_ref().unwrap();
        assert_eq!(String::from_utf8_lossy(text), expected);
    }

    #[test]
    fn an_operation_leaves_a_literal_block_and_the_comments_inside_stay() {
        let first = "    - op: add\n      path: /args/-\n      value: --a\n";
        check(
            &[(slot(Field::Patches, 1, 0, 0), Change::Remove)],
            "kustomization.yaml",
            &[(first, "")],
        );
        let last = "    - op: add\n      path: \"/args/0\"\n      value: --b\n";
        check(
            &[(slot(Field::Patches, 1, 0, 1), Change::Remove)],
            "kustomization.yaml",
            &[(last, "")],
        );
    }

    #[test]
    fn an_operation_leaves_a_quoted_list() {
        check(
            &[(slot(Field::Patches, 0, 0, 0), Change::Remove)],
            "kustomization.yaml",
            &[("{op: replace, path: /spec/r, value: 3}, ", "")],
        );
        check(
            &[(slot(Field::Patches, 0, 0, 1), Change::Remove)],
            "kustomization.yaml",
            &[(", {op: add, path: /spec/s, value: 4}", "")],
        );
    }

    #[test]
    fn an_entry_goes_with_its_comment_when_nothing_of_it_is_left() {
        let start = KUSTOMIZATION.find("# Why the second").unwrap();
        let end = KUSTOMIZATION.find("# At the end").unwrap();
        let both = [0, 1].map(|operation| (slot(Field::Patches, 1, 0, operation), Change::Remove));
        check(&both, "kustomization.yaml", &[(&KUSTOMIZATION[start..end], "")]);
        let edited = edited(&both).unwrap();
        assert!(edited.shift.has(&slot(Field::Patches, 1, None, None)));
    }

    #[test]
    fn a_list_without_entries_goes_with_its_key() {
        let start = KUSTOMIZATION.find("patches:").unwrap();
        let end = KUSTOMIZATION.find("# At the end").unwrap();
        let both = [0, 1].map(|index| (slot(Field::Patches, index, None, None), Change::Remove));
        check(&both, "kustomization.yaml", &[(&KUSTOMIZATION[start..end], "")]);
    }

    #[test]
    fn pointers_and_names_are_replaced_in_their_quotes() {
        let pointer = |text: &str| Change::Pointer(End::Path, pointer(text).unwrap());
        let target = |name: &str| Change::Target(target(name).unwrap());
        check(
            &[
                (slot(Field::Patches, 0, 0, 0), pointer("/spec/x")),
                (slot(Field::Patches, 1, 0, 1), pointer("/args/1")),
                (slot(Field::Patches, 1, 0, None), target("(a|c)")),
                (slot(Field::PatchesStrategicMerge, 1, 1, None), target("u")),
            ],
            "kustomization.yaml",
            &[
                ("/spec/r", "/spec/x"),
                ("\"/args/0\"", "\"/args/1\""),
                ("(a|b)", "(a|c)"),
                ("name: t", "name: u"),
            ],
        );
    }

    #[test]
    fn a_document_leaves_a_patch_file_and_the_file_goes_with_the_last() {
        let (a, b) = (
            slot(Field::PatchesStrategicMerge, 0, 0, None),
            slot(Field::PatchesStrategicMerge, 0, 1, None),
        );
        let start = DELETIONS.rfind("---").unwrap();
        check(
            &[(b.clone(), Change::Remove)],
            "deletions.yaml",
            &[(&DELETIONS[start..], "")],
        );
        let all = [(a, Change::Remove), (b, Change::Remove)];
        check(&all, "kustomization.yaml", &[("- deletions.yaml\n", "")]);
        assert_eq!(edited(&all).unwrap().files[&Path::from("deletions.yaml")], None);
    }

    #[test]
    fn an_entry_in_a_style_that_would_have_to_be_written_anew_is_left() {
        let folded = "patches:\n- patch: >\n    [{op: add,\n    path: /a, value: 1}, {op: add, path: /b, value: 1}]\n";
        let file = (Path::from("kustomization.yaml"), Entry::file(folded.as_bytes()));
        let tree: Tree = [file].into_iter().collect();
        let edits = |operation| Edits([(slot(Field::Patches, 0, 0, operation), Change::Remove)].into());
        assert_eq!(edits(Some(0)).apply(&tree).unwrap_err(), STYLE);
        assert!(edits(None).apply(&tree).is_ok());
    }

    #[test]
    fn values_that_are_no_pointers_or_names_are_refused() {
        assert!(pointer("spec/x").is_err() && pointer("/a b").is_err() && pointer("/a'").is_err());
        assert!(target("").is_err() && target("*").is_err() && target("a: b").is_err());
    }
}
