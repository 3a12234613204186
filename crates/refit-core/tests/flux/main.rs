//! Catalog, detection and rendering of Flux, on the example releases and on real ones where they are.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod catalog_data;
mod corpus;
mod detection;
mod edits;
mod forms;
mod rendering;
mod support;
mod verdict;
