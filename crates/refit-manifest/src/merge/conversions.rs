//! Brings objects of base and ours to the API versions of theirs before the merge.
//!
//! In: the three sides and the rules. Out: base and ours with converted objects, the splices of ours, and a decision for
//! each object. Ours stays the canvas: the splices of the conversion and those of the merge become one list.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem::Finder;

use super::index::Index;
use super::merger::{Choice, Subject, answered, named};
use super::trees::object_decision;
use super::{Merged, Settings, compose};
use crate::convert::{Converted, Rule as Conversion, Weight, convert};
use crate::decision::{Class, Decision, Outcome, Rule};
use crate::edit::{self, Splice};
use crate::stream::{Document, Identity};
use crate::tree::{Entry, Path, Tree};

/// Base and ours in the API versions of theirs.
#[derive(Clone, Debug, Default)]
pub struct Sides {
    /// Base, converted.
    pub base: Tree,
    /// Ours, converted.
    pub ours: Tree,
    /// What was decided on objects of ours.
    pub decisions: Vec<Decision>,
    /// The splices of ours, with the index of the decision that explains each.
    splices: BTreeMap<Path, Vec<(Splice, usize)>>,
}

/// Converts the objects of base and ours that theirs has in another API version; `None` when there are none.
///
/// Objects that ours never changed are left to the merge, which takes those of theirs.
pub fn convert_sides(base: &Tree, ours: &Tree, theirs: &Tree, settings: &Settings) -> Option<Sides> {
    let groups = groups(&settings.rules);
    let groups: Vec<Finder<'_>> = groups.iter().map(Finder::new).collect();
    let changed: Vec<&Path> = theirs
        .paths()
        .filter(|path| path.is_yaml() || path.is_json())
        .filter(|path| base.get(path) != theirs.get(path))
        .filter(|path| {
            let bytes = theirs.bytes(path).map_or(&[][..], |bytes| &bytes[..]);
            groups.iter().any(|group| group.find(bytes).is_some())
        })
        .collect();
    if changed.is_empty() {
        return None;
    }
    let mut index = [Index::default(), Index::default(), Index::default()];
    index[2].add(theirs, changed.iter().copied());
    for (side, tree) in [(0, base), (1, ours)] {
        index[side].add(tree, tree.paths().filter(|path| path.is_yaml() || path.is_json()));
    }
    let mut work = Work {
        settings,
        rules: settings.rules.iter().collect(),
        splices: [BTreeMap::new(), BTreeMap::new()],
        decisions: Vec::new(),
    };
    for (file, (path, stream)) in index[2].files.iter().enumerate() {
        for (at, document) in stream.documents().iter().enumerate() {
            let Some(identity) = document.identity().filter(|identity| work.is_about(identity)) else {
                continue;
            };
            let nth = index[2].nth((file, at));
            let places = [0, 1].map(|side| index[side].find(identity, path, nth).map(|place| (side, place)));
            if let [Some((_, old)), Some((_, own))] = places {
                let (old, home) = (index[0].document(old), index[1].path(own));
                let own = index[1].document(own);
                work.object(document, (path, old), (home, own));
            }
        }
    }
    let [of_base, of_ours] = &work.splices;
    if of_base.is_empty() && of_ours.is_empty() && work.decisions.is_empty() {
        return None;
    }
    Some(Sides {
        base: spliced(base, of_base),
        ours: spliced(ours, of_ours),
        decisions: work.decisions,
        splices: work.splices[1].clone(),
    })
}

/// Gives what an object of a group of the rules has in its API version, each once.
fn groups(rules: &[Conversion]) -> BTreeSet<String> {
    rules
        .iter()
        .map(|rule| rule.group.as_str())
        .filter(|group| group.contains('.'))
        .map(|group| format!("{group}/"))
        .collect()
}

struct Work<'r> {
    settings: &'r Settings,
    rules: Vec<&'r Conversion>,
    /// Of base and ours.
    splices: [BTreeMap<Path, Vec<(Splice, usize)>>; 2],
    decisions: Vec<Decision>,
}

