//! What a merge decided, as values that explain every byte that changed.
//!
//! In: nothing. Out: the words that merge, requests and `.refit/` records share.

use std::collections::BTreeMap;
use std::fmt;

use crate::stream::Identity;
use crate::tree::Path;

/// How a change ended (DESIGN.md section 4, rule 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// One side changed, or both agree.
    Clean,
    /// A rule or a marked heuristic decided; the request lists it.
    Noted,
    /// Ours stays in the file and a person is asked.
    Conflict,
    /// The file is left untouched.
    Blocked,
}

impl Outcome {
    /// Gives the word that stands in texts and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Noted => "noted",
            Self::Conflict => "conflict",
            Self::Blocked => "blocked",
        }
    }
}

/// The class of a field, which decides when both sides changed it (DESIGN.md section 4, rule 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// Registry, repository, tag and digest of a container image.
    Image,
    /// Replicas, resources, affinity, tolerations and node selectors.
    Sizing,
    /// API versions, schemas, RBAC rules, selectors, webhook configuration.
    Contract,
    /// Command-line arguments, matched by flag name.
    Arguments,
    /// Text of several lines, merged by lines.
    Text,
    /// Encrypted or sealed content, never touched.
    Secret,
    /// A whole object.
    Object,
    /// A whole file.
    File,
    /// Anything else.
    Other,
}

impl Class {
    /// Gives the word that stands in texts and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Sizing => "sizing",
            Self::Contract => "contract",
            Self::Arguments => "arguments",
            Self::Text => "text",
            Self::Secret => "secret",
            Self::Object => "object",
            Self::File => "file",
            Self::Other => "other",
        }
    }
}

/// The rule that decided a change; its word is stable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Only theirs changed it.
    TheirsChanged,
    /// Both changed it to the same value.
    BothAgree,
    /// The user's registry stays, the tag follows theirs.
    RegistryKept,
    /// The user's tag is known and not newer than theirs, which is taken.
    TagRaised,
    /// The user's image cannot follow by rule: pinned digest, newer or unknown tag, other image.
    ImagePinned,
    /// The user's sizing stays.
    SizingKept,
    /// Both changed a contract field.
    ContractChanged,
    /// Arguments were matched by flag name.
    FlagName,
    /// Text was merged by lines.
    Lines,
    /// Encrypted content was left alone.
    SecretKept,
    /// The user deleted it; it stays deleted.
    DeletionKept,
    /// A whole optional group is absent: an option, not a deletion.
    GroupAbsent,
    /// The user changed what theirs removed.
    RemovedUpstream,
    /// List elements were matched by a heuristic.
    Heuristic,
    /// Template text was masked.
    Masked,
    /// A comment or header follows theirs.
    Comment,
    /// A new object, key or element of theirs was added.
    Added,
    /// An object, key or element that theirs removed and ours left as base was removed.
    Removed,
    /// Both changed it, and no rule decides.
    BothChanged,
    /// An earlier answer of a person.
    Answered,
    /// The file cannot be merged: it does not parse, or the guard found a difference.
    Unmergeable,
    /// An object was brought to the API version of theirs before the merge.
    Converted,
    /// The new version breaks a patch of a kustomization, or changes what it reaches.
    Patch,
    /// The same of a patch that cannot be edited: it can only stay as it is.
    PatchFixed,
}

impl Rule {
    /// Gives the stable word that stands in texts and JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::TheirsChanged => "theirs-changed",
            Self::BothAgree => "both-agree",
            Self::RegistryKept => "registry-kept",
            Self::TagRaised => "tag-raised",
            Self::ImagePinned => "image-pinned",
            Self::SizingKept => "sizing-kept",
            Self::ContractChanged => "contract-changed",
            Self::FlagName => "flag-name",
            Self::Lines => "lines",
            Self::SecretKept => "secret-kept",
            Self::DeletionKept => "deletion-kept",
            Self::GroupAbsent => "group-absent",
            Self::RemovedUpstream => "removed-upstream",
            Self::Heuristic => "heuristic",
            Self::Masked => "masked",
            Self::Comment => "comment",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::BothChanged => "both-changed",
            Self::Answered => "answered",
            Self::Unmergeable => "unmergeable",
            Self::Converted => "converted",
            Self::Patch => "patch",
            Self::PatchFixed => "patch-fixed",
        }
    }
}

/// A short stable name of a decision: the same object (where there is none: file), field and values give the same id. The
/// id of what a user deleted depends on no values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DecisionId(pub String);

impl DecisionId {
    /// Makes the id of what a decision is about; the same parts give the same id.
    pub fn of(parts: &[Option<&str>]) -> Self {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for part in parts {
            let bytes = part.map_or(&[0xff][..], str::as_bytes);
            for byte in bytes.iter().chain(&[0]) {
                hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
        Self(format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff)))
    }
}

impl fmt::Display for DecisionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What a person answered to a conflict, or wants in place of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Keep what the file has.
    Ours,
    /// Take what the new version has.
    Theirs,
    /// Write this value.
    Value(String),
}

/// Answers by decision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers(pub BTreeMap<DecisionId, Answer>);

/// One decision of a merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The name that `refit resolve` takes.
    pub id: DecisionId,
    /// The file of ours (or the new file).
    pub path: Path,
    /// The object, where the file has objects.
    pub object: Option<Identity>,
    /// The field as a readable pointer, for example `spec.template.spec.containers[name=manager].image`; empty for a
    /// whole object or file.
    pub field: String,
    /// The text of base, `None` when missing.
    pub base: Option<String>,
    /// The text of ours, `None` when missing.
    pub ours: Option<String>,
    /// The text of theirs, `None` when missing.
    pub theirs: Option<String>,
    /// The class of the field.
    pub class: Class,
    /// The rule that decided.
    pub rule: Rule,
    /// How it ended.
    pub outcome: Outcome,
    /// The sentence for people: object, values, remedy.
    pub message: String,
    /// The answer that was applied, when a person gave one.
    pub answer: Option<Answer>,
}
