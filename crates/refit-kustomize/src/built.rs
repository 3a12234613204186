//! What an evaluation says.
//!
//! Types alone: objects with their origin, patches with what they matched and did, failures and reasons.

use std::fmt;
use std::ops::Range;

use refit_manifest::{Identity, Path};

use crate::value::Value;

/// What a directory is built into.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Built {
    /// The directory, without outer slashes.
    pub directory: String,
    /// Whether `objects` is what kustomize gives.
    pub state: State,
    /// The objects in the order in which kustomize prints them. Where the state is not [`State::Evaluated`], those that
    /// were there when the evaluation ended: good for messages, not to be relied on.
    pub objects: Vec<Object>,
    /// The patches in the order in which they ran, one for each document of a strategic merge. All of them, when the
    /// state is [`State::Evaluated`]; else those that ran before the evaluation ended.
    pub applied: Vec<AppliedPatch>,
    /// The kustomizations that were read, in the order in which they were reached.
    pub kustomizations: Vec<Path>,
}

/// Whether an evaluation came to an end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Everything was evaluated.
    #[default]
    Evaluated,
    /// Something is used that is not evaluated here, so nothing is claimed.
    NotEvaluated(Vec<Reason>),
    /// `kustomize build` ends with an error, the first of these; patches that fail after it are listed too.
    Failed(Vec<Failure>),
}

/// Why something is not evaluated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reason {
    /// The file.
    pub path: Path,
    /// The line, counted from 1.
    pub line: usize,
    /// What is not evaluated, in words.
    pub message: String,
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` line {}: {}", self.path, self.line, self.message)
    }
}

/// What makes `kustomize build` end with an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kustomization, or the file that cannot be read.
    pub path: Path,
    /// The line, counted from 1.
    pub line: usize,
    /// The entry of the kustomization that fails, where it is one entry.
    pub entry: Option<Entry>,
    /// The object at which it fails, or that is not there.
    pub object: Option<Identity>,
    /// What is wrong, in words.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}` line {}: {}", self.path, self.line, self.message)
    }
}

/// One object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its final value.
    pub value: Value,
    /// What it is called in the end.
    pub identity: Identity,
    /// What its origin calls it, before prefixes, namespaces and the like.
    pub original: Identity,
    /// Where it comes from.
    pub origin: Origin,
    /// The kustomizations that it went through, the innermost first.
    pub through: Vec<Path>,
}

impl Object {
    /// Gives the `apiVersion`; empty when missing.
    pub fn api_version(&self) -> &str {
        self.value.get("apiVersion").and_then(Value::as_str).unwrap_or_default()
    }
}

/// Where an object comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A document of a file.
    File(Place),
    /// An entry of `configMapGenerator` or `secretGenerator`.
    Generator(Entry),
}

/// A document of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: Path,
    /// Which document of the file, counted from 0, as [`Stream`](refit_manifest::Stream) lists them.
    pub document: usize,
    /// The bytes of its content.
    pub span: Range<usize>,
    /// The line where its content begins, counted from 1.
    pub line: usize,
}

/// The list of a kustomization that an entry stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// `resources`.
    Resources,
    /// `bases`.
    Bases,
    /// `components`.
    Components,
    /// `patches`.
    Patches,
    /// `patchesStrategicMerge`.
    PatchesStrategicMerge,
    /// `patchesJson6902`.
    PatchesJson6902,
    /// `configMapGenerator`.
    ConfigMapGenerator,
    /// `secretGenerator`.
    SecretGenerator,
    /// `images`.
    Images,
    /// `imageTags`.
    ImageTags,
    /// `replicas`.
    Replicas,
    /// `labels`.
    Labels,
    /// `replacements`.
    Replacements,
}

impl Field {
    /// Gives the name of the field.
    pub fn name(self) -> &'static str {
        match self {
            Self::Resources => "resources",
            Self::Bases => "bases",
            Self::Components => "components",
            Self::Patches => "patches",
            Self::PatchesStrategicMerge => "patchesStrategicMerge",
            Self::PatchesJson6902 => "patchesJson6902",
            Self::ConfigMapGenerator => "configMapGenerator",
            Self::SecretGenerator => "secretGenerator",
            Self::Images => "images",
            Self::ImageTags => "imageTags",
            Self::Replicas => "replicas",
            Self::Labels => "labels",
            Self::Replacements => "replacements",
        }
    }
}

/// One entry of a list of a kustomization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The kustomization.
    pub kustomization: Path,
    /// The list.
    pub field: Field,
    /// The place in the list, counted from 0.
    pub index: usize,
    /// The bytes of the entry in the kustomization.
    pub span: Range<usize>,
    /// The line where the entry begins, counted from 1.
    pub line: usize,
}

impl fmt::Display for Entry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}[{}] of `{}`",
            self.field.name(),
            self.index,
            self.kustomization
        )
    }
}