impl Work<'_> {
    fn is_about(&self, identity: &Identity) -> bool {
        self.rules
            .iter()
            .any(|rule| rule.is_about(&identity.group, &identity.kind))
    }

    fn object(&mut self, theirs: &Document, base: (&Path, &Document), ours: (&Path, &Document)) {
        let wanted = version_of(theirs);
        let is_converted = |document: &Document| version_of(document) == wanted;
        if base.1.body_text() == ours.1.body_text() || (is_converted(base.1) && is_converted(ours.1)) {
            return;
        }
        let run = |document: &Document| match document.root().filter(|_| version_of(document) != wanted) {
            Some(root) => convert(root, Some(wanted), &self.rules),
            None => Converted::default(),
        };
        let (of_base, of_ours) = (run(base.1), run(ours.1));
        if let Some(stopped) = [&of_ours, &of_base].into_iter().find(|side| side.is_stopped()) {
            let choice = self.decide(ours, wanted, stopped);
            self.settle(choice, theirs, base, ours);
            return;
        }
        if of_ours.is_untouched() && of_base.is_untouched() {
            return;
        }
        if !of_ours.is_untouched() {
            self.decide(ours, wanted, &of_ours);
        }
        let decision = self.decisions.len().saturating_sub(1);
        for (side, path, converted) in [(0, base.0, of_base), (1, ours.0, of_ours)] {
            if !converted.splices.is_empty() {
                let splices = converted.splices.into_iter().map(|splice| (splice, decision));
                self.splices[side].entry(path.clone()).or_default().extend(splices);
            }
        }
    }

    /// Keeps an object that cannot be converted from the merge: base gets the content of theirs, so that nothing comes in;
    /// or ours does, where a person answered so.
    fn settle(&mut self, choice: Choice, theirs: &Document, base: (&Path, &Document), ours: (&Path, &Document)) {
        let decision = self.decisions.len().saturating_sub(1);
        let mut take = |side: usize, (path, document): (&Path, &Document)| {
            let mut text = theirs.body_text().to_owned();
            if document.body_text().ends_with('\n') && !text.ends_with('\n') {
                text.push('\n');
            }
            let range = document.body();
            let splice = Splice { range, text };
            let splices = self.splices[side].entry(path.clone()).or_default();
            splices.push((splice, decision));
        };
        take(0, base);
        if choice == Choice::Theirs {
            take(1, ours);
        }
    }

    /// Records what becomes of an object, and gives what a person answered to one that cannot be converted.
    fn decide(&mut self, (path, ours): (&Path, &Document), wanted: &str, converted: &Converted) -> Choice {
        let stopped = converted.is_stopped();
        let subject = Subject {
            path: path.clone(),
            object: ours.identity().cloned(),
        };
        let old = version_of(ours);
        let fields: Vec<String> = converted
            .changes
            .iter()
            .filter(|change| change.field != "apiVersion")
            .map(|change| match change.after.as_str() {
                "" => change.message.clone(),
                _ => format!("{}; your `{}` was carried over", change.message, change.before),
            })
            .collect();
        let told = converted
            .reviews
            .iter()
            .filter(|review| review.weight != Weight::Report);
        let reviews: Vec<String> = told.map(|review| review.message.clone()).collect();
        let mut parts = fields;
        parts.extend(reviews);
        let what = if stopped {
            format!(
                "yours is {old} and cannot be converted to {wanted}, which the new version has; kept yours as it is, choose with `refit resolve <id>`"
            )
        } else {
            format!("{old} -> {wanted}")
        };
        let detail = if parts.is_empty() {
            String::new()
        } else {
            format!(": {}", parts.join("; "))
        };
        let message = format!("{}{what}{detail}", subject.prefix("apiVersion"));
        let outcome = if stopped { Outcome::Conflict } else { Outcome::Noted };
        let decision = Decision {
            field: "apiVersion".to_owned(),
            ours: Some(old.to_owned()),
            theirs: Some(wanted.to_owned()),
            class: Class::Contract,
            ..object_decision(subject, Rule::Converted, outcome, message)
        };
        let (decision, choice) = match answered(self.settings, decision.clone(), Choice::Ours) {
            (answered, choice @ (Choice::Ours | Choice::Theirs)) if stopped => (answered, choice),
            _ => (named(decision), Choice::Ours),
        };
        self.decisions.push(decision);
        choice
    }
}

fn version_of(document: &Document) -> &str {
    let api = &document.head().api_version;
    api.rsplit_once('/').map_or(api, |(_, version)| version)
}

/// Applies splices to the files of a tree.
fn spliced(tree: &Tree, splices: &BTreeMap<Path, Vec<(Splice, usize)>>) -> Tree {
    let mut out = tree.clone();
    for (path, splices) in splices {
        let bare: Vec<Splice> = splices.iter().map(|(splice, _)| splice.clone()).collect();
        let bytes = tree.bytes(path).map(|bytes| edit::apply(bytes, &bare));
        if let (Some(Ok(bytes)), Some(Entry::File { executable, .. })) = (bytes, tree.get(path)) {
            let executable = *executable;
            out.insert(path.clone(), Entry::File { bytes, executable });
        }
    }
    out
}

/// Gives a merge of converted sides as one of the sides as they were.
pub(super) fn compose(ours: &Tree, sides: Sides, merged: Merged) -> Merged {
    let mut out = merged;
    let blocked: Vec<Path> = out
        .decisions
        .iter()
        .filter(|decision| decision.outcome == Outcome::Blocked)
        .map(|decision| decision.path.clone())
        .collect();
    let offset = sides.decisions.len();
    let merges = std::mem::take(&mut out.splices);
    let mut of_merge: BTreeMap<Path, Vec<(Splice, usize)>> = merges
        .into_iter()
        .map(|(path, splices)| {
            (
                path,
                splices.into_iter().map(|(splice, at)| (splice, at + offset)).collect(),
            )
        })
        .collect();
    for (path, first) in &sides.splices {
        let Some(entry) = ours.get(path) else { continue };
        if blocked.contains(path) {
            out.tree.insert(path.clone(), entry.clone());
            continue;
        }
        let second = of_merge.remove(path).unwrap_or_default();
        let is_edited = !second.is_empty() || out.tree.get(path) == sides.ours.get(path);
        if let Some(bytes) = entry.bytes().filter(|_| is_edited) {
            out.splices
                .insert(path.clone(), compose::both(bytes.len(), first, &second));
        }
    }
    out.splices.extend(of_merge);
    let decisions = std::mem::take(&mut out.decisions);
    out.decisions = sides.decisions.into_iter().chain(decisions).collect();
    out
}
