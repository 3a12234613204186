//! Base and theirs: what the generator wrote for the installed release, and what it writes for the target.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_core::check;
use refit_core::detect;
use refit_core::digest;
use refit_core::finding::{Code, Finding};
use refit_core::generated::Generated;
use refit_core::inventory::{Cluster, GeneratedFile};
use refit_core::options::Options;
use refit_core::plan::Sides;
use refit_core::release::Version;
use refit_core::render;
use refit_manifest::{Path, Stream};

use super::ground::Ground;
use crate::ports::PortErrorKind;
use crate::{Ask, Error, Ports};

/// The most contents of a file's history that are looked at.
const HISTORY_LIMIT: usize = 200;

/// The manifests of a release.
pub(super) enum Contents {
    /// The manifests, and where they came from.
    Streams(Vec<Stream>, String),
    /// They cannot be had, and why.
    Missing(Finding),
}

/// A side that was had, or why not.
pub(super) enum Side {
    /// The bytes, where they came from, and what is worth saying about them.
    Had(Arc<[u8]>, String, Vec<Finding>),
    /// Nothing.
    Missing(Vec<Finding>),
}

/// Reads the manifests of a release.
pub(super) fn contents(ports: &Ports<'_>, version: &Version) -> Result<Contents, Error> {
    let platform = ports.catalog.platform().as_str();
    let contents = match ports.releases.contents(platform, &version.to_string()) {
        Ok(contents) => contents,
        Err(error) if error.kind == PortErrorKind::Corrupt => {
            let finding = Finding::new(Code::DigestMismatch, version.to_string(), error.message);
            let finding = match error.remedy {
                Some(remedy) => finding.with_remedy(remedy),
                None => finding,
            };
            return Ok(Contents::Missing(finding));
        }
        Err(error) if error.kind == PortErrorKind::NotFound => {
            return Ok(Contents::Missing(Finding::new(
                Code::UnknownVersion,
                version.to_string(),
                error.message,
            )));
        }
        Err(error) => return Err(error.into()),
    };
    let origin = contents
        .first()
        .map(|content| content.origin.clone())
        .unwrap_or_default();
    let mut streams = Vec::new();
    for content in contents {
        match Stream::split(content.bytes) {
            Ok(stream) => streams.push(stream),
            Err(error) => {
                let message = format!("{} cannot be read: {error}", content.origin);
                return Ok(Contents::Missing(Finding::new(
                    Code::DigestMismatch,
                    version.to_string(),
                    message,
                )));
            }
        }
    }
    Ok(Contents::Streams(streams, origin))
}

/// Renders a release with options.
pub(super) fn rendered(ports: &Ports<'_>, version: &Version, options: &Options) -> Result<Side, Error> {
    let (streams, origin) = match contents(ports, version)? {
        Contents::Streams(streams, origin) => (streams, origin),
        Contents::Missing(finding) => return Ok(Side::Missing(vec![finding])),
    };
    match render::render(&streams, options, ports.catalog) {
        Ok(rendered) if rendered.missing.is_empty() => {
            Ok(Side::Had(rendered.bytes, format!("{version} of {origin}"), Vec::new()))
        }
        Ok(rendered) => Ok(Side::Missing(check::missing(version, &rendered.missing, &origin))),
        Err(error) => {
            let message = format!("{origin}: {error}");
            Ok(Side::Missing(vec![Finding::new(
                Code::DigestMismatch,
                version.to_string(),
                message,
            )]))
        }
    }
}

/// Finds the base of a file: the user's own file, the release contents (checked against the record of the last upgrade),
/// the commit that introduced the version.
pub(super) fn base(
    ports: &Ports<'_>,
    ask: &Ask,
    ground: &Ground,
    (cluster, file): (&Cluster, &GeneratedFile),
) -> Result<Side, Error> {
    if let Some(bytes) = &ask.base_file {
        return Ok(given(ports, file, bytes));
    }
    let Some(version) = &file.detection.version else {
        return Ok(Side::Missing(Vec::new()));
    };
    let tried = match rendered(ports, version, &file.options)? {
        Side::Had(bytes, origin, mut findings) => {
            findings.extend(changed_digest(cluster, file, version, &bytes));
            return Ok(Side::Had(bytes, origin, findings));
        }
        Side::Missing(findings) => findings,
    };
    // A file that fails its digest must not be passed over in silence.
    if tried.iter().any(|finding| finding.code == Code::DigestMismatch) {
        return Ok(Side::Missing(tried));
    }
    from_history(ports, ground, file, version, &tried)
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

/// Compares the release contents with the digest that the last upgrade recorded for the same options.
fn changed_digest(cluster: &Cluster, file: &GeneratedFile, version: &Version, bytes: &[u8]) -> Option<Finding> {
    let record = cluster.record.as_ref()?;
    if record.to != *version || record.options != file.options {
        return None;
    }
    let recorded = record
        .files
        .iter()
        .find(|recorded| recorded.path == file.path.as_str())?;
    (recorded.theirs != digest::of(bytes)).then(|| {
        let message = format!("{version} had {} when this cluster was upgraded to it", recorded.theirs);
        Finding::new(Code::DigestChanged, file.path.as_str(), message)
    })
}

/// Looks for the oldest of the newest contents in a row that have the installed version.
fn from_history(
    ports: &Ports<'_>,
    ground: &Ground,
    file: &GeneratedFile,
    version: &Version,
    tried: &[Finding],
) -> Result<Side, Error> {
    let history = ports
        .repository
        .history(&ground.base.commit, &file.path, HISTORY_LIMIT)?;
    let mut seen = BTreeSet::new();
    let mut introduced = None;
    let mut reached_other = false;
    for past in &history.contents {
        if !seen.insert(past.blob.clone()) {
            continue;
        }
        let bytes = ports.repository.read(&past.blob)?;
        if has_version(ports, &bytes, version) {
            introduced = Some((past.commit.clone(), bytes));
        } else {
            reached_other = true;
            break;
        }
    }
    let cut = !reached_other && (history.cut || history.contents.len() >= HISTORY_LIMIT);
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

fn has_version(ports: &Ports<'_>, bytes: &Arc<[u8]>, version: &Version) -> bool {
    Stream::split(Arc::clone(bytes)).is_ok_and(|stream| {
        let manifest = Generated::read(&stream, ports.catalog);
        detect::detect(&manifest, ports.catalog).version.as_ref() == Some(version)
    })
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

/// Gives both sides of every generated file, and what was found; files with a missing side are left out.
pub(super) fn both(
    ports: &Ports<'_>,
    ask: &Ask,
    ground: &Ground,
    cluster: &Cluster,
    to: &Version,
) -> Result<(Vec<Sides>, Vec<Finding>), Error> {
    let mut sides = Vec::new();
    let mut findings = Vec::new();
    for file in &cluster.files {
        let base = base(ports, ask, ground, (cluster, file))?;
        let theirs = rendered(ports, to, &file.options)?;
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
