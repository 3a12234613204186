//! YAML manifests as immutable bytes with spans, and their three-way merge.
//!
//! In: bytes, as [`Tree`]s of files. Out: documents, splices, merged trees and the [`Decision`]s that explain
//! them. Knows neither clients nor files nor clocks. Modules are listed in flow order; each imports only from those
//! above it.

pub mod tree;
pub mod mask;
pub mod scalar;
pub mod parse;
pub mod stream;
pub mod edit;
mod layout;
mod render;
mod elements;
pub mod schema;
pub mod decision;
pub mod convert;
pub mod merge;

pub use decision::{Answer, Answers, Class, Decision, DecisionId, Outcome, Rule};
pub use stream::{Document, Identity, Stream};
pub use tree::{Entry, Path, Tree};
