//! The contents of releases: read once per version, rendered once per version and options.
//!
//! In: the port of releases. Out: manifests, and what stands in the way of having them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use refit_core::check;
use refit_core::contents;
use refit_core::finding::{Code, Finding};
use refit_core::generated::Generated;
use refit_core::options::Options;
use refit_core::release::Version;
use refit_core::render;
use refit_manifest::Stream;

use super::ground::Flow;
use crate::Error;
use crate::ports::{Content, PortErrorKind};

/// The manifests of a release.
pub(super) enum Release {
    /// The manifests, where they came from, and what is worth saying about them.
    Streams(Vec<Stream>, String, Vec<Finding>),
    /// They cannot be had, and why.
    Missing(Finding),
}

/// A side of a merge that was had, or why not.
#[derive(Clone)]
pub(super) enum Side {
    /// The bytes, where they came from, and what is worth saying about them.
    Had(Arc<[u8]>, String, Vec<Finding>),
    /// Nothing.
    Missing(Vec<Finding>),
}

/// What was read and rendered so far.
#[derive(Default)]
pub(super) struct Contents {
    releases: RefCell<BTreeMap<Version, Rc<Release>>>,
    rendered: RefCell<BTreeMap<Version, Vec<(Options, Side)>>>,
}

/// Gives the manifests of a release.
pub(super) fn release(flow: Flow<'_>, version: &Version) -> Result<Rc<Release>, Error> {
    let known = &flow.ground.contents.releases;
    if let Some(release) = known.borrow().get(version) {
        return Ok(Rc::clone(release));
    }
    let release = Rc::new(read(flow, version)?);
    known.borrow_mut().insert(version.clone(), Rc::clone(&release));
    Ok(release)
}

/// Renders a release with options.
pub(super) fn rendered(flow: Flow<'_>, version: &Version, options: &Options) -> Result<Side, Error> {
    let known = &flow.ground.contents.rendered;
    let same = |(of, side): &(Options, Side)| (of == options).then(|| side.clone());
    let had = known
        .borrow()
        .get(version)
        .and_then(|sides| sides.iter().find_map(same));
    if let Some(side) = had {
        return Ok(side);
    }
    let side = render(flow, version, options)?;
    let mut known = known.borrow_mut();
    known
        .entry(version.clone())
        .or_default()
        .push((options.clone(), side.clone()));
    Ok(side)
}

fn read(flow: Flow<'_>, version: &Version) -> Result<Release, Error> {
    let platform = flow.ports.catalog.platform().as_str();
    let contents = match flow.ports.releases.contents(platform, &version.to_string()) {
        Ok(contents) => contents,
        Err(error) if error.kind == PortErrorKind::Corrupt => {
            let finding = Finding::new(Code::DigestMismatch, version.to_string(), error.message);
            return Ok(Release::Missing(match error.remedy {
                Some(remedy) => finding.with_remedy(remedy),
                None => finding,
            }));
        }
        Err(error) if error.kind == PortErrorKind::NotFound => {
            return Ok(Release::Missing(Finding::new(
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
    let findings = inexact(version, &contents);
    let mut streams = Vec::new();
    for content in contents {
        match Stream::split(content.bytes) {
            Ok(stream) => {
                if let Some(finding) = differs(flow, version, &stream, &content.origin) {
                    return Ok(Release::Missing(finding));
                }
                streams.push(stream);
            }
            Err(error) => {
                let message = format!("{} cannot be read: {error}", content.origin);
                return Ok(Release::Missing(Finding::new(
                    Code::DigestMismatch,
                    version.to_string(),
                    message,
                )));
            }
        }
    }
    Ok(Release::Streams(streams, origin, findings))
}

/// Tells when contents are those of another release than they are said to be.
fn differs(flow: Flow<'_>, version: &Version, stream: &Stream, origin: &str) -> Option<Finding> {
    let catalog = flow.ports.catalog;
    let differences = contents::differences(&Generated::read(stream, catalog), version, catalog);
    let first = differences.first()?;
    let more = match differences.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let message = format!("{origin} is not of {version}: {first}{more}");
    Some(Finding::new(Code::ReleaseDiffers, version.to_string(), message))
}

/// Tells when contents are not what the generator writes, byte for byte.
fn inexact(version: &Version, contents: &[Content]) -> Vec<Finding> {
    let inexact = contents.iter().find(|content| !content.exact);
    let finding = |content: &Content| {
        let message = format!(
            "its contents were made of a manifest of another form: {}",
            content.origin
        );
        Finding::new(Code::ReleaseNotExact, version.to_string(), message)
    };
    inexact.map(finding).into_iter().collect()
}

fn render(flow: Flow<'_>, version: &Version, options: &Options) -> Result<Side, Error> {
    let release = release(flow, version)?;
    let (streams, origin, findings) = match &*release {
        Release::Streams(streams, origin, findings) => (streams, origin, findings),
        Release::Missing(finding) => return Ok(Side::Missing(vec![finding.clone()])),
    };
    Ok(match render::render(streams, options, flow.ports.catalog) {
        Ok(rendered) if rendered.missing.is_empty() => {
            Side::Had(rendered.bytes, format!("{version} of {origin}"), findings.clone())
        }
        Ok(rendered) => Side::Missing(check::missing(version, &rendered.missing, origin)),
        Err(error) => {
            let message = format!("{origin}: {error}");
            Side::Missing(vec![Finding::new(Code::DigestMismatch, version.to_string(), message)])
        }
    })
}
