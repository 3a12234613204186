//! Conversions: rules in, the text before and after.

#![expect(clippy::expect_used, reason = "a test that cannot be set up must stop")]

mod support;

mod operations;
mod pointed;
mod refusals;
