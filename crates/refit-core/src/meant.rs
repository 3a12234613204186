//! Which files of a folder are meant: those that its plane reaches, or all of them where there is no plane.
//!
//! In: the files of a folder, one after the other. Out: [`Meant`]. Keeps paths, the bytes of kustomizations and what Flux
//! objects point to; all other content is looked at once and forgotten.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Document, Entry, Path, Stream, Tree};

use crate::finding::{Code, Finding};
use crate::places::{self, Content};
use crate::roots;

/// What was seen of a folder so far.
#[derive(Debug, Default)]
pub struct Survey {
    /// Every file; only kustomizations with their bytes.
    tree: Tree,
    pointers: Vec<Pointer>,
    /// The kustomizations of which every entry is known to be there.
    sound: BTreeSet<Path>,
}

/// The files that are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meant {
    /// All: no Flux Kustomization of the folder points into the folder.
    Everything,
    /// What Flux Kustomizations of the folder reach.
    Reached(BTreeSet<Path>),
}

impl Meant {
    /// Tells whether a file is meant.
    pub fn has(&self, path: &Path) -> bool {
        match self {
            Self::Everything => true,
            Self::Reached(paths) => paths.contains(path),
        }
    }
}

/// An object of Flux that points to folders of the same source.
#[derive(Debug)]
struct Pointer {
    written: Path,
    /// Kind and name of its source.
    source: String,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// What is built from these directories is applied.
    Built(Vec<String>),
    /// The chart in this directory is rendered.
    Chart(String),
}

impl Survey {
    /// Makes a survey of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Notes a file with its path from the folder; its documents where it can hold objects of Flux.
    pub fn note(&mut self, path: &Path, bytes: &[u8], stream: Option<&Stream>) {
        let kept: Arc<[u8]> = match reach::is_kustomization(path) {
            true => Arc::from(bytes),
            false => Arc::default(),
        };
        self.tree.insert(path.clone(), Entry::file(kept));
        for document in stream.into_iter().flat_map(Stream::documents) {
            self.pointers.extend(pointer(path, document));
        }
    }

    /// Takes over what another survey of the same folder noted.
    pub fn absorb(&mut self, other: Self) {
        self.tree.absorb(other.tree);
        self.pointers.extend(other.pointers);
    }

    /// Tells which files are meant.
    ///
    /// A Flux Kustomization counts when its directory is in the folder; where one of them reaches the file that it is
    /// written in, only those of the same source count. Meant are the files that hold them, all that their directories are
    /// built from, every file that the kustomizations on the way name (patches, replacements, generated ConfigMaps), and
    /// the charts in the folder that HelmReleases of the source name.
    pub fn meant(&self) -> Meant {
        let mut reached: BTreeMap<&str, BTreeSet<Path>> = BTreeMap::new();
        for directory in self.pointers.iter().flat_map(Pointer::built) {
            if self.is_directory(directory) && !reached.contains_key(directory) {
                reached.insert(directory, reached_from(&self.tree, directory));
            }
        }
        let reaches = |pointer: &Pointer, path: &Path| {
            let mut sets = pointer.built().filter_map(|directory| reached.get(directory));
            sets.any(|set| set.contains(path))
        };
        let own: BTreeSet<&str> = self
            .pointers
            .iter()
            .filter(|pointer| reaches(pointer, &pointer.written))
            .map(|pointer| pointer.source.as_str())
            .collect();
        let counts = |pointer: &&Pointer| own.is_empty() || own.contains(&*pointer.source);
        let mut meant = BTreeSet::new();
        let known: BTreeSet<&str> = reached.keys().copied().collect();
        for pointer in self.pointers.iter().filter(counts) {
            for directory in pointer.built().filter(|directory| known.contains(directory)) {
                // What is taken out here is in already when another pointer names it.
                let mut smaller = reached.remove(directory).unwrap_or_default();
                if meant.len() < smaller.len() {
                    std::mem::swap(&mut meant, &mut smaller);
                }
                meant.extend(smaller);
                meant.insert(pointer.written.clone());
            }
        }
        if meant.is_empty() {
            return Meant::Everything;
        }
        for pointer in self.pointers.iter().filter(counts) {
            if let Target::Chart(directory) = &pointer.target {
                meant.extend(self.tree.within(directory).map(|(path, _)| path.clone()));
            }
        }
        Meant::Reached(meant)
    }

