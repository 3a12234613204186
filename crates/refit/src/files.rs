//! The files below a path, one at a time, on a few threads.
//!
//! In: a file or folder that the user names. Out: the paths of files by name, and an answer per file in their order. Links
//! below the given path are not followed, `.git` is left out. Holds no more than one file per thread.

use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use refit_manifest::Path as Name;

use crate::disk;
use crate::failure::Failure;

/// The most threads that read.
const THREADS: usize = 8;

/// How many bytes are read at first.
const CHUNK: usize = 32 << 10;

/// How large a buffer may be that is kept for the next file.
const BUFFER: usize = 1 << 20;

/// The most bytes of one file.
const SIZE_LIMIT: u64 = 64 << 20;

/// The files below one path.
#[derive(Debug)]
pub(crate) struct Listing {
    /// The folder; the parent of a file that was named itself.
    pub(crate) root: PathBuf,
    /// Whether a file was named itself.
    pub(crate) is_file: bool,
    /// The paths from there, in order; who keeps one shares it.
    pub(crate) names: Vec<Name>,
    /// The links, which are not followed.
    pub(crate) links: Vec<String>,
    /// What cannot be looked at.
    pub(crate) odd: Vec<Odd>,
    /// What a run of this program that was cut off left behind.
    pub(crate) leftovers: Vec<String>,
}

/// Something that cannot be looked at.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Odd {
    pub(crate) path: String,
    /// Why not.
    pub(crate) reason: String,
    /// What the user can do.
    pub(crate) remedy: &'static str,
}

impl Odd {
    /// Says why a file or folder could not be read.
    pub(crate) fn unreadable(path: impl Into<String>, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::FileTooLarge => "part it into several files, or leave it out",
            io::ErrorKind::NotFound => "run the command again when nobody changes the files",
            _ => "give yourself the right to read it, then run the command again",
        };
        Self {
            path: path.into(),
            reason: error.to_string(),
            remedy,
        }
    }
}

/// Tells of what is neither file nor folder; it is never opened, since that could wait for ever.
const NO_FILE: (&str, &str) = (
    "it is neither file nor folder",
    "leave pipes, sockets and devices out of what is looked at",
);

impl Listing {
    /// Gives the path of a file as the user would write it.
    pub(crate) fn shown(&self, name: &str) -> String {
        let shown = match self.root.to_str() {
            Some(".") | None => name.to_owned(),
            Some(_) => self.root.join(name).display().to_string(),
        };
        shown.strip_prefix("./").map(ToOwned::to_owned).unwrap_or(shown)
    }
}

/// Lists the files below a path whose names are wanted; a file that is named itself is always wanted.
pub(crate) fn list(path: &Path, is_wanted: impl Fn(&str) -> bool) -> Result<Listing, Failure> {
    let mut listing = Listing {
        root: path.to_owned(),
        is_file: false,
        names: Vec::new(),
        links: Vec::new(),
        odd: Vec::new(),
        leftovers: Vec::new(),
    };
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(_) if path.is_symlink() => {
            listing.put_aside(path, "it is a link to nothing", "correct or remove the link");
            return Ok(listing);
        }
        Err(error) => return Err(disk::unreadable(path, &error)),
    };
    if !metadata.is_dir() {
        listing.is_file = true;
        return listing.of_one(path, &metadata);
    }
    let mut open = vec![String::new()];
    while let Some(directory) = open.pop() {
        let here = path.join(&directory);
        if let Err(error) = enter(&here, &directory, (&is_wanted, &mut listing), &mut open) {
            if directory.is_empty() {
                return Err(disk::unreadable(path, &error));
            }
            listing.odd.push(Odd::unreadable(listing.shown(&directory), &error));
        }
    }
    listing.names.sort_unstable();
    listing.odd.sort();
    Ok(listing)
}

impl Listing {
    /// Takes the other names of files below the same path.
    pub(crate) fn with_names(&self, names: Vec<Name>) -> Self {
        Self {
            root: self.root.clone(),
            is_file: self.is_file,
            names,
            links: Vec::new(),
            odd: Vec::new(),
            leftovers: Vec::new(),
        }
    }

