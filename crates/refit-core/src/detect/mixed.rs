//! What of a manifest belongs to another version than the rest.

use serde::Serialize;

use super::Source;
use super::evidence::{is_of, spell};
use crate::catalog::{Api, Catalog};
use crate::generated::{Generated, Part, Role};
use crate::release::Version;

/// One thing that belongs to another version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Mixed {
    /// Where it was seen.
    pub source: Source,
    /// The object, as in `Deployment/helm-controller`; `header` for the comment.
    pub subject: String,
    /// What it says.
    pub found: String,
    /// What the release has there.
    pub expected: String,
}

/// Lists what does not belong to a version.
pub(super) fn find(manifest: &Generated<'_>, version: &Version, catalog: &Catalog) -> Vec<Mixed> {
    let header = manifest
        .header
        .version
        .as_ref()
        .filter(|stated| *stated != version)
        .map(|stated| Mixed {
            source: Source::Header,
            subject: "header".to_owned(),
            found: stated.to_string(),
            expected: version.to_string(),
        });
    let parts = manifest.parts.iter();
    header
        .into_iter()
        .chain(parts.flat_map(|part| in_part(part, version, catalog)))
        .collect()
}

fn in_part(part: &Part<'_>, version: &Version, catalog: &Catalog) -> Vec<Mixed> {
    let mixed = |source: Source, found: String, expected: String| {
        let subject = format!("{}/{}", part.identity.kind, part.identity.name);
        Mixed {
            source,
            subject,
            found,
            expected,
        }
    };
    let mut all = Vec::new();
    let label = part.version_label.as_deref().and_then(|text| Version::parse(text).ok());
    if let Some(label) = label.filter(|label| label != version) {
        all.push(mixed(Source::Labels, label.to_string(), version.to_string()));
    }
    match &part.role {
        Role::Controller(controller) => {
            let expected = catalog
                .release(version)
                .and_then(|release| release.tags.get(controller.name));
            if let (Some(expected), Some(image)) = (expected, controller.image())
                && (image.name != controller.name || image.tag != expected)
            {
                let found = format!("{}:{}", image.name, image.tag);
                all.push(mixed(Source::Images, found, format!("{}:{expected}", controller.name)));
            }
        }
        Role::Definition(definition) => {
            let crd = part.identity.name.as_ref();
            let knows = catalog.knows(version) && catalog.resource(crd).is_some();
            if knows && !is_of(crd, definition, version, catalog) {
                let expected = catalog.api(crd, version).map_or_else(|| "absent".to_owned(), spell_api);
                all.push(mixed(Source::Definitions, spell(definition), expected));
            }
        }
        Role::Other => {}
    }
    all
}

fn spell_api(api: Api<'_>) -> String {
    let mark = |version: &String| {
        if *version == api.versions.storage {
            format!("{version}*")
        } else {
            version.clone()
        }
    };
    api.versions.served.iter().map(mark).collect::<Vec<_>>().join("/")
}
