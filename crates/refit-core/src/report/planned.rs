//! What a plan says: the hops, the repair before them, the requests in order.

use serde::{Deserialize, Serialize};

use super::bodies::DecisionLine;
use crate::finding::Finding;

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
    /// The others that share its generated files and are upgraded with it.
    #[serde(default)]
    pub with: Vec<String>,
    /// The clusters to choose from, where one must be named.
    #[serde(default)]
    pub choices: Vec<String>,
    /// The target branch.
    pub branch: String,
    /// The commit that was planned on.
    pub commit: String,
    /// The installed version.
    pub from: String,
    /// The target.
    pub to: String,
    /// The hops, in order.
    pub route: Vec<Hop>,
    /// What mends the plane before the first hop, in order, where a snapshot shows that it is broken.
    #[serde(default)]
    pub repair: Vec<RepairStep>,
    /// Where the base came from.
    pub base: String,
    /// Everything found.
    pub findings: Vec<Finding>,
    /// What was accepted with `--accept` and matches nothing that was found.
    #[serde(default)]
    pub unmatched: Vec<String>,
    /// Open and noted decisions.
    pub decisions: Vec<DecisionLine>,
    /// The files that change.
    pub files: Vec<FileChange>,
    /// The objects that the first request takes away from the cluster, one line each.
    #[serde(default)]
    pub pruned: Vec<String>,
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
    /// Why one does not go from here to the end of the route at once; empty for the last hop.
    #[serde(default)]
    pub why: String,
}

/// One step of a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RepairStep {
    /// What it does.
    pub what: String,
    /// What a person runs.
    pub commands: Vec<String>,
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
    /// What it does: `upgrade`, `convert`, `migrate` or `detach`.
    #[serde(default)]
    pub stage: String,
    /// The branch; empty for one that follows.
    pub branch: String,
    /// The title.
    pub title: String,
    /// The text for the reviewer; empty for one that follows.
    pub body: String,
    /// `open`, `draft`, `held` when it is not opened before decisions are taken, or `later` when it follows others.
    pub state: String,
    /// What must be confirmed or shown by a snapshot before its merge.
    #[serde(default)]
    pub gates: Vec<GateLine>,
}

/// What must be true before a request is merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GateLine {
    /// The word that `refit resume --confirm` takes: `migrated` or `reconciled`.
    pub what: String,
    /// Why, one line each, such as kinds with their versions.
    pub why: Vec<String>,
    /// What a person runs; empty for a request that follows.
    pub commands: Vec<String>,
}

/// How far an upgrade of several requests came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteLine {
    /// The upgrade's id.
    pub upgrade: String,
    /// The version that it leads to.
    pub to: String,
    /// How many of its requests are merged.
    pub merged: usize,
    /// How many it has, as far as they can be foreseen.
    pub count: usize,
    /// The hops that are left.
    pub hops: Vec<Hop>,
    /// What the next request waits for: `migrated`, `reconciled`.
    pub waits: Vec<String>,
}