    /// Tells what the files hold that kustomizations of the folder name as patches or replacements.
    pub fn contents(&self) -> BTreeMap<Path, Content> {
        let kustomizations = self.tree.paths().filter(|path| reach::is_kustomization(path));
        join(kustomizations.flat_map(|path| contents(&self.tree, path)))
    }

    /// Lists what kustomizations of the folder name as manifests or patches, by paths of files that were not noted: their names
    /// may be none of manifests.
    pub fn unseen(&mut self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut sound = BTreeSet::new();
        for path in self.tree.paths().filter(|path| reach::is_kustomization(path)) {
            let Ok(stream) = kustomization(&self.tree, path) else {
                continue;
            };
            let roots = || stream.documents().iter().filter_map(Document::root);
            let mut is_sound = roots().flat_map(folders).next().is_none();
            for text in roots().flat_map(resources).map(|node| node.text().unwrap_or_default()) {
                let name = reach::resolve(path.directory(), text);
                if self.tree.file(&name).is_some() {
                    continue;
                }
                is_sound = false;
                let is_local = !text.contains("://") && !text.contains('\n') && !leaves(path, text);
                if !name.is_empty() && is_local && !self.tree.has_directory(&name) {
                    found.insert(name);
                }
            }
            if is_sound {
                sound.insert(path.clone());
            }
        }
        self.sound = sound;
        found
    }

    /// Notes a link, which is not followed; what is below it is not missed.
    pub fn note_link(&mut self, path: &str) {
        self.tree.leave_unread(Path::new(path), "a symbolic link");
    }

    /// Finds kustomizations among the files that are meant which cannot be built: they do not parse, or name a manifest that
    /// is not there. `name` makes of a path the one that the user knows.
    pub fn broken(&self, meant: &Meant, name: impl Fn(&str) -> String) -> Vec<Finding> {
        let is_meant = |path: &&Path| reach::is_kustomization(path) && meant.has(path) && !self.sound.contains(*path);
        let mut found = Vec::new();
        for path in self.tree.paths().filter(is_meant) {
            let shown = name(path.as_str());
            let broken = |line: usize, message: String| {
                Finding::new(Code::OverlayBroken, format!("{shown}:{line}"), message).with_remedy(
                    "repair it (`kustomize build` shows the same error); its other files are looked at all the same",
                )
            };
            match kustomization(&self.tree, path) {
                Ok(stream) => {
                    let roots = stream.documents().iter().filter_map(Document::root);
                    for root in roots {
                        let missing = resources(root).into_iter().filter(|node| self.is_missing(path, *node));
                        let folders = folders(root).into_iter().filter(|node| self.is_no_build(path, *node));
                        found.extend(missing.chain(folders).map(|node| {
                            let before = &node.bytes()[..node.span().start];
                            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                            let named = node.text().unwrap_or_default();
                            broken(line, format!("it names `{named}`, which is not there"))
                        }));
                    }
                }
                Err(reason) => found.push(broken(1, reason)),
            }
        }
        found
    }

    /// Tells whether an entry names a manifest of the folder that is not there.
    fn is_missing(&self, kustomization: &Path, entry: NodeRef<'_>) -> bool {
        let text = entry.text().unwrap_or_default();
        let is_manifest = is_yaml(text) && !text.contains("://") && !text.contains('\n');
        let is_there = |path: &str| self.tree.file(path).is_some();
        is_manifest
            && !is_there(&reach::resolve(kustomization.directory(), text))
            && self.would_be_seen(kustomization, text)
    }

    /// Tells whether an entry names a folder that has no kustomization. What could be a repository counts as there.
    fn is_no_build(&self, kustomization: &Path, entry: NodeRef<'_>) -> bool {
        let text = entry.text().unwrap_or_default();
        let first = text.split('/').find(|part| !matches!(*part, "." | ".."));
        let is_local = !text.contains([':', '@', '?', '\n']) && !first.unwrap_or_default().contains('.');
        let path = reach::resolve(kustomization.directory(), text);
        is_local && self.would_be_seen(kustomization, text) && reach::kustomization(&self.tree, &path).is_none()
    }

