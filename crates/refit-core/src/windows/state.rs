//! Where all clusters and files are after the requests so far.
//!
//! In: a situation, and the steps that are taken. Out: the model of what is left, and the request that a step makes. Edits
//! are made for real: what the next step is decided on is read from the edited files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::convert::compare_versions;
use refit_manifest::{Entry, Stream, Tree};

use super::bundles::{self, Bundle};
use super::made::Made;
use super::order::{Item, Lane, Model, Step};
use super::seen::{self, Kind, Seen};
use super::{Request, Situation, Stage, gates};
use crate::applied::File;
use crate::catalog::Resource;
use crate::conversion::{self, Convertible, Reading, Use, Wanted};
use crate::places::{Interest, Sort};
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
    /// The files that hold parts of objects.
    patches: BTreeSet<File>,
    seen: BTreeMap<File, Seen>,
    bundles: Vec<Bundle>,
    lanes: Vec<Lane>,
    releases: BTreeSet<Version>,
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
        let patches = seen::patches(situation);
        let mut seen = BTreeMap::new();
        for file in situation.clusters.iter().flat_map(|cluster| &cluster.reached.files) {
            let bytes = trees.get(file.repository).and_then(|tree| tree.bytes(&file.path));
            if let Some(bytes) = bytes.filter(|_| !seen.contains_key(file)) {
                let sort = seen::sort(&patches, file);
                seen.insert(file.clone(), Seen::look((&file.path, sort), bytes, &interest));
            }
        }
        seen.retain(|_, seen| !seen.versions.is_empty());
        let lane = |cluster: &super::Cluster| Lane {
            repository: cluster.repository,
            at: cluster.installed.clone(),
            hops: cluster.hops.iter().map(|hop| hop.to.clone()).collect(),
            staged: is_staged(&cluster.installed),
        };
        let lanes: Vec<Lane> = situation.clusters.iter().map(lane).collect();
        let releases = lanes
            .iter()
            .flat_map(|lane| lane.hops.iter().chain([&lane.at]))
            .cloned()
            .collect();
        Self {
            situation,
            interest,
            trees,
            patches,
            bundles: bundles::make(situation, &seen),
            seen,
            lanes,
            releases,
            items: Vec::new(),
            fixed: BTreeMap::new(),
        }
    }

    pub(super) fn situation(&self) -> &'a Situation<'a> {
        self.situation
    }

    /// Gives the installed release of a cluster.
    pub(super) fn release(&self, cluster: usize) -> &Version {
        &self.lanes[cluster].at
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
        self.bundles.iter().find(|bundle| bundle.holds(file))
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
            for (key, item) in self.kinds(bundle).into_iter().chain(self.rules(bundle)) {
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
    fn kinds(&self, bundle: &Bundle) -> Vec<(Key, Item)> {
        let seen = self.bundle_files(bundle);
        let together = gates::in_one_go(self, bundle);
        let item = |(kind, written): (&Kind, BTreeSet<&str>)| {
            let resource = self.resource(kind)?;
            let known = known_versions(resource);
            let at: BTreeSet<usize> = (0..known.len()).filter(|at| written.contains(known[*at])).collect();
            let never = seen.iter().find_map(|seen| seen.never.get(kind)).cloned();
            let forms = known.iter().map(|version| self.accepting(resource, version)).collect();
            let has = |cluster: &usize| {
                self.situation.clusters[*cluster]
                    .components
                    .contains(&resource.component)
            };
            let item = Item {
                reached: bundle.reached.iter().copied().filter(has).collect(),
                together: together.clone(),
                forms,
                at,
                fixed: never,
                ..bundle.item()
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
    fn rules(&self, bundle: &Bundle) -> Vec<(Key, Item)> {
        let wanted = self.wanted(bundle.reached.iter().map(|lane| &self.lanes[*lane].at), bundle);
        let mut found = BTreeSet::new();
        for file in bundle.files() {
            let uses = self
                .read(&file, &wanted)
                .map(|reading| reading.uses)
                .unwrap_or_default();
            let sure = uses.into_iter().filter(|used| used.convertible == Convertible::Yes);
            found.extend(sure.filter_map(|used| used.rule));
        }
        let rules = self.situation.known.catalog().rules();
        let item = |id: String| {
            let rule = rules.iter().find(|rule| rule.rule.id == id)?;
            rule.window.by.as_ref()?;
            let of =
                |accepts: &dyn Fn(&Version) -> bool| self.releases.iter().filter(|at| accepts(at)).cloned().collect();
            let item = Item {
                forms: vec![
                    of(&|release| !rule.window.is_due(release)),
                    of(&|release| rule.window.is_open(release)),
                ],
                at: BTreeSet::from([0]),
                reached: bundle.reached.clone(),
                ..bundle.item()
            };
            Some((Key::Rule(id), item))
        };
        found.into_iter().filter_map(item).collect()
    }

    /// Gives what the catalog knows of a kind.
    pub(super) fn resource(&self, kind: &Kind) -> Option<&'a Resource> {
        let resources = self.situation.known.catalog().resources();
        resources
            .iter()
            .find(|resource| resource.group() == kind.0 && resource.kind == kind.1)
    }

    /// Lists the releases that accept a version; one without the kind refuses nothing that could be written otherwise.
    fn accepting(&self, resource: &Resource, version: &str) -> BTreeSet<Version> {
        let accepts = |release: &&Version| {
            let versions = self.situation.known.versions(&resource.crd, release);
            versions.is_none_or(|versions| versions.served.iter().any(|served| served == version))
        };
        self.releases.iter().filter(accepts).cloned().collect()
    }

    /// Takes a step; `None` where it turns out that what the step is for is not converted.
    pub(super) fn take(&mut self, model: &Model, step: &Step) -> Option<Request> {
        let (forms, lane) = match step {
            Step::Convert { forms, lane, .. } | Step::Upgrade { lane, forms } => (forms, *lane),
        };
        let bundles: BTreeSet<usize> = forms.keys().map(|item| self.items[*item].0).collect();
        let mut made = Made::default();
        for bundle in bundles {
            let bundle = &self.bundles[bundle];
            let wanted = self.wanted(self.releases_for(bundle, step), bundle);
            for file in bundle.files() {
                if let (Some(reading), Some(before)) = (self.read(&file, &wanted), self.bytes(&file)) {
                    made.take(file, before, reading);
                }
            }
        }
        let looked: BTreeMap<&File, Seen> = made
            .edits
            .iter()
            .map(|(file, bytes)| {
                let sort = seen::sort(&self.patches, file);
                (file, Seen::look((&file.path, sort), bytes, &self.interest))
            })
            .collect();
        let forced = matches!(step, Step::Convert { .. });
        let failed: Vec<(usize, Key)> = forms
            .keys()
            .filter(|item| forced && model.is_forced(lane, **item))
            .map(|item| self.items[*item].clone())
            .filter(|(bundle, key)| self.is_left(*bundle, key, &looked, lane))
            .collect();
        if !failed.is_empty() {
            for (bundle, key) in failed {
                let reason = made.reason(|used| key.is_of(used));
                self.fixed.insert((bundle, key), reason);
            }
            return None;
        }
        let looked: Vec<(File, Seen)> = looked.into_iter().map(|(file, seen)| (file.clone(), seen)).collect();
        self.seen.extend(looked);
        Some(self.request(step, lane, made))
    }

    fn request(&mut self, step: &Step, lane: usize, made: Made) -> Request {
        let cluster = &self.situation.clusters[lane];
        let from = self.lanes[lane].at.clone();
        let to = self.next_release(lane).unwrap_or(&from).clone();
        for (file, bytes) in &made.edits {
            let executable = matches!(
                self.trees[file.repository].get(&file.path),
                Some(Entry::File { executable: true, .. })
            );
            let bytes = Arc::clone(bytes);
            self.trees[file.repository].insert(file.path.clone(), Entry::File { bytes, executable });
        }
        let mut gate = gates::managed(self, &made.changes, step);
        let (repository, stage) = match step {
            Step::Convert { repository, .. } => (
                *repository,
                Stage::Convert {
                    cluster: lane,
                    from,
                    to,
                },
            ),
            Step::Upgrade { .. } => {
                let done = cluster.hops.len() - self.lanes[lane].hops.len();
                gate.extend(cluster.hops.get(done).iter().flat_map(|hop| hop.gate.iter().cloned()));
                let of = &mut self.lanes[lane];
                of.hops.remove(0);
                of.at = to.clone();
                of.staged = is_staged(&of.at);
                (
                    cluster.repository,
                    Stage::Upgrade {
                        cluster: lane,
                        from,
                        to,
                    },
                )
            }
        };
        Request {
            repository,
            stage,
            edits: made.edits,
            changes: made.changes.into_iter().map(|(_, used)| used).collect(),
            needs: Vec::new(),
            gate: gate.into_iter().collect(),
        }
    }

    /// Lists the releases that must accept what a step writes into a bundle.
    fn releases_for<'s>(&'s self, bundle: &'s Bundle, step: &Step) -> Vec<&'s Version> {
        let now = |skipped: Option<usize>| {
            let lanes = bundle.reached.iter().filter(move |lane| Some(**lane) != skipped);
            lanes.map(|lane| &self.lanes[*lane].at)
        };
        match step {
            Step::Convert { .. } => now(None).collect(),
            Step::Upgrade { lane, .. } => {
                let of = &self.lanes[*lane];
                let skipped = (of.staged && gates::in_one_go(self, bundle).contains(lane)).then_some(*lane);
                now(skipped).chain(of.hops.first()).collect()
            }
        }
    }

    /// Gives what is written where some releases must accept it, on the way to those that the clusters of a bundle go to.
    fn wanted<'s>(&'s self, releases: impl IntoIterator<Item = &'s Version>, bundle: &Bundle) -> Wanted {
        let releases: BTreeSet<Version> = releases.into_iter().cloned().collect();
        let later = bundle.reached.iter().flat_map(|lane| &self.lanes[*lane].hops);
        let later: BTreeSet<Version> = later.cloned().collect();
        let list = |set: BTreeSet<Version>| set.into_iter().collect::<Vec<_>>();
        let catalog = self.situation.known.catalog();
        Wanted::leading_to(catalog, &list(releases), &list(later))
    }

    fn bytes(&self, file: &File) -> Option<&Arc<[u8]>> {
        self.trees[file.repository].bytes(&file.path)
    }

    fn read(&self, file: &File, wanted: &Wanted) -> Option<Reading> {
        let bytes = self.bytes(file)?;
        if !self.patches.contains(file) || !wanted.may_concern(&file.path, bytes) {
            return Some(conversion::convert(&file.path, bytes, wanted));
        }
        let stream = Stream::split(Arc::clone(bytes)).ok()?;
        Some(conversion::read_as(Sort::Patch, &file.path, &stream, wanted))
    }

    /// Tells whether the next hop of a lane refuses a kind in a bundle although the files were converted.
    fn is_left(&self, bundle: usize, key: &Key, looked: &BTreeMap<&File, Seen>, lane: usize) -> bool {
        let (Key::Kind(kind), Some(to)) = (key, self.next_release(lane)) else {
            return false;
        };
        let Some(resource) = self.resource(kind) else {
            return false;
        };
        let now = |file: &File| looked.get(file).or_else(|| self.seen.get(file));
        let files: Vec<File> = self.bundles[bundle].files().collect();
        let written = files.iter().filter_map(|file| now(file)?.versions.get(kind)).flatten();
        written
            .into_iter()
            .any(|version| !self.accepting(resource, version).contains(to))
    }

    /// Lists what an item of the last model writes, by file.
    pub(super) fn written(&self, item: usize) -> Vec<Written> {
        let Some((bundle, Key::Kind(kind))) = self.items.get(item) else {
            return Vec::new();
        };
        let written = |file: File| {
            let versions = self.seen.get(&file)?.versions.get(kind)?.iter().cloned().collect();
            Some(Written {
                file,
                kind: kind.clone(),
                versions,
            })
        };
        self.bundles[*bundle].files().filter_map(written).collect()
    }

    /// Tells why an item of the last model is not converted.
    pub(super) fn reason(&self, item: usize) -> String {
        let never = |(bundle, key): &(usize, Key)| {
            let Key::Kind(kind) = key else { return None };
            let mut files = self.bundles[*bundle].files();
            files.find_map(|file| self.seen.get(&file)?.never.get(kind).cloned())
        };
        let known = self
            .items
            .get(item)
            .and_then(|key| self.fixed.get(key).cloned().or_else(|| never(key)));
        known.unwrap_or_else(|| "no other version is accepted before and after the upgrade".to_owned())
    }
}

impl Bundle {
    /// Gives an item with nothing in it.
    fn item(&self) -> Item {
        Item {
            repository: self.repository,
            files: self.files.clone(),
            forms: Vec::new(),
            at: BTreeSet::new(),
            reached: BTreeSet::new(),
            together: self.together.clone(),
            fixed: None,
        }
    }

    fn holds(&self, file: &File) -> bool {
        self.repository == file.repository && self.files.contains(&file.path)
    }
}

/// Tells whether the kustomize-controller of a release applies definitions before the rest.
fn is_staged(release: &Version) -> bool {
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
