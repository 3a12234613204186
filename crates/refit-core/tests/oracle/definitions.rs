//! The definitions of a release, and what they say about an object.

use std::collections::{BTreeMap, BTreeSet};

use refit_core::structural::{Kind, Schema, Violation};
use refit_manifest::Stream;
use refit_testkit::flux::{Manifests, Set};
use serde_json::Value;

use crate::values;

/// Releases whose schemas tell which fields there once were, with the last state of each version that is gone since.
pub(crate) const PAST: [&str; 9] = [
    "v0.9.1", "v0.13.4", "v0.17.2", "v0.24.1", "v0.31.5", "v0.36.0", "v0.41.2", "v2.1.2", "v2.2.3",
];

/// How a version stands in a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Standing {
    Fine,
    Deprecated,
    NotServed,
    /// It is newer than all that are served.
    Newer,
}

struct Known {
    name: String,
    standing: Standing,
    schema: Schema,
    written: Value,
}

/// The definitions of a release.
pub(crate) struct Definitions(BTreeMap<(String, String), Vec<Known>>);

/// What a release does not accept about an object.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// The release has no such kind.
    NoKind,
    /// It has the kind, and does not serve the version.
    Version(String),
    /// What is wrong with the object, and whether its version is deprecated.
    Schema(Vec<Violation>, Standing),
}

impl Wrong {
    pub(crate) fn messages(&self) -> Vec<String> {
        match self {
            Self::NoKind => vec!["the release has no such kind".to_owned()],
            Self::Version(version) => vec![format!("`{version}` is not served")],
            Self::Schema(violations, standing) => {
                let deprecated = (*standing == Standing::Deprecated).then(|| "its version is deprecated".to_owned());
                violations.iter().map(ToString::to_string).chain(deprecated).collect()
            }
        }
    }
}

/// Splits the type of an object into group, version and kind.
pub(crate) fn kind_of(object: &Value) -> (String, String, String) {
    let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let api_version = text("apiVersion");
    let (group, version) = api_version.split_once('/').unwrap_or(("", &api_version));
    (group.to_owned(), version.to_owned(), text("kind"))
}

impl Definitions {
    /// Reads the manifest of a release, the one with all components where there is one.
    pub(crate) fn read(manifests: &Manifests, name: &str) -> Self {
        let version = manifests.versions().iter().find(|version| version.name == name);
        let version = version.unwrap_or_else(|| panic!("no manifest of {name}"));
        let six = manifests.read(version, Set::Six);
        let text = six.or_else(|| manifests.read(version, Set::Default)).unwrap();
        let stream = Stream::split(text.into_bytes().into()).unwrap();
        let documents = stream.documents().iter();
        let definitions = documents.filter(|document| &*document.head().kind == "CustomResourceDefinition");
        let read = definitions.map(|document| known(&values::of_node(document.root().unwrap())));
        Self(read.collect())
    }

    fn versions(&self, group: &str, kind: &str) -> Option<&[Known]> {
        let key = (group.to_owned(), kind.to_owned());
        self.0.get(&key).map(Vec::as_slice)
    }

    /// Lists group, kind, version and schema of all that is served.
    pub(crate) fn schemas(&self) -> impl Iterator<Item = (&str, &str, &str, &Value)> {
        self.0.iter().flat_map(|((group, kind), versions)| {
            let served = versions.iter().filter(|known| known.standing != Standing::NotServed);
            served.map(move |known| (group.as_str(), kind.as_str(), known.name.as_str(), &known.written))
        })
    }

    /// Tells how a version stands; `None` where the release has no such kind.
    pub(crate) fn standing(&self, object: &Value) -> Option<Standing> {
        let (group, version, kind) = kind_of(object);
        let versions = self.versions(&group, &kind)?;
        let newest = versions.iter().rfind(|known| known.standing != Standing::NotServed)?;
        let known = versions.iter().find(|known| known.name == version);
        Some(match known {
            Some(known) => known.standing,
            None if rank(&version) > rank(&newest.name) => Standing::Newer,
            None => Standing::NotServed,
        })
    }

