//! Base and theirs: what the generator wrote for the installed release, and what it writes for the target.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_core::copied;
use refit_core::detect;
use refit_core::digest;
use refit_core::finding::{Code, Finding};
use refit_core::generated::Generated;
use refit_core::inventory::{GeneratedFile, Group};
use refit_core::plan::Sides;
use refit_core::release::Version;
use refit_manifest::{Path, Stream};

use super::contents::{self, Side};
use super::ground::{Flow, Ground};
use super::past;
use crate::{Error, Ports};

/// Finds the base of a file; definitions that the user copied from other releases, not newer than the target, are part of it.
pub(super) fn base(
    flow: Flow<'_>,
    group: &Group<'_>,
    file: &GeneratedFile,
    to: Option<&Version>,
) -> Result<Side, Error> {
    let (mut base, origin, mut findings) = match written(flow, group, file)? {
        Side::Had(base, origin, findings) => (base, origin, findings),
        missing @ Side::Missing(_) => return Ok(missing),
    };
    let releases = copied::releases(file, flow.ports.catalog);
    // What is newer than the target must not go back without a question.
    for release in releases.iter().filter(|release| to.is_none_or(|to| *release <= to)) {
        let Side::Had(bytes, ..) = contents::rendered(flow, release, &file.options)? else {
            continue;
        };
        let Ok(other) = Stream::split(bytes) else { continue };
        if let Some(rebased) = copied::rebase(&base, &file.stream, &other) {
            base = rebased.bytes;
            findings.push(copied::finding(file, release, &rebased.names));
        }
    }
    Ok(Side::Had(base, origin, findings))
}

/// Finds the base of a file: the user's own file, the release contents (checked against the record of the last upgrade),
/// the commit that introduced the version.
fn written(flow: Flow<'_>, group: &Group<'_>, file: &GeneratedFile) -> Result<Side, Error> {
    if let Some(bytes) = &flow.ask.base_file {
        return Ok(given(flow.ports, file, bytes));
    }
    let Some(version) = &file.detection.version else {
        return Ok(Side::Missing(Vec::new()));
    };
    let tried = match contents::rendered(flow, version, &file.options)? {
        Side::Had(bytes, origin, mut findings) => {
            findings.extend(changed_digest(group, file, version, &bytes));
            return Ok(Side::Had(bytes, origin, findings));
        }
        Side::Missing(findings) => findings,
    };
    // A file that fails its digest, or is of another release, must not be passed over in silence.
    if tried
        .iter()
        .any(|finding| matches!(finding.code, Code::DigestMismatch | Code::ReleaseDiffers))
    {
        return Ok(Side::Missing(tried));
    }
    from_history(flow, file, version, &tried)
}

/// Takes the file that the user gave, when it is a generated manifest of the installed version.
fn given(ports: &Ports<'_>, file: &GeneratedFile, bytes: &Arc<[u8]>) -> Side {
    let refused = |message: String| {
        let finding = Finding::new(Code::BaseUnknown, file.path.as_str(), message)
            .with_remedy("give the file as the generator wrote it for the installed version");
        Side::Missing(vec![finding])
    };
    let Ok(stream) = Stream::split(Arc::clone(bytes)) else {
        return refused("the file given with `--base-file` cannot be read".to_owned());
    };
    let manifest = Generated::read(&stream, ports.catalog);
    if manifest.controllers().next().is_none() {
        return refused("the file given with `--base-file` is no generated manifest: it has no controller".to_owned());
    }
    let shown = detect::detect(&manifest, ports.catalog).version;
    match (&file.detection.version, shown) {
        (Some(installed), Some(shown)) if *installed != shown => refused(format!(
            "the file given with `--base-file` is of {shown}, installed is {installed}"
        )),
        _ => Side::Had(
            Arc::clone(bytes),
            "the file given with `--base-file`".to_owned(),
            Vec::new(),
        ),
    }
}

/// Gives the version that the file given with `--base-file` shows.
pub(super) fn version_of_base_file(flow: Flow<'_>) -> Option<Version> {
    let catalog = flow.ports.catalog;
    let stream = Stream::split(Arc::clone(flow.ask.base_file.as_ref()?)).ok()?;
    detect::detect(&Generated::read(&stream, catalog), catalog).version
}

