//! The planes that run what the files describe: what they do not serve must not be written yet.

use refit_core::conversion::{Convertible, Wanted, What};
use refit_core::finding::{Code, Finding};
use refit_core::generated::Header;
use refit_core::release::Version;
use refit_manifest::{Path, Stream};

use super::look::Seen;
use super::target::Aim;

/// The most bytes in front of the first object of a generated manifest that are looked at.
const HEAD: usize = 2048;

/// Gives the release that the comments at the top of a generated manifest name.
pub(super) fn release_of(bytes: &[u8]) -> Option<Version> {
    let head = &bytes[..bytes.len().min(HEAD)];
    // Most files do not begin with a comment.
    if !head.trim_ascii_start().starts_with(b"#") && !head.starts_with(b"---") {
        return None;
    }
    let lines = head.split(|byte| *byte == b'\n');
    let lines = lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let comments = lines.take_while(|line| matches!(line, [] | [b'#' | b'-', ..]));
    let comments: Vec<_> = comments.map(String::from_utf8_lossy).collect();
    if !comments.iter().any(|line| line.contains("Flux Version")) {
        return None;
    }
    let stream = Stream::split(format!("{}\n", comments.join("\n")).as_bytes().into()).ok()?;
    let header = Header::read(&stream);
    header.version
}

/// A release that a plane runs, and that does not serve what would be written.
pub(super) struct Behind {
    /// The oldest of them.
    pub(super) release: Version,
    pub(super) findings: Vec<Finding>,
}

/// Finds the planes that do not serve what would be written.
pub(super) fn behind(seen: &Seen, aim: &Aim) -> Option<Behind> {
    let older = |(_, release): &&(Path, Version)| *release < aim.version && aim.catalog.knows(release);
    let planes = seen.folders.iter().flat_map(|folder| &folder.planes).filter(older);
    let mut found: Vec<(Version, Finding)> = planes
        .filter_map(|(path, release)| Some((release.clone(), finding(seen, aim, (path, release))?)))
        .collect();
    found.sort_by(|(one, _), (other, _)| one.cmp(other));
    Some(Behind {
        release: found.first()?.0.clone(),
        findings: found.into_iter().map(|(_, finding)| finding).collect(),
    })
}

fn finding(seen: &Seen, aim: &Aim, (path, release): (&Path, &Version)) -> Option<Finding> {
    let installed = Wanted::of(&aim.catalog, release);
    let mut unserved: Vec<String> = seen
        .meant()
        .flat_map(|file| &file.uses)
        .filter(|used| used.convertible == Convertible::Yes && matches!(used.what, What::Version(_)))
        .filter_map(|used| {
            let version = used.replacement.as_deref()?;
            let is_served = installed.serves(&used.group, &used.kind, version);
            (!is_served).then(|| format!("{}/{version}", used.kind))
        })
        .collect();
    unserved.sort();
    unserved.dedup();
    if unserved.is_empty() {
        return None;
    }
    let message = format!(
        "the plane runs {release}, which does not serve {} of {}: it would refuse the converted files",
        unserved.join(", "),
        aim.version
    );
    let remedy = format!(
        "convert to what it serves with `--to flux@{release}`, or let `refit upgrade` write each version when it is served"
    );
    Some(Finding::new(Code::ApiVersionNewer, path.as_str(), message).with_remedy(remedy))
}
