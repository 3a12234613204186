//! Uses of API versions and fields that releases deprecate or remove, and the edits that do away with them.
//!
//! In: the bytes of one file and what is [`Wanted`]. Out: a [`Reading`]: uses with their places, findings, and the bytes
//! with every sure conversion made. What cannot be converted stays byte for byte and says why. Needs no other file.

mod judge;
mod pointers;
mod wanted;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use refit_manifest::{Path, Stream, edit, stream};

use crate::finding::{Code, Finding};
use crate::places::{self, Content, Sort, TroubleSort, Visit};
use crate::release::Version;
use crate::report::UseLine;

pub use wanted::{Conflict, Wanted};

/// One use of an API version or a field that is deprecated or removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The file.
    pub path: Path,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// Where it stands in the file.
    pub span: Range<usize>,
    /// What stands at the place.
    pub sort: Sort,
    /// The object, or what a selector or reference means.
    pub object: String,
    /// The object around it; empty where there is none.
    pub within: String,
    /// The API group.
    pub group: String,
    /// The kind; empty where a text mentions the version alone.
    pub kind: String,
    /// What is used.
    pub what: What,
    /// The release that deprecates it.
    pub since: Option<Version>,
    /// The first release that does not have it any more.
    pub removed_in: Option<Version>,
    /// What to write in its place.
    pub replacement: Option<String>,
    /// Whether it is converted.
    pub convertible: Convertible,
    /// The rule that converts it, where it is about a field.
    pub rule: Option<String>,
}

/// What is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// An API version, without its group.
    Version(String),
    /// A field and the message of the rule about it.
    Field {
        /// The field.
        name: String,
        /// What the rule says.
        message: String,
    },
}

/// Whether a use is converted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Convertible {
    /// It is.
    Yes,
    /// It is not, or not surely as meant: a person must look, for this reason.
    Review(String),
    /// It must not be, for this reason.
    No(String),
}

impl Convertible {
    /// Gives the stable word.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Review(_) => "review",
            Self::No(_) => "no",
        }
    }

    /// Gives the reason why it is not simply converted.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Yes => None,
            Self::Review(reason) | Self::No(reason) => Some(reason),
        }
    }
}

impl fmt::Display for Use {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{}:{}:{}: {}: ",
            self.path, self.line, self.column, self.object
        )?;
        match &self.what {
            What::Version(version) => write!(formatter, "{}/{version}", self.group)?,
            What::Field { name, message } => write!(formatter, "`{name}`: {message}")?,
        }
        Ok(())
    }
}

impl Use {
    /// Gives the line of a report about a release.
    pub fn line_for(&self, to: &Version) -> UseLine {
        let (version, field, message) = match &self.what {
            What::Version(version) => (Some(version.clone()), None, None),
            What::Field { name, message } => (None, Some(name.clone()), Some(message.clone())),
        };
        UseLine {
            path: self.path.to_string(),
            line: self.line,
            column: self.column,
            place: self.sort.word().to_owned(),
            object: self.object.clone(),
            within: self.within.clone(),
            group: self.group.clone(),
            kind: self.kind.clone(),
            version,
            field,
            message,
            since: self.since.as_ref().map(ToString::to_string),
            removed_in: self.removed_in.as_ref().map(ToString::to_string),
            removed: self.removed_in.as_ref().is_some_and(|gone| gone <= to),
            replacement: self.replacement.clone(),
            convertible: self.convertible.word().to_owned(),
            reason: self.convertible.reason().map(ToOwned::to_owned),
            rule: self.rule.clone(),
        }
    }
}

/// Something worth knowing about an object that asks for no edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The line, counted from 1.
    pub line: usize,
    /// The object.
    pub object: String,
    /// What a rule says.
    pub message: String,
}

/// What was read in a file.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The uses, in the order of their places.
    pub uses: Vec<Use>,
    /// What is worth knowing.
    pub notes: Vec<Note>,
    /// What cannot be read, or is not of the releases.
    pub findings: Vec<Finding>,
    /// The bytes after every sure conversion; the same as were given where there is nothing to do.
    pub bytes: Arc<[u8]>,
}

impl Reading {
    fn untouched(bytes: &Arc<[u8]>) -> Self {
        Self {
            uses: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            bytes: Arc::clone(bytes),
        }
    }

    /// Lists what is converted.
    pub fn changes(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(|used| used.convertible == Convertible::Yes)
    }

    /// Lists what people must look at.
    pub fn left(&self) -> impl Iterator<Item = &Use> {
        self.uses.iter().filter(|used| used.convertible != Convertible::Yes)
    }
}

