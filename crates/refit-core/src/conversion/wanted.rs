//! Which version of each kind is to be written, for one release or for several at once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::convert::{self, Rule};
use refit_manifest::{Path, Stream};
use regex::Regex;

use crate::catalog::rules::ConversionRules;
use crate::catalog::{ApiVersions, Catalog, Resource};
use crate::generated::Definition;
use crate::places::{Content, Interest, Target};
use crate::release::Version;

/// What is to be written.
#[derive(Clone, Debug)]
pub struct Wanted {
    releases: Vec<Version>,
    groups: BTreeMap<String, BTreeMap<String, Kind>>,
    rules: BTreeMap<String, Vec<Arc<Rule>>>,
    conflicts: Vec<Conflict>,
    interest: Interest,
}

/// A kind of which no version is served by all releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The API group.
    pub group: String,
    /// The kind.
    pub kind: String,
    /// The versions that each release serves.
    pub served: Vec<(Version, Vec<String>)>,
}

/// A kind and its versions.
#[derive(Clone, Debug)]
pub(super) struct Kind {
    resource: Resource,
    /// The versions that all releases serve which have the kind; `None` where none of them has it.
    served: Option<BTreeSet<String>>,
    deprecated: BTreeSet<String>,
    pub(super) write: Option<String>,
}

/// A kind whose objects a patch can be for.
pub(super) struct Meant<'a> {
    pub(super) group: &'a str,
    pub(super) kind: &'a str,
    /// The version that they are written in; `None` where that is not said.
    pub(super) version: Option<&'a str>,
    /// The version that they are converted to.
    pub(super) wanted: Option<&'a str>,
    /// Whether it is this kind for sure.
    pub(super) is_sure: bool,
}

/// How a version stands to the releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing<'a> {
    /// All serve it, and none deprecates it.
    Fine,
    /// It is to be written in another, where there is one.
    Old(Option<&'a str>),
    /// A release does not serve it yet.
    Newer,
}

impl Wanted {
    /// Takes what one release serves.
    pub fn of(catalog: &Catalog, release: &Version) -> Self {
        Self::common(catalog, std::slice::from_ref(release))
    }

    /// Takes what all of several releases serve.
    pub fn common(catalog: &Catalog, releases: &[Version]) -> Self {
        Self::make(catalog.resources().to_vec(), catalog, releases)
    }

    /// Takes what all of several releases serve, on the way to later ones: what one of these does not serve is not to stay,
    /// although none of the former deprecates it.
    pub fn leading_to(catalog: &Catalog, releases: &[Version], later: &[Version]) -> Self {
        let mut wanted = Self::common(catalog, releases);
        for kind in wanted.groups.values_mut().flat_map(BTreeMap::values_mut) {
            kind.outlive(later);
        }
        wanted
    }

    /// Takes what a release serves whose manifests are at hand, such as one that is newer than the catalog.
    pub fn of_manifests(catalog: &Catalog, release: &Version, manifests: &[Stream]) -> Self {
        let mut resources = catalog.resources().to_vec();
        for document in manifests.iter().flat_map(Stream::documents) {
            if &*document.head().kind == "CustomResourceDefinition" {
                let kind = document
                    .root()
                    .and_then(|root| root.at(&["spec", "names", "kind"])?.text());
                let definition = Definition::read(document);
                take(
                    &mut resources,
                    release,
                    (&document.head().name, kind.unwrap_or_default()),
                    &definition,
                );
            }
        }
        Self::make(resources, catalog, std::slice::from_ref(release))
    }

    fn make(resources: Vec<Resource>, catalog: &Catalog, releases: &[Version]) -> Self {
        let mut groups: BTreeMap<String, BTreeMap<String, Kind>> = BTreeMap::new();
        let mut conflicts = Vec::new();
        for resource in resources {
            let kind = Kind::new(resource, releases);
            conflicts.extend(kind.conflict(releases));
            let of_group = groups.entry(kind.resource.group().to_owned()).or_default();
            of_group.insert(kind.resource.kind.clone(), kind);
        }
        let wanted = Self {
            releases: releases.to_vec(),
            groups,
            rules: BTreeMap::new(),
            conflicts,
            interest: Interest::of([]),
        };
        wanted.with_rules(open(catalog.rules(), releases))
    }

