//! The evaluation of a directory.
//!
//! In: a tree and a directory. Out: a [`Built`]. Directories are built from the inside out; each kustomization first takes
//! its resources, then generates, then takes its components in, then changes all that it has, in kustomize's order.

mod finish;
mod steps;

use std::collections::HashSet;

use refit_manifest::{Path, Tree};

use crate::built::{AppliedPatch, Built, Entry, Field, Origin, Place, State};
use crate::files::{self, Found};
use crate::generators;
use crate::kustomization::{Kustomization, Sort};
use crate::objects;
use crate::reach;
use crate::resource::{OwnedKey, Resource, owned_key};
use crate::stop::{Notes, Stop};
use crate::value::Value;

/// The most kustomizations that are read.
const LIMIT: usize = 10_000;
/// The most directories that lead to one another.
const DEPTH_LIMIT: usize = 100;

/// Gives what `kustomize build --load-restrictor LoadRestrictionsNone` (v5.8.1) makes of a directory.
///
/// The tree must hold all files that the kustomizations name, and their directories must be real ones: symbolic links are
/// not followed.
pub fn build(tree: &Tree, directory: &str) -> Built {
    let directory = reach::normal(directory);
    let root = |evaluation: &mut Evaluation<'_>| evaluation.kustomization(&directory);
    run(tree, &directory, &root)
}

/// Gives what Flux makes of a directory: the same as [`build`]; where there is no kustomization, kustomize-controller
/// generates one that names all manifests below, and directories with a kustomization of their own as a whole.
pub fn build_as_flux(tree: &Tree, directory: &str) -> Built {
    let directory = reach::normal(directory);
    let root = |evaluation: &mut Evaluation<'_>| {
        if files::kustomizations(tree, &directory).is_empty() {
            return Ok(evaluation.generated(&directory));
        }
        evaluation.kustomization(&directory)
    };
    run(tree, &directory, &root)
}

type Root<'r> = &'r dyn Fn(&mut Evaluation<'_>) -> Result<Kustomization, Stop>;

fn run(tree: &Tree, directory: &str, root: Root<'_>) -> Built {
    let mut evaluation = Evaluation {
        tree,
        notes: Notes::default(),
        applied: Vec::new(),
        kustomizations: Vec::new(),
        open: vec![directory.to_owned()],
    };
    let mut objects = Vec::new();
    match evaluation.whole(root) {
        Ok(finished) => objects = finished,
        Err(stop) => evaluation.notes.take(stop),
    }
    let mut reasons = evaluation.notes.reasons;
    reasons.sort();
    reasons.dedup();
    Built {
        directory: directory.to_owned(),
        // A failure counts only where nothing was left out before it.
        state: match (evaluation.notes.failures.is_empty(), reasons.is_empty()) {
            (false, _) => State::Failed(evaluation.notes.failures),
            (true, false) => State::NotEvaluated(reasons),
            (true, true) => State::Evaluated,
        },
        objects,
        applied: evaluation.applied,
        kustomizations: evaluation.kustomizations,
    }
}

struct Evaluation<'a> {
    tree: &'a Tree,
    notes: Notes,
    applied: Vec<AppliedPatch>,
    kustomizations: Vec<Path>,
    /// The directories that lead to the one that is built.
    open: Vec<String>,
}

