//! What a command answers, and how it reaches the two streams.
//!
//! In: an [`Answer`] or a [`Failure`]. Out: data on stdout, all else on stderr. A reader that went away is not an error.

use std::io::{self, Write};

use refit_core::report::{Body, Exit, Report, Reports};
use serde::Serialize;
use serde_json::Value;

use crate::args::Format;
use crate::failure::Failure;
use crate::view::groups;

/// What a command writes to stdout.
#[derive(Debug)]
pub(crate) enum Data {
    /// Text for people; what others wrote in it cannot steer a terminal.
    Text(String),
    /// A file or a difference, byte by byte.
    Content(Vec<u8>),
}

impl From<String> for Data {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<u8>> for Data {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Content(bytes)
    }
}

impl Data {
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => visible(&text).into_bytes(),
            Self::Content(bytes) => bytes,
        }
    }
}

/// What a command answers.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What stdout gets.
    pub(crate) data: Data,
    /// The text for stderr, beside `data`.
    pub(crate) notes: String,
    /// What is missing before the program could go on; for stderr, also beside JSON.
    pub(crate) complaint: Option<Failure>,
    /// The object for programs, which takes the place of text and notes; empty where nobody asked for it.
    pub(crate) json: Vec<u8>,
}

impl Answer {
    /// Makes an answer of a report and its text for stdout.
    pub(crate) fn new<B: Body + Serialize>(report: &Report<B>, data: impl Into<Data>) -> Result<Self, Failure> {
        Self::in_form(report, data, Format::Json)
    }

    /// Makes an answer that can be large: the object for programs is made where that is the form which was asked for.
    pub(crate) fn in_form<B: Body + Serialize>(
        report: &Report<B>,
        data: impl Into<Data>,
        format: Format,
    ) -> Result<Self, Failure> {
        let json = match format {
            Format::Json => object(report)?,
            Format::Text | Format::Sarif => Vec::new(),
        };
        Ok(Self {
            exit: report.exit,
            data: data.into(),
            notes: String::new(),
            complaint: None,
            json,
        })
    }

    /// Makes an answer of the reports about groups of clusters and the text of one.
    pub(crate) fn of_groups<B: Body + Serialize>(
        reports: &Reports<B>,
        text: impl Fn(&Report<B>) -> String,
    ) -> Result<Self, Failure> {
        let text = groups::each(reports, text);
        match reports {
            Reports::One(report) => Self::new(report, text),
            Reports::Several(report) => Self::new(report, text),
        }
    }

    /// Adds text for stderr.
    pub(crate) fn with_notes(mut self, notes: impl Into<String>) -> Self {
        self.notes = notes.into();
        self
    }
}

/// Writes an answer or a failure to the streams and tells how the program ends.
pub(crate) fn finish(result: Result<Answer, Failure>, format: Format) -> Exit {
    let (exit, data, notes) = match (result, format) {
        (Ok(answer), Format::Text | Format::Sarif) => {
            let notes = answer.notes + &complaint(answer.complaint);
            (answer.exit, answer.data.bytes(), notes)
        }
        (Ok(answer), Format::Json) => (answer.exit, answer.json, complaint(answer.complaint)),
        (Err(failure), Format::Text | Format::Sarif) => (failure.exit, Vec::new(), failure.text()),
        (Err(failure), Format::Json) => (failure.exit, pretty(&failure.json()), failure.text()),
    };
    let written = write(&data);
    note(&notes);
    match written {
        Ok(()) => exit,
        Err(error) => {
            note(&Failure::new("could not write to stdout").caused_by(&error).text());
            Exit::Error
        }
    }
}

fn complaint(failure: Option<Failure>) -> String {
    failure.map(|failure| failure.text()).unwrap_or_default()
}

/// Writes lines for people to stderr; there is nobody to tell when that fails.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().lock().write_all(visible(text).as_bytes());
}

/// Makes characters visible that would steer a terminal or turn the direction of the text: subjects of commits, reasons and
/// names of files are written by others.
fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let ends_line = character == '\r' && characters.peek() == Some(&'\n');
        let steers = character.is_control() || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if steers && !ends_line && !matches!(character, '\n' | '\t') {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

/// Renders a report over several lines.
fn object(report: &impl Serialize) -> Result<Vec<u8>, Failure> {
    let mut text = serde_json::to_vec_pretty(report)
        .map_err(|error| Failure::new("could not write the answer as JSON").caused_by(&error))?;
    text.push(b'\n');
    Ok(text)
}

/// Renders an object over several lines.
pub(crate) fn pretty(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

/// Writes data; a closed pipe means that the reader has enough.
fn write(data: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(data).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_shown_instead() {
        assert_eq!(
            visible("a\u{1b}[2Jb\u{9b}1m\u{7}\rc\u{202e}d\0"),
            "a\\u{1b}[2Jb\\u{9b}1m\\u{7}\\rc\\u{202e}d\\u{0}"
        );
        assert_eq!(visible("K\u{f6}ln\t1\r\n2\n"), "K\u{f6}ln\t1\r\n2\n");
    }

    #[test]
    fn files_reach_stdout_as_they_are() {
        assert_eq!(Data::from(b"\x1b\r".to_vec()).bytes(), b"\x1b\r");
        assert_eq!(Data::from("\x1b".to_owned()).bytes(), b"\\u{1b}");
    }
}
