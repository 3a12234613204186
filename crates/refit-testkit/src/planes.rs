//! Makes repositories of planes: clusters of several releases, shared bases, separate repositories of applications.
//!
//! In: random numbers, a layout, releases. Out: trees with objects of every kind of Flux, written as somebody wrote them
//! when the oldest of their clusters was set up. The same seed gives the same repositories.

mod objects;

use std::collections::BTreeSet;

use refit_core::applied::{self, Repository};
use refit_core::catalog::Catalog;
use refit_core::configuration::Spec;
use refit_core::release::Version;
use refit_core::roots::{self, Names};
use refit_core::route::{self, Known, Route, Source, Start, Stored};
use refit_core::streams::Streams;
use refit_core::windows::{self, Cluster, Planned, Schemas, Situation};
use refit_manifest::{Entry, Path, Tree};

use crate::random::Random;

pub use objects::{KINDS, text};

/// How repositories are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One repository; each cluster has its own files.
    Own,
    /// One repository; the clusters share a base and patch it.
    SharedBase,
    /// A repository of applications for each cluster.
    Apps,
    /// One repository of applications for all clusters.
    SharedApps,
}

/// All layouts.
pub const LAYOUTS: [Layout; 4] = [Layout::Own, Layout::SharedBase, Layout::Apps, Layout::SharedApps];

/// A cluster that was made.
#[derive(Clone, Debug)]
pub struct Plane {
    /// Its name, the last part of its directory.
    pub name: String,
    /// What is installed.
    pub installed: Version,
    /// Where it goes; the installed release where it stays.
    pub target: Version,
}

impl Plane {
    /// Takes a cluster from a release to another.
    pub fn new(name: &str, installed: &str, target: &str) -> Self {
        let read = |text: &str| Version::parse(text).expect("a version");
        Self {
            name: name.to_owned(),
            installed: read(installed),
            target: read(target),
        }
    }

    /// Gives its directory.
    pub fn directory(&self) -> String {
        format!("clusters/{}", self.name)
    }

    /// Gives the path of its generated manifest.
    pub fn generated(&self) -> Path {
        Path::new(format!("{}/flux-system/gotk-components.yaml", self.directory()))
    }
}

/// A repository that was made.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub urls: Vec<String>,
    /// Its files.
    pub tree: Tree,
}

/// Repositories and their clusters; the first repository holds the clusters.
#[derive(Clone, Debug)]
pub struct Planes {
    /// The repositories.
    pub repositories: Vec<Made>,
    /// The clusters.
    pub planes: Vec<Plane>,
}

/// The components of a cluster, with those of image automation.
pub fn components() -> BTreeSet<String> {
    let catalog = Catalog::flux().expect("the catalog");
    let components = catalog.components().iter().filter(|component| {
        let group = component.group.as_deref();
        group.is_none_or(|group| group == "image-automation")
    });
    components.map(|component| component.name.clone()).collect()
}

/// Makes repositories.
pub fn make(random: &mut Random, layout: Layout, planes: &[Plane]) -> Planes {
    let mut maker = Maker {
        random,
        catalog: Catalog::flux().expect("the catalog"),
        repositories: vec![named("platform")],
    };
    match layout {
        Layout::Apps => maker
            .repositories
            .extend(planes.iter().map(|plane| named(&format!("apps-{}", plane.name)))),
        Layout::SharedApps => maker.repositories.push(named("apps")),
        _ => {}
    }
    let releases: Vec<&Version> = planes.iter().map(|plane| &plane.installed).collect();
    match layout {
        Layout::SharedBase => maker.base(&releases),
        Layout::SharedApps => maker.apps(1, "deploy", &releases),
        _ => {}
    }
    for (index, plane) in planes.iter().enumerate() {
        maker.cluster(plane);
        match layout {
            Layout::Own => maker.apps(0, &format!("apps/{}", plane.name), &[&plane.installed]),
            Layout::SharedBase => maker.overlay(plane, &releases),
            Layout::Apps => maker.apps(index + 1, "deploy", &[&plane.installed]),
            Layout::SharedApps => {}
        }
        let (repository, path) = match layout {
            Layout::Own | Layout::SharedBase => (None, format!("apps/{}", plane.name)),
            Layout::Apps => (Some(index + 1), "deploy".to_owned()),
            Layout::SharedApps => (Some(1), "deploy".to_owned()),
        };
        maker.sync(plane, repository, &path);
    }
    Planes {
        repositories: maker.repositories,
        planes: planes.to_vec(),
    }
}

fn named(name: &str) -> Made {
    Made {
        name: name.to_owned(),
        urls: vec![format!("https://git.example.org/team/{name}.git")],
        tree: Tree::new(),
    }
}

struct Maker<'a> {
    random: &'a mut Random,
    catalog: Catalog,
    repositories: Vec<Made>,
}

