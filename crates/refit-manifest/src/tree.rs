//! Files by path: the one input of merge, scan and conversion.
//!
//! In: bytes read by somebody else. Out: a [`Tree`]. Knows neither disks nor Git.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::Arc;

/// A relative path inside a tree, parts parted by `/`, without `.`, `..` or a leading `/`.
///
/// Git allows any bytes; paths that are not UTF-8 are kept by the edges and never enter a tree.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Arc<str>);

impl Path {
    /// Takes the text of a path as it is.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// Gives the path's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Gives the part after the last `/`.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Gives the directory, empty for a file at the root.
    pub fn directory(&self) -> &str {
        self.0.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// Tells whether the name ends in `.yaml` or `.yml`.
    pub fn is_yaml(&self) -> bool {
        let name = self.file_name();
        name.ends_with(".yaml") || name.ends_with(".yml")
    }

    /// Tells whether the name ends in `.json`.
    pub fn is_json(&self) -> bool {
        self.file_name().ends_with(".json")
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

/// What stands at one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file with its bytes and its mode.
    File {
        /// The file's content.
        bytes: Arc<[u8]>,
        /// Whether the file may be run (mode 100755).
        executable: bool,
    },
    /// A symbolic link with the text that it points to; it is compared and never followed.
    Link(Arc<str>),
}

impl Entry {
    /// Makes a file that cannot be run.
    pub fn file(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self::File {
            bytes: bytes.into(),
            executable: false,
        }
    }

    /// Gives the bytes of a file, `None` for a link.
    pub fn bytes(&self) -> Option<&Arc<[u8]>> {
        match self {
            Self::File { bytes, .. } => Some(bytes),
            Self::Link(_) => None,
        }
    }
}

/// Files and links by path, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    entries: BTreeMap<Path, Entry>,
    /// What is there and was not read, with the reason; it is no entry.
    unread: BTreeMap<Path, Arc<str>>,
}

impl Tree {
    /// Makes an empty tree.
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts an entry at a path and gives back what stood there.
    pub fn insert(&mut self, path: Path, entry: Entry) -> Option<Entry> {
        self.entries.insert(path, entry)
    }

    /// Notes that something is at a path that was not read, and what it is, as in `a symbolic link`.
    pub fn leave_unread(&mut self, path: Path, what: impl Into<Arc<str>>) {
        self.unread.insert(path, what.into());
    }

    /// Tells what was not read at a path.
    pub fn unread(&self, path: &Path) -> Option<&str> {
        self.unread.get(path).map(|what| &**what)
    }

    /// Lists what stands below a directory and was not read.
    pub fn unread_within(&self, directory: &str) -> impl Iterator<Item = &Path> {
        self.unread.range(range(directory)).map(|(path, _)| path)
    }

    /// Takes the entry of a path out.
    pub fn remove(&mut self, path: &Path) -> Option<Entry> {
        self.entries.remove(path)
    }

    /// Gives the entry at a path.
    pub fn get(&self, path: &Path) -> Option<&Entry> {
        self.entries.get(path)
    }

    /// Gives the bytes of the file at a path; `None` when there is no file.
    pub fn bytes(&self, path: &Path) -> Option<&Arc<[u8]>> {
        self.get(path).and_then(Entry::bytes)
    }

    /// Finds a file by the text of its path, which is given as the tree has it: who keeps it shares it.
    pub fn file(&self, path: &str) -> Option<&Path> {
        let (path, entry) = self.entries.get_key_value(&Path::from(path))?;
        entry.bytes().map(|_| path)
    }

    /// Takes over what another tree holds.
    pub fn absorb(&mut self, mut other: Self) {
        self.entries.append(&mut other.entries);
        self.unread.append(&mut other.unread);
    }

    /// Lists paths and entries in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.iter()
    }

    /// Lists the paths in order.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.entries.keys()
    }

    /// Gives the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether the tree holds nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Lists what stands below a directory (`""` is the whole tree), in the order of the paths; costs as much as there is.
    pub fn within(&self, directory: &str) -> impl Iterator<Item = (&Path, &Entry)> {
        self.entries.range(range(directory))
    }

    /// Tells whether something stands below a directory.
    pub fn has_directory(&self, directory: &str) -> bool {
        self.within(directory).next().is_some() || self.unread_within(directory).next().is_some()
    }

    /// Gives the entries below a directory (`""` is the whole tree), with their full paths.
    pub fn below(&self, directory: &str) -> Self {
        let entries = self.within(directory);
        entries.map(|(path, entry)| (path.clone(), entry.clone())).collect()
    }
}

/// Gives the bounds of what stands below a directory.
fn range(directory: &str) -> (Bound<Path>, Bound<Path>) {
    match directory {
        "" => (Bound::Unbounded, Bound::Unbounded),
        // `0` is the character after `/`.
        directory => (
            Bound::Included(Path::new(format!("{directory}/"))),
            Bound::Excluded(Path::new(format!("{directory}0"))),
        ),
    }
}

impl FromIterator<(Path, Entry)> for Tree {
    fn from_iter<I: IntoIterator<Item = (Path, Entry)>>(entries: I) -> Self {
        Self {
            entries: entries.into_iter().collect(),
            unread: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_holds_what_is_below_it_and_not_its_neighbours() {
        let file = |path: &str| (Path::from(path), Entry::file(*b""));
        let tree: Tree = ["a", "a-b/c", "a/b", "a/b/c", "a.b", "a0", "b/a/b"]
            .map(file)
            .into_iter()
            .collect();
        let below =
            |directory: &str| -> Vec<String> { tree.within(directory).map(|(path, _)| path.to_string()).collect() };
        assert_eq!(below("a"), ["a/b", "a/b/c"]);
        assert_eq!(below("").len(), 7);
        assert!(tree.has_directory("b/a") && !tree.has_directory("b/a/b") && !tree.has_directory("c"));
    }
}