    /// Tells whether what an entry names is in the folder, and behind no link.
    fn would_be_seen(&self, kustomization: &Path, text: &str) -> bool {
        let path = reach::resolve(kustomization.directory(), text);
        let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        let is_linked = ends
            .into_iter()
            .any(|end| self.tree.unread(&Path::new(&path[..end])).is_some());
        !leaves(kustomization, text) && !is_linked
    }

    fn is_directory(&self, directory: &str) -> bool {
        directory.is_empty() || self.tree.has_directory(directory)
    }
}

/// Tells whether a path leads out of the folder from the directory of a kustomization.
fn leaves(kustomization: &Path, text: &str) -> bool {
    let parts = kustomization.directory().split('/').filter(|part| !part.is_empty());
    text.split('/').filter(|part| *part == "..").count() > parts.count()
}

/// Lists what is read when a directory is built: resources, kustomizations, and every file that these name anywhere, such as
/// patches, replacements and files of generators. A kustomization that cannot be read may name all that is beside it.
pub fn reached_from(tree: &Tree, directory: &str) -> BTreeSet<Path> {
    let reach::BuildSet {
        resources: mut reached,
        kustomizations,
        ..
    } = reach::of(tree, directory);
    for path in &kustomizations {
        let stream = split(tree, path);
        if let Ok(stream) = &stream {
            take_named(tree, path, stream, &mut reached);
        }
        if stream.and_then(whole).is_err() {
            reached.extend(tree.within(path.directory()).map(|(path, _)| path.clone()));
        }
    }
    reached.extend(kustomizations);
    reached
}

/// Reads a kustomization.
fn kustomization(tree: &Tree, path: &Path) -> Result<Stream, String> {
    split(tree, path).and_then(whole)
}

fn split(tree: &Tree, path: &Path) -> Result<Stream, String> {
    let bytes = tree.bytes(path).map(Arc::clone).unwrap_or_else(|| Arc::from(&b""[..]));
    Stream::split(bytes).map_err(|error| error.to_string())
}

/// Gives a stream all of whose documents parse.
fn whole(stream: Stream) -> Result<Stream, String> {
    let error = stream.documents().iter().find_map(|document| document.parsed().err());
    match error.map(ToString::to_string) {
        Some(error) => Err(error),
        None => Ok(stream),
    }
}

/// Lists the entries of a kustomization that name what is built, and its patches.
fn resources(root: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let items = |field: &str| root.get(field).into_iter().flat_map(NodeRef::items).collect::<Vec<_>>();
    let mut found: Vec<NodeRef<'_>> = ["resources", "bases", "components", "patchesStrategicMerge"]
        .iter()
        .flat_map(|field| items(field))
        .collect();
    for field in ["patches", "patchesJson6902"] {
        found.extend(items(field).into_iter().filter_map(|item| item.get("path")));
    }
    found
}

/// Lists the entries of a kustomization that can only be folders with a kustomization.
fn folders(root: NodeRef<'_>) -> Vec<NodeRef<'_>> {
    let fields = ["bases", "components"].into_iter();
    fields
        .filter_map(|field| root.get(field))
        .flat_map(NodeRef::items)
        .filter(|node| !is_yaml(node.text().unwrap_or_default()))
        .collect()
}

/// Takes the files that a kustomization names anywhere in it.
fn take_named(tree: &Tree, kustomization: &Path, stream: &Stream, found: &mut BTreeSet<Path>) {
    let roots = || stream.documents().iter().filter_map(Document::root);
    // What these name without more ado was followed when the directory was.
    let followed: Vec<NodeRef<'_>> = roots().filter_map(|root| root.get("resources")).collect();
    let is_plain = |text: &str| !text.contains(['=', ':', '@']);
    let mut open: Vec<NodeRef<'_>> = roots().collect();
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Sequence(_) if followed.contains(&node) => {
                open.extend(node.items().filter(|item| !item.text().is_some_and(is_plain)));
            }
            Kind::Mapping(_) => open.extend(node.entries().map(|(_, value)| value)),
            Kind::Sequence(_) => open.extend(node.items()),
            Kind::Scalar(_) => found.extend(node.text().and_then(|text| file(tree, kustomization, text))),
            Kind::Alias => {}
        }
    }
}

/// Tells whether the name of a manifest ends a text.
fn is_yaml(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.ends_with(".yaml") || name.ends_with(".yml")
}

