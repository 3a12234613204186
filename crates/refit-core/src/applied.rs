//! What the Flux of a cluster applies, over repositories.
//!
//! In: repositories and the root of a cluster. Out: [`Applied`] directories, and which files each is made of. Follows
//! Kustomizations of Flux to the repository that their source names by its URL. Evaluates nothing.

use std::collections::{BTreeMap, BTreeSet};

use refit_kustomize::reach::{self, BuildSet};
use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Path, Tree};

use crate::overlays;
use crate::roots::{self, Root};
use crate::streams::Streams;

/// A repository with its files.
#[derive(Clone, Copy, Debug)]
pub struct Repository<'a> {
    /// What people call it.
    pub name: &'a str,
    /// Where it can be fetched from, in any spelling.
    pub urls: &'a [String],
    /// Its files.
    pub tree: &'a Tree,
    /// Its manifests.
    pub streams: &'a Streams,
}

/// A file of one of several repositories.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File {
    /// The index of the repository.
    pub repository: usize,
    /// The path in it.
    pub path: Path,
}

/// A directory that a cluster applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The Kustomization of Flux that applies it, `namespace/name`; the directory where none is written.
    pub name: String,
    /// The index of the repository that holds it.
    pub repository: usize,
    /// The directory, empty for the whole repository.
    pub directory: String,
    /// Whether objects that leave it are removed from the cluster.
    pub prune: bool,
    /// The namespace that its objects are put into.
    pub namespace: Option<String>,
    /// Whether the generated manifests of the cluster are part of it.
    pub definitions: bool,
}

/// What a cluster is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// The directories in the order in which they were found; the first is that of the root.
    pub applied: Vec<Applied>,
    /// The files whose objects are applied.
    pub objects: BTreeSet<File>,
    /// All files that shape them: objects, kustomizations, patches.
    pub files: BTreeSet<File>,
    /// Those of `files` that only the Kustomization with the generated manifests applies.
    pub together: BTreeSet<File>,
    /// The Kustomizations of which it is not known what they apply.
    pub unknown: BTreeSet<Unknown>,
}

/// A Kustomization of Flux whose files are not at hand.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unknown {
    /// Its `namespace/name`.
    pub name: String,
    /// Why, as a clause about it.
    pub why: String,
}

impl Reached {
    /// Adds what another cluster of the same group applies.
    pub fn join(&mut self, other: Self) {
        let apart =
            |reached: &Self| -> BTreeSet<File> { reached.files.difference(&reached.together).cloned().collect() };
        let apart: BTreeSet<File> = &apart(self) | &apart(&other);
        self.applied.extend(other.applied);
        self.objects.extend(other.objects);
        self.files.extend(other.files);
        self.together.extend(other.together);
        self.together.retain(|file| !apart.contains(file));
        self.unknown.extend(other.unknown);
    }
}

/// Finds what a cluster applies; `own` is the index of the repository that holds its root.
pub fn find(repositories: &[Repository<'_>], own: usize, root: &Root) -> Reached {
    let mut walk = Walk {
        repositories,
        own,
        own_source: None,
        urls: BTreeMap::new(),
        waiting: Vec::new(),
        seen: BTreeSet::new(),
        sets: Vec::new(),
    };
    walk.root(root);
    while let Some((sync, repository)) = walk.known() {
        walk.follow(&sync, repository);
    }
    walk.reached(root)
}

/// A Kustomization of Flux.
struct Sync {
    name: String,
    directory: String,
    /// Kind, namespace and name.
    source: (String, String, String),
    prune: bool,
    namespace: Option<String>,
}

struct Walk<'a> {
    repositories: &'a [Repository<'a>],
    own: usize,
    /// The source that the root itself is synchronised from.
    own_source: Option<(String, String, String)>,
    /// The URLs of the sources, by namespace and name.
    urls: BTreeMap<(String, String), String>,
    /// The Kustomizations whose source was not found yet.
    waiting: Vec<Sync>,
    seen: BTreeSet<(String, usize, String)>,
    sets: Vec<(Applied, BuildSet)>,
}

