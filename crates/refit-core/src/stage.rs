//! The place of one request in the route of an upgrade: what it does, what must be true before its merge, what follows.
//!
//! In: what the route and people say. Out: values for plans, records and request texts. Knows neither files nor clusters.

use serde::{Deserialize, Serialize};

use crate::release::Version;

/// What a request does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// It brings a release: definitions, controllers, and what goes with them.
    #[default]
    Upgrade,
    /// It converts objects to versions that the installed release serves already.
    Convert,
    /// It keeps objects from being pruned before they move or leave.
    Detach,
    /// It brings a Job that migrates stored objects; the next request takes it out again.
    Migrate,
}

impl Stage {
    /// Gives the stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Upgrade => "upgrade",
            Self::Convert => "convert",
            Self::Detach => "detach",
            Self::Migrate => "migrate",
        }
    }

    /// Tells whether it is the usual one, which records leave out.
    pub fn is_upgrade(&self) -> bool {
        *self == Self::Upgrade
    }
}

/// What a request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Wait {
    /// Stored objects are migrated to the storage versions of the installed release.
    Migrated,
    /// What was merged before is reconciled in the cluster.
    Reconciled,
}

impl Wait {
    /// Everything that can be confirmed.
    pub const ALL: [Self; 2] = [Self::Migrated, Self::Reconciled];

    /// Gives the word that `resume --confirm` takes.
    pub fn word(self) -> &'static str {
        match self {
            Self::Migrated => "migrated",
            Self::Reconciled => "reconciled",
        }
    }

    /// Says what must be true, short enough for a title.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Migrated => "stored objects are migrated",
            Self::Reconciled => "what was merged before is reconciled",
        }
    }

    /// Says what the commands do that make it true.
    pub fn ways(self) -> &'static str {
        match self {
            Self::Migrated => "migrate stored objects in the cluster",
            Self::Reconciled => "see whether the cluster has it",
        }
    }
}

impl std::str::FromStr for Wait {
    type Err = UnknownWait;

    fn from_str(text: &str) -> Result<Self, UnknownWait> {
        let known = Self::ALL.into_iter().find(|wait| wait.word() == text);
        known.ok_or_else(|| UnknownWait(text.to_owned()))
    }
}

/// A word that says nothing a request can wait for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is nothing that a request waits for; write `migrated` or `reconciled`")]
pub struct UnknownWait(pub String);

/// A condition of a request, which nobody has confirmed and no evidence shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// What it waits for.
    pub wait: Wait,
    /// Why, one line each, such as the kinds and versions.
    pub why: Vec<String>,
    /// What a person does about it, one line each; commands as they are typed.
    pub ways: Vec<String>,
    /// Whether a snapshot can show it; else somebody says so.
    pub shows: bool,
}

/// A condition of one request of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matter {
    /// What must hold.
    pub what: Wait,
    /// The release that was installed.
    pub from: Version,
    /// The release that the request brings.
    pub to: Version,
    /// The place of the request among those of its upgrade, from 1.
    #[serde(default = "first", skip_serializing_if = "is_first")]
    pub index: usize,
}

fn first() -> usize {
    1
}

fn is_first(index: &usize) -> bool {
    *index == first()
}

/// That a condition holds, said by a person or shown by evidence from a cluster.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Confirmation {
    /// What holds.
    #[serde(flatten)]
    pub about: Matter,
    /// Who said so: name and address.
    pub by: String,
    /// When, UTC.
    pub at: jiff::Timestamp,
    /// The digest of the snapshot that shows it; `None` where a person's word stands alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The CRDs whose stored objects were asked to be migrated, where that is what holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crds: Vec<String>,
    /// The CRDs of whose objects the managed fields alone were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub managed: Vec<String>,
}

/// That a snapshot showed a condition not to hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Refutation {
    /// What does not hold.
    #[serde(flatten)]
    pub about: Matter,
    /// Why, one line each.
    pub why: Vec<String>,
    /// When, UTC.
    pub at: jiff::Timestamp,
    /// The digest of the snapshot.
    pub snapshot: String,
}

/// What is said of the conditions of one request, by people and by snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What holds.
    pub confirmed: Vec<Confirmation>,
    /// What does not.
    pub refuted: Vec<Refutation>,
}

/// What a request converted in one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversion {
    /// The file.
    pub path: String,
    /// What changed, one line each.
    pub changes: Vec<String>,
}

/// A request that follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Later {
    /// What it does.
    pub stage: Stage,
    /// Its title.
    pub title: String,
    /// What it will wait for.
    pub gate: Vec<Gate>,
}

/// Where a request stands in the route of its upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What it does.
    pub stage: Stage,
    /// Its place among the requests of the upgrade, from 1.
    pub index: usize,
    /// The release that the upgrade leads to in the end.
    pub target: Version,
    /// What it still waits for.
    pub gate: Vec<Gate>,
    /// What was confirmed for it.
    pub confirmations: Vec<Confirmation>,
    /// The requests that follow.
    pub later: Vec<Later>,
    /// The objects that a merge would prune.
    pub pruned: Vec<String>,
}

impl Place {
    /// Gives the place of the only request of an upgrade.
    pub fn only(target: &Version) -> Self {
        Self {
            stage: Stage::Upgrade,
            index: 1,
            target: target.clone(),
            gate: Vec::new(),
            confirmations: Vec::new(),
            later: Vec::new(),
            pruned: Vec::new(),
        }
    }

    /// Counts the requests of the upgrade, as far as they can be foreseen.
    pub fn count(&self) -> usize {
        self.index + self.later.len()
    }

    /// Says what must be true before the merge, for a title; `None` where nothing must.
    pub fn before(&self) -> Option<String> {
        before(self.gate.iter().map(|gate| gate.wait))
    }
}

/// Says what must be true before a merge, for a title; `None` where nothing must.
pub fn before(waits: impl Iterator<Item = Wait>) -> Option<String> {
    let words: Vec<&str> = waits.map(Wait::sentence).collect();
    (!words.is_empty()).then(|| format!("do not merge before: {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_confirmed_reads_back_and_another_word_names_them_all() {
        for wait in Wait::ALL {
            assert_eq!(wait.word().parse(), Ok(wait));
        }
        let error = "done".parse::<Wait>().unwrap_err().to_string();
        assert!(Wait::ALL.iter().all(|wait| error.contains(wait.word())), "{error}");
    }

    #[test]
    fn a_title_says_all_that_must_be_true_before_the_merge() {
        let mut place = Place::only(&Version::new(2, 8, 0));
        assert_eq!((place.before(), place.count()), (None, 1));
        for wait in [Wait::Reconciled, Wait::Migrated] {
            place.gate.push(Gate {
                wait,
                why: vec![],
                ways: vec![],
                shows: true,
            });
        }
        let text = "do not merge before: what was merged before is reconciled, stored objects are migrated";
        assert_eq!(place.before().as_deref(), Some(text));
    }
}
