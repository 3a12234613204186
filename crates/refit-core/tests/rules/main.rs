//! The embedded rules of conversion, before and after; rule files, good and bad.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

mod support;

mod behaviour;
mod files;
mod flux;
mod helm;
mod others;
mod page;
mod property;
mod template;
