//! Sync roots: which clusters use which generated files, and what they are called.
//!
//! In: a tree and the paths of generated manifests. Out: [`Root`]s. Reads Flux Kustomizations for their path alone.

use std::collections::{BTreeMap, BTreeSet};

use refit_kustomize::reach::{self, BuildSet, is_inside};
use refit_manifest::{Document, Path, Tree};

use crate::configuration::{self, Spec};
use crate::digest;
use crate::record::Record;
use crate::streams::Streams;

/// Directory names that say nothing about a cluster.
const GENERIC: [&str; 5] = ["flux-system", "wego-system", "system", "flux", "gitops"];

/// A cluster: a directory that is synchronised, and the generated files that it reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    /// The cluster's name.
    pub name: String,
    /// What its directory alone would call it: no other cluster and no configuration changes that.
    pub word: String,
    /// The directory, empty for the root of the repository.
    pub directory: String,
    /// What the directory is built from.
    pub build: BuildSet,
    /// The generated files among it.
    pub generated: Vec<Path>,
}

/// A Flux Kustomization: where it is written and which directory it synchronises.
struct Sync {
    written: Path,
    directory: String,
}

/// What gives clusters their names before their directories do.
#[derive(Clone, Copy, Debug)]
pub struct Names<'a> {
    /// What the repository says about itself.
    pub said: &'a Spec,
    /// The records of the last upgrades.
    pub records: &'a [Record],
}

/// Finds the clusters of some generated files, in the order of their directories.
pub fn find(tree: &Tree, streams: &Streams, generated: &[Path], named: &Names<'_>) -> Vec<Root> {
    let syncs = syncs(streams);
    let mut builds: BTreeMap<String, BuildSet> = BTreeMap::new();
    for directory in syncs.iter().map(|sync| &sync.directory) {
        builds
            .entry(directory.clone())
            .or_insert_with(|| reach::of(tree, directory));
    }
    let found = Found::new(&syncs, &builds, generated);
    let mut roots: BTreeMap<String, Vec<Path>> = BTreeMap::new();
    for path in generated {
        for directory in found.directories(path) {
            roots.entry(directory).or_default().push(path.clone());
        }
    }
    let names = names(&roots, named);
    let root = |(directory, generated): (String, Vec<Path>)| Root {
        name: names[&directory].clone(),
        word: last(&parts(&directory, &generated), 1),
        build: builds.remove(&directory).unwrap_or_else(|| reach::of(tree, &directory)),
        directory,
        generated,
    };
    roots.into_iter().map(root).collect()
}

/// Which directories reach which generated files, and where that is written.
struct Found<'a> {
    reaching: BTreeMap<&'a Path, BTreeSet<&'a str>>,
    written: BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl<'a> Found<'a> {
    fn new(syncs: &'a [Sync], builds: &'a BTreeMap<String, BuildSet>, generated: &'a [Path]) -> Self {
        let wanted: BTreeSet<&Path> = generated.iter().collect();
        let mut reaching: BTreeMap<&Path, BTreeSet<&str>> = BTreeMap::new();
        for (directory, build) in builds {
            for path in build.resources.iter().filter(|path| wanted.contains(path)) {
                reaching.entry(path).or_default().insert(directory);
            }
        }
        let mut written: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for sync in syncs {
            let place = written.entry(sync.written.directory()).or_default();
            place.insert(&sync.directory);
        }
        Self { reaching, written }
    }

    /// Gives the directories that synchronise a generated file: of nested ones the innermost, else the file's own.
    fn directories(&self, path: &Path) -> BTreeSet<String> {
        let none = BTreeSet::new();
        let reaching = self.reaching.get(path).unwrap_or(&none);
        let mut chosen = innermost(reaching);
        // The sync that is written beside the manifest is the one that `flux bootstrap` wrote for it.
        let beside = self.written.get(path.directory()).unwrap_or(&none);
        if let Some(own) = beside.iter().find(|directory| reaching.contains(*directory)) {
            chosen.retain(|directory| !is_inside(directory, own));
            chosen.insert((*own).to_owned());
        }
        if chosen.is_empty() {
            chosen.insert(path.directory().to_owned());
        }
        chosen
    }
}

