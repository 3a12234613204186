//! What a command answers, as data: the same value is printed as text or as JSON.
//!
//! In: inventory, findings, plan, decisions. Out: serializable results, each with `state`, `next` and an exit code.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;

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
    #[serde(default, skip_serializing_if = "Option::is_none")]
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

bodies! { Status Inventory Check Plan Upgrade Decisions Diff Requests Request }

/// One decision of a merge, as people and programs read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionLine {
    /// The name that `refit resolve` takes.
    pub id: String,
    /// The file.
    pub path: String,
    /// The object, empty for a whole file.
    pub object: String,
    /// The field, empty for a whole object.
    pub field: String,
    /// The text of base.
    pub base: Option<String>,
    /// The text of ours.
    pub ours: Option<String>,
    /// The text of theirs.
    pub theirs: Option<String>,
    /// The class of the field.
    pub class: String,
    /// The rule that decided.
    pub rule: String,
    /// `clean`, `noted`, `conflict` or `blocked`.
    pub outcome: String,
    /// The sentence.
    pub message: String,
    /// The answer that a person gave: `ours`, `theirs` or `value: TEXT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Whether a person must still answer.
    pub open: bool,
}

/// A request in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestLine {
    /// The forge's number.
    pub number: u64,
    /// The title.
    pub title: String,
    /// `open`, `draft`, `merged` or `closed`.
    pub state: String,
    /// The branch with the change.
    pub branch: String,
    /// The branch that it asks to change.
    pub base: String,
    /// Where a person can see it.
    pub url: String,
    /// The upgrade that it belongs to; empty for a request of somebody else.
    pub upgrade: String,
}

/// What `status` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// Where the repository is.
    pub repository: String,
    /// The target branch.
    pub branch: String,
    /// The clusters found.
    pub clusters: Vec<ClusterStatus>,
    /// Findings that belong to no cluster.
    pub findings: Vec<Finding>,
}

/// One cluster in `status`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterStatus {
    /// The cluster's name.
    pub cluster: String,
    /// The directory of its sync root.
    pub directory: String,
    /// The platform.
    pub platform: String,
    /// The installed version; empty when unclear.
    pub installed: String,
    /// The newest stable release that can be reached in one step, when newer.
    pub available: Option<String>,
    /// The newest stable release of all, when it is another one.
    pub newest: Option<String>,
    /// Where this cluster stands.
    pub state: State,
    /// Its open requests.
    pub requests: Vec<RequestLine>,
    /// How many decisions are open.
    pub open_decisions: usize,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What the user can do next.
    pub next: Vec<Next>,
}

/// What `inventory` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Inventory {
    /// Where the repository is.
    pub repository: String,
    /// The target branch.
    pub branch: String,
    /// Its commit.
    pub commit: String,
    /// The clusters found.
    pub clusters: Vec<ClusterInventory>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// One cluster in `inventory`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClusterInventory {
    /// The cluster's name.
    pub cluster: String,
    /// The directory of its sync root.
    pub directory: String,
    /// The platform.
    pub platform: String,
    /// The installed version.
    pub version: String,
    /// What told the version: source and value.
    pub evidence: Vec<EvidenceLine>,
    /// The options that the file was generated with, in words.
    pub options: Vec<OptionLine>,
    /// The components that run.
    pub components: Vec<String>,
    /// Each file of the cluster with its role.
    pub files: Vec<FileLine>,
    /// Where the base came from, when there is one.
    pub base: Option<String>,
    /// What the user changed against the generator.
    pub changes: Vec<ChangeLine>,
    /// Patches and image overrides that apply to the plane.
    pub patches: Vec<PatchLine>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// One piece of evidence for a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceLine {
    /// Labels, images, definitions or header.
    pub source: String,
    /// What it says.
    pub value: String,
}

