//! What is known about the releases of a platform.
//!
//! In: texts of catalog files, embedded or given. Out: a [`Catalog`] that answers questions about releases. Release
//! contents (manifests) are not part of it, and it knows of no source that has them.

pub mod rules;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

pub use read::{Error, Texts};
pub use rules::{ConversionRule, ConversionRules, Purpose, Window};

use crate::release::{Platform, Series, Version};

/// What is known about a platform's releases.
#[derive(Clone, Debug)]
pub struct Catalog {
    platform: Platform,
    date: jiff::civil::Date,
    namespace: String,
    registry: String,
    components: Vec<Component>,
    groups: Vec<Group>,
    floors: Vec<Floor>,
    releases: Vec<Release>,
    resources: Vec<Resource>,
    rules: ConversionRules,
}

/// A component that a plane can have.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Component {
    /// The name, which its Deployment and image have, too.
    pub name: String,
    /// The optional group; a component without one is there by default.
    pub group: Option<String>,
    /// The first release that can have it; `None` when the first release of the catalog has it.
    pub since: Option<Version>,
}

/// Objects that an option brings or leaves out together.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// The name.
    pub name: String,
    /// How it is known.
    pub origin: String,
    /// The objects that belong to no component.
    #[serde(default)]
    pub objects: Vec<GroupObject>,
}

/// An object of a group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupObject {
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The first release with it; `None` when the first release of the catalog has it.
    pub since: Option<Version>,
    /// The first release without it.
    pub until: Option<Version>,
}

/// The oldest Kubernetes version that releases run on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Floor {
    /// The first release for which it holds.
    pub from: Version,
    /// The Kubernetes version.
    pub floor: Version,
}

/// What the manifests of a release that were seen hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seen {
    /// The default components.
    Default,
    /// All components of the list.
    All,
    /// No manifest was seen; what holds for the release is taken on trust.
    None,
}

/// A release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The version.
    pub version: Version,
    /// What was seen of it.
    pub seen: Seen,
    /// The image tag of each component that was seen.
    pub tags: BTreeMap<String, String>,
}

/// A kind of custom resource and the history of its API versions.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Resource {
    /// The name of the CustomResourceDefinition.
    pub crd: String,
    /// The kind.
    pub kind: String,
    /// The component that brings it.
    pub component: String,
    /// The changes, oldest first.
    pub changes: Vec<ApiVersions>,
}

impl Resource {
    /// Gives the API group.
    pub fn group(&self) -> &str {
        self.crd.split_once('.').map_or("", |(_, group)| group)
    }
}

/// The API versions of a resource from one release on.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiVersions {
    /// The first release for which they hold.
    pub from: Version,
    /// The served versions, sorted as in the CRD.
    pub served: Vec<String>,
    /// The served versions that the CRD marks as deprecated.
    #[serde(default)]
    pub deprecated: Vec<String>,
    /// The version in which objects are stored.
    pub storage: String,
    /// Whether no manifest of the release was seen that shows it.
    #[serde(default)]
    pub trust: bool,
}

/// How a statement of the catalog is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// From a manifest of that very release.
    Manifest,
    /// From other releases, or told by somebody.
    Trust,
}

/// The API versions of one resource at one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api<'a> {
    /// The resource.
    pub resource: &'a Resource,
    /// Its versions.
    pub versions: &'a ApiVersions,
    /// How they are known.
    pub origin: Origin,
}

impl Catalog {
    /// Reads the embedded catalog of Flux.
    pub fn flux() -> Result<Self, Error> {
        Self::read(&Texts::FLUX)
    }

    /// Gives the platform.
    pub fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Gives the day on which the data was last compared with release manifests.
    pub fn date(&self) -> jiff::civil::Date {
        self.date
    }

    /// Gives the namespace that a plane is in by default.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Gives the registry (with its path) that images come from by default.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// Lists the components in the order of the generator.
    pub fn components(&self) -> &[Component] {
        &self.components
    }

    /// Gives a component by name.
    pub fn component(&self, name: &str) -> Option<&Component> {
        self.components.iter().find(|component| component.name == name)
    }

    /// Lists the names of the components that are there by default.
    pub fn default_components(&self) -> impl Iterator<Item = &str> {
        self.components
            .iter()
            .filter(|component| component.group.is_none())
            .map(|component| component.name.as_str())
    }

    /// Lists the optional groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// Tells whether an object of this kind and name belongs to a group in any release.
    pub fn is_in_group(&self, group: &str, kind: &str, name: &str) -> bool {
        let of_group = self.groups.iter().filter(|known| known.name == group);
        of_group
            .flat_map(|known| &known.objects)
            .any(|object| object.kind == kind && object.name == name)
    }

    /// Lists the kinds of which a plane has all objects or none, each once.
    pub fn optional_kinds(&self) -> Vec<String> {
        let objects = self.groups.iter().flat_map(|group| &group.objects);
        let kinds: BTreeSet<&str> = objects.map(|object| object.kind.as_str()).collect();
        kinds.into_iter().map(ToOwned::to_owned).collect()
    }

    /// Lists the releases, oldest first.
    pub fn releases(&self) -> &[Release] {
        &self.releases
    }

