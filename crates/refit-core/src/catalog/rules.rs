//! Rules of conversion with the releases that they are for.
//!
//! In: texts of rule files, embedded or a user's. Out: [`ConversionRules`]. What a rule does to an object is in
//! `refit_manifest::convert`; here is when it may, and when it must.

mod cycle;
mod file;
mod read;
mod shape;

use std::fmt;

use refit_manifest::convert::Rule;

use crate::release::Version;

pub use file::OPERATIONS;

/// A rule with its releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionRule {
    /// What it does.
    pub rule: Rule,
    /// When it may, and when it must.
    pub window: Window,
    /// What it is for.
    pub purpose: Purpose,
    /// Whether it runs only where a rule file enables it.
    pub optional: bool,
    /// How it is known.
    pub origin: String,
    /// The file that it stands in.
    pub file: String,
    /// The line of the file where it begins, counted from 1.
    pub line: usize,
}

/// What a rule is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// It converts objects.
    Conversion,
    /// It tells of a behaviour that changes when an upgrade passes [`Window::by`].
    Behaviour,
}

/// The releases of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The release from which it may run; `None` for any.
    pub from: Option<Version>,
    /// The first release that needs it done; `None` when no release does.
    pub by: Option<Version>,
    /// The release from which it does not run any more; `None` for never.
    pub until: Option<Version>,
}

impl Window {
    /// Tells whether the rule may run where this release is installed.
    pub fn is_open(&self, installed: &Version) -> bool {
        self.from.as_ref().is_none_or(|from| from <= installed)
            && self.until.as_ref().is_none_or(|until| installed < until)
    }

    /// Tells whether it must have run before this release comes.
    pub fn is_due(&self, release: &Version) -> bool {
        self.by.as_ref().is_some_and(|by| by <= release)
    }

    /// Tells whether an upgrade passes the release that needs it done.
    pub fn is_passed(&self, installed: &Version, target: &Version) -> bool {
        self.by.as_ref().is_some_and(|by| installed < by && by <= target)
    }
}

/// A change of behaviour that one object does not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotChecked {
    /// The name.
    pub id: String,
    /// The release that changes it.
    pub by: Version,
    /// What changes.
    pub message: String,
    /// Why no object tells it.
    pub reason: String,
    /// How it is known.
    pub origin: String,
}

/// The rules of one or more files, in the order in which they run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversionRules {
    rules: Vec<ConversionRule>,
    not_checked: Vec<NotChecked>,
    enabled: Vec<Enabled>,
}

/// An optional rule that a rule file enables.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Enabled {
    id: String,
    file: String,
    line: usize,
}

/// Why a rule file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The rule; `None` when it is about the file.
    pub rule: Option<String>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub remedy: String,
}

impl Enabled {
    fn error(&self, rules: &[ConversionRule]) -> Error {
        let what = match rules.iter().any(|rule| rule.rule.id == self.id) {
            true => format!("`enable` names `{}`, which is not optional: it runs anyway", self.id),
            false => format!("`enable` names `{}`, and there is no such rule", self.id),
        };
        Error {
            file: self.file.clone(),
            line: self.line,
            rule: None,
            what,
            remedy: "name an optional rule of docs/rules.md or of your own, or take it out".to_owned(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "rule file `{}`, line {}: ", self.file, self.line)?;
        if let Some(rule) = &self.rule {
            write!(formatter, "rule `{rule}`: ")?;
        }
        write!(formatter, "{}; hint: {}", self.what, self.remedy)
    }
}

impl std::error::Error for Error {}

impl ConversionRules {
    /// Reads a rule file; `name` is what messages call it. The error is the first thing that is wrong.
    pub fn read(name: &str, text: &str) -> Result<Self, Error> {
        read::read(name, text).map_err(|wrong| wrong.0)
    }

    /// Reads a rule file as [`Self::read`] does; the errors are all that is wrong, one for each rule at most.
    pub fn read_whole(name: &str, text: &str) -> Result<Self, Vec<Error>> {
        read::read(name, text).map_err(|wrong| std::iter::once(wrong.0).chain(wrong.1).collect())
    }

    /// Adds the rules of another file behind these; a rule of the same name takes the place of the one that is there.
    ///
    /// The error names moves of the two files that undo each other, and rules that are enabled and not there; these rules
    /// are unchanged then.
    pub fn add(&mut self, other: Self) -> Result<(), Error> {
        let mut rules = self.rules.clone();
        for rule in other.rules {
            match rules.iter_mut().find(|known| known.rule.id == rule.rule.id) {
                Some(known) => *known = rule,
                None => rules.push(rule),
            }
        }
        cycle::check(&rules)?;
        let is_known = |enabled: &&Enabled| rules.iter().any(|rule| rule.optional && rule.rule.id == enabled.id);
        if let Some(unknown) = other.enabled.iter().find(|enabled| !is_known(enabled)) {
            return Err(unknown.error(&rules));
        }
        self.rules = rules;
        self.not_checked.extend(other.not_checked);
        self.enabled.extend(other.enabled);
        Ok(())
    }

    /// Lists all rules in their order, also those that nobody enabled.
    pub fn iter(&self) -> impl Iterator<Item = &ConversionRule> {
        self.rules.iter()
    }

    /// Gives a rule by its name.
    pub fn rule(&self, id: &str) -> Option<&ConversionRule> {
        self.rules.iter().find(|rule| rule.rule.id == id)
    }

    /// Lists what changes behaviour and cannot be told from one object.
    pub fn not_checked(&self) -> &[NotChecked] {
        &self.not_checked
    }

    /// Lists the rules that may convert objects where a release is installed.
    pub fn open_at(&self, installed: &Version) -> Vec<&Rule> {
        let open = self.conversions().filter(|rule| rule.window.is_open(installed));
        open.map(|rule| &rule.rule).collect()
    }

    /// Lists the conversions that must be done before a release comes.
    pub fn due_at(&self, release: &Version) -> Vec<&ConversionRule> {
        self.conversions().filter(|rule| rule.window.is_due(release)).collect()
    }

    /// Lists the rules about behaviour that changes between two releases.
    pub fn behaviour(&self, installed: &Version, target: &Version) -> Vec<&ConversionRule> {
        let about = |rule: &&ConversionRule| rule.purpose == Purpose::Behaviour;
        let rules = self.rules.iter().filter(about).filter(|rule| self.is_used(rule));
        rules.filter(|rule| rule.window.is_passed(installed, target)).collect()
    }

    fn conversions(&self) -> impl Iterator<Item = &ConversionRule> {
        let about = |rule: &&ConversionRule| rule.purpose == Purpose::Conversion;
        self.rules.iter().filter(about).filter(|rule| self.is_used(rule))
    }

    fn is_used(&self, rule: &ConversionRule) -> bool {
        !rule.optional || self.enabled.iter().any(|enabled| enabled.id == rule.rule.id)
    }
}
