//! Holds the example catalog to what the program knows of the releases that it plays.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "structure/files.rs"]
#[expect(dead_code, reason = "the walk over files serves other tests")]
mod files;

use std::fs;
use std::process::Command;

use refit_core::catalog::Catalog;
use refit_core::detect::{self, Confidence, Recognised};
use refit_core::generated::Generated;
use refit_core::options::{self, Options};
use refit_core::release::Version;
use refit_manifest::Stream;

/// The releases of each catalog: folder, versions.
const CATALOGS: [(&str, &[&str]); 2] = [
    ("catalog", &["v2.4.0", "v2.5.1", "v2.6.4"]),
    ("routes", &["v2.2.3", "v2.6.4", "v2.7.5", "v2.8.8", "v2.9.4"]),
];

/// Lists every release of every catalog: folder, version.
fn releases() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |(folder, versions): &(&'static str, &'static [&'static str])| {
        let folder = *folder;
        versions.iter().map(move |version| (folder, *version))
    };
    CATALOGS.iter().flat_map(of)
}

#[test]
fn each_example_release_is_detected_with_default_options() {
    let catalog = Catalog::flux().unwrap();
    for (folder, version) in releases() {
        let stream = stream(folder, version);
        assert_eq!(detect::recognise(&stream, &catalog), Recognised::Manifest, "{version}");
        let manifest = Generated::read(&stream, &catalog);
        let found = detect::detect(&manifest, &catalog);
        assert_eq!(found.version, Version::parse(version).ok(), "{:?}", found.evidence);
        assert_eq!(found.confidence, Confidence::Agreed, "{version}: {:?}", found.mixed);
        assert_eq!(
            options::recover(&manifest, &catalog),
            Options::defaults(&catalog),
            "{version}"
        );
    }
}

#[test]
fn each_example_definition_serves_and_stores_what_the_real_release_does() {
    let catalog = Catalog::flux().unwrap();
    for (folder, version) in releases() {
        let stream = stream(folder, version);
        let manifest = Generated::read(&stream, &catalog);
        let mut count = 0;
        for (name, definition) in manifest.definitions() {
            let known = catalog.api(name, &Version::parse(version).unwrap()).unwrap().versions;
            let served: Vec<&str> = definition.served().collect();
            assert_eq!(served, known.served, "{version} {name}");
            assert_eq!(definition.storage(), Some(known.storage.as_str()), "{version} {name}");
            let deprecated = definition.versions.iter().filter(|version| version.deprecated);
            let deprecated: Vec<&str> = deprecated.map(|version| &*version.name).collect();
            assert_eq!(deprecated, known.deprecated, "{version} {name}");
            count += 1;
        }
        let apis = catalog.apis(&Version::parse(version).unwrap());
        let own = apis.iter().filter(|api| {
            let component = catalog.component(&api.resource.component);
            component.is_some_and(|component| component.group.is_none())
        });
        assert_eq!(count, own.count(), "{version}");
    }
}

#[test]
fn the_plane_of_the_quickstart_keeps_its_version_and_shows_its_registry() {
    let catalog = Catalog::flux().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let plane = folder.path().join("clusters/production/flux-system");
    fs::create_dir_all(&plane).unwrap();
    let manifest = plane.join("gotk-components.yaml");
    fs::copy(path("catalog", "v2.4.0"), &manifest).unwrap();
    let patch = files::root().join("examples/platform/edits.diff");
    let status = Command::new("git")
        .arg("apply")
        .arg(patch)
        .current_dir(folder.path())
        .status()
        .unwrap();
    assert!(status.success());
    let stream = Stream::split(fs::read(&manifest).unwrap().into()).unwrap();
    let generated = Generated::read(&stream, &catalog);
    assert_eq!(
        detect::detect(&generated, &catalog).version,
        Version::parse("v2.4.0").ok()
    );
    let expected = Options {
        registry: "registry.acme.example/fluxcd".into(),
        ..Options::defaults(&catalog)
    };
    assert_eq!(options::recover(&generated, &catalog), expected);
}

fn path(folder: &str, version: &str) -> std::path::PathBuf {
    files::root()
        .join("examples")
        .join(folder)
        .join("flux")
        .join(version)
        .join("gotk-components.yaml")
}

fn stream(folder: &str, version: &str) -> Stream {
    Stream::split(fs::read(path(folder, version)).unwrap().into()).unwrap()
}
