//! Writes releases into a folder that `Directory` reads.
//!
//! In: a source and a version. Out: `DIR/<platform>/<version>/` with the manifests and `SHA256SUMS`, and an entry of
//! `DIR/<platform>/index.json`. A version appears all at once; what is there and whole is not written again, so that a
//! pull that was cut goes on where it was. Processes take turns.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use refit_core::release::{Platform, Version};
use refit_engine::ports::{Content, PortError, PortErrorKind, Releases};

use crate::cache;
use crate::digests;
use crate::directory::Directory;
use crate::index::{self, Index, Indexed, IndexedFile};
use crate::manifests;

/// How folders begin that are not whole yet.
const PARTIAL: &str = ".partial-";

/// What became of a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// It was written.
    New,
    /// It was there already, whole.
    Kept,
}

/// Locks a file, which is left as it is; a link would lead to somebody else's.
fn lock(path: &Path) -> io::Result<File> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        return Err(io::Error::other("it is a symbolic link"));
    }
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).open(path)?;
    file.lock()?;
    Ok(file)
}

/// A folder that releases are written into.
#[derive(Debug)]
pub struct Puller {
    base: PathBuf,
    folder: PathBuf,
    platform: Platform,
    /// Held as long as the value lives.
    _turn: File,
}

impl Puller {
    /// Takes the turn to write into a folder; waits for others.
    pub fn open(base: &Path, platform: &Platform) -> Result<Self, PortError> {
        let folder = base.join(platform.as_str());
        fs::create_dir_all(&folder).map_err(|source| unwritable(&folder, source))?;
        let path = folder.join(".lock");
        let turn = lock(&path).map_err(|source| unwritable(&path, source))?;
        clear(&folder).map_err(|source| unwritable(&folder, source))?;
        Ok(Self {
            base: base.to_owned(),
            folder,
            platform: platform.clone(),
            _turn: turn,
        })
    }

    /// Writes one version, unless it is there.
    pub fn pull(&self, releases: &dyn Releases, version: &Version) -> Result<Pulled, PortError> {
        let place = self.folder.join(version.to_string());
        if place.exists() {
            return self.check(version, &place);
        }
        let contents = releases.contents(self.platform.as_str(), &version.to_string())?;
        let files = named(&contents);
        let partial = tempfile::Builder::new()
            .prefix(PARTIAL)
            .tempdir_in(&self.folder)
            .map_err(|source| unwritable(&self.folder, source))?;
        let mut sums = String::new();
        for (name, content) in &files {
            let path = partial.path().join(name);
            cache::write(&path, &content.bytes).map_err(|source| unwritable(&path, source))?;
            sums.push_str(&format!("{}  {name}\n", hexadecimal(&content.digest)));
        }
        let path = partial.path().join(digests::FILE);
        cache::write(&path, sums.as_bytes()).map_err(|source| unwritable(&path, source))?;
        // The index comes first: a version without its entry would count as byte-exact.
        self.record(version, &files)?;
        readable(partial.path())
            .and_then(|()| fs::rename(partial.path(), &place))
            .map_err(|source| unwritable(&place, source))?;
        Ok(Pulled::New)
    }

    /// Accepts what is there, when it is whole.
    fn check(&self, version: &Version, place: &Path) -> Result<Pulled, PortError> {
        let there = Directory::new(&self.base).contents(self.platform.as_str(), &version.to_string());
        let hint = format!("remove `{}` to fetch it again", place.display());
        match there {
            Ok(_) => Ok(Pulled::Kept),
            Err(error) if error.kind == PortErrorKind::NotFound => {
                let message = format!("`{}` is there without a manifest", place.display());
                Err(PortError::new(PortErrorKind::Corrupt, message).hint(hint))
            }
            Err(error) => Err(error.hint(hint)),
        }
    }

    fn record(&self, version: &Version, files: &[(String, &Content)]) -> Result<(), PortError> {
        let path = self.folder.join(index::FILE);
        let mut index = match fs::read(&path) {
            Ok(bytes) => Index::read(&bytes).map_err(|source| {
                let message = format!("`{}` is no index of releases", path.display());
                PortError::new(PortErrorKind::Corrupt, message)
                    .hint("remove it, and pull again")
                    .because(source)
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Index::default(),
            Err(source) => return Err(unwritable(&path, source)),
        };
        let entry = |(name, content): &(String, &Content)| IndexedFile {
            file: name.clone(),
            sha256: Some(hexadecimal(&content.digest).to_owned()),
            exact: content.exact,
            origin: Some(content.origin.clone()),
        };
        index.put(Indexed {
            version: version.to_string(),
            files: files.iter().map(entry).collect(),
        });
        let text = index.write().map_err(|source| unwritable(&path, source.into()))?;
        cache::write(&path, text.as_bytes()).map_err(|source| unwritable(&path, source))
    }
}

/// Removes what pulls left that were cut.
fn clear(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(PARTIAL) && path.is_dir() {
            fs::remove_dir_all(&path)?;
        }
    }
    Ok(())
}

/// Names the files: that with fewest components has the plain name, as the generator's default.
fn named(contents: &[Content]) -> Vec<(String, &Content)> {
    let last = contents.len().saturating_sub(1);
    let name = |(at, content): (usize, &Content)| match manifests::components(&content.bytes) {
        _ if at == last => manifests::FLUX.to_owned(),
        6 => "gotk-components.six.yaml".to_owned(),
        count => format!("gotk-components.{count}.yaml"),
    };
    let mut files: Vec<(String, &Content)> = Vec::new();
    for (at, content) in contents.iter().enumerate() {
        let name = name((at, content));
        // Two files with as many components hold the same.
        if !files.iter().any(|(other, _)| *other == name) {
            files.push((name, content));
        }
    }
    files.sort_by(|(one, _), (other, _)| one.cmp(other));
    files
}

fn hexadecimal(digest: &str) -> &str {
    digest.trim_start_matches("sha256:")
}

/// A temporary folder is for its owner alone; what stays is as readable as any other folder.
#[cfg(unix)]
fn readable(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn readable(_: &Path) -> io::Result<()> {
    Ok(())
}

fn unwritable(path: &Path, source: io::Error) -> PortError {
    let kind = match source.kind() {
        io::ErrorKind::PermissionDenied => PortErrorKind::Forbidden,
        _ => PortErrorKind::Other,
    };
    let message = format!("could not write `{}`", path.display());
    PortError::new(kind, message)
        .hint("check the folder given with `--to DIR` and the space on its disk")
        .because(source)
}
