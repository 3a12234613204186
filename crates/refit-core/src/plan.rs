//! The plan of one hop on one cluster, or on clusters that share their files: merged files, decisions, and the request that brings them.
//!
//! In: [`Given`]: the cluster, what the generator wrote before and after, answers. Out: a [`Plan`], complete enough that
//! nothing is left to choose while it is carried out. Knows neither Git nor forge.

mod bases;
mod changes;
mod patches;
mod pruned;
mod recorded;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::merge::{ImageRef, Merged, Settings, merge};
use refit_manifest::{Answers, Class, Decision, Entry, Identity, Outcome, Path, Stream, Tree};

use crate::catalog::Catalog;
use crate::digest;
use crate::edits;
use crate::finding::{self, Acceptance, Code, Finding};
use crate::generated::Generated;
use crate::inventory::{Cluster, Group};
use crate::options::Options;
use crate::pruning::Moving;
use crate::record::Record;
use crate::release::{Platform, Version};
use crate::report::{ChangeLine, DecisionLine, FileChange};
use crate::snapshot::Snapshot;
use crate::stage::{Conversion, Place};

pub use changes::{line, line_of_answer};
pub use texts::{BRANCHES, TRAILER};

/// What one generated file was and would be.
#[derive(Clone, Debug)]
pub struct Sides {
    /// The path.
    pub path: Path,
    /// What the generator wrote for the installed release.
    pub base: Arc<[u8]>,
    /// Where that was had from, in words.
    pub origin: String,
    /// What the generator writes for the target.
    pub theirs: Arc<[u8]>,
}

/// What a plan is made from.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// The repository.
    pub snapshot: &'a Snapshot,
    /// The clusters: one, or several that share generated files.
    pub group: &'a Group<'a>,
    /// What is known about releases.
    pub catalog: &'a Catalog,
    /// The installed release.
    pub from: &'a Version,
    /// The target.
    pub to: &'a Version,
    /// The options of both sides.
    pub options: &'a Options,
    /// The generated files.
    pub sides: &'a [Sides],
    /// The answers of people.
    pub answers: &'a Answers,
    /// What was accepted.
    pub accepted: &'a [Acceptance],
    /// What was found before.
    pub findings: &'a [Finding],
    /// The record of the upgrade that is rolled back; `None` for an upgrade.
    pub undone: Option<&'a Record>,
    /// Where the request stands in the route of its upgrade.
    pub place: &'a Place,
    /// What the request does to files that the generator did not write.
    pub edits: &'a Edits,
}

/// What a request does to files that the generator did not write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edits {
    /// The new content of each file.
    pub files: BTreeMap<Path, Arc<[u8]>>,
    /// The files that go.
    pub removes: Vec<Path>,
    /// What changes, by file.
    pub conversions: Vec<Conversion>,
    /// What a person should look at, one line each.
    pub reviews: Vec<String>,
}

/// What happens to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// It can be opened and merged.
    Ready,
    /// It opens as a draft, since decisions are open.
    Draft,
    /// It does not open before the decisions of the classes image and contract are taken.
    Held,
}

/// A plan.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The upgrade's id.
    pub upgrade: String,
    /// The platform.
    pub platform: Platform,
    /// The cluster; of several that share generated files the first.
    pub cluster: String,
    /// The others that share its generated files and are upgraded with it.
    pub with: Vec<String>,
    /// The installed release.
    pub from: Version,
    /// The target.
    pub to: Version,
    /// The branch of the request.
    pub branch: String,
    /// The files that the commit writes: path, bytes, whether they may be run.
    pub writes: Vec<Write>,
    /// The files that it removes.
    pub removes: Vec<Path>,
    /// The message of the commit.
    pub message: String,
    /// The title of the request.
    pub title: String,
    /// The text of the request, without the machine block.
    pub body: String,
    /// What happens to the request.
    pub opening: Opening,
    /// Every decision that is open, noted, answered or blocked.
    pub decisions: Vec<DecisionLine>,
    /// The files in a few words.
    pub files: Vec<FileChange>,
    /// Everything found.
    pub findings: Vec<Finding>,
    /// The request that is rolled back, where it is a rollback, as `Record::key` gives it.
    pub undone: Option<String>,
    /// Where the request stands in the route of its upgrade.
    pub place: Place,
    /// The objects that a merge would move to another Kustomization of Flux.
    pub moves: Vec<Moving>,
}

