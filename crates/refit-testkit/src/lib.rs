//! Fakes, builders, the script runner of the tests and an independent checker of merges.
//!
//! In: what a test wants. Out: values and runs. Never part of the program.

#![expect(clippy::expect_used, reason = "a test that cannot be set up must stop")]

pub mod checker;
pub mod contract;
pub mod flux;
pub mod generate;
pub mod git;
pub mod guide;
pub mod http;
pub mod memory;
pub mod memory_forge;
pub mod merging;
pub mod overlays;
pub mod planes;
pub mod policy;
pub mod random;
pub mod reformat;
pub mod releases;
pub mod script;
pub mod shared;
pub mod testenv;