/// Compares the release contents with the digest that the last upgrade recorded for the same options.
fn changed_digest(group: &Group<'_>, file: &GeneratedFile, version: &Version, bytes: &[u8]) -> Option<Finding> {
    let mut records = group
        .records()
        .filter(|record| record.to == *version && record.options == file.options);
    let recorded = records.find_map(|record| {
        let mut files = record.files.iter();
        files.find(|recorded| recorded.path == file.path.as_str())
    })?;
    (recorded.theirs != digest::of(bytes)).then(|| {
        let message = format!("{version} had {} when this cluster was upgraded to it", recorded.theirs);
        Finding::new(Code::DigestChanged, file.path.as_str(), message)
    })
}

/// Looks for the oldest of the newest contents in a row that have the installed version.
fn from_history(flow: Flow<'_>, file: &GeneratedFile, version: &Version, tried: &[Finding]) -> Result<Side, Error> {
    let Flow { ports, ground, .. } = flow;
    let history = ports.repository.history(&ground.base.commit, &file.path, past::LIMIT)?;
    let mut seen = BTreeSet::new();
    let mut introduced = None;
    let mut reached_other = false;
    for content in &history.contents {
        if !seen.insert(content.blob.clone()) {
            continue;
        }
        let bytes = ports.repository.read(&content.blob)?;
        if past::version(flow, &bytes).as_ref() == Some(version) {
            introduced = Some((content.commit.clone(), bytes));
        } else {
            reached_other = true;
            break;
        }
    }
    let cut = !reached_other && (history.cut || history.contents.len() >= past::LIMIT);
    match introduced {
        Some((commit, bytes)) if !cut && differs(ground, &file.path, &bytes) => {
            let short: String = commit.0.chars().take(10).collect();
            let message =
                format!("taken from commit {short}, which brought {version}; what else it changed counts as generated");
            let finding = Finding::new(Code::BaseFromHistory, file.path.as_str(), message);
            Ok(Side::Had(bytes, format!("commit {short}"), vec![finding]))
        }
        _ => {
            let mut findings = vec![unknown(file, version, tried)];
            if cut {
                let message = "the history ends before the commit that brought the installed version";
                findings.push(Finding::new(Code::ShallowHistory, file.path.as_str(), message));
            }
            Ok(Side::Missing(findings))
        }
    }
}

/// A file that has not changed since its version came shows nothing about what the generator wrote.
fn differs(ground: &Ground, path: &Path, bytes: &Arc<[u8]>) -> bool {
    ground.snapshot.tree.bytes(path) != Some(bytes)
}

fn unknown(file: &GeneratedFile, version: &Version, tried: &[Finding]) -> Finding {
    let reasons: Vec<&str> = tried.iter().map(|finding| finding.message.as_str()).collect();
    let message = format!(
        "what the generator wrote for {version} cannot be had: {}; the history of the file does not show it either",
        reasons.join(", ")
    );
    Finding::new(Code::BaseUnknown, file.path.as_str(), message)
}

/// Gives both sides for a request that brings no release: each file as it is installed.
pub(super) fn as_installed(flow: Flow<'_>, group: &Group<'_>) -> Result<(Vec<Sides>, Vec<Finding>), Error> {
    let (mut sides, mut findings) = (Vec::new(), Vec::new());
    for file in group.files() {
        match base(flow, group, file, None)? {
            Side::Had(base, origin, notes) => {
                findings.extend(notes);
                sides.push(Sides {
                    path: file.path.clone(),
                    theirs: Arc::clone(&base),
                    base,
                    origin,
                });
            }
            Side::Missing(missing) => findings.extend(missing),
        }
    }
    Ok((sides, findings))
}

/// Gives both sides of every generated file, and what was found; files with a missing side are left out.
pub(super) fn both(flow: Flow<'_>, group: &Group<'_>, to: &Version) -> Result<(Vec<Sides>, Vec<Finding>), Error> {
    let mut sides = Vec::new();
    let mut findings = Vec::new();
    for file in group.files() {
        let base = base(flow, group, file, Some(to))?;
        let theirs = contents::rendered(flow, to, &file.options)?;
        match (base, theirs) {
            (Side::Had(base, origin, notes), Side::Had(theirs, _, more)) => {
                findings.extend(notes);
                findings.extend(more);
                sides.push(Sides {
                    path: file.path.clone(),
                    base,
                    origin,
                    theirs,
                });
            }
            (base, theirs) => {
                for side in [base, theirs] {
                    if let Side::Missing(missing) = side {
                        findings.extend(missing);
                    }
                }
            }
        }
    }
    Ok((sides, findings))
}
