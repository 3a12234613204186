//! Releases in a folder.
//!
//! `DIR/<platform>/<version>/` holds the files of a release; for Flux, `DIR/<version>/` does, too. For Flux these are
//! `gotk-components.yaml` and, where the plane may have more components, further files named `gotk-components.*.yaml`.
//! `SHA256SUMS` beside them, where it is there, must list each of them with its digest.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use refit_core::digest;
use refit_core::release::{Platform, Version};
use refit_engine::ports::{Content, PortError, PortErrorKind, Releases};

use crate::digests::{self, Digests};
use crate::index::{self, Index};
use crate::manifests;

/// Releases in a folder.
#[derive(Clone, Debug)]
pub struct Directory {
    base: PathBuf,
}

impl Directory {
    /// Takes the path of the folder; it is read when a question is asked.
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into() }
    }

    /// Gives the folders that may hold folders of versions.
    fn parents(&self, platform: &str) -> Result<Vec<PathBuf>, PortError> {
        let platform = manifests::platform(platform)?;
        if !self.base.is_dir() {
            let message = format!("the catalog folder `{}` is not there", self.base.display());
            let hint = "check `--catalog DIR` and `spec.catalog.sources` of `refit.yaml`; docs/catalog.md tells how the folder looks";
            return Err(PortError::new(PortErrorKind::NotFound, message).hint(hint));
        }
        let own = Some(self.base.join(platform.as_str())).filter(|path| path.is_dir());
        let bare = (platform == Platform::flux()).then(|| self.base.clone());
        Ok(own.into_iter().chain(bare).collect())
    }

    /// Lists the folders of versions that hold files of a platform; of two for one version the first is taken.
    fn folders(&self, platform: &str) -> Result<Vec<(Version, PathBuf)>, PortError> {
        let mut folders: Vec<(Version, PathBuf)> = Vec::new();
        for parent in self.parents(platform)? {
            for path in list(&parent)? {
                let name = path.file_name().and_then(|name| name.to_str());
                let Some(version) = name.and_then(|name| Version::parse(name).ok()) else {
                    continue;
                };
                let known = folders.iter().any(|(other, _)| *other == version);
                if !known && path.is_dir() && !files(platform, &path)?.is_empty() {
                    folders.push((version, path));
                }
            }
        }
        folders.sort();
        Ok(folders)
    }
}

impl Releases for Directory {
    fn location(&self) -> String {
        self.base.display().to_string()
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        let folders = self.folders(platform)?;
        let names = folders
            .iter()
            .filter_map(|(_, path)| path.file_name()?.to_str().map(ToOwned::to_owned));
        Ok(names.collect())
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let folders = self.folders(platform)?;
        let wanted = Version::parse(version).ok();
        let found = folders.iter().find(|(version, _)| Some(version) == wanted.as_ref());
        let Some((_, folder)) = found else {
            return Err(self.unknown(platform, version, &folders));
        };
        let digests = recorded(folder)?;
        let index = indexed(folder)?;
        let mut contents = Vec::new();
        for path in files(platform, folder)? {
            let mut content = content(&path, digests.as_ref())?;
            if let Some(file) = index.as_ref().and_then(|index| index.file(version, &name(&path))) {
                let differs = |what: &str| corrupt(&path, what);
                file.check(&content.digest).map_err(|what| differs(&what))?;
                content.exact = file.exact;
                content.compared |= file.digest().is_some();
            }
            contents.push(content);
        }
        if let Some(name) = digests
            .iter()
            .flat_map(Digests::names)
            .find(|name| !folder.join(name).exists())
        {
            return Err(corrupt(&folder.join(name), "is recorded, but not there"));
        }
        manifests::sort(&mut contents);
        Ok(contents)
    }
}

impl Directory {
    fn unknown(&self, platform: &str, version: &str, folders: &[(Version, PathBuf)]) -> PortError {
        let place = format!("the catalog folder `{}`", self.base.display());
        let versions: Vec<Version> = folders.iter().map(|(version, _)| version.clone()).collect();
        let way = "write it there with `refit catalog pull` or `flux install --export`, or name another source with `--catalog`";
        manifests::unknown(platform, version, &place, &versions, way)
    }
}

