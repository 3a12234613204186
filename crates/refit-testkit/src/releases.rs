//! Releases in memory, and the promise that each [`Releases`] keeps.

use refit_core::digest;
use refit_core::release::Version;
use refit_engine::ports::{Content, PortError, PortErrorKind, Releases};

/// A file of a release.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseFile<'a> {
    /// The platform.
    pub platform: &'a str,
    /// The version, as the source spells it.
    pub version: &'a str,
    /// The name of the file.
    pub name: &'a str,
    /// Its content.
    pub text: &'a str,
}

/// The files that [`check_contract`] expects in the source that it is given.
pub const CONTRACT: &[ReleaseFile<'static>] = &[
    ReleaseFile {
        platform: "flux",
        version: "v2.6.4",
        name: "gotk-components.yaml",
        text: "kind: Deployment\n",
    },
    ReleaseFile {
        platform: "flux",
        version: "v2.6.4",
        name: "gotk-components.six.yaml",
        text: "kind: Deployment\n---\nkind: Deployment\n",
    },
    ReleaseFile {
        platform: "flux",
        version: "v2.5.1",
        name: "gotk-components.yaml",
        text: "kind: Deployment\n",
    },
];

/// Releases in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryReleases {
    files: Vec<(String, String, Content)>,
}

impl MemoryReleases {
    /// Makes a source of files.
    pub fn new(files: &[ReleaseFile<'_>]) -> Self {
        let mut releases = Self::default();
        for file in files {
            releases.add(*file);
        }
        releases
    }

    /// Adds a file.
    pub fn add(&mut self, file: ReleaseFile<'_>) {
        let content = Content {
            bytes: file.text.as_bytes().into(),
            digest: digest::of(file.text.as_bytes()),
            origin: format!("memory:{}/{}/{}", file.platform, file.version, file.name),
            exact: true,
            compared: false,
        };
        self.files
            .push((file.platform.to_owned(), file.version.to_owned(), content));
    }
}

impl Releases for MemoryReleases {
    fn location(&self) -> String {
        "memory".to_owned()
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        let mut versions: Vec<String> = self
            .files
            .iter()
            .filter(|(of, _, _)| of == platform)
            .map(|(_, version, _)| version.clone())
            .collect();
        versions.sort();
        versions.dedup();
        Ok(versions)
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let wanted = Version::parse(version).ok();
        let is_wanted = |spelt: &str| wanted.is_some() && Version::parse(spelt).ok() == wanted;
        let files = self
            .files
            .iter()
            .filter(|(of, spelt, _)| of == platform && is_wanted(spelt));
        let mut contents: Vec<Content> = files.map(|(_, _, content)| content.clone()).collect();
        if contents.is_empty() {
            let error = PortError::new(
                PortErrorKind::NotFound,
                format!("`{platform}` `{version}` is not in memory"),
            );
            return Err(error.hint("add it to the test"));
        }
        let deployments = |content: &Content| {
            String::from_utf8_lossy(&content.bytes)
                .matches("kind: Deployment")
                .count()
        };
        contents.sort_by_key(|content| std::cmp::Reverse(deployments(content)));
        Ok(contents)
    }
}

/// Checks what the port promises, on a source that holds the files of [`CONTRACT`].
///
/// # Panics
/// When the source breaks a promise.
#[expect(clippy::unwrap_used, reason = "it is a test")]
pub fn check_contract(releases: &dyn Releases) {
    assert!(!releases.location().is_empty());
    let mut versions = releases.versions("flux").unwrap();
    versions.sort();
    assert_eq!(versions, ["v2.5.1", "v2.6.4"]);
    assert!(releases.versions("weave-gitops").unwrap().is_empty());
    for spelling in ["v2.6.4", "2.6.4"] {
        let contents = releases.contents("flux", spelling).unwrap();
        let texts: Vec<_> = contents
            .iter()
            .map(|content| String::from_utf8_lossy(&content.bytes))
            .collect();
        assert_eq!(texts, [CONTRACT[1].text, CONTRACT[0].text], "most components first");
        for content in &contents {
            assert_eq!(content.digest, digest::of(&content.bytes));
            assert!(!content.origin.is_empty());
        }
    }
    for (platform, version) in [
        ("flux", "v2.6.9"),
        ("weave-gitops", "v2.6.4"),
        ("flux", "../v2.6.4"),
        ("../flux", "v2.6.4"),
    ] {
        let error = releases.contents(platform, version).unwrap_err();
        assert_eq!(error.kind, PortErrorKind::NotFound, "{platform} {version}");
        assert!(error.remedy.is_some(), "{platform} {version}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_in_memory_keep_the_contract() {
        check_contract(&MemoryReleases::new(CONTRACT));
    }
}
