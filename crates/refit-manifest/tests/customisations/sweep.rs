//! Runs edits over versions, targets and formats, with the checker behind each merge.

use refit_manifest::merge::Settings;
use refit_manifest::schema::ListKeys;
use refit_manifest::{Outcome, Stream};
use refit_testkit::flux::{Manifests, Set, Version, has_image_controllers};
use refit_testkit::merging;
use refit_testkit::reformat::{FOUR_BLANKS, LISTS_INDENTED, carriage_returns, reindent};

use crate::edits::{Edit, Pristine};

/// How the user's file is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    AsGenerated,
    ListsIndented,
    FourBlanks,
    CarriageReturns,
}

/// All ways to write a file.
pub(crate) const FORMATS: [Format; 4] = [
    Format::AsGenerated,
    Format::ListsIndented,
    Format::FourBlanks,
    Format::CarriageReturns,
];

/// Where an upgrade goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    NextMinor,
    Newest,
}

/// One upgrade of an edited file.
pub(crate) struct Upgrade<'u> {
    pub(crate) manifests: &'u Manifests,
    pub(crate) from: &'u Version,
    pub(crate) target: Target,
    pub(crate) edits: Vec<&'u Edit>,
    pub(crate) format: Format,
}

/// What a sweep found.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) merges: usize,
    pub(crate) wrong: Vec<String>,
}

impl Found {
    /// Fails the test when something is wrong or nothing was tried.
    pub(crate) fn expect_none(&self, least: usize) {
        println!("{} merges", self.merges);
        assert!(self.merges >= least, "only {} merges", self.merges);
        let shown: Vec<&str> = self.wrong.iter().take(20).map(String::as_str).collect();
        assert!(
            self.wrong.is_empty(),
            "{} wrong:\n{}",
            self.wrong.len(),
            shown.join("\n")
        );
    }
}

/// Tells whether everything is to be tried, and not the part that is tried by default.
pub(crate) fn everything() -> bool {
    std::env::var_os("REFIT_SWEEP").is_some_and(|value| value == "all")
}

/// Picks every third version.
pub(crate) fn every_third(manifests: &Manifests) -> Vec<&Version> {
    manifests.versions().iter().step_by(3).collect()
}

impl Upgrade<'_> {
    /// Merges and notes what is wrong; does nothing where the edit has no place in the version.
    pub(crate) fn run(&self, found: &mut Found) {
        let Some((base, theirs)) = self.sides() else { return };
        let Some(ours) = self.ours(&base, &theirs) else { return };
        let [base, mine, next] = [&base, &ours, &theirs].map(|text| merging::tree("gotk-components.yaml", text));
        let lists = Stream::split(theirs.as_bytes().into())
            .map(|stream| ListKeys::read(&stream))
            .unwrap_or_default();
        let settings = Settings {
            optional_kinds: vec!["NetworkPolicy".into()],
            lists,
            ..Settings::default()
        };
        let checked = merging::trees([&base, &mine, &next], &settings);
        found.merges += 1;
        let blocked = checked
            .merged
            .decisions
            .iter()
            .filter(|d| d.outcome == Outcome::Blocked);
        let mut wrong: Vec<String> = blocked
            .map(|decision| format!("blocked: {}", decision.message))
            .collect();
        wrong.extend(checked.violations);
        if !wrong.is_empty() {
            let shown: Vec<&str> = wrong.iter().take(3).map(String::as_str).collect();
            let shown = shown.join("\n  ");
            found
                .wrong
                .push(format!("{}: {} things\n  {shown}", self.name(), wrong.len()));
        }
    }

    fn name(&self) -> String {
        let edits: Vec<&str> = self.edits.iter().map(|edit| edit.name).collect();
        format!(
            "{} of {} as {:?} to {:?}",
            edits.join(" + "),
            self.from.name,
            self.format,
            self.target
        )
    }

    fn to(&self) -> Option<&Version> {
        match self.target {
            Target::NextMinor => self.manifests.next_minor(self.from),
            Target::Newest => self.manifests.newest().filter(|newest| *newest != self.from),
        }
    }

    /// Reads base and theirs with the same components where both have them.
    fn sides(&self) -> Option<(String, String)> {
        let to = self.to()?;
        let base = self.manifests.read(self.from, Set::Default)?;
        let theirs = match has_image_controllers(&base) {
            true => self
                .manifests
                .read(to, Set::Six)
                .or_else(|| self.manifests.read(to, Set::Default)),
            false => self.manifests.read(to, Set::Default),
        };
        Some((base, theirs?))
    }

    fn ours(&self, base: &str, newer: &str) -> Option<String> {
        let mut text = base.to_owned();
        for edit in &self.edits {
            text = (edit.apply)(&Pristine { text: &text, newer })?;
        }
        match self.format {
            Format::AsGenerated => Some(text),
            Format::ListsIndented => reindent(&text, LISTS_INDENTED),
            Format::FourBlanks => reindent(&text, FOUR_BLANKS),
            Format::CarriageReturns => Some(carriage_returns(&text)),
        }
    }
}