impl Maker<'_> {
    fn write(&mut self, repository: usize, path: String, text: &str) {
        let entry = Entry::file(text.as_bytes());
        self.repositories[repository].tree.insert(Path::new(path), entry);
    }

    /// Picks a version that all releases serve; `None` where there is none.
    fn version(&mut self, kind: &str, releases: &[&Version]) -> Option<String> {
        let resource = self.catalog.resources().iter().find(|resource| resource.kind == kind)?;
        let served = |release: &&Version| -> BTreeSet<String> {
            let api = self.catalog.api(&resource.crd, release);
            api.map(|api| api.versions.served.iter().cloned().collect())
                .unwrap_or_default()
        };
        let all = releases.iter().map(served).reduce(|all, other| &all & &other)?;
        let all: Vec<String> = all.into_iter().collect();
        self.random.pick(&all).cloned()
    }

    /// Writes an object of a kind as its version has it.
    fn object(&mut self, kind: &str, name: &str, releases: &[&Version]) -> Option<String> {
        let version = self.version(kind, releases)?;
        // What refers to another object does so in a version that is served, too.
        let referred = self.version("GitRepository", releases)?;
        let resource = self.catalog.resources().iter().find(|resource| resource.kind == kind)?;
        let newest = releases.iter().max()?;
        let stored = self.catalog.api(&resource.crd, newest)?.versions.storage.clone();
        Some(objects::object(self.random, kind, [&version, &stored], name, &referred))
    }

    /// Writes what the bootstrap of a cluster wrote, and objects beside it.
    fn cluster(&mut self, plane: &Plane) {
        let directory = plane.directory();
        let header = format!("# Flux Version: {}\n", plane.installed);
        self.write(0, plane.generated().to_string(), &header);
        let releases = [&plane.installed];
        let source = self.version("GitRepository", &releases).unwrap_or_default();
        let sync = self.version("Kustomization", &releases).unwrap_or_default();
        let url = self.repositories[0].urls[0].clone();
        let text = [
            objects::source(&source, "flux-system", &url),
            objects::sync(&sync, "flux-system", &format!("./{directory}"), "flux-system"),
        ];
        self.write(
            0,
            format!("{directory}/flux-system/gotk-sync.yaml"),
            &text.join("---\n"),
        );
        let list = "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n";
        self.write(0, format!("{directory}/flux-system/kustomization.yaml"), list);
        for kind in ["Provider", "Alert", "Receiver"] {
            if !self.random.once_in(3)
                && let Some(text) = self.object(kind, "own", &releases)
            {
                let name = kind.to_lowercase();
                self.write(0, format!("{directory}/{name}.yaml"), &text);
            }
        }
    }

    /// Writes the Kustomization that applies the applications of a cluster, and its source where that is another.
    fn sync(&mut self, plane: &Plane, repository: Option<usize>, path: &str) {
        let releases = [&plane.installed];
        let sync = self.version("Kustomization", &releases).unwrap_or_default();
        let mut texts = Vec::new();
        let mut source = "flux-system";
        if let Some(repository) = repository {
            source = "apps";
            let version = self.version("GitRepository", &releases).unwrap_or_default();
            texts.push(objects::source(
                &version,
                source,
                &self.repositories[repository].urls[0].clone(),
            ));
        }
        texts.push(objects::sync(&sync, "apps", &format!("./{path}"), source));
        self.write(0, format!("{}/apps.yaml", plane.directory()), &texts.join("---\n"));
    }

    /// Writes objects of all kinds that some releases have in common, several in a file now and then.
    fn apps(&mut self, repository: usize, directory: &str, releases: &[&Version]) {
        let mut file = Vec::new();
        let mut number = 0;
        for (kind, name) in KINDS.iter().flat_map(|kind| [(*kind, "one"), (*kind, "two")]) {
            if self.random.once_in(3) {
                continue;
            }
            file.extend(self.object(kind, name, releases));
            if !file.is_empty() && !self.random.once_in(4) {
                number += 1;
                let text = objects::file(self.random, &file);
                self.write(repository, format!("{directory}/f{number:02}.yaml"), &text);
                file.clear();
            }
        }
        if !file.is_empty() {
            self.write(repository, format!("{directory}/last.yaml"), &file.join("---\n"));
        }
    }

    fn base(&mut self, releases: &[&Version]) {
        self.apps(0, "apps/base", releases);
        let tree = &self.repositories[0].tree;
        let names: Vec<String> = tree
            .within("apps/base")
            .map(|(path, _)| format!("- {}\n", path.file_name()))
            .collect();
        self.write(
            0,
            "apps/base/kustomization.yaml".to_owned(),
            &format!("resources:\n{}", names.concat()),
        );
    }

    /// Writes the overlay of a cluster: a patch by target, one by content, and an object of its own.
    fn overlay(&mut self, plane: &Plane, releases: &[&Version]) {
        let tree = &self.repositories[0].tree;
        let written: Vec<(String, String, String)> = tree
            .within("apps/base")
            .filter_map(|(_, entry)| entry.bytes())
            .flat_map(|bytes| objects::heads(&String::from_utf8_lossy(bytes)))
            .collect();
        let mut kustomization = "resources:\n- ../base\n- own.yaml\npatches:\n".to_owned();
        for (at, (api_version, kind, name)) in written.iter().enumerate().filter(|(at, _)| at % 2 == 0) {
            let (group, version) = api_version.split_once('/').unwrap_or_default();
            if at % 4 == 0 {
                kustomization += &format!(
                    "- target: {{group: {group}, version: {version}, kind: {kind}, name: {name}}}\n  patch: |\n    \
                     - op: add\n      path: /metadata/labels\n      value: {{cluster: {}}}\n",
                    plane.name
                );
            } else {
                let path = format!("p{at:02}.yaml");
                let text = format!(
                    "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: flux-system\n  \
                     labels:\n    cluster: {}\n",
                    plane.name
                );
                self.write(0, format!("apps/{}/{path}", plane.name), &text);
                kustomization += &format!("- path: {path}\n");
            }
        }
        let own = self.object("HelmRepository", "own", &[&plane.installed]);
        let own = own
            .or_else(|| self.object("HelmRepository", "own", releases))
            .unwrap_or_default();
        self.write(0, format!("apps/{}/own.yaml", plane.name), &own);
        self.write(0, format!("apps/{}/kustomization.yaml", plane.name), &kustomization);
    }
}