    /// Adds rules; those about the core group are found only where a file names a group that matters.
    #[must_use]
    pub fn with_rules(mut self, rules: impl IntoIterator<Item = Rule>) -> Self {
        for rule in rules {
            let of_group = self.rules.entry(rule.group.clone()).or_default();
            of_group.push(Arc::new(rule));
        }
        let known = self.groups.iter();
        let known = known.flat_map(|(group, kinds)| kinds.keys().map(move |kind| (group.as_str(), kind.as_str())));
        let ruled = self.rules.values().flatten();
        let ruled = ruled.flat_map(|rule| rule.kinds.iter().map(|kind| (rule.group.as_str(), kind.as_str())));
        self.interest = Interest::of(known.chain(ruled.filter(|(group, _)| !group.is_empty())));
        self
    }

    /// Gives the releases.
    pub fn releases(&self) -> &[Version] {
        &self.releases
    }

    /// Gives the version in which objects of a kind are written; `None` for an unknown kind, and where no version is
    /// served by all releases.
    pub fn version(&self, group: &str, kind: &str) -> Option<&str> {
        self.kind(group, kind)?.write.as_deref()
    }

    /// Tells whether all releases serve a version; also of a kind that is not the platform's.
    pub fn serves(&self, group: &str, kind: &str, version: &str) -> bool {
        let Some(kind) = self.kind(group, kind) else {
            return !self.is_of_platform(group);
        };
        kind.served.as_ref().is_some_and(|served| served.contains(version))
    }

    /// Lists the kinds of which no version is served by all releases.
    pub fn conflicts(&self) -> &[Conflict] {
        &self.conflicts
    }

    /// Tells whether objects in a version must be converted: a release does not serve it any more, or deprecates it.
    pub fn needs(&self, group: &str, kind: &str, version: &str) -> bool {
        let kind = self.kind(group, kind);
        kind.is_some_and(|kind| matches!(kind.standing(version), Standing::Old(_)))
    }

    /// Tells whether a file can hold something to convert, by its name and a search through its bytes.
    pub fn may_concern(&self, path: &Path, bytes: &[u8]) -> bool {
        Self::is_candidate(path.file_name()) && self.names_version(path, bytes)
    }

    /// The same of a file of which it is known what its documents are.
    pub fn may_concern_as(&self, content: &Content, path: &Path, bytes: &[u8]) -> bool {
        let can_point = match content {
            Content::Objects => false,
            Content::Patch(targets) => targets.iter().any(|target| !self.meant(target).is_empty()),
            Content::Replacements => true,
        };
        self.may_concern(path, bytes) || (can_point && self.interest.can_select(bytes))
    }

    /// Tells whether a file of this name is looked at: YAML, JSON, and kustomizations by all their names.
    pub fn is_candidate(file_name: &str) -> bool {
        let ending = file_name.rsplit_once('.').map_or("", |(_, ending)| ending);
        matches!(ending, "yaml" | "yml" | "json") || reach::is_kustomization(&Path::from(file_name))
    }

    /// Tells whether bytes can name a version of a kind that matters, whatever their file is called.
    pub fn names_version(&self, path: &Path, bytes: &[u8]) -> bool {
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            // UTF-16: the letters of an API version have one byte each beside a zero.
            let letters: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
            return self.interest.is_named_in(&letters);
        }
        self.interest.is_named_in(bytes) || (reach::is_kustomization(path) && self.interest.can_select(bytes))
    }

    /// Gives the groups that matter.
    pub(super) fn interest(&self) -> &Interest {
        &self.interest
    }

    pub(super) fn kind(&self, group: &str, kind: &str) -> Option<&Kind> {
        self.groups.get(group)?.get(kind)
    }

    /// Lists the groups that have a kind.
    pub(super) fn groups_of(&self, kind: &str) -> impl Iterator<Item = &str> {
        let having = self.groups.iter().filter(move |(_, kinds)| kinds.contains_key(kind));
        having.map(|(group, _)| group.as_str())
    }

    /// Lists the kinds of a group.
    pub(super) fn kinds_of(&self, group: &str) -> impl Iterator<Item = &Kind> {
        self.groups.get(group).into_iter().flat_map(BTreeMap::values)
    }

    /// Tells whether a group is one of the platform's.
    pub(super) fn is_of_platform(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }

    /// Lists the rules about a kind.
    pub(super) fn rules(&self, group: &str, kind: &str) -> Vec<&Rule> {
        let of_group = self.rules.get(group).into_iter().flatten();
        let about = |rule: &&Arc<Rule>| rule.kinds.iter().any(|known| known == kind);
        of_group.filter(about).map(|rule| &**rule).collect()
    }
}

