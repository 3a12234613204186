//! The sides of a merge, with what keeps it from taking away what stays.
//!
//! In: what the generator writes before and after. Out: their bytes, with the definitions and marks that belong there.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_manifest::{Identity, Stream, Tree};

use super::Sides;
use crate::pruning;

/// Gives base with the marks of objects that go: a request before put them there so that they move, and no person asks to
/// keep them by it.
pub(super) fn with_marks(sides: &Sides, ours: &Tree) -> Option<Arc<[u8]>> {
    let split = |bytes: &Arc<[u8]>| Stream::split(Arc::clone(bytes)).ok();
    let mut marked = pruning::marked(&split(ours.bytes(&sides.path)?)?);
    if marked.is_empty() {
        return None;
    }
    let theirs = split(&sides.theirs)?;
    marked.retain(|identity| !theirs.objects().any(|(stays, _)| stays == identity));
    Some(pruning::keep(&split(&sides.base)?, &marked))
}

/// Gives theirs with the definitions of base that it lacks.
pub(super) fn with_definitions(sides: &Sides) -> Arc<[u8]> {
    let split = |bytes: &Arc<[u8]>| Stream::split(Arc::clone(bytes));
    let (Ok(base), Ok(theirs)) = (split(&sides.base), split(&sides.theirs)) else {
        return Arc::clone(&sides.theirs);
    };
    let has: BTreeSet<&Identity> = theirs.objects().map(|(identity, _)| identity).collect();
    let lost = |identity: &Identity| &*identity.kind == "CustomResourceDefinition" && !has.contains(identity);
    let mut bytes = sides.theirs.to_vec();
    for (_, document) in base.objects().filter(|(identity, _)| lost(identity)) {
        if !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice(b"---\n");
        bytes.extend_from_slice(document.body_text().as_bytes());
    }
    if bytes.len() == sides.theirs.len() {
        Arc::clone(&sides.theirs)
    } else {
        bytes.into()
    }
}
