//! Where all clusters and files are after the requests so far.
//!
//! In: a situation, and the steps that are taken. Out: the model of what is left, and the request that a step makes. Edits
//! are made for real: what the next step is decided on is read from the edited files.

mod steps;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::Tree;
use refit_manifest::convert::compare_versions;

use super::accepted::{Accepted, Releases};
use super::bundles::{self, Bundle};
use super::order::{Item, Lane, Model, Step};
use super::readings::Readings;
use super::seen::{self, Kind, Seen};
use super::{Cluster, Situation, doubts, gates};
use crate::applied::File;
use crate::catalog::Resource;
use crate::conversion::{Use, What};
use crate::finding::Finding;
use crate::places::Interest;
use crate::release::Version;

/// The first release whose kustomize-controller (0.15) waits for definitions before it applies the rest.
const STAGED: [u64; 3] = [0, 18, 0];

/// What an item is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    /// The versions of a kind.
    Kind(Kind),
    /// What a rule is about.
    Rule(String),
}

impl Key {
    /// Tells whether a use is about it.
    fn is_of(&self, used: &Use) -> bool {
        match self {
            Self::Kind((group, kind)) => used.group == *group && used.kind == *kind,
            Self::Rule(rule) => used.rule.as_ref() == Some(rule),
        }
    }
}

/// What stands somewhere that a hop refuses.
pub(super) struct Written {
    pub(super) file: File,
    pub(super) kind: Kind,
    pub(super) versions: Vec<String>,
}

/// Where everything is.
pub(super) struct State<'a> {
    situation: &'a Situation<'a>,
    interest: Interest,
    trees: Vec<Tree>,
    readings: Readings,
    seen: BTreeMap<File, Seen>,
    bundles: Vec<Bundle>,
    /// The bundle of each file.
    places: BTreeMap<File, usize>,
    lanes: Vec<Lane>,
    accepted: Accepted<'a>,
    /// What could not be looked at.
    findings: Vec<Finding>,
    /// How often each repository was converted for the next hop of a lane.
    rounds: BTreeMap<(usize, usize), usize>,
    /// The bundle and the key of each item of the last model.
    items: Vec<(usize, Key)>,
    /// What turned out not to be converted, and why.
    fixed: BTreeMap<(usize, Key), String>,
}

impl<'a> State<'a> {
    pub(super) fn new(situation: &'a Situation<'a>) -> Self {
        let resources = situation.known.catalog().resources();
        let interest = Interest::of(
            resources
                .iter()
                .map(|resource| (resource.group(), resource.kind.as_str())),
        );
        let trees: Vec<Tree> = situation
            .repositories
            .iter()
            .map(|repository| repository.tree.clone())
            .collect();
        let contents = seen::contents(situation);
        let mut seen = BTreeMap::new();
        for file in situation.clusters.iter().flat_map(|cluster| &cluster.reached.files) {
            let bytes = trees.get(file.repository).and_then(|tree| tree.bytes(&file.path));
            if let Some(bytes) = bytes.filter(|_| !seen.contains_key(file)) {
                let content = contents.get(file).cloned().unwrap_or_default();
                seen.insert(file.clone(), Seen::look((&file.path, &content), bytes, &interest));
            }
        }
        let unreadable = seen
            .iter()
            .filter_map(|(file, seen)| Some((file.clone(), seen.unreadable.clone()?)));
        let unreadable: BTreeMap<File, String> = unreadable.collect();
        seen.retain(|_, seen| !seen.versions.is_empty() || !seen.meant.is_empty());
        let clusters = situation.clusters.iter();
        let releases = clusters.flat_map(|cluster| cluster.hops.iter().map(|hop| &hop.to).chain(&cluster.installed));
        let accepted = Accepted::of(situation.known, releases.cloned().collect());
        let bundles = bundles::make(situation, &seen);
        let place = |(index, bundle): (usize, &Bundle)| bundle.files().map(|file| (file, index)).collect::<Vec<_>>();
        let mut state = Self {
            situation,
            interest,
            trees,
            readings: Readings::of(contents),
            places: bundles.iter().enumerate().flat_map(place).collect(),
            bundles,
            seen,
            lanes: situation
                .clusters
                .iter()
                .map(|cluster| lane(cluster, &accepted))
                .collect(),
            accepted,
            findings: Vec::new(),
            rounds: BTreeMap::new(),
            items: Vec::new(),
            fixed: BTreeMap::new(),
        };
        state.findings = doubts::find(&state, &unreadable);
        state
    }

