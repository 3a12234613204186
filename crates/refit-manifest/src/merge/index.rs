//! Objects of a tree by identity.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use crate::stream::{Document, Error, Identity, Stream};
use crate::tree::{Path, Tree};

/// Where a document stands.
pub(super) type Place = (usize, usize);

/// The YAML files of one side, split, with their objects.
#[derive(Default)]
pub(super) struct Index {
    pub(super) files: Vec<(Path, Stream)>,
    pub(super) failed: BTreeMap<Path, Error>,
    by_path: HashMap<Path, usize>,
    objects: HashMap<Identity, Vec<Place>>,
}

impl Index {
    /// Takes the files at some paths in; paths without a file are passed over.
    pub(super) fn add<'p>(&mut self, tree: &Tree, paths: impl Iterator<Item = &'p Path>) {
        for path in paths {
            let Some(bytes) = tree.bytes(path) else { continue };
            if self.by_path.contains_key(path) || self.failed.contains_key(path) {
                continue;
            }
            match Stream::split(Arc::clone(bytes)) {
                Ok(stream) => self.take(path, stream),
                Err(error) => {
                    self.failed.insert(path.clone(), error);
                }
            }
        }
    }

    fn take(&mut self, path: &Path, stream: Stream) {
        let file = self.files.len();
        for (at, document) in stream.documents().iter().enumerate() {
            if let Some(identity) = document.identity() {
                self.objects.entry(identity.clone()).or_default().push((file, at));
            }
        }
        self.by_path.insert(path.clone(), file);
        self.files.push((path.clone(), stream));
    }

    pub(super) fn stream(&self, path: &Path) -> Option<&Stream> {
        self.by_path.get(path).map(|file| &self.files[*file].1)
    }

    pub(super) fn file(&self, path: &Path) -> Option<usize> {
        self.by_path.get(path).copied()
    }

    pub(super) fn document(&self, place: Place) -> &Document {
        &self.files[place.0].1.documents()[place.1]
    }

    pub(super) fn path(&self, place: Place) -> &Path {
        &self.files[place.0].0
    }

    /// Finds an object: the `nth` of its identity in the file at a path, else the only place it stands.
    pub(super) fn find(&self, identity: &Identity, path: &Path, nth: usize) -> Option<Place> {
        let places = self.objects.get(identity)?;
        let file = self.by_path.get(path);
        let mut here = places.iter().filter(|(at, _)| Some(at) == file);
        match here.clone().count() {
            0 => places
                .get(nth)
                .or(places.first())
                .copied()
                .filter(|_| nth < places.len()),
            _ => here.nth(nth).copied(),
        }
    }

    pub(super) fn has(&self, identity: &Identity) -> bool {
        self.objects.contains_key(identity)
    }

    /// Gives how many documents of the same identity stand before one in its file.
    pub(super) fn nth(&self, place: Place) -> usize {
        let Some(identity) = self.document(place).identity() else {
            return 0;
        };
        let places = self.objects.get(identity).map_or(&[][..], Vec::as_slice);
        places
            .iter()
            .filter(|(file, at)| *file == place.0 && *at < place.1)
            .count()
    }

    /// Tells whether the text of any file holds a name.
    pub(super) fn mentions(&self, name: &str) -> bool {
        !name.is_empty() && self.files.iter().any(|(_, stream)| stream.text().contains(name))
    }

    /// Lists the files that hold an object.
    pub(super) fn homes(&self, identity: &Identity) -> impl Iterator<Item = &Path> {
        self.objects
            .get(identity)
            .into_iter()
            .flatten()
            .map(|place| self.path(*place))
    }

    /// Lists the objects that stand more than once.
    pub(super) fn duplicates(&self) -> Vec<(Identity, Vec<Path>)> {
        let mut out: Vec<_> = self
            .objects
            .iter()
            .filter(|(_, places)| places.len() > 1)
            .map(|(identity, places)| {
                (
                    identity.clone(),
                    places.iter().map(|place| self.path(*place).clone()).collect(),
                )
            })
            .collect();
        out.sort();
        out
    }

    /// Gives the documents without identity of a file.
    pub(super) fn nameless(&self, path: &Path) -> Vec<&Document> {
        let documents = self.stream(path).map_or(&[][..], Stream::documents);
        documents
            .iter()
            .filter(|document| !document.is_empty() && document.identity().is_none())
            .collect()
    }
}
