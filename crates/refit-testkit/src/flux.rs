//! The pristine Flux manifests of `../shared`, by version.
//!
//! In: the folder of manifests. Out: versions in order and their files. Reads files; only for tests.

use std::path::PathBuf;

use refit_manifest::{Document, Stream};

use crate::shared;

/// A Flux version with a manifest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// Major, minor and patch.
    numbers: [u64; 3],
    /// What follows the numbers; `~` for releases, so that they come after their candidates.
    rest: String,
    /// The name of the version, with `v`.
    pub name: String,
}

impl Version {
    /// Reads a version's name.
    pub fn read(name: &str) -> Option<Self> {
        let (numbers, rest) = match name.strip_prefix('v')?.split_once('-') {
            Some((numbers, rest)) => (numbers, rest.to_owned()),
            None => (&name[1..], "~".to_owned()),
        };
        let mut parts = numbers.split('.').map(|part| part.parse().ok());
        let numbers = [parts.next()??, parts.next()??, parts.next()??];
        Some(Self {
            numbers,
            rest,
            name: name.to_owned(),
        })
    }

    /// Tells whether this is no candidate.
    pub fn is_release(&self) -> bool {
        self.rest == "~"
    }

    fn minor(&self) -> [u64; 2] {
        [self.numbers[0], self.numbers[1]]
    }
}

/// Tells whether a manifest holds the image controllers; their names alone also stand in roles of other manifests.
pub fn has_image_controllers(text: &str) -> bool {
    text.contains("fluxcd/image-automation-controller:")
}

/// The folder of manifests.
#[derive(Clone, Debug)]
pub struct Manifests {
    folder: PathBuf,
    versions: Vec<Version>,
}

/// Which components a manifest holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// What the default options give.
    Default,
    /// With the two image controllers.
    Six,
}

impl Manifests {
    /// Finds the manifests; `None` with a `skipped` line when they are not there.
    pub fn find() -> Option<Self> {
        let folder = shared::find("flux-manifests")?;
        let entries = std::fs::read_dir(&folder).ok()?.flatten();
        let mut versions: Vec<Version> = entries
            .filter_map(|entry| Version::read(entry.file_name().to_str()?))
            .collect();
        versions.sort();
        Some(Self { folder, versions })
    }

    /// Lists all versions, oldest first.
    pub fn versions(&self) -> &[Version] {
        &self.versions
    }

    /// Gives the newest version.
    pub fn newest(&self) -> Option<&Version> {
        self.versions.last()
    }

    /// Gives the newest release of the next minor that has the default set of components, else its newest release.
    pub fn next_minor(&self, of: &Version) -> Option<&Version> {
        let later = |version: &&Version| version.is_release() && version.minor() > of.minor();
        let next = self.versions.iter().find(later)?.minor();
        let inside = || {
            self.versions
                .iter()
                .rev()
                .filter(|v| v.is_release() && v.minor() == next)
        };
        inside()
            .find(|version| !self.holds_images(version))
            .or_else(|| inside().next())
    }

    fn holds_images(&self, version: &Version) -> bool {
        self.read(version, Set::Default)
            .is_none_or(|text| has_image_controllers(&text))
    }

    /// Reads the definitions of a version, of all components where they are at hand.
    pub fn definitions(&self, name: &str) -> Option<String> {
        let version = self.versions.iter().find(|version| version.name == name)?;
        let text = self
            .read(version, Set::Six)
            .or_else(|| self.read(version, Set::Default))?;
        let stream = Stream::split(text.as_bytes().into()).ok()?;
        let is_definition = |document: &&Document| &*document.head().kind == "CustomResourceDefinition";
        let bodies = stream.documents().iter().filter(is_definition).map(Document::body_text);
        Some(bodies.collect::<Vec<_>>().join("\n---\n"))
    }

    /// Reads the manifest of a version.
    pub fn read(&self, version: &Version, set: Set) -> Option<String> {
        let name = match set {
            Set::Default => "gotk-components.yaml",
            Set::Six => "gotk-components.six.yaml",
        };
        std::fs::read_to_string(self.folder.join(&version.name).join(name)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn candidates_come_before_their_release() {
        let mut names = ["v2.0.0", "v0.41.2", "v2.0.0-rc.2", "v0.9.0", "v2.0.0-rc.1"];
        names.sort_by_key(|name| Version::read(name));
        assert_eq!(names, ["v0.9.0", "v0.41.2", "v2.0.0-rc.1", "v2.0.0-rc.2", "v2.0.0"]);
    }
}
