//! Names of platforms and versions of releases.
//!
//! In: text that people and files write. Out: values that can be compared and shown in one spelling. Knows no release.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A text that is no version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a version; hint: write it like `v2.6.4`")]
pub struct InvalidVersion {
    /// The text.
    pub text: String,
}

/// A text that is no name of a platform.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not the name of a platform; hint: names are like `flux` or `weave-gitops`")]
pub struct InvalidPlatform {
    /// The text.
    pub text: String,
}

/// The version of a release; ordered as semantic versions are, shown with a leading `v`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version(semver::Version);

impl Version {
    /// Reads `v2.6.4`, `2.6.4` or `v2.0.0-rc.5`.
    pub fn parse(text: &str) -> Result<Self, InvalidVersion> {
        let trimmed = text.trim();
        let digits = trimmed.strip_prefix(['v', 'V']).unwrap_or(trimmed);
        semver::Version::parse(digits)
            .map(Self)
            .map_err(|_| InvalidVersion { text: text.into() })
    }

    /// Makes a stable version of three numbers.
    pub fn new(major: u64, minor: u64, patch: u64) -> Self {
        Self(semver::Version::new(major, minor, patch))
    }

    /// Tells whether this is no pre-release.
    pub fn is_stable(&self) -> bool {
        self.0.pre.is_empty()
    }

    /// Gives the minor series that the version belongs to.
    pub fn series(&self) -> Series {
        Series {
            major: self.0.major,
            minor: self.0.minor,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}", self.0)
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parse(text)
    }
}

impl TryFrom<String> for Version {
    type Error = InvalidVersion;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.to_string()
    }
}

/// A major and a minor number: the releases that differ in their patches only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Series {
    /// The major number.
    pub major: u64,
    /// The minor number.
    pub minor: u64,
}

impl fmt::Display for Series {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "v{}.{}", self.major, self.minor)
    }
}

/// The name of a platform, as in `flux`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Platform(Arc<str>);

impl Platform {
    /// Reads a name of lower-case letters, digits and inner hyphens.
    pub fn parse(text: &str) -> Result<Self, InvalidPlatform> {
        let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let sound =
            text.starts_with(|c: char| c.is_ascii_lowercase()) && !text.ends_with('-') && text.chars().all(allowed);
        if sound {
            Ok(Self(text.into()))
        } else {
            Err(InvalidPlatform { text: text.into() })
        }
    }

    /// Gives Flux.
    pub fn flux() -> Self {
        Self("flux".into())
    }

    /// Gives the name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for Platform {
    type Error = InvalidPlatform;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text)
    }
}

impl From<Platform> for String {
    fn from(platform: Platform) -> Self {
        platform.0.as_ref().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_order(texts: &[&str]) {
        let versions: Vec<Version> = texts.iter().map(|text| Version::parse(text).unwrap()).collect();
        let mut sorted = versions.clone();
        sorted.sort();
        assert_eq!(versions, sorted);
    }

    #[test]
    fn versions_read_with_and_without_the_letter_and_show_with_it() {
        for text in ["v2.6.4", "2.6.4", " V2.6.4 "] {
            assert_eq!(Version::parse(text).unwrap().to_string(), "v2.6.4");
        }
        assert_eq!(Version::parse("v2.0.0-rc.5").unwrap().to_string(), "v2.0.0-rc.5");
    }

    #[test]
    fn a_text_that_is_no_version_is_named_with_a_remedy() {
        for text in ["latest", "", "v2.6", "2.6.x", "v 2.6.4"] {
            let error = Version::parse(text).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("`{text}` is not a version; hint: write it like `v2.6.4`")
            );
        }
    }

    #[test]
    fn release_candidates_come_before_their_release_and_numbers_compare_as_numbers() {
        check_order(&[
            "v0.9.1",
            "v0.10.0",
            "v0.41.2",
            "v2.0.0-rc.1",
            "v2.0.0-rc.5",
            "v2.0.0",
            "v2.10.0",
        ]);
        assert!(!Version::parse("v2.0.0-rc.5").unwrap().is_stable());
        assert!(Version::parse("v2.0.0").unwrap().is_stable());
    }

    #[test]
    fn versions_are_text_in_json() {
        let version = Version::parse("2.6.4").unwrap();
        assert_eq!(serde_json::to_string(&version).unwrap(), "\"v2.6.4\"");
        assert_eq!(serde_json::from_str::<Version>("\"2.6.4\"").unwrap(), version);
        assert!(serde_json::from_str::<Version>("\"latest\"").is_err());
    }

    #[test]
    fn names_of_platforms_are_plain() {
        assert_eq!(Platform::parse("weave-gitops").unwrap().to_string(), "weave-gitops");
        for text in ["", "Flux", "-flux", "flux-", "../flux", "flux@2"] {
            assert!(Platform::parse(text).is_err(), "{text}");
        }
    }
}