    /// Takes out the findings about what could not be looked at.
    pub(super) fn doubts(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// Lists the clusters that are not at the end of their way.
    pub(super) fn unfinished(&self) -> BTreeSet<usize> {
        let clusters = self.situation.clusters.iter().enumerate();
        let open = |(index, cluster): &(usize, &Cluster)| {
            cluster
                .hops
                .last()
                .is_some_and(|last| self.lanes[*index].at.as_ref() != Some(&last.to))
        };
        clusters.filter(open).map(|(index, _)| index).collect()
    }

    /// Tells whether something is known of the definitions of a release.
    pub(super) fn knows(&self, release: &Version) -> bool {
        self.accepted.knows(release)
    }

    pub(super) fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    pub(super) fn situation(&self) -> &'a Situation<'a> {
        self.situation
    }

    /// Gives the installed release of a cluster, where it can be told.
    pub(super) fn release(&self, cluster: usize) -> Option<&Version> {
        self.lanes[cluster].at.as_ref()
    }

    /// Gives the release of the next hop of a cluster.
    pub(super) fn next_release(&self, cluster: usize) -> Option<&Version> {
        self.lanes[cluster].hops.first()
    }

    /// Gives a repository as it is now.
    pub(super) fn tree(&self, repository: usize) -> &Tree {
        &self.trees[repository]
    }

    /// Gives the bundle of a file.
    pub(super) fn bundle(&self, file: &File) -> Option<&Bundle> {
        self.places.get(file).map(|at| &self.bundles[*at])
    }

    /// Lists the clusters that apply any of the files which a file is converted with.
    pub(super) fn appliers(&self, file: &File) -> BTreeSet<usize> {
        self.bundle(file)
            .map(|bundle| bundle.reached.clone())
            .unwrap_or_default()
    }

    /// Names a file for people; with its repository where there are several.
    pub(super) fn shown(&self, file: &File) -> String {
        match self.situation.repositories {
            [_] => file.path.to_string(),
            all => format!("{}: {}", all[file.repository].name, file.path),
        }
    }

    /// Makes the model of what is left.
    pub(super) fn model(&mut self) -> Model {
        let mut items = Vec::new();
        let mut keys = Vec::new();
        for (index, bundle) in self.bundles.iter().enumerate() {
            let together = gates::in_one_go(self, bundle);
            let blank = || Item {
                repository: bundle.repository,
                files: bundle.files.clone(),
                forms: Vec::new(),
                at: BTreeSet::new(),
                reached: bundle.reached.clone(),
                together: together.clone(),
                fixed: None,
            };
            let kinds = self.kinds(bundle, &blank);
            for (key, item) in kinds.into_iter().chain(self.rules(bundle, &blank)) {
                let fixed = self.fixed.get(&(index, key.clone())).cloned();
                items.push(Item {
                    fixed: item.fixed.clone().or(fixed),
                    ..item
                });
                keys.push((index, key));
            }
        }
        self.items = keys;
        Model {
            lanes: self.lanes.clone(),
            items,
        }
    }

    /// Makes the items of the kinds in a bundle.
    fn kinds(&self, bundle: &Bundle, blank: &dyn Fn() -> Item) -> Vec<(Key, Item)> {
        let seen = self.bundle_files(bundle);
        let item = |(kind, written): (&Kind, BTreeSet<&str>)| {
            let resource = self.resource(kind)?;
            let known = known_versions(resource);
            let at: BTreeSet<usize> = (0..known.len()).filter(|at| written.contains(known[*at])).collect();
            let never = seen.iter().find_map(|seen| seen.never.get(kind)).cloned();
            let accepting = |version: &&str| self.accepted.accepting(resource, version);
            let forms = known.iter().map(accepting).collect();
            let has = |cluster: &usize| {
                let of = &self.situation.clusters[*cluster];
                of.installed.is_none() || of.components.contains(&resource.component)
            };
            let item = Item {
                reached: bundle.reached.iter().copied().filter(has).collect(),
                forms,
                at,
                fixed: never,
                ..blank()
            };
            (!item.at.is_empty()).then(|| (Key::Kind(kind.clone()), item))
        };
        self.versions(bundle).into_iter().filter_map(item).collect()
    }

    /// Lists the versions of each kind in a bundle.
    pub(super) fn versions(&self, bundle: &Bundle) -> BTreeMap<&Kind, BTreeSet<&str>> {
        let mut versions: BTreeMap<&Kind, BTreeSet<&str>> = BTreeMap::new();
        let seen = self.bundle_files(bundle);
        for (kind, written) in seen.into_iter().flat_map(|seen| &seen.versions) {
            let all = versions.entry(kind).or_default();
            all.extend(written.iter().map(String::as_str));
        }
        versions
    }

    fn bundle_files(&self, bundle: &Bundle) -> Vec<&Seen> {
        bundle.files().filter_map(|file| self.seen.get(&file)).collect()
    }

    /// Makes the items of the rules about fields that a bundle breaks at some release on the way.
    fn rules(&self, bundle: &Bundle, blank: &dyn Fn() -> Item) -> Vec<(Key, Item)> {
        let ruled = self.ruled(bundle);
        let found: BTreeSet<String> = ruled.into_iter().filter_map(|(_, used)| used.rule).collect();
        let rules = self.situation.known.catalog().rules();
        let item = |id: String| {
            let rule = rules.rule(&id)?;
            rule.window.by.as_ref()?;
            let of = |accepts: &dyn Fn(&Version) -> bool| {
                self.accepted
                    .releases()
                    .iter()
                    .filter(|at| accepts(at))
                    .cloned()
                    .collect()
            };
            let item = Item {
                forms: vec![
                    of(&|release| !rule.window.is_due(release)),
                    // What the rule wrote stays right when the rule itself does not run any more.
                    of(&|release| rule.window.from.as_ref().is_none_or(|from| from <= release)),
                ],
                at: BTreeSet::from([0]),
                ..blank()
            };
            Some((Key::Rule(id), item))
        };
        found.into_iter().filter_map(item).collect()
    }

    /// Lists what rules find in a bundle now, converted or left for a person.
    fn ruled(&self, bundle: &Bundle) -> Vec<(File, Use)> {
        let releases = self.leading(self.installed(bundle), bundle);
        let mut ruled = Vec::new();
        for file in bundle.files() {
            let Some(bytes) = self.bytes(&file) else { continue };
            let reading = self.readings.read(&file, bytes, (&releases, &self.accepted));
            let by_rule = reading.uses.iter().filter(|used| used.rule.is_some());
            ruled.extend(by_rule.map(|used| (file.clone(), used.clone())));
        }
        ruled
    }

    /// Gives what is known of a kind.
    pub(super) fn resource(&self, kind: &Kind) -> Option<&Resource> {
        self.accepted.resource(kind)
    }

    /// Lists the releases that the clusters of a bundle have, as far as they can be told.
    fn installed<'s>(&'s self, bundle: &'s Bundle) -> impl Iterator<Item = &'s Version> {
        bundle.reached.iter().filter_map(|lane| self.release(*lane))
    }

    /// Lists the releases that must accept what a step writes into a bundle.
    fn releases_for<'s>(&'s self, bundle: &'s Bundle, step: &Step) -> Vec<&'s Version> {
        let now = |skipped: Option<usize>| {
            let lanes = bundle.reached.iter().filter(move |lane| Some(**lane) != skipped);
            lanes.filter_map(|lane| self.release(*lane))
        };
        match step {
            Step::Convert { .. } => now(None).collect(),
            Step::Upgrade { lane, .. } => {
                let skipped = gates::in_one_go(self, bundle).contains(lane).then_some(*lane);
                now(skipped).chain(self.lanes[*lane].hops.first()).collect()
            }
        }
    }

    /// Gives releases that must accept what is written, with those that the clusters of a bundle go to.
    fn leading<'s>(&'s self, releases: impl IntoIterator<Item = &'s Version>, bundle: &Bundle) -> Releases {
        let later = bundle.reached.iter().flat_map(|lane| &self.lanes[*lane].hops);
        (releases.into_iter().cloned().collect(), later.cloned().collect())
    }

