//! The flows of Git mode over edges in memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod bad_input;
mod clusters;
mod conversions;
mod cuts;
mod findings;
mod gates;
mod names;
mod people;
mod pruning;
mod race;
mod reviewed;
mod routes;
mod scanned;
mod shared;
mod story;
mod world;
