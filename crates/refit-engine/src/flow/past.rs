//! What the history of a generated file tells: the oldest release that it has had.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_core::detect;
use refit_core::generated::Generated;
use refit_core::inventory::Group;
use refit_core::release::Version;
use refit_manifest::Stream;

use super::ground::Flow;
use crate::Error;

/// The most contents of a file's history that are looked at.
pub(super) const LIMIT: usize = 200;

/// Gives the oldest release that the generated file of a group has had; `None` where a shallow clone hides the beginning,
/// or a content shows no release.
pub(super) fn oldest(flow: Flow<'_>, group: &Group<'_>) -> Result<Option<Version>, Error> {
    let Flow { ports, ground, .. } = flow;
    let Some(file) = group.main() else { return Ok(None) };
    if let Some(known) = ground.oldest.borrow().get(&file.path) {
        return Ok(known.clone());
    }
    let history = ports.repository.history(&ground.base.commit, &file.path, LIMIT)?;
    let mut oldest: Option<Version> = None;
    let mut seen = BTreeSet::new();
    let mut whole = !history.cut && history.contents.len() < LIMIT;
    for past in history.contents.iter().filter(|past| seen.insert(past.blob.clone())) {
        let version = version(flow, &ports.repository.read(&past.blob)?);
        whole &= version.is_some();
        oldest = match (oldest, version) {
            (Some(known), Some(version)) => Some(known.min(version)),
            (known, version) => known.or(version),
        };
    }
    let oldest = oldest.filter(|_| whole);
    ground.oldest.borrow_mut().insert(file.path.clone(), oldest.clone());
    Ok(oldest)
}

/// Gives the release that a content is of.
pub(super) fn version(flow: Flow<'_>, bytes: &Arc<[u8]>) -> Option<Version> {
    let catalog = flow.ports.catalog;
    let stream = Stream::split(Arc::clone(bytes)).ok()?;
    detect::detect(&Generated::read(&stream, catalog), catalog).version
}
