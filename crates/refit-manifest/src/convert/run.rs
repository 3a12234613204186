//! Runs rules on a draft.
//!
//! In: the object and the rules about it, in order. Out: the draft, its changes, what is for people.

mod moves;
mod steps;
mod trace;

use std::cmp::Ordering;

use super::draft::{Draft, Hindrance};
use super::field::{At, Field, Step, places, text_of};
use super::rule::{Condition, Rule, Weight};
use super::version::compare_versions;
use super::{Change, Converted, Review};
use crate::parse::NodeRef;

pub(super) use trace::{Followed, Met, Traced, trace};

/// The object and what is wanted of it.
pub(super) struct Subject<'a, 'r> {
    pub(super) object: NodeRef<'a>,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) wanted: Option<&'r str>,
    pub(super) extent: Extent,
}

/// How much of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// A part; the rest stands elsewhere.
    Part,
}

/// What the rules made of an object.
pub(super) struct Outcome<'a> {
    pub(super) draft: Draft<'a>,
    pub(super) changes: Vec<Change>,
    pub(super) reviews: Vec<Review>,
    /// Comments that stood in and beside what became a text, and must not be lost.
    pub(super) comments: Vec<&'a str>,
}

impl Outcome<'_> {
    pub(super) fn is_stopped(&self) -> bool {
        self.reviews.iter().any(|review| review.weight == Weight::Stop)
    }

    /// Tells whether the API version was written anew, and nothing else was done.
    pub(super) fn is_new_version_alone(&self) -> bool {
        matches!(self.changes.as_slice(), [only] if only.field == "apiVersion") && self.comments.is_empty()
    }

    /// Gives the reviews alone.
    pub(super) fn untouched(self) -> Converted {
        Converted {
            reviews: self.reviews,
            ..Converted::default()
        }
    }
}

/// Runs rules on an object, each on what the rules before left.
pub(super) fn run<'a>(subject: &Subject<'a, '_>, rules: &[&Rule]) -> Outcome<'a> {
    run_on(subject, rules, Draft::Kept(subject.object))
}

/// Runs rules on what others left of an object.
pub(super) fn run_on<'a>(subject: &Subject<'a, '_>, rules: &[&Rule], draft: Draft<'a>) -> Outcome<'a> {
    let mut runner = Runner {
        subject,
        rule: "",
        message: "",
        out: Outcome {
            draft,
            changes: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
        },
    };
    for rule in rules {
        if rule.conditions.iter().all(|condition| runner.holds(condition)) {
            runner.rule = &rule.id;
            runner.message = &rule.message;
            for operation in &rule.operations {
                runner.operation(operation);
            }
        }
    }
    if let Some(sealed) = subject.object.parsed().root().and_then(|root| root.get("sops"))
        && !runner.out.changes.is_empty()
    {
        runner.review(
            Weight::Stop,
            "sops",
            Some(sealed),
            "encrypted with SOPS, whose checksum an edit would break; convert it with sops",
        );
    }
    runner.out
}

struct Runner<'a, 'r> {
    subject: &'r Subject<'a, 'r>,
    rule: &'r str,
    message: &'r str,
    out: Outcome<'a>,
}

