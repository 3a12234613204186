//! Tests of Git repositories and the built-in forge with the real `git` program.
#![expect(clippy::unwrap_used, reason = "these are tests, their helpers too")]

mod bad_input;
mod common;
mod contract;
mod kill;
mod race;
mod repository;
