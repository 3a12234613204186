//! The schemas of the releases.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_core::structural::{Kind, Schema, Violation};
use refit_manifest::Stream;
use refit_testkit::flux::{Manifests, Set};

use crate::corpus::Found;

/// What a release says about an object.
pub(crate) enum Verdict {
    /// The manifest of the release does not define the kind.
    NotDefined,
    /// It defines the kind without this version.
    NotServed,
    Checked(Vec<Violation>),
}

/// The schemas by release, CRD and version.
pub(crate) struct Schemas {
    targets: BTreeMap<(String, String, String), Schema>,
    /// Those of releases before, which tell whether a field was ever there.
    before: Vec<BTreeMap<(String, String, String), Schema>>,
}

/// Releases whose definitions hold every field that was removed later.
const BEFORE: &[&str] = &["v0.9.0", "v0.21.0", "v0.41.2", "v2.0.1", "v2.2.3", "v2.6.4", "v2.7.5"];

impl Schemas {
    pub(crate) fn read(manifests: &Manifests, targets: &[&str]) -> Self {
        let mut of_targets = BTreeMap::new();
        for target in targets {
            of_targets.extend(of_release(manifests, target));
        }
        Self {
            targets: of_targets,
            before: BEFORE.iter().map(|release| of_release(manifests, release)).collect(),
        }
    }

    pub(crate) fn verdict(&self, found: &Found, to: &str) -> Verdict {
        let key = (to.to_owned(), found.crd.clone(), found.version.clone());
        let is_defined = || {
            self.targets
                .keys()
                .any(|(release, crd, _)| release == to && *crd == found.crd)
        };
        match self.targets.get(&key) {
            None if is_defined() => Verdict::NotServed,
            None => Verdict::NotDefined,
            Some(schema) => Verdict::Checked(schema.check(&found.value).violations),
        }
    }

    /// Tells whether some earlier version of the kind has the field.
    pub(crate) fn had_field(&self, found: &Found, field: &str) -> bool {
        let of_kind = self
            .before
            .iter()
            .flatten()
            .filter(|((_, crd, _), _)| *crd == found.crd);
        let mut of_kind = of_kind.map(|(_, schema)| schema);
        of_kind.any(|schema| {
            let violations = schema.check(&found.value).violations;
            !violations
                .iter()
                .any(|violation| violation.kind == Kind::UnknownField && field.starts_with(violation.field.as_str()))
        })
    }
}

fn of_release(manifests: &Manifests, release: &str) -> BTreeMap<(String, String, String), Schema> {
    let of = manifests
        .versions()
        .iter()
        .find(|version| version.name == release)
        .unwrap();
    let text = manifests
        .read(of, Set::Six)
        .or_else(|| manifests.read(of, Set::Default))
        .unwrap();
    let stream = Stream::split(Arc::from(text.into_bytes())).unwrap();
    let mut schemas = BTreeMap::new();
    for document in stream
        .documents()
        .iter()
        .filter(|document| &*document.head().kind == "CustomResourceDefinition")
    {
        let definition = crate::corpus::of_node(document.root().unwrap());
        let crd = document.head().name.to_string();
        for version in definition["spec"]["versions"].as_array().into_iter().flatten() {
            let name = version["name"].as_str().unwrap();
            let schema = Schema::read(&definition, name).unwrap();
            schemas.insert((release.to_owned(), crd.clone(), name.to_owned()), schema);
        }
    }
    schemas
}
