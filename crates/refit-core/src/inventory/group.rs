//! Clusters that share generated files, and so are upgraded as one.
//!
//! In: the clusters of an inventory. Out: [`Group`]s, each file of the generator in exactly one of them.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::Path;

use super::{Cluster, GeneratedFile};
use crate::finding::{Code, Finding};
use crate::record::Record;

/// The most clusters that a group is called by.
const NAMED: usize = 3;

/// Clusters that share generated files, directly or through others; mostly one cluster alone.
#[derive(Clone, Debug)]
pub struct Group<'a> {
    first: &'a Cluster,
    with: Vec<&'a Cluster>,
}

impl<'a> Group<'a> {
    /// Makes the group of a cluster that shares nothing.
    pub fn of(cluster: &'a Cluster) -> Self {
        Self {
            first: cluster,
            with: Vec::new(),
        }
    }

    /// Gives the cluster that comes first in the order of directories.
    pub fn first(&self) -> &'a Cluster {
        self.first
    }

    /// Lists the clusters in the order of their directories.
    pub fn clusters(&self) -> impl Iterator<Item = &'a Cluster> + use<'a, '_> {
        std::iter::once(self.first).chain(self.with.iter().copied())
    }

    /// Lists the names of the clusters.
    pub fn names(&self) -> Vec<String> {
        self.clusters().map(|cluster| cluster.root.name.clone()).collect()
    }

    /// Lists the names of the other clusters beside one.
    pub fn beside(&self, name: &str) -> Vec<String> {
        let mut names = self.names();
        names.retain(|other| other != name);
        names
    }

    /// Tells whether a cluster of this name is in it.
    pub fn has(&self, name: &str) -> bool {
        self.clusters().any(|cluster| cluster.root.name == name)
    }

    /// Gives the name for people: that of its cluster; those of several, cut where there are many.
    pub fn label(&self) -> String {
        self.listed(", ")
    }

    /// Gives the name for branches.
    pub fn slug(&self) -> String {
        self.listed("-").replace(' ', "-")
    }

    fn listed(&self, between: &str) -> String {
        let names = self.names();
        match names.len() {
            0..=NAMED => names.join(between),
            all => format!("{} and {} more", names[..NAMED - 1].join(between), all - (NAMED - 1)),
        }
    }

    /// Gives what tells the group from every other: the directories of its clusters.
    pub fn directories(&self) -> String {
        let directories: Vec<&str> = self.clusters().map(|cluster| &*cluster.root.directory).collect();
        directories.join(",")
    }

    /// Gives what the directories alone would call the clusters, which no other cluster changes.
    pub fn words(&self) -> String {
        let words: Vec<&str> = self.clusters().map(|cluster| &*cluster.root.word).collect();
        words.join(",")
    }

    /// Lists the generated files, each once.
    pub fn files(&self) -> Vec<&'a GeneratedFile> {
        let mut seen = BTreeSet::new();
        let all = self.clusters().flat_map(|cluster| &cluster.files);
        all.filter(|file| seen.insert(&file.path)).collect()
    }

    /// Gives the generated file that decides version and options: the first.
    pub fn main(&self) -> Option<&'a GeneratedFile> {
        self.clusters().find_map(Cluster::main)
    }

    /// Finds a generated file.
    pub fn file(&self, path: &Path) -> Option<&'a GeneratedFile> {
        let mut files = self.clusters().flat_map(|cluster| &cluster.files);
        files.find(|file| file.path == *path)
    }

    /// Lists the files that the clusters are built from, each once.
    pub fn resources(&self) -> BTreeSet<&'a Path> {
        self.clusters()
            .flat_map(|cluster| &cluster.root.build.resources)
            .collect()
    }

    /// Lists the records of the clusters' last upgrades.
    pub fn records(&self) -> impl Iterator<Item = &'a Record> + use<'a, '_> {
        self.clusters().filter_map(|cluster| cluster.record.as_ref())
    }

    /// Lists what was found about the clusters, each finding once.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = Vec::new();
        for finding in self.clusters().flat_map(|cluster| &cluster.findings) {
            if self.with.is_empty() || !findings.contains(finding) {
                findings.push(finding.clone());
            }
        }
        findings
    }

    /// Says that only some clusters were named; `None` when all were.
    pub fn partly(&self, named: &[String]) -> Option<Finding> {
        let (here, others): (Vec<String>, Vec<String>) =
            self.names().into_iter().partition(|name| named.contains(name));
        if others.is_empty() {
            return None;
        }
        let shared: Vec<&str> = self.shared().into_iter().map(Path::as_str).collect();
        let (who, verb) = match here.as_slice() {
            [only] => (format!("cluster `{only}`"), "shares"),
            several => (format!("clusters `{}`", several.join("`, `")), "share"),
        };
        let message = format!("{who} {verb} it with `{}`", others.join("`, `"));
        let flags: Vec<String> = self.names().iter().map(|name| format!("--cluster {name}")).collect();
        let remedy = format!(
            "upgrade them together with `{}`, or give each cluster its own generated file",
            flags.join(" ")
        );
        Some(Finding::new(Code::SharedFile, shared.join(", "), message).with_remedy(remedy))
    }

    /// Lists the generated files that more than one cluster uses.
    fn shared(&self) -> Vec<&'a Path> {
        let mut uses: BTreeMap<&Path, usize> = BTreeMap::new();
        for path in self.clusters().flat_map(|cluster| &cluster.root.generated) {
            *uses.entry(path).or_default() += 1;
        }
        uses.into_iter()
            .filter(|(_, uses)| *uses > 1)
            .map(|(path, _)| path)
            .collect()
    }
}

/// Groups the clusters that share generated files, in the order of their first clusters.
pub(super) fn groups(clusters: &[Cluster]) -> Vec<Group<'_>> {
    // Each cluster points to one that comes before it in its group, the first to itself.
    let mut leads: Vec<usize> = (0..clusters.len()).collect();
    let mut users: BTreeMap<&Path, usize> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate() {
        for path in &cluster.root.generated {
            let user = *users.entry(path).or_insert(at);
            let (one, other) = (lead(&mut leads, user), lead(&mut leads, at));
            leads[one.max(other)] = one.min(other);
        }
    }
    let mut groups: BTreeMap<usize, Group<'_>> = BTreeMap::new();
    for (at, cluster) in clusters.iter().enumerate() {
        match groups.get_mut(&lead(&mut leads, at)) {
            Some(group) => group.with.push(cluster),
            None => {
                groups.insert(at, Group::of(cluster));
            }
        }
    }
    groups.into_values().collect()
}

/// Follows a cluster to the first of its group, and shortens the way for the next time.
fn lead(leads: &mut [usize], from: usize) -> usize {
    let mut at = from;
    while leads[at] != at {
        leads[at] = leads[leads[at]];
        at = leads[at];
    }
    at
}
