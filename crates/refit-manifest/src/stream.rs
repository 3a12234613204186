//! A file as a stream of documents.

use std::fmt;
use std::sync::Arc;

/// What makes an object the same object over versions: group, kind, namespace and name, without the API version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The API group, empty for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// The namespace, empty where none is written.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.kind, self.name)?;
        if self.namespace.is_empty() {
            Ok(())
        } else {
            write!(formatter, " in {}", self.namespace)
        }
    }
}

/// A file split into documents.
#[derive(Clone, Debug)]
pub struct Stream;

/// One document of a stream.
#[derive(Clone, Debug)]
pub struct Document;
