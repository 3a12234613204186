//! Where API versions hide in a file.
//!
//! In: the bytes of one YAML or JSON file, and which API groups matter. Out: every [`Place`], given to a [`Visit`] which
//! may answer with splices; these come back in coordinates of the file. Texts inside scalars (patches, manifests in a
//! ConfigMap, templates) are walked as texts of their own. Knows no release.

mod inside;
mod interest;
mod shape;
mod target;
mod walk;

use std::ops::Range;

use refit_manifest::edit::Splice;
use refit_manifest::parse::NodeRef;

pub(crate) use interest::is_computed;
pub use interest::{Interest, Owner};
pub use target::{Content, Target};
pub use walk::walk;

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sort {
    /// An object that is a document.
    Object,
    /// An object in the `items` of a list.
    Item,
    /// A list of one kind, such as `HelmReleaseList`.
    List,
    /// The content of a strategic merge.
    Patch,
    /// An object inside another: in a template, a ConfigMap, values.
    Embedded,
    /// A selector of `group`, `version` and `kind`.
    Target,
    /// A reference of `apiVersion` and `kind`.
    Reference,
    /// Another text that names group and version.
    Mention,
    /// An operation of a JSON patch, or a field path of a replacement.
    Pointer,
}

impl Sort {
    /// Gives the stable word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Item => "item",
            Self::List => "list",
            Self::Patch => "patch",
            Self::Embedded => "embedded",
            Self::Target => "target",
            Self::Reference => "reference",
            Self::Mention => "mention",
            Self::Pointer => "pointer",
        }
    }

    /// Tells whether an object, whole or in part, stands at the place, so that its fields count too.
    pub fn has_fields(self) -> bool {
        matches!(self, Self::Object | Self::Item | Self::Patch | Self::Embedded)
    }
}

/// How sure it is that a place means what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trust {
    /// It can be edited.
    Certain,
    /// A person must look, for this reason.
    Review(&'static str),
    /// It must not be edited, for this reason.
    Never(&'static str),
}

/// One place of an API version.
#[derive(Clone, Debug)]
pub struct Place<'a> {
    /// What stands there.
    pub sort: Sort,
    /// The mapping that holds the version; of a mention the text.
    pub node: NodeRef<'a>,
    /// The scalar that says the version.
    pub version_node: NodeRef<'a>,
    /// The API group.
    pub group: &'a str,
    /// The kind; empty for a mention.
    pub kind: &'a str,
    /// The version without its group.
    pub version: &'a str,
    /// The object around it; empty for an object that is a document.
    pub within: &'a str,
    /// How sure it is.
    pub trust: Trust,
    /// Where the text stands that the nodes are part of.
    pub(crate) frame: &'a Frame<'a>,
}

impl Place<'_> {
    /// Gives the span of a node's text in the file; as near as it can be told.
    pub fn in_file(&self, span: Range<usize>) -> Range<usize> {
        self.frame.in_file(span)
    }
}

/// Where fields of objects that stand elsewhere are named.
#[derive(Clone, Debug)]
pub struct Pointers<'a> {
    /// The list of operations, or the text of a field path.
    pub node: NodeRef<'a>,
    /// Which of the two it is.
    pub form: PointerForm,
    /// The objects; each target stands for a use of the same operations.
    pub targets: &'a [Target],
    /// The object around it.
    pub within: &'a str,
    /// How sure it is.
    pub trust: Trust,
    /// Where the text stands that the node is part of.
    pub(crate) frame: &'a Frame<'a>,
}

impl Pointers<'_> {
    /// Gives the span of a node's text in the file; as near as it can be told.
    pub fn in_file(&self, span: Range<usize>) -> Range<usize> {
        self.frame.in_file(span)
    }
}

/// How fields are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerForm {
    /// By pointers in a list of operations.
    Operations,
    /// By the field path of a replacement.
    FieldPath,
}

/// What is done with pointers.
#[derive(Clone, Debug, Default)]
pub struct Pointed {
    /// The splices, over the text that the node is part of.
    pub splices: Vec<Splice>,
    /// The operations that these take out.
    pub gone: Vec<usize>,
}

/// A text and the text around it.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) outer: Option<(&'a Frame<'a>, &'a inside::Inside)>,
}

impl Frame<'_> {
    fn in_file(&self, span: Range<usize>) -> Range<usize> {
        match self.outer {
            None => span,
            Some((outer, inside)) => outer.in_file(inside.offset(span.start)..inside.offset(span.end)),
        }
    }
}

/// Why a part of a file cannot be walked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// What it is.
    pub sort: TroubleSort,
}

/// What keeps a part of a file from being walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TroubleSort {
    /// It is no YAML.
    Unreadable,
    /// It holds templates, and is no YAML even with these masked.
    Template,
}

/// Takes the places of a file in their order.
pub trait Visit {
    /// Takes a place; gives the splices over the text that its nodes are part of.
    fn place(&mut self, place: &Place<'_>) -> Vec<Splice>;
    /// Takes operations or a field path.
    fn pointers(&mut self, _pointers: &Pointers<'_>) -> Pointed {
        Pointed::default()
    }
    /// Takes a part that cannot be walked.
    fn trouble(&mut self, trouble: Trouble);
    /// Marks how far it came.
    fn mark(&self) -> usize;
    /// Says that the splices of an object, given between two marks, were put off: what stands inside it is edited first.
    /// A visitor without edits has nothing to do.
    fn defer(&mut self, _marks: Range<usize>) {}
    /// Says that the splices given since a mark could not be carried out, and why.
    fn withdraw(&mut self, mark: usize, reason: &'static str);
}
