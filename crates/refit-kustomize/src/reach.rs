//! Which files of a tree a directory is built from.
//!
//! In: a tree and a directory. Out: a [`BuildSet`]: resources and the kustomizations on the way, followed by name as far
//! as they are local. Evaluates no patch, and knows no remote resource.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::parse::NodeRef;
use refit_manifest::{Path, Stream, Tree};

/// The names that kustomize accepts for its file.
pub const NAMES: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

/// The most directories that are followed; kustomizations that name each other end here.
const DIRECTORY_LIMIT: usize = 10_000;

/// What a directory is built from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuildSet {
    /// The files whose objects are built.
    pub resources: BTreeSet<Path>,
    /// The kustomizations that name them, in the order in which they were reached.
    pub kustomizations: Vec<Path>,
    /// Which kustomization names which resource or kustomization.
    named: Vec<(Path, Path)>,
}

impl BuildSet {
    /// Gives the kustomizations that a resource is built through, in the order in which they were reached.
    pub fn chain(&self, resource: &Path) -> Vec<Path> {
        let mut naming: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
        for (by, named) in &self.named {
            naming.entry(named).or_default().push(by);
        }
        let mut through: BTreeSet<&Path> = BTreeSet::from([resource]);
        let mut open = vec![resource];
        while let Some(next) = open.pop() {
            let by = naming.get(next).into_iter().flatten().copied();
            open.extend(by.filter(|by| through.insert(by)));
        }
        self.kustomizations
            .iter()
            .filter(|path| through.contains(path))
            .cloned()
            .collect()
    }
}

/// Gives what a directory is built from: what its kustomization names, else every manifest below.
pub fn of(tree: &Tree, directory: &str) -> BuildSet {
    let mut walk = Walk {
        tree,
        set: BuildSet::default(),
        entered: BTreeSet::new(),
    };
    walk.directory(&normal(directory), None);
    walk.set
}

/// Gives the kustomization of a directory.
pub fn kustomization(tree: &Tree, directory: &str) -> Option<Path> {
    NAMES
        .iter()
        .map(|name| join(directory, name))
        .find(|path| tree.bytes(path).is_some())
}

/// Tells whether a path has the name of a kustomization.
pub fn is_kustomization(path: &Path) -> bool {
    NAMES.contains(&path.file_name())
}

/// Gives a path relative to a directory, without `.` and `..`; `..` above the root stays at the root.
pub fn resolve(directory: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = if relative.starts_with('/') {
        Vec::new()
    } else {
        directory.split('/').filter(|part| !part.is_empty()).collect()
    };
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// Tells whether a path or directory is below another directory; everything is below the root, which is empty.
pub fn is_inside(inner: &str, outer: &str) -> bool {
    inner != outer && (outer.is_empty() || inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/')))
}

/// Gives a directory without `.`, `..` and outer slashes.
pub fn normal(directory: &str) -> String {
    resolve("", directory)
}

struct Walk<'a> {
    tree: &'a Tree,
    set: BuildSet,
    entered: BTreeSet<String>,
}

impl Walk<'_> {
    /// Takes what a directory is built from; `by` is the kustomization that names it.
    fn directory(&mut self, directory: &str, by: Option<&Path>) {
        let own = kustomization(self.tree, directory);
        if let (Some(own), Some(by)) = (&own, by) {
            self.set.named.push((by.clone(), own.clone()));
        }
        if self.entered.len() >= DIRECTORY_LIMIT || !self.entered.insert(directory.to_owned()) {
            return;
        }
        match own {
            Some(path) => self.kustomization(&path),
            None => self.everything(directory, by),
        }
    }

    fn kustomization(&mut self, path: &Path) {
        self.set.kustomizations.push(path.clone());
        let Some(bytes) = self.tree.bytes(path) else { return };
        let Ok(stream) = Stream::split(bytes.clone()) else {
            return;
        };
        let roots = stream.documents().iter().filter_map(|document| document.root());
        let named: Vec<String> = roots.flat_map(named).collect();
        for name in named {
            self.named(&resolve(path.directory(), &name), path);
        }
    }

    fn named(&mut self, path: &str, by: &Path) {
        if let Some(file) = self.tree.file(path) {
            self.resource(file, Some(by));
        } else if self.tree.has_directory(path) {
            self.directory(path, Some(by));
        }
    }

    fn resource(&mut self, file: &Path, by: Option<&Path>) {
        self.set.resources.insert(file.clone());
        if let Some(by) = by {
            self.set.named.push((by.clone(), file.clone()));
        }
    }

    /// Takes every manifest below; a directory with a kustomization of its own is built by that.
    fn everything(&mut self, directory: &str, by: Option<&Path>) {
        let below = below(self.tree, directory);
        for path in &below.manifests {
            self.resource(path, by);
        }
        for inner in below.directories {
            self.directory(&inner, by);
        }
    }
}

/// What Flux takes from a directory without kustomization.
pub(crate) struct Below {
    /// The manifests, also those in directories below.
    pub(crate) manifests: Vec<Path>,
    /// The highest directories with a kustomization of their own.
    pub(crate) directories: BTreeSet<String>,
}

