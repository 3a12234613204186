//! The real repositories as trees.

use std::fs;
use std::path::Path as Folder;

use refit_manifest::{Entry, Path, Tree};
use refit_testkit::shared;

/// One state of a repository.
pub(crate) struct Repository {
    pub(crate) name: String,
    pub(crate) tree: Tree,
}

/// Reads each snapshot of the corpus, and the other real data as one tree each; `None` when they are not there.
pub(crate) fn all() -> Option<Vec<Repository>> {
    let corpus = shared::find("corpus")?;
    let mut all = Vec::new();
    for origin in folders(&corpus) {
        for snapshot in folders(&corpus.join(&origin)) {
            let name = format!("{origin}/{snapshot}");
            all.push(read(&corpus.join(&name), name));
        }
    }
    for name in ["k0rdent", "weave-gitops"] {
        if let Some(folder) = shared::find(name) {
            all.push(read(&folder, name.to_owned()));
        }
    }
    Some(all)
}

fn folders(parent: &Folder) -> Vec<String> {
    let entries = fs::read_dir(parent).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(folder: &Folder, name: String) -> Repository {
    let mut tree = Tree::new();
    gather(folder, folder, &mut tree);
    assert!(!tree.is_empty(), "{name} has no files");
    Repository { name, tree }
}

fn gather(root: &Folder, folder: &Folder, tree: &mut Tree) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(root, &path, tree);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            tree.insert(Path::from(name), Entry::file(fs::read(&path).unwrap()));
        }
    }
}
