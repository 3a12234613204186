//! Rules as data.

use std::fmt;

use super::field::Field;
use super::pattern::Pattern;

/// What is done with objects of some kinds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name that findings and texts refer to.
    pub id: String,
    /// The API group.
    pub group: String,
    /// The kinds.
    pub kinds: Vec<String>,
    /// What must hold, all of it; read from the object as the rules before left it.
    pub conditions: Vec<Condition>,
    /// What is done, in this order.
    pub operations: Vec<Operation>,
    /// Why, for people.
    pub message: String,
}

impl Rule {
    /// Tells whether the rule is about a kind of a group.
    pub fn is_about(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kinds.iter().any(|known| known == kind)
    }
}

/// What must hold for a rule to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The field is written, null or not; with `[]` in any item.
    Present(Field),
    /// The field is not written.
    Absent(Field),
    /// The field is a scalar with one of these texts.
    Equal(Field, Vec<String>),
    /// The field is a scalar and its text has a match.
    Matching(Field, Pattern),
    /// The object is written in one of these API versions.
    Version(Vec<String>),
    /// One of these API versions is wanted.
    Wanted(Vec<String>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
}

/// One thing that a rule does. Operations on fields that are not written do nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Sets the API version to the wanted one, where that is newer.
    SetVersion,
    /// Takes a field out, with the comments that belong to it.
    Remove(Field),
    /// Moves or renames a field; the mappings above the new one are made, those left empty go.
    Move {
        /// Where it stands.
        from: Field,
        /// Where it goes; nothing may stand there but an equal value.
        to: Field,
    },
    /// Writes the value of a field at a second place, too.
    Copy {
        /// Where it stands.
        from: Field,
        /// Where it goes; an other value there is for people.
        to: Field,
    },
    /// Takes a field out when another has the same value.
    Contract {
        /// What goes.
        old: Field,
        /// What has the value now.
        new: Field,
    },
    /// Puts a value, or all items of a list, into a list and takes the field out.
    Insert {
        /// The value or list.
        from: Field,
        /// The list; made where it is missing.
        to: Field,
        /// At which end.
        place: Place,
    },
    /// Makes each item of a list that is an object a mapping with the object's text under a key.
    WrapItems {
        /// The list.
        list: Field,
        /// The key.
        key: String,
    },
    /// Makes a list or mapping a text.
    Wrap(Field),
    /// Sets a field to a scalar, written as in YAML.
    Set {
        /// The field.
        field: Field,
        /// The scalar.
        value: String,
        /// Where in its mapping a new one goes.
        place: Place,
    },
    /// Deals with a field that is missing although its default changed.
    Default {
        /// The field.
        field: Field,
        /// The old default, as in YAML.
        value: String,
        /// What to do.
        mode: Defaults,
    },
    /// Rewrites known shapes of templates in a text; others are for people.
    Rewrite {
        /// The text.
        field: Field,
        /// Which shapes.
        shapes: Shapes,
    },
    /// Stops where a field is missing or null.
    Require {
        /// The field.
        field: Field,
        /// What to do about it.
        reason: String,
    },
    /// Marks a field, or the object, for people.
    Review {
        /// The field.
        field: Option<Field>,
        /// Which texts of the field; `None` for all values.
        text: Option<Texts>,
        /// How much it weighs.
        weight: Weight,
        /// What to look at.
        message: String,
    },
}

impl fmt::Display for Operation {
    /// Writes the operation as a sentence of a reference page.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetVersion => formatter.write_str("sets `apiVersion`"),
            Self::Remove(field) => write!(formatter, "removes `{field}`"),
            Self::Move { from, to } => write!(formatter, "moves `{from}` to `{to}`"),
            Self::Copy { from, to } => write!(formatter, "writes `{from}` to `{to}`, too"),
            Self::Contract { old, new } => write!(formatter, "removes `{old}` where `{new}` has its value"),
            Self::Insert { from, to, place } => {
                let end = if *place == Place::First {
                    "in front of"
                } else {
                    "behind"
                };
                write!(formatter, "puts `{from}` {end} `{to}`")
            }
            Self::WrapItems { list, key } => write!(formatter, "makes items of `{list}` texts under `{key}`"),
            Self::Wrap(field) => write!(formatter, "makes `{field}` a text"),
            Self::Set { field, value, .. } => write!(formatter, "sets `{field}` to `{value}`"),
            Self::Default { field, value, mode } => match mode {
                Defaults::Report => write!(
                    formatter,
                    "tells where `{field}` is missing, whose default was `{value}`"
                ),
                Defaults::Write => write!(formatter, "writes the old default `{value}` of `{field}`"),
            },
            Self::Rewrite { field, .. } => write!(formatter, "rewrites the template in `{field}`"),
            Self::Require { field, .. } => write!(formatter, "stops without `{field}`"),
            Self::Review { field, weight, .. } => {
                let verb = match weight {
                    Weight::Report => "tells of",
                    Weight::Review => "asks for a look at",
                    Weight::Stop => "stops at",
                };
                match field {
                    Some(field) => write!(formatter, "{verb} `{field}`"),
                    None => write!(formatter, "{verb} the object"),
                }
            }
        }
    }
}

/// Which texts are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Texts {
    /// Those with a match.
    Matching(Pattern),
    /// Those without a match.
    NotMatching(Pattern),
    /// Those of more characters.
    LongerThan(usize),
}

impl Texts {
    /// Tells whether a text is meant.
    pub fn have(&self, text: &str) -> bool {
        match self {
            Self::Matching(pattern) => pattern.is_in(text),
            Self::NotMatching(pattern) => !pattern.is_in(text),
            Self::LongerThan(limit) => text.chars().count() > *limit,
        }
    }
}

/// An end of a list or mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In front.
    First,
    /// Behind.
    Last,
}

/// What is done about a default that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Defaults {
    /// It is told.
    Report,
    /// The old default is written.
    Write,
}

/// Known shapes of templates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shapes {
    /// `.Updated` of the messages of Flux's image automation becomes `.Changed`.
    FluxUpdated,
}

/// What a review means for the conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// It is worth knowing.
    Report,
    /// A person must look; the object is converted, or needs no edit.
    Review,
    /// The object cannot be converted and stays as it is.
    Stop,
}
