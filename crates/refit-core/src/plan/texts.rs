//! Branch, commit message and request text of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::merge::Merged;
use refit_manifest::{Identity, Stream, Tree};

use super::Given;
use crate::check::{Definitions, definitions, names};
use crate::finding::Finding;
use crate::generated::{Controller, Generated, Image};
use crate::report::{ChangeLine, DecisionLine, FileChange};
use crate::request::{self, ApiChange, ComponentChange, Facts, Way};
use crate::stage::Stage;

/// What the trailer of every commit of this program begins with.
pub const TRAILER: &str = "Refit-Upgrade: ";
/// What the name of every branch of this program begins with.
pub const BRANCHES: &str = "refit/";

pub(super) struct Parts<'a> {
    pub(super) given: &'a Given<'a>,
    pub(super) upgrade: &'a str,
    pub(super) ours: &'a Tree,
    pub(super) merged: &'a Merged,
    pub(super) decisions: &'a [DecisionLine],
    pub(super) files: &'a [FileChange],
    pub(super) findings: &'a [Finding],
    pub(super) kept: &'a [ChangeLine],
    pub(super) patches: &'a [String],
}

pub(super) struct Texts {
    pub(super) title: String,
    pub(super) body: String,
    pub(super) message: String,
}

/// Gives the branch: the upgrade, the place in its order, and words for people.
pub(super) fn branch(given: &Given<'_>, upgrade: &str) -> String {
    let way = match (given.undone, given.place.stage) {
        (Some(_), _) => "-back-to",
        (None, Stage::Upgrade) => "",
        (None, Stage::Convert) => "-convert-on",
        (None, Stage::Detach) => "-detach-on",
        (None, Stage::Migrate) => "-migrate-on",
    };
    let slug = format!("{}-{}{way}-{}", given.group.slug(), given.catalog.platform(), given.to);
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') {
            c
        } else {
            '-'
        }
    };
    let slug: String = slug.chars().map(plain).collect();
    format!("{BRANCHES}{upgrade}/{}-{}", given.place.index, slug.trim_matches('-'))
}

pub(super) fn write(parts: &Parts<'_>) -> Texts {
    let given = parts.given;
    let (from, to) = (given.from.to_string(), given.to.to_string());
    let before = side(given, parts.ours);
    let after = side(given, &parts.merged.tree);
    let facts = Facts {
        platform: given.catalog.platform().as_str(),
        clusters: &given.group.names(),
        label: &given.group.label(),
        way: if given.undone.is_some() {
            Way::Back
        } else {
            Way::Forward
        },
        from: &from,
        to: &to,
        components: &components(&before, &after),
        apis: &apis(&before.definitions, &after.definitions),
        decisions: parts.decisions,
        kept: parts.kept,
        patches: parts.patches,
        leaving: &leaving(parts.ours, &parts.merged.tree),
        mirror: &mirror(given, parts.merged),
        findings: parts.findings,
        accepted: given.accepted,
        files: parts.files,
        place: given.place,
        conversions: &given.edits.conversions,
        reviews: &given.edits.reviews,
    };
    let title = request::title(&facts);
    let text = match (facts.way, given.place.stage) {
        (Way::Forward, Stage::Upgrade) => {
            format!("What the generator writes for {to}, merged with the edits of this repository.")
        }
        (Way::Forward, Stage::Convert) => {
            format!(
                "Objects in versions that {from} serves already, on the way to {}.",
                given.place.target
            )
        }
        (Way::Forward, Stage::Migrate) => {
            format!(
                "A Job that migrates stored objects, on the way to {}.",
                given.place.target
            )
        }
        (Way::Forward, Stage::Detach) => "Objects that move or leave are kept from being pruned.".to_owned(),
        (Way::Back, Stage::Upgrade) => {
            format!("The files as they were before {from}, merged with the edits made since.")
        }
        (Way::Back, _) => "The files as they were before, merged with the edits made since.".to_owned(),
    };
    Texts {
        message: format!("{title}\n\n{text}\n\n{TRAILER}{}\n", parts.upgrade),
        body: request::body(&facts),
        title,
    }
}

/// What one side has: components with their tags, and definitions.
#[derive(Default)]
struct Side {
    tags: BTreeMap<String, String>,
    definitions: Definitions,
}

/// Reads what the files really have: own builds and pinned tags count, not what the generator wrote.
fn side(given: &Given<'_>, tree: &Tree) -> Side {
    let mut side = Side::default();
    for sides in given.sides {
        let bytes = tree.bytes(&sides.path).map(Arc::clone);
        let Some(stream) = bytes.and_then(|bytes| Stream::split(bytes).ok()) else {
            continue;
        };
        let manifest = Generated::read(&stream, given.catalog);
        for controller in manifest.controllers() {
            let tag = controller.image().map(|image| image.tag.to_owned()).unwrap_or_default();
            side.tags.insert(controller.name.to_owned(), tag);
        }
        side.definitions.extend(definitions(&manifest));
    }
    side
}

fn components(before: &Side, after: &Side) -> Vec<ComponentChange> {
    let all: BTreeSet<&String> = before.tags.keys().chain(after.tags.keys()).collect();
    let change = |name: &String| ComponentChange {
        name: name.clone(),
        from: before.tags.get(name).cloned(),
        to: after.tags.get(name).cloned(),
    };
    all.into_iter().map(change).collect()
}

fn apis(before: &Definitions, after: &Definitions) -> Vec<ApiChange> {
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let mut changes = Vec::new();
    for name in all {
        let versions = |side: &Definitions| side.get(name).map(names).unwrap_or_default();
        let (old, new) = (versions(before), versions(after));
        let storage = |side: &Definitions| {
            side.get(name)
                .and_then(|definition| definition.storage().map(ToOwned::to_owned))
        };
        let stored = storage(before).zip(storage(after)).filter(|(old, new)| old != new);
        let change = ApiChange {
            name: name.clone(),
            comes: new.iter().filter(|version| !old.contains(version)).cloned().collect(),
            goes: old.iter().filter(|version| !new.contains(version)).cloned().collect(),
            storage: stored,
        };
        if !change.comes.is_empty() || !change.goes.is_empty() || change.storage.is_some() {
            changes.push(change);
        }
    }
    changes
}

/// Lists the objects that were there and are not there any more.
fn leaving(before: &Tree, after: &Tree) -> Vec<String> {
    let stay = objects(after);
    objects(before).difference(&stay).map(ToString::to_string).collect()
}

fn objects(tree: &Tree) -> BTreeSet<Identity> {
    let streams = tree
        .iter()
        .filter_map(|(_, entry)| Stream::split(Arc::clone(entry.bytes()?)).ok());
    streams
        .flat_map(|stream| {
            stream
                .objects()
                .map(|(identity, _)| identity.clone())
                .collect::<Vec<_>>()
        })
        .collect()
}

/// Lists the new images of the result that do not come from the default registry.
fn mirror(given: &Given<'_>, merged: &Merged) -> Vec<String> {
    let had: BTreeSet<&String> = given.group.files().into_iter().flat_map(|file| &file.images).collect();
    let mut images = BTreeSet::new();
    for sides in given.sides {
        let Some(stream) = merged
            .tree
            .bytes(&sides.path)
            .and_then(|bytes| Stream::split(Arc::clone(bytes)).ok())
        else {
            continue;
        };
        let manifest = Generated::read(&stream, given.catalog);
        for text in manifest.controllers().filter_map(Controller::image_text) {
            if Image::read(text).registry != given.catalog.registry() && !had.contains(&text.to_owned()) {
                images.insert(text.to_owned());
            }
        }
    }
    images.into_iter().collect()
}
