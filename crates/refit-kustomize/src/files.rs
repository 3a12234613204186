//! Files of the tree by the names that kustomizations give them.
//!
//! In: a tree, a directory and a name. Out: a file, a directory, or why there is neither. Links are not followed, and what
//! was not read is told.

use refit_manifest::{Entry as TreeEntry, Path, Tree};

use crate::reach::NAMES;

/// What a name leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    File(Path),
    Directory(String),
    Nothing,
    /// Something that is not looked at, in words.
    Elsewhere(String),
}

/// Finds what a name in a directory leads to.
pub(crate) fn find(tree: &Tree, directory: &str, name: &str) -> Found {
    if name.starts_with('/') {
        return Found::Elsewhere(format!("`{name}` is outside of the repository"));
    }
    let Some(path) = below(directory, name) else {
        return Found::Elsewhere(format!("`{name}` is outside of the repository"));
    };
    if let Some(link) = link_on(tree, &path) {
        return Found::Elsewhere(format!(
            "`{name}` leads through the symbolic link `{link}`, which is not followed"
        ));
    }
    if let Some((part, what)) = unread_on(tree, &path) {
        return Found::Elsewhere(format!("`{name}` is not looked at: `{part}` is {what}"));
    }
    let file = Path::new(path.as_str());
    if tree.bytes(&file).is_some() && !name.ends_with('/') {
        return Found::File(file);
    }
    if path.is_empty() || tree.has_directory(&path) {
        return Found::Directory(path);
    }
    Found::Nothing
}

/// Tells whether a name is that of something remote.
pub(crate) fn is_remote(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let host = lower.strip_prefix("git::").unwrap_or(&lower);
    host.contains("://")
        || lower.starts_with("git::")
        || host.starts_with("github.com/")
        || host.starts_with("github.com:")
        || host.contains("?ref=")
        || host
            .split('/')
            .next()
            .is_some_and(|first| first.contains('@') && first.contains(':'))
}

/// Lists the kustomizations that lie in a directory.
pub(crate) fn kustomizations(tree: &Tree, directory: &str) -> Vec<Path> {
    let paths = NAMES.iter().map(|name| crate::reach::join(directory, name));
    paths
        .filter(|path| tree.get(path).is_some() || tree.unread(path).is_some())
        .collect()
}

/// Gives a path relative to a directory; `None` above the root.
fn below(directory: &str, name: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

fn link_on(tree: &Tree, path: &str) -> Option<Path> {
    parts(path).find(|part| matches!(tree.get(part), Some(TreeEntry::Link(_))))
}

fn unread_on<'a>(tree: &'a Tree, path: &str) -> Option<(Path, &'a str)> {
    parts(path).find_map(|part| Some((part.clone(), tree.unread(&part)?)))
}

/// Lists a path and the directories that lead to it, the highest first.
fn parts(path: &str) -> impl Iterator<Item = Path> {
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    ends.map(|end| Path::new(&path[..end]))
}
