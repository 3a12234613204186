//! What a flow stands on: the target branch, its files, the clusters in it, the releases there are.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use refit_core::catalog::Catalog;
use refit_core::inventory::{self, Cluster, Group, Inventory};
use refit_core::named;
use refit_core::own_rules;
use refit_core::release::Version;
use refit_core::report::{Next, OfGroup, Report, Reports};
use refit_core::snapshot::{self, Seen, Snapshot, wanted};
use refit_manifest::{Entry, Path};

use super::contents::Contents;
use super::observe::Records;
use super::under_way::Asked;
use crate::ports::{Base, Listed, ListedKind, PortError};
use crate::{Ask, Error, Ports};

/// What every step of a flow works with.
#[derive(Clone, Copy)]
pub(super) struct Flow<'a> {
    pub(super) ports: &'a Ports<'a>,
    pub(super) ask: &'a Ask,
    pub(super) ground: &'a Ground,
}

/// What was seen at the start of a flow.
pub(super) struct Ground {
    pub(super) base: Base,
    pub(super) listed: Rc<[Listed]>,
    pub(super) snapshot: Snapshot,
    pub(super) inventory: Inventory,
    /// What is known with the rules of conversion that the repository brings along, where it does.
    pub(super) ruled: Option<Catalog>,
    /// The releases that the source has, oldest first.
    pub(super) versions: Vec<Version>,
    /// The contents of releases, each read once.
    pub(super) contents: Contents,
    /// The records that branches bring, each read once.
    pub(super) records: Rc<Records>,
    /// The oldest release of each generated file, read once.
    pub(super) oldest: RefCell<BTreeMap<Path, Option<Version>>>,
}

/// A group of clusters with the names of those that the user named.
#[derive(Clone, Debug)]
pub(super) struct Picked<'a> {
    pub(super) group: Group<'a>,
    pub(super) named: Vec<String>,
}

impl Picked<'_> {
    /// Takes the whole group, whatever was named of it.
    pub(super) fn whole(mut self) -> Self {
        self.named = self.group.names();
        self
    }
}

/// Which groups of clusters are meant.
pub(super) enum Pick<'a> {
    /// These, in the order of their directories.
    Groups(Vec<Picked<'a>>),
    /// Some of several must be named.
    Choose(Vec<Group<'a>>),
    /// There is none.
    None,
}

/// Looks at the target branch and at the releases that there are.
pub(super) fn survey(ports: &Ports<'_>, branch: Option<&str>) -> Result<Ground, Error> {
    let mut ground = repository(ports, branch)?;
    ports.releases.extend(&ground.inventory.said.catalog.sources)?;
    let available = ports.releases.available(ports.catalog.platform().as_str())?;
    let silent = available.unreachable.iter().map(PortError::finding);
    ground.inventory.findings.extend(silent);
    ground.versions = available
        .versions
        .iter()
        .filter_map(|text| Version::parse(text).ok())
        .collect();
    ground.versions.sort();
    Ok(ground)
}

/// Looks at the target branch alone, for what needs no release: nobody must wait for a source to pause.
pub(super) fn repository(ports: &Ports<'_>, branch: Option<&str>) -> Result<Ground, Error> {
    let base = ports.repository.base(branch)?;
    let listed: Rc<[Listed]> = ports.repository.list(&base.commit)?.into();
    let mut snapshot = Snapshot {
        repository: ports.repository.location(),
        branch: base.branch.clone(),
        commit: base.commit.to_string(),
        ..Snapshot::default()
    };
    let mut read = Vec::new();
    for item in listed.iter() {
        let executable = item.kind == ListedKind::Executable;
        let seen = Seen {
            size: item.size,
            filtered: item.filtered,
            executable,
            linked: item.kind == ListedKind::Link,
            submodule: item.kind == ListedKind::Submodule,
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
    named(ports, &listed, &mut snapshot)?;
    let mut inventory = inventory::take(&snapshot, ports.catalog);
    let ruled = rules(ports, &listed, &mut inventory)?;
    Ok(Ground {
        records: Rc::new(Records::before(&base.commit, &listed)),
        base,
        listed,
        snapshot,
        inventory,
        ruled,
        versions: Vec::new(),
        contents: Contents::default(),
        oldest: RefCell::default(),
    })
}

/// Reads the files that kustomizations name and that are not called like manifests.
fn named(ports: &Ports<'_>, listed: &[Listed], snapshot: &mut Snapshot) -> Result<(), Error> {
    let named = named::files(&snapshot.tree);
    let is_meant = |item: &&Listed| {
        let is_file = matches!(item.kind, ListedKind::File | ListedKind::Executable);
        is_file && item.size <= snapshot::SIZE_LIMIT && named.contains(&item.path)
    };
    let items: Vec<&Listed> = listed.iter().filter(is_meant).collect();
    let blobs: Vec<_> = items.iter().map(|item| item.blob.clone()).collect();
    for (item, bytes) in items.into_iter().zip(ports.repository.read_all(&blobs)?) {
        let executable = item.kind == ListedKind::Executable;
        snapshot
            .tree
            .insert(item.path.clone(), Entry::File { bytes, executable });
    }
    Ok(())
}

/// Reads the rules of conversion that the repository brings along; a file that cannot be used is told.
fn rules(ports: &Ports<'_>, listed: &[Listed], inventory: &mut Inventory) -> Result<Option<Catalog>, Error> {
    let said = &inventory.said;
    if said.rules.is_empty() {
        return Ok(None);
    }
    let place = |name: &str| Path::from(refit_kustomize::reach::normal(name).as_str());
    let mut texts = BTreeMap::new();
    for path in said.rules.iter().map(|name| place(name)) {
        let is_file = |item: &&Listed| matches!(item.kind, ListedKind::File | ListedKind::Executable);
        if let Some(item) = listed.iter().filter(is_file).find(|item| item.path == path) {
            texts.insert(path, ports.repository.read(&item.blob)?);
        }
    }
    let mut catalog = ports.catalog.clone();
    let read = |name: &str| texts.get(&place(name)).cloned().ok_or(own_rules::Unread::Missing);
    let found = own_rules::add(&mut catalog, said, read);
    inventory.findings.extend(found);
    Ok(Some(catalog))
}

impl<'a> Flow<'a> {
    /// Gives what is known of releases, with the rules of conversion that the repository brings along.
    pub(super) fn catalog(self) -> &'a Catalog {
        self.ground.ruled.as_ref().unwrap_or(self.ports.catalog)
    }

    /// Gives the same flow with another question.
    pub(super) fn asking(self, ask: &'a Ask) -> Self {
        Self { ask, ..self }
    }

    /// Gives the clusters that the user named, or all.
    pub(super) fn clusters(self) -> Result<Vec<&'a Cluster>, Error> {
        let all = &self.ground.inventory.clusters;
        if self.ask.clusters.is_empty() {
            return Ok(all.iter().collect());
        }
        let mut clusters = Vec::new();
        for name in &self.ask.clusters {
            clusters.push(self.ground.named(name)?);
        }
        Ok(clusters)
    }

    /// Tells whether the user said which clusters are meant.
    pub(super) fn names_clusters(self) -> bool {
        self.ask.all_clusters || !self.ask.clusters.is_empty()
    }

    /// Chooses the groups of clusters that a flow works on.
    pub(super) fn pick(self) -> Result<Pick<'a>, Error> {
        check_platform(self.ports, self.ask)?;
        let several = self.ground.inventory.clusters.len() > 1;
        if several && !self.names_clusters() {
            return Ok(Pick::Choose(self.ground.inventory.groups()));
        }
        let picked = self.picked()?;
        Ok(if picked.is_empty() {
            Pick::None
        } else {
            Pick::Groups(picked)
        })
    }

    /// Gives the groups of the clusters that the user named, or all.
    pub(super) fn picked(self) -> Result<Vec<Picked<'a>>, Error> {
        let meant: BTreeSet<&str> = self.clusters()?.iter().map(|cluster| &*cluster.root.name).collect();
        let groups = self.ground.inventory.groups().into_iter().map(|group| {
            let mut named = group.names();
            named.retain(|name| meant.contains(name.as_str()));
            Picked { group, named }
        });
        let picked: Vec<Picked<'a>> = groups.filter(|picked| !picked.named.is_empty()).collect();
        if self.ask.snapshot.is_some() && picked.len() > 1 {
            let names = picked
                .iter()
                .map(|picked| format!("`--cluster {}`", picked.group.first().root.name));
            return Err(Error::Usage {
                message: format!("a snapshot is of one cluster, and {} are meant", picked.len()),
                remedy: format!("name the one that it is of: {}", names.collect::<Vec<_>>().join(" or ")),
            });
        }
        Ok(picked)
    }
}