/// Gives the directories that hold no other.
fn innermost(candidates: &BTreeSet<&str>) -> BTreeSet<String> {
    let holds_another = |outer: &str| {
        let first = match outer {
            "" => String::new(),
            outer => format!("{outer}/"),
        };
        let mut others = candidates.range(&*first..).filter(|other| **other != outer);
        others.next().is_some_and(|next| is_inside(next, outer))
    };
    candidates
        .iter()
        .filter(|outer| !holds_another(outer))
        .map(|directory| (*directory).to_owned())
        .collect()
}

/// Tells whether a document is a Kustomization of Flux.
pub(crate) fn is_sync(document: &Document) -> bool {
    let head = document.head();
    &*head.kind == "Kustomization" && head.api_version.starts_with("kustomize.toolkit.fluxcd.io/")
}

/// Gives the directory that a Kustomization of Flux synchronises; `None` for another document.
pub(crate) fn directory_of(document: &Document) -> Option<String> {
    let path = document.root().and_then(|root| root.at(&["spec", "path"])?.text());
    is_sync(document).then(|| reach::normal(path.unwrap_or_default()))
}

fn syncs(streams: &Streams) -> Vec<Sync> {
    let mut syncs = Vec::new();
    for (path, stream) in streams.iter().filter(|(path, _)| path.is_yaml()) {
        let Ok(stream) = stream else { continue };
        let mentions = |text: &str| text.contains("kustomize.toolkit.fluxcd.io/") && text.contains("Kustomization");
        if !mentions(stream.text()) {
            continue;
        }
        for directory in stream.documents().iter().filter_map(directory_of) {
            let written = path.clone();
            syncs.push(Sync { written, directory });
        }
    }
    syncs
}

/// Gives the telling parts of a cluster's directory; those of its first file's, where it is the whole repository.
fn parts<'a>(directory: &'a str, generated: &'a [Path]) -> Vec<&'a str> {
    match generated.first() {
        Some(first) if directory.is_empty() => telling(first.directory()),
        _ => telling(directory),
    }
}

/// Names each directory as the configuration says, else as its record does, else by its last telling part, and by more
/// parts where two would be called the same.
fn names(roots: &BTreeMap<String, Vec<Path>>, named: &Names<'_>) -> BTreeMap<String, String> {
    let parts: BTreeMap<&String, Vec<&str>> = roots
        .iter()
        .map(|(directory, paths)| (directory, parts(directory, paths)))
        .collect();
    let mut given: BTreeMap<&String, &str> = roots
        .iter()
        .filter_map(|(directory, paths)| Some((directory, named.said.name_of(directory, paths)?)))
        .collect();
    let old = |record: &&Record| record.directory.is_none();
    // What says its directory is surer than what only could be meant.
    let (old, sure): (Vec<&Record>, Vec<&Record>) = named.records.iter().partition(old);
    for record in sure.into_iter().chain(old) {
        if let Some(directory) = recorded(record, roots, &parts)
            && !given.contains_key(directory)
            && !given.values().any(|name| *name == record.cluster)
        {
            given.insert(directory, &record.cluster);
        }
    }
    // The record of another must not become that of a cluster which only happens to be called so.
    let recorded = named.records.iter().map(|record| record.cluster.as_str());
    let taken: BTreeSet<&str> = given.values().copied().chain(recorded).collect();
    let mut uses: BTreeMap<(usize, String), usize> = BTreeMap::new();
    let deepest = parts.values().map(Vec::len).max().unwrap_or_default();
    for (_, parts) in parts.iter().filter(|(directory, _)| !given.contains_key(*directory)) {
        for count in 1..=deepest {
            *uses.entry((count, last(parts, count))).or_default() += 1;
        }
    }
    let name = |directory: &String| {
        if let Some(name) = given.get(directory) {
            return (*name).to_owned();
        }
        let own = &parts[directory];
        let is_free = |name: &(usize, String)| uses[name] == 1 && !taken.contains(&*name.1);
        let mut names = (1..=own.len()).map(|count| (count, last(own, count)));
        let free = names.find(is_free);
        free.map_or_else(|| last(own, own.len()), |(_, name)| name)
    };
    let names: BTreeMap<String, String> = roots
        .keys()
        .map(|directory| (directory.clone(), name(directory)))
        .collect();
    told_apart(names, &given)
}

