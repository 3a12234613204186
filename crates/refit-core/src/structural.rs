//! Whether an object is one that a definition accepts: its structural schema, as the API server reads it.
//!
//! In: a CustomResourceDefinition, one of its versions, an object. Out: every [`Violation`], unknown fields among them, and
//! the rules in CEL that are not evaluated here. Knows no cluster; what only admission decides is not seen.
//!
//! As the API server does (Kubernetes, "Extend the Kubernetes API with CustomResourceDefinitions"): defaults count as
//! written, `null` counts as absent where a field is not nullable, `apiVersion`, `kind` and `metadata` are always there. A
//! text with a variable `${...}` is taken for anything, since Flux replaces it before the API server sees it.

mod meta;
mod shape;
mod values;

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;
use serde_json::Value;

/// The schema of one version of a definition.
#[derive(Clone, Debug)]
pub struct Schema {
    root: Value,
    patterns: BTreeMap<String, Regex>,
}

/// Why a definition has no schema to check with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// It does not have the version.
    #[error("the definition has no version `{version}`; hint: it has {found}")]
    NoVersion {
        /// The version.
        version: String,
        /// Those that it has.
        found: String,
    },
    /// The version has no schema.
    #[error(
        "version `{version}` of the definition has no schema; hint: take the definition as its project publishes it"
    )]
    NoSchema {
        /// The version.
        version: String,
    },
}

/// One way in which an object breaks its schema.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    /// The field, as in `spec.chart.spec.values[0].name`.
    pub field: String,
    /// What is broken.
    pub kind: Kind,
    /// What is wrong, with the values.
    pub message: String,
}

/// What of a schema an object breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The schema has no such field.
    UnknownField,
    /// The value is of another type.
    Type,
    /// A field is not there that must be.
    Required,
    /// The value is none of those that are allowed.
    Enum,
    /// The text does not match the pattern.
    Pattern,
    /// The text is not of the format.
    Format,
    /// A number, a length or a count is out of its bounds.
    Bound,
    /// `oneOf`, `anyOf`, `allOf` or `not` does not hold.
    Combination,
    /// A list has the same item, or two items with the same keys.
    Duplicate,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` {}", self.field, self.message)
    }
}

/// A rule in CEL, or a pattern in a syntax that is not known here, that was not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NotEvaluated {
    /// The field that it is about.
    pub field: String,
    /// The rule.
    pub rule: String,
}

/// What was found about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// What it breaks, in the order of its fields.
    pub violations: Vec<Violation>,
    /// The rules about fields that it has.
    pub not_evaluated: Vec<NotEvaluated>,
}

impl Schema {
    /// Reads the schema of a version of a definition.
    pub fn read(definition: &Value, version: &str) -> Result<Self, Error> {
        let versions = || {
            let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
            versions.into_iter().flatten()
        };
        let name = |of: &Value| of.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        let found = versions()
            .find(|of| name(of) == version)
            .ok_or_else(|| Error::NoVersion {
                version: version.to_owned(),
                found: versions()
                    .map(|of| format!("`{}`", name(of)))
                    .collect::<Vec<_>>()
                    .join(", "),
            })?;
        let of_version = found.pointer("/schema/openAPIV3Schema");
        // Before `apiextensions.k8s.io/v1`, all versions could share one schema.
        let shared = definition.pointer("/spec/validation/openAPIV3Schema");
        let root = of_version.or(shared).ok_or_else(|| Error::NoSchema {
            version: version.to_owned(),
        })?;
        let mut patterns = BTreeMap::new();
        gather_patterns(root, &mut patterns);
        Ok(Self {
            root: root.clone(),
            patterns,
        })
    }

    /// Checks an object of that version.
    pub fn check(&self, object: &Value) -> Checked {
        let mut checked = Checked::default();
        meta::check(object, "", &mut checked.violations);
        shape::check(&self.root, object, &mut checked.violations);
        values::check(self, object, &mut checked);
        checked.violations.sort();
        checked.violations.dedup();
        checked.not_evaluated.sort();
        checked.not_evaluated.dedup();
        checked
    }
}

/// Reads the patterns of a schema and of all below it; what is no regular expression here is left out.
fn gather_patterns(schema: &Value, patterns: &mut BTreeMap<String, Regex>) {
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str)
        && let Ok(regex) = Regex::new(pattern)
    {
        patterns.insert(pattern.to_owned(), regex);
    }
    let fields = ["properties", "patternProperties", "definitions", "dependencies"];
    let fields = fields.iter().filter_map(|key| schema.get(key)?.as_object());
    let lists = ["allOf", "anyOf", "oneOf", "items"];
    let lists = lists.iter().filter_map(|key| schema.get(key)?.as_array());
    let ones = ["items", "additionalProperties", "additionalItems", "not"];
    let ones = ones.iter().filter_map(|key| schema.get(key));
    let below = fields
        .flat_map(serde_json::Map::values)
        .chain(lists.flatten())
        .chain(ones);
    below.for_each(|schema| gather_patterns(schema, patterns));
}

/// Gives the flag of a schema.
fn flag(schema: &Value, name: &str) -> bool {
    schema.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// Tells whether a text holds a variable that Flux replaces.
fn is_variable(text: &str) -> bool {
    text.find("${").is_some_and(|at| text[at..].contains('}'))
}

/// Tells whether a value may become anything.
fn is_open(value: &Value) -> bool {
    value.as_str().is_some_and(is_variable)
}

fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// Names the type of a value.
fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_f64() => "a number",
        Value::Number(_) => "an integer",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
