//! Uses of old API versions and their conversion, file by file.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod fields;
mod findings;
mod odd;
mod places;
mod pointers;
mod shapes;
mod support;
mod versions;
