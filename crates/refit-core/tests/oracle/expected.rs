//! A file of what is expected: generated entries, each with a reason that a person wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs};

const HEAD: &str = "\
# Written by the tests of this folder with UPDATE_EXPECTED=1, which keeps each `why`: that line is written by hand.
# `at` names releases, `review` what a scan tells people about the object.
";

/// What was not reviewed yet; the test does not pass with it.
const OPEN: &str = "?";

#[derive(Default)]
struct Entry {
    at: BTreeSet<String>,
    reviews: BTreeSet<String>,
}

/// The entries so far.
pub(crate) struct Expected {
    path: PathBuf,
    notes: Vec<String>,
    entries: BTreeMap<String, Entry>,
}

impl Expected {
    /// Begins a file of this folder.
    pub(crate) fn new(name: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/oracle");
        Self {
            path: folder.join(name),
            notes: Vec::new(),
            entries: BTreeMap::new(),
        }
    }

    /// Adds a line that needs no reason.
    pub(crate) fn note(&mut self, text: &str) {
        self.notes.push(text.to_owned());
    }

    /// Adds an entry, or a release to one.
    pub(crate) fn add(&mut self, text: &str, at: &str, reviews: &BTreeSet<String>) {
        let entry = self.entries.entry(text.replace('\n', " ")).or_default();
        entry.at.insert(at.to_owned());
        entry
            .reviews
            .extend(reviews.iter().map(|review| review.replace('\n', " ")));
    }

    /// Compares with the file, or writes it.
    ///
    /// # Panics
    /// When they differ, and when a reason is missing.
    pub(crate) fn compare(self) {
        let found = fs::read_to_string(&self.path).unwrap_or_default();
        let text = self.render(&reasons(&found));
        if env::var_os("UPDATE_EXPECTED").is_some() {
            fs::write(&self.path, &text).unwrap();
        } else {
            assert_eq!(text, found, "UPDATE_EXPECTED=1 writes {} anew", self.path.display());
        }
        let open = text.lines().filter(|line| line.trim() == format!("why: {OPEN}"));
        assert_eq!(open.count(), 0, "{}: write a `why`", self.path.display());
    }

    fn render(&self, reasons: &BTreeMap<String, String>) -> String {
        let mut text = HEAD.to_owned();
        for note in &self.notes {
            writeln!(text, "# {note}").unwrap();
        }
        for (of, entry) in &self.entries {
            let at: Vec<&str> = entry.at.iter().map(String::as_str).collect();
            writeln!(text, "\n{of}\n    at: {}", at.join(" ")).unwrap();
            for review in &entry.reviews {
                writeln!(text, "    review: {review}").unwrap();
            }
            writeln!(text, "    why: {}", reasons.get(of).map_or(OPEN, String::as_str)).unwrap();
        }
        text
    }
}

/// Reads the reasons of a file by their entries.
fn reasons(text: &str) -> BTreeMap<String, String> {
    let mut reasons = BTreeMap::new();
    let mut of = "";
    for line in text.lines() {
        match line.strip_prefix("    why: ") {
            Some(reason) => {
                reasons.insert(of.to_owned(), reason.to_owned());
            }
            None if !line.starts_with([' ', '#']) && !line.is_empty() => of = line,
            None => {}
        }
    }
    reasons
}
