//! Routes on a real API server: what it refuses, and that each hop with its migration is accepted.

use std::collections::BTreeSet;

use refit_core::evidence::Evidence;
use refit_core::migration;
use refit_core::release::Version;
use refit_core::route::{self, Hop, Known, Stored, Used};
use refit_testkit::flux::{Manifests, Set};
use refit_testkit::testenv::{ApiServer, Apply};

use crate::support::{CATALOG, FOUR, SIX, catalog_versions, fresh, version};

/// What applies definitions, as kustomize-controller does.
pub(crate) fn installer() -> Apply<'static> {
    Apply::by("kustomize-controller").forced()
}

/// Gives the definitions of a release as a stream, of these components.
pub(crate) fn crds(manifests: &Manifests, release: &Version, names: &[&str]) -> String {
    let of = manifests
        .versions()
        .iter()
        .find(|version| version.name == release.to_string());
    let of = of.unwrap_or_else(|| panic!("no manifest of {release}"));
    let text = manifests
        .read(of, Set::Six)
        .or_else(|| manifests.read(of, Set::Default))
        .unwrap();
    let known = Known::new(&CATALOG);
    let counted = |document: &&str| {
        let crd = document
            .lines()
            .find_map(|line| line.strip_prefix("  name: "))
            .unwrap_or_default();
        let versions = known.versions(crd, release);
        let component = versions.and_then(|versions| versions.component);
        document.contains("kind: CustomResourceDefinition") && component.is_some_and(|name| names.contains(&&*name))
    };
    text.split("\n---\n")
        .filter(counted)
        .collect::<Vec<_>>()
        .join("\n---\n")
}

pub(crate) fn snapshot(server: &ApiServer) -> Evidence {
    let output = server.kubectl(&["get", "crds,deployments", "-A", "-o", "json"], b"");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Evidence::read(&output.stdout.into()).unwrap()
}

/// Runs a script to its end.
pub(crate) fn run(server: &ApiServer, script: &str) -> String {
    let output = server.shell(script, None);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    said
}

/// One object of each kind of the plane, written as an installed release serves it.
fn objects(server: &ApiServer, release: &Version, names: &[&str], namespace: &str) -> usize {
    let known = Known::new(&CATALOG);
    let mut made = 0;
    for (crd, versions) in known.of(release).unwrap() {
        if !versions.component.as_deref().is_some_and(|name| names.contains(&name)) {
            continue;
        }
        let spec = spec(&versions.kind);
        let group = crd.split_once('.').unwrap().1;
        let manifest = format!(
            "{{apiVersion: {group}/{}, kind: {}, metadata: {{name: one, namespace: {namespace}}}, spec: {spec}}}",
            versions.storage, versions.kind
        );
        // What each release asks of an object is not at stake here; an object that it does not take is left out.
        made += usize::from(server.apply(manifest.as_bytes(), &Apply::by("people")).is_ok());
    }
    made
}

fn spec(kind: &str) -> &'static str {
    match kind {
        "Alert" => "{providerRef: {name: a}, eventSources: [{kind: Kustomization, name: a}]}",
        "Bucket" => "{interval: 1m, bucketName: a, endpoint: a.example.org}",
        "GitRepository" => "{interval: 1m, url: 'https://example.org/a'}",
        "HelmChart" => "{interval: 1m, chart: a, sourceRef: {kind: HelmRepository, name: a}}",
        "HelmRelease" => "{interval: 1m, chart: {spec: {chart: a, sourceRef: {kind: HelmRepository, name: a}}}}",
        "HelmRepository" => "{interval: 1m, url: 'https://example.org/a'}",
        "ImagePolicy" => "{imageRepositoryRef: {name: a}, policy: {alphabetical: {}}}",
        "ImageRepository" => "{interval: 1m, image: example.org/a}",
        "ImageUpdateAutomation" => {
            "{interval: 1m, sourceRef: {kind: GitRepository, name: a}, git: {commit: {author: {email: a@example.org}}}, \
             update: {strategy: Setters}}"
        }
        "Kustomization" => "{interval: 1m, prune: false, sourceRef: {kind: GitRepository, name: a}}",
        "OCIRepository" => "{interval: 1m, url: 'oci://example.org/a'}",
        "Provider" => "{type: slack}",
        "Receiver" => "{type: github, resources: [{kind: GitRepository, name: a}], secretRef: {name: a}}",
        _ => "{}",
    }
}

/// Gives what the server refuses of a release, as CRD and version.
fn refused(server: &ApiServer, stream: &str) -> BTreeSet<(String, String)> {
    let Err(refusals) = server.apply(stream.as_bytes(), &installer()) else {
        return BTreeSet::new();
    };
    let pair = |refusal: &refit_testkit::testenv::Refused| {
        assert_eq!(refusal.status, 422, "{refusal}");
        let crd = refusal.object.split_once('/').unwrap().1.to_owned();
        let version = refusal.message.split('"').nth(3).unwrap_or_default();
        assert!(refusal.message.contains("missing from spec.versions"), "{refusal}");
        (crd, version.to_owned())
    };
    refusals.iter().map(pair).collect()
}