impl Wanted {
    /// Lists the kinds with rules that a selector can mean.
    pub(super) fn meant<'a>(&'a self, target: &'a Target) -> Vec<Meant<'a>> {
        let ruled = self.rules.values().flatten();
        let ruled = ruled.flat_map(|rule| rule.kinds.iter().map(|kind| (rule.group.as_str(), kind.as_str())));
        let fits = |(group, kind): &(&str, &str)| selects(&target.group, group) && selects(&target.kind, kind);
        let kinds: BTreeSet<(&str, &str)> = ruled.filter(fits).collect();
        let is_named = |(group, kind): (&str, &str)| target.group == group && target.kind == kind;
        let kinds = kinds.into_iter().filter_map(|(group, kind)| {
            let known = self.kind(group, kind);
            let is_said = known.is_some_and(|known| known.first(&target.version).is_some());
            let version = is_said.then_some(target.version.as_str());
            let wanted = match (known, version) {
                (Some(known), Some(version)) => match known.standing(version) {
                    Standing::Old(write) => write,
                    Standing::Fine => None,
                    Standing::Newer => return None,
                },
                (known, _) => known.and_then(|known| known.write.as_deref()),
            };
            Some(Meant {
                group,
                kind,
                version,
                wanted,
                is_sure: is_named((group, kind)),
            })
        });
        kinds.collect()
    }
}

/// Tells whether a part of a selector fits a text: it is empty, the same, or a pattern for the whole of it.
fn selects(pattern: &str, text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    match pattern {
        "" => true,
        pattern if pattern == text => true,
        pattern if pattern.chars().all(is_plain) => false,
        pattern => Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|pattern| pattern.is_match(text)),
    }
}

impl Kind {
    fn new(resource: Resource, releases: &[Version]) -> Self {
        let at: Vec<&ApiVersions> = releases.iter().filter_map(|release| at(&resource, release)).collect();
        let set = |versions: &[String]| versions.iter().cloned().collect::<BTreeSet<String>>();
        let served = at.iter().map(|versions| set(&versions.served));
        let served = served.reduce(|all, other| all.intersection(&other).cloned().collect());
        let deprecated: BTreeSet<String> = at.iter().flat_map(|versions| set(&versions.deprecated)).collect();
        let mut kind = Self {
            write: None,
            resource,
            deprecated,
            served,
        };
        kind.write = kind.newest();
        kind
    }

    /// Takes versions that later releases do not serve for deprecated.
    fn outlive(&mut self, later: &[Version]) {
        let later: Vec<&ApiVersions> = later.iter().filter_map(|release| at(&self.resource, release)).collect();
        let goes = |version: &&String| later.iter().any(|at| !at.served.contains(version));
        let going: Vec<String> = self.served.iter().flatten().filter(goes).cloned().collect();
        self.deprecated.extend(going);
        self.write = self.newest();
    }

    /// Gives the newest version that all serve; one that none deprecates, where there is one.
    fn newest(&self) -> Option<String> {
        let served = || self.served.iter().flatten();
        let newest = |versions: Vec<&String>| {
            let later = |a: &&String, b: &&String| convert::compare_versions(a, b).unwrap_or(std::cmp::Ordering::Equal);
            versions.into_iter().max_by(|a, b| later(a, b)).cloned()
        };
        let fresh = served().filter(|version| !self.deprecated.contains(*version)).collect();
        newest(fresh).or_else(|| newest(served().collect()))
    }

