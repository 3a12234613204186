//! What the commands of `refit catalog` answer.

use refit_core::finding::Finding;
use refit_core::report::Body;
use serde::Serialize;

/// What `catalog list` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Catalog {
    /// Where the sources are.
    pub(crate) source: String,
    /// The platform.
    pub(crate) platform: String,
    /// The versions, oldest first.
    pub(crate) versions: Vec<String>,
    /// What each source has, in the order in which they are asked.
    pub(crate) sources: Vec<Source>,
    /// Sources that do not answer.
    pub(crate) findings: Vec<Finding>,
}

/// One source of releases.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Source {
    /// Where it is.
    pub(crate) location: String,
    /// The versions, oldest first.
    pub(crate) versions: Vec<String>,
}

/// What `catalog pull` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CatalogPull {
    /// The platform.
    pub(crate) platform: String,
    /// The folder.
    pub(crate) folder: String,
    /// The versions that were written, oldest first.
    pub(crate) written: Vec<String>,
    /// The versions that were there already.
    pub(crate) kept: Vec<String>,
    /// Versions that are not byte for byte what the generator writes, and sources that do not answer.
    pub(crate) findings: Vec<Finding>,
}

/// What `catalog verify` answers.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CatalogVerify {
    /// The platform.
    pub(crate) platform: String,
    /// The versions that were looked at, oldest first.
    pub(crate) versions: Vec<String>,
    /// What is wrong with them, or worth knowing.
    pub(crate) findings: Vec<Finding>,
}

impl Body for Catalog {
    const KIND: &'static str = "Catalog";
}
impl Body for CatalogPull {
    const KIND: &'static str = "CatalogPull";
}
impl Body for CatalogVerify {
    const KIND: &'static str = "CatalogVerify";
}
