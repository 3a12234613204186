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

/// What a command answers.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// The text (or bytes) for stdout.
    pub(crate) data: Vec<u8>,
    /// The text for stderr, beside `data`.
    pub(crate) notes: String,
    /// What is missing before the program could go on; for stderr, also beside JSON.
    pub(crate) complaint: Option<Failure>,
    /// The object for programs, which takes the place of text and notes.
    pub(crate) json: Value,
}

impl Answer {
    /// Makes an answer of a report and its text for stdout.
    pub(crate) fn new<B: Body + Serialize>(report: &Report<B>, data: impl Into<Vec<u8>>) -> Result<Self, Failure> {
        let json = serde_json::to_value(report)
            .map_err(|error| Failure::new("could not write the answer as JSON").caused_by(&error))?;
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
        (Ok(answer), Format::Text) => (answer.exit, answer.data, answer.notes + &complaint(answer.complaint)),
        (Ok(answer), Format::Json) => (answer.exit, pretty(&answer.json), complaint(answer.complaint)),
        (Err(failure), Format::Text) => (failure.exit, Vec::new(), failure.text()),
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
    let _ = io::stderr().lock().write_all(text.as_bytes());
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
