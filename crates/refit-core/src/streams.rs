//! The manifests of a tree, each split once.
//!
//! In: a tree. Out: [`Streams`]. Documents are parsed when somebody asks for them, and then once.

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Path, Stream, Tree, stream};

/// The manifests of a tree.
#[derive(Debug, Default)]
pub struct Streams(BTreeMap<Path, Result<Arc<Stream>, stream::Error>>);

impl Streams {
    /// Splits every file that can hold objects.
    pub fn split(tree: &Tree) -> Self {
        let can = |path: &Path| path.is_yaml() || path.is_json() || reach::is_kustomization(path);
        let split = |(path, entry): (&Path, &refit_manifest::Entry)| {
            let bytes = entry.bytes().filter(|_| can(path))?;
            Some((path.clone(), Stream::split(Arc::clone(bytes)).map(Arc::new)))
        };
        Self(tree.iter().filter_map(split).collect())
    }

    /// Gives the stream of a file, or why it cannot be split; `None` where there is no such file.
    pub fn of(&self, path: &Path) -> Option<&Result<Arc<Stream>, stream::Error>> {
        self.0.get(path)
    }

    /// Gives the stream of a file; `None` also where it cannot be split.
    pub fn get(&self, path: &Path) -> Option<&Arc<Stream>> {
        self.of(path)?.as_ref().ok()
    }

    /// Lists the files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Result<Arc<Stream>, stream::Error>)> {
        self.0.iter()
    }
}