/// Looks for manifests and kustomizations below a directory.
pub(crate) fn below(tree: &Tree, directory: &str) -> Below {
    let read = || tree.within(directory).map(|(path, _)| path);
    let files = || read().chain(tree.unread_within(directory));
    let own: BTreeSet<&str> = files()
        .filter(|path| is_kustomization(path))
        .map(Path::directory)
        .collect();
    let mut below = Below {
        manifests: Vec::new(),
        directories: BTreeSet::new(),
    };
    for path in files() {
        match topmost(path.directory(), directory, &own) {
            Some(inner) => {
                below.directories.insert(inner.to_owned());
            }
            None if path.is_yaml() => below.manifests.push(path.clone()),
            None => {}
        }
    }
    below
}

fn named(root: NodeRef<'_>) -> Vec<String> {
    ["resources", "bases", "components"]
        .iter()
        .filter_map(|key| root.get(key))
        .flat_map(|list| {
            list.items()
                .filter_map(|item| item.text().map(ToOwned::to_owned))
                .collect::<Vec<_>>()
        })
        .filter(|name| !name.contains("://") && !name.contains("?ref=") && !name.starts_with("git@"))
        .collect()
}

/// Gives the highest directory between `top` (not itself) and `directory` that is in `own`.
fn topmost<'a>(directory: &'a str, top: &str, own: &BTreeSet<&str>) -> Option<&'a str> {
    let ends = directory.match_indices('/').map(|(at, _)| at).chain([directory.len()]);
    ends.map(|end| &directory[..end])
        .filter(|part| part.len() > top.len())
        .find(|part| own.contains(*part))
}

pub(crate) fn join(directory: &str, name: &str) -> Path {
    match directory {
        "" => Path::new(name),
        directory => Path::new(format!("{directory}/{name}")),
    }
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    fn check(files: &[(&str, &str)], directory: &str, resources: &[&str], kustomizations: &[&str]) {
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        let set = of(&tree, directory);
        let names = |paths: Vec<&Path>| {
            paths
                .into_iter()
                .map(|path| path.as_str().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(names(set.resources.iter().collect()), resources);
        assert_eq!(names(set.kustomizations.iter().collect()), kustomizations);
    }

    #[test]
    fn a_kustomization_names_its_files_and_directories() {
        let files = [
            (
                "c/kustomization.yaml",
                "resources:\n- a.yaml\n- ../base\n- https://example.org/x\n- gone.yaml\n",
            ),
            ("c/a.yaml", ""),
            ("c/unnamed.yaml", ""),
            ("base/kustomization.yaml", "bases: [./deep]\ncomponents: [../parts]\n"),
            ("base/deep/kustomization.yaml", "resources: [d.yaml]\n"),
            ("base/deep/d.yaml", ""),
            ("parts/kustomization.yaml", "patches: []\n"),
        ];
        let kustomizations = [
            "c/kustomization.yaml",
            "base/kustomization.yaml",
            "base/deep/kustomization.yaml",
            "parts/kustomization.yaml",
        ];
        check(&files, "./c/", &["base/deep/d.yaml", "c/a.yaml"], &kustomizations);
    }

    #[test]
    fn without_a_kustomization_every_manifest_below_counts_but_inner_kustomizations_choose_for_themselves() {
        let files = [
            ("c/a.yaml", ""),
            ("c/notes.txt", ""),
            ("c/plain/b.yaml", ""),
            ("c/inner/kustomization.yaml", "resources: [x.yaml]\n"),
            ("c/inner/x.yaml", ""),
            ("c/inner/patch.yaml", ""),
            ("cc/other.yaml", ""),
        ];
        check(
            &files,
            "c",
            &["c/a.yaml", "c/inner/x.yaml", "c/plain/b.yaml"],
            &["c/inner/kustomization.yaml"],
        );
    }

    #[test]
    fn the_chain_of_a_resource_is_every_kustomization_that_leads_to_it() {
        let files = [
            ("c/kustomization.yaml", "resources: [flux, apps]\n"),
            ("c/flux/kustomization.yaml", "resources: [g.yaml]\n"),
            ("c/flux/g.yaml", ""),
            ("c/apps/kustomization.yaml", "resources: [a.yaml, ../flux]\n"),
            ("c/apps/a.yaml", ""),
        ];
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let set = of(&files.iter().map(entry).collect(), "c");
        let chain = |path: &str| {
            set.chain(&Path::from(path))
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
        };
        let all = [
            "c/kustomization.yaml",
            "c/flux/kustomization.yaml",
            "c/apps/kustomization.yaml",
        ];
        assert_eq!(chain("c/flux/g.yaml"), all);
        assert_eq!(
            chain("c/apps/a.yaml"),
            ["c/kustomization.yaml", "c/apps/kustomization.yaml"]
        );
    }

    #[test]
    fn kustomizations_that_name_each_other_end() {
        let files = [
            ("a/kustomization.yaml", "resources: [../b, x.yaml]\n"),
            ("a/x.yaml", ""),
            ("b/kustomization.yaml", "resources: [../a]\n"),
        ];
        check(
            &files,
            "a",
            &["a/x.yaml"],
            &["a/kustomization.yaml", "b/kustomization.yaml"],
        );
    }

    #[test]
    fn the_root_of_the_repository_is_a_directory_too() {
        let files = [
            ("flux-system/kustomization.yaml", "resources: [g.yaml]\n"),
            ("flux-system/g.yaml", ""),
        ];
        check(
            &files,
            "./",
            &["flux-system/g.yaml"],
            &["flux-system/kustomization.yaml"],
        );
    }

    #[test]
    fn paths_are_resolved_against_their_directory() {
        assert_eq!(resolve("a/b", "../c/./d"), "a/c/d");
        assert_eq!(resolve("", "./x"), "x");
        assert_eq!(resolve("a", "../../.."), "");
    }
}