/// A patch that was applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedPatch {
    /// The entry that holds or names it.
    pub entry: Entry,
    /// Where its content stands.
    pub content: Content,
    /// Its form.
    pub form: Form,
    /// Its target as written; `None` where it has none.
    pub target: Option<Target>,
    /// What a patch without target says that it is for; for one with target what its content says, where it says it.
    pub own: Option<Identity>,
    /// The `apiVersion` in the content of a strategic merge; empty where there is none.
    pub own_api_version: String,
    /// What it did to each object that it matched, in their order. The objects are called what they were called before
    /// the patch. Empty where a patch with target matches nothing, which is no error.
    pub effects: Vec<Effect>,
}

impl AppliedPatch {
    /// Gives the objects that were matched, as they were called before the patch.
    pub fn matched(&self) -> impl Iterator<Item = &Identity> {
        self.effects.iter().map(|effect| &effect.object)
    }

    /// Tells whether the patch changed anything at all.
    pub fn changed(&self) -> bool {
        self.effects.iter().any(|effect| effect.changed)
    }
}

/// Where the content of a patch stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// In the kustomization.
    Inline {
        /// Which document of the text, counted from 0.
        document: usize,
    },
    /// In a file.
    File(Place),
}

/// The form of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A strategic merge.
    StrategicMerge,
    /// A list of operations by RFC 6902.
    Json6902,
}

/// The target of a patch as written; empty parts select all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The group.
    pub group: String,
    /// The version.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The namespace.
    pub namespace: String,
    /// The labels.
    pub label_selector: String,
    /// The annotations.
    pub annotation_selector: String,
}

/// What a patch did to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// The object, as it was called before the patch.
    pub object: Identity,
    /// What the object's origin calls it.
    pub original: Identity,
    /// The `apiVersion` of the object before the patch.
    pub api_version: String,
    /// Whether the object is another one after the patch.
    pub changed: bool,
    /// Whether the patch removed the object.
    pub deleted: bool,
    /// The operations of a patch by RFC 6902; empty for a strategic merge.
    pub operations: Vec<Operation>,
    /// What a strategic merge did; empty for a patch by RFC 6902.
    pub merge: Merge,
}

/// One operation of a patch by RFC 6902, on one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its place in the patch, counted from 0.
    pub index: usize,
    /// `add`, `remove`, `replace`, `move`, `copy` or `test`.
    pub op: String,
    /// The pointer as written.
    pub pointer: String,
    /// Whether the operation could be done: the place (for `add` its parent) is there and a `test` holds.
    pub resolved: bool,
    /// What the pointer means in this object, before the operation; as far as it leads.
    pub meaning: Vec<Step>,
    /// What stood there before; `None` where nothing did.
    pub before: Option<Value>,
    /// The value of the operation.
    pub value: Option<Value>,
    /// The `from` of `move` and `copy`, as written.
    pub from: Option<String>,
    /// What `from` means in this object.
    pub from_meaning: Vec<Step>,
}

/// One step of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A key of a mapping.
    Key(String),
    /// An element of a list.
    Element {
        /// Its place, counted from 0.
        index: usize,
        /// What tells it from the others, as far as it has that: keys and their values, such as `name` and `v1beta1`.
        identity: Vec<(String, String)>,
    },
    /// The place after the last element.
    End,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => write!(formatter, ".{key}"),
            Self::End => formatter.write_str("[-]"),
            Self::Element { index, identity } if identity.is_empty() => write!(formatter, "[{index}]"),
            Self::Element { identity, .. } => {
                let parts: Vec<String> = identity.iter().map(|(key, value)| format!("{key}={value}")).collect();
                write!(formatter, "[{}]", parts.join(","))
            }
        }
    }
}

/// Writes a pointer's meaning, such as `spec.versions[name=v1beta1].schema`.
pub fn meaning(steps: &[Step]) -> String {
    let text: String = steps.iter().map(ToString::to_string).collect();
    text.strip_prefix('.').map(ToOwned::to_owned).unwrap_or(text)
}

/// What a strategic merge did to one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merge {
    /// Lists that the patch replaced whole, since they have no merge key.
    pub replaced: Vec<ReplacedList>,
    /// Directives that the patch used, with where they stand: `$patch: delete`.
    pub directives: Vec<Directive>,
}

/// A list that a strategic merge replaced whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplacedList {
    /// Where it stands in the object.
    pub path: Vec<Step>,
    /// What stood there; `None` where there was no list.
    pub before: Option<Value>,
    /// What stands there now.
    pub after: Value,
}

/// A directive of a strategic merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Where it stands in the patch.
    pub path: Vec<Step>,
    /// The key, such as `$patch`.
    pub key: String,
    /// The value.
    pub value: Value,
}
