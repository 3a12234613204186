//! What is applied of a directory: the objects of the platform as they are built, each with the files that shape it.
//!
//! In: a repository as it is at some moment, a directory. Out: [`Directory`]. What is not evaluated is taken as it stands in
//! its files.

use std::collections::BTreeSet;

use refit_kustomize::{Built, Origin, State, build_as_flux, reach};
use refit_manifest::parse::NodeRef;
use refit_manifest::{Path, Stream, Tree};
use serde_json::Value;

use super::Situation;
use crate::applied::{Applied, File};
use crate::catalog::Resource;
use crate::overlays;
use crate::value;

/// The most nodes of lists within lists that wait to be looked at; aliases can make a small file endless.
const LIMIT: usize = 1_000_000;

/// An object.
pub(super) struct Object {
    /// The file that it comes from.
    pub(super) file: File,
    /// That file, the kustomizations that it goes through, and the patches that these name.
    pub(super) shaped: BTreeSet<File>,
    pub(super) name: String,
    pub(super) crd: String,
    pub(super) version: String,
    /// `None` where it has too many values to be looked at.
    pub(super) value: Option<Value>,
}

impl Object {
    /// Gives its file, its name and the version that it is written in.
    pub(super) fn written(&self) -> (File, (String, String)) {
        (self.file.clone(), (self.name.clone(), self.version.clone()))
    }
}

/// What is applied of a directory.
pub(super) struct Directory {
    /// All files that shape it.
    pub(super) files: BTreeSet<File>,
    pub(super) objects: Vec<Object>,
    /// Where `kustomize build` ends with an error: the file, what fails there, and why.
    pub(super) fails: Option<(File, String, String)>,
}

impl Directory {
    /// Builds a directory.
    pub(super) fn build(situation: &Situation<'_>, tree: &Tree, applied: &Applied) -> Self {
        let file = |path: &Path| File {
            repository: applied.repository,
            path: path.clone(),
        };
        let set = reach::of(tree, &applied.directory);
        let patches = overlays::read(tree, &set.kustomizations).patches;
        let patches = patches.iter().filter_map(|patch| patch.file.as_ref());
        let shaping = set.resources.iter().chain(&set.kustomizations).chain(patches);
        let mut directory = Self {
            files: shaping.map(file).collect(),
            objects: Vec::new(),
            fails: None,
        };
        let built = build_as_flux(tree, &applied.directory);
        if built.state == State::Evaluated {
            directory.take(situation, tree, (built, applied.repository));
            return directory;
        }
        if let State::Failed(failures) = &built.state
            && let Some(first) = failures.first()
        {
            let object = first
                .object
                .as_ref()
                .map_or_else(|| applied.name.clone(), ToString::to_string);
            directory.fails = Some((file(&first.path), object, first.message.clone()));
        }
        for path in &set.resources {
            let nodes = tree.bytes(path).and_then(|bytes| Stream::split(bytes.clone()).ok());
            if let Some(stream) = nodes {
                directory.read(situation, &file(path), &stream);
            }
        }
        directory
    }

    /// Takes what was built.
    fn take(&mut self, situation: &Situation<'_>, tree: &Tree, (built, repository): (Built, usize)) {
        let file = |path: Path| File { repository, path };
        for object in built.objects {
            let Origin::File(place) = &object.origin else { continue };
            let text = |path: &[&str]| object.value.at(path).and_then(|value| value.as_str());
            let heads = (text(&["kind"]), object.api_version().split_once('/'));
            let (Some(kind), Some((group, version))) = heads else {
                continue;
            };
            let Some(resource) = resource(situation, (group, kind)) else {
                continue;
            };
            let patches = overlays::read(tree, &object.through).patches;
            let shaped = patches.into_iter().filter_map(|patch| patch.file);
            let shaped = shaped.chain(object.through.iter().cloned()).chain([place.path.clone()]);
            self.objects.push(Object {
                shaped: shaped.map(file).collect(),
                name: format!("{kind}/{}", text(&["metadata", "name"]).unwrap_or_default()),
                crd: resource.crd.clone(),
                version: version.to_owned(),
                value: Some(value::of_built(&object.value)),
                file: file(place.path.clone()),
            });
        }
    }

    /// Takes the objects of a file as they stand there, also those in lists.
    fn read(&mut self, situation: &Situation<'_>, file: &File, stream: &Stream) {
        let roots = stream.documents().iter().filter_map(|document| document.root());
        let mut open: Vec<NodeRef<'_>> = roots.collect();
        open.reverse();
        while let Some(node) = open.pop() {
            let kind = node.get("kind").and_then(NodeRef::text);
            let is_list = kind.is_some_and(|kind| kind.ends_with("List"));
            match node.get("items").filter(|_| is_list && open.len() < LIMIT) {
                Some(items) => open.extend(items.items()),
                None => self.objects.extend(object(situation, file, node)),
            }
        }
    }
}

fn object(situation: &Situation<'_>, file: &File, node: NodeRef<'_>) -> Option<Object> {
    let text = |path: &[&str]| node.at(path).and_then(NodeRef::text);
    let (kind, api_version) = (text(&["kind"])?, text(&["apiVersion"])?);
    let (group, version) = api_version.split_once('/')?;
    let resource = resource(situation, (group, kind))?;
    Some(Object {
        file: file.clone(),
        shaped: BTreeSet::from([file.clone()]),
        name: format!("{kind}/{}", text(&["metadata", "name"]).unwrap_or_default()),
        crd: resource.crd.clone(),
        version: version.to_owned(),
        value: value::of(node),
    })
}

/// Gives what is known of a kind.
pub(super) fn resource<'s>(situation: &Situation<'s>, (group, kind): (&str, &str)) -> Option<&'s Resource> {
    situation.known.catalog().of_kind(group, kind)
}