/// Finds the directory that a record names; for one that names none, the only directory that could be called so: of
/// several the one with its files.
fn recorded<'a>(
    record: &Record,
    roots: &'a BTreeMap<String, Vec<Path>>,
    parts: &BTreeMap<&String, Vec<&str>>,
) -> Option<&'a String> {
    if let Some(directory) = &record.directory {
        return roots.get_key_value(directory).map(|(directory, _)| directory);
    }
    let could = |own: &[&str]| (1..=own.len()).any(|count| last(own, count) == record.cluster);
    let mut called: Vec<(&String, &Vec<Path>)> = roots.iter().filter(|(at, _)| could(&parts[at])).collect();
    if called.len() > 1 {
        let has = |path: &Path| record.files.iter().any(|file| file.path == path.as_str());
        called.retain(|(_, generated)| generated.iter().any(has));
    }
    match called.as_slice() {
        [(only, _)] => Some(only),
        _ => None,
    }
}

/// Adds a hash of the directory to names that are still the same, such as those of `a/b` and `a-b`.
fn told_apart(names: BTreeMap<String, String>, given: &BTreeMap<&String, &str>) -> BTreeMap<String, String> {
    let mut uses: BTreeMap<String, usize> = BTreeMap::new();
    for name in names.values() {
        *uses.entry(name.clone()).or_default() += 1;
    }
    let name = |(directory, name): (String, String)| {
        let is_alone = uses[&name] == 1 || given.contains_key(&directory);
        let name = if is_alone {
            name
        } else {
            format!("{name}-{}", digest::short(&[&directory]))
        };
        (directory, name)
    };
    names.into_iter().map(name).collect()
}

/// Gives the parts of a path up to the last that tells something; at least one.
fn telling(directory: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    while parts.len() > 1 && parts.last().is_some_and(|part| GENERIC.contains(part)) {
        parts.pop();
    }
    if parts.is_empty() {
        parts.push("flux-system");
    }
    parts
}

