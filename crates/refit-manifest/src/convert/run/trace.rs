//! Follows one value through rules.
//!
//! In: an object that holds nothing but the value, rules. Out: what they do with it, up to the first thing that is not a
//! plain move.

use super::super::draft::Draft;
use super::super::field::{At, Field, Step, text_of};
use super::super::rule::{Condition, Operation, Rule, Weight};
use super::{Outcome, Runner, Subject};
use crate::parse::NodeRef;

/// What happened to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Met {
    /// Nothing.
    Nothing,
    /// It stands at another place.
    Move,
    /// It is gone.
    Remove,
    /// A person is asked to look at it.
    Review,
    /// Anything else.
    Else,
}

/// What rules did with a value.
pub(in super::super) struct Traced {
    pub(in super::super) met: Met,
    /// Where it stands now.
    pub(in super::super) place: Vec<At>,
    /// Whether the mapping or list that holds it was there before.
    pub(in super::super) is_held: bool,
    /// The rule that decided, and what it says.
    pub(in super::super) rule: String,
    pub(in super::super) message: String,
}

/// How sure it is that a condition holds for an object of which one value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Holds {
    No,
    Maybe,
    Yes,
}

/// A value that is followed.
pub(in super::super) struct Followed<'a> {
    pub(in super::super) node: NodeRef<'a>,
    pub(in super::super) place: Vec<At>,
    /// Whether it is the real one, so that what rules say of its text counts.
    pub(in super::super) is_real: bool,
}

/// Follows a value; the version of the object fits all rules where it is empty.
pub(in super::super) fn trace<'a>(subject: &Subject<'a, '_>, rules: &[&Rule], followed: Followed<'a>) -> Traced {
    let Followed { node, place, is_real } = followed;
    let counts = |operation: &&Operation| is_real || !matches!(operation, Operation::Review { .. });
    let mut traced = Traced {
        met: Met::Nothing,
        place,
        is_held: true,
        rule: String::new(),
        message: String::new(),
    };
    let mut runner = Runner {
        subject,
        rule: "",
        message: "",
        out: Outcome {
            draft: Draft::Kept(subject.object),
            changes: Vec::new(),
            reviews: Vec::new(),
            comments: Vec::new(),
        },
    };
    for rule in rules {
        let holds = rule.conditions.iter().map(|condition| runner.holds_for_part(condition));
        let holds = holds.min().unwrap_or(Holds::Yes);
        runner.rule = &rule.id;
        runner.message = &rule.message;
        for operation in rule.operations.iter().filter(|_| holds != Holds::No).filter(counts) {
            let Some((met, message)) = runner.follow(operation, node, &mut traced.place) else {
                continue;
            };
            if met == Met::Review && holds != Holds::Yes {
                continue;
            }
            traced.met = if holds == Holds::Yes { met } else { Met::Else };
            traced.rule = rule.id.clone();
            traced.message = message;
            if traced.met != Met::Move {
                return traced;
            }
        }
    }
    let above = &traced.place[..traced.place.len().saturating_sub(1)];
    traced.is_held = runner.out.draft.at(above).is_some_and(|above| above.origin().is_some());
    traced
}

