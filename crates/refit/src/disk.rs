//! Folders and files on disk, read into trees and written whole or not at all.
//!
//! In: a path. Out: a [`Folder`], or the path written. Links are never followed below the given path. Knows no YAML.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, Metadata};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use refit_manifest::{Entry, Tree};

use crate::failure::Failure;

/// What stands in a folder.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// The files and links whose paths are UTF-8.
    pub(crate) tree: Tree,
    /// The others, by relative path.
    pub(crate) odd: BTreeMap<PathBuf, Entry>,
}

/// Reads all files and links below a folder, without `.git`.
pub(crate) fn read_folder(root: &Path) -> Result<Folder, Failure> {
    let mut folder = Folder::default();
    let mut open = vec![PathBuf::new()];
    while let Some(directory) = open.pop() {
        let here = root.join(&directory);
        let entries = fs::read_dir(&here).map_err(|error| unreadable(&here, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| unreadable(&here, &error))?;
            if entry.file_name() == ".git" {
                continue;
            }
            let relative = directory.join(entry.file_name());
            match read_entry(&entry)? {
                Some(found) => folder.put(relative, found),
                None => open.push(relative),
            }
        }
    }
    Ok(folder)
}

impl Folder {
    fn put(&mut self, relative: PathBuf, entry: Entry) {
        match relative.to_str() {
            Some(text) => drop(self.tree.insert(text.into(), entry)),
            None => drop(self.odd.insert(relative, entry)),
        }
    }

    /// Lists every path with its entry.
    fn all(&self) -> impl Iterator<Item = (PathBuf, &Entry)> {
        let plain = self
            .tree
            .iter()
            .map(|(path, entry)| (PathBuf::from(path.as_str()), entry));
        plain.chain(self.odd.iter().map(|(path, entry)| (path.clone(), entry)))
    }

    /// Gives a path that would have to be a file and a folder at once, where there is one.
    pub(crate) fn clash(&self) -> Option<PathBuf> {
        let all: BTreeMap<PathBuf, &Entry> = self.all().collect();
        let within = |path: &PathBuf| {
            path.ancestors()
                .skip(1)
                .find(|above| all.contains_key(*above))
                .map(Path::to_owned)
        };
        all.keys().find_map(within)
    }
}

/// Reads a file or link; gives `None` for a folder.
fn read_entry(entry: &DirEntry) -> Result<Option<Entry>, Failure> {
    let path = entry.path();
    let metadata = entry.metadata().map_err(|error| unreadable(&path, &error))?;
    if metadata.is_dir() {
        return Ok(None);
    }
    if metadata.is_symlink() {
        let target = fs::read_link(&path).map_err(|error| unreadable(&path, &error))?;
        let text = target.to_str().ok_or_else(|| {
            Failure::new(format!(
                "the link `{}` points to a name that is not UTF-8",
                path.display()
            ))
            .hint("leave the link out of the trees, or rename its target")
        })?;
        return Ok(Some(Entry::Link(text.into())));
    }
    if !metadata.is_file() {
        return Err(
            Failure::new(format!("`{}` is neither file nor folder nor link", path.display()))
                .hint("leave sockets, pipes and devices out of the trees"),
        );
    }
    let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
    Ok(Some(Entry::File {
        bytes: bytes.into(),
        executable: is_executable(&metadata),
    }))
}

/// Reads a file of a repository: what is neither a file nor a link to one is never opened, since that could wait for ever.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    whole(fs::File::open(path)?, SIZE_LIMIT)
}

/// The most bytes of one file; a device can be endless.
const SIZE_LIMIT: u64 = 256 << 20;

