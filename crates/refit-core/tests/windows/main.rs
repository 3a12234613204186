//! The order of requests: how many there are on each route and why, and what each holds.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod counts;
mod doubts;
mod generated;
mod pointers;
mod reports;
mod rules;
mod support;
