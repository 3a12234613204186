//! What each command answers, inside its envelope.

use refit_manifest::Rule;
use serde::{Deserialize, Serialize};

use super::people::{DeclinedLine, PauseLine};
use super::planned::RouteLine;
use super::{Next, State};
use crate::finding::Finding;

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
    #[serde(default)]
    pub answer: Option<String>,
    /// Whether a person must still answer.
    pub open: bool,
}

impl DecisionLine {
    /// Gives the answers that it can have, as a placeholder that a shell refuses to run.
    pub fn ways(&self) -> &'static str {
        match (self.takes_theirs(), self.takes_value()) {
            (false, _) => "ours",
            (true, true) => "<ours|theirs|VALUE>",
            (true, false) => "<ours|theirs>",
        }
    }

    /// Tells whether theirs can be the answer: not where a patch can only stay as it is.
    pub fn takes_theirs(&self) -> bool {
        self.rule != Rule::PatchFixed.word()
    }

    /// Tells whether it is about a patch of a kustomization.
    pub fn is_about_patch(&self) -> bool {
        self.rule == Rule::Patch.word() || self.rule == Rule::PatchFixed.word()
    }

    /// Tells whether a value can be the answer: not where an object, an element or a comment stays or goes; of a patch
    /// where a pointer or the name of a target can be replaced.
    pub fn takes_value(&self) -> bool {
        if self.is_about_patch() {
            return self.takes_theirs() && self.ours.is_some();
        }
        !self.field.is_empty() && self.field != "comments" && self.ours.is_some() && self.theirs.is_some()
    }

    /// Gives the message; once a person answered, without the words that say what stands in the file until then.
    pub fn message_as_taken(&self) -> &str {
        let command = format!("`refit resolve {}", self.id);
        match (&self.answer, self.message.find(&command)) {
            (Some(_), Some(at)) => {
                let before = self.message.get(..at).unwrap_or_default();
                if let Some((fact, _)) = before.split_once(". With `ours` ") {
                    return fact;
                }
                before.rsplit_once("; ").map_or(before, |(fact, _)| fact)
            }
            _ => &self.message,
        }
    }
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
    /// The others that share its generated files and are upgraded with it.
    pub with: Vec<String>,
    /// The directory of its sync root.
    pub directory: String,
    /// The platform.
    pub platform: String,
    /// The installed version; empty when unclear.
    pub installed: String,
    /// The newest stable release that can be reached, over others where it must be, when newer.
    pub available: Option<String>,
    /// The newest stable release of all, when it is another one.
    pub newest: Option<String>,
    /// Where this cluster stands.
    pub state: State,
    /// Its open requests.
    pub requests: Vec<RequestLine>,
    /// How far the upgrade under way came, where it has several requests.
    pub route: Option<RouteLine>,
    /// How many decisions are open.
    pub open_decisions: usize,
    /// The pause of the cluster, where it is paused.
    pub paused: Option<PauseLine>,
    /// The request that somebody closed without a merge, where nobody settled that.
    pub declined: Option<DeclinedLine>,
    /// The release that the cluster went back from last.
    pub rolled_back: Option<String>,
    /// Whether the target branch has commits that its open request lacks.
    pub behind: bool,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What the user can do next.
    pub next: Vec<Next>,
}

/// What `init` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Init {
    /// The target branch that was looked at.
    pub branch: String,
    /// Where the file was written; `None` when it was only printed, or was there already.
    pub written: Option<String>,
    /// The text of `refit.yaml`.
    pub content: String,
    /// The clusters found, with the names that they have.
    pub clusters: Vec<NamedFolder>,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// A cluster with its folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NamedFolder {
    /// The cluster's name.
    pub cluster: String,
    /// The folder that is synchronised; `.` for the root of the repository.
    pub directory: String,
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
    /// The others that share its generated files and are upgraded with it.
    pub with: Vec<String>,
    /// The directory of its sync root.
    pub directory: String,
    /// The platform.
    pub platform: String,
    /// The installed version.
    pub version: String,
    /// What told the version: source and value.
    pub evidence: Vec<EvidenceLine>,
    /// Why it is this version, and which source was outweighed; one sentence.
    pub verdict: String,
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
    /// The releases that it names or fits.
    pub value: String,
    /// What stands in the file.
    pub seen: String,
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
    /// The others that share its generated files and are upgraded with it.
    pub with: Vec<String>,
    /// The installed version.
    pub from: Option<String>,
    /// The target that was checked.
    pub to: Option<String>,
    /// Everything found.
    pub findings: Vec<Finding>,
    /// What was accepted with `--accept` and matches nothing that was found.
    #[serde(default)]
    pub unmatched: Vec<String>,
}

/// What `upgrade` and `resume` answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Upgrade {
    /// The upgrade's id.
    pub upgrade: String,
    /// The cluster.
    pub cluster: String,
    /// The others that share its generated files and are upgraded with it.
    pub with: Vec<String>,
    /// The installed version.
    pub from: String,
    /// The version that the request brings; the installed one where it converts only.
    pub to: String,
    /// The version that the upgrade leads to in the end.
    pub target: String,
    /// The place of the request among those of the upgrade, from 1; 0 where there is none.
    pub index: usize,
    /// How many requests the upgrade has, as far as they can be foreseen.
    pub count: usize,
    /// What must be confirmed or shown by a snapshot before the merge: `migrated`, `reconciled`.
    pub waits: Vec<String>,
    /// The request, where one is open or was merged.
    pub request: Option<RequestLine>,
    /// The decisions that are open.
    pub open: Vec<DecisionLine>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What was accepted with `--accept` and matches nothing that was found.
    #[serde(default)]
    pub unmatched: Vec<String>,
    /// Commits of people on the request's branch, where they are in the way or were discarded: id, subject and author.
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
    /// What the answers leave broken.
    pub findings: Vec<Finding>,
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
    /// What is known to be broken when it is merged, of `merge`.
    pub findings: Vec<Finding>,
}
