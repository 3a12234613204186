//! What can be said about a patch after an upgrade.

use refit_manifest::{Identity, Path};

use super::Slot;

/// What an upgrade does to one patch or one of its operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the patch stands; `None` where the build fails for another reason than a patch.
    pub slot: Option<Slot>,
    /// The kustomization.
    pub kustomization: Path,
    /// The line of the entry, counted from 1.
    pub line: usize,
    /// The file that holds the patch, where it is one of its own.
    pub file: Option<Path>,
    /// The objects that it is about, in the order in which they are built.
    pub objects: Vec<Identity>,
    /// What the patch is for: its target in words, or the object that its content names.
    pub target: String,
    /// What is the matter.
    pub what: What,
}

/// What is the matter with a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The build fails: an object that a patch without target is for is gone.
    TargetGone,
    /// The build fails: the place of an operation is gone.
    PlaceGone {
        /// The operation and its pointer.
        operation: Pointed,
        /// What it reached before.
        before: String,
        /// The pointer that reaches it now, where there is one.
        instead: Option<String>,
    },
    /// The build fails for another reason.
    Fails {
        /// What the evaluation says.
        message: String,
    },
    /// An operation reaches another element.
    OtherMeaning {
        /// The operation and its pointer.
        operation: Pointed,
        /// What it reached before.
        before: String,
        /// What it reaches now.
        after: String,
        /// The pointer that has the old meaning, where there is one.
        instead: Option<String>,
    },
    /// The patch matches nothing any more, which kustomize does not mention.
    MatchesNothing,
    /// A list that the patch writes whole, or a flag that it adds, hides what the release has.
    HidesItems {
        /// The list.
        list: String,
        /// What the release adds or changes and the patch hides.
        items: Vec<String>,
        /// What the patch keeps although the release dropped it.
        dropped: Vec<String>,
    },
    /// A patch that matched nothing matches something.
    BecomesLive,
    /// The patch changes nothing any more.
    Redundant,
}

/// An operation as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pointed {
    /// `add`, `remove`, `replace`, `move`, `copy` or `test`.
    pub op: String,
    /// The pointer.
    pub pointer: String,
    /// Whether that is its `path` or its `from`.
    pub end: End,
}

/// An end of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `path`.
    Path,
    /// `from`, of `copy` and `move`.
    From,
}

impl End {
    /// Gives the key of the operation.
    pub fn key(self) -> &'static str {
        match self {
            Self::Path => "path",
            Self::From => "from",
        }
    }
}

impl std::fmt::Display for Pointed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.end {
            End::Path => write!(f, "{} {}", self.op, self.pointer),
            End::From => write!(f, "{} from {}", self.op, self.pointer),
        }
    }
}

/// How grave a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The request is not opened before an answer.
    Held,
    /// The request opens as a draft.
    Draft,
    /// It is told, and needs no answer.
    Told,
}

impl What {
    /// Tells how grave it is.
    pub fn weight(&self) -> Weight {
        match self {
            Self::TargetGone | Self::PlaceGone { .. } | Self::Fails { .. } | Self::OtherMeaning { .. } => Weight::Held,
            Self::MatchesNothing => Weight::Draft,
            Self::HidesItems { .. } | Self::BecomesLive | Self::Redundant => Weight::Told,
        }
    }

    /// Tells whether the build fails.
    pub fn breaks(&self) -> bool {
        matches!(self, Self::TargetGone | Self::PlaceGone { .. } | Self::Fails { .. })
    }

    /// Gives a stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::TargetGone => "target-gone",
            Self::PlaceGone { .. } => "place-gone",
            Self::Fails { .. } => "fails",
            Self::OtherMeaning { .. } => "other-meaning",
            Self::MatchesNothing => "matches-nothing",
            Self::HidesItems { .. } => "hides-items",
            Self::BecomesLive => "becomes-live",
            Self::Redundant => "redundant",
        }
    }

    /// Gives the operation that it is about.
    pub fn operation(&self) -> Option<&Pointed> {
        match self {
            Self::PlaceGone { operation, .. } | Self::OtherMeaning { operation, .. } => Some(operation),
            _ => None,
        }
    }
}