/// One file that is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// The path.
    pub path: Path,
    /// The content.
    pub bytes: Arc<[u8]>,
    /// Whether it may be run.
    pub executable: bool,
}

impl Plan {
    /// Gives the release that the upgrade leads to in the end.
    pub fn target(&self) -> &Version {
        &self.place.target
    }

    /// Tells whether the request must not be merged yet.
    pub fn is_draft(&self) -> bool {
        self.opening != Opening::Ready || !self.place.gate.is_empty()
    }

    /// Gives the title of the request, with what must be true before its merge.
    pub fn headline(&self) -> String {
        match self.place.before() {
            Some(before) => format!("{before}: {}", self.title),
            None => self.title.clone(),
        }
    }

    /// Lists the open decisions.
    pub fn open(&self) -> impl Iterator<Item = &DecisionLine> {
        self.decisions.iter().filter(|decision| decision.open)
    }

    /// Lists all clusters.
    pub fn clusters(&self) -> Vec<String> {
        std::iter::once(&self.cluster).chain(&self.with).cloned().collect()
    }

    /// Tells whether a finding blocks it.
    pub fn is_blocked(&self) -> bool {
        self.findings.iter().any(Finding::blocks)
    }
}

/// Gives the id of an upgrade: the same plane, directories of clusters and target give the same id, whatever the clusters
/// are called.
pub fn upgrade_id(branch: &str, group: &Group<'_>, target: &str) -> String {
    digest::short(&[branch, &group.directories(), &group.words(), target])
}

/// Gives the id that the upgrade of a record would have for a group.
pub fn recorded_id(branch: &str, group: &Group<'_>, record: &Record) -> String {
    let target = match &record.rolled_back {
        Some(undone) => rollback_target(undone),
        None => format!("{}@{}", record.platform, record.target()),
    };
    upgrade_id(branch, group, &target)
}

/// Counts the requests of an upgrade that the target branch has, by the records of its clusters.
pub fn done(group: &Group<'_>, upgrade: &str) -> usize {
    let own = group
        .records()
        .filter(|record| record.upgrade == upgrade && record.rolled_back.is_none());
    own.map(|record| record.index).max().unwrap_or_default()
}

/// Makes the plan.
pub fn make(given: &Given<'_>) -> Result<Plan, serde_json::Error> {
    let ours = ours(given);
    let mut merged = merged(given, &ours);
    let upgrade = upgrade_id(&given.snapshot.branch, given.group, &target(given));
    let mut writes = changes::writes(&ours, &merged.tree);
    changes::put(&mut writes, changes::edited(&given.snapshot.tree, given.edits));
    let mut patches = patches::verify(given, &writes);
    changes::replace(&mut writes, std::mem::take(&mut patches.writes));
    patches.removes.extend(given.edits.removes.iter().cloned());
    merged.decisions.append(&mut patches.decisions);
    writes.extend(records(given, &upgrade, &merged.decisions)?);
    let mut findings = given.findings.to_vec();
    findings.extend(merged.decisions.iter().filter_map(blocked));
    findings.append(&mut patches.findings);
    let mut pruned = pruned::look(given, &writes, &patches.removes);
    findings.append(&mut pruned.findings);
    let place = pruned.place(given.place);
    let given = &Given {
        place: &place,
        ..*given
    };
    finding::accept(&mut findings, given.accepted);
    let filtered = filtered(given.snapshot, &writes);
    findings.extend(filtered.into_iter().filter(|finding| !is_said(given.findings, finding)));
    let decisions = changes::lines(&merged.decisions);
    let files = changes::files(&given.snapshot.tree, &writes, &patches.removes);
    let texts = texts::write(&texts::Parts {
        given,
        upgrade: &upgrade,
        ours: &ours,
        merged: &merged,
        decisions: &decisions,
        files: &files,
        findings: &findings,
        kept: &kept(given, &decisions),
        patches: &patches.lines,
    });
    Ok(Plan {
        platform: given.catalog.platform().clone(),
        cluster: given.group.first().root.name.clone(),
        with: given.group.beside(&given.group.first().root.name),
        from: given.from.clone(),
        to: given.to.clone(),
        branch: texts::branch(given, &upgrade),
        upgrade,
        writes,
        removes: patches.removes,
        message: texts.message,
        title: texts.title,
        body: texts.body,
        opening: opening(&merged.decisions),
        decisions,
        files,
        findings,
        undone: given.undone.map(Record::key),
        place: given.place.clone(),
        moves: pruned.moves,
    })
}