/// One option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OptionLine {
    /// The option's name as the generator calls it.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// One file with its role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLine {
    /// The path.
    pub path: String,
    /// `generated`, `sync`, `kustomization` or `user`.
    pub role: String,
}

/// One change that a user made to a generated file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeLine {
    /// The file.
    pub path: String,
    /// The object.
    pub object: String,
    /// The field.
    pub field: String,
    /// What the generator wrote.
    pub generated: Option<String>,
    /// What the file has.
    pub has: Option<String>,
}

/// One patch or override.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatchLine {
    /// The kustomization that holds or names it.
    pub path: String,
    /// `patch`, `patchFile` or `image`.
    pub kind: String,
    /// What it is aimed at, in words.
    pub target: String,
}

/// What `check` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The cluster, where one was chosen.
    pub cluster: Option<String>,
    /// The installed version.
    pub from: Option<String>,
    /// The target that was checked.
    pub to: Option<String>,
    /// Everything found.
    pub findings: Vec<Finding>,
}

/// What `plan` answers, and what `plan --out` saves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// The upgrade's id; empty when there is nothing to plan.
    pub upgrade: String,
    /// The platform.
    pub platform: String,
    /// The cluster.
    pub cluster: String,
    /// The clusters to choose from, where one must be named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The target branch.
    pub branch: String,
    /// The commit that was planned on.
    pub commit: String,
    /// The installed version.
    pub from: String,
    /// The target.
    pub to: String,
    /// The hops; one in this version.
    pub route: Vec<Hop>,
    /// Where the base came from.
    pub base: String,
    /// Everything found.
    pub findings: Vec<Finding>,
    /// Open and noted decisions.
    pub decisions: Vec<DecisionLine>,
    /// The files that change.
    pub files: Vec<FileChange>,
    /// The requests to open, in order.
    pub requests: Vec<RequestDraft>,
}

/// One hop of a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Hop {
    /// From this version.
    pub from: String,
    /// To this version.
    pub to: String,
}

/// One file that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FileChange {
    /// The path.
    pub path: String,
    /// `added`, `changed` or `removed`.
    pub change: String,
    /// The SHA-256 of the new content.
    pub digest: String,
    /// Lines added.
    pub added: usize,
    /// Lines removed.
    pub removed: usize,
}

/// A request to open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestDraft {
    /// The branch.
    pub branch: String,
    /// The title.
    pub title: String,
    /// The text for the reviewer.
    pub body: String,
    /// `open`, `draft`, or `held` when it is not opened before decisions are taken.
    pub state: String,
}

/// What `upgrade` and `resume` answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Upgrade {
    /// The upgrade's id.
    pub upgrade: String,
    /// The cluster.
    pub cluster: String,
    /// The installed version.
    pub from: String,
    /// The target.
    pub to: String,
    /// The request, where one is open or was merged.
    pub request: Option<RequestLine>,
    /// The decisions that are open.
    pub open: Vec<DecisionLine>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// Commits of people on the request's branch, where they are in the way: id, author and subject.
    pub commits: Vec<String>,
}

/// What `resolve` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decisions {
    /// The upgrade's id.
    pub upgrade: String,
    /// Open decisions first, then those that rules or answers took and that can be changed.
    pub decisions: Vec<DecisionLine>,
    /// The request, where one is open.
    pub request: Option<RequestLine>,
}

/// What `diff` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Diff {
    /// The request, or `None` for the plan.
    pub request: Option<u64>,
    /// Per file.
    pub files: Vec<FileDiff>,
}

/// The difference of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileDiff {
    /// The path.
    pub path: String,
    /// The unified diff.
    pub diff: String,
}

/// What `request list` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Requests {
    /// The requests, newest first.
    pub requests: Vec<RequestLine>,
}

/// What `request show`, `merge` and `close` answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// The request in a few words.
    pub request: RequestLine,
    /// The text for the reviewer.
    pub text: String,
    /// The newest commit.
    pub head: String,
}