/// Gives the repositories as the program sees them.
pub fn seen<'a>(repositories: &'a [Made], streams: &'a [Streams]) -> Vec<Repository<'a>> {
    let seen = repositories.iter().zip(streams).map(|(made, streams)| Repository {
        name: &made.name,
        urls: &made.urls,
        tree: &made.tree,
        streams,
    });
    seen.collect()
}

/// Gives the routes of a cluster to its target, the usual one first.
pub fn routes(plane: &Plane, known: &Known<'_>) -> Vec<Route> {
    let stable = |version: &&Version| version.is_stable();
    let available: Vec<Version> = known.releases().filter(stable).cloned().collect();
    let stored = Stored::concluded(known, Source::Since(plane.installed.clone()), &plane.installed, &[]);
    let start = Start::at(&plane.installed, stored, components(), known);
    route::alternatives(&start, &plane.target, &available, known).expect("a route")
}

/// Gives the clusters as the program sees them, each with the route to its target and all components.
pub fn clusters(planes: &Planes, repositories: &[Repository<'_>], known: &Known<'_>) -> Vec<Cluster> {
    let cluster = |plane: &Plane| {
        let said = Spec::default();
        let named = Names {
            said: &said,
            records: &[],
        };
        let platform = &repositories[0];
        let roots = roots::find(platform.tree, platform.streams, &[plane.generated()], &named);
        let root = roots.first().expect("a root");
        let route = routes(plane, known).swap_remove(0);
        Cluster {
            names: vec![plane.name.clone()],
            repository: 0,
            installed: Some(plane.installed.clone()),
            components: components(),
            hops: route.hops,
            reached: applied::find(repositories, 0, root),
        }
    };
    planes.planes.iter().map(cluster).collect()
}

/// Plans the requests of planes, with the schemas that are given for their clusters.
pub fn plan(
    planes: &Planes,
    catalog: &Catalog,
    schemas: impl FnOnce(&[Cluster]) -> Schemas,
) -> (Vec<Cluster>, Planned) {
    let known = Known::new(catalog);
    let split = |made: &Made| Streams::split(&made.tree);
    let streams: Vec<Streams> = planes.repositories.iter().map(split).collect();
    let repositories = seen(&planes.repositories, &streams);
    let clusters = clusters(planes, &repositories, &known);
    let planned = windows::plan(&Situation {
        repositories: &repositories,
        clusters: &clusters,
        known: &known,
        schemas: &schemas(&clusters),
    });
    (clusters, planned)
}

/// Plans the requests of one plane by the route that takes the fewest, without schemas; gives the usual plan before it.
pub fn fewest(planes: &Planes, catalog: &Catalog) -> (Planned, Planned) {
    let known = Known::new(catalog);
    let split = |made: &Made| Streams::split(&made.tree);
    let streams: Vec<Streams> = planes.repositories.iter().map(split).collect();
    let repositories = seen(&planes.repositories, &streams);
    let clusters = clusters(planes, &repositories, &known);
    let by = |route: &Route| {
        let mut clusters = clusters.clone();
        clusters[0].hops.clone_from(&route.hops);
        windows::plan(&Situation {
            repositories: &repositories,
            clusters: &clusters,
            known: &known,
            schemas: &Schemas::default(),
        })
    };
    let count = |_: &Route, planned: &Planned| planned.unfinished.is_empty().then_some(planned.requests.len());
    let routes = routes(&planes.planes[0], &known);
    let chosen = windows::fewest(&routes, |route| Ok::<_, std::convert::Infallible>(by(route)), count);
    (by(&routes[0]), chosen.expect("no error").expect("a route").plan)
}