/// Gives the records of the clusters.
fn records(given: &Given<'_>, upgrade: &str, decisions: &[Decision]) -> Result<Vec<Write>, serde_json::Error> {
    let write = |cluster: &Cluster| -> Result<Write, serde_json::Error> {
        Ok(Write {
            path: Record::path(&cluster.root.name),
            bytes: recorded::record(given, cluster, upgrade, decisions).write()?.into(),
            executable: false,
        })
    };
    given.group.clusters().map(write).collect()
}

/// Tells whether people should know of a decision: it is not clean, or somebody answered it.
fn is_told(decision: &Decision) -> bool {
    decision.outcome != Outcome::Clean || decision.answer.is_some()
}

/// Tells whether a decision waits for a person.
pub fn is_open(decision: &Decision) -> bool {
    decision.outcome == Outcome::Conflict && decision.answer.is_none()
}

fn target(given: &Given<'_>) -> String {
    match given.undone {
        Some(undone) => rollback_target(&undone.key()),
        None => format!("{}@{}", given.catalog.platform(), given.place.target),
    }
}

/// Gives the target by which the id of a rollback is made.
pub fn rollback_target(upgrade: &str) -> String {
    format!("rollback of {upgrade}")
}

fn opening(decisions: &[Decision]) -> Opening {
    let mut opening = Opening::Ready;
    for decision in decisions.iter().filter(|decision| is_open(decision)) {
        match decision.class {
            Class::Image | Class::Contract => return Opening::Held,
            _ => opening = Opening::Draft,
        }
    }
    opening
}

/// Merges, and keeps every definition: an upgrade never removes one, since its objects would go with it.
fn merged(given: &Given<'_>, ours: &Tree) -> Merged {
    let tree = |bytes: fn(&Sides) -> Arc<[u8]>| -> Tree {
        let entry = |sides: &Sides| (sides.path.clone(), Entry::file(bytes(sides)));
        given.sides.iter().map(entry).collect()
    };
    let mut base = tree(|sides| Arc::clone(&sides.base));
    for sides in given.sides {
        if let Some(kept) = bases::with_marks(sides, ours) {
            base.insert(sides.path.clone(), Entry::file(kept));
        }
    }
    merge(&base, ours, &tree(bases::with_definitions), &settings(given))
}

/// Gives the user's side: the generated files, and other files of the cluster that hold objects which base has and the
/// generated files lack, since the user may have moved them.
fn ours(given: &Given<'_>) -> Tree {
    let tree = &given.snapshot.tree;
    let mut ours = Tree::new();
    let mut wanted = Vec::new();
    for sides in given.sides {
        if let Some(entry) = tree.get(&sides.path) {
            ours.insert(sides.path.clone(), entry.clone());
        }
        wanted.extend(absent(given, sides));
    }
    if wanted.is_empty() {
        return ours;
    }
    let candidates = given.group.resources();
    let moved: Vec<Path> = candidates
        .into_iter()
        .filter(|path| ours.get(path).is_none() && holds_one(tree, path, &wanted))
        .cloned()
        .collect();
    for path in moved {
        let edited = given.edits.files.get(&path).map(|bytes| edited(tree, &path, bytes));
        if let Some(entry) = edited.or_else(|| tree.get(&path).cloned()) {
            ours.insert(path, entry);
        }
    }
    ours
}

/// Gives new content with the mode that the file has.
fn edited(tree: &Tree, path: &Path, bytes: &Arc<[u8]>) -> Entry {
    Entry::File {
        bytes: Arc::clone(bytes),
        executable: matches!(tree.get(path), Some(Entry::File { executable: true, .. })),
    }
}

