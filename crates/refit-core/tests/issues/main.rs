//! Reports of users about upgrades, each as a small input; docs/known-problems.md lists them.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod conversions;

use refit_core::release::Version;

pub(crate) fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}
