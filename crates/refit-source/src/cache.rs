//! What was fetched before, below a folder of the user.
//!
//! `answers/` holds, by the digest of a question, the digest of its answer; `blobs/` holds content by its digest. Each
//! file is written beside its place and renamed, so that several processes can share the folder; content is compared
//! with its digest before it is used. Everything in it can be deleted at any time.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use refit_core::digest;

/// The folder; without one nothing is kept.
#[derive(Clone, Debug)]
pub(crate) struct Cache(Option<PathBuf>);

impl Cache {
    pub(crate) fn new(folder: Option<PathBuf>) -> Self {
        Self(folder)
    }

    /// Gives the answer to a question, where it was kept and is whole.
    pub(crate) fn answer(&self, question: &str) -> Option<Vec<u8>> {
        let digest = fs::read_to_string(self.place("answers", &digest::of(question.as_bytes()))?).ok()?;
        self.blob(digest.trim())
    }

    /// Gives content by its digest, where it was kept and is whole.
    pub(crate) fn blob(&self, wanted: &str) -> Option<Vec<u8>> {
        let bytes = fs::read(self.place("blobs", wanted)?).ok()?;
        (digest::of(&bytes) == wanted).then_some(bytes)
    }

    /// Keeps an answer. A cache that cannot be written is no reason to fail.
    pub(crate) fn keep(&self, question: &str, bytes: &[u8]) {
        let digest = digest::of(bytes);
        self.keep_blob(bytes);
        if let Some(path) = self.place("answers", &digest::of(question.as_bytes())) {
            let _ = write(&path, digest.as_bytes());
        }
    }

    /// Keeps content.
    pub(crate) fn keep_blob(&self, bytes: &[u8]) {
        if let Some(path) = self.place("blobs", &digest::of(bytes)) {
            let _ = write(&path, bytes);
        }
    }

    /// Gives the place of a digest; what is no digest has none.
    fn place(&self, kind: &str, digest: &str) -> Option<PathBuf> {
        let name = digest.strip_prefix("sha256:")?;
        let sound = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        sound.then(|| Some(self.0.as_ref()?.join(kind).join(name)))?
    }
}

/// Writes a file so that others see all of it or nothing.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".partial-").tempfile_in(folder)?;
    file.write_all(bytes)?;
    allow_reading(file.as_file())?;
    file.persist(path).map(|_| ()).map_err(|error| error.error)
}

/// A temporary file is for its owner alone; what is kept is as readable as any other file.
#[cfg(unix)]
fn allow_reading(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn allow_reading(_: &fs::File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_answer_is_given_and_a_damaged_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path().to_owned()));
        assert_eq!(cache.answer("q"), None);
        cache.keep("q", b"a");
        assert_eq!(cache.answer("q").as_deref(), Some(b"a".as_slice()));
        assert_eq!(cache.answer("other"), None);
        fs::write(cache.place("blobs", &digest::of(b"a")).unwrap(), "b").unwrap();
        assert_eq!(cache.answer("q"), None);
        cache.keep("q", b"a");
        assert!(cache.answer("q").is_some(), "it is fetched again");
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        let cache = Cache::new(None);
        cache.keep("q", b"a");
        assert_eq!(cache.answer("q"), None);
    }

    #[test]
    fn a_digest_is_no_path() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path().to_owned()));
        for wanted in ["sha256:../../etc/passwd", "", "sha512:00"] {
            assert_eq!(cache.blob(wanted), None, "{wanted}");
        }
    }

    #[test]
    fn writers_at_once_leave_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(Some(folder.path().to_owned()));
        let bytes = vec![7; 1 << 20];
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| cache.keep("q", &bytes));
            }
        });
        assert_eq!(cache.answer("q").as_deref(), Some(bytes.as_slice()));
        let left = fs::read_dir(folder.path().join("blobs")).unwrap().count();
        assert_eq!(left, 1, "no partial file is left");
    }
}
