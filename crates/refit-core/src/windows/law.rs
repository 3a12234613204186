//! The law that no request may break: after each, every object is accepted by what its clusters have installed.
//!
//! In: the situation, and the state after each request. Out: [`Refused`] objects. Knows neither windows nor bundles, and
//! builds what is applied by itself, so that it does not share a mistake of what made the order.

use std::collections::{BTreeMap, BTreeSet};

use super::built::{Directory, Object, resource};
use super::state::{State, is_staged};
use super::{Request, Situation, Stage};
use crate::applied::{Applied, File};
use crate::conversion::{self, Use};
use crate::finding::{Code, Finding};
use crate::places::Sort;
use crate::release::Version;
use crate::structural::{Kind, Violation};

/// An object that a request would leave in a form which is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Refused {
    /// The file.
    pub file: File,
    /// The object.
    pub object: String,
    /// What is not accepted.
    pub what: What,
    /// The index of the cluster.
    pub cluster: usize,
    /// The release that refuses it; `None` where it cannot be told.
    pub release: Option<Version>,
}

/// What of an object is not accepted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum What {
    /// Its version, which is not served.
    Version(String),
    /// A field, and why.
    Field(String, String),
    /// What it is applied with, which `kustomize build` refuses for this reason.
    Build(String),
}

impl Refused {
    pub(super) fn finding(&self, situation: &Situation<'_>) -> Finding {
        let cluster = situation.clusters[self.cluster].names.join(", ");
        let what = match &self.what {
            What::Version(version) => format!("in `{version}`"),
            What::Field(field, why) => format!("with `{field}`, which {why},"),
            What::Build(why) => {
                let message = format!("`{}` could not be built any more for `{cluster}`: {why}", self.object);
                return Finding::new(Code::OrderUnsafe, self.file.path.as_str(), message);
            }
        };
        let object = &self.object;
        let message = match &self.release {
            Some(release) => format!("`{object}` {what} would not be accepted by {release} on `{cluster}`"),
            None => format!(
                "`{object}` {what} may not be accepted on `{cluster}`, whose release cannot be told, and it is written \
                 otherwise now"
            ),
        };
        Finding::new(Code::OrderUnsafe, self.file.path.as_str(), message)
    }

    /// Gives what tells it from others of its cluster, whichever release refuses it.
    fn key(&self) -> Key {
        (self.cluster, self.file.clone(), self.object.clone(), self.what.clone())
    }
}

/// A cluster, and what it would refuse.
type Key = (usize, File, String, What);

/// What was refused before the first request.
pub(super) struct Law<'a> {
    situation: &'a Situation<'a>,
    before: BTreeSet<Key>,
    /// What is built of each directory.
    built: BTreeMap<(usize, String), Directory>,
    /// What clusters apply from the start of which the release cannot be told: objects with their versions.
    untold: BTreeMap<File, BTreeSet<(String, String)>>,
}

impl<'a> Law<'a> {
    pub(super) fn new(situation: &'a Situation<'a>, state: &State<'_>) -> Self {
        let mut law = Self {
            situation,
            before: BTreeSet::new(),
            built: BTreeMap::new(),
            untold: BTreeMap::new(),
        };
        law.build(state, &BTreeSet::new());
        for cluster in (0..situation.clusters.len()).filter(|cluster| situation.clusters[*cluster].installed.is_none())
        {
            let objects: Vec<(File, (String, String))> = law.objects(cluster).map(Object::written).collect();
            for (file, written) in objects {
                law.untold.entry(file).or_default().insert(written);
            }
        }
        let now = |cluster: usize| law.refused(cluster, state.release(cluster), &BTreeSet::new());
        let refused = (0..situation.clusters.len()).flat_map(now);
        law.before = refused.map(|refused| refused.key()).collect();
        law
    }

    /// Lists what is refused after a request and was not refused from the start. While an upgrade is on its way, what does
    /// not come in one go with the definitions must be accepted by both releases.
    pub(super) fn after(&mut self, request: &Request, state: &State<'_>) -> Vec<Refused> {
        self.build(state, &request.edits.keys().collect());
        let mut refused = BTreeSet::new();
        for cluster in 0..self.situation.clusters.len() {
            refused.extend(self.refused(cluster, state.release(cluster), &BTreeSet::new()));
        }
        if let Stage::Upgrade { cluster, from, to } = &request.stage {
            let brought = self.brought(*cluster, (from, to), request);
            refused.extend(self.refused(*cluster, Some(from), &brought));
        }
        refused.retain(|refused| !self.was_refused(refused));
        refused.into_iter().collect()
    }

    /// Tells whether an object was refused from the start for the same reason, or for its version: its fields were not
    /// judged then.
    fn was_refused(&self, refused: &Refused) -> bool {
        let for_version = |(cluster, file, object, what): &Key| {
            matches!(what, What::Version(_))
                && (*cluster, file, object) == (refused.cluster, &refused.file, &refused.object)
        };
        let is_field = matches!(refused.what, What::Field(..));
        self.before.contains(&refused.key()) || (is_field && self.before.iter().any(for_version))
    }

