//! `refit` on real repositories: each corpus snapshot as a Git repository, from status to a second, empty upgrade.

#![expect(clippy::panic, reason = "a test says with a panic what is wrong")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use refit_testkit::git::GitRepository;
use refit_testkit::shared;
use serde_json::Value;

/// What the upgrade of a snapshot comes to.
enum Verdict {
    /// A request opens and is merged; the installed version is this one then, and only these files changed.
    Upgraded(&'static str, &'static [&'static str]),
    /// A decision is needed first; with these answers, by id, it comes to that.
    Asked(
        &'static [(&'static str, &'static str)],
        &'static str,
        &'static [&'static str],
    ),
    /// Nothing is written; a finding with this code says why.
    Blocked(&'static str),
}

use Verdict::{Asked, Blocked, Upgraded};

/// Snapshot, further arguments, verdict.
type Row = (&'static str, &'static [&'static str], Verdict);

/// Where the operation of a patch must point to once another version has come before.
const MOVED: &str =
    "/spec/versions/1/schema/openAPIV3Schema/properties/spec/properties/resources/items/properties/kind/enum/-";

const TABLE: &[Row] = &[
    ("K0rdent+kcm/v0.0.3", &[], Blocked("PlaneNotFound")),
    (
        "Mirantis-PS+k0rdent-fluxcd-example/2025-02-10",
        &[],
        Blocked("PlaneNotFound"),
    ),
    (
        "andreswebs+k8s-fleet-fluxcd-template/2021-05-04",
        &[],
        Upgraded(
            "v2.6.4",
            &[
                ".refit/flux-system.json",
                "flux-system/gotk-components.yaml",
                "flux-system/gotk-sync.yaml",
            ],
        ),
    ),
    (
        "billimek+k8s-gitops/2021-05-17",
        &[],
        Upgraded(
            "v2.6.4",
            &[
                ".refit/flux-system.json",
                "flux-system/gotk-components.yaml",
                "flux-system/gotk-sync.yaml",
            ],
        ),
    ),
    (
        "billimek+k8s-gitops/2024-09-26",
        &[],
        Upgraded(
            "v2.7.5",
            &[".refit/flux-system.json", "flux-system/gotk-components.yaml"],
        ),
    ),
    (
        "fluxcd+flux2-hub-spoke-example/2024-12-17",
        &[],
        Blocked("PlaceholderManifest"),
    ),
    (
        "fluxcd+flux2-kustomize-helm-example/2026-07-08",
        &[],
        Blocked("PlaceholderManifest"),
    ),
    (
        "fluxcd+flux2-multi-tenancy/2025-06-27",
        &[],
        Blocked("PlaceholderManifest"),
    ),
    ("k0rdent+kcm/v1.0.0", &[], Blocked("PlaneNotFound")),
    ("kubernetes-sigs+cluster-api/2026-08-21", &[], Blocked("PlaneNotFound")),
    (
        "kubernetes-sigs+cluster-api-operator/2026-07-20",
        &[],
        Blocked("PlaneNotFound"),
    ),
    ("onedr0p+home-ops/2021-02-13", &[], Blocked("BaseUnknown")),
    ("onedr0p+home-ops/2022-05-14", &[], Upgraded("v2.6.4", &[])),
    ("sympatheticmoose+upgrade-repo/2021-12-16", &[], Upgraded("v2.6.4", &[])),
    ("telekom+das-schiff/2021-08-06", &[], Blocked("PlaneNotFound")),
    ("weaveworks+weave-gitops/2021-07-20", &[], Blocked("PlaneNotFound")),
    ("weaveworks+weave-gitops/2021-11-17", &[], Blocked("PlaneNotFound")),
    (
        "wkp-example-org+podinfo-deploy/2022-01-26",
        &[],
        Blocked("PlaneNotFound"),
    ),
    (
        "xUnholy+k8s-gitops/2021-04-14",
        &["--cluster", "production"],
        Upgraded(
            "v2.6.4",
            &[
                ".refit/production.json",
                "k8s/clusters/production/flux-system/gotk-components.yaml",
                "k8s/clusters/production/flux-system/gotk-sync.yaml",
            ],
        ),
    ),
    (
        "xUnholy+k8s-gitops/2021-04-14",
        &["--cluster", "production-gke"],
        Blocked("VersionUnclear"),
    ),
    (
        "xUnholy+k8s-gitops/2021-04-14",
        &["--cluster", "staging"],
        Blocked("BaseUnknown"),
    ),
    // Row 20 of the facts: `/spec/versions/0` of the Receivers' definition is another version from v2.0 on.
    (
        "xUnholy+k8s-gitops/2023-03-31",
        &[],
        Asked(
            &[("d65f3d7e", MOVED)],
            "v2.6.4",
            &[
                ".refit/cluster-1.json",
                "k8s/clusters/cluster-1/flux-system/gotk-components.yaml",
                "k8s/clusters/cluster-1/flux-system/kustomization.yaml",
            ],
        ),
    ),
];

/// A corpus repository and the command in it.
struct World {
    name: String,
    repository: GitRepository,
    catalog: PathBuf,
    arguments: Vec<String>,
}

impl World {
    fn run(&self, arguments: &[&str]) -> Output {
        let program = env!("CARGO_BIN_EXE_refit");
        Command::new(program)
            .args(arguments)
            .args(&self.arguments)
            .args(["-o", "json"])
            .current_dir(self.repository.path())
            .envs(self.repository.environment())
            .env("REFIT_CATALOG", &self.catalog)
            .output()
            .unwrap_or_else(|error| panic!("{program}: {error}"))
    }

    /// Runs a command that must end with a code, and gives its object.
    fn json(&self, arguments: &[&str], code: i32) -> Value {
        let output = self.run(arguments);
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{} {arguments:?}: {text}{errors}",
            self.name
        );
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{} {arguments:?}: {error}: {text}", self.name))
    }

    fn git(&self, arguments: &[&str]) -> String {
        self.repository.git(arguments)
    }
}

fn check(row: &Row, corpus: &Path, catalog: &Path) {
    let (snapshot, arguments, verdict) = row;
    let world = World {
        name: (*snapshot).to_owned(),
        repository: GitRepository::of_directory(&corpus.join(snapshot)),
        catalog: catalog.to_owned(),
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    match verdict {
        Blocked(code) => {
            let before = world.git(&["for-each-ref"]);
            let report = world.json(&["upgrade", "--yes"], 3);
            assert!(
                report.to_string().contains(&format!("\"{code}\"")),
                "{snapshot}: {report}"
            );
            assert_eq!(
                world.git(&["for-each-ref"]),
                before,
                "{snapshot}: something was written"
            );
        }
        Upgraded(version, files) => upgrade(&world, version, files),
        Asked(answers, version, files) => {
            world.json(&["upgrade", &format!("flux@{version}"), "--yes"], 5);
            for (id, answer) in *answers {
                world.json(&["resolve", id, answer], 0);
            }
            upgrade(&world, version, files);
        }
    }
}

/// Merges the requests of the route, with somebody's word for what each waits for.
fn merge_all(world: &World) {
    for number in 1..=12 {
        for word in ["migrated", "reconciled"] {
            world.run(&["resume", "--confirm", word]);
        }
        world.json(&["request", "merge", &number.to_string()], 0);
        world.run(&["resume"]);
        let status = world.json(&["status"], 0);
        if status["state"] == "done" {
            return;
        }
    }
    panic!("{}: the route does not end", world.name);
}

fn upgrade(world: &World, version: &str, files: &[&str]) {
    let before = world.git(&["rev-parse", "HEAD"]);
    world.json(&["upgrade", &format!("flux@{version}"), "--yes"], 6);
    assert_eq!(
        world.git(&["rev-parse", "HEAD"]),
        before,
        "{}: the target branch moved",
        world.name
    );
    merge_all(world);
    let status = world.json(&["status"], 0);
    assert_eq!(status["state"], "done", "{}: {status}", world.name);
    assert!(
        status.to_string().contains(&format!("\"{version}\"")),
        "{}: {status}",
        world.name
    );
    let head = world.git(&["rev-parse", "HEAD"]);
    world.json(&["upgrade", &format!("flux@{version}"), "--yes"], 0);
    assert_eq!(
        world.git(&["rev-parse", "HEAD"]),
        head,
        "{}: a second upgrade is empty",
        world.name
    );
    let changed = world.git(&["diff", "--name-only", before.trim(), "HEAD"]);
    let changed: Vec<&str> = changed.lines().collect();
    let expected = if files.is_empty() { 2 } else { files.len() };
    assert_eq!(changed.len(), expected, "{}: {changed:?}", world.name);
    assert!(
        files.iter().all(|file| changed.contains(file)),
        "{}: {changed:?}",
        world.name
    );
    assert_eq!(world.git(&["status", "--porcelain"]), "", "{}", world.name);
    world.git(&["fsck", "--strict"]);
}

fn check_rows(rows: impl Iterator<Item = &'static Row>) {
    let Some(corpus) = shared::find("corpus") else { return };
    let Some(catalog) = shared::find("flux-manifests") else {
        return;
    };
    rows.for_each(|row| check(row, &corpus, &catalog));
}

#[test]
fn snapshots_that_can_be_upgraded_are_merged_and_done() {
    check_rows(TABLE.iter().filter(|row| matches!(row.2, Upgraded(..) | Asked(..))));
}

#[test]
fn snapshots_that_cannot_be_upgraded_name_the_reason_and_stay() {
    check_rows(TABLE.iter().filter(|row| matches!(row.2, Blocked(_))));
}

#[test]
fn every_snapshot_of_the_corpus_is_in_the_table() {
    let Some(corpus) = shared::find("corpus") else { return };
    for owner in std::fs::read_dir(&corpus)
        .unwrap()
        .flatten()
        .filter(|entry| entry.path().is_dir())
    {
        for snapshot in std::fs::read_dir(owner.path()).unwrap().flatten() {
            let name = format!(
                "{}/{}",
                owner.file_name().to_string_lossy(),
                snapshot.file_name().to_string_lossy()
            );
            assert!(TABLE.iter().any(|row| row.0 == name), "{name} has no verdict");
        }
    }
}