impl Evaluation<'_> {
    fn whole(&mut self, root: Root<'_>) -> Result<Vec<crate::built::Object>, Stop> {
        let kustomization = root(self)?;
        let resources = self.accumulate(&kustomization, Vec::new())?;
        self.finish(&kustomization, resources)
    }

    /// Reads the kustomization of a directory.
    fn kustomization(&mut self, directory: &str) -> Result<Kustomization, Stop> {
        let mut found = files::kustomizations(self.tree, directory).into_iter();
        let path = match (found.next(), found.next()) {
            (Some(path), None) => path,
            (None, _) => {
                let path = Path::new(directory);
                return Err(Stop::failed(&path, 1, "the directory holds no kustomization"));
            }
            (Some(path), Some(other)) => {
                let message = format!("the directory holds another kustomization, `{other}`");
                return Err(Stop::failed(&path, 1, message));
            }
        };
        if !self.kustomizations.contains(&path) {
            self.kustomizations.push(path.clone());
        }
        let Some(bytes) = self.tree.bytes(&path) else {
            let what = self.tree.unread(&path).unwrap_or("a symbolic link");
            let message = format!("the kustomization is not looked at: `{path}` is {what}");
            return Err(Stop::unsure(&path, 1, message));
        };
        Kustomization::read(&path, bytes).map_err(|trouble| Stop::trouble(&path, &trouble))
    }

    /// Makes the kustomization that Flux makes where there is none.
    fn generated(&self, directory: &str) -> Kustomization {
        let below = reach::below(self.tree, directory);
        let files = below.manifests.iter().map(ToString::to_string);
        let mut names: Vec<String> = files.chain(below.directories).collect();
        names.sort();
        let start = if directory.is_empty() { 0 } else { directory.len() + 1 };
        let names = names.into_iter().map(|name| name[start..].to_owned()).collect();
        Kustomization::generated(reach::join(directory, "kustomization.yaml"), names)
    }

    /// Builds what a kustomization asks for on top of what is there already.
    fn accumulate(
        &mut self,
        kustomization: &Kustomization,
        mut resources: Vec<Resource>,
    ) -> Result<Vec<Resource>, Stop> {
        self.note_unsupported(kustomization);
        let mut known: HashSet<OwnedKey> = resources.iter().map(|resource| owned_key(&resource.id())).collect();
        for field in [Field::Resources, Field::Bases] {
            for (entry, value) in kustomization.entries(field) {
                let new = self.resource(&entry, value.as_str().unwrap_or_default())?;
                append(&mut resources, &mut known, new, &entry)?;
            }
        }
        for field in [Field::ConfigMapGenerator, Field::SecretGenerator] {
            for (entry, value) in kustomization.entries(field) {
                generators::generate(self.tree, kustomization, &entry, &value, &mut resources)?;
            }
        }
        for (entry, value) in kustomization.entries(Field::Components) {
            resources = self.component(&entry, value.as_str().unwrap_or_default(), resources)?;
        }
        self.transform(kustomization, &mut resources)?;
        for resource in &mut resources {
            resource.through.push(kustomization.path.clone());
        }
        Ok(resources)
    }

    /// Gives what an entry of `resources` or `bases` names.
    fn resource(&mut self, entry: &Entry, name: &str) -> Result<Vec<Resource>, Stop> {
        match files::find(self.tree, entry.kustomization.directory(), name) {
            Found::File(path) => self.file(&path),
            _ if files::is_remote(name) => {
                let message = format!("`{name}` is remote");
                self.notes.take(Stop::unsure(&entry.kustomization, entry.line, message));
                Ok(Vec::new())
            }
            Found::Directory(directory) if !name.is_empty() => {
                self.directory(entry, &directory, Sort::Kustomization, Vec::new())
            }
            Found::Elsewhere(message) => {
                self.notes.take(Stop::unsure(&entry.kustomization, entry.line, message));
                Ok(Vec::new())
            }
            _ => Err(Stop::entry(entry, format!("there is no file or directory `{name}`"))),
        }
    }

    fn component(&mut self, entry: &Entry, name: &str, resources: Vec<Resource>) -> Result<Vec<Resource>, Stop> {
        match files::find(self.tree, entry.kustomization.directory(), name) {
            _ if files::is_remote(name) => {
                let message = format!("`{name}` is remote");
                self.notes.take(Stop::unsure(&entry.kustomization, entry.line, message));
                Ok(resources)
            }
            Found::Directory(directory) if !name.is_empty() => {
                self.directory(entry, &directory, Sort::Component, resources)
            }
            Found::Elsewhere(message) => {
                self.notes.take(Stop::unsure(&entry.kustomization, entry.line, message));
                Ok(resources)
            }
            _ => Err(Stop::entry(entry, format!("there is no directory `{name}`"))),
        }
    }

    /// Builds a directory that an entry names.
    fn directory(
        &mut self,
        entry: &Entry,
        directory: &str,
        sort: Sort,
        resources: Vec<Resource>,
    ) -> Result<Vec<Resource>, Stop> {
        let leads_back = |open: &String| open == directory || reach::is_inside(open, directory);
        if let Some(open) = self.open.iter().find(|open| leads_back(open)) {
            let message = format!("`{directory}` leads back to `{open}`, from which it is reached");
            return Err(Stop::entry(entry, message));
        }
        if self.open.len() >= DEPTH_LIMIT || self.kustomizations.len() >= LIMIT || self.applied.len() >= LIMIT * 10 {
            let message =
                format!("there are more than {LIMIT} kustomizations, or more than {DEPTH_LIMIT} inside each other");
            return Err(Stop::unsure(&entry.kustomization, entry.line, message));
        }
        let kustomization = self.kustomization(directory)?;
        if kustomization.sort() != sort {
            let message = match sort {
                Sort::Component => format!("`{directory}` is no component"),
                Sort::Kustomization => format!("`{directory}` is a component; name it in `components`"),
            };
            return Err(Stop::entry(entry, message));
        }
        self.open.push(directory.to_owned());
        let built = self.accumulate(&kustomization, resources);
        self.open.pop();
        built
    }

    fn file(&mut self, path: &Path) -> Result<Vec<Resource>, Stop> {
        let Some(bytes) = self.tree.bytes(path) else {
            return Ok(Vec::new());
        };
        let placed = match objects::read(bytes) {
            Ok(placed) => placed,
            Err(trouble) if trouble.certain => return Err(Stop::trouble(path, &trouble)),
            Err(trouble) => {
                self.notes.take(Stop::trouble(path, &trouble));
                return Ok(Vec::new());
            }
        };
        let mut resources = Vec::new();
        for placed in placed {
            let annotations = placed.value.at(&["metadata", "annotations"]).and_then(Value::as_map);
            if annotations.into_iter().flatten().any(|(_, value)| value.is_null()) {
                self.notes
                    .take(Stop::unsure(path, placed.line, "an annotation is null"));
            }
            let place = Place {
                path: path.clone(),
                document: placed.document,
                span: placed.span,
                line: placed.line,
            };
            resources.push(Resource::new(placed.value, Origin::File(place)));
        }
        Ok(resources)
    }
}

/// Appends objects; one that is there already makes kustomize stop.
fn append(
    resources: &mut Vec<Resource>,
    known: &mut HashSet<OwnedKey>,
    new: Vec<Resource>,
    entry: &Entry,
) -> Result<(), Stop> {
    for resource in new {
        let id = resource.id();
        if !known.insert(owned_key(&id)) {
            let identity = id.identity();
            let message = format!("`{identity}` is there already");
            return Err(Stop::object(entry, identity, message));
        }
        resources.push(resource);
    }
    Ok(())
}
