//! Where release contents come from.
//!
//! In: the name of a source. Out: a real [`Releases`](refit_engine::ports::Releases). Knows neither kube nor Git.

mod digests;
pub mod directory;

pub use directory::Directory;
