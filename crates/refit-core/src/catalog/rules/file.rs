//! The shapes of a rule file.

use refit_manifest::convert::{Condition, Defaults, Field, Operation, Pattern, Place, Shapes, Texts, Weight};
use serde::Deserialize;

use crate::release::Version;

/// What stands at the top of a rule file, without the lists.
pub(super) const TOP: [&str; 4] = ["origin", "rules", "not-checked", "enable"];

/// The names of the operations.
pub const OPERATIONS: [&str; 16] = [
    "set-version",
    "remove",
    "move",
    "rename",
    "copy",
    "prepend",
    "append",
    "wrap",
    "wrap-items",
    "set",
    "default",
    "rewrite",
    "require",
    "report",
    "review",
    "stop",
];

/// A rule, without its conditions and operations.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RuleText {
    pub(super) id: String,
    pub(super) group: String,
    pub(super) kinds: Vec<String>,
    pub(super) message: String,
    pub(super) origin: String,
    pub(super) from: Option<Version>,
    pub(super) by: Option<Version>,
    #[serde(default)]
    pub(super) behaviour: bool,
    #[serde(default)]
    pub(super) optional: bool,
    #[serde(default, rename = "when")]
    pub(super) _when: serde::de::IgnoredAny,
    #[serde(default, rename = "do")]
    pub(super) _do: serde::de::IgnoredAny,
    pub(super) forms: Option<FormsText>,
}

