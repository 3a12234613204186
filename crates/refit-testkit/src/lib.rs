//! Fakes, builders, the script runner of the tests and an independent checker of merges.
//!
//! In: what a test wants. Out: values and runs. Never part of the program.

pub mod checker;
pub mod random;
pub mod releases;
pub mod script;
