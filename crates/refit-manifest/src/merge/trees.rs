//! Merges trees: files as a whole where one side left them alone, by their objects where not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use super::document::Sides;
use super::file::{self, Arrival, Done, Failure, Work};
use super::index::{Index, Place};
use super::lines::{self, Lines};
use super::merger::{Choice, Subject, answered, named};
use super::references;
use super::{Merged, Settings};
use crate::decision::{Class, Decision, DecisionId, Outcome, Rule};
use crate::schema::ListKeys;
use crate::stream::{Document, Identity};
use crate::tree::{Entry, Path, Tree};

/// Merges three trees.
pub(super) fn merge(base: &Tree, ours: &Tree, theirs: &Tree, settings: &Settings) -> Merged {
    let paths: BTreeSet<&Path> = base.paths().chain(theirs.paths()).collect();
    let changed: Vec<&Path> = paths
        .into_iter()
        .filter(|path| base.get(path) != theirs.get(path))
        .collect();
    let mut state = State {
        base,
        ours,
        theirs,
        settings: Cow::Borrowed(settings),
        sides: Indexes::default(),
        out: Merged {
            tree: ours.clone(),
            ..Merged::default()
        },
        arrivals: BTreeMap::new(),
    };
    if changed.is_empty() {
        return state.out;
    }
    state.fill_indexes(&changed);
    state.read_schemas();
    state.find_new_objects(&changed);
    let mut touched: BTreeSet<Path> = changed.into_iter().cloned().collect();
    touched.extend(state.arrivals.keys().cloned());
    touched.extend(state.moved_objects(&touched));
    for path in touched {
        state.file(&path);
    }
    state.out.duplicates = [&state.sides.base, &state.sides.ours, &state.sides.theirs]
        .into_iter()
        .flat_map(Index::duplicates)
        .collect();
    state.out.duplicates.sort();
    state.out.duplicates.dedup();
    state.out
}

#[derive(Default)]
struct Indexes {
    base: Index,
    ours: Index,
    theirs: Index,
}

struct State<'a> {
    base: &'a Tree,
    ours: &'a Tree,
    theirs: &'a Tree,
    settings: Cow<'a, Settings>,
    sides: Indexes,
    out: Merged,
    /// New documents of theirs by the file of ours that takes them, each with the document that it follows.
    arrivals: BTreeMap<Path, Vec<(Option<usize>, Place, Decision)>>,
}