    /// Judges an object as it is written.
    pub(crate) fn judge(&self, object: &Value) -> Wrong {
        let (group, version, kind) = kind_of(object);
        let Some(versions) = self.versions(&group, &kind) else {
            return Wrong::NoKind;
        };
        match versions.iter().find(|known| known.name == version) {
            Some(known) if known.standing != Standing::NotServed => {
                Wrong::Schema(known.schema.check(object).violations, known.standing)
            }
            _ => Wrong::Version(version),
        }
    }

    /// Judges an object as if only its version were changed to the one that the release stores.
    pub(crate) fn judge_bumped(&self, object: &Value) -> Vec<Violation> {
        let (group, _, kind) = kind_of(object);
        let versions = self.versions(&group, &kind).unwrap_or_default();
        let newest = versions.iter().rfind(|known| known.standing == Standing::Fine);
        let newest = newest.or_else(|| versions.iter().rfind(|known| known.standing != Standing::NotServed));
        newest.map_or_else(Vec::new, |known| known.schema.check(object).violations)
    }

    /// Lists the fields of an object that its own version does not have here; `None` where the version is not here.
    fn unknown_fields(&self, object: &Value) -> Option<BTreeSet<String>> {
        let (group, version, kind) = kind_of(object);
        let own = self
            .versions(&group, &kind)?
            .iter()
            .find(|known| known.name == version)?;
        Some(unknown(own.schema.check(object).violations))
    }
}

fn unknown(violations: Vec<Violation>) -> BTreeSet<String> {
    let unknown = violations
        .into_iter()
        .filter(|violation| violation.kind == Kind::UnknownField);
    unknown.map(|violation| violation.field).collect()
}

fn known(definition: &Value) -> ((String, String), Vec<Known>) {
    let text = |pointer: &str| {
        let value = definition.pointer(pointer).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let versions = definition.pointer("/spec/versions").and_then(Value::as_array);
    let mut versions: Vec<Known> = versions
        .into_iter()
        .flatten()
        .map(|of| version(definition, of))
        .collect();
    versions.sort_by_key(|known| rank(&known.name));
    ((text("/spec/group"), text("/spec/names/kind")), versions)
}

fn version(definition: &Value, of: &Value) -> Known {
    let flag = |key: &str| of.get(key).and_then(Value::as_bool).unwrap_or_default();
    let name = of["name"].as_str().unwrap().to_owned();
    Known {
        schema: Schema::read(definition, &name).unwrap(),
        written: of.pointer("/schema/openAPIV3Schema").cloned().unwrap_or_default(),
        name,
        standing: match (flag("served"), flag("deprecated")) {
            (false, _) => Standing::NotServed,
            (true, true) => Standing::Deprecated,
            (true, false) => Standing::Fine,
        },
    }
}

/// Orders versions of an API: by their first number, a stable one last, beta after alpha.
fn rank(version: &str) -> (u64, u64, u64) {
    let stage = version.find("alpha").map(|at| (0, at, 5));
    let stage = stage.or_else(|| version.find("beta").map(|at| (1, at, 4)));
    let number = |text: &str| text.parse().unwrap_or_default();
    match stage {
        None => (number(&version[1..]), 2, 0),
        Some((stage, at, length)) => (number(&version[1..at]), stage, number(&version[at + length..])),
    }
}

/// Lists the fields of an object that the newest version of a release does not have, and its own version once had.
pub(crate) fn removed_fields(object: &Value, release: &Definitions, past: &[Definitions]) -> BTreeSet<String> {
    let mut gone = unknown(release.judge_bumped(object));
    let once = past
        .iter()
        .chain([release])
        .filter_map(|known| known.unknown_fields(object));
    let never = once.reduce(|some, more| some.intersection(&more).cloned().collect());
    let never = never.unwrap_or_else(|| gone.clone());
    gone.retain(|field| !never.contains(field));
    gone
}
