//! The exit codes, one place for their numbers and words.
//!
//! In: what a command found. Out: one number for the shell and one word for JSON. Knows nothing else.

use std::process::ExitCode;

/// How a command ended; when several apply, the smallest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done, or nothing to do.
    Done = 0,
    /// No answer could be given.
    Error = 1,
    /// The command line is wrong, or a confirmation is missing.
    Usage = 2,
    /// Findings or a blocked file stand in the way.
    Blocked = 3,
    /// Stopped with a cause; it can be resumed.
    Stopped = 4,
    /// A decision of a person is needed.
    Decision = 5,
    /// People or a reconciliation are waited for.
    Waiting = 6,
}

impl Exit {
    /// Gives the word that stands in JSON as `state`.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Error => "error",
            Self::Usage => "usage",
            Self::Blocked => "blocked",
            Self::Stopped => "stopped",
            Self::Decision => "decision",
            Self::Waiting => "waiting",
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
