//! Every Flux manifest of the real repositories, merged to the next minor, to v2.3.0 and to v2.9.4, and checked.
//!
//! Ours is the manifest's directory with all that the user has there; base and theirs are rendered with the recovered
//! options. The table states the verdict on each: upgraded, blocked with which code, decision needed.

#![expect(clippy::expect_used, reason = "a test that cannot be set up must stop")]

use std::path::{Path as FilePath, PathBuf};

use refit_core::catalog::Catalog;
use refit_core::check;
use refit_core::detect::{Recognised, detect, recognise};
use refit_core::finding::Code;
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};
use refit_core::release::Version;
use refit_core::render::render;
use refit_manifest::merge::Settings;
use refit_manifest::schema::ListKeys;
use refit_manifest::{Entry, Outcome, Path, Stream, Tree};
use refit_testkit::{merging, shared};

fn files(folder: &FilePath, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found)
        } else {
            found.push(path)
        }
    }
    found.sort();
}

/// Reads a directory as a tree with paths below it.
fn tree(folder: &FilePath) -> Tree {
    let mut paths = Vec::new();
    files(folder, &mut paths);
    let entry = |path: PathBuf| {
        let name = path.strip_prefix(folder).ok()?.to_str()?.to_owned();
        Some((Path::new(name), Entry::file(std::fs::read(&path).ok()?)))
    };
    paths.into_iter().filter_map(entry).collect()
}

fn split(bytes: &[u8]) -> Option<Stream> {
    Stream::split(bytes.into()).ok()
}

/// Renders a release as the generator would write it with the options; `None` where the release is not there.
fn rendered(version: &Version, options: &Options, catalog: &Catalog) -> Option<Vec<u8>> {
    let folder = shared::find("flux-manifests")?.join(version.to_string());
    let read = |name: &str| split(&std::fs::read(folder.join(name)).ok()?);
    let streams: Vec<Stream> = ["gotk-components.yaml", "gotk-components.six.yaml"]
        .iter()
        .filter_map(|name| read(name))
        .collect();
    let made = render(&streams, options, catalog).ok()?;
    Some(made.bytes.to_vec())
}

/// One manifest of the corpus.
struct Manifest<'m> {
    path: &'m FilePath,
    stream: Stream,
    catalog: &'m Catalog,
}

impl Manifest<'_> {
    /// Gives one line for each target, and what the checker found wrong.
    fn verdicts(&self, wrong: &mut Vec<String>) -> Vec<String> {
        let generated = Generated::read(&self.stream, self.catalog);
        let options = recover(&generated, self.catalog);
        let from = detect(&generated, self.catalog)
            .version
            .filter(|version| self.catalog.knows(version));
        let Some((from, base)) = from.and_then(|from| Some((from.clone(), rendered(&from, &options, self.catalog)?)))
        else {
            return vec!["blocked BaseUnknown".to_owned()];
        };
        let mut targets: Vec<Version> = self.catalog.next_minor(&from).cloned().into_iter().collect();
        targets.extend(["v2.3.0", "v2.9.4"].iter().filter_map(|name| Version::parse(name).ok()));
        targets.retain(|target| *target > from);
        targets.sort();
        targets.dedup();
        targets
            .iter()
            .map(|to| format!("{from} -> {to}: {}", self.upgrade(&from, to, (&options, &base), wrong)))
            .collect()
    }

    fn upgrade(
        &self,
        from: &Version,
        to: &Version,
        (options, base): (&Options, &[u8]),
        wrong: &mut Vec<String>,
    ) -> String {
        let theirs = rendered(to, options, self.catalog).expect("the target can be rendered");
        let next = split(&theirs).expect("the target is a stream");
        let definitions = |stream: &Stream| check::definitions(&Generated::read(stream, self.catalog));
        // One hop alone: a route would go over the releases between.
        let stored = check::stored(&definitions(&self.stream), from, self.catalog);
        let after = definitions(&next);
        let is_refused = !check::removed(&stored, |name| after.get(name).map(check::names)).is_empty();
        let blocking: &[&str] = if is_refused {
            &[Code::StoredVersionRemoved.word()]
        } else {
            &[]
        };
        let file = self.path.file_name().and_then(|name| name.to_str()).expect("a name");
        let one = |bytes: &[u8]| [(Path::new(file), Entry::file(bytes))].into_iter().collect::<Tree>();
        let ours = tree(self.path.parent().expect("a directory"));
        let settings = Settings {
            optional_kinds: vec!["NetworkPolicy".into()],
            lists: ListKeys::read(&next),
            known_tags: self.catalog.known_tags().into_iter().collect(),
            ..Settings::default()
        };
        let checked = merging::trees([&one(base), &ours, &one(&theirs)], &settings);
        wrong.extend(
            checked
                .violations
                .iter()
                .map(|wrong| format!("{} to {to}: {wrong}", self.path.display())),
        );
        for (path, entry) in ours.iter().filter(|(path, _)| path.as_str() != file) {
            if checked.merged.tree.get(path) != Some(entry) {
                wrong.push(format!("{} to {to}: {path} of the user changed", self.path.display()));
            }
        }
        let count = |outcome| checked.merged.decisions.iter().filter(|d| d.outcome == outcome).count();
        let merged = match checked.outcome() {
            Outcome::Clean => "upgraded".to_owned(),
            Outcome::Noted => format!("upgraded, {} noted", count(Outcome::Noted)),
            Outcome::Conflict => format!("decision needed, {}", count(Outcome::Conflict)),
            Outcome::Blocked => "blocked file".to_owned(),
        };
        match blocking {
            [] => merged,
            codes => format!("blocked {} (files: {merged})", codes.join(" ")),
        }
    }
}

