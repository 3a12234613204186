//! Merges trees: files as a whole where one side left them alone, by their objects where not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::document::Sides;
use super::file::{self, Arrival, Done, Failure, Work};
use super::index::{Index, Place};
use super::merger::{Subject, named};
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
        broken: BTreeMap::new(),
        arrivals: BTreeMap::new(),
    };
    if changed.is_empty() {
        return state.out;
    }
    state.fill_indexes(&changed);
    state.read_schemas();
    state.find_new_objects();
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
pub(super) struct Indexes {
    pub(super) base: Index,
    pub(super) ours: Index,
    pub(super) theirs: Index,
}

pub(super) struct State<'a> {
    pub(super) base: &'a Tree,
    pub(super) ours: &'a Tree,
    pub(super) theirs: &'a Tree,
    pub(super) settings: Cow<'a, Settings>,
    pub(super) sides: Indexes,
    pub(super) out: Merged,
    /// Files in which a document that does not parse may be an object that theirs changed, with the parser's words.
    pub(super) broken: BTreeMap<Path, String>,
    /// New documents of theirs by the file of ours that takes them, each with the document that it follows.
    pub(super) arrivals: BTreeMap<Path, Vec<(Option<usize>, Place, Decision)>>,
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

    pub(super) fn objects_of_theirs(&self) -> impl Iterator<Item = (Place, Identity)> {
        let files = &self.sides.theirs.files;
        files.iter().enumerate().flat_map(|(file, (_, stream))| {
            let documents = stream.documents().iter().enumerate();
            documents.filter_map(move |(at, document)| Some(((file, at), document.identity()?.clone())))
        })
    }

    /// Gives the identity that an object of theirs has in base and ours.
    pub(super) fn old_name(&self, identity: &Identity) -> Identity {
        let renames = &self.settings.renames;
        renames
            .iter()
            .find(|(_, new)| new == identity)
            .map_or(identity, |(old, _)| old)
            .clone()
    }

    /// Lists the other files of ours that hold objects which theirs changed.
    fn moved_objects(&self, touched: &BTreeSet<Path>) -> Vec<Path> {
        let mut out = Vec::new();
        for (place, identity) in self.objects_of_theirs() {
            let path = self.sides.theirs.path(place);
            let old = self.old_name(&identity);
            let found = self.sides.ours.find(&old, path, self.sides.theirs.nth(place));
            if let Some(home) = found.map(|place| self.sides.ours.path(place))
                && !touched.contains(home)
            {
                out.push(home.clone());
            }
        }
        out
    }

    /// Tells whether a file needs no look inside: one side left it alone and its objects stand nowhere else.
    pub(super) fn taken_whole(&self, path: &Path) -> bool {
        if self.ours.get(path) != self.base.get(path) {
            return false;
        }
        let Some(theirs) = self.sides.theirs.stream(path) else {
            return true;
        };
        let had = |identity: &Identity| {
            self.sides
                .base
                .stream(path)
                .is_some_and(|stream| stream.objects().any(|(known, _)| known == identity))
        };
        let is_users = |home: &Path| home != path && self.ours.get(home) != self.base.get(home);
        let stands_elsewhere = |identity: &Identity| self.sides.ours.homes(identity).any(is_users);
        !theirs
            .objects()
            .any(|(identity, _)| stands_elsewhere(identity) && !had(identity))
    }

    /// Gives why a document that the user changed cannot be read: which object it was cannot be told then.
    pub(super) fn broken_by_user(&self, path: &Path) -> Option<String> {
        let known = self.sides.base.nameless(path);
        let is_known = |document: &&Document| known.iter().any(|other| other.body_text() == document.body_text());
        let nameless = self.sides.ours.nameless(path);
        let error = |document: &&Document| document.parsed().err().map(ToString::to_string);
        nameless.iter().filter(|document| !is_known(document)).find_map(error)
    }

    fn file(&mut self, path: &Path) {
        if self.taken_whole(path) {
            return self.take_whole(path);
        }
        if let Some(error) = self.broken.get(path).cloned() {
            return self.unparsable(path, &error);
        }
        let structured = path.is_yaml() || path.is_json();
        let regular = |tree: &Tree| tree.get(path).is_none_or(|entry| matches!(entry, Entry::File { .. }));
        let all_regular = regular(self.base) && regular(self.ours) && regular(self.theirs);
        if structured && let Some(reason) = self.unfit(path) {
            return self.block(path, &reason);
        }
        match (structured && all_regular, self.sides.ours.file(path)) {
            (true, Some(file)) => self.objects(path, file),
            (true, None) if self.ours.get(path).is_none() => self.new_file(path),
            (_, _) if all_regular => self.by_lines(path),
            _ => self.conflict(path, "the entry changed on both sides and is not a file on all of them"),
        }
    }

    fn objects(&mut self, path: &Path, file: usize) {
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
            let all_theirs = &self.sides.theirs;
            (base.is_some() || theirs.is_some()).then_some(Sides {
                base,
                ours,
                theirs,
                all_theirs,
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
}

pub(super) fn object_decision(subject: Subject, rule: Rule, outcome: Outcome, message: String) -> Decision {
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

pub(super) fn file_decision(path: &Path, rule: Rule, outcome: Outcome, message: &str) -> Decision {
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

/// Makes the note on an object that stands more than once.
pub(super) fn duplicate(identity: &Identity, paths: &[Path]) -> Option<Decision> {
    let subject = Subject {
        path: paths.first()?.clone(),
        object: Some(identity.clone()),
    };
    let files: Vec<&str> = paths.iter().map(Path::as_str).collect();
    let places = files.join(", ");
    let message = format!(
        "{}stands more than once ({places}); matched by file and order",
        subject.prefix("")
    );
    Some(object_decision(subject, Rule::Heuristic, Outcome::Noted, message))
}