impl Walk<'_> {
    fn root(&mut self, root: &Root) {
        self.look(self.own, &root.build);
        let own = self.waiting.iter().position(|sync| sync.directory == root.directory);
        let mut applied = Applied {
            name: root.directory.clone(),
            repository: self.own,
            directory: root.directory.clone(),
            prune: true,
            namespace: None,
            definitions: false,
        };
        if let Some(own) = own {
            let sync = self.waiting.remove(own);
            applied.name = sync.name;
            applied.prune = sync.prune;
            applied.namespace = sync.namespace;
            self.own_source = Some(sync.source);
        }
        self.seen
            .insert((applied.name.clone(), self.own, root.directory.clone()));
        self.sets.push((applied, root.build.clone()));
    }

    /// Takes out a Kustomization whose repository is known.
    fn known(&mut self) -> Option<(Sync, usize)> {
        let place = |sync: &Sync| self.repository(sync);
        let (at, repository) = self
            .waiting
            .iter()
            .enumerate()
            .find_map(|(at, sync)| Some((at, place(sync)?)))?;
        Some((self.waiting.remove(at), repository))
    }

    fn repository(&self, sync: &Sync) -> Option<usize> {
        if self.own_source.as_ref() == Some(&sync.source) {
            return Some(self.own);
        }
        let (kind, namespace, name) = &sync.source;
        if kind != "GitRepository" {
            return None;
        }
        let url = plain(self.urls.get(&(namespace.clone(), name.clone()))?);
        self.repositories
            .iter()
            .position(|repository| repository.urls.iter().any(|known| plain(known) == url))
    }

    fn follow(&mut self, sync: &Sync, repository: usize) {
        if !self
            .seen
            .insert((sync.name.clone(), repository, sync.directory.clone()))
        {
            return;
        }
        let set = reach::of(self.repositories[repository].tree, &sync.directory);
        self.look(repository, &set);
        let applied = Applied {
            name: sync.name.clone(),
            repository,
            directory: sync.directory.clone(),
            prune: sync.prune,
            namespace: sync.namespace.clone(),
            definitions: false,
        };
        self.sets.push((applied, set));
    }

    /// Notes the sources and Kustomizations among what a directory is built from.
    fn look(&mut self, repository: usize, set: &BuildSet) {
        let streams = self.repositories[repository].streams;
        for stream in set.resources.iter().filter_map(|path| streams.get(path)) {
            if !stream.text().contains(".toolkit.fluxcd.io/") {
                continue;
            }
            for document in stream.documents() {
                if let Some((source, url)) = source(document) {
                    self.urls.insert(source, url);
                }
                self.waiting.extend(sync(document));
            }
        }
    }

    /// Tells why it is not known what a Kustomization applies.
    fn unknown(&self, sync: &Sync) -> Unknown {
        let (kind, namespace, name) = &sync.source;
        let why = match kind.as_str() {
            "GitRepository" if self.urls.contains_key(&(namespace.clone(), name.clone())) => {
                format!("its source, GitRepository `{namespace}/{name}`, is a repository that was not given")
            }
            "GitRepository" => format!("its source, GitRepository `{namespace}/{name}`, is in none of the files"),
            kind => format!("its source, {kind} `{namespace}/{name}`, is no Git repository"),
        };
        Unknown {
            name: sync.name.clone(),
            why,
        }
    }

    fn reached(self, root: &Root) -> Reached {
        let mut reached = Reached {
            unknown: self.waiting.iter().map(|sync| self.unknown(sync)).collect(),
            ..Reached::default()
        };
        let mut apart = BTreeSet::new();
        for (mut applied, set) in self.sets {
            let file = |path: Path| File {
                repository: applied.repository,
                path,
            };
            let generated = |path: &Path| set.resources.contains(path);
            applied.definitions = applied.repository == self.own && root.generated.iter().any(generated);
            let tree = self.repositories[applied.repository].tree;
            let patches = overlays::read(tree, &set.kustomizations).patches;
            let shaping = patches.into_iter().filter_map(|patch| patch.file);
            let shaping: BTreeSet<File> = shaping.chain(set.kustomizations).map(file).collect();
            let objects: BTreeSet<File> = set.resources.into_iter().map(file).collect();
            let all = objects.iter().chain(&shaping).cloned();
            match applied.definitions {
                true => reached.together.extend(all),
                false => apart.extend(all),
            }
            reached.files.extend(objects.iter().chain(&shaping).cloned());
            reached.objects.extend(objects);
            reached.applied.push(applied);
        }
        reached.together.retain(|file| !apart.contains(file));
        reached
    }
}

