//! What a flow stands on: the target branch, its files, the clusters in it, the releases there are.

use refit_core::inventory::{self, Cluster, Inventory};
use refit_core::release::Version;
use refit_core::report::Next;
use refit_core::snapshot::{Seen, Snapshot, wanted};
use refit_manifest::Entry;

use crate::ports::{Base, Listed, ListedKind};
use crate::{Ask, Error, Ports};

/// What was seen at the start of a flow.
pub(super) struct Ground {
    pub(super) base: Base,
    pub(super) listed: Vec<Listed>,
    pub(super) snapshot: Snapshot,
    pub(super) inventory: Inventory,
    /// The releases that the source has, oldest first.
    pub(super) versions: Vec<Version>,
}

/// Which cluster is meant.
pub(super) enum Pick<'a> {
    /// This one.
    One(&'a Cluster),
    /// One of several must be named.
    Choose(Vec<String>),
    /// There is none.
    None,
}

/// Looks at the target branch.
pub(super) fn survey(ports: &Ports<'_>, branch: Option<&str>) -> Result<Ground, Error> {
    let base = ports.repository.base(branch)?;
    let listed = ports.repository.list(&base.commit)?;
    let mut snapshot = Snapshot {
        repository: ports.repository.location(),
        branch: base.branch.clone(),
        commit: base.commit.to_string(),
        ..Snapshot::default()
    };
    let mut read = Vec::new();
    for item in &listed {
        let executable = item.kind == ListedKind::Executable;
        let seen = Seen {
            size: item.size,
            filtered: item.filtered,
            executable,
        };
        snapshot.paths.insert(item.path.clone(), seen);
        let is_file = matches!(item.kind, ListedKind::File | ListedKind::Executable);
        if is_file && wanted(&item.path, item.size) {
            read.push((item, executable));
        }
    }
    let blobs: Vec<_> = read.iter().map(|(item, _)| item.blob.clone()).collect();
    for ((item, executable), bytes) in read.into_iter().zip(ports.repository.read_all(&blobs)?) {
        snapshot
            .tree
            .insert(item.path.clone(), Entry::File { bytes, executable });
    }
    let inventory = inventory::take(&snapshot, ports.catalog);
    let mut versions: Vec<Version> = ports
        .releases
        .versions(ports.catalog.platform().as_str())?
        .iter()
        .filter_map(|text| Version::parse(text).ok())
        .collect();
    versions.sort();
    Ok(Ground {
        base,
        listed,
        snapshot,
        inventory,
        versions,
    })
}

impl Ground {
    /// Gives the clusters that the user named, or all.
    pub(super) fn clusters(&self, ask: &Ask) -> Result<Vec<&Cluster>, Error> {
        if ask.clusters.is_empty() {
            return Ok(self.inventory.clusters.iter().collect());
        }
        ask.clusters.iter().map(|name| self.named(name)).collect()
    }

    /// Chooses the one cluster that a flow works on.
    pub(super) fn pick(&self, ports: &Ports<'_>, ask: &Ask) -> Result<Pick<'_>, Error> {
        check_platform(ports, ask)?;
        Ok(match self.clusters(ask)?.as_slice() {
            [] => Pick::None,
            [one] => Pick::One(one),
            several => Pick::Choose(several.iter().map(|cluster| cluster.root.name.clone()).collect()),
        })
    }

    fn named(&self, name: &str) -> Result<&Cluster, Error> {
        let wanted = refit_kustomize::reach::normal(name);
        let is_meant = |cluster: &&Cluster| {
            let root = &cluster.root;
            root.name == name
                || root.directory == wanted
                || root.generated.iter().any(|path| path.directory() == wanted)
        };
        self.inventory.clusters.iter().find(is_meant).ok_or_else(|| {
            let names: Vec<String> = self
                .inventory
                .clusters
                .iter()
                .map(|cluster| format!("`{}`", cluster.root.name))
                .collect();
            Error::Usage {
                message: format!("there is no cluster `{name}` on `{}`", self.base.branch),
                remedy: match names.as_slice() {
                    [] => "no cluster was found there at all; `refit inventory` says what was".to_owned(),
                    names => format!("name one of {}", names.join(", ")),
                },
            }
        })
    }

    /// Gives the option that names a cluster, where there are several; begins with a blank.
    pub(super) fn option(&self, cluster: &str) -> String {
        match self.inventory.clusters.len() {
            0 | 1 => String::new(),
            _ => format!(" --cluster {cluster}"),
        }
    }
}

/// Gives the commands that name one of several clusters.
pub(super) fn choices(command: &str, names: &[String]) -> Vec<Next> {
    let next = |name: &String| {
        Next::run(
            format!("refit {command} --cluster {name}"),
            format!("choose cluster `{name}`"),
        )
    };
    names.iter().map(next).collect()
}

fn check_platform(ports: &Ports<'_>, ask: &Ask) -> Result<(), Error> {
    let known = ports.catalog.platform();
    match &ask.target.platform {
        Some(name) if name != known.as_str() => Err(Error::Usage {
            message: format!("platform `{name}` is not known"),
            remedy: format!("name `{known}`, or a version of it as `{known}@VERSION`"),
        }),
        _ => Ok(()),
    }
}
