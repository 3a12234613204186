//! Where release contents come from.
//!
//! In: the names of sources. Out: a real [`Releases`](refit_engine::ports::Releases). Knows neither kube nor Git.

mod address;
mod cache;
mod credentials;
mod digests;
pub mod directory;
mod fetch;
mod http;
pub mod index;
mod manifests;
mod network;
mod oci;
mod published;
mod pull;
mod several;
mod source;

pub use credentials::Credentials;
pub use directory::Directory;
pub use network::{Reach, Settings};
pub use pull::{Pulled, Puller};
pub use several::Several;
pub use source::{Error, Opening, open, open_each, shown};
