//! Regular expressions of conditions.

use regex::Regex;

/// A regular expression that a field's text is compared with.
#[derive(Clone, Debug)]
pub struct Pattern(Regex);

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("`{text}` is no regular expression")]
pub struct InvalidPattern {
    /// The text.
    pub text: String,
    /// What is wrong.
    #[source]
    pub source: regex::Error,
}

impl Pattern {
    /// Reads a regular expression.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        Regex::new(text).map(Self).map_err(|source| InvalidPattern {
            text: text.to_owned(),
            source,
        })
    }

    /// Tells whether it matches anywhere in a text.
    pub fn is_in(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}
