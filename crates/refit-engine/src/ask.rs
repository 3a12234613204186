//! What a user asks of a flow.
//!
//! In: the arguments of a command, read by the binary. Out: one [`Ask`].

use std::convert::Infallible;
use std::str::FromStr;
use std::sync::Arc;

use refit_core::finding::Acceptance;

/// What a user asks: where, what, and with which consent.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The target branch (`--base`).
    pub base: Option<String>,
    /// The clusters by name or directory (`--cluster`); empty: the only one.
    pub clusters: Vec<String>,
    /// The platform and version.
    pub target: Target,
    /// Findings that the user has seen and agrees to (`--accept`).
    pub accept: Vec<Acceptance>,
    /// The bytes of what the generator wrote for the installed version (`--base-file`).
    pub base_file: Option<Arc<[u8]>>,
}

/// Which release is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The platform; `None`: the only one found.
    pub platform: Option<String>,
    /// The version; `None`: the newest stable one that can be reached.
    pub version: Option<String>,
    /// How far to go where no version is named.
    pub reach: Reach,
}

/// How far an upgrade without a version goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// To the newest release that can be reached.
    #[default]
    Newest,
    /// To the newest patch of the installed minor (`--patch`).
    Patch,
}

impl FromStr for Target {
    type Err = Infallible;

    /// Reads `PLATFORM`, `PLATFORM@VERSION` or `@VERSION`.
    fn from_str(text: &str) -> Result<Self, Infallible> {
        let (platform, version) = match text.split_once('@') {
            Some((platform, version)) => (platform, Some(version)),
            None => (text, None),
        };
        let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        Ok(Self {
            platform: some(platform),
            version: version.and_then(some),
            reach: Reach::Newest,
        })
    }
}

/// What happens to an open request for another target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// The flow stops and names it.
    #[default]
    Stop,
    /// It is closed (`--supersede`).
    Supersede,
}

/// What happens to commits of people on a request's branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commits {
    /// The flow stops and names them.
    #[default]
    Stop,
    /// They stay, and are part of the request from now on (`--keep-commits`).
    Keep,
    /// They are dropped (`--discard-commits`).
    Discard,
}