    /// Tells whether a path names a plain file of the folder that a walk could meet: behind no link, and not in `.git`.
    pub(crate) fn can_hold(&self, name: &str) -> bool {
        let mut place = self.root.clone();
        let mut parts = name.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            let Ok(found) = fs::symlink_metadata(&place) else {
                return false;
            };
            let fits = match parts.peek() {
                Some(_) => found.is_dir() && part != ".git",
                None => found.is_file(),
            };
            if !fits || matches!(part, "" | "." | "..") {
                return false;
            }
        }
        true
    }

    fn of_one(mut self, path: &Path, metadata: &Metadata) -> Result<Self, Failure> {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        self.root = parent.unwrap_or(Path::new(".")).to_owned();
        if !metadata.is_file() {
            self.put_aside(path, NO_FILE.0, NO_FILE.1);
            return Ok(self);
        }
        let name = path.file_name().and_then(|name| name.to_str());
        let not_utf8 =
            || Failure::new(format!("the name of `{}` is not UTF-8", path.display())).hint("rename the file");
        self.names.push(Name::from(name.ok_or_else(not_utf8)?));
        Ok(self)
    }

    fn put_aside(&mut self, path: &Path, reason: &str, remedy: &'static str) {
        self.odd.push(Odd {
            path: path.display().to_string(),
            reason: reason.to_owned(),
            remedy,
        });
    }
}

fn enter(
    here: &Path,
    directory: &str,
    (is_wanted, listing): (&impl Fn(&str) -> bool, &mut Listing),
    open: &mut Vec<String>,
) -> io::Result<()> {
    for entry in fs::read_dir(here)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            if is_wanted(&name.to_string_lossy()) || kind.is_dir() {
                listing.put_aside(
                    &entry.path(),
                    "its name is not UTF-8",
                    "rename it, then run the command again",
                );
            }
            continue;
        };
        let below = || match directory {
            "" => name.to_owned(),
            directory => format!("{directory}/{name}"),
        };
        if kind.is_dir() && name != ".git" {
            open.push(below());
        } else if kind.is_file() && is_wanted(name) {
            listing.names.push(Name::new(below()));
        } else if kind.is_file() && disk::is_leftover(name) {
            listing.leftovers.push(below());
        } else if kind.is_symlink() {
            listing.links.push(below());
        } else if !kind.is_file() && !kind.is_dir() && is_wanted(name) {
            listing.put_aside(Path::new(&listing.shown(&below())), NO_FILE.0, NO_FILE.1);
        }
    }
    Ok(())
}

/// Reads each file and gives the answers in the order of the names; each thread has a state of its own, given back too.
pub(crate) fn each<S: Default + Send, T: Send>(
    listing: &Listing,
    read: impl Fn(&mut S, &Name, io::Result<&[u8]>) -> Option<T> + Sync,
) -> (Vec<S>, Vec<T>) {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut state = S::default();
        let mut found = Vec::new();
        let mut buffer = vec![0; CHUNK];
        let mut place = PathBuf::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(name) = listing.names.get(at) else {
                return (state, found);
            };
            place.as_mut_os_string().clear();
            place.push(&listing.root);
            place.push(name.as_str());
            let bytes = fill(&place, &mut buffer).map(|length| &buffer[..length]);
            if let Some(answer) = read(&mut state, name, bytes) {
                found.push((at, answer));
            }
            if buffer.len() > BUFFER {
                buffer = vec![0; CHUNK];
            }
        }
    };
    let threads = std::thread::available_parallelism()
        .map_or(1, NonZero::get)
        .min(THREADS);
    let mut done: Vec<(S, Vec<(usize, T)>)> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(worker)).collect();
        let mut done = vec![worker()];
        // A thread that panicked has printed why; its panic goes on here.
        done.extend(others.into_iter().map(|thread| match thread.join() {
            Ok(found) => found,
            Err(panic) => std::panic::resume_unwind(panic),
        }));
        done
    });
    let mut found: Vec<(usize, T)> = done.iter_mut().flat_map(|(_, found)| std::mem::take(found)).collect();
    found.sort_by_key(|(at, _)| *at);
    let states = done.into_iter().map(|(state, _)| state).collect();
    (states, found.into_iter().map(|(_, answer)| answer).collect())
}

/// Reads a file into a buffer, which grows where it must, and gives its length.
fn fill(path: &Path, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut length = 0;
    loop {
        if length == buffer.len() {
            buffer.resize(2 * length, 0);
        }
        match file.read(&mut buffer[length..]) {
            Ok(0) => return Ok(length),
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if length as u64 > SIZE_LIMIT {
            return Err(disk::too_large(SIZE_LIMIT));
        }
    }
}
