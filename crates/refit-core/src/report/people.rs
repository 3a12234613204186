//! What the commands answer that are about what people did and said.

use serde::{Deserialize, Serialize};

use super::RequestLine;

/// What `history` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// What happened, newest first.
    pub entries: Vec<HistoryLine>,
    /// Whether a shallow clone hides what was before.
    pub cut: bool,
}

/// One upgrade or rollback in `history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryLine {
    /// Its place in the list, the newest is 1.
    pub number: usize,
    /// The cluster.
    pub cluster: String,
    /// `upgrade`, `rollback` or `edit` (the record was changed by hand).
    pub kind: String,
    /// When it came to the target branch, UTC.
    pub time: String,
    /// Who wrote it: name and address.
    pub author: String,
    /// The release before.
    pub from: String,
    /// The release after.
    pub to: String,
    /// The upgrade that it brought or undid.
    pub upgrade: String,
    /// The commit that brought it to the target branch.
    pub commit: String,
    /// The request that was merged; `None` where the commits are all that is known.
    pub request: Option<u64>,
    /// The branch of that request.
    pub branch: Option<String>,
    /// The decisions of rules and people.
    pub decisions: Vec<HistoryDecision>,
    /// The findings that were accepted.
    pub accepted: Vec<String>,
}

/// One decision in `history`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HistoryDecision {
    /// The name that `refit resolve` took.
    pub id: String,
    /// The file.
    pub path: String,
    /// The object.
    pub object: String,
    /// The field.
    pub field: String,
    /// The rule that decided, where no person did.
    pub rule: String,
    /// The answer of a person: `ours`, `theirs` or `value: TEXT`.
    pub answer: Option<String>,
    /// Whether nobody decided.
    pub open: bool,
}

/// What `cancel` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The clusters.
    pub clusters: Vec<String>,
    /// The requests that were closed.
    pub closed: Vec<RequestLine>,
    /// The branches that were removed.
    pub branches: Vec<String>,
    /// How many answers of people were removed.
    pub answers: usize,
    /// Commits of people that are in the way or were discarded: id, subject and author.
    pub commits: Vec<String>,
}

/// What `pause` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pauses {
    /// The clusters that are paused now.
    pub paused: Vec<PauseLine>,
}

/// One paused cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PauseLine {
    /// The cluster.
    pub cluster: String,
    /// Who paused it: name and address.
    pub by: String,
    /// Since when, UTC.
    pub since: String,
    /// Why.
    pub reason: Option<String>,
}

/// A request that somebody closed without a merge, and what that leaves behind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeclinedLine {
    /// The request.
    pub request: u64,
    /// The release that it would have brought.
    pub to: String,
    /// Its branch, where it is still there.
    pub branch: Option<String>,
    /// How many answers of people wait for it.
    pub answers: usize,
}
