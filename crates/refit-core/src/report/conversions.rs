//! What `scan` and `convert` answer.

use serde::Serialize;

use crate::finding::Finding;

/// What `scan` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scan {
    /// The platform.
    pub platform: String,
    /// The release that is meant to be served.
    pub to: String,
    /// How many files were looked at.
    pub files: usize,
    /// What is deprecated or removed, by file and line.
    pub uses: Vec<UseLine>,
    /// What is worth knowing and needs no edit.
    pub notes: Vec<NoteLine>,
    /// The files with uses that no Kustomization reaches; their uses are not among `uses`.
    pub unreached: Vec<String>,
    /// What cannot be read, or is not of the release.
    pub findings: Vec<Finding>,
}

/// What `convert` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Convert {
    /// The platform.
    pub platform: String,
    /// The release that is meant to be served.
    pub to: String,
    /// How many files were looked at.
    pub files: usize,
    /// Whether files were written; not with `--diff`.
    pub written: bool,
    /// The files that change.
    pub changed: Vec<ChangedFile>,
    /// What was not converted, or must be looked at by a person.
    pub left: Vec<UseLine>,
    /// What is worth knowing and needs no edit.
    pub notes: Vec<NoteLine>,
    /// The files with uses that no Kustomization reaches; they stay as they are.
    pub unreached: Vec<String>,
    /// What cannot be read, cannot be written, or is not of the release.
    pub findings: Vec<Finding>,
}

/// A file that a conversion changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// The path.
    pub path: String,
    /// What is converted.
    pub changes: Vec<UseLine>,
    /// The unified diff, with `--diff`.
    pub diff: Option<String>,
}

/// One use of an API version or field that is deprecated or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UseLine {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What stands there: `object`, `item`, `list`, `patch`, `embedded`, `target`, `reference`, `pointer` or `mention`.
    pub place: String,
    /// The object, or what a selector or reference means.
    pub object: String,
    /// The object around it, empty where there is none.
    pub within: String,
    /// The API group.
    pub group: String,
    /// The kind, empty for a mention.
    pub kind: String,
    /// The API version that is used; `None` for a field.
    pub version: Option<String>,
    /// The field that is used; `None` for an API version.
    pub field: Option<String>,
    /// What the rule says about the field.
    pub message: Option<String>,
    /// The release that deprecates it.
    pub since: Option<String>,
    /// The first release without it.
    pub removed_in: Option<String>,
    /// Whether `to` does not have it any more.
    pub removed: bool,
    /// What to write in its place.
    pub replacement: Option<String>,
    /// `yes`, `review` (a person must look) or `no`.
    pub convertible: String,
    /// Why it is not simply converted.
    pub reason: Option<String>,
    /// The rule, where it is about a field.
    pub rule: Option<String>,
}

/// Something worth knowing about an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NoteLine {
    /// The file.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The object.
    pub object: String,
    /// The sentence.
    pub message: String,
}