/// Lists the manifests of a platform in the folder of a version.
fn files(platform: &str, folder: &Path) -> Result<Vec<PathBuf>, PortError> {
    let named = |path: &PathBuf| {
        path.file_name()
            .and_then(|name| name.to_str())
            .is_some_and(|name| manifests::is_manifest(platform, name))
    };
    Ok(list(folder)?
        .into_iter()
        .filter(named)
        .filter(|path| path.is_file())
        .collect())
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, PortError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    let entries = entries.map_err(|source| unreadable(folder, source))?;
    let mut paths: Vec<PathBuf> = entries.into_iter().map(|entry: fs::DirEntry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads the index beside the folders of versions, where there is one.
fn indexed(folder: &Path) -> Result<Option<Index>, PortError> {
    let path = folder.parent().unwrap_or(folder).join(index::FILE);
    match fs::read(&path) {
        Ok(bytes) => {
            let damaged = |source| corrupt(&path, "is no index of releases").because(source);
            Index::read(&bytes).map(Some).map_err(damaged)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(&path, source)),
    }
}

fn recorded(folder: &Path) -> Result<Option<Digests>, PortError> {
    let path = folder.join(digests::FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            let damaged = |line| corrupt(&path, &format!("has no digest in line {line}"));
            Digests::read(&text).map(Some).map_err(damaged)
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(unreadable(&path, source)),
    }
}

fn content(path: &Path, digests: Option<&Digests>) -> Result<Content, PortError> {
    let bytes: Arc<[u8]> = fs::read(path).map_err(|source| unreadable(path, source))?.into();
    let digest = digest::of(&bytes);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    match digests.map(|digests| digests.of(name)) {
        Some(Some(recorded)) if recorded != digest => {
            return Err(corrupt(
                path,
                &format!("has the digest `{digest}`, recorded is `{recorded}`"),
            ));
        }
        Some(None) => {
            return Err(corrupt(
                path,
                &format!("is not listed in `{}` beside it", digests::FILE),
            ));
        }
        _ => {}
    }
    Ok(Content {
        bytes,
        digest,
        origin: path.display().to_string(),
        exact: true,
        compared: digests.is_some(),
    })
}

fn corrupt(path: &Path, what: &str) -> PortError {
    let hint = "fetch the release again, and find out who changed the folder";
    PortError::new(PortErrorKind::Corrupt, format!("`{}` {what}", path.display())).hint(hint)
}

fn unreadable(path: &Path, source: io::Error) -> PortError {
    let (kind, hint) = match source.kind() {
        io::ErrorKind::NotFound => (PortErrorKind::NotFound, "check `--catalog DIR`"),
        io::ErrorKind::PermissionDenied => (PortErrorKind::Forbidden, "allow this user to read it"),
        _ => (
            PortErrorKind::Other,
            "check the disk and the folder given with `--catalog DIR`",
        ),
    };
    PortError::new(kind, format!("could not read `{}`", path.display()))
        .hint(hint)
        .because(source)
}

#[cfg(test)]
mod tests {
    use refit_testkit::releases::{CONTRACT, check_contract};
    use tempfile::TempDir;

    use super::*;

    /// Writes the files of the contract below a folder, each version in `prefix` and its own folder.
    fn lay_out(prefix: &str) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in CONTRACT {
            let path = folder.path().join(prefix).join(file.version);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join(file.name), file.text).unwrap();
        }
        folder
    }

    fn record(folder: &Path, text: &str) {
        fs::write(folder.join(digests::FILE), text).unwrap();
    }

    fn line(name: &str, text: &str) -> String {
        format!(
            "{}  {name}\n",
            digest::of(text.as_bytes()).trim_start_matches("sha256:")
        )
    }

    fn check_corrupt(folder: &TempDir, what: &str) {
        let error = Directory::new(folder.path()).contents("flux", "v2.6.4").unwrap_err();
        assert_eq!(error.kind, PortErrorKind::Corrupt);
        assert!(error.message.contains(what), "{}", error.message);
        assert!(error.remedy.unwrap().contains("fetch the release again"));
    }

    #[test]
    fn both_layouts_keep_the_contract() {
        for prefix in ["", "flux"] {
            let folder = lay_out(prefix);
            fs::create_dir_all(folder.path().join("weave-gitops/v0.9.0")).unwrap();
            fs::write(folder.path().join("README.md"), "not a version").unwrap();
            check_contract(&Directory::new(folder.path()));
        }
    }

    #[test]
    fn platforms_stand_beside_each_other() {
        let folder = lay_out("flux");
        let other = folder.path().join("weave-gitops/v0.9.0");
        fs::create_dir_all(&other).unwrap();
        fs::write(other.join("application.yaml"), "kind: CustomResourceDefinition\n").unwrap();
        let directory = Directory::new(folder.path());
        assert_eq!(directory.versions("weave-gitops").unwrap(), ["v0.9.0"]);
        assert_eq!(directory.versions("flux").unwrap(), ["v2.5.1", "v2.6.4"]);
    }

    #[test]
    fn a_file_with_its_recorded_digest_is_given() {
        let folder = lay_out("");
        let lines: String = CONTRACT[..2].iter().map(|file| line(file.name, file.text)).collect();
        record(&folder.path().join("v2.6.4"), &lines);
        check_contract(&Directory::new(folder.path()));
    }

    #[test]
    fn a_file_with_another_digest_is_refused_with_a_remedy() {
        let folder = lay_out("");
        let lines = line(CONTRACT[0].name, "something else") + &line(CONTRACT[1].name, CONTRACT[1].text);
        record(&folder.path().join("v2.6.4"), &lines);
        check_corrupt(&folder, "has the digest `sha256:");
    }

    #[test]
    fn a_file_that_is_not_recorded_or_not_there_is_refused() {
        let folder = lay_out("");
        let version = folder.path().join("v2.6.4");
        record(&version, &line(CONTRACT[0].name, CONTRACT[0].text));
        check_corrupt(&folder, "is not listed in `SHA256SUMS`");
        fs::remove_file(version.join(CONTRACT[1].name)).unwrap();
        record(
            &version,
            &(line(CONTRACT[0].name, CONTRACT[0].text) + &line("gotk-components.six.yaml", "")),
        );
        check_corrupt(&folder, "is recorded, but not there");
        record(&version, "nonsense\n");
        check_corrupt(&folder, "has no digest in line 1");
    }

    #[test]
    fn a_version_that_is_not_there_names_what_is() {
        let folder = lay_out("");
        let error = Directory::new(folder.path()).contents("flux", "v9.9.9").unwrap_err();
        let remedy = error.remedy.unwrap();
        assert!(
            remedy.starts_with("it has 2 versions from `v2.5.1` to `v2.6.4`"),
            "{remedy}"
        );
        let absent = Directory::new(folder.path().join("absent"));
        for error in [
            absent.versions("flux").unwrap_err(),
            absent.contents("flux", "v2.6.4").unwrap_err(),
        ] {
            assert_eq!(error.kind, PortErrorKind::NotFound);
            assert!(error.remedy.unwrap().contains("--catalog DIR"));
        }
    }
}
