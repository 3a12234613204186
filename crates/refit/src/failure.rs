//! The one renderer of errors.
//!
//! In: an error of any layer. Out: `error:`, its chain of causes and its hints, as text or JSON. Knows no command.

use std::error::Error;
use std::fmt::Write as _;

use refit_core::report::{API_VERSION, Exit, Next};
use refit_engine::ports::PortError;
use serde_json::{Value, json};

/// Why no answer could be given.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What happened, to which object.
    pub(crate) message: String,
    /// The chain below, outermost first.
    pub(crate) causes: Vec<String>,
    /// What the user can do.
    pub(crate) hints: Vec<String>,
    /// How the program ends.
    pub(crate) exit: Exit,
}

impl Failure {
    /// Makes an error with exit code 1.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let mut hints = Vec::new();
        Self {
            message: take_hint(message.into(), &mut hints),
            causes: Vec::new(),
            hints,
            exit: Exit::Error,
        }
    }

    /// Makes an error of the command line, exit code 2.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(message).ending(Exit::Usage)
    }

    /// Adds the chain of an error below the message.
    pub(crate) fn caused_by(mut self, error: &dyn Error) -> Self {
        self.add_causes(Some(error));
        self
    }

    /// Adds one thing that the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Changes how the program ends.
    pub(crate) fn ending(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    fn add_causes(&mut self, error: Option<&dyn Error>) {
        for text in chain(error) {
            let text = take_hint(text, &mut self.hints);
            self.causes.push(text);
        }
    }

    /// Renders the lines for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("error: {}\n", self.message);
        for cause in &self.causes {
            let lines: Vec<&str> = cause.lines().filter(|line| !line.trim().is_empty()).collect();
            let _ = writeln!(text, "  cause: {}", lines.join("\n    "));
        }
        for hint in &self.hints {
            let _ = writeln!(text, "hint: {hint}");
        }
        text
    }

    /// Renders the object for programs; `exit` tells kinds of failure apart.
    pub(crate) fn json(&self) -> Value {
        let next: Vec<Next> = self.hints.iter().map(Next::say).collect();
        json!({
            "apiVersion": API_VERSION,
            "kind": "Error",
            "state": "error",
            "message": self.message,
            "next": next,
            "causes": self.causes,
            "exit": self.exit.code(),
        })
    }
}

impl From<refit_engine::Error> for Failure {
    fn from(error: refit_engine::Error) -> Self {
        let mut failure = Self::new(error.to_string()).ending(error.exit());
        failure.add_causes(error.source());
        failure.hints.extend(error.remedy());
        failure
    }
}

impl From<PortError> for Failure {
    fn from(error: PortError) -> Self {
        let mut failure = Self::new(&error.message);
        failure.add_causes(error.source());
        failure.hints.extend(error.remedy);
        failure
    }
}

/// Takes the remedy off a text that carries one behind `; hint: `.
fn take_hint(text: String, hints: &mut Vec<String>) -> String {
    let Some((message, hint)) = text.split_once("; hint: ") else {
        return text;
    };
    hints.push(hint.to_owned());
    message.to_owned()
}

/// Gives the texts of an error and of all its sources, without one that only repeats its parent.
fn chain(mut error: Option<&dyn Error>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    while let Some(current) = error {
        let text = current.to_string();
        if texts.last() != Some(&text) {
            texts.push(text);
        }
        error = current.source();
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use refit_engine::ports::PortErrorKind;

    #[test]
    fn an_error_shows_its_whole_chain_and_its_remedy() {
        let lower = std::io::Error::other("the disk is full");
        let failure = Failure::from(PortError {
            message: "could not write `a`".into(),
            remedy: Some("make room".into()),
            kind: PortErrorKind::Other,
            source: Some(Box::new(lower)),
        });
        assert_eq!(
            failure.text(),
            "error: could not write `a`\n  cause: the disk is full\nhint: make room\n"
        );
        let json = failure.json();
        assert_eq!(json["next"], json!([{"text": "make room", "command": null}]));
        assert_eq!((&json["state"], &json["exit"]), (&json!("error"), &json!(1)));
    }

    #[test]
    fn a_remedy_within_a_message_becomes_a_hint_of_its_own() {
        let lower = std::io::Error::other("`x` is no version; hint: write it like `v1.0.0`");
        let text = Failure::new("could not plan; hint: try again").caused_by(&lower).text();
        let wanted =
            "error: could not plan\n  cause: `x` is no version\nhint: try again\nhint: write it like `v1.0.0`\n";
        assert_eq!(text, wanted);
    }

    #[test]
    fn an_error_of_the_engine_keeps_its_exit_code_and_remedy() {
        let failure = Failure::from(refit_engine::Error::Busy { branch: "main".into() });
        assert_eq!(failure.exit, Exit::Stopped);
        assert_eq!(failure.hints.len(), 1);
    }
}