/// Two forms of one field: both are written for some releases, then the old one goes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FormsText {
    pub(super) old: String,
    pub(super) new: String,
    pub(super) both_from: Version,
    pub(super) drop_at: Version,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NotCheckedText {
    pub(super) id: String,
    pub(super) by: Version,
    pub(super) message: String,
    pub(super) reason: String,
    pub(super) origin: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ConditionText {
    Present(String),
    Absent(String),
    Equal(EqualText),
    Matching(MatchingText),
    Version(Vec<String>),
    Wanted(Vec<String>),
    Any(Vec<ConditionText>),
    Not(Box<ConditionText>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EqualText {
    field: String,
    value: Option<String>,
    #[serde(default)]
    values: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MatchingText {
    field: String,
    pattern: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum OperationText {
    SetVersion,
    Remove(String),
    Move(PairText),
    Rename(PairText),
    Copy(PairText),
    Prepend(PairText),
    Append(PairText),
    Wrap(String),
    WrapItems(ItemsText),
    Set(SetText),
    Default(DefaultText),
    Rewrite(RewriteText),
    Require(RequireText),
    Report(MarkText),
    Review(MarkText),
    Stop(MarkText),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PairText {
    from: String,
    to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ItemsText {
    list: String,
    key: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SetText {
    field: String,
    value: Scalar,
    #[serde(default)]
    first: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DefaultText {
    field: String,
    value: Scalar,
    #[serde(default)]
    write: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RewriteText {
    field: String,
    shapes: ShapesText,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ShapesText {
    FluxUpdated,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RequireText {
    field: String,
    reason: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct MarkText {
    field: Option<String>,
    matching: Option<String>,
    not_matching: Option<String>,
    longer_than: Option<usize>,
    message: String,
}

/// A scalar as it is written into objects.
#[derive(Deserialize)]
#[serde(untagged)]
enum Scalar {
    Flag(bool),
    Number(serde_json::Number),
    Text(String),
}

impl Scalar {
    fn text(self) -> String {
        match self {
            Self::Flag(flag) => flag.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => refit_manifest::scalar::write(&text, refit_manifest::scalar::Style::Plain),
        }
    }
}

fn field(text: &str) -> Result<Field, String> {
    Field::parse(text).map_err(|error| error.to_string())
}

fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::parse(text).map_err(|error| format!("{error}: {}", error.source))
}

impl ConditionText {
    pub(super) fn condition(self) -> Result<Condition, String> {
        let all = |conditions: Vec<Self>| {
            conditions
                .into_iter()
                .map(Self::condition)
                .collect::<Result<Vec<_>, _>>()
        };
        Ok(match self {
            Self::Present(at) => Condition::Present(field(&at)?),
            Self::Absent(at) => Condition::Absent(field(&at)?),
            Self::Equal(EqualText {
                field: at,
                value,
                mut values,
            }) => {
                values.extend(value);
                if values.is_empty() {
                    return Err("`equal` has neither `value` nor `values`".to_owned());
                }
                Condition::Equal(field(&at)?, values)
            }
            Self::Matching(MatchingText {
                field: at,
                pattern: text,
            }) => Condition::Matching(field(&at)?, pattern(&text)?),
            Self::Version(versions) => Condition::Version(versions),
            Self::Wanted(versions) => Condition::Wanted(versions),
            Self::Any(conditions) => Condition::Any(all(conditions)?),
            Self::Not(condition) => Condition::Not(Box::new(condition.condition()?)),
        })
    }
}

impl PairText {
    /// Gives both fields; they must lie below the same lists.
    fn fields(self) -> Result<(Field, Field), String> {
        let (from, to) = (field(&self.from)?, field(&self.to)?);
        if from.lists() != to.lists() {
            return Err(format!("`{from}` and `{to}` do not lie below the same lists"));
        }
        if from.is_within(&to) || to.is_within(&from) {
            return Err(format!("`{from}` would move into itself or over what holds it: `{to}`"));
        }
        Ok((from, to))
    }

    fn renamed(self) -> Result<(Field, Field), String> {
        let (from, to) = self.fields()?;
        if from.parent() == to.parent() {
            Ok((from, to))
        } else {
            Err(format!("`{to}` is not beside `{from}`: use `move`"))
        }
    }

    fn insert(self, place: Place) -> Result<Operation, String> {
        let (from, to) = self.fields()?;
        Ok(Operation::Insert { from, to, place })
    }
}

impl MarkText {
    fn operation(self, weight: Weight) -> Result<Operation, String> {
        let text = match (self.matching, self.not_matching, self.longer_than) {
            (None, None, None) => None,
            (Some(text), None, None) => Some(Texts::Matching(pattern(&text)?)),
            (None, Some(text), None) => Some(Texts::NotMatching(pattern(&text)?)),
            (None, None, Some(limit)) => Some(Texts::LongerThan(limit)),
            _ => return Err("has more than one of `matching`, `not-matching` and `longer-than`".to_owned()),
        };
        if text.is_some() && self.field.is_none() {
            return Err("compares a text without a `field`".to_owned());
        }
        let field = self.field.as_deref().map(field).transpose()?;
        let message = self.message;
        Ok(Operation::Review {
            field,
            text,
            weight,
            message,
        })
    }
}

impl OperationText {
    pub(super) fn operation(self) -> Result<Operation, String> {
        Ok(match self {
            Self::SetVersion => Operation::SetVersion,
            Self::Remove(at) => Operation::Remove(field(&at)?),
            Self::Move(pair) => {
                let (from, to) = pair.fields()?;
                Operation::Move { from, to }
            }
            Self::Rename(pair) => {
                let (from, to) = pair.renamed()?;
                Operation::Move { from, to }
            }
            Self::Copy(pair) => {
                let (from, to) = pair.fields()?;
                Operation::Copy { from, to }
            }
            Self::Prepend(pair) => pair.insert(Place::First)?,
            Self::Append(pair) => pair.insert(Place::Last)?,
            Self::Wrap(at) => Operation::Wrap(field(&at)?),
            Self::WrapItems(ItemsText { list, key }) => {
                let list = field(&list)?;
                Operation::WrapItems { list, key }
            }
            Self::Set(text) => Operation::Set {
                field: field(&text.field)?,
                value: text.value.text(),
                place: if text.first { Place::First } else { Place::Last },
            },
            Self::Default(text) => Operation::Default {
                field: field(&text.field)?,
                value: text.value.text(),
                mode: if text.write { Defaults::Write } else { Defaults::Report },
            },
            Self::Rewrite(RewriteText {
                field: at,
                shapes: ShapesText::FluxUpdated,
            }) => Operation::Rewrite {
                field: field(&at)?,
                shapes: Shapes::FluxUpdated,
            },
            Self::Require(RequireText { field: at, reason }) => {
                let field = field(&at)?;
                Operation::Require { field, reason }
            }
            Self::Report(mark) => mark.operation(Weight::Report)?,
            Self::Review(mark) => mark.operation(Weight::Review)?,
            Self::Stop(mark) => mark.operation(Weight::Stop)?,
        })
    }
}
