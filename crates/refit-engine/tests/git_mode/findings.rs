//! Findings that a plane gives by itself.

use refit_engine::ports::{Base, BlobId, Change, CommitId, CommitSummary, History, Listed, PortError, Repository};
use refit_manifest::Path;

use crate::world::{GENERATED, World, ask, manifest, one};

/// Checks the findings, as code and subject, of a plane with further files.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let text = manifest("v7.1.0", &["v1beta2", "v1"]);
    let mut all = files.to_vec();
    if !files.iter().any(|(path, _)| *path == GENERATED) {
        all.push((GENERATED, &text));
    }
    let world = World::with(&all);
    let findings = world
        .run(|ports| refit_engine::check(ports, &ask("flux@v7.2.0")).map(one))
        .unwrap()
        .body
        .findings;
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.subject))
        .collect();
    let lines: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| !line.starts_with("CatalogOlder"))
        .collect();
    assert_eq!(lines, expected);
}

#[test]
fn a_plain_plane_gives_none() {
    check(&[], &[]);
}

#[test]
fn a_pinned_image_and_another_updater_are_named_with_their_line() {
    let kustomization = "clusters/production/flux-system/kustomization.yaml";
    let pin = "resources: [gotk-components.yaml]\nimages:\n- name: ghcr.io/fluxcd/source-controller\n  newTag: v0\n- name: other\n  newTag: v1\n";
    check(
        &[(kustomization, pin), ("renovate.json", "{}")],
        &[
            "PinnedImage clusters/production/flux-system/kustomization.yaml:3",
            "OtherUpdater renovate.json:1",
        ],
    );
}

#[test]
fn a_header_that_says_another_version_is_a_mixed_state() {
    let text = manifest("v7.1.0", &["v1beta2", "v1"]).replace("Flux Version: v7.1.0", "Flux Version: v7.2.0");
    check(&[(GENERATED, &text)], &[&format!("MixedState {GENERATED}")]);
}

#[test]
fn an_object_that_stands_twice_is_named() {
    let copy = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: flux-system\n";
    check(
        &[("clusters/production/flux-system/namespace.yaml", copy)],
        &["DuplicateIdentity Namespace/flux-system"],
    );
}

#[test]
fn a_placeholder_and_a_broken_file_elsewhere_only_warn() {
    check(
        &[
            ("clusters/b/flux-system/gotk-components.yaml", "# later\n"),
            ("apps/a.yaml", "<<<<<<< HEAD\na: 1\n=======\n>>>>>>> x\n"),
        ],
        &[
            "UnreadableElsewhere apps/a.yaml:1",
            "PlaceholderManifest clusters/b/flux-system/gotk-components.yaml",
        ],
    );
}

#[test]
fn a_file_that_two_clusters_share_blocks() {
    let text = manifest("v7.1.0", &["v1beta2", "v1"]);
    let sync = |name: &str| {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: s}}\nspec: {{path: clusters/{name}}}\n"
        )
    };
    let named = "resources: [../../base, sync.yaml]\n";
    let world = World::with(&[
        ("base/g.yaml", &text),
        ("base/kustomization.yaml", "resources: [g.yaml]\n"),
        ("clusters/a/kustomization.yaml", named),
        ("clusters/a/sync.yaml", &sync("a")),
        ("clusters/b/kustomization.yaml", named),
        ("clusters/b/sync.yaml", &sync("b")),
    ]);
    let asked = refit_engine::Ask {
        clusters: vec!["a".into()],
        ..ask("flux@v7.2.0")
    };
    let report = world
        .run(|ports| Ok(one(refit_engine::plan(ports, &asked)?.report())))
        .unwrap();
    assert_eq!(report.message, "SharedFile base/g.yaml: cluster `a` shares it with `b`");
    assert_eq!(report.exit.code(), 3);
}

/// A repository whose files go through a filter, or whose history is cut off.
struct Odd<'a>(&'a World);

impl Repository for Odd<'_> {
    fn location(&self) -> String {
        self.0.repository.location()
    }
    fn base(&self, wanted: Option<&str>) -> Result<Base, PortError> {
        self.0.repository.base(wanted)
    }
    fn list(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError> {
        let mut listed = self.0.repository.list(commit)?;
        for item in &mut listed {
            item.filtered = item.path.as_str() == GENERATED;
        }
        Ok(listed)
    }
    fn read(&self, blob: &BlobId) -> Result<std::sync::Arc<[u8]>, PortError> {
        self.0.repository.read(blob)
    }
    fn history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError> {
        Ok(History {
            cut: true,
            ..self.0.repository.history(commit, path, limit)?
        })
    }
    fn commits_between(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError> {
        self.0.repository.commits_between(from, to)
    }
    fn log(&self, commit: &CommitId, directory: &Path) -> Result<refit_engine::ports::Log, PortError> {
        self.0.repository.log(commit, directory)
    }
    fn commit_again(&self, original: &CommitId, parent: &CommitId, changes: &[Change]) -> Result<CommitId, PortError> {
        self.0.repository.commit_again(original, parent, changes)
    }
    fn person(&self) -> Result<String, PortError> {
        self.0.repository.person()
    }
    fn commit(&self, parent: &CommitId, changes: &[Change], message: &str) -> Result<CommitId, PortError> {
        self.0.repository.commit(parent, changes, message)
    }
    fn branch(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        self.0.repository.branch(name)
    }
    fn branches(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.0.repository.branches(prefix)
    }
    fn publish(&self, name: &str, new: Option<&CommitId>, expected: Option<&CommitId>) -> Result<(), PortError> {
        self.0.repository.publish(name, new, expected)
    }
    fn note(&self, name: &str) -> Result<Option<std::sync::Arc<[u8]>>, PortError> {
        self.0.repository.note(name)
    }
    fn notes(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.0.repository.notes(prefix)
    }
    fn put_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError> {
        self.0.repository.put_note(name, new, expected)
    }
    fn fast_forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError> {
        self.0.repository.fast_forward(base, to)
    }
}

fn codes(world: &World) -> Vec<&'static str> {
    let odd = Odd(world);
    let report = world.run_through(&odd, &world.forge, &world.releases, |ports| {
        refit_engine::check(ports, &ask("flux@v7.2.0")).map(one)
    });
    let report = report.unwrap();
    assert_eq!(report.exit.code(), 3);
    report
        .body
        .findings
        .iter()
        .map(|finding| finding.code.word())
        .filter(|word| !word.starts_with("Catalog"))
        .collect()
}

#[test]
fn a_file_behind_a_filter_is_never_written() {
    assert_eq!(codes(&World::new(|text| text)), ["FilteredFile"]);
}

#[test]
fn a_history_that_is_cut_off_is_no_base() {
    let text = manifest("v7.1.5", &["v1beta2", "v1"]);
    let world = World::with(&[(GENERATED, &text)]);
    world.commit("main", GENERATED, &text.replace("info", "debug"));
    assert_eq!(codes(&world), ["FilteredFile", "BaseUnknown", "ShallowHistory"]);
}