    /// Gives a release.
    pub fn release(&self, version: &Version) -> Option<&Release> {
        self.releases
            .binary_search_by(|release| release.version.cmp(version))
            .ok()
            .map(|at| &self.releases[at])
    }

    /// Tells whether the catalog lists a release.
    pub fn knows(&self, version: &Version) -> bool {
        self.release(version).is_some()
    }

    /// Tells whether a release is newer than all that the catalog lists.
    pub fn is_older_than(&self, version: &Version) -> bool {
        self.releases.last().is_none_or(|newest| newest.version < *version)
    }

    /// Gives the newest stable release.
    pub fn newest(&self) -> Option<&Version> {
        self.stable().next_back()
    }

    /// Gives the newest stable release of a minor series.
    pub fn newest_in(&self, series: Series) -> Option<&Version> {
        self.stable().rfind(|version| version.series() == series)
    }

    /// Gives the newest stable release of the minor series that follows a version's own, over a change of the major.
    pub fn next_minor(&self, version: &Version) -> Option<&Version> {
        let next = self
            .stable()
            .map(Version::series)
            .find(|series| *series > version.series())?;
        self.newest_in(next)
    }

    /// Gives the oldest Kubernetes version that a release runs on; `None` where it is not known.
    pub fn kubernetes_floor(&self, version: &Version) -> Option<&Version> {
        let holds = self.floors.iter().rfind(|floor| floor.from <= *version);
        holds.map(|floor| &floor.floor)
    }

    /// Lists the kinds of custom resources with their histories.
    pub fn resources(&self) -> &[Resource] {
        &self.resources
    }

    /// Gives what is known of a kind.
    pub fn of_kind(&self, group: &str, kind: &str) -> Option<&Resource> {
        let mut resources = self.resources.iter();
        resources.find(|resource| resource.group() == group && resource.kind == kind)
    }

    /// Takes other histories of custom resources.
    pub(crate) fn with_resources(self, resources: Vec<Resource>) -> Self {
        Self { resources, ..self }
    }

    /// Gives the rules by which objects are converted.
    pub fn rules(&self) -> &ConversionRules {
        &self.rules
    }

    /// Adds the rules of a user's file; where moves of the two undo each other, the error says so and nothing changes.
    pub fn add_rules(&mut self, rules: ConversionRules) -> Result<(), rules::Error> {
        self.rules.add(rules)
    }

    /// Gives a kind of custom resource by the name of its CRD.
    pub fn resource(&self, crd: &str) -> Option<&Resource> {
        self.resources.iter().find(|resource| resource.crd == crd)
    }

