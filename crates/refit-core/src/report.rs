//! What a command answers, as data: the same value is printed as text or as JSON.
//!
//! In: inventory, findings, plan, decisions. Out: serializable results, each with `state`, `next` and an exit code.

mod bodies;
mod conversions;
mod groups;
mod people;
mod planned;

use serde::{Deserialize, Serialize};

pub use bodies::*;
pub use conversions::*;
pub use groups::{Groups, OfGroup, Reports};
pub use people::*;
pub use planned::*;

/// The version of all serialized results and records.
pub const API_VERSION: &str = "refit.dev/v1alpha1";

/// How a command ends; when several apply the smallest wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Exit {
    /// Done, or nothing to do.
    Done = 0,
    /// No answer could be given.
    Error = 1,
    /// Usage, or a confirmation is missing.
    Usage = 2,
    /// Blocked by findings or a blocked file.
    Blocked = 3,
    /// Stopped with a cause, can be resumed.
    Stopped = 4,
    /// A decision is needed.
    Decision = 5,
    /// Waiting for people or reconciliation.
    Waiting = 6,
}

impl Exit {
    /// Gives the process exit code.
    pub fn code(self) -> u8 {
        self as u8
    }
}

/// Where things stand, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum State {
    /// What was asked is done.
    Done,
    /// There is nothing to do.
    NothingToDo,
    /// A newer release can be reached.
    UpgradeAvailable,
    /// The plan can be carried out.
    Ready,
    /// The user must name one of several.
    Choose,
    /// Findings are in the way.
    Blocked,
    /// Stopped with a cause; it can go on.
    Stopped,
    /// A decision is needed.
    DecisionNeeded,
    /// People or the cluster come next.
    Waiting,
}

impl State {
    /// Gives the exit code of a command that ends so.
    pub fn exit(self) -> Exit {
        match self {
            Self::Done | Self::NothingToDo | Self::UpgradeAvailable | Self::Ready => Exit::Done,
            Self::Choose => Exit::Usage,
            Self::Blocked => Exit::Blocked,
            Self::Stopped => Exit::Stopped,
            Self::DecisionNeeded => Exit::Decision,
            Self::Waiting => Exit::Waiting,
        }
    }

    /// Gives how much it asks of a person; of several states the heaviest leads.
    pub fn weight(self) -> u8 {
        match self {
            Self::NothingToDo => 0,
            Self::Done => 1,
            Self::Ready | Self::UpgradeAvailable => 2,
            Self::Waiting => 3,
            Self::DecisionNeeded => 4,
            Self::Choose | Self::Stopped => 5,
            Self::Blocked => 6,
        }
    }

    /// Counts states in words, those that ask most of a person first.
    pub fn count(states: &[Self]) -> String {
        let mut states = states.to_vec();
        states.sort_by_key(|state| std::cmp::Reverse(state.weight()));
        let words = |same: &[Self]| Some(format!("{} {}", same.len(), same.first()?.words()));
        let parts: Vec<String> = states.chunk_by(|a, b| a == b).filter_map(words).collect();
        parts.join(", ")
    }

    /// Gives the words that stand in texts.
    pub fn words(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NothingToDo => "nothing to do",
            Self::UpgradeAvailable => "upgrade available",
            Self::Ready => "ready",
            Self::Choose => "choose one",
            Self::Blocked => "blocked",
            Self::Stopped => "stopped",
            Self::DecisionNeeded => "decision needed",
            Self::Waiting => "waiting",
        }
    }
}

/// What the user can do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// The sentence.
    pub text: String,
    /// The command, where there is one.
    #[serde(default)]
    pub command: Option<String>,
}

impl Next {
    /// Makes a next action with a command.
    pub fn run(command: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            command: Some(command.into()),
        }
    }

    /// Makes a next action that is no command.
    pub fn say(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            command: None,
        }
    }
}

/// A result: envelope and body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report<B> {
    /// [`API_VERSION`].
    pub api_version: &'static str,
    /// What the body is.
    pub kind: &'static str,
    /// Where things stand.
    pub state: State,
    /// The sentence that goes with the state.
    pub message: String,
    /// What the user can do next, the best first.
    pub next: Vec<Next>,
    /// How the command ends.
    #[serde(skip)]
    pub exit: Exit,
    /// The body.
    #[serde(flatten)]
    pub body: B,
}

/// What can stand in a [`Report`].
pub trait Body {
    /// The `kind` in the envelope.
    const KIND: &'static str;
}

impl<B: Body> Report<B> {
    /// Makes a report whose exit code follows from its state.
    pub fn new(state: State, message: impl Into<String>, next: Vec<Next>, body: B) -> Self {
        Self {
            api_version: API_VERSION,
            kind: B::KIND,
            state,
            message: message.into(),
            next,
            exit: state.exit(),
            body,
        }
    }

    /// Gives the same state, message and next actions with another body; the exit code follows from the state.
    pub fn with_body<C: Body>(&self, body: C) -> Report<C> {
        Report::new(self.state, self.message.as_str(), self.next.clone(), body)
    }

    /// Replaces the exit code, for commands whose exit does not follow the state.
    #[must_use]
    pub fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }
}

macro_rules! bodies {
    ($($body:ident)*) => { $(impl Body for $body { const KIND: &'static str = stringify!($body); })* };
}

bodies! { Scan Convert Status Init Inventory Check Plan Upgrade Decisions Diff Requests Request History Cancel Pauses }