    /// Lists the files that a request changes and that come in one go with its definitions: the kustomize-controller of the
    /// release before applies these first, and the objects can be applied before anything is migrated.
    fn brought(&self, cluster: usize, (from, to): (&Version, &Version), request: &Request) -> BTreeSet<File> {
        let together = &self.situation.clusters[cluster].reached.together;
        if !is_staged(from) {
            return BTreeSet::new();
        }
        let keeps = |used: &Use| match &used.what {
            conversion::What::Version(version) => {
                let resource = resource(self.situation, (&used.group, &used.kind));
                resource.is_none_or(|resource| self.situation.schemas.holds_all(to, &resource.crd, version))
            }
            conversion::What::Field { .. } => true,
        };
        let is_object = |used: &&Use| matches!(used.sort, Sort::Object | Sort::Item);
        let of = |file: &File| {
            request
                .changes
                .iter()
                .filter(|used| used.path == file.path)
                .collect::<Vec<_>>()
        };
        let brought = request.edits.keys().filter(|file| together.contains(file));
        let brought = brought.filter(|file| of(file).into_iter().filter(is_object).all(keeps));
        brought.cloned().collect()
    }

    /// Lists what a release refuses of what a cluster applies, but for some files; where it cannot be told, whatever is
    /// written otherwise than from the start.
    fn refused(&self, cluster: usize, release: Option<&Version>, except: &BTreeSet<File>) -> Vec<Refused> {
        let applied = &self.situation.clusters[cluster].reached.applied;
        let fails = applied
            .iter()
            .filter_map(|applied| self.built.get(&key(applied))?.fails.clone());
        let mut refused: Vec<Refused> = fails
            .map(|(file, object, why)| Refused {
                file,
                object,
                what: What::Build(why),
                cluster,
                release: release.cloned(),
            })
            .collect();
        for object in self.objects(cluster).filter(|object| object.shaped.is_disjoint(except)) {
            let what = match release {
                Some(release) => self.what(cluster, object, release),
                None => self.changed(object),
            };
            refused.extend(what.into_iter().map(|what| Refused {
                file: object.file.clone(),
                object: object.name.clone(),
                what,
                cluster,
                release: release.cloned(),
            }));
        }
        refused
    }

    /// Lists what a cluster applies.
    fn objects(&self, cluster: usize) -> impl Iterator<Item = &Object> {
        let applied = self.situation.clusters[cluster].reached.applied.iter();
        applied
            .filter_map(|applied| self.built.get(&key(applied)))
            .flat_map(|directory| &directory.objects)
    }

    fn changed(&self, object: &Object) -> Vec<What> {
        let (file, written) = object.written();
        let is_known = self.untold.get(&file).is_some_and(|known| known.contains(&written));
        let version = (!is_known).then_some(What::Version(written.1));
        version.into_iter().collect()
    }

    fn what(&self, cluster: usize, object: &Object, release: &Version) -> Vec<What> {
        let Some(versions) = self.situation.known.versions(&object.crd, release) else {
            return Vec::new();
        };
        let components = &self.situation.clusters[cluster].components;
        if versions
            .component
            .is_some_and(|component| !components.contains(&component))
        {
            return Vec::new();
        }
        if !versions.served.contains(&object.version) {
            return vec![What::Version(object.version.clone())];
        }
        let Some(schema) = self.situation.schemas.get(release, &object.crd, &object.version) else {
            return Vec::new();
        };
        let Some(value) = &object.value else {
            return vec![What::Field(
                "spec".to_owned(),
                "has more values than are looked at".to_owned(),
            )];
        };
        let violations = schema.check(value).violations;
        let field = |of: Violation| What::Field(of.field, broken(of.kind).to_owned());
        violations.into_iter().map(field).collect()
    }

    /// Builds the directories that are not built yet, and those that some files shape.
    fn build(&mut self, state: &State<'_>, edited: &BTreeSet<&File>) {
        for applied in self
            .situation
            .clusters
            .iter()
            .flat_map(|cluster| &cluster.reached.applied)
        {
            let known = self.built.get(&key(applied));
            if known.is_none_or(|known| known.files.iter().any(|file| edited.contains(file))) {
                let directory = Directory::build(self.situation, state.tree(applied.repository), applied);
                self.built.insert(key(applied), directory);
            }
        }
    }
}

fn key(applied: &Applied) -> (usize, String) {
    (applied.repository, applied.directory.clone())
}

/// Says what is broken, without the values of the object.
fn broken(kind: Kind) -> &'static str {
    match kind {
        Kind::UnknownField => "its version does not have",
        Kind::Type => "is of another type",
        Kind::Required => "must be there",
        Kind::Enum => "is none of the values that are allowed",
        Kind::Pattern => "does not match its pattern",
        Kind::Format => "is not of its format",
        Kind::Bound => "is out of its bounds",
        Kind::Combination => "does not fit with its other fields",
        Kind::Duplicate => "lists one item twice",
    }
}
