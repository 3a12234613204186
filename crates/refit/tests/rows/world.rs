//! A platform repository made of real data, and what `refit` says and does there.
//!
//! In: a snapshot of the corpus, or a pristine manifest with a user's edit. Out: answers of the built program and the
//! lines that it changed. `None`, with a `skipped` line, where the real data is not there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use refit_manifest::{Entry, Path, Tree};
use refit_testkit::flux::{Manifests, Set, Version};
use refit_testkit::git::GitRepository;
use refit_testkit::shared;
use serde_json::Value;

/// Where `flux bootstrap` puts the manifest of the cluster `production`.
pub(crate) const GENERATED: &str = "clusters/production/flux-system/gotk-components.yaml";

const KUSTOMIZATION: &str = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- \
                             gotk-components.yaml\n- gotk-sync.yaml\n";

/// The Kustomization of the cluster `production`.
pub(crate) const SYNC: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  \
                    namespace: flux-system\nspec:\n  interval: 10m\n  path: ./clusters/production\n  prune: true\n  \
                    sourceRef:\n    kind: GitRepository\n    name: flux-system\n";

/// Gives the Kustomization in a version that the release of a manifest serves.
fn sync_of(manifest: &str) -> String {
    let is_first = manifest.contains("app.kubernetes.io/version: v0.");
    SYNC.replace(".io/v1\n", if is_first { ".io/v1beta1\n" } else { ".io/v1\n" })
}

/// A repository and the program in it.
pub(crate) struct World {
    repository: GitRepository,
    catalog: PathBuf,
}

/// What a command answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) json: Value,
}

/// Reads the pristine manifest of a version.
pub(crate) fn pristine(version: &str) -> Option<String> {
    of_set(version, Set::Default)
}

/// Reads the pristine manifest of a version with the image controllers.
pub(crate) fn six(version: &str) -> Option<String> {
    of_set(version, Set::Six)
}

fn of_set(version: &str, set: Set) -> Option<String> {
    let manifests = Manifests::find()?;
    let text = manifests.read(&Version::read(version)?, set);
    assert!(text.is_some(), "{version} is not among the manifests");
    text
}

impl World {
    /// Makes the repository of one cluster whose manifest has this text.
    pub(crate) fn of(manifest: &str) -> Option<Self> {
        let directory = "clusters/production/flux-system";
        Self::with(&[
            (GENERATED, manifest),
            (&format!("{directory}/kustomization.yaml"), KUSTOMIZATION),
            (&format!("{directory}/gotk-sync.yaml"), &sync_of(manifest)),
        ])
    }

    /// Makes a repository of files.
    pub(crate) fn with(files: &[(&str, &str)]) -> Option<Self> {
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        Self::in_repository(|| GitRepository::of_tree(&tree))
    }

    /// Makes the repository of a corpus snapshot.
    pub(crate) fn snapshot(name: &str) -> Option<Self> {
        let folder = shared::find("corpus")?.join(name);
        Self::in_repository(|| GitRepository::of_directory(&folder))
    }

    fn in_repository(make: impl FnOnce() -> GitRepository) -> Option<Self> {
        let catalog = shared::find("flux-manifests")?;
        Some(Self {
            repository: make(),
            catalog,
        })
    }

    /// Finds a file of the corpus.
    pub(crate) fn corpus_file(name: &str) -> Option<PathBuf> {
        Some(shared::find("corpus")?.join(name))
    }

    /// Writes a file beside the repository, and gives its path.
    pub(crate) fn outside(&self, name: &str, text: &str) -> String {
        let path = self.repository.path().with_file_name(name);
        std::fs::write(&path, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        path.display().to_string()
    }

    /// Commits another content of a file.
    pub(crate) fn commit(&self, path: &str, text: &str) {
        let mut tree = Tree::new();
        tree.insert(path.into(), Entry::file(text.as_bytes()));
        self.repository.commit(&tree, "By hand");
    }

    /// Runs a command for its JSON object.
    pub(crate) fn run(&self, arguments: &[&str]) -> Answer {
        let mut program = Command::new(env!("CARGO_BIN_EXE_refit"));
        program.args(arguments).args(["-o", "json"]);
        program.current_dir(self.repository.path());
        program
            .envs(self.repository.environment())
            .env("REFIT_CATALOG", &self.catalog);
        let output = program
            .output()
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        let json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}{errors}"));
        Answer {
            code: output.status.code().unwrap_or(-1),
            json,
        }
    }