/// Reads all that there is; the error says where that is more than the limit, so that nothing is ever used in part.
fn whole(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(limit + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > limit {
        true => Err(too_large(limit)),
        false => Ok(bytes),
    }
}

/// Says that a file has more bytes than are read of one.
pub(crate) fn too_large(limit: u64) -> io::Error {
    let reason = format!("it has more than {} MiB", limit >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, reason)
}

/// Reads one file.
pub(crate) fn read_file(path: &Path) -> Result<Entry, Failure> {
    let failed = |error: io::Error| unreadable(path, &error);
    let file = fs::File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let bytes = whole(file, SIZE_LIMIT).map_err(failed)?;
    Ok(Entry::File {
        bytes: bytes.into(),
        executable: is_executable(&metadata),
    })
}

/// Writes a folder beside its place and renames it; the place must not exist or be an empty folder.
pub(crate) fn write_folder(target: &Path, folder: &Folder) -> Result<(), Failure> {
    let failed = |error: io::Error| unwritable(target, &plain(error));
    let beside = tempfile::Builder::new()
        .prefix(PREFIX)
        .tempdir_in(parent(target))
        .map_err(failed)?;
    let whole = beside.path().join("whole");
    fs::create_dir(&whole).map_err(failed)?;
    for (relative, entry) in folder.all() {
        let path = whole.join(&relative);
        fs::create_dir_all(parent(&path)).map_err(failed)?;
        write_entry(&path, entry).map_err(failed)?;
    }
    require_vacant(target)?;
    if target.exists() {
        fs::remove_dir(target).map_err(failed)?;
    }
    fs::rename(&whole, target).map_err(failed)
}

/// Refuses a place that holds something.
pub(crate) fn require_vacant(target: &Path) -> Result<(), Failure> {
    let vacant = match fs::read_dir(target) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(target).is_err(),
    };
    if vacant {
        return Ok(());
    }
    Err(
        Failure::new(format!("`{}` exists and is not an empty folder", target.display()))
            .hint("name a folder that does not exist, or empty it first"),
    )
}

/// Writes a file whole: beside its place, then renamed; an existing file keeps its mode.
pub(crate) fn write_file(target: &Path, entry: &Entry) -> Result<(), Failure> {
    if !matches!(entry, Entry::File { .. }) {
        return Err(Failure::new(format!("`{}` is no file any more", target.display())));
    }
    replace(target, entry).map_err(|error| unwritable(target, &error))
}

/// Writes a file as [`write_file`] does; nothing is changed where that fails.
fn replace(target: &Path, entry: &Entry) -> io::Result<()> {
    put(target, entry, |_| Ok(()))
}

/// Writes a file in place of what was read of it; where somebody else wrote it since, theirs stays and the error says so.
pub(crate) fn swap(target: &Path, read: &[u8], entry: &Entry) -> io::Result<()> {
    put(target, entry, |place| match fs::read(place)? == read {
        true => Ok(()),
        false => Err(io::Error::other("it was changed after it had been read")),
    })
}

/// Writes a file beside its place, and renames it when a last look at the place allows it.
fn put(target: &Path, entry: &Entry, allows: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    let bytes = entry.bytes().map(|bytes| &**bytes).unwrap_or_default();
    let place = fs::canonicalize(target).unwrap_or_else(|_| target.to_owned());
    let old = fs::metadata(&place).ok();
    if old
        .as_ref()
        .is_some_and(|metadata| !metadata.is_file() && !metadata.is_dir())
    {
        return fs::write(&place, bytes);
    }
    let mut file = locked(&place, entry).map_err(plain)?;
    file.write_all(bytes).map_err(plain)?;
    if let Some(metadata) = old {
        file.as_file().set_permissions(metadata.permissions())?;
    }
    allows(&place)?;
    file.persist(&place).map(drop).map_err(|error| plain(error.error))
}

/// How often a file beside a place is made anew when another run took it for a leftover.
const TRIES: usize = 8;

/// Opens a file beside a place and locks it: whoever clears leftovers away sees by the lock that it is in use. Before it was
/// locked another run may have cleared it away; then there is another. Some file systems have no locks.
fn locked(place: &Path, entry: &Entry) -> io::Result<tempfile::NamedTempFile> {
    for _ in 0..TRIES {
        let file = beside(place, entry)?;
        let _ = file.as_file().lock();
        if file.path().exists() {
            return Ok(file);
        }
    }
    Err(io::Error::other("another run clears away what this one writes"))
}

/// What files are called before they get their names.
const PREFIX: &str = ".refit-";
const SUFFIX: &str = ".tmp";

