//! Routes in words.

use std::fmt;

use super::{Floor, Goes, Hop, NoRoute, Refusal, Route, Source, Stale, Used};
use crate::finding::{Code, Finding};
use crate::release::Version;

/// The line that prints the stored versions.
const STORED: &str = "kubectl get crd -o custom-columns=NAME:.metadata.name,STORED:.status.storedVersions";

/// Says why a hop ends where it does.
pub(super) fn why(to: &Version, end: &Version, (refused, goes): (&[Refusal], Goes)) -> String {
    let Some(first) = refused.first() else {
        return format!("{to} still has every version that objects are stored in once they are migrated");
    };
    let of_first = refused.iter().filter(|refusal| refusal.release == first.release);
    let kinds: Vec<String> = of_first
        .map(|refusal| format!("{} `{}`", refusal.kind, refusal.version))
        .collect();
    let chosen = match goes {
        Goes::Farthest => "of the ways with the fewest steps this one goes farthest",
        Goes::Around => "of the ways there this one takes the fewest requests",
    };
    format!(
        "{end} cannot follow at once: {} no longer has {}, so the API server would refuse the definitions; {chosen}",
        first.release,
        kinds.join(", ")
    )
}

impl Stale {
    /// Names it for messages.
    pub fn name(&self) -> String {
        format!("{} `{}`", self.kind, self.version)
    }
}

impl Route {
    /// Gives the sentence about the first hop that the cluster's Kubernetes is too old for.
    pub fn too_old(&self) -> Option<String> {
        self.hops.iter().find_map(|hop| match &hop.floor {
            Floor::TooOld { needed, found } => Some(format!(
                "{} needs Kubernetes {} or newer, and the cluster has {}",
                hop.to,
                plain(needed),
                plain(found)
            )),
            _ => None,
        })
    }

    /// Lists what is to be said before anything is done.
    pub fn findings(&self) -> Vec<Finding> {
        let mut findings: Vec<Finding> = self.hops.iter().filter_map(Hop::floor_finding).collect();
        let gates: Vec<&Stale> = self.hops.iter().flat_map(|hop| &hop.gate).collect();
        let stored: Vec<String> = gates
            .iter()
            .filter(|stale| stale.used == Used::Stored)
            .map(|stale| stale.name())
            .collect();
        let assumed = match &self.source {
            Source::Snapshot => None,
            Source::Since(since) => Some(format!("`refit.yaml` says that the plane began with {since}")),
            Source::History(since) => Some(format!("the oldest release in the history is {since}")),
            Source::Assumed => Some(format!("all that {} serves is assumed", self.from)),
        };
        if let Some(reason) = assumed.filter(|_| !stored.is_empty()) {
            let message = format!(
                "no cluster was read, so what is stored was concluded ({reason}): {} may be stored and must be migrated on \
                 the way to {}",
                stored.join(", "),
                self.to
            );
            let remedy = format!("compare with `{STORED}`, or give a snapshot with `--snapshot FILE`");
            let finding = Finding::new(Code::StoredVersionsAssumed, self.to.to_string(), message);
            findings.push(finding.with_remedy(remedy));
        }
        findings
    }
}

impl Hop {
    /// Says what Kubernetes must become.
    fn floor_finding(&self) -> Option<Finding> {
        match &self.floor {
            Floor::None | Floor::Met { .. } => None,
            Floor::TooOld { needed, found } => {
                let message = format!(
                    "it needs Kubernetes {} or newer, and the cluster has {}",
                    plain(needed),
                    plain(found)
                );
                let remedy = format!(
                    "upgrade Kubernetes to {} first (each version of Flux says on which it was tried), then run again",
                    plain(needed)
                );
                Some(Finding::new(Code::KubernetesTooOld, self.to.to_string(), message).with_remedy(remedy))
            }
            Floor::Unknown { needed, before } => {
                if before.as_ref().is_some_and(|before| before >= needed) {
                    return None;
                }
                let known = match before {
                    Some(before) => format!("{} needed {}", self.from, plain(before)),
                    None => format!("what {} needed is not known", self.from),
                };
                let message = format!("it needs Kubernetes {} or newer ({known})", plain(needed));
                Some(Finding::new(Code::KubernetesFloor, self.to.to_string(), message))
            }
        }
    }
}

impl fmt::Display for NoRoute {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Downgrade { from, to, lost } if lost.is_empty() => {
                write!(formatter, "{to} is older than the installed {from}")
            }
            Self::Downgrade { from, to, lost } => write!(
                formatter,
                "{to} is older than the installed {from}, and lacks versions that objects are stored in: {}; the API \
                 server refuses such definitions",
                names(lost)
            ),
            Self::Unknown(version) => write!(formatter, "nothing is known of the definitions of {version}"),
            Self::Refused { from, to, by } => {
                write!(formatter, "no release that can be had leads from {from} to {to}: ")?;
                for (at, refusal) in by.iter().enumerate() {
                    let Refusal {
                        release, kind, version, ..
                    } = refusal;
                    let comma = if at == 0 { "" } else { ", " };
                    write!(
                        formatter,
                        "{comma}{release} refuses {kind}, which is stored as `{version}`"
                    )?;
                }
                Ok(())
            }
        }
    }
}

impl NoRoute {
    /// Makes the finding of it.
    pub fn finding(&self) -> Finding {
        let (code, subject, remedy) = match self {
            Self::Downgrade { to, .. } => (Code::DowngradeRefused, to, None),
            Self::Unknown(version) => (Code::UnknownVersion, version, None),
            Self::Refused { to, .. } => (
                Code::StoredVersionRemoved,
                to,
                Some("add a catalog that holds the releases between with `--catalog DIR`, then run again"),
            ),
        };
        let finding = Finding::new(code, subject.to_string(), self.to_string());
        match remedy {
            Some(remedy) => finding.with_remedy(remedy),
            None => finding,
        }
    }
}

fn names(stale: &[Stale]) -> String {
    let names: Vec<String> = stale.iter().map(Stale::name).collect();
    names.join(", ")
}

/// Shows a version of Kubernetes as people write it.
fn plain(version: &Version) -> String {
    version.to_string().trim_start_matches('v').to_owned()
}