    fn bytes(&self, file: &File) -> Option<&Arc<[u8]>> {
        self.trees[file.repository].bytes(&file.path)
    }

    /// Lists what an item of the last model writes, by file.
    pub(super) fn written(&self, item: usize) -> Vec<Written> {
        let Some((bundle, key)) = self.items.get(item) else {
            return Vec::new();
        };
        let bundle = &self.bundles[*bundle];
        let kind = match key {
            Key::Kind(kind) => kind,
            Key::Rule(rule) => return self.written_as(bundle, rule),
        };
        let written = |file: File| {
            let versions = self.seen.get(&file)?.versions.get(kind)?.iter().cloned().collect();
            Some(Written {
                file,
                kind: kind.clone(),
                versions,
            })
        };
        bundle.files().filter_map(written).collect()
    }

    /// Lists the fields that a rule is about.
    fn written_as(&self, bundle: &Bundle, rule: &str) -> Vec<Written> {
        let mut fields: BTreeMap<(File, Kind), BTreeSet<String>> = BTreeMap::new();
        for (file, used) in self.ruled(bundle) {
            if used.rule.as_deref() == Some(rule)
                && let What::Field { name, .. } | What::Version(name) = used.what
            {
                fields.entry((file, (used.group, used.kind))).or_default().insert(name);
            }
        }
        let written = |((file, kind), names): (_, BTreeSet<String>)| Written {
            file,
            kind,
            versions: names.into_iter().collect(),
        };
        fields.into_iter().map(written).collect()
    }
}

/// Gives the way of a cluster as far as something is known of its releases.
fn lane(cluster: &Cluster, accepted: &Accepted<'_>) -> Lane {
    let hops = cluster.hops.iter().map(|hop| &hop.to);
    let from = cluster
        .installed
        .as_ref()
        .is_some_and(|installed| accepted.knows(installed));
    let known = hops.take_while(|to| from && accepted.knows(to));
    Lane {
        repository: cluster.repository,
        at: cluster.installed.clone(),
        hops: known.cloned().collect(),
    }
}

/// Tells whether the kustomize-controller of a release applies definitions before the rest.
pub(super) fn is_staged(release: &Version) -> bool {
    let [major, minor, patch] = STAGED;
    *release >= Version::new(major, minor, patch)
}

/// Lists all versions that a kind ever had, the oldest first.
fn known_versions(resource: &Resource) -> Vec<&str> {
    let all: BTreeSet<&str> = resource
        .changes
        .iter()
        .flat_map(|change| &change.served)
        .map(String::as_str)
        .collect();
    let mut all: Vec<&str> = all.into_iter().collect();
    all.sort_by(|a, b| compare_versions(a, b).unwrap_or_else(|| a.cmp(b)));
    all
}