/// Tells whether a file is called like one that was not finished.
pub(crate) fn is_leftover(name: &str) -> bool {
    let inner = name.strip_prefix(PREFIX).and_then(|name| name.strip_suffix(SUFFIX));
    inner.is_some_and(|inner| inner.len() == 6 && inner.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

/// Removes a file that a run which was cut off left behind; tells whether it did. One that is in use stays.
pub(crate) fn clear_leftover(path: &Path) -> bool {
    // The lock is held until the file is gone, so that nobody takes it into use in between.
    let Ok(file) = fs::File::open(path) else {
        return false;
    };
    file.try_lock().is_ok() && fs::remove_file(path).is_ok()
}

fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(above) if above != Path::new("") => above,
        _ => Path::new("."),
    }
}

/// Says that a file or folder could not be read.
pub(crate) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("could not read `{}`", path.display())).caused_by(error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.hint("check the path"),
        io::ErrorKind::PermissionDenied => failure.hint("ask its owner for the right to read it"),
        io::ErrorKind::FileTooLarge => failure.hint("name a file that is a manifest or a saved plan"),
        _ => failure,
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let failure = Failure::new(format!("could not write `{}`", path.display())).caused_by(error);
    match error.kind() {
        io::ErrorKind::NotFound => failure.hint(format!("make the folder `{}` first", parent(path).display())),
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            failure.hint("choose a place that you may write to; nothing was changed")
        }
        _ => failure,
    }
}

/// Gives an error without the name of a temporary file, which says nothing to the user.
fn plain(error: io::Error) -> io::Error {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((before, _)) => io::Error::new(error.kind(), before.to_owned()),
        None => error,
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

/// Gives the mode of a new file, which the user's mask still narrows.
#[cfg(unix)]
fn mode(entry: &Entry) -> u32 {
    match entry {
        Entry::File { executable: true, .. } => 0o777,
        _ => 0o666,
    }
}

/// Opens a file beside a place, with the mode of a new file.
#[cfg(unix)]
fn beside(place: &Path, entry: &Entry) -> io::Result<tempfile::NamedTempFile> {
    use std::os::unix::fs::PermissionsExt;
    let permissions = fs::Permissions::from_mode(mode(entry));
    tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .permissions(permissions)
        .tempfile_in(parent(place))
}

#[cfg(not(unix))]
fn beside(place: &Path, _: &Entry) -> io::Result<tempfile::NamedTempFile> {
    tempfile::Builder::new()
        .prefix(PREFIX)
        .suffix(SUFFIX)
        .tempfile_in(parent(place))
}

/// Writes an entry to a path in a fresh folder.
#[cfg(unix)]
fn write_entry(path: &Path, entry: &Entry) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt;
    match entry {
        Entry::Link(target) => std::os::unix::fs::symlink(OsString::from(&**target), path),
        Entry::File { bytes, .. } => {
            let mut file = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(mode(entry))
                .open(path)?;
            file.write_all(bytes)
        }
    }
}

#[cfg(not(unix))]
fn write_entry(path: &Path, entry: &Entry) -> io::Result<()> {
    match entry {
        Entry::Link(_) => Err(io::Error::other("links cannot be written on this system")),
        Entry::File { bytes, .. } => fs::write(path, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_above_the_limit_is_refused_and_never_cut() {
        assert_eq!(whole(&b"abc"[..], 3).ok().as_deref(), Some(&b"abc"[..]));
        let kind = whole(&b"abcd"[..], 3).map_err(|error| error.kind());
        assert_eq!(kind, Err(io::ErrorKind::FileTooLarge));
    }

    #[test]
    fn what_somebody_wrote_after_the_reading_stays() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("a.yaml");
        fs::write(&place, "theirs").unwrap();
        let new = Entry::file(&b"ours"[..]);
        assert!(swap(&place, b"read", &new).is_err());
        assert_eq!(fs::read(&place).unwrap(), b"theirs");
        swap(&place, b"theirs", &new).unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"ours");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_leftover_is_cleared_only_when_nobody_writes_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = locked(&folder.path().join("a.yaml"), &Entry::file(&b""[..])).unwrap();
        assert!(!clear_leftover(file.path()) && file.path().exists());
        file.as_file().unlock().unwrap();
        assert!(clear_leftover(file.path()) && !file.path().exists());
    }
}