    fn conflict(&self, releases: &[Version]) -> Option<Conflict> {
        if self.served.as_ref().is_none_or(|served| !served.is_empty()) {
            return None;
        }
        let served = |release: &Version| Some((release.clone(), at(&self.resource, release)?.served.clone()));
        Some(Conflict {
            group: self.resource.group().to_owned(),
            kind: self.resource.kind.clone(),
            served: releases.iter().filter_map(served).collect(),
        })
    }

    pub(super) fn standing(&self, version: &str) -> Standing<'_> {
        let Some(served) = &self.served else {
            return Standing::Newer;
        };
        if served.contains(version) && !self.deprecated.contains(version) {
            return Standing::Fine;
        }
        let later = |write: &&str| convert::compare_versions(version, write).is_some_and(std::cmp::Ordering::is_lt);
        match self.write.as_deref() {
            Some(write) if write == version => Standing::Fine,
            Some(write) if later(&write) => Standing::Old(Some(write)),
            None if self.first(version).is_some() => Standing::Old(None),
            _ => Standing::Newer,
        }
    }

    /// Gives the first release that has the kind.
    pub(super) fn born(&self) -> Option<&Version> {
        self.resource.changes.first().map(|change| &change.from)
    }

    /// Gives the first release that serves a version.
    pub(super) fn first(&self, version: &str) -> Option<&Version> {
        let serves = |change: &&ApiVersions| change.served.iter().any(|served| served == version);
        self.resource.changes.iter().find(serves).map(|change| &change.from)
    }

    /// Gives the release that deprecates a version.
    pub(super) fn since(&self, version: &str) -> Option<&Version> {
        let deprecates = |change: &&ApiVersions| change.deprecated.iter().any(|old| old == version);
        self.resource.changes.iter().find(deprecates).map(|change| &change.from)
    }

    /// Gives the first release that does not serve a version any more.
    pub(super) fn removed_in(&self, version: &str) -> Option<&Version> {
        let serves = |change: &ApiVersions| change.served.iter().any(|served| served == version);
        let last = self.resource.changes.iter().rposition(serves)?;
        self.resource.changes.get(last + 1).map(|change| &change.from)
    }
}

/// Lists the conversions that may run at all of some releases.
fn open(rules: &ConversionRules, releases: &[Version]) -> Vec<Rule> {
    let mut at_each = releases.iter().map(|release| rules.open_at(release));
    let mut open = at_each.next().unwrap_or_default();
    for at in at_each {
        open.retain(|rule| at.contains(rule));
    }
    open.into_iter().cloned().collect()
}

fn at<'a>(resource: &'a Resource, release: &Version) -> Option<&'a ApiVersions> {
    resource.changes.iter().rfind(|change| change.from <= *release)
}

/// Notes what a definition of a release says about a kind.
fn take(resources: &mut Vec<Resource>, release: &Version, (crd, kind): (&str, &str), definition: &Definition) {
    if definition.versions.is_empty() {
        return;
    }
    let deprecated = definition
        .versions
        .iter()
        .filter(|version| version.served && version.deprecated);
    let said = ApiVersions {
        from: release.clone(),
        served: definition.served().map(ToOwned::to_owned).collect(),
        deprecated: deprecated.map(|version| version.name.clone()).collect(),
        storage: definition.storage().unwrap_or_default().to_owned(),
        trust: false,
    };
    match resources.iter_mut().find(|resource| resource.crd == crd) {
        Some(resource) => {
            let same = at(resource, release).is_some_and(|known| {
                (&known.served, &known.deprecated, &known.storage) == (&said.served, &said.deprecated, &said.storage)
            });
            if !same {
                resource.changes.retain(|change| change.from < *release);
                resource.changes.push(said);
            }
        }
        None if !kind.is_empty() => resources.push(Resource {
            crd: crd.to_owned(),
            kind: kind.to_owned(),
            component: String::new(),
            changes: vec![said],
        }),
        None => {}
    }
}
