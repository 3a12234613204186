//! What rules make of a field that a pointer names in an object which stands elsewhere.
//!
//! In: a kind, the way to a field, what is done there, rules. Out: the [`Fate`] of the field. The rules run on an object
//! that holds nothing but this field: where it ends up is where the rules take it, whatever their operations are. Of the
//! rest of the object nothing is known, so a rule that asks for more makes the answer unsure.

use super::field::At;
use super::rule::Rule;
use super::run::{self, Followed, Met, Subject, Traced};
use crate::parse::{self, NodeRef};
use crate::render::{self, Notation};
use crate::scalar::{self, Style};

/// A field that is named from elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Pointed<'a> {
    /// The API group of the object.
    pub group: &'a str,
    /// Its kind.
    pub kind: &'a str,
    /// The version that it is written in, without the group; `None` where that is not known.
    pub version: Option<&'a str>,
    /// The version that it is converted to; `None` where its version stays.
    pub wanted: Option<&'a str>,
    /// The keys and places in lists that lead to the field: a number, `-`, `*` or a condition in brackets is a place.
    pub path: &'a [String],
    /// What is done there.
    pub aim: Aim<'a>,
}

/// What is done with a field.
#[derive(Clone, Copy, Debug)]
pub enum Aim<'a> {
    /// This value is put there, or compared with what is there.
    Put(NodeRef<'a>),
    /// What is there is taken away.
    Take,
    /// What is there is read, or overwritten with a value that is not known.
    Use,
}

/// What becomes of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays as it is.
    Stays,
    /// It stands at another place, with the same value.
    Moves {
        /// The new keys and places.
        path: Vec<String>,
        /// Whether what holds it there is in every object that has what held it before.
        is_held: bool,
        /// By which rule, and why.
        reason: Reason,
    },
    /// It is taken out of every object.
    Goes(Reason),
    /// Something else, or it depends on what is not known.
    Unsure(Reason),
}

/// The rule that decides, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The rule's id.
    pub rule: String,
    /// What it does and why.
    pub message: String,
}

/// Tells what rules make of a field.
pub fn fate(pointed: &Pointed<'_>, rules: &[&Rule]) -> Fate {
    let about: Vec<&Rule> = rules
        .iter()
        .copied()
        .filter(|rule| rule.is_about(pointed.group, pointed.kind))
        .collect();
    if about.is_empty() || pointed.path.is_empty() {
        return Fate::Stays;
    }
    let of_text = probed(pointed, &about, "\"x\"");
    match (pointed.aim, of_text) {
        (Aim::Put(value), _) => probed(pointed, &about, &render::flow(value, Notation::Json)),
        (Aim::Take, fate) => fate,
        // What is read there may be a list, which rules can make a text.
        (Aim::Use, Fate::Stays) => probed(pointed, &about, "[\"x\"]"),
        (Aim::Use, fate) => fate,
    }
}

/// Runs the rules on an object that holds the field alone, with this value.
fn probed(pointed: &Pointed<'_>, rules: &[&Rule], value: &str) -> Fate {
    let text = object_with(pointed, value);
    let Ok(parsed) = parse::parse(text.as_bytes(), 0..text.len()) else {
        return Fate::Stays;
    };
    let place: Vec<At> = pointed.path.iter().map(|part| step(part)).collect();
    let Some(object) = parsed.root() else {
        return Fate::Stays;
    };
    let Some(node) = place.iter().try_fold(object, |node, step| match step {
        At::Key(key) => node.get(key),
        At::Index(index) => node.items().nth(*index),
    }) else {
        return Fate::Stays;
    };
    let subject = Subject {
        object,
        group: pointed.group,
        version: pointed.version.unwrap_or_default(),
        wanted: pointed.wanted,
        extent: run::Extent::Part,
    };
    let is_real = matches!(pointed.aim, Aim::Put(_));
    told(pointed, run::trace(&subject, rules, Followed { node, place, is_real }))
}

fn told(pointed: &Pointed<'_>, traced: Traced) -> Fate {
    let Traced {
        met,
        place,
        is_held,
        message,
        rule,
    } = traced;
    let reason = Reason { rule, message };
    match met {
        Met::Nothing => Fate::Stays,
        Met::Review | Met::Else => Fate::Unsure(reason),
        Met::Remove => Fate::Goes(reason),
        Met::Move => match renamed(pointed.path, &place) {
            Some(path) => Fate::Moves { path, is_held, reason },
            None => Fate::Unsure(reason),
        },
    }
}

/// Tells whether a part of a way is a place in a list.
fn is_place(part: &str) -> bool {
    let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    is_number || matches!(part, "-" | "*") || part.starts_with('[')
}

fn step(part: &str) -> At {
    match is_place(part) {
        true => At::Index(0),
        false => At::Key(part.to_owned()),
    }
}

/// Writes an object that holds one field.
fn object_with(pointed: &Pointed<'_>, value: &str) -> String {
    let quoted = |text: &str| scalar::write(text, Style::Double);
    let (mut open, mut close) = (String::new(), String::new());
    for (depth, part) in pointed.path.iter().enumerate() {
        match is_place(part) {
            true => {
                open.push('[');
                close.insert(0, ']');
            }
            false if depth == 0 => open.push_str(&format!("{}: ", quoted(part))),
            false => {
                open.push_str(&format!("{{{}: ", quoted(part)));
                close.insert(0, '}');
            }
        }
    }
    let version = pointed.version.or(pointed.wanted).unwrap_or("v1");
    let api_version = quoted(&format!("{}/{version}", pointed.group));
    let kind = quoted(pointed.kind);
    format!("{{\"apiVersion\": {api_version}, \"kind\": {kind}, {open}{value}{close}}}")
}

/// Writes a new place with the places in lists as they were named; `None` where there are others.
fn renamed(path: &[String], place: &[At]) -> Option<Vec<String>> {
    let mut named = path.iter().filter(|part| is_place(part));
    let parts = place.iter().map(|step| match step {
        At::Key(key) => Some(key.clone()),
        At::Index(_) => named.next().cloned(),
    });
    let parts: Option<Vec<String>> = parts.collect();
    parts.filter(|_| named.next().is_none())
}
