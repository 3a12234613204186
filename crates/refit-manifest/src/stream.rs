//! A file as a stream of documents.
//!
//! In: the bytes of a file. Out: [`Document`]s with spans, each parsed only when somebody asks. A line that begins with
//! `---` parts documents wherever it stands: YAML forbids such a line inside any scalar.

mod identity;
mod split;

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::parse::{self, NodeRef, Parsed};

/// What makes an object the same object over versions: group, kind, namespace and name, without the API version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    /// The API group, empty for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// The namespace, empty where none is written.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.kind, self.name)?;
        if self.namespace.is_empty() {
            Ok(())
        } else {
            write!(formatter, " in {}", self.namespace)
        }
    }
}

/// The type and name that the head of an object states.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The `apiVersion` as written; empty when missing.
    pub api_version: Arc<str>,
    /// The `kind`; empty when missing.
    pub kind: Arc<str>,
    /// `metadata.namespace`; empty when missing.
    pub namespace: Arc<str>,
    /// `metadata.name`; empty when missing.
    pub name: Arc<str>,
}

impl Head {
    /// Gives the identity; `None` without kind or name.
    pub fn identity(&self) -> Option<Identity> {
        if self.kind.is_empty() || self.name.is_empty() {
            return None;
        }
        let group = self.api_version.split_once('/').map_or("", |(group, _)| group);
        Some(Identity {
            group: group.into(),
            kind: Arc::clone(&self.kind),
            namespace: Arc::clone(&self.namespace),
            name: Arc::clone(&self.name),
        })
    }
}

/// Why a file is not a stream of documents at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The bytes are not UTF-8.
    #[error("byte {offset} is not UTF-8")]
    NotUtf8 {
        /// The first byte that is wrong, counted from 0.
        offset: usize,
    },
    /// The file is larger than offsets of 32 bits can address.
    #[error("the file has {size} bytes; at most 4 GiB are read")]
    TooLarge {
        /// The size in bytes.
        size: usize,
    },
    /// The text holds lines that Git writes into files with merge conflicts.
    #[error("line {line}: Git conflict marker")]
    ConflictMarker {
        /// The line, counted from 1.
        line: usize,
    },
}

/// A file split into documents.
#[derive(Debug)]
pub struct Stream {
    bytes: Arc<[u8]>,
    text: Arc<str>,
    documents: Vec<Document>,
}

impl Stream {
    /// Splits a file; documents that do not parse are found when they are asked for.
    ///
    /// A byte order mark stays in front of the first document. The spans of the documents cover the file without gaps.
    pub fn split(bytes: Arc<[u8]>) -> Result<Self, Error> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::TooLarge { size: bytes.len() });
        }
        let text: Arc<str> = match std::str::from_utf8(&bytes) {
            Ok(text) => text.into(),
            Err(error) => {
                return Err(Error::NotUtf8 {
                    offset: error.valid_up_to(),
                });
            }
        };
        if let Some(line) = split::conflict_marker(&bytes) {
            return Err(Error::ConflictMarker { line });
        }
        let documents = split::chunks(&bytes)
            .map(|span| Document::new(Arc::clone(&text), span))
            .collect();
        Ok(Self { bytes, text, documents })
    }

    /// Gives the file's bytes.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Gives the file's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Gives the documents in their order, also those without content.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// Gives the documents that have an identity.
    pub fn objects(&self) -> impl Iterator<Item = (&Identity, &Document)> {
        self.documents
            .iter()
            .filter_map(|document| Some((document.identity()?, document)))
    }
}

/// One document of a stream.
#[derive(Debug)]
pub struct Document {
    text: Arc<str>,
    span: Range<usize>,
    body: Range<usize>,
    head: OnceLock<(Head, Option<Identity>)>,
    parsed: OnceLock<Result<Parsed, parse::Error>>,
}

impl Document {
    fn new(text: Arc<str>, span: Range<usize>) -> Self {
        let body = split::body(text.as_bytes(), &span);
        Self {
            text,
            span,
            body,
            head: OnceLock::new(),
            parsed: OnceLock::new(),
        }
    }

    /// Gives the span in the file with marker, comments and all.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// Gives the span of the content: whole lines from the first to the last that is neither blank nor comment nor
    /// marker, without the comments before and after it.
    pub fn body(&self) -> Range<usize> {
        self.body.clone()
    }

    /// Gives the text of the content.
    pub fn body_text(&self) -> &str {
        &self.text[self.body.clone()]
    }

    /// Gives the text between marker and content: the comments that lead the document.
    pub fn lead(&self) -> Range<usize> {
        let start = split::after_marker(self.text.as_bytes(), &self.span).min(self.body.start);
        start..self.body.start
    }

    /// Tells whether a `---` line opens the document.
    pub fn has_marker(&self) -> bool {
        split::after_marker(self.text.as_bytes(), &self.span) > self.span.start
    }

    /// Gives what stands behind `---` on its line, without the line end; empty without a marker, and where content
    /// begins on that line.
    pub fn marker_comment(&self) -> Range<usize> {
        let end = split::after_marker(self.text.as_bytes(), &self.span);
        let line = &self.text[self.span.start..end];
        let comment = line
            .rfind("---")
            .map(|at| &line[at + 3..])
            .filter(|rest| rest.ends_with('\n'));
        let length = comment.map_or(0, |comment| comment.trim_end_matches(['\n', '\r']).len());
        let start = end - comment.map_or(0, str::len);
        start..start + length
    }

    /// Gives the number of the file's line that holds an offset.
    pub fn line_of(&self, offset: usize) -> usize {
        let before = &self.text.as_bytes()[..offset.min(self.text.len())];
        before.iter().filter(|byte| **byte == b'\n').count() + 1
    }

    /// Gives the text of [`Self::marker_comment`].
    pub fn marker_text(&self) -> &str {
        &self.text[self.marker_comment()]
    }

    /// Gives the whole text with marker and comments.
    pub fn whole_text(&self) -> &str {
        &self.text[self.span.clone()]
    }

    /// Gives the text of the comments that lead the document.
    pub fn lead_text(&self) -> &str {
        &self.text[self.lead()]
    }

    /// Tells whether there is nothing but comments.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Gives type and name, read from the text where it is plain and from the parsed tree where it is not.
    pub fn head(&self) -> &Head {
        &self.heads().0
    }

    /// Gives the identity; `None` without kind or name, and for documents that do not parse.
    pub fn identity(&self) -> Option<&Identity> {
        self.heads().1.as_ref()
    }

    /// Parses the document (once).
    pub fn parsed(&self) -> Result<&Parsed, &parse::Error> {
        self.parsed
            .get_or_init(|| parse::read(&self.text, self.span.clone()))
            .as_ref()
    }

    /// Gives the root node; `None` for a document without content and one that does not parse.
    pub fn root(&self) -> Option<NodeRef<'_>> {
        self.parsed().ok().and_then(Parsed::root)
    }

    fn heads(&self) -> &(Head, Option<Identity>) {
        self.head.get_or_init(|| {
            let head = match identity::scan(self.body_text().as_bytes()) {
                Some(head) => head,
                None => self.root().map(identity::read).unwrap_or_default(),
            };
            let identity = head.identity();
            (head, identity)
        })
    }
}
