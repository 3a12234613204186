//! Which lists are keyed by what.

/// The list keys of custom resources.
#[derive(Clone, Debug, Default)]
pub struct ListKeys;
