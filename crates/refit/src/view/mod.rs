//! Values of the engine as text for people and as JSON.
//!
//! In: a value. Out: its text, its JSON. Knows neither streams nor options.

pub(crate) mod catalog;
pub(crate) mod conversions;
pub(crate) mod decisions;
pub(crate) mod fleet;
pub(crate) mod groups;
pub(crate) mod init;
pub(crate) mod lines;
pub(crate) mod people;
pub(crate) mod plan;
pub(crate) mod requests;
pub(crate) mod sarif;
pub(crate) mod status;

use refit_core::finding::Finding;
use refit_core::report::{Body, DecisionLine};
use serde::Serialize;

/// What `merge` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Merge {
    /// Every decision, clean ones too.
    pub(crate) decisions: Vec<DecisionLine>,
    /// What was found about patches of kustomizations and needs no answer.
    pub(crate) findings: Vec<Finding>,
}

/// What `version` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    /// The version of this program.
    pub(crate) version: String,
    /// What is built in about the releases of each platform.
    pub(crate) catalogs: Vec<CatalogDate>,
}

/// How new the data about a platform's releases is.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CatalogDate {
    /// The platform.
    pub(crate) platform: String,
    /// The newest stable release that the data knows.
    pub(crate) newest: String,
    /// The day on which the data was last compared with release manifests.
    pub(crate) date: String,
}

/// What `completion` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Completion {
    /// The completion script.
    pub(crate) script: String,
}

/// What `init --schema` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Schema {
    /// The JSON schema of `refit.yaml`.
    pub(crate) schema: serde_json::Value,
}

/// What `render` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Rendered {
    /// The platform.
    pub(crate) platform: String,
    /// The version.
    pub(crate) version: String,
    /// The manifest.
    pub(crate) manifest: String,
}

impl Body for Rendered {
    const KIND: &'static str = "Rendered";
}
impl Body for Merge {
    const KIND: &'static str = "Merge";
}
impl Body for Schema {
    const KIND: &'static str = "Schema";
}
impl Body for Version {
    const KIND: &'static str = "Version";
}
impl Body for Completion {
    const KIND: &'static str = "Completion";
}