/// Gives namespace and name of a GitRepository, and its URL.
fn source(document: &Document) -> Option<((String, String), String)> {
    let head = document.head();
    if &*head.kind != "GitRepository" || !head.api_version.starts_with("source.toolkit.fluxcd.io/") {
        return None;
    }
    let url = document.root()?.at(&["spec", "url"])?.text()?;
    Some(((head.namespace.to_string(), head.name.to_string()), url.to_owned()))
}

fn sync(document: &Document) -> Option<Sync> {
    let directory = roots::directory_of(document)?;
    let head = document.head();
    let spec = document.root()?.get("spec")?;
    let text = |path: &[&str]| spec.at(path).and_then(NodeRef::text).map(ToOwned::to_owned);
    let namespace = text(&["sourceRef", "namespace"]).unwrap_or_else(|| head.namespace.to_string());
    Some(Sync {
        name: format!("{}/{}", head.namespace, head.name),
        directory,
        source: (text(&["sourceRef", "kind"])?, namespace, text(&["sourceRef", "name"])?),
        prune: text(&["prune"]).is_some_and(|word| word == "true"),
        namespace: text(&["targetNamespace"]),
    })
}

/// Gives host and path of an address, without what differs between spellings of one place.
fn plain(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (host, path) = match (rest.split_once('/'), rest.split_once(':')) {
        // `git@host:path`: a colon before the first slash, and no port.
        (slash, Some((host, path))) if !url.contains("://") && slash.is_none_or(|(before, _)| before.contains(':')) => {
            (host, path)
        }
        (Some((host, path)), _) => (host, path),
        _ => (rest, ""),
    };
    let host = host.rsplit('@').next().unwrap_or(host).to_ascii_lowercase();
    let host = host.split(':').next().unwrap_or_default();
    let path = path.trim_matches('/');
    format!("{host}/{}", path.strip_suffix(".git").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;
    use crate::configuration::Spec;

    fn sync(name: &str, path: &str, source: &str) -> String {
        format!(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\n\
             spec:\n  path: {path}\n  prune: true\n  sourceRef: {{kind: GitRepository, name: {source}}}\n"
        )
    }

    fn git(name: &str, url: &str) -> String {
        format!(
            "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nmetadata: {{name: {name}, namespace: flux-system}}\nspec: {{url: '{url}'}}\n"
        )
    }

    fn tree(files: &[(&str, String)]) -> Tree {
        let entry = |(path, text): &(&str, String)| (Path::from(*path), Entry::file(text.as_bytes()));
        files.iter().map(entry).collect()
    }

    #[test]
    fn kustomizations_are_followed_into_the_repository_that_their_source_names() {
        let platform = tree(&[
            ("c/flux-system/g.yaml", String::new()),
            ("c/flux-system/sync.yaml", sync("flux-system", "./c", "flux-system")),
            ("c/apps.yaml", sync("apps", "./deploy", "apps")),
            ("c/infra.yaml", sync("infra", "./infra", "flux-system")),
            (
                "infra/source.yaml",
                git("apps", "ssh://git@Git.example.org:22/team/apps.git"),
            ),
            (
                "infra/kustomization.yaml",
                "resources: [source.yaml]\npatches:\n- path: p.yaml\n".into(),
            ),
            ("infra/p.yaml", "kind: GitRepository\nmetadata: {name: apps}\n".into()),
            ("c/other.yaml", sync("other", "./", "elsewhere")),
        ]);
        let apps = tree(&[("deploy/r.yaml", "kind: A\n".into()), ("r.yaml", "kind: A\n".into())]);
        let streams = [Streams::split(&platform), Streams::split(&apps)];
        let urls = ["https://git.example.org/team/apps".to_owned()];
        let repositories = [
            Repository {
                name: "platform",
                urls: &[],
                tree: &platform,
                streams: &streams[0],
            },
            Repository {
                name: "apps",
                urls: &urls,
                tree: &apps,
                streams: &streams[1],
            },
        ];
        let named = roots::Names {
            said: &Spec::default(),
            records: &[],
        };
        let roots = roots::find(&platform, &streams[0], &["c/flux-system/g.yaml".into()], &named);
        let reached = find(&repositories, 0, &roots[0]);
        let word = |applied: &Applied| format!("{} {}:{}", applied.name, applied.repository, applied.directory);
        assert_eq!(
            reached.applied.iter().map(word).collect::<Vec<_>>(),
            [
                "flux-system/flux-system 0:c",
                "flux-system/infra 0:infra",
                "flux-system/apps 1:deploy"
            ]
        );
        let word = |file: &File| format!("{}:{}", file.repository, file.path);
        let words = |files: &BTreeSet<File>| files.iter().map(word).collect::<Vec<_>>().join(" ");
        let together = "0:c/apps.yaml 0:c/flux-system/g.yaml 0:c/flux-system/sync.yaml 0:c/infra.yaml 0:c/other.yaml";
        assert_eq!(words(&reached.together), together);
        let apart = "0:infra/kustomization.yaml 0:infra/p.yaml 0:infra/source.yaml 1:deploy/r.yaml";
        assert_eq!(words(&reached.files), format!("{together} {apart}"));
        let unknown: Vec<String> = reached
            .unknown
            .iter()
            .map(|of| format!("{}: {}", of.name, of.why))
            .collect();
        assert_eq!(
            unknown,
            ["flux-system/other: its source, GitRepository `flux-system/elsewhere`, is in none of the files"]
        );
    }

    #[test]
    fn a_kustomization_whose_source_is_not_at_hand_is_named_with_the_reason() {
        let bucket = sync("bucket", "./b", "b").replace("kind: GitRepository", "kind: Bucket");
        let platform = tree(&[
            ("c/flux-system/g.yaml", String::new()),
            ("c/sync.yaml", sync("flux-system", "./c", "flux-system")),
            ("c/bucket.yaml", bucket),
            ("c/apps.yaml", sync("apps", "./deploy", "apps")),
            ("c/source.yaml", git("apps", "https://git.example.org/team/apps")),
            ("c/own.yaml", sync("own", "./own", "flux-system")),
        ]);
        let streams = Streams::split(&platform);
        let repositories = [Repository {
            name: "platform",
            urls: &[],
            tree: &platform,
            streams: &streams,
        }];
        let named = roots::Names {
            said: &Spec::default(),
            records: &[],
        };
        let roots = roots::find(&platform, &streams, &["c/flux-system/g.yaml".into()], &named);
        let reached = find(&repositories, 0, &roots[0]);
        let mut joined = Reached::default();
        joined.join(reached);
        let unknown: Vec<String> = joined
            .unknown
            .iter()
            .map(|of| format!("{}: {}", of.name, of.why))
            .collect();
        assert_eq!(
            unknown,
            [
                "flux-system/apps: its source, GitRepository `flux-system/apps`, is a repository that was not given",
                "flux-system/bucket: its source, Bucket `flux-system/b`, is no Git repository",
            ]
        );
    }

    #[test]
    fn spellings_of_one_address_are_equal() {
        let spellings = [
            "https://git.example.org/team/apps",
            "https://user:secret@git.example.org/team/apps.git",
            "ssh://git@git.example.org:2222/team/apps.git/",
            "git@GIT.example.org:team/apps.git",
        ];
        for spelling in spellings {
            assert_eq!(plain(spelling), "git.example.org/team/apps", "{spelling}");
        }
    }
}