impl<'a> Runner<'a, '_> {
    fn holds_for_part(&self, condition: &Condition) -> Holds {
        let certain = |holds: bool| if holds { Holds::Yes } else { Holds::No };
        let is_written = |field: &Field| !self.found(field.steps()).is_empty();
        match condition {
            Condition::Version(_) if self.subject.version.is_empty() => Holds::Yes,
            Condition::Version(_) | Condition::Wanted(_) => certain(self.holds(condition)),
            Condition::Present(field) => certain(is_written(field)).max(Holds::Maybe),
            Condition::Absent(field) => certain(!is_written(field)).min(Holds::Maybe),
            Condition::Equal(field, _) | Condition::Matching(field, _) if is_written(field) => {
                certain(self.holds(condition))
            }
            Condition::Equal(..) | Condition::Matching(..) => Holds::Maybe,
            Condition::Any(any) => {
                let any = any.iter().map(|condition| self.holds_for_part(condition));
                any.max().unwrap_or(Holds::No)
            }
            Condition::Not(condition) => match self.holds_for_part(condition) {
                Holds::Yes => Holds::No,
                Holds::Maybe => Holds::Maybe,
                Holds::No => Holds::Yes,
            },
        }
    }

    /// Runs one operation, and tells what it does with the value at a place.
    fn follow(&mut self, operation: &Operation, node: NodeRef<'a>, place: &mut Vec<At>) -> Option<(Met, String)> {
        let (changes, reviews) = (self.out.changes.len(), self.out.reviews.len());
        match operation {
            Operation::SetVersion | Operation::Default { .. } | Operation::Require { .. } => return None,
            Operation::Review { field: None, .. } => return None,
            Operation::Insert { from, .. } if self.found(from.steps()).is_empty() => return None,
            Operation::Set { field, .. } if !self.has_parent(field) => return None,
            Operation::Move { from, to } if leaves(from, to, place) => {
                return Some((Met::Else, self.says(operation)));
            }
            operation => self.operation(operation),
        }
        if let Operation::Review { .. } = operation {
            let about = self.out.reviews[reviews..].iter();
            let mut about = about.filter(|review| review.weight != Weight::Report);
            let here = text_of(place);
            let review = about.find(|review| {
                is_within(&review.field, &here) || (review.weight == Weight::Stop && is_within(&here, &review.field))
            })?;
            return Some((Met::Review, review.message.clone()));
        }
        let is_hindered = self.out.reviews.len() > reviews;
        let is_copied = matches!(operation, Operation::Copy { .. }) && self.out.changes.len() > changes;
        let found = find(&self.out.draft, node);
        let met = match (found, operation) {
            _ if is_hindered || is_copied => Met::Else,
            (Some((now, State::Whole)), _) if now == *place => return None,
            (Some((now, State::Whole)), Operation::Move { .. }) => {
                *place = now;
                Met::Move
            }
            (None, Operation::Remove(_)) => Met::Remove,
            _ => Met::Else,
        };
        Some((met, self.says(operation)))
    }

    /// Tells whether the mapping is written that holds a field.
    fn has_parent(&self, field: &Field) -> bool {
        let above = field.steps().split_last().map_or(&[][..], |(_, above)| above);
        !self.found(above).is_empty()
    }

    fn says(&self, operation: &Operation) -> String {
        match self.message {
            "" => format!("a rule {operation}"),
            why => format!("a rule {operation}: {why}"),
        }
    }
}

/// Tells whether a move takes a field out of a mapping that may be empty and gone then, and a place lies in that mapping.
fn leaves(from: &Field, to: &Field, place: &[At]) -> bool {
    let (from, to) = (from.steps(), to.steps());
    let shared = from.iter().zip(to).take_while(|(a, b)| a == b).count();
    let fits = |(step, at): (&Step, &At)| match (step, at) {
        (Step::Key(key), At::Key(own)) => key == own,
        (Step::Each, At::Index(_)) => true,
        _ => false,
    };
    let above = (shared + 1).min(from.len());
    let is_in = place.len() >= above && from[..above].iter().zip(place).all(fits);
    let is_field = place.len() >= from.len() && from.iter().zip(place).all(fits);
    is_in && above < from.len() && !is_field
}

/// Tells whether a field lies inside another, or is the same; by their names.
fn is_within(field: &str, around: &str) -> bool {
    let rest = field.strip_prefix(around);
    !around.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// How a value is found again.
enum State {
    /// As it was.
    Whole,
    /// With other content.
    Edited,
}

/// Finds a value in a draft.
fn find(draft: &Draft<'_>, node: NodeRef<'_>) -> Option<(Vec<At>, State)> {
    let below = |step: At, value: &Draft<'_>| {
        let (mut place, state) = find(value, node)?;
        place.insert(0, step);
        Some((place, state))
    };
    match draft {
        Draft::Kept(kept) if *kept == node => Some((Vec::new(), State::Whole)),
        Draft::Kept(kept) => {
            let key = |key: NodeRef<'_>| At::Key(key.text().unwrap_or_default().to_owned());
            let mut entries = kept.entries().map(|(name, value)| (key(name), value));
            let items = kept.items().enumerate().map(|(index, item)| (At::Index(index), item));
            let in_entries = entries.find_map(|(step, value)| below(step, &Draft::Kept(value)));
            let mut items = items.map(|(step, item)| (step, Draft::Kept(item)));
            in_entries.or_else(|| items.find_map(|(step, item)| below(step, &item)))
        }
        edited if edited.origin() == Some(node) => Some((Vec::new(), State::Edited)),
        Draft::Mapping(mapping) => {
            let mut entries = mapping.entries.iter();
            entries.find_map(|entry| below(At::Key(entry.key.clone()), &entry.value))
        }
        Draft::Sequence(sequence) => {
            let mut items = sequence.items.iter().enumerate();
            items.find_map(|(index, item)| below(At::Index(index), &item.value))
        }
        Draft::Scalar(_) => None,
    }
}
