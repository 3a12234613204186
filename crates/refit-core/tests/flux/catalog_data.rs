//! Recomputes the embedded catalog of Flux from real manifests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use refit_core::catalog::{Catalog, Origin, Seen};
use refit_core::release::Version;
use refit_manifest::parse::NodeRef;
use refit_manifest::scalar::Value;

use crate::support::{Manifest, each_version, shared};

/// Served versions, deprecated versions, storage version, kind.
type Versions = (Vec<String>, Vec<String>, String, String);

/// What the manifests of one release hold, read from their trees alone.
#[derive(Default)]
struct Read {
    tags: BTreeMap<String, String>,
    definitions: BTreeMap<String, Versions>,
    policies: BTreeSet<String>,
}

fn text(node: NodeRef<'_>, path: &[&str]) -> String {
    node.at(path).and_then(NodeRef::text).unwrap_or_default().to_owned()
}

fn is_true(node: NodeRef<'_>, key: &str) -> bool {
    node.get(key)
        .is_some_and(|flag| flag.value() == Some(Value::Bool(true)))
}

fn read(manifests: &[Manifest]) -> Read {
    let mut read = Read::default();
    for document in manifests.iter().flat_map(|manifest| manifest.stream.documents()) {
        let Some(root) = document.root() else { continue };
        let name = text(root, &["metadata", "name"]);
        match text(root, &["kind"]).as_str() {
            "CustomResourceDefinition" => {
                let versions = definition(root);
                let before = read.definitions.insert(name.clone(), versions.clone());
                assert!(
                    before.is_none_or(|before| before == versions),
                    "{name} differs between two files"
                );
            }
            "Deployment" => {
                let containers = root.at(&["spec", "template", "spec", "containers"]).unwrap();
                let image = text(containers.items().next().unwrap(), &["image"]);
                let tag = image.strip_prefix(&format!("ghcr.io/fluxcd/{name}:")).unwrap();
                read.tags.insert(name, tag.to_owned());
            }
            "NetworkPolicy" => {
                read.policies.insert(name);
            }
            _ => {}
        }
    }
    read
}

fn definition(root: NodeRef<'_>) -> Versions {
    let (mut served, mut deprecated, mut storage) = (Vec::new(), Vec::new(), None);
    for version in root.at(&["spec", "versions"]).unwrap().items() {
        let name = text(version, &["name"]);
        if is_true(version, "storage") {
            storage = Some(name.clone());
        }
        if is_true(version, "deprecated") {
            deprecated.push(name.clone());
        }
        if is_true(version, "served") {
            served.push(name);
        }
    }
    (
        served,
        deprecated,
        storage.unwrap(),
        text(root, &["spec", "names", "kind"]),
    )
}

/// Reads each release that has manifests, once for all tests; `None` without them.
fn all() -> Option<&'static BTreeMap<Version, Read>> {
    static ALL: OnceLock<Option<BTreeMap<Version, Read>>> = OnceLock::new();
    let read_all = || {
        let folder = shared("flux-manifests")?;
        let mut all = BTreeMap::new();
        each_version(&folder, |version, manifests| {
            all.insert(version.clone(), read(&manifests));
        });
        assert!(all.len() > 100, "only {} versions were found", all.len());
        Some(all)
    };
    ALL.get_or_init(read_all).as_ref()
}

#[test]
fn the_embedded_catalog_is_what_the_manifests_say() {
    let catalog = Catalog::flux().unwrap();
    let mut differences = Vec::new();
    let Some(all) = all() else { return };
    for (version, read) in all {
        let mut differ = |what: String| differences.push(format!("{version}: {what}"));
        let release = catalog
            .release(version)
            .unwrap_or_else(|| panic!("{version} is not listed"));
        if release.tags != read.tags {
            differ(format!("tags {:?}, manifests {:?}", release.tags, read.tags));
        }
        let all = read.tags.contains_key("image-reflector-controller");
        if release.seen != if all { Seen::All } else { Seen::Default } {
            differ(format!("said to be {:?}", release.seen));
        }
        for (crd, expected) in &read.definitions {
            let Some(api) = catalog.api(crd, version) else {
                differ(format!("{crd} is missing"));
                continue;
            };
            let versions = api.versions;
            let found = (
                versions.served.clone(),
                versions.deprecated.clone(),
                versions.storage.clone(),
                api.resource.kind.clone(),
            );
            if found != *expected || api.origin != Origin::Manifest {
                differ(format!("{crd} {found:?} from {:?}, manifests {expected:?}", api.origin));
            }
        }
        for api in catalog
            .apis(version)
            .iter()
            .filter(|api| api.origin == Origin::Manifest)
        {
            if !read.definitions.contains_key(&api.resource.crd) {
                differ(format!("{} is not in the manifests", api.resource.crd));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.join("\n")
    );
    let listed = |seen: fn(Seen) -> bool| -> BTreeSet<Version> {
        catalog
            .releases()
            .iter()
            .filter(|release| seen(release.seen))
            .map(|release| release.version.clone())
            .collect()
    };
    assert_eq!(listed(|seen| seen != Seen::None), all.keys().cloned().collect());
    let trusted: Vec<String> = listed(|seen| seen == Seen::None)
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        trusted,
        ["v0.12.2", "v0.27.1", "v0.31.4", "v0.38.0", "v2.7.1", "v2.8.4"]
    );
}

#[test]
fn changes_of_api_versions_are_marked_as_trusted_just_where_no_manifest_shows_them() {
    let catalog = Catalog::flux().unwrap();
    for resource in catalog.resources() {
        for change in &resource.changes {
            let release = catalog.release(&change.from);
            let shown = release.is_some_and(|release| release.tags.contains_key(&resource.component));
            assert_eq!(change.trust, !shown, "{} at {}", resource.crd, change.from);
        }
        for pair in resource.changes.windows(2) {
            let plain = |at: usize| (&pair[at].served, &pair[at].deprecated, &pair[at].storage);
            assert_ne!(
                plain(0),
                plain(1),
                "{} changes nothing at {}",
                resource.crd,
                pair[1].from
            );
        }
    }
}

#[test]
fn the_network_policies_of_each_release_are_the_group() {
    let catalog = Catalog::flux().unwrap();
    let group = catalog
        .groups()
        .iter()
        .find(|group| group.name == "network-policies")
        .unwrap();
    for (version, read) in all().into_iter().flatten() {
        let holds = group.objects.iter().filter(|object| {
            object.since.as_ref().is_none_or(|since| since <= version)
                && object.until.as_ref().is_none_or(|until| version < until)
        });
        let expected: BTreeSet<String> = holds.map(|object| object.name.clone()).collect();
        assert_eq!(read.policies, expected, "{version}");
    }
}
