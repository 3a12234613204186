//! Converts one object by rules: other API versions, other fields, the same file.
//!
//! In: the node of an object (a document, an item of a list, the content of a patch), the wanted API version and
//! [`Rule`]s. Out: minimal splices in the file that the node stands in, what they change, and what a person must look
//! at. Knows neither releases nor platforms: when a rule may run is decided by the caller.
//!
//! A conversion is a draft of the object first (`draft`), then splices (`write`); the file is read again
//! with the splices and compared with the draft. A second conversion finds nothing to do.

mod field;
mod rule;
mod version;
mod pattern;
mod draft;
mod wrap;
mod template;
mod run;
mod pointed;
mod emit;
mod write;
mod verify;

use std::ops::Range;

use crate::edit::Splice;
use crate::elements;
use crate::parse::{Kind, NodeRef};

pub use field::{Field, InvalidField};
pub use pattern::{InvalidPattern, Pattern};
pub use pointed::{Aim, Fate, Pointed, Reason, fate};
pub use rule::{Condition, Defaults, Operation, Place, Rule, Shapes, Texts, Weight};
pub use version::compare_versions;

/// What a conversion does to an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Converted {
    /// The edits, by offsets of the file that the node stands in, with the line ends of that file.
    pub splices: Vec<Splice>,
    /// What the edits change, in the order of the rules; empty without edits.
    pub changes: Vec<Change>,
    /// What a person must know or look at.
    pub reviews: Vec<Review>,
}

impl Converted {
    /// Tells whether the object stays as it is.
    pub fn is_untouched(&self) -> bool {
        self.splices.is_empty()
    }

    /// Tells whether a rule stopped the conversion.
    pub fn is_stopped(&self) -> bool {
        self.reviews.iter().any(|review| review.weight == Weight::Stop)
    }
}

/// One change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The rule's id.
    pub rule: String,
    /// The field, with the index of each list item; of one that moves, where it stood.
    pub field: String,
    /// What stood there; empty where nothing did.
    pub before: String,
    /// What stands there now, or where it moved to; empty where nothing does.
    pub after: String,
    /// What happened and why.
    pub message: String,
}

/// Something that a person must know or look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The rule's id.
    pub rule: String,
    /// What it means for the conversion.
    pub weight: Weight,
    /// The field, with the index of each list item; empty for the object.
    pub field: String,
    /// Where it stands in the file.
    pub span: Range<usize>,
    /// What is to be looked at, and what to do.
    pub message: String,
}

/// Converts an object; `wanted` is an API version without its group, `None` leaves the API version alone.
///
/// Rules of other groups and kinds are passed over. Where one rule gives a review of the weight [`Weight::Stop`], the
/// object stays as it is. A version newer than the wanted one stays, with a report.
pub fn convert(object: NodeRef<'_>, wanted: Option<&str>, rules: &[&Rule]) -> Converted {
    convert_extent(object, wanted, rules, run::Extent::Whole)
}

/// Converts a part of an object, such as the content of a patch: what is not written there may be written elsewhere.
///
/// So nothing is required, no default is written, and rules that ask for the absence of something do not run.
pub fn convert_part(object: NodeRef<'_>, wanted: Option<&str>, rules: &[&Rule]) -> Converted {
    convert_extent(object, wanted, rules, run::Extent::Part)
}

fn convert_extent(object: NodeRef<'_>, wanted: Option<&str>, rules: &[&Rule], extent: run::Extent) -> Converted {
    let (group, version, kind) = head(object);
    let about: Vec<&Rule> = rules
        .iter()
        .copied()
        .filter(|rule| rule.is_about(group, kind))
        .collect();
    if about.is_empty() || !matches!(object.kind(), Kind::Mapping(_)) {
        return Converted::default();
    }
    let subject = run::Subject {
        object,
        group,
        version,
        wanted,
        extent,
    };
    let mut outcome = run::run(&subject, &about);
    if outcome.is_stopped() || outcome.changes.is_empty() {
        return outcome.untouched();
    }
    let last = about[about.len() - 1];
    match write::splices(object, &outcome.draft).and_then(|splices| {
        if !is_plainly_sure(&subject, &outcome, &splices, &about) {
            verify::check(object, &outcome, &splices, &|made| {
                let (_, version, _) = head(made);
                let subject = run::Subject {
                    object: made,
                    version,
                    ..subject
                };
                is_settled(&subject, &about)
            })?;
        }
        Ok(splices)
    }) {
        // What one rule sets and another sets back changes nothing.
        Ok(splices) if splices.is_empty() => outcome.untouched(),
        Ok(splices) => Converted {
            splices,
            changes: outcome.changes,
            reviews: outcome.reviews,
        },
        Err(reason) => {
            let rule = outcome
                .changes
                .first()
                .map_or(last.id.clone(), |change| change.rule.clone());
            outcome.reviews.push(Review {
                rule,
                weight: Weight::Stop,
                field: String::new(),
                span: object.span(),
                message: format!("could not be converted safely: {reason}; convert it by hand"),
            });
            outcome.untouched()
        }
    }
}

/// Gives the splices that take items out of a list with their comments; `None` where none would stay, or it cannot be done
/// without touching others.
pub fn without(list: NodeRef<'_>, gone: &[usize]) -> Option<Vec<Splice>> {
    let Kind::Sequence(layout) = list.kind() else {
        return None;
    };
    let all = elements::elements(list);
    let gone: Vec<bool> = (0..all.len()).map(|index| gone.contains(&index)).collect();
    let some_stay = gone.contains(&false);
    some_stay.then(|| elements::remove(layout, &all, &gone).ok()).flatten()
}

/// Reads group, version and kind.
fn head(object: NodeRef<'_>) -> (&str, &str, &str) {
    let text = |key: &str| object.get(key).and_then(NodeRef::text).unwrap_or_default();
    let (group, version) = text("apiVersion").rsplit_once('/').unwrap_or(("", text("apiVersion")));
    (group, version, text("kind"))
}

/// Tells whether the check that parses the document again can find nothing: one word is written for another where the API
/// version stands, and rules that go on from there change nothing.
fn is_plainly_sure(
    subject: &run::Subject<'_, '_>,
    outcome: &run::Outcome<'_>,
    splices: &[Splice],
    rules: &[&Rule],
) -> bool {
    let Some(wanted) = subject.wanted.filter(|_| outcome.is_new_version_alone()) else {
        return false;
    };
    verify::is_word_for_word(subject.object, &outcome.draft, splices) && {
        let subject = run::Subject {
            version: wanted,
            ..*subject
        };
        let again = run::run_on(&subject, rules, outcome.draft.clone());
        again.is_stopped() || again.changes.is_empty()
    }
}

/// Tells whether rules leave an object as it is.
fn is_settled(subject: &run::Subject<'_, '_>, rules: &[&Rule]) -> bool {
    let outcome = run::run(subject, rules);
    outcome.is_stopped()
        || outcome.changes.is_empty()
        || write::splices(subject.object, &outcome.draft).is_ok_and(|splices| splices.is_empty())
}