impl State<'_> {
    fn fill_indexes(&mut self, changed: &[&Path]) {
        let structured = |path: &&&Path| path.is_yaml() || path.is_json();
        self.sides
            .base
            .add(self.base, changed.iter().filter(structured).copied());
        self.sides
            .theirs
            .add(self.theirs, changed.iter().filter(structured).copied());
        self.sides
            .ours
            .add(self.ours, changed.iter().filter(structured).copied());
        let ours = &self.sides.ours;
        let renamed = |identity: &Identity| self.settings.renames.iter().any(|(_, new)| new == identity);
        let missing = self
            .objects_of_theirs()
            .any(|(_, identity)| !ours.has(&identity) || renamed(&identity));
        if missing {
            self.sides.ours.add(
                self.ours,
                self.ours.paths().filter(|path| path.is_yaml() || path.is_json()),
            );
        }
    }

    /// Reads the list keys of custom resources that ours changed from the definitions that theirs brings.
    fn read_schemas(&mut self) {
        let mut wanted: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (_, stream) in &self.sides.ours.files {
            let custom = |identity: &&Identity| identity.group.contains('.') && !identity.group.ends_with(".k8s.io");
            let kinds = stream.objects().map(|(identity, _)| identity).filter(custom);
            wanted.extend(kinds.map(|identity| (&*identity.group, &*identity.kind)));
        }
        wanted.retain(|(group, kind)| !self.settings.lists.knows(group, kind));
        if wanted.is_empty() {
            return;
        }
        let mut lists = ListKeys::default();
        for (identity, document) in self.sides.theirs.files.iter().flat_map(|(_, stream)| stream.objects()) {
            let group = identity.name.split_once('.').map_or("", |(_, group)| group);
            let is_wanted = wanted.iter().any(|(wanted, _)| *wanted == group);
            if &*identity.kind == "CustomResourceDefinition" && is_wanted {
                lists.add(document);
            }
        }
        self.settings.to_mut().lists.extend(lists);
    }

    fn objects_of_theirs(&self) -> impl Iterator<Item = (Place, Identity)> {
        let files = &self.sides.theirs.files;
        files.iter().enumerate().flat_map(|(file, (_, stream))| {
            let documents = stream.documents().iter().enumerate();
            documents.filter_map(move |(at, document)| Some(((file, at), document.identity()?.clone())))
        })
    }

    /// Gives the identity that an object of theirs has in base and ours.
    fn old_name(&self, identity: &Identity) -> Identity {
        let renames = &self.settings.renames;
        renames
            .iter()
            .find(|(_, new)| new == identity)
            .map_or(identity, |(old, _)| old)
            .clone()
    }

    /// Decides on every object of theirs that ours lacks, and finds its place.
    fn find_new_objects(&mut self, changed: &[&Path]) {
        let deleted_files: HashSet<&Path> = changed
            .iter()
            .filter(|path| self.base.get(path).is_some() && self.ours.get(path).is_none())
            .copied()
            .collect();
        let missing: Vec<(Place, Identity)> = self
            .objects_of_theirs()
            .filter(|(place, identity)| {
                let path = self.sides.theirs.path(*place);
                let old = self.old_name(identity);
                self.sides
                    .ours
                    .find(&old, path, self.sides.theirs.nth(*place))
                    .is_none()
                    && self
                        .sides
                        .ours
                        .find(identity, path, self.sides.theirs.nth(*place))
                        .is_none()
            })
            .collect();
        let new: Vec<Place> = missing
            .iter()
            .filter(|(_, identity)| !self.sides.base.has(&self.old_name(identity)))
            .map(|(place, _)| *place)
            .collect();
        for (place, identity) in missing {
            let path = self.sides.theirs.path(place).clone();
            if self.taken_whole(&path) {
                continue;
            }
            let gone = deleted_files.contains(&path);
            if let Some(decision) = self.judge_missing(place, &identity, &new) {
                let home = self.home_of(place, gone);
                match home {
                    Some((home, after)) => self.arrivals.entry(home).or_default().push((after, place, decision)),
                    None => self.out.decisions.push(Decision {
                        outcome: Outcome::Noted,
                        rule: Rule::DeletionKept,
                        message: format!("{path}: {identity}: new, but you removed its file; left out"),
                        ..decision
                    }),
                }
            }
        }
    }

    /// Decides on one object that ours lacks; gives the decision when it goes in.
    fn judge_missing(&mut self, place: Place, identity: &Identity, new: &[Place]) -> Option<Decision> {
        let document = self.sides.theirs.document(place);
        let path = self.sides.theirs.path(place).clone();
        let old = self
            .sides
            .base
            .find(&self.old_name(identity), &path, 0)
            .map(|place| self.sides.base.document(place));
        let subject = Subject {
            path,
            object: Some(identity.clone()),
        };
        let Some(old) = old else {
            let message = format!("{}new in this version; added", subject.prefix(""));
            return Some(object_decision(subject, Rule::Added, Outcome::Clean, message));
        };
        let referring = new
            .iter()
            .find(|place| references::refers(self.sides.theirs.document(**place), identity));
        let changed = old.body_text() != document.body_text();
        let (outcome, message) = match referring.and_then(|place| self.sides.theirs.document(*place).identity()) {
            Some(by) => (
                Outcome::Conflict,
                format!("was deleted by you, but the new object {by} refers to it; left out"),
            ),
            None if changed => (
                Outcome::Noted,
                "was deleted by you and changed upstream; left out".to_owned(),
            ),
            None => return None,
        };
        let message = format!(
            "{}{message}. Take it with `refit resolve <id> theirs`",
            subject.prefix("")
        );
        let mut decision = object_decision(subject, Rule::DeletionKept, outcome, message);
        decision.base = Some(old.body_text().to_owned());
        decision.theirs = Some(document.body_text().to_owned());
        let (decision, choice) = answered(&self.settings, decision, Choice::Ours);
        if choice == Choice::Theirs {
            return Some(decision);
        }
        self.out.decisions.push(decision);
        None
    }

    /// Finds the file of ours for a new document, and the document that it follows.
    fn home_of(&self, place: Place, file_gone: bool) -> Option<(Path, Option<usize>)> {
        let path = self.sides.theirs.path(place);
        let siblings = self.sides.theirs.files[place.0].1.documents();
        let here = |at: usize| {
            let identity = siblings[at].identity()?;
            let nth = self.sides.theirs.nth((place.0, at));
            self.sides.ours.find(&self.old_name(identity), path, nth)
        };
        let same_file = self.sides.ours.file(path);
        let before = (0..place.1).rev().filter_map(here);
        let mut fitting = before.filter(|(file, _)| same_file.is_none_or(|wanted| *file == wanted));
        if let Some((file, at)) = fitting.next() {
            return Some((self.sides.ours.files[file].0.clone(), Some(self.past_own(file, at))));
        }
        match same_file {
            Some(file) => {
                let next = (place.1 + 1..siblings.len())
                    .filter_map(here)
                    .find(|(other, _)| *other == file);
                let last = self.sides.ours.files[file].1.documents().len() - 1;
                Some((path.clone(), next.map_or(Some(last), |(_, at)| at.checked_sub(1))))
            }
            None => (!file_gone).then(|| (path.clone(), None)),
        }
    }

    /// Passes over documents that only ours has.
    fn past_own(&self, file: usize, mut at: usize) -> usize {
        let documents = self.sides.ours.files[file].1.documents();
        while let Some(identity) = documents.get(at + 1).and_then(Document::identity) {
            if self.sides.base.has(identity) || self.sides.theirs.has(identity) {
                break;
            }
            at += 1;
        }
        at
    }

    /// Lists the other files of ours that hold objects which theirs changed.
    fn moved_objects(&self, touched: &BTreeSet<Path>) -> Vec<Path> {
        let mut out = Vec::new();
        for (place, identity) in self.objects_of_theirs() {
            let path = self.sides.theirs.path(place);
            let old = self.old_name(&identity);
            let found = self.sides.ours.find(&old, path, self.sides.theirs.nth(place));
            if let Some(home) = found.map(|place| self.sides.ours.path(place)) {
                if !touched.contains(home) {
                    out.push(home.clone());
                }
            }
        }
        out
    }

    /// Tells whether a file needs no look inside: one side left it alone and its objects stand nowhere else.
    fn taken_whole(&self, path: &Path) -> bool {
        if self.ours.get(path) != self.base.get(path) {
            return false;
        }
        let sides = [&self.sides.base, &self.sides.ours, &self.sides.theirs];
        let mut identities: Vec<Identity> = Vec::new();
        for index in [&self.sides.base, &self.sides.theirs] {
            if index.failed.contains_key(path) {
                return true;
            }
            identities.extend(
                index
                    .stream(path)
                    .into_iter()
                    .flat_map(|stream| stream.objects().map(|(id, _)| id.clone())),
            );
        }
        identities
            .iter()
            .all(|identity| sides.iter().all(|index| index.keeps_to(path, identity)))
    }

    fn file(&mut self, path: &Path) {
        if self.taken_whole(path) {
            return self.take_whole(path);
        }
        let structured = path.is_yaml() || path.is_json();
        let regular = |tree: &Tree| tree.get(path).is_none_or(|entry| matches!(entry, Entry::File { .. }));
        let all_regular = regular(self.base) && regular(self.ours) && regular(self.theirs);
        match (structured && all_regular, self.sides.ours.file(path)) {
            (true, Some(file)) => self.objects(path, file),
            (true, None) if self.ours.get(path).is_none() => self.new_file(path),
            (_, _) if all_regular => self.by_lines(path),
            _ => self.conflict(path, "the entry changed on both sides and is not a file on all of them"),
        }
    }

    /// Takes a file of theirs whose counterpart ours never changed.
    fn take_whole(&mut self, path: &Path) {
        if self.ours.get(path) == self.theirs.get(path) {
            return;
        }
        let message = match self.theirs.get(path) {
            Some(entry) => {
                self.out.tree.insert(path.clone(), entry.clone());
                "you never changed it; took the new version"
            }
            None => {
                self.out.tree.remove(path);
                "the new version no longer has it; removed"
            }
        };
        let rule = if self.theirs.get(path).is_some() {
            Rule::TheirsChanged
        } else {
            Rule::Removed
        };
        self.out
            .decisions
            .push(file_decision(path, rule, Outcome::Clean, message));
    }

    fn objects(&mut self, path: &Path, file: usize) {
        let failed = [&self.sides.base, &self.sides.theirs]
            .into_iter()
            .find_map(|index| index.failed.get(path));
        if let Some(error) = failed {
            let message = format!("the generated file cannot be read: {error}");
            return self.block(path, &message);
        }
        let result = {
            let work = self.work_of(path, file);
            file::merge(&self.settings, work)
        };
        match result {
            Ok(done) => self.keep(path, done),
            Err(Failure::Guard(reason)) => self.block(path, &reason),
            Err(Failure::Syntax(error)) => self.unparsable(path, &error.to_string()),
        }
        self.modes(path);
    }

    fn work_of(&self, path: &Path, file: usize) -> Work<'_> {
        let stream = &self.sides.ours.files[file].1;
        let nameless: HashMap<*const Document, usize> = self
            .sides
            .ours
            .nameless(path)
            .into_iter()
            .enumerate()
            .map(|(nth, document)| (std::ptr::from_ref(document), nth))
            .collect();
        let (base_nameless, theirs_nameless) = (self.sides.base.nameless(path), self.sides.theirs.nameless(path));
        let sides = stream.documents().iter().enumerate().map(|(at, ours)| {
            let (base, theirs) = match ours.identity() {
                Some(identity) => self.counterparts(identity, path, self.sides.ours.nth((file, at))),
                None => match nameless.get(&std::ptr::from_ref(ours)) {
                    Some(nth) => (base_nameless.get(*nth).copied(), theirs_nameless.get(*nth).copied()),
                    None => (None, None),
                },
            };
            let mentioned = theirs.is_none() && base.is_some() && self.mentions(ours);
            (base.is_some() || theirs.is_some()).then_some(Sides {
                base,
                ours,
                theirs,
                mentioned,
            })
        });
        let arrivals = self
            .arrivals
            .get(path)
            .into_iter()
            .flatten()
            .map(|(after, place, decision)| Arrival {
                after: *after,
                document: self.sides.theirs.document(*place),
                decision: decision.clone(),
            });
        Work {
            path: &self.sides.ours.files[file].0,
            ours: stream,
            sides: sides.collect(),
            arrivals: arrivals.collect(),
        }
    }

    fn counterparts(&self, identity: &Identity, path: &Path, nth: usize) -> (Option<&Document>, Option<&Document>) {
        let base = self
            .sides
            .base
            .find(identity, path, nth)
            .map(|place| self.sides.base.document(place));
        let renamed = self
            .settings
            .renames
            .iter()
            .find(|(old, _)| old == identity)
            .map(|(_, new)| new);
        let theirs = self.sides.theirs.find(identity, path, nth);
        let theirs = theirs.or_else(|| self.sides.theirs.find(renamed?, path, nth));
        (base, theirs.map(|place| self.sides.theirs.document(place)))
    }

    fn mentions(&self, document: &Document) -> bool {
        let name = &document.head().name;
        !name.is_empty()
            && self
                .sides
                .theirs
                .files
                .iter()
                .any(|(_, stream)| std::str::from_utf8(stream.bytes()).is_ok_and(|text| text.contains(&**name)))
    }

    fn keep(&mut self, path: &Path, done: Done) {
        let offset = self.out.decisions.len();
        self.out.decisions.extend(done.decisions);
        if !done.splices.is_empty() {
            let executable = matches!(self.ours.get(path), Some(Entry::File { executable: true, .. }));
            self.out.tree.insert(
                path.clone(),
                Entry::File {
                    bytes: done.bytes,
                    executable,
                },
            );
            let splices = done
                .splices
                .into_iter()
                .map(|(splice, decision)| (splice, decision + offset));
            self.out.splices.insert(path.clone(), splices.collect());
        }
        if self.theirs.get(path).is_none() && self.base.get(path).is_some() {
            self.drop_when_empty(path);
        }
    }

    /// Removes a file that theirs removed, when nothing of the user is left in it.
    fn drop_when_empty(&mut self, path: &Path) {
        let left = self.out.tree.bytes(path).is_some_and(|bytes| {
            crate::stream::Stream::split(Arc::clone(bytes))
                .is_ok_and(|stream| stream.documents().iter().any(|document| !document.is_empty()))
        });
        if !left {
            self.out.tree.remove(path);
            self.out.splices.remove(path);
            self.out.decisions.push(file_decision(
                path,
                Rule::Removed,
                Outcome::Clean,
                "nothing is left in it; removed",
            ));
        }
    }

    /// Makes a file that ours does not have from the documents that belong there.
    fn new_file(&mut self, path: &Path) {
        let Some(arrivals) = self.arrivals.get(path).cloned() else {
            return;
        };
        let Some(Entry::File { bytes, executable }) = self.theirs.get(path) else {
            return;
        };
        let all = self
            .sides
            .theirs
            .stream(path)
            .map_or(0, |stream| stream.objects().count());
        let bytes = if arrivals.len() == all {
            Arc::clone(bytes)
        } else {
            let part = |place: &Place| {
                let document = self.sides.theirs.document(*place);
                document.whole_text()
            };
            arrivals
                .iter()
                .map(|(_, place, _)| part(place))
                .collect::<String>()
                .into_bytes()
                .into()
        };
        self.out.tree.insert(
            path.clone(),
            Entry::File {
                bytes,
                executable: *executable,
            },
        );
        self.out
            .decisions
            .extend(arrivals.into_iter().map(|(_, _, decision)| decision));
    }

    /// A file whose changed parts do not parse is merged by lines, or not at all.
    fn unparsable(&mut self, path: &Path, error: &str) {
        let texts = (
            self.text(self.base, path),
            self.text(self.ours, path),
            self.text(self.theirs, path),
        );
        let (Some(base), Some(ours), Some(theirs)) = texts else {
            return self.block(path, error);
        };
        match lines::merge(base, ours, theirs) {
            Lines::Merged(text) => {
                let entry = Entry::file(text.into_bytes());
                self.out.tree.insert(path.clone(), entry);
                let message = format!("does not parse ({error}); merged by lines");
                self.out
                    .decisions
                    .push(file_decision(path, Rule::Lines, Outcome::Noted, &message));
            }
            Lines::Overlap => self.block(path, error),
        }
    }

    fn by_lines(&mut self, path: &Path) {
        let (base, ours, theirs) = (self.base.get(path), self.ours.get(path), self.theirs.get(path));
        if ours == theirs {
            return;
        }
        match (base, ours, theirs) {
            (Some(_), None, Some(_)) => {
                let message = "was deleted by you and changed upstream; left out";
                self.out
                    .decisions
                    .push(file_decision(path, Rule::DeletionKept, Outcome::Noted, message));
            }
            (Some(_), Some(_), None) => self.conflict(path, "the new version removed it; you changed it; kept yours"),
            _ => self.text_file(path),
        }
    }

    fn text_file(&mut self, path: &Path) {
        let texts = (
            self.text(self.base, path),
            self.text(self.ours, path),
            self.text(self.theirs, path),
        );
        let same_bytes = |a: &Tree, b: &Tree| a.bytes(path) == b.bytes(path);
        if same_bytes(self.base, self.theirs) || same_bytes(self.ours, self.theirs) {
            return self.modes(path);
        }
        let merged = match texts {
            _ if same_bytes(self.base, self.ours) => self.theirs.bytes(path).map(|bytes| bytes.to_vec()),
            (Some(base), Some(ours), Some(theirs)) => match lines::merge(base, ours, theirs) {
                Lines::Merged(text) => Some(text.into_bytes()),
                Lines::Overlap => None,
            },
            _ => None,
        };
        match merged {
            Some(bytes) => {
                let executable = matches!(self.ours.get(path), Some(Entry::File { executable: true, .. }));
                self.out.tree.insert(
                    path.clone(),
                    Entry::File {
                        bytes: bytes.into(),
                        executable,
                    },
                );
                self.out
                    .decisions
                    .push(file_decision(path, Rule::Lines, Outcome::Noted, "merged by lines"));
                self.modes(path);
            }
            None => self.conflict(path, "both sides changed the same lines; kept yours"),
        }
    }

    /// Merges the mode of a file: the side that changed it decides.
    fn modes(&mut self, path: &Path) {
        let mode = |tree: &Tree| match tree.get(path) {
            Some(Entry::File { executable, .. }) => Some(*executable),
            _ => None,
        };
        let (base, ours, theirs) = (mode(self.base), mode(self.ours), mode(self.theirs));
        if base == ours && theirs.is_some() && theirs != ours {
            if let (Some(Entry::File { bytes, .. }), Some(executable)) = (self.out.tree.get(path).cloned(), theirs) {
                self.out.tree.insert(path.clone(), Entry::File { bytes, executable });
                let message = "the mode follows the new version";
                self.out
                    .decisions
                    .push(file_decision(path, Rule::TheirsChanged, Outcome::Clean, message));
            }
        }
    }

    fn text<'t>(&self, tree: &'t Tree, path: &Path) -> Option<&'t str> {
        tree.bytes(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    fn conflict(&mut self, path: &Path, message: &str) {
        let decision = file_decision(path, Rule::BothChanged, Outcome::Conflict, message);
        let (decision, choice) = answered(&self.settings, decision, Choice::Ours);
        self.out.decisions.push(decision);
        match (choice, self.theirs.get(path)) {
            (Choice::Theirs, Some(entry)) => drop(self.out.tree.insert(path.clone(), entry.clone())),
            (Choice::Theirs, None) => drop(self.out.tree.remove(path)),
            _ => {}
        }
    }

    fn block(&mut self, path: &Path, reason: &str) {
        let message = format!("left untouched: {reason}");
        self.out
            .decisions
            .push(file_decision(path, Rule::Unmergeable, Outcome::Blocked, &message));
    }
}

fn object_decision(subject: Subject, rule: Rule, outcome: Outcome, message: String) -> Decision {
    named(Decision {
        id: DecisionId(String::new()),
        path: subject.path,
        object: subject.object,
        field: String::new(),
        base: None,
        ours: None,
        theirs: None,
        class: Class::Object,
        rule,
        outcome,
        message,
        answer: None,
    })
}

fn file_decision(path: &Path, rule: Rule, outcome: Outcome, message: &str) -> Decision {
    let subject = Subject {
        path: path.clone(),
        object: None,
    };
    let message = format!("{path}: {message}");
    Decision {
        class: Class::File,
        ..object_decision(subject, rule, outcome, message)
    }
}