impl<'a> Runner<'a, '_> {
    fn holds(&self, condition: &Condition) -> bool {
        let texts = |field: &Field| {
            let found = self.found(field.steps());
            found
                .iter()
                .filter_map(|place| self.out.draft.at(place)?.text().map(ToOwned::to_owned))
                .collect::<Vec<String>>()
        };
        match condition {
            Condition::Present(field) => self.out.draft.has(field.steps()),
            Condition::Absent(_) | Condition::Not(_) if self.subject.extent == Extent::Part => false,
            Condition::Absent(field) => !self.out.draft.has(field.steps()),
            Condition::Equal(field, values) => texts(field).iter().any(|text| values.contains(text)),
            Condition::Matching(field, pattern) => texts(field).iter().any(|text| pattern.is_in(text)),
            Condition::Version(versions) => versions.iter().any(|version| version == self.subject.version),
            Condition::Wanted(versions) => {
                let wanted = self.subject.wanted;
                wanted.is_some_and(|wanted| versions.iter().any(|version| version == wanted))
            }
            Condition::Any(conditions) => conditions.iter().any(|condition| self.holds(condition)),
            Condition::Not(condition) => !self.holds(condition),
        }
    }

    /// Lists the places of a field that are written.
    fn found(&self, steps: &[Step]) -> Vec<Vec<At>> {
        // Most rules are about fields that are not there.
        if !self.out.draft.has(steps) {
            return Vec::new();
        }
        let mut out: Vec<Vec<At>> = vec![Vec::new()];
        for step in steps {
            out = out.into_iter().flat_map(|place| self.below(place, step)).collect();
        }
        out
    }

    fn below(&self, place: Vec<At>, step: &Step) -> Vec<Vec<At>> {
        let longer = |last: At| [place.clone(), vec![last]].concat();
        match step {
            Step::Key(key) => {
                let next = longer(At::Key(key.clone()));
                if self.out.draft.at(&next).is_some() {
                    vec![next]
                } else {
                    Vec::new()
                }
            }
            Step::Each => {
                let length = self.out.draft.at(&place).map_or(0, |list| list.length());
                (0..length).map(|index| longer(At::Index(index))).collect()
            }
        }
    }

    /// Lists pairs of places: of two fields under the same items, the first of which is written.
    fn pairs(&self, from: &Field, to: &Field) -> Vec<(Vec<At>, Vec<At>)> {
        if !self.out.draft.has(from.steps()) {
            return Vec::new();
        }
        let (head, tail) = from.split_each();
        let (_, other) = to.split_each();
        let heads = self.found(head);
        let pairs = heads.into_iter().map(|head| {
            let full = |rest| [head.clone(), places(rest)].concat();
            (full(tail), full(other))
        });
        pairs.filter(|(from, _)| self.out.draft.at(from).is_some()).collect()
    }

    fn change(&mut self, field: &str, before: String, after: String, what: &str) {
        let message = if self.message.is_empty() {
            what.to_owned()
        } else {
            format!("{what}: {}", self.message)
        };
        self.out.changes.push(Change {
            rule: self.rule.to_owned(),
            field: field.to_owned(),
            before,
            after,
            message,
        });
    }

    fn review(&mut self, weight: Weight, field: &str, node: Option<NodeRef<'a>>, message: &str) {
        let span = node.unwrap_or(self.subject.object).span();
        self.out.reviews.push(Review {
            rule: self.rule.to_owned(),
            weight,
            field: field.to_owned(),
            span,
            message: message.to_owned(),
        });
    }

    fn hinder(&mut self, place: &[At], hindrance: Hindrance<'a>) {
        let field = text_of(place);
        let message = format!("`{field}` cannot be converted: it {}", hindrance.reason);
        self.review(Weight::Stop, &field, hindrance.node, &message);
    }

    fn set_version(&mut self) {
        let Subject {
            group,
            version,
            wanted: Some(wanted),
            ..
        } = *self.subject
        else {
            return;
        };
        let node = self.subject.object.get("apiVersion");
        match compare_versions(version, wanted) {
            Some(Ordering::Less) => self.raise(group, wanted),
            Some(Ordering::Equal) => {}
            Some(Ordering::Greater) => {
                let message = format!("written in `{version}`, which is newer than `{wanted}`; left as it is");
                self.review(Weight::Report, "apiVersion", node, &message);
            }
            None if version == wanted => {}
            None => {
                let message =
                    format!("`{version}` is no API version that can be compared with `{wanted}`; set it by hand");
                self.review(Weight::Review, "apiVersion", node, &message);
            }
        }
    }
}

/// Gives a value on one line for people.
fn shown(draft: &Draft<'_>) -> String {
    let text = written(draft);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() > 80 {
        words.chars().take(79).chain(['…']).collect()
    } else {
        words
    }
}

fn written(draft: &Draft<'_>) -> String {
    match draft {
        Draft::Kept(node) => node.text().unwrap_or_else(|| node.source()).to_owned(),
        Draft::Scalar(scalar) => scalar.text.clone(),
        Draft::Sequence(sequence) => {
            let items: Vec<String> = sequence.items.iter().map(|item| written(&item.value)).collect();
            format!("[{}]", items.join(", "))
        }
        Draft::Mapping(mapping) => {
            let entry = |entry: &super::draft::Entry<'_>| format!("{}: {}", entry.key, written(&entry.value));
            let entries: Vec<String> = mapping.entries.iter().map(entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