#[test]
fn each_manifest_of_the_corpus_is_merged_as_the_table_says() {
    let Some(corpus) = shared::find("corpus") else { return };
    if shared::find("flux-manifests").is_none() {
        return;
    }
    let catalog = Catalog::flux().expect("the embedded catalog");
    let mut paths = Vec::new();
    files(&corpus, &mut paths);
    let (mut table, mut wrong) = (String::new(), Vec::new());
    for path in paths
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "yaml" || end == "yml"))
    {
        let Some(stream) = std::fs::read(path).ok().as_deref().and_then(split) else {
            continue;
        };
        if recognise(&stream, &catalog) != Recognised::Manifest {
            continue;
        }
        let manifest = Manifest {
            path,
            stream,
            catalog: &catalog,
        };
        let name = path
            .strip_prefix(&corpus)
            .expect("below the corpus")
            .display()
            .to_string();
        for verdict in manifest.verdicts(&mut wrong) {
            table.push_str(&format!("{name}: {verdict}\n"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(table, EXPECTED, "\n{table}");
}

const EXPECTED: &str = "\
andreswebs+k8s-fleet-fluxcd-template/2021-05-04/flux-system/gotk-components.yaml: v0.13.1 -> v0.14.2: upgraded
andreswebs+k8s-fleet-fluxcd-template/2021-05-04/flux-system/gotk-components.yaml: v0.13.1 -> v2.3.0: upgraded
andreswebs+k8s-fleet-fluxcd-template/2021-05-04/flux-system/gotk-components.yaml: \
    v0.13.1 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
billimek+k8s-gitops/2021-05-17/flux-system/gotk-components.yaml: v0.13.4 -> v0.14.2: upgraded
billimek+k8s-gitops/2021-05-17/flux-system/gotk-components.yaml: v0.13.4 -> v2.3.0: upgraded
billimek+k8s-gitops/2021-05-17/flux-system/gotk-components.yaml: \
    v0.13.4 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
billimek+k8s-gitops/2024-09-26/flux-system/gotk-components.yaml: v2.3.0 -> v2.4.0: upgraded
billimek+k8s-gitops/2024-09-26/flux-system/gotk-components.yaml: \
    v2.3.0 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded, 2 noted)
onedr0p+home-ops/2021-02-13/cluster/flux-system/gotk-components.yaml: blocked BaseUnknown
onedr0p+home-ops/2022-05-14/cluster/base/flux-system/gotk-components.yaml: v0.30.2 -> v0.31.5: upgraded
onedr0p+home-ops/2022-05-14/cluster/base/flux-system/gotk-components.yaml: v0.30.2 -> v2.3.0: upgraded
onedr0p+home-ops/2022-05-14/cluster/base/flux-system/gotk-components.yaml: \
    v0.30.2 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
sympatheticmoose+upgrade-repo/2021-12-16/.weave-gitops/clusters/kind-kind/system/gitops-runtime.yaml: \
    v0.21.0 -> v0.22.1: upgraded
sympatheticmoose+upgrade-repo/2021-12-16/.weave-gitops/clusters/kind-kind/system/gitops-runtime.yaml: \
    v0.21.0 -> v2.3.0: upgraded
sympatheticmoose+upgrade-repo/2021-12-16/.weave-gitops/clusters/kind-kind/system/gitops-runtime.yaml: \
    v0.21.0 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production/flux-system/gotk-components.yaml: \
    v0.12.3 -> v0.13.4: upgraded
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production/flux-system/gotk-components.yaml: \
    v0.12.3 -> v2.3.0: upgraded
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production/flux-system/gotk-components.yaml: \
    v0.12.3 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/production-gke/flux-system/gotk-components.yaml: \
    blocked BaseUnknown
xUnholy+k8s-gitops/2021-04-14/k8s/clusters/staging/flux-system/gotk-components.yaml: blocked BaseUnknown
xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/flux-system/gotk-components.yaml: \
    v0.41.2 -> v2.0.1: upgraded
xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/flux-system/gotk-components.yaml: \
    v0.41.2 -> v2.3.0: upgraded
xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/flux-system/gotk-components.yaml: \
    v0.41.2 -> v2.9.4: blocked StoredVersionRemoved (files: upgraded)
";
