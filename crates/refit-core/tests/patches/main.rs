//! Patches verified before and after an upgrade: on small overlays of our own, and on real releases and repositories.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod answers;
mod cases;
mod releases;
mod support;
