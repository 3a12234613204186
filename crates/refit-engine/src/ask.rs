//! What a user asks of a flow.
//!
//! In: the arguments of a command, read by the binary. Out: one [`Ask`].

use std::convert::Infallible;
use std::rc::Rc;
use std::str::FromStr;
use std::sync::Arc;

pub use refit_core::check::Reach;
use refit_core::digest;
use refit_core::evidence::{self, Evidence};
use refit_core::finding::Acceptance;
pub use refit_core::progress::{Again, Commits, Others};
pub use refit_core::request::Way;
pub use refit_core::stage::Wait;

/// What a user asks: where, what, and with which consent.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    /// The target branch (`--base`).
    pub base: Option<String>,
    /// The clusters by name or directory (`--cluster`); empty: the only one.
    pub clusters: Vec<String>,
    /// Whether all clusters are meant (`--all-clusters`).
    pub all_clusters: bool,
    /// The platform and version.
    pub target: Target,
    /// Findings that the user has seen and agrees to (`--accept`).
    pub accept: Vec<Acceptance>,
    /// The bytes of what the generator wrote for the installed version (`--base-file`).
    pub base_file: Option<Arc<[u8]>>,
    /// Whether to go to another release or back from the last upgrade.
    pub way: Way,
    /// What happens where people said no to this before (`--again`).
    pub again: Again,
    /// What a person says is true of the request that comes next (`--confirm`).
    pub confirm: Vec<Wait>,
    /// What a cluster holds, as `kubectl get ... -o json` printed it (`--snapshot`).
    pub snapshot: Option<Rc<Snapshot>>,
}

/// What a cluster holds, as `kubectl get ... -o json` printed it.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// What it says.
    pub evidence: Evidence,
    /// The SHA-256 of the file, `sha256:` and hexadecimal.
    pub digest: String,
}

impl Snapshot {
    /// Reads the file.
    pub fn read(bytes: &Arc<[u8]>) -> Result<Self, evidence::Error> {
        Ok(Self {
            evidence: Evidence::read(bytes)?,
            digest: digest::of(bytes),
        })
    }
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
