//! Finds out which release wrote a manifest.
//!
//! In: a stream and the catalog. Out: whether the file is a plane's manifest, and a [`Detection`]: the version, the
//! evidence for it, and what of the manifest belongs to another version. Labels decide, unless images and definitions
//! both speak against them; without labels images do; the header comes last, since headers lie.

mod evidence;
mod mixed;

use std::collections::BTreeSet;

use refit_manifest::Stream;
use serde::Serialize;

pub use evidence::{Evidence, Source};
pub use mixed::Mixed;

use crate::catalog::Catalog;
use crate::generated::{Definition, Generated, Role};
use crate::release::Version;

/// What a file is for a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// A generated manifest.
    Manifest,
    /// No object at all: a file that waits for its content.
    Placeholder,
    /// Anything else, also patches and custom resources of the platform.
    Other,
}

/// Tells what a file is, whatever its name.
pub fn recognise(stream: &Stream, catalog: &Catalog) -> Recognised {
    if stream.documents().iter().all(refit_manifest::Document::is_empty) {
        return Recognised::Placeholder;
    }
    let resources = || {
        stream
            .objects()
            .filter(|(identity, _)| catalog.resource(&identity.name).is_some())
    };
    let deployments = || {
        stream
            .objects()
            .filter(|(identity, _)| identity.kind.as_ref() == "Deployment")
    };
    let mut definitions = resources().filter(|(identity, _)| identity.kind.as_ref() == "CustomResourceDefinition");
    let complete = definitions.any(|(_, document)| is_complete(document.body_text())) && deployments().next().is_some();
    if complete && is_generated(&Generated::read(stream, catalog)) {
        Recognised::Manifest
    } else {
        Recognised::Other
    }
}

/// Tells whether a definition has its versions: a patch of one rarely has their schemas.
fn is_complete(definition: &str) -> bool {
    definition.contains("openAPIV3Schema")
}

/// Tells whether there is a controller with an image, not from a Helm chart.
fn is_generated(manifest: &Generated<'_>) -> bool {
    manifest.parts.iter().any(|part| {
        let Role::Controller(controller) = &part.role else {
            return false;
        };
        let chart = part
            .document
            .root()
            .and_then(|root| root.at(&["metadata", "labels", "helm.sh/chart"]));
        chart.is_none() && controller.image().is_some()
    })
}

/// How sure a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Confidence {
    /// All evidence that there is names it.
    Agreed,
    /// Most evidence names it.
    Outweighed,
    /// Nothing but the header names it.
    HeaderOnly,
    /// No version was found, or several are as likely.
    Unclear,
}

/// The version of a manifest and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detection {
    /// The version; `None` where the evidence does not tell.
    pub version: Option<Version>,
    /// How sure it is.
    pub confidence: Confidence,
    /// The versions among which the evidence does not choose; empty with a version.
    pub candidates: Vec<Version>,
    /// What each source says.
    pub evidence: Vec<Evidence>,
    /// What belongs to another version.
    pub mixed: Vec<Mixed>,
}

impl Detection {
    /// Says in a sentence why the version is what it is, and which source was not followed.
    pub fn verdict(&self) -> String {
        let Some(version) = &self.version else {
            return match self.candidates.as_slice() {
                [] => "no source names a release that the others do not speak against".to_owned(),
                several => {
                    let names: Vec<String> = several.iter().map(|version| format!("`{version}`")).collect();
                    format!("the sources do not choose between {}", names.join(" and "))
                }
            };
        };
        let words = |wanted: &dyn Fn(&Evidence) -> bool| -> Vec<&str> {
            let those = self.evidence.iter().filter(|evidence| wanted(evidence));
            those.map(|evidence| evidence.source.word()).collect()
        };
        let naming = words(&|evidence| evidence.versions.contains(version));
        let partly = words(&|evidence| !evidence.versions.contains(version) && evidence.nearly.contains(version));
        let against = words(&|evidence| evidence.speaks_against(version));
        let mut text = format!("`{version}` fits the {}", naming.join(", "));
        if !partly.is_empty() {
            text.push_str(&format!(", and most of the {}", partly.join(", ")));
        }
        if !against.is_empty() {
            text.push_str(&format!("; outweighed: the {}", against.join(", ")));
        }
        text
    }
}

/// Tells whether a definition has just the API versions of a release.
pub fn is_definition_of(crd: &str, found: &Definition, version: &Version, catalog: &Catalog) -> bool {
    evidence::is_of(crd, found, version, catalog)
}

/// Detects the version of a manifest.
pub fn detect(manifest: &Generated<'_>, catalog: &Catalog) -> Detection {
    let evidence = evidence::gather(manifest, catalog);
    let (version, candidates) = decide(&evidence, catalog);
    let mixed = version
        .as_ref()
        .map(|version| mixed::find(manifest, version, catalog))
        .unwrap_or_default();
    let confidence = confidence(&evidence, version.as_ref(), &mixed);
    Detection {
        version,
        confidence,
        candidates,
        evidence,
        mixed,
    }
}

fn confidence(evidence: &[Evidence], version: Option<&Version>, mixed: &[Mixed]) -> Confidence {
    let Some(version) = version else {
        return Confidence::Unclear;
    };
    let mut naming = evidence.iter().filter(|evidence| evidence.versions.contains(version));
    if naming.all(|evidence| evidence.source == Source::Header) {
        Confidence::HeaderOnly
    } else if mixed.is_empty() {
        Confidence::Agreed
    } else {
        Confidence::Outweighed
    }
}

fn decide(evidence: &[Evidence], catalog: &Catalog) -> (Option<Version>, Vec<Version>) {
    let of = |source: Source| evidence.iter().find(|evidence| evidence.source == source);
    let header = of(Source::Header).and_then(|header| header.versions.first());
    let labelled = of(Source::Labels).and_then(|labels| labels.versions.first());
    if let Some(version) = labelled {
        let against = |source| of(source).is_some_and(|evidence| evidence.speaks_against(version));
        let refuted = catalog.knows(version) && against(Source::Images) && against(Source::Definitions);
        if !refuted {
            return (Some(version.clone()), Vec::new());
        }
    }
    let images: BTreeSet<&Version> = of(Source::Images)
        .into_iter()
        .flat_map(|images| &images.versions)
        .collect();
    let defined = of(Source::Definitions);
    let fits = |version: &&&Version| defined.is_none_or(|evidence| !evidence.speaks_against(version));
    let candidates: Vec<&Version> = images.iter().filter(fits).copied().collect();
    match (candidates.as_slice(), header) {
        ([only], _) => (Some((*only).clone()), Vec::new()),
        ([], Some(header)) if labelled.is_none() && images.is_empty() && (fits(&&header) || !catalog.knows(header)) => {
            (Some(header.clone()), Vec::new())
        }
        ([], _) => (
            None,
            labelled
                .into_iter()
                .chain(header)
                .cloned()
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect(),
        ),
        (several, Some(header)) if several.contains(&header) => (Some(header.clone()), Vec::new()),
        (several, _) => (None, several.iter().copied().cloned().collect()),
    }
}