impl Ground {
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

    /// Gives the options that name a group, where there are several clusters; begins with a blank.
    pub(super) fn option(&self, group: &Group<'_>) -> String {
        match self.inventory.clusters.len() {
            0 | 1 => String::new(),
            _ => flags(group),
        }
    }
}

/// Works on one group after the other.
pub(super) fn each<'a, B>(
    all: &[Asked<'a>],
    mut work: impl FnMut(&Asked<'a>) -> Result<Report<B>, Error>,
) -> Result<Reports<B>, Error> {
    let mut groups = Vec::new();
    for one in all {
        let group = &one.picked.group;
        let report = work(one).map_err(|error| match all.len() {
            1 => error,
            _ => error.of_group(&group.label()),
        })?;
        groups.push(OfGroup {
            clusters: group.names(),
            report,
        });
    }
    Ok(Reports::of(groups))
}

/// Gives the options that name a group; begins with a blank.
fn flags(group: &Group<'_>) -> String {
    let flags = group.names().into_iter().map(|name| format!(" --cluster {name}"));
    flags.collect()
}

/// Gives the commands that name one of several groups, and the one that takes all.
pub(super) fn choices(command: &str, groups: &[Group<'_>]) -> Vec<Next> {
    let next = |group: &Group<'_>| {
        let names = group.names();
        let text = match names.as_slice() {
            [only] => format!("choose cluster `{only}`"),
            several => format!("choose clusters `{}`, which share their files", several.join("`, `")),
        };
        Next::run(format!("refit {command}{}", flags(group)), text)
    };
    let all = Next::run(format!("refit {command} --all-clusters"), "take all of them");
    groups.iter().map(next).chain([all]).collect()
}

fn check_platform(ports: &Ports<'_>, ask: &Ask) -> Result<(), Error> {
    let known = ports.catalog.platform();
    match &ask.target.platform {
        Some(name) if name != known.as_str() => Err(match Version::parse(name) {
            Ok(version) => Error::Usage {
                message: format!("`{name}` is a version, and a platform belongs before it"),
                remedy: format!("write `{known}@{version}`"),
            },
            Err(_) => Error::Usage {
                message: format!("platform `{name}` is not known"),
                remedy: format!("name `{known}`, or a version of it as `{known}@VERSION`"),
            },
        }),
        _ => Ok(()),
    }
}
