//! What a command answers, and how it reaches the two streams.
//!
//! In: an [`Answer`] or a [`Failure`]. Out: data on stdout, all else on stderr. A reader that went away is not an error.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::args::Format;
use crate::exit::Exit;
use crate::failure::Failure;

/// The version of the JSON objects; it changes when a field goes or changes its meaning.
pub(crate) const SCHEMA: &str = "refit.dev/v1alpha1";

/// What a command answers.
#[derive(Debug)]
pub(crate) struct Answer {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// The kind of the JSON object, for example `Status`.
    pub(crate) kind: &'static str,
    /// What the user can do next, where there is something.
    pub(crate) next: Option<String>,
    /// The text (or bytes) for stdout.
    pub(crate) data: Vec<u8>,
    /// The text for stderr.
    pub(crate) notes: String,
    /// The fields of the JSON object beside `state` and `next`.
    pub(crate) fields: Map<String, Value>,
}

impl Answer {
    /// Makes an answer that has text only.
    pub(crate) fn text(kind: &'static str, data: impl Into<Vec<u8>>) -> Self {
        Self {
            exit: Exit::Done,
            kind,
            next: None,
            data: data.into(),
            notes: String::new(),
            fields: Map::new(),
        }
    }

    /// Adds a field to the JSON object.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    fn object(&self) -> Value {
        let mut object = head(self.kind, self.exit, self.next.as_deref());
        object.extend(self.fields.clone());
        Value::Object(object)
    }
}

/// Writes an answer or a failure to the streams and tells how the program ends.
pub(crate) fn finish(result: Result<Answer, Failure>, format: Format) -> Exit {
    let (exit, data, notes) = match (result, format) {
        (Ok(answer), Format::Text) => (answer.exit, answer.data, answer.notes),
        (Ok(answer), Format::Json) => (answer.exit, pretty(&answer.object()), String::new()),
        (Err(failure), Format::Text) => (failure.exit, Vec::new(), failure.text()),
        (Err(failure), Format::Json) => (failure.exit, pretty(&failed(&failure)), failure.text()),
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

/// Writes lines for people to stderr; there is nobody to tell when that fails.
pub(crate) fn note(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Renders the object of a failure; its `state` is always `error`, its exit code tells more.
pub(crate) fn failed(failure: &Failure) -> Value {
    let mut object = head("Error", Exit::Error, failure.hints.first().map(String::as_str));
    object.insert("exit".into(), json!(failure.exit as u8));
    object.insert("error".into(), failure.json());
    Value::Object(object)
}

fn head(kind: &str, exit: Exit, next: Option<&str>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("apiVersion".into(), json!(SCHEMA));
    object.insert("kind".into(), json!(kind));
    object.insert("state".into(), json!(exit.word()));
    object.insert("next".into(), json!(next));
    object
}

fn pretty(value: &Value) -> Vec<u8> {
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