    /// Gives the API versions of a resource at a release; `None` when that release has none, or is older than the
    /// catalog.
    pub fn api(&self, crd: &str, version: &Version) -> Option<Api<'_>> {
        self.api_of(self.resource(crd)?, version)
    }

    /// Lists the API versions of all resources at a release, also of components that a plane may not have.
    pub fn apis(&self, version: &Version) -> Vec<Api<'_>> {
        self.resources
            .iter()
            .filter_map(|resource| self.api_of(resource, version))
            .collect()
    }

    /// Lists the image tags of a component over all releases, oldest first.
    pub fn tags(&self, component: &str) -> Vec<&str> {
        let tags: BTreeSet<&str> = self
            .releases
            .iter()
            .filter_map(|r| r.tags.get(component))
            .map(String::as_str)
            .collect();
        let mut tags: Vec<_> = tags.into_iter().collect();
        tags.sort_by_cached_key(|tag| (Version::parse(tag).ok(), *tag));
        tags
    }

    /// Lists the known tags, oldest first, by the name of the image without its host: `fluxcd/source-controller`.
    pub fn known_tags(&self) -> BTreeMap<String, Vec<String>> {
        let path = self.registry.split_once('/').map_or("", |(_, path)| path);
        let entry = |component: &Component| {
            let tags = self.tags(&component.name).into_iter().map(ToOwned::to_owned).collect();
            (format!("{path}/{}", component.name), tags)
        };
        self.components.iter().map(entry).collect()
    }

    fn stable(&self) -> impl DoubleEndedIterator<Item = &Version> {
        self.releases
            .iter()
            .map(|release| &release.version)
            .filter(|version| version.is_stable())
    }

    fn api_of<'a>(&'a self, resource: &'a Resource, version: &Version) -> Option<Api<'a>> {
        let versions = resource.changes.iter().rfind(|change| change.from <= *version)?;
        let seen = self
            .release(version)
            .is_some_and(|release| release.tags.contains_key(&resource.component));
        let origin = if seen { Origin::Manifest } else { Origin::Trust };
        Some(Api {
            resource,
            versions,
            origin,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        Catalog::flux().unwrap()
    }

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn check_next(from: &str, expected: &str) {
        let next = catalog().next_minor(&version(from)).map(ToString::to_string);
        assert_eq!(next.unwrap_or_default(), expected, "{from}");
    }

    #[test]
    fn the_next_minor_is_its_newest_stable_patch_and_crosses_the_major() {
        check_next("v2.2.3", "v2.3.0");
        check_next("v2.4.0", "v2.5.1");
        check_next("v0.41.2", "v2.0.1");
        check_next("v2.0.0-rc.5", "v2.1.2");
        check_next("v0.8.0", "v0.9.1");
        check_next("v2.9.4", "");
        check_next("v3.0.0", "");
        assert_eq!(catalog().newest(), Some(&version("v2.9.4")));
    }

    #[test]
    fn releases_outside_of_the_list_are_not_known() {
        let catalog = catalog();
        assert!(catalog.knows(&version("v2.6.4")) && catalog.knows(&version("v2.7.1")));
        for text in ["v0.8.2", "v2.6.9", "v2.10.0"] {
            assert!(!catalog.knows(&version(text)), "{text}");
        }
        assert!(catalog.is_older_than(&version("v2.10.0")) && !catalog.is_older_than(&version("v2.6.9")));
    }

    fn check_api(crd: &str, at: &str, expected: &str) {
        let catalog = catalog();
        let api = catalog.api(crd, &version(at));
        let text = api.map(|api| {
            format!(
                "{} {} {:?}",
                api.versions.served.join("/"),
                api.versions.storage,
                api.origin
            )
        });
        assert_eq!(text.unwrap_or_default(), expected, "{crd} at {at}");
    }

    #[test]
    fn api_versions_before_after_and_between_the_listed_releases_are_told_with_their_origin() {
        let git = "gitrepositories.source.toolkit.fluxcd.io";
        check_api(git, "v0.8.0", "");
        check_api(git, "v2.6.4", "v1/v1beta1/v1beta2 v1 Manifest");
        check_api(git, "v2.6.9", "v1/v1beta1/v1beta2 v1 Trust");
        check_api(git, "v2.7.1", "v1/v1beta2 v1 Trust");
        check_api(git, "v9.0.0", "v1 v1 Trust");
        check_api(
            "imagepolicies.image.toolkit.fluxcd.io",
            "v0.15.3",
            "v1alpha1/v1alpha2 v1alpha2 Trust",
        );
        check_api("artifactgenerators.source.extensions.fluxcd.io", "v2.6.4", "");
        assert_eq!(catalog().resource(git).unwrap().group(), "source.toolkit.fluxcd.io");
    }

    #[test]
    fn known_tags_are_listed_oldest_first_without_the_host() {
        let tags = catalog().known_tags();
        let source = &tags["fluxcd/source-controller"];
        assert_eq!(
            (source[0].as_str(), source[source.len() - 1].as_str()),
            ("v0.9.0", "v1.9.4")
        );
        let place = |tag: &str| source.iter().position(|known| known == tag).unwrap();
        assert!(place("v0.36.1") < place("v1.0.0-rc.1") && place("v1.0.0-rc.5") < place("v1.0.0"));
        assert!(place("v0.9.1") < place("v0.10.0"));
    }

    #[test]
    fn kubernetes_floors_hold_from_a_release_on() {
        let floor = |text| catalog().kubernetes_floor(&version(text)).map(ToString::to_string);
        assert_eq!(floor("v0.30.2"), None);
        assert_eq!(floor("v0.41.2").as_deref(), Some("v1.20.6"));
        assert_eq!(floor("v2.4.0").as_deref(), Some("v1.28.0"));
        assert_eq!(floor("v9.0.0").as_deref(), Some("v1.33.0"));
    }

    fn check_refused(releases: &str, expected: &str) {
        let error = Catalog::read(&Texts {
            releases,
            ..Texts::FLUX
        })
        .unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert!(error.to_string().contains("hint: "), "{error}");
    }

    #[test]
    fn a_text_that_contradicts_itself_is_refused_with_the_line_at_fault() {
        let head = "origin: a\ndate: 2026-01-01\ncomponents: [source-controller]\nreleases:\n";
        check_refused(
            &format!("{head}- {{version: v2.0.0, manifest: default}}\n"),
            "`v2.0.0` must have tags",
        );
        let twice = "- {version: v2.0.0, manifest: none}\n";
        check_refused(&format!("{head}{twice}{twice}"), "`v2.0.0` comes after `v2.0.0`");
        let tags = "- {version: v2.0.0, manifest: default, tags: [a, b]}\n";
        check_refused(&format!("{head}{tags}"), "`v2.0.0` has more tags than components");
        check_refused(
            &head
                .replace("source-controller", "other")
                .replace("releases:", "releases: []"),
            "`other` is no component",
        );
        check_refused("origin: [", "`releases.yaml` is not YAML");
        check_refused("origin: a\n", "does not have the fields");
        check_refused("", "is empty or without end");
    }

    #[test]
    fn a_given_text_replaces_the_embedded_one() {
        let releases = "origin: a\ndate: 2026-01-01\ncomponents: [source-controller]\nreleases:\n- {version: v9.1.0, manifest: default, tags: [v9.0.0]}\n";
        let catalog = Catalog::read(&Texts {
            releases,
            ..Texts::FLUX
        })
        .unwrap();
        assert_eq!(catalog.newest(), Some(&version("v9.1.0")));
        assert_eq!(catalog.tags("source-controller"), ["v9.0.0"]);
    }
}
