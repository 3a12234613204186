//! Finds the manifests that tests read: small ones of the project, and real ones beside it.

use std::fs;
use std::path::{Path, PathBuf};

use refit_core::release::Version;
use refit_manifest::Stream;

/// A file of a release.
pub(crate) struct Manifest {
    pub(crate) version: Version,
    pub(crate) name: String,
    pub(crate) stream: Stream,
}

impl Manifest {
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.version, self.name)
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Gives a folder of real data; says that the test is skipped when it is not there.
pub(crate) fn shared(folder: &str) -> Option<PathBuf> {
    let path = root().join("../shared").join(folder);
    if !path.is_dir() {
        println!("skipped: ../shared/{folder} is not there");
        return None;
    }
    Some(path)
}

/// Lists the manifests of a release folder, one call for each version, oldest first.
pub(crate) fn each_version(folder: &Path, mut check: impl FnMut(&Version, Vec<Manifest>)) {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let mut versions: Vec<(Version, PathBuf)> = folders
        .map(|entry| {
            (
                Version::parse(entry.file_name().to_str().unwrap()).unwrap(),
                entry.path(),
            )
        })
        .collect();
    versions.sort();
    for (version, path) in versions {
        check(&version, manifests(&version, &path));
    }
}

fn manifests(version: &Version, folder: &Path) -> Vec<Manifest> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    let yaml = names
        .into_iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    yaml.map(|path| Manifest {
        version: version.clone(),
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        stream: read(&path),
    })
    .collect()
}

pub(crate) fn read(path: &Path) -> Stream {
    split(&fs::read(path).unwrap())
}

pub(crate) fn split(bytes: &[u8]) -> Stream {
    Stream::split(bytes.into()).unwrap()
}

/// Gives the small releases that are part of the project.
pub(crate) fn examples() -> PathBuf {
    root().join("examples/catalog/flux")
}

/// Lists the folders of releases that are there: the examples always, the real ones where they are.
pub(crate) fn releases() -> Vec<PathBuf> {
    [Some(examples()), shared("flux-manifests")]
        .into_iter()
        .flatten()
        .collect()
}

/// Gives the text after the comments at the top, one of which lies in `v0.30.2`.
pub(crate) fn below_header(bytes: &[u8]) -> &str {
    let text = std::str::from_utf8(bytes).unwrap();
    &text[text.find("apiVersion:").unwrap()..]
}
