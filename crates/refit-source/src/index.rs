//! The index of a source: which versions it has, and the digests of their files.
//!
//! `index.json` stands beside the folders of versions: a list of `{"version": "v2.6.4", "files": [{"file":
//! "gotk-components.yaml", "sha256": "...", "exact": true, "origin": "..."}]}`. All but `version` and `file` may be left
//! out, and other fields are passed over.

use refit_core::release::Version;
use serde::{Deserialize, Serialize};

use crate::manifests;

/// The name of the file.
pub(crate) const FILE: &str = "index.json";

/// What a source has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Index {
    /// The releases, oldest first.
    pub releases: Vec<Indexed>,
}

/// One release of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Indexed {
    /// The version, as its folder spells it.
    pub version: String,
    /// Its manifests.
    pub files: Vec<IndexedFile>,
}

/// One file of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexedFile {
    /// The name.
    pub file: String,
    /// The digest in hexadecimal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether it is byte for byte what the generator writes.
    #[serde(default = "yes")]
    pub exact: bool,
    /// Where it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
}

fn yes() -> bool {
    true
}

impl Index {
    /// Reads an index; entries that are no version, and files that are no manifest, are left out.
    pub fn read(bytes: &[u8]) -> Result<Self, serde_json::Error> {
        let mut index: Self = serde_json::from_slice(bytes)?;
        for release in &mut index.releases {
            let safe = |file: &IndexedFile| !file.file.contains(['/', '\\']) && file.file.ends_with(".yaml");
            release.files.retain(safe);
        }
        index
            .releases
            .retain(|release| release.parsed().is_some() && !release.files.is_empty());
        index.releases.sort_by_cached_key(Indexed::parsed);
        Ok(index)
    }

    /// Writes it, one release after another.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// Finds a release, however it is spelt.
    pub fn release(&self, version: &str) -> Option<&Indexed> {
        let wanted = Version::parse(version).ok()?;
        self.releases
            .iter()
            .find(|release| release.parsed().as_ref() == Some(&wanted))
    }

    /// Finds a file of a release.
    pub fn file(&self, version: &str, name: &str) -> Option<&IndexedFile> {
        self.release(version)?.files.iter().find(|file| file.file == name)
    }

    /// Puts a release in the place of what was known of it.
    pub fn put(&mut self, release: Indexed) {
        self.releases.retain(|other| other.parsed() != release.parsed());
        self.releases.push(release);
        self.releases.sort_by_cached_key(Indexed::parsed);
    }

    /// Lists the releases that have manifests of a platform.
    pub(crate) fn of_platform(&self, platform: &str) -> impl Iterator<Item = &Indexed> {
        self.releases.iter().filter(move |release| {
            release
                .files
                .iter()
                .any(|file| manifests::is_manifest(platform, &file.file))
        })
    }
}

impl Indexed {
    /// Gives the version, where it is one and names a folder.
    pub(crate) fn parsed(&self) -> Option<Version> {
        (self.version.trim() == self.version).then(|| Version::parse(&self.version).ok())?
    }
}

impl IndexedFile {
    /// Compares a digest with the recorded one; says how they differ.
    pub(crate) fn check(&self, digest: &str) -> Result<(), String> {
        let Some(recorded) = self.digest().filter(|recorded| recorded != digest) else {
            return Ok(());
        };
        Err(format!("has the digest `{digest}`, `{FILE}` says `{recorded}`"))
    }

    /// Gives the recorded digest as `sha256:` and hexadecimal.
    pub(crate) fn digest(&self) -> Option<String> {
        let recorded = self.sha256.as_ref()?.to_ascii_lowercase();
        Some(format!("sha256:{}", recorded.trim_start_matches("sha256:")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_sorted_and_paths_in_it_are_refused() {
        let text = br#"[{"version": "v2.10.0", "files": [{"file": "gotk-components.yaml", "sha256": "AB"}]},
            {"version": "v2.9.0", "extra": 1, "files": [{"file": "gotk-components.yaml"}]},
            {"version": "../x", "files": [{"file": "gotk-components.yaml"}]},
            {"version": " v1.0.0", "files": [{"file": "gotk-components.yaml"}]},
            {"version": "v2.8.0", "files": [{"file": "../gotk-components.yaml"}]}]"#;
        let index = Index::read(text).unwrap();
        let versions: Vec<_> = index.releases.iter().map(|release| release.version.as_str()).collect();
        assert_eq!(versions, ["v2.9.0", "v2.10.0"]);
        let file = index.file("2.10.0", "gotk-components.yaml").unwrap();
        assert_eq!((file.digest().as_deref(), file.exact), (Some("sha256:ab"), true));
        assert!(file.check("sha256:ab").is_ok());
        assert_eq!(
            file.check("sha256:cd").unwrap_err(),
            "has the digest `sha256:cd`, `index.json` says `sha256:ab`"
        );
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut index = Index::default();
        for version in ["v2.6.4", "v2.5.1", "2.6.4"] {
            let file = IndexedFile {
                file: manifests::FLUX.into(),
                sha256: Some("ab".into()),
                exact: false,
                origin: None,
            };
            index.put(Indexed {
                version: version.into(),
                files: vec![file],
            });
        }
        assert_eq!(index.releases.len(), 2, "one entry for each version");
        assert_eq!(Index::read(index.write().unwrap().as_bytes()).unwrap(), index);
    }
}