/// Lists the files that a kustomization names as patches or replacements, with what they hold.
pub fn contents(tree: &Tree, kustomization: &Path) -> Vec<(Path, Content)> {
    let can_name = |bytes: &&Arc<[u8]>| {
        let signs = [&b"patch"[..], b"replacements", b"\\"];
        signs.iter().any(|sign| memchr::memmem::find(bytes, sign).is_some())
    };
    let bytes = tree.bytes(kustomization).filter(can_name).map(Arc::clone);
    let Some(stream) = bytes.and_then(|bytes| Stream::split(bytes).ok()) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for root in stream.documents().iter().filter_map(Document::root) {
        for field in ["patches", "patchesStrategicMerge", "patchesJson6902", "replacements"] {
            for item in root.get(field).into_iter().flat_map(NodeRef::items) {
                let content = match field {
                    "replacements" => Content::Replacements,
                    _ => Content::Patch(item.get("target").map(places::Target::read).into_iter().collect()),
                };
                let name = item.get("path").unwrap_or(item).text();
                let path = name.and_then(|name| file(tree, kustomization, name));
                found.extend(path.map(|path| (path, content)));
            }
        }
    }
    found
}

/// Joins what several kustomizations say of files.
pub fn join<K: Ord>(said: impl IntoIterator<Item = (K, Content)>) -> BTreeMap<K, Content> {
    let mut joined: BTreeMap<K, Content> = BTreeMap::new();
    for (file, content) in said {
        joined.entry(file).or_default().join(content);
    }
    joined
}

/// Finds the file that a text names, such as `patch.yaml` or `key=file.yaml`.
fn file(tree: &Tree, kustomization: &Path, text: &str) -> Option<Path> {
    if text.contains('\n') {
        return None;
    }
    let names = [Some(text), text.split_once('=').map(|(_, name)| name)];
    let found = |name: &str| tree.file(&reach::resolve(kustomization.directory(), name)).cloned();
    names.into_iter().flatten().find_map(found)
}

impl Pointer {
    fn built(&self) -> impl Iterator<Item = &str> {
        let directories = match &self.target {
            Target::Built(directories) => directories.as_slice(),
            Target::Chart(_) => &[],
        };
        directories.iter().map(String::as_str)
    }
}

