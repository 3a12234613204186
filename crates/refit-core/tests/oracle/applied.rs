//! What a repository applies: each object of Flux after the outermost overlays that reach it, else as it is written.

use std::collections::BTreeSet;

use refit_core::meant;
use refit_kustomize::{Built, Origin, State, build, build_as_flux, reach};
use refit_manifest::{Path, Tree};
use serde_json::Value;

use crate::objects::{self, Written};
use crate::values;

/// An object to judge.
#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) object: Value,
    /// The files that make it: its own, and those of the overlays that it went through.
    pub(crate) files: BTreeSet<Path>,
    /// What it is called where it is written and after it is built.
    names: BTreeSet<String>,
}

impl Case {
    /// Tells whether a name is that of the object, with or without its namespace.
    pub(crate) fn is_called(&self, name: &str) -> bool {
        let plain = |name: &str| name.split(" in ").next().map(ToOwned::to_owned);
        self.names.iter().any(|own| plain(own) == plain(name))
    }
}

/// The objects of a repository.
#[derive(Debug, Default)]
pub(crate) struct Applied {
    pub(crate) cases: Vec<Case>,
    /// The overlays that are not built, each with the reason.
    pub(crate) unbuilt: Vec<String>,
}

impl Applied {
    /// Builds what a tree applies.
    pub(crate) fn of(tree: &Tree) -> Self {
        let written = objects::all(tree);
        let mut applied = Self::default();
        let built: Vec<Built> = directories(tree, &written)
            .into_iter()
            .map(|directory| match reach::kustomization(tree, &directory) {
                Some(_) => build(tree, &directory),
                None => build_as_flux(tree, &directory),
            })
            .collect();
        let whole = built.iter().filter(|built| built.state == State::Evaluated);
        let inner: BTreeSet<&Path> = whole.flat_map(|built| inner(tree, built)).collect();
        let own = |built: &Built| reach::kustomization(tree, &built.directory);
        let outermost = built
            .iter()
            .filter(|built| own(built).is_none_or(|path| !inner.contains(&path)));
        let mut reached = BTreeSet::new();
        for built in outermost {
            match &built.state {
                State::Evaluated => applied.take(tree, built, &mut reached),
                State::NotEvaluated(reasons) => applied.leave(built, reasons.first()),
                State::Failed(failures) => applied.leave(built, failures.first()),
            }
        }
        for written in &written {
            if !reached.contains(&(written.path.clone(), written.document)) {
                applied.cases.push(alone(written));
            }
        }
        // kustomize orders objects by their versions, too.
        applied.cases.sort_by(|a, b| a.name.cmp(&b.name));
        applied
    }

    fn leave(&mut self, built: &Built, reason: Option<impl ToString>) {
        let reason = reason.map(|reason| reason.to_string()).unwrap_or_default();
        self.unbuilt.push(format!("{}: {reason}", directory_name(built)));
    }

    fn take(&mut self, tree: &Tree, built: &Built, reached: &mut BTreeSet<(Path, usize)>) {
        let files = meant::reached_from(tree, &built.directory);
        for object in &built.objects {
            let value = values::of_built(&object.value);
            let (Origin::File(place), true) = (&object.origin, objects::is_of_flux(&value)) else {
                continue;
            };
            reached.insert((place.path.clone(), place.document));
            let mut files = files.clone();
            files.insert(place.path.clone());
            self.cases.push(Case {
                name: format!(
                    "{}: {}, built by {}",
                    place.path,
                    objects::describe(&value),
                    directory_name(built)
                ),
                names: [objects::describe(&value), object.original.to_string()].into(),
                object: value,
                files,
            });
        }
    }
}

fn directory_name(built: &Built) -> &str {
    match &*built.directory {
        "" => "the root",
        directory => directory,
    }
}

fn alone(written: &Written) -> Case {
    let described = objects::describe(&written.value);
    let inside = if written.is_inner {
        ", inside another object"
    } else {
        ""
    };
    Case {
        name: format!("{}: {described}{inside}", written.path),
        object: written.value.clone(),
        files: [written.path.clone()].into(),
        names: [described].into(),
    }
}

/// Lists the directories that are built: those with a kustomization, and those that a Kustomization of Flux applies.
fn directories(tree: &Tree, written: &[Written]) -> BTreeSet<String> {
    let kustomizations = tree.paths().filter(|path| reach::is_kustomization(path));
    let mut directories: BTreeSet<String> = kustomizations.map(|path| path.directory().to_owned()).collect();
    let paths = written.iter().filter_map(|written| {
        let is_flux = written.value["kind"] == "Kustomization";
        written
            .value
            .pointer("/spec/path")
            .and_then(Value::as_str)
            .filter(|_| is_flux)
    });
    let applied = paths.map(reach::normal);
    directories.extend(applied.filter(|directory| directory.is_empty() || tree.has_directory(directory)));
    directories
}

/// Lists the kustomizations that a build reads besides its own.
fn inner<'a>(tree: &Tree, built: &'a Built) -> Vec<&'a Path> {
    let own = reach::kustomization(tree, &built.directory);
    let others = built.kustomizations.iter().filter(|path| Some(*path) != own.as_ref());
    others.collect()
}