    /// Upgrades, merges the request, and gives the answer of the upgrade; nothing may be open or blocked.
    pub(crate) fn upgrade(&self, arguments: &[&str]) -> Answer {
        let answer = self.run(&[&["upgrade", "--yes"], arguments].concat());
        assert_eq!(answer.code, 6, "{:#}", answer.json);
        self.merge_all(&answer);
        answer
    }

    /// Merges the request of an answer and those that follow on its route, with somebody's word for what they wait for.
    pub(crate) fn merge_all(&self, answer: &Answer) {
        let mut number = answer.json["request"]["number"].clone();
        for _ in 0..12 {
            for word in ["migrated", "reconciled"] {
                self.run(&["resume", "--confirm", word]);
            }
            let merged = self.run(&["request", "merge", &number.to_string()]);
            assert_eq!(merged.code, 0, "{:#}", merged.json);
            let next = self.run(&["resume"]);
            number = next.json["request"]["number"].clone();
            if number.is_null() {
                assert_eq!(next.json["state"], "nothingToDo", "{:#}", next.json);
                return;
            }
        }
        panic!("the route does not end");
    }

    /// Gives the text of a file at the newest commit.
    pub(crate) fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.repository.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Gives the manifest of the cluster `production` at the newest commit.
    pub(crate) fn generated(&self) -> String {
        self.text(GENERATED)
    }

    /// Lists the references, to see that nothing was written.
    pub(crate) fn references(&self) -> String {
        self.repository.git(&["for-each-ref"])
    }

    /// Lists the files that the newest commits changed since the first one.
    pub(crate) fn changed(&self) -> Vec<String> {
        let first = self.repository.git(&["rev-list", "--max-parents=0", "HEAD"]);
        let names = self.repository.git(&["diff", "--name-only", &first, "HEAD"]);
        names.lines().map(ToOwned::to_owned).collect()
    }
}

impl Answer {
    fn list(&self, key: &str) -> Vec<&Value> {
        self.json[key].as_array().into_iter().flatten().collect()
    }

    /// Lists the findings as `CODE subject: message`.
    pub(crate) fn findings(&self) -> Vec<String> {
        let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
        let line = |finding: &&Value| {
            let [code, subject, message] = ["code", "subject", "message"].map(|key| text(finding, key));
            format!("{code} {subject}: {message}")
        };
        self.list("findings").iter().map(line).collect()
    }

    /// Gives the only finding with a code.
    pub(crate) fn finding(&self, code: &str) -> String {
        let all = self.findings();
        let found: Vec<&String> = all
            .iter()
            .filter(|line| line.starts_with(&format!("{code} ")))
            .collect();
        assert_eq!(found.len(), 1, "{code} among {all:#?}");
        found[0].clone()
    }

    /// Tells whether there is a finding with a code.
    pub(crate) fn has(&self, code: &str) -> bool {
        self.findings().iter().any(|line| line.starts_with(&format!("{code} ")))
    }

    /// Lists the decisions of a plan, or the open ones of an upgrade, as `outcome rule: message`.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let all = self.list("decisions").into_iter().chain(self.list("open"));
        let line = |decision: &Value| {
            let text = |key: &str| decision[key].as_str().unwrap_or_default().to_owned();
            format!("{} {}: {}", text("outcome"), text("rule"), text("message"))
        };
        all.map(line).collect()
    }
}

/// The lines that stand in one text more often than in the other, each side in its order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) gone: Vec<String>,
    pub(crate) come: Vec<String>,
}

impl Lines {
    /// Nothing differs.
    pub(crate) fn none() -> Self {
        Self {
            gone: Vec::new(),
            come: Vec::new(),
        }
    }
}

/// Compares two texts by their lines, wherever these stand.
pub(crate) fn lines(before: &str, after: &str) -> Lines {
    Lines {
        gone: beyond(before, after),
        come: beyond(after, before),
    }
}

fn beyond(one: &str, other: &str) -> Vec<String> {
    let mut there: BTreeMap<&str, usize> = BTreeMap::new();
    for line in other.lines() {
        *there.entry(line).or_default() += 1;
    }
    let mut fresh = Vec::new();
    for line in one.lines() {
        match there.get_mut(line) {
            Some(count) if *count > 0 => *count -= 1,
            _ => fresh.push(line.to_owned()),
        }
    }
    fresh
}