/// Goes one hop: first without its migration, which the server refuses when something is stored, then with it.
fn go(server: &ApiServer, manifests: &Manifests, hop: &Hop, names: &[&str]) {
    let stream = crds(manifests, &hop.to, names);
    let stored = |used: Used| {
        let of = hop.gate.iter().filter(move |stale| stale.used == used);
        of.map(|stale| (stale.crd.clone(), stale.version.clone()))
            .collect::<BTreeSet<_>>()
    };
    let left: BTreeSet<_> = route::still_stale(&hop.gate, &snapshot(server))
        .into_iter()
        .filter(|stale| stale.used == Used::Stored)
        .map(|stale| (stale.crd, stale.version))
        .collect();
    assert_eq!(left, stored(Used::Stored), "{} to {}", hop.from, hop.to);
    if !left.is_empty() {
        let dry = server.apply(stream.as_bytes(), &installer().dry_run());
        let crds: BTreeSet<String> = left
            .iter()
            .map(|(crd, _)| format!("CustomResourceDefinition/{crd}"))
            .collect();
        let refused: BTreeSet<String> = dry.unwrap_err().into_iter().map(|refusal| refusal.object).collect();
        assert_eq!(refused, crds, "{} to {}", hop.from, hop.to);
    }
    run(server, &migration::script(&hop.gate));
    let left = route::still_stale(&hop.gate, &snapshot(server));
    assert!(left.iter().all(|stale| stale.used == Used::Managed), "{left:?}");
    assert_eq!(refused(server, &stream), BTreeSet::new(), "{} to {}", hop.from, hop.to);
}

/// Every object of every kind is readable in every served version.
fn all_is_readable(server: &ApiServer, release: &Version, names: &[&str], objects: usize) {
    let known = Known::new(&CATALOG);
    let mut read = 0;
    for (crd, versions) in known.of(release).unwrap() {
        if !versions.component.as_deref().is_some_and(|name| names.contains(&name)) {
            continue;
        }
        let group = crd.split_once('.').unwrap().1;
        for served in &versions.served {
            let listed = server.list(&format!("{group}/{served}"), &versions.kind, "");
            let listed = listed.unwrap_or_else(|refused| panic!("{crd} {served}: {refused}"));
            read += usize::from(served == &versions.storage) * listed.len();
        }
    }
    assert_eq!(read, objects, "{release}");
}

/// Applies the definitions of a start, finds the direct way refused as predicted, and goes the route.
fn prove(server: &ApiServer, manifests: &Manifests, from: &str, names: &[&str]) {
    let (from, to) = (version(from), version("v2.9.4"));
    server
        .apply(crds(manifests, &from, names).as_bytes(), &installer())
        .unwrap();
    let namespace = server.namespace("objects");
    let made = objects(server, &from, names, &namespace);
    assert!(made >= 6, "{from}: {made}");
    let known = Known::new(&CATALOG);
    let mut start = fresh(&from, names, &known);
    // What the cluster says is what was concluded.
    let seen = Stored::seen(&snapshot(server));
    let concluded = start.stored.clone();
    let counted = |stored: &Stored| {
        let of_plane = |crd: &&String| seen.versions.contains_key(*crd) && concluded.versions.contains_key(*crd);
        let versions = stored.versions.iter().filter(|(crd, _)| of_plane(crd));
        versions
            .map(|(crd, versions)| (crd.clone(), versions.clone()))
            .collect::<Vec<_>>()
    };
    assert!(counted(&seen).len() >= 9, "{from}");
    assert_eq!(counted(&concluded), counted(&seen), "{from}");
    start.stored = seen;
    let route = route::find(&start, &to, &catalog_versions(), &known).unwrap();
    let direct = route.hops[0].refused_directly_by.iter();
    let direct: BTreeSet<(String, String)> = direct
        .map(|refusal| (refusal.crd.clone(), refusal.version.clone()))
        .collect();
    let dry = server.apply(crds(manifests, &to, names).as_bytes(), &installer().dry_run());
    let refused: BTreeSet<String> = dry.err().into_iter().flatten().map(|refusal| refusal.object).collect();
    let predicted: BTreeSet<String> = direct
        .iter()
        .map(|(crd, _)| format!("CustomResourceDefinition/{crd}"))
        .collect();
    assert_eq!(refused, predicted, "{from} to {to} at once");
    for hop in &route.hops {
        go(server, manifests, hop, names);
        all_is_readable(server, &hop.to, names, made);
    }
}

fn check(starts: &[&str], names: &[&str]) {
    let Some(manifests) = Manifests::find() else { return };
    for from in starts {
        let Some(server) = ApiServer::fresh() else { return };
        prove(&server, &manifests, from, names);
    }
}

#[test]
fn the_server_takes_each_hop_of_the_rows_before_2_0_with_its_migration() {
    check(&["v0.24.1", "v0.30.2", "v0.41.2"], SIX);
}

#[test]
fn the_server_takes_each_hop_of_the_rows_from_2_0_to_2_3_with_its_migration() {
    check(&["v2.1.2", "v2.2.3", "v2.3.0"], SIX);
}

#[test]
fn the_server_takes_each_hop_of_the_rows_from_2_4_on_with_its_migration() {
    check(&["v2.5.1", "v2.6.4", "v2.7.5", "v2.8.8"], SIX);
}

#[test]
fn the_server_takes_each_hop_with_four_components() {
    check(&["v0.23.0", "v2.2.3"], FOUR);
}