fn pointer(path: &Path, document: &Document) -> Option<Pointer> {
    let head = document.head();
    let source = |node: NodeRef<'_>| {
        let part = |key: &str| node.get(key).and_then(NodeRef::text).unwrap_or_default().to_owned();
        format!("{}/{}", part("kind"), part("name"))
    };
    if roots::is_sync(document) {
        let spec = document.root()?.get("spec")?;
        let directory = reach::normal(spec.get("path").and_then(NodeRef::text).unwrap_or_default());
        let components = spec.get("components").into_iter().flat_map(NodeRef::items);
        let mut directories = vec![directory.clone()];
        directories.extend(components.filter_map(|item| Some(reach::resolve(&directory, item.text()?))));
        return Some(Pointer {
            written: path.clone(),
            source: spec.get("sourceRef").map(source).unwrap_or_default(),
            target: Target::Built(directories),
        });
    }
    if &*head.kind != "HelmRelease" || !head.api_version.starts_with("helm.toolkit.fluxcd.io/") {
        return None;
    }
    let chart = document.root()?.at(&["spec", "chart", "spec"])?;
    let origin = chart.get("sourceRef")?;
    let is_folder = matches!(
        origin.get("kind").and_then(NodeRef::text),
        Some("GitRepository" | "Bucket")
    );
    is_folder.then(|| Pointer {
        written: path.clone(),
        source: source(origin),
        target: Target::Chart(reach::normal(
            chart.get("chart").and_then(NodeRef::text).unwrap_or_default(),
        )),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sync(path: &str, source: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: x}}\nspec:\n  path: {path}\n  \
             components: [../parts]\n  sourceRef: {{kind: GitRepository, name: {source}}}\n"
        )
    }

    fn meant(files: &[(&str, &str)]) -> Option<Vec<String>> {
        let mut survey = Survey::new();
        for (path, text) in files {
            let stream = Stream::split(text.as_bytes().into()).unwrap();
            survey.note(&Path::from(*path), text.as_bytes(), Some(&stream));
        }
        match survey.meant() {
            Meant::Everything => None,
            Meant::Reached(paths) => Some(paths.iter().map(ToString::to_string).collect()),
        }
    }

    #[test]
    fn what_kustomizations_reach_is_meant_with_patches_components_and_charts() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {chart: {spec: {chart: ./charts/x, sourceRef: {kind: GitRepository, name: main}}}}\n";
        let kustomization = "resources: [r.yaml]\npatches: [{path: patches/p.yaml}]\nconfigMapGenerator: [{name: c, files: [k=m.yaml]}]\n";
        let files = [
            ("c/flux-system/sync.yaml", sync("./c", "main")),
            ("c/apps.yaml", sync("./apps", "main")),
            ("c/theirs.yaml", sync("./theirs", "other")),
            ("apps/kustomization.yaml", kustomization.to_owned()),
            ("apps/r.yaml", release.to_owned()),
            ("apps/patches/p.yaml", String::new()),
            ("apps/m.yaml", String::new()),
            ("apps/unused.yaml", String::new()),
            ("parts/kustomization.yaml", "kind: Component\n".to_owned()),
            ("theirs/r.yaml", release.to_owned()),
            ("charts/x/templates/t.yaml", String::new()),
            ("charts/y/templates/t.yaml", String::new()),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(
            meant(&files).unwrap(),
            [
                "apps/kustomization.yaml",
                "apps/m.yaml",
                "apps/patches/p.yaml",
                "apps/r.yaml",
                "c/apps.yaml",
                "c/flux-system/sync.yaml",
                "c/theirs.yaml",
                "charts/x/templates/t.yaml",
                "parts/kustomization.yaml"
            ]
        );
    }

    #[test]
    fn a_folder_that_no_kustomization_points_into_is_meant_as_a_whole() {
        assert_eq!(
            meant(&[("a.yaml", "kind: A\n"), ("b/kustomization.yaml", "resources: []\n")]),
            None
        );
        assert_eq!(
            meant(&[("flux-system/sync.yaml", &sync("./clusters/a", "main")), ("a.yaml", "")]),
            None
        );
    }

    #[test]
    fn a_kustomization_that_cannot_be_read_leaves_out_nothing_beside_it() {
        let files = [
            ("sync.yaml", sync("./", "main")),
            ("kustomization.yaml", "resources: [sync.yaml, a]\n".into()),
            ("a/kustomization.yaml", "resources: [\n".into()),
            ("a/a.yaml", String::new()),
            ("b/b.yaml", String::new()),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(
            meant(&files).unwrap(),
            ["a/a.yaml", "a/kustomization.yaml", "kustomization.yaml", "sync.yaml"]
        );
    }

    #[test]
    fn kustomizations_that_cannot_be_built_are_told_with_their_line() {
        let mut survey = Survey::new();
        let text = "resources:\n- a.yaml\n- gone.yaml\n- linked/b.yaml\n- ../../outside.yaml\n- https://example.org/x.yaml\n- folder\n\
                    components: [there, gone, ../../outside, linked/b, github.com/o/r//c]\n";
        for (path, text) in [
            ("c/kustomization.yaml", text),
            ("c/a.yaml", ""),
            ("c/there/kustomization.yaml", "kind: Component\n"),
            ("d/kustomization.yaml", "resources: [\n"),
        ] {
            survey.note(&Path::from(path), text.as_bytes(), None);
        }
        survey.note_link("c/linked");
        let found = survey.broken(&Meant::Everything, |path| format!("x/{path}"));
        let lines: Vec<String> = found
            .iter()
            .map(|finding| format!("{}: {}", finding.subject, finding.message))
            .collect();
        assert_eq!(
            lines,
            [
                "x/c/kustomization.yaml:3: it names `gone.yaml`, which is not there",
                "x/c/kustomization.yaml:8: it names `gone`, which is not there",
                "x/d/kustomization.yaml:1: line 1, column 12: unclosed bracket '['"
            ]
        );
    }

    #[test]
    fn a_kustomization_that_is_applied_by_hand_reaches_what_it_names() {
        let files = [
            ("by-hand.yaml", sync("./apps", "main")),
            ("apps/a.yaml", String::new()),
            ("b/b.yaml", String::new()),
        ];
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(meant(&files).unwrap(), ["apps/a.yaml", "by-hand.yaml"]);
    }
}
