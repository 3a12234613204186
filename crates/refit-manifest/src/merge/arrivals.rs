//! New objects of theirs: which go in, and where.

use super::index::{Index, Place};
use super::merger::{Choice, Subject, answered, named};
use super::references;
use super::trees::{State, object_decision};
use crate::decision::{Decision, Outcome, Rule};
use crate::stream::{Document, Identity};
use crate::tree::Path;

impl State<'_> {
    /// Decides on every object of theirs that ours lacks, and finds its place.
    pub(super) fn find_new_objects(&mut self) {
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
        let changed = |(place, identity): &&(Place, Identity)| {
            let path = self.sides.theirs.path(*place);
            let old = self.sides.base.find(&self.old_name(identity), path, 0);
            old.is_some_and(|old| {
                self.sides.base.document(old).body_text() != self.sides.theirs.document(*place).body_text()
            })
        };
        let broken: Vec<(Path, String)> = missing
            .iter()
            .filter(changed)
            .map(|(place, _)| self.sides.theirs.path(*place).clone())
            .filter_map(|path| self.broken_by_user(&path).map(|error| (path, error)))
            .collect();
        self.broken.extend(broken);
        for (place, identity) in missing {
            let path = self.sides.theirs.path(place).clone();
            // Of a file that cannot be read nobody knows what was deleted from it.
            if self.taken_whole(&path) || self.broken.contains_key(&path) || self.unfit(&path).is_some() {
                continue;
            }
            if let Some(decision) = self.judge_missing(place, &identity, &new) {
                let home = self.home_of(place);
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
            if self.group_is_absent(identity) {
                let text = "new, but you have none of its kind; left out. Take it with `refit resolve <id> theirs`";
                let message = format!("{}{text}", subject.prefix(""));
                let decision = object_decision(subject, Rule::GroupAbsent, Outcome::Noted, message);
                return self.unless_answered(decision);
            }
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
        let mut decision = object_decision(subject, Rule::DeletionKept, outcome, String::new());
        // The message names the decision, whose name holds the values.
        decision.message = message;
        decision.base = Some(old.body_text().to_owned());
        decision.theirs = Some(document.body_text().to_owned());
        self.unless_answered(decision)
    }

    /// Records that an object stays away, or gives the decision back when a person wants it.
    fn unless_answered(&mut self, decision: Decision) -> Option<Decision> {
        let (decision, choice) = answered(&self.settings, named(decision), Choice::Ours);
        if choice == Choice::Theirs {
            return Some(decision);
        }
        self.out.decisions.push(decision);
        None
    }

    /// Tells whether the user took out every object of an optional kind that base has.
    fn group_is_absent(&self, identity: &Identity) -> bool {
        let is_member = |other: &Identity| other.kind == identity.kind && other.group == identity.group;
        let had = |index: &Index| {
            index
                .files
                .iter()
                .flat_map(|(_, stream)| stream.objects())
                .any(|(id, _)| is_member(id))
        };
        let is_optional = self.settings.optional_kinds.iter().any(|kind| **kind == *identity.kind);
        is_optional && had(&self.sides.base) && !had(&self.sides.ours)
    }

    /// Tells whether the user deleted a file that base has.
    fn is_deleted(&self, path: &Path) -> bool {
        self.base.get(path).is_some() && self.ours.get(path).is_none()
    }

    /// Finds the file of ours for a new document, and the document that it follows.
    fn home_of(&self, place: Place) -> Option<(Path, Option<usize>)> {
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
            None => (!self.is_deleted(path)).then(|| (path.clone(), None)),
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
}
