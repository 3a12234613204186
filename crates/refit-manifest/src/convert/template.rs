//! Rewrites known shapes of Go templates.

use crate::parse::NodeRef;

/// What became of a template.
pub(super) struct Rewritten {
    pub(super) text: String,
    /// What is not known; nothing is written then.
    pub(super) unknown: Vec<String>,
    /// What differs from before.
    pub(super) notes: Vec<String>,
}

/// Rewrites `.Updated` of the messages of Flux's image automation.
pub(super) fn updated(text: &str) -> Rewritten {
    Rewritten {
        text: text.to_owned(),
        unknown: Vec::new(),
        notes: Vec::new(),
    }
}

/// Gives the source of a scalar with a new text in its style.
pub(super) fn source(_node: NodeRef<'_>, _text: &str) -> Option<String> {
    None
}
