//! Fakes, builders and the script runner of the tests.
//!
//! In: what a test wants. Out: values and runs. Never part of the program.

pub mod script;
