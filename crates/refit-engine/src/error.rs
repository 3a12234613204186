//! Why a flow could give no answer.

use refit_core::finding::UnknownCode;
use refit_core::report::Exit;

use crate::ports::{PortError, PortErrorKind};

/// Why a flow could give no answer; everything else is a report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A port failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The user named something that does not exist.
    #[error("{message}")]
    Usage {
        /// What was wrong with the request.
        message: String,
        /// What to do instead.
        remedy: String,
    },
    /// A word after `--accept` is no code.
    #[error(transparent)]
    Code(#[from] UnknownCode),
    /// A saved plan no longer fits.
    #[error("the saved plan no longer fits: {difference}")]
    PlanMoved {
        /// What is different now.
        difference: String,
    },
    /// A saved plan is none.
    #[error("could not read the saved plan")]
    SavedPlan(#[source] serde_json::Error),
    /// A note is damaged or of another format.
    #[error("could not read note `{reference}`")]
    Note {
        /// The reference that holds it.
        reference: String,
        /// The cause.
        source: serde_json::Error,
    },
    /// A value of this program has no JSON form.
    #[error("could not write {what} as JSON")]
    Unwritable {
        /// What it is.
        what: &'static str,
        /// The cause.
        source: serde_json::Error,
    },
    /// Others move the branch faster than the flow can follow.
    #[error("`{branch}` was moved by somebody else again and again")]
    Busy {
        /// The branch.
        branch: String,
    },
    /// One of several groups of clusters failed.
    #[error("the upgrade of `{clusters}` came to no answer")]
    Group {
        /// The clusters of the group.
        clusters: String,
        /// The cause.
        source: Box<Self>,
    },
}

impl Error {
    /// Says which of several groups of clusters failed.
    pub(crate) fn of_group(self, clusters: &str) -> Self {
        Self::Group {
            clusters: clusters.to_owned(),
            source: Box::new(self),
        }
    }

    /// Gives the exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. } | Self::Code(_) => Exit::Usage,
            Self::PlanMoved { .. } | Self::Busy { .. } => Exit::Stopped,
            Self::Port(error) => match error.kind {
                PortErrorKind::Dirty | PortErrorKind::Moved | PortErrorKind::NotReady => Exit::Stopped,
                PortErrorKind::NotFound
                | PortErrorKind::Forbidden
                | PortErrorKind::Corrupt
                | PortErrorKind::Unreachable
                | PortErrorKind::Other => Exit::Error,
            },
            Self::Group { source, .. } => source.exit(),
            Self::SavedPlan(_) | Self::Note { .. } | Self::Unwritable { .. } => Exit::Error,
        }
    }

    /// Gives what the user can do about it.
    pub fn remedy(&self) -> Option<String> {
        match self {
            Self::Port(error) => error.remedy.clone(),
            Self::Usage { remedy, .. } => Some(remedy.clone()),
            Self::Code(_) => Some("the codes are listed in docs/findings.md".into()),
            Self::PlanMoved { .. } => Some("run `refit plan --out FILE` again and review it".into()),
            Self::SavedPlan(_) => Some("save the plan anew with `refit plan --out FILE`".into()),
            Self::Note { reference, .. } => Some(format!(
                "look at it with `git show {reference}`; remove the reference to give up the answers that it holds"
            )),
            Self::Unwritable { .. } => Some("report it as a defect of `refit`, with the command".into()),
            Self::Group { source, .. } => source.remedy(),
            Self::Busy { .. } => Some("wait until the branch is quiet, then run the command again".into()),
        }
    }
}
