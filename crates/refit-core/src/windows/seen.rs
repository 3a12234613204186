//! Which kinds stand in a file, in which versions.
//!
//! In: the bytes of a file. Out: [`Seen`]. Decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::edit::Splice;
use refit_manifest::{Path, Stream};

use super::Situation;
use crate::applied::File;
use crate::meant;
use crate::places::{self, Content, Interest, Place, Pointed, Pointers, Sort, Trouble, TroubleSort, Trust, Visit};

/// A group and a kind.
pub(super) type Kind = (String, String);

/// What stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// The versions of each kind that are written at places which count.
    pub(super) versions: BTreeMap<Kind, BTreeSet<String>>,
    /// The kinds of objects.
    pub(super) objects: BTreeSet<Kind>,
    /// The kinds that patches and selectors mean.
    pub(super) meant: BTreeSet<Kind>,
    /// Why places of a kind must not be edited.
    pub(super) never: BTreeMap<Kind, String>,
    /// Why a part of it cannot be read, where it names a kind that matters.
    pub(super) unreadable: Option<String>,
}

/// Tells what the files hold that kustomizations name as patches or replacements.
pub(super) fn contents(situation: &Situation<'_>) -> BTreeMap<File, Content> {
    let files = situation.clusters.iter().flat_map(|cluster| &cluster.reached.files);
    let kustomizations: BTreeSet<&File> = files.filter(|file| reach::is_kustomization(&file.path)).collect();
    let named = |kustomization: &File| {
        let repository = kustomization.repository;
        let tree = situation.repositories[repository].tree;
        let file = move |(path, content)| (File { repository, path }, content);
        meant::contents(tree, &kustomization.path).into_iter().map(file)
    };
    meant::join(kustomizations.into_iter().flat_map(named))
}

impl Seen {
    /// Looks through a file of which it is known what it holds; what cannot be read holds nothing, and is noted.
    pub(super) fn look((path, content): (&Path, &Content), bytes: &Arc<[u8]>, interest: &Interest) -> Self {
        let mut seen = Self::default();
        let names_one = interest.is_named_in(bytes) || interest.can_select(bytes);
        if !names_one {
            return seen;
        }
        match Stream::split(Arc::clone(bytes)) {
            Ok(stream) => {
                places::walk(path, (&stream, content), interest, &mut seen);
            }
            Err(error) => seen.unreadable = Some(error.to_string()),
        }
        seen
    }
}

impl Visit for Seen {
    fn place(&mut self, place: &Place<'_>) -> Vec<Splice> {
        let kind = (place.group.to_owned(), place.kind.to_owned());
        let is_applied = matches!(place.sort, Sort::Object | Sort::Item);
        let is_meant = matches!(place.sort, Sort::Patch | Sort::Target);
        match place.trust {
            _ if place.kind.is_empty() => return Vec::new(),
            Trust::Certain => {}
            // What only may mean a version must not stop an upgrade; what is applied counts, whoever must edit it.
            Trust::Review(reason) | Trust::Never(reason) if is_applied => {
                self.never.insert(kind.clone(), reason.to_owned());
            }
            Trust::Review(_) | Trust::Never(_) => return Vec::new(),
        }
        if is_applied {
            self.objects.insert(kind.clone());
        }
        if is_meant {
            self.meant.insert(kind.clone());
        }
        self.versions.entry(kind).or_default().insert(place.version.to_owned());
        Vec::new()
    }

    fn pointers(&mut self, pointers: &Pointers<'_>) -> Pointed {
        let named = pointers.targets.iter().filter(|target| !target.group.is_empty());
        self.meant
            .extend(named.map(|target| (target.group.clone(), target.kind.clone())));
        Pointed::default()
    }

    fn trouble(&mut self, trouble: Trouble) {
        // A template is no file of Flux: what builds it decides, and it is told elsewhere.
        if trouble.sort == TroubleSort::Unreadable {
            self.unreadable = Some(format!("line {}: {}", trouble.line, trouble.message));
        }
    }

    fn mark(&self) -> usize {
        0
    }

    fn withdraw(&mut self, _: usize, _: &'static str) {}
}
