//! Why an evaluation stops, and what it says on the way.

use refit_manifest::{Identity, Path};

use crate::built::{Entry, Failure, Reason};
use crate::read::Trouble;

/// Why an evaluation stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Kustomize ends with an error.
    Failed(Box<Failure>),
    /// What kustomize does is not evaluated.
    Unsure(Reason),
}

impl Stop {
    /// A failure of one entry.
    pub(crate) fn entry(entry: &Entry, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(Failure {
            path: entry.kustomization.clone(),
            line: entry.line,
            entry: Some(entry.clone()),
            object: None,
            message: message.into(),
        }))
    }

    /// A failure of one entry at one object.
    pub(crate) fn object(entry: &Entry, object: Identity, message: impl Into<String>) -> Self {
        let mut stop = Self::entry(entry, message);
        stop.amend(|failure| failure.object = Some(object));
        stop
    }

    /// A failure at a place.
    pub(crate) fn failed(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::Failed(Box::new(Failure {
            path: path.clone(),
            line,
            entry: None,
            object: None,
            message: message.into(),
        }))
    }

    /// Says more about a failure.
    pub(crate) fn amend(&mut self, more: impl FnOnce(&mut Failure)) {
        if let Self::Failed(failure) = self {
            more(failure);
        }
    }

    /// Something that is not evaluated.
    pub(crate) fn unsure(path: &Path, line: usize, message: impl Into<String>) -> Self {
        Self::Unsure(Reason {
            path: path.clone(),
            line,
            message: message.into(),
        })
    }

    /// Trouble with the text of a file.
    pub(crate) fn trouble(path: &Path, trouble: &Trouble) -> Self {
        if trouble.certain {
            Self::failed(path, trouble.line, trouble.message.clone())
        } else {
            Self::unsure(path, trouble.line, trouble.message.clone())
        }
    }
}

/// What was noted so far.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) reasons: Vec<Reason>,
    pub(crate) failures: Vec<Failure>,
}

impl Notes {
    /// Notes why something stopped, so that the rest can still be looked at.
    pub(crate) fn take(&mut self, stop: Stop) {
        match stop {
            // What fails after something was left out may fail for that alone.
            Stop::Failed(_) if !self.reasons.is_empty() => {}
            Stop::Failed(failure) => self.failures.push(*failure),
            Stop::Unsure(reason) => self.reasons.push(reason),
        }
    }
}
