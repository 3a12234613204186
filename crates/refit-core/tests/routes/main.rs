//! Routes from every release of the catalog, from the catalog's data and from the release manifests themselves.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

mod broken;
mod issues;
mod migrate;
mod server;
mod support;
mod table;