/// Joins the last parts to a name that can stand in commands, branches and file names as it is.
fn last(parts: &[&str], count: usize) -> String {
    configuration::name(&parts[parts.len().saturating_sub(count)..].join("-"))
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;
    use crate::catalog::Catalog;
    use crate::options::Options;

    fn sync(path: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: x}}\nspec: {{path: {path}}}\n"
        )
    }

    fn check(files: &[(&str, &str)], expected: &[&str]) {
        check_with(files, &[], expected);
    }

    fn check_with(files: &[(&str, &str)], records: &[Record], expected: &[&str]) {
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        let generated: Vec<Path> = tree
            .paths()
            .filter(|path| path.file_name() == "g.yaml")
            .cloned()
            .collect();
        let named = Names {
            said: &Spec::default(),
            records,
        };
        let lines: Vec<String> = find(&tree, &Streams::split(&tree), &generated, &named)
            .iter()
            .map(|root| {
                let files: Vec<&str> = root.generated.iter().map(Path::as_str).collect();
                format!("{} at `{}`: {}", root.name, root.directory, files.join(","))
            })
            .collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_cluster_is_called_by_the_last_telling_part_of_its_sync_root() {
        check(
            &[
                ("clusters/production/flux-system/g.yaml", ""),
                (
                    "clusters/production/flux-system/sync.yaml",
                    &sync("./clusters/production"),
                ),
                ("clusters/production/apps.yaml", &sync("./apps")),
            ],
            &["production at `clusters/production`: clusters/production/flux-system/g.yaml"],
        );
    }

    #[test]
    fn without_a_kustomization_the_directory_of_the_manifest_counts() {
        check(
            &[("flux-system/g.yaml", "")],
            &["flux-system at `flux-system`: flux-system/g.yaml"],
        );
        check(&[("g.yaml", "")], &["flux-system at ``: g.yaml"]);
        check(
            &[(".weave-gitops/clusters/kind-kind/system/g.yaml", "")],
            &["kind-kind at `.weave-gitops/clusters/kind-kind/system`: .weave-gitops/clusters/kind-kind/system/g.yaml"],
        );
    }

    #[test]
    fn a_sync_of_the_whole_repository_is_called_by_the_directory_of_the_manifest() {
        check(
            &[("flux-system/g.yaml", ""), ("flux-system/sync.yaml", &sync("./"))],
            &["flux-system at ``: flux-system/g.yaml"],
        );
    }

    #[test]
    fn clusters_of_the_same_name_are_told_apart_by_more_parts() {
        check(
            &[("eu/prod/flux-system/g.yaml", ""), ("us/prod/flux-system/g.yaml", "")],
            &[
                "eu-prod at `eu/prod/flux-system`: eu/prod/flux-system/g.yaml",
                "us-prod at `us/prod/flux-system`: us/prod/flux-system/g.yaml",
            ],
        );
    }

    fn record(cluster: &str, directory: Option<&str>, file: &str) -> Record {
        let record = serde_json::json!({
            "apiVersion": crate::report::API_VERSION, "kind": "Record", "upgrade": "u", "platform": "flux",
            "cluster": cluster, "directory": directory, "from": "v2.4.0", "to": "v2.5.1",
            "options": Options::defaults(&Catalog::flux().unwrap()),
            "files": [{"path": file, "base": "", "theirs": ""}],
        });
        serde_json::from_value(record).unwrap()
    }

    #[test]
    fn a_cluster_with_a_record_keeps_its_name_when_another_of_the_name_comes() {
        let files = [("eu/prod/flux-system/g.yaml", ""), ("us/prod/flux-system/g.yaml", "")];
        let kept = [
            "eu-prod at `eu/prod/flux-system`: eu/prod/flux-system/g.yaml",
            "prod at `us/prod/flux-system`: us/prod/flux-system/g.yaml",
        ];
        let us = "us/prod/flux-system/g.yaml";
        check_with(&files, &[record("prod", Some("us/prod/flux-system"), us)], &kept);
        // One of an older version is told by its files, and by its name where only one cluster could have it.
        check_with(&files, &[record("prod", None, us)], &kept);
        let both = [record("prod", None, "moved"), record("us-prod", None, "moved")];
        check_with(
            &files,
            &both,
            &[
                "eu-prod at `eu/prod/flux-system`: eu/prod/flux-system/g.yaml",
                "us-prod at `us/prod/flux-system`: us/prod/flux-system/g.yaml",
            ],
        );
        check_with(
            &files[..1],
            &[record("eu-prod", None, "moved")],
            &["eu-prod at `eu/prod/flux-system`: eu/prod/flux-system/g.yaml"],
        );
        // A record of a cluster that is gone names nobody.
        check_with(
            &files[..1],
            &[record("other", Some("us/prod/flux-system"), us)],
            &["prod at `eu/prod/flux-system`: eu/prod/flux-system/g.yaml"],
        );
    }

    #[test]
    fn names_that_no_part_of_the_path_tells_apart_carry_a_hash_of_it() {
        check(
            &[("a/b/g.yaml", ""), ("a-b/g.yaml", ""), ("c/b/g.yaml", "")],
            &[
                "a-b-d44362d67d at `a-b`: a-b/g.yaml",
                "a-b-c14cddc033 at `a/b`: a/b/g.yaml",
                "c-b at `c/b`: c/b/g.yaml",
            ],
        );
    }

    #[test]
    fn a_name_can_stand_in_a_command_as_it_is() {
        check(
            &[
                ("clusters/of eu/g.yaml", ""),
                ("clusters/$(id);/g.yaml", ""),
                ("clusters/Köln/g.yaml", ""),
            ],
            &[
                "id at `clusters/$(id);`: clusters/$(id);/g.yaml",
                "Köln at `clusters/Köln`: clusters/Köln/g.yaml",
                "of-eu at `clusters/of eu`: clusters/of eu/g.yaml",
            ],
        );
    }

    #[test]
    fn a_file_that_two_clusters_build_from_belongs_to_both() {
        check(
            &[
                ("base/kustomization.yaml", "resources: [g.yaml]\n"),
                ("base/g.yaml", ""),
                ("clusters/a/kustomization.yaml", "resources: [../../base, sync.yaml]\n"),
                ("clusters/a/sync.yaml", &sync("clusters/a")),
                ("clusters/b/kustomization.yaml", "resources: [../../base, sync.yaml]\n"),
                ("clusters/b/sync.yaml", &sync("clusters/b")),
            ],
            &["a at `clusters/a`: base/g.yaml", "b at `clusters/b`: base/g.yaml"],
        );
    }

    #[test]
    fn the_sync_beside_the_manifest_wins_over_one_of_another_repository_with_a_wider_path() {
        check(
            &[
                ("clusters/a/flux-system/g.yaml", ""),
                ("clusters/a/flux-system/sync.yaml", &sync("clusters/a")),
                ("clusters/a/other.yaml", &sync("./")),
                ("clusters/b/flux-system/g.yaml", ""),
                ("clusters/b/flux-system/sync.yaml", &sync("clusters/b")),
            ],
            &[
                "a at `clusters/a`: clusters/a/flux-system/g.yaml",
                "b at `clusters/b`: clusters/b/flux-system/g.yaml",
            ],
        );
    }
}