/// Lists the objects of base that the user's file does not have.
fn absent(given: &Given<'_>, sides: &Sides) -> Vec<Identity> {
    let Ok(base) = Stream::split(Arc::clone(&sides.base)) else {
        return Vec::new();
    };
    let file = given.group.file(&sides.path);
    let has: BTreeSet<_> = file
        .iter()
        .flat_map(|file| file.stream.objects())
        .map(|(id, _)| id)
        .collect();
    base.objects()
        .map(|(identity, _)| identity)
        .filter(|identity| !has.contains(identity))
        .cloned()
        .collect()
}

fn holds_one(tree: &Tree, path: &Path, wanted: &[Identity]) -> bool {
    let Some(bytes) = tree.bytes(path) else { return false };
    let text = String::from_utf8_lossy(bytes);
    if !wanted.iter().any(|identity| text.contains(&*identity.name)) {
        return false;
    }
    Stream::split(Arc::clone(bytes)).is_ok_and(|stream| stream.objects().any(|(identity, _)| wanted.contains(identity)))
}

/// Gives what the merge must know; generated files hold no custom resources, so no list keys of CRDs are read.
fn settings(given: &Given<'_>) -> Settings {
    let mut tags: BTreeMap<String, Vec<String>> = given.catalog.known_tags();
    for sides in given.sides {
        for side in [&sides.base, &sides.theirs] {
            let Ok(stream) = Stream::split(Arc::clone(side)) else {
                continue;
            };
            learn_tags(&Generated::read(&stream, given.catalog), given.catalog, &mut tags);
        }
    }
    Settings {
        answers: given.answers.clone(),
        known_tags: tags.into_iter().collect(),
        optional_kinds: given.catalog.optional_kinds(),
        ..Settings::default()
    }
}

/// Adds the tags of a manifest to the known ones, in the order of versions. In a registry of the user's own the images
/// can have another path; they have the tags of their components all the same.
fn learn_tags(manifest: &Generated<'_>, catalog: &Catalog, known: &mut BTreeMap<String, Vec<String>>) {
    for controller in manifest.controllers() {
        let Some(image) = controller.image_text().and_then(ImageRef::read) else {
            continue;
        };
        let of_component = || {
            catalog
                .tags(controller.name)
                .into_iter()
                .map(ToOwned::to_owned)
                .collect()
        };
        let tags = known.entry(image.path().to_owned()).or_insert_with(of_component);
        if let Some(tag) = image.tag.filter(|new| !tags.iter().any(|tag| tag == new)) {
            tags.push(tag.to_owned());
            tags.sort_by_cached_key(|tag| (Version::parse(tag).ok(), tag.clone()));
        }
    }
}

fn blocked(decision: &Decision) -> Option<Finding> {
    (decision.outcome == Outcome::Blocked)
        .then(|| Finding::new(Code::FileBlocked, decision.path.as_str(), decision.message.as_str()))
}

fn is_said(findings: &[Finding], finding: &Finding) -> bool {
    let mut findings = findings.iter();
    findings.any(|said| said.code == finding.code && said.subject == finding.subject)
}

fn filtered(snapshot: &Snapshot, writes: &[Write]) -> Vec<Finding> {
    let is_filtered = |write: &&Write| snapshot.paths.get(&write.path).is_some_and(|seen| seen.filtered);
    let known = |path: &Path| Finding::new(Code::FilteredFile, path.as_str(), "Git attributes change its bytes");
    writes
        .iter()
        .filter(is_filtered)
        .map(|write| known(&write.path))
        .collect()
}

/// Lists what the user changed, without what a decision tells already.
fn kept(given: &Given<'_>, decisions: &[DecisionLine]) -> Vec<ChangeLine> {
    let mut kept = Vec::new();
    for sides in given.sides {
        let file = given.group.file(&sides.path);
        if let (Some(file), Ok(base)) = (file, Stream::split(Arc::clone(&sides.base)))
            && *file.stream.bytes() != sides.base
        {
            kept.extend(edits::find(&sides.path, &base, &file.stream));
        }
    }
    let told = |change: &ChangeLine| {
        let mut decisions = decisions.iter();
        decisions.any(|decision| decision.object == change.object && decision.field == change.field)
    };
    kept.retain(|change| !told(change));
    kept
}