/// Reads a file; what it gives is both the answer of a scan and that of a conversion.
pub fn read(path: &Path, bytes: &Arc<[u8]>, wanted: &Wanted) -> Reading {
    read_content(&Content::Objects, path, bytes, wanted)
}

/// Reads a file of which it is known what its documents are; see [`read_as`].
pub fn read_content(content: &Content, path: &Path, bytes: &Arc<[u8]>, wanted: &Wanted) -> Reading {
    let mut reading = Reading::untouched(bytes);
    if !wanted.may_concern_as(content, path, bytes) {
        return reading;
    }
    match Stream::split(Arc::clone(bytes)) {
        Ok(stream) => read_as(content, path, &stream, wanted),
        Err(error) => {
            reading.findings.push(unreadable(path, &error));
            reading
        }
    }
}

/// Reads a file that is split already.
pub fn read_stream(path: &Path, stream: &Stream, wanted: &Wanted) -> Reading {
    read_as(&Content::Objects, path, stream, wanted)
}

/// Reads a file of which it is known what its documents are: patches may lack what objects must have, and may be operations.
///
/// What stands inside a field that a rule moves or wraps is edited first, and the field in another pass over the result.
pub fn read_as(content: &Content, path: &Path, stream: &Stream, wanted: &Wanted) -> Reading {
    let (mut reading, mut open) = pass(content, path, stream, wanted);
    for _ in 0..PASSES {
        if open.is_empty() {
            break;
        }
        let Some((bytes, deferred)) = later_pass(content, path, &reading, (&open, wanted)) else {
            break;
        };
        reading.bytes = bytes;
        open = deferred;
    }
    for at in open {
        reading.uses[at].convertible = Convertible::Review(ENTANGLED.to_owned());
    }
    reading
}

/// Reads a file once; also gives the indices of the uses whose edits wait for those inside of them.
fn pass(content: &Content, path: &Path, stream: &Stream, wanted: &Wanted) -> (Reading, Vec<usize>) {
    let mut reading = Reading::untouched(stream.bytes());
    let mut judge = judge::Judge::new(path, stream, wanted);
    let splices = places::walk(path, (stream, content), wanted.interest(), &mut judge);
    match edit::apply(stream.bytes(), &splices) {
        Ok(converted) if !splices.is_empty() => reading.bytes = converted,
        Ok(_) => {}
        Err(_) => judge.withdraw(0, ENTANGLED),
    }
    let judge::Judge {
        uses,
        notes,
        findings,
        mut deferred,
        ..
    } = judge;
    deferred.retain(|at| uses[*at].convertible == Convertible::Yes);
    deferred.sort_unstable();
    let reading = Reading {
        uses,
        notes,
        findings,
        ..reading
    };
    (reading, deferred)
}

/// Makes the edits that waited; gives the bytes and which of them wait still, `None` where others than these would be made.
fn later_pass(
    content: &Content,
    path: &Path,
    reading: &Reading,
    (open, wanted): (&[usize], &Wanted),
) -> Option<(Arc<[u8]>, Vec<usize>)> {
    let stream = Stream::split(Arc::clone(&reading.bytes)).ok()?;
    let (next, deferred) = pass(content, path, &stream, wanted);
    let same = |old: &Use, new: &Use| (&old.object, &old.what, &old.rule) == (&new.object, &new.what, &new.rule);
    let made: Vec<usize> = (0..next.uses.len())
        .filter(|at| next.uses[*at].convertible == Convertible::Yes)
        .collect();
    let is_as_told = made.len() == open.len()
        && made
            .iter()
            .zip(open)
            .all(|(new, old)| same(&reading.uses[*old], &next.uses[*new]));
    let waits = made.iter().zip(open).filter(|(new, _)| deferred.contains(new));
    let still = waits.map(|(_, old)| *old).collect();
    is_as_told.then_some((next.bytes, still))
}

/// The most passes over a file after the first; texts nest less deep.
const PASSES: usize = 8;

const ENTANGLED: &str = "two edits would touch the same text";

/// Says that a file is no stream of documents.
pub fn unreadable(path: &Path, error: &stream::Error) -> Finding {
    let message = format!("{error}; the file names API versions and was left as it is");
    Finding::new(Code::UnreadableManifest, path.as_str(), message)
}

fn trouble(path: &Path, trouble: &places::Trouble) -> Finding {
    let code = match trouble.sort {
        TroubleSort::Unreadable => Code::UnreadableManifest,
        TroubleSort::Template => Code::TemplateNotMasked,
    };
    Finding::new(code, format!("{path}:{}", trouble.line), trouble.message.clone())
}
