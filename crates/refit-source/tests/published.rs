//! Public releases: a manifest of another form, made into the generator's.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::{offline, open, settings};
use refit_core::release::Version;
use refit_engine::ports::PortErrorKind;
use refit_testkit::http::{Response, Server};
use refit_testkit::shared;

/// Gives the name of an object's document.
fn name(document: &str) -> &str {
    document
        .lines()
        .find_map(|line| line.strip_prefix("  name: "))
        .unwrap_or_default()
}

fn kind(document: &str) -> &str {
    document
        .lines()
        .find_map(|line| line.strip_prefix("kind: "))
        .unwrap_or_default()
}

/// Undoes what the generator does and `kustomize build` of the published kustomization does not: header, version label,
/// suffixes of names, node selector, order. No real `install.yaml` is at hand; this is its form as its sources tell.
fn publish(generated: &str) -> String {
    let mut documents: Vec<String> = Vec::new();
    for document in generated.trim_start_matches("---\n").split("\n---\n") {
        let shared = ["ClusterRole", "ClusterRoleBinding", "ResourceQuota"].contains(&kind(document));
        let mut text = String::new();
        for line in document.lines().filter(|line| !line.starts_with('#')) {
            let selects = ["      nodeSelector:", "        kubernetes.io/os: linux"].contains(&line);
            if line.trim_start().starts_with("app.kubernetes.io/version: ") && line.starts_with("    app") || selects {
                continue;
            }
            let named = shared && line.starts_with("  name: ");
            text.push_str(if named {
                line.trim_end_matches("-flux-system")
            } else {
                line
            });
            text.push('\n');
        }
        documents.push(text);
    }
    documents.sort_by_key(|document| (kind(document).len(), name(document).to_owned()));
    documents.join("---\n")
}

/// Serves the releases of a folder as a project publishes them.
fn serve(folder: &Path, latest: &'static str) -> Server {
    let folder = folder.to_owned();
    Server::start(move |request| {
        if request.target == "/releases/latest" {
            return Response::redirect(format!("/releases/tag/{latest}"));
        }
        let wanted = request.target.strip_prefix("/releases/download/");
        let Some(version) = wanted.and_then(|wanted| wanted.strip_suffix("/install.yaml")) else {
            return Response::status(404);
        };
        match generated(&folder, version) {
            Some(text) => Response::ok(publish(&text)),
            None => Response::status(404),
        }
    })
}

/// Gives the largest manifest of a release.
fn generated(folder: &Path, version: &str) -> Option<String> {
    ["gotk-components.six.yaml", "gotk-components.yaml"]
        .iter()
        .find_map(|name| std::fs::read_to_string(folder.join(version).join(name)).ok())
}

/// Compares what becomes of a published manifest with what the generator wrote.
fn check(folder: &Path, versions: &[String]) {
    let server = serve(folder, "v9.0.0");
    let releases = open(&[&format!("{}/releases", server.url())], settings(None));
    let mut differing = Vec::new();
    for version in versions {
        let contents = releases.contents("flux", version).unwrap();
        assert_eq!(contents.len(), 1);
        assert!(
            !contents[0].exact && contents[0].origin.contains("not byte-exact"),
            "{version}"
        );
        if *contents[0].bytes != *generated(folder, version).unwrap().as_bytes() {
            differing.push(version.clone());
        }
    }
    assert!(differing.is_empty(), "other bytes than the generator's: {differing:?}");
}

#[test]
fn published_examples_become_what_the_generator_wrote() {
    let folder = shared::root().join("examples/catalog/flux");
    check(
        &folder,
        &["v2.4.0".to_owned(), "v2.5.1".to_owned(), "v2.6.4".to_owned()],
    );
}

#[test]
fn published_releases_become_what_the_generator_wrote() {
    let Some(folder) = shared::find("flux-manifests") else {
        return;
    };
    let mut versions: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if Version::parse(&name).is_ok_and(|version| version >= Version::new(2, 0, 1)) {
            versions.push(name);
        }
    }
    assert!(versions.len() > 30);
    check(&folder, &versions);
}

#[test]
fn versions_are_the_known_ones_and_the_newest() {
    let folder = shared::root().join("examples/catalog/flux");
    let server = serve(&folder, "v9.0.0");
    let url = format!("{}/releases", server.url());
    let cache = tempfile::tempdir().unwrap();
    let releases = open(&[&url], settings(Some(cache.path())));
    let known: BTreeSet<String> = releases.versions("flux").unwrap().into_iter().collect();
    assert!(known.contains("v2.6.4") && known.contains("v9.0.0"));
    assert!(releases.versions("weave-gitops").unwrap().is_empty());
    releases.contents("flux", "v2.6.4").unwrap();
    server.stop();
    let available = releases.available("flux").unwrap();
    let still: BTreeSet<String> = available.versions.into_iter().collect();
    assert_eq!(
        (still, available.unreachable.len()),
        (known, 1),
        "the last answer, and that it is the last one"
    );
    let fresh = open(&[&url], settings(None)).available("flux").unwrap();
    assert!(fresh.versions.contains(&"v2.6.4".to_owned()) && !fresh.versions.contains(&"v9.0.0".to_owned()));
    let offline = open(&[&url], offline(settings(Some(cache.path()))));
    assert_eq!(offline.versions("flux").unwrap(), ["v2.6.4"], "what was fetched before");
    assert!(offline.contents("flux", "v2.6.4").is_ok());
    let error = offline.contents("flux", "v2.5.1").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Unreachable);
}

#[test]
fn what_is_no_release_and_what_is_no_manifest_are_told() {
    let server = Server::start(|request| match request.target.contains("v2.6.4") {
        true => Response::ok("<html>"),
        false => Response::status(404),
    });
    let releases = open(&[&format!("{}/releases", server.url())], settings(None));
    let error = releases.contents("flux", "v2.6.4").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    let error = releases.contents("flux", "v2.6.9").unwrap_err();
    assert_eq!(error.kind, PortErrorKind::NotFound);
    assert!(error.remedy.is_some());
}
