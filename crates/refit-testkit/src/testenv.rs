//! Real programs that tests run beside refit, each built or installed once.
//!
//! In: the name of a part. Out: the path of its program, or a server that ends with the value. A part that cannot be had
//! is a line `skipped: ...`; where `CI` is set, it is a failure, so that nothing is left out there unseen.

mod parts;
mod guard;
mod manifests;
mod client;
mod definitions;
mod apply;
mod nodes;
mod api_server;
mod registry;

use std::path::PathBuf;
use std::sync::OnceLock;

use parts::built;

pub use api_server::ApiServer;
pub use apply::Apply;
pub use client::{Client, Object, Part, Refused};
pub use guard::until;
pub use registry::{Registry, Serve};

/// Gives kustomize v5.8.1, built by `testenv/build` on demand.
pub fn kustomize() -> Option<PathBuf> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    BUILT
        .get_or_init(|| built("kustomize").map(|folder| folder.join("kustomize")))
        .clone()
}
