//! One document as a tree of nodes with byte spans.
//!
//! In: the bytes of a file and the span of one document. Out: [`Parsed`], walked through [`NodeRef`]. The parser crate
//! is known to `granit` alone; comments are not nodes, since between two nodes of a block only blank lines and
//! comments can stand and the bytes tell them.

mod builder;
mod compare;
mod granit;
mod node;
mod plain;

use std::ops::Range;
use std::sync::Arc;

pub use compare::same;
pub(crate) use compare::{canonical, view};
pub use node::{Kind, Layout, NodeRef, Parsed};

/// Why a document cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is not YAML.
    #[error("line {line}, column {column}: {reason}")]
    Syntax {
        /// The line in the file, counted from 1.
        line: usize,
        /// The column in characters, counted from 1.
        column: usize,
        /// What the parser says.
        reason: String,
    },
    /// An alias refers to a node that holds it.
    #[error("line {line}: the alias refers to a node that it is part of")]
    AliasLoop {
        /// The line in the file, counted from 1.
        line: usize,
    },
    /// Aliases stand for far more nodes than are written.
    #[error("the aliases of the document at line {line} stand for more nodes than are read")]
    TooManyAliases {
        /// The line where the document begins, counted from 1.
        line: usize,
    },
    /// The nesting is deeper than any manifest needs.
    #[error("line {line}: nested deeper than {limit} levels")]
    TooDeep {
        /// The line in the file, counted from 1.
        line: usize,
        /// The most levels that are read.
        limit: usize,
    },
}

impl Error {
    /// Gives the line in the file, counted from 1, that the error is about.
    pub fn line(&self) -> usize {
        match self {
            Self::Syntax { line, .. }
            | Self::AliasLoop { line }
            | Self::TooManyAliases { line }
            | Self::TooDeep { line, .. } => *line,
        }
    }
}

/// The most levels of nesting that are read.
pub const DEPTH_LIMIT: usize = 200;

/// Parses one document of a file; spans of nodes count from the start of the file.
///
/// Text that only parses with its templates masked is parsed so, and [`Parsed::is_masked`] says it.
pub fn parse(bytes: &[u8], span: Range<usize>) -> Result<Parsed, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::Syntax {
        line: 1,
        column: 1,
        reason: "the text is not UTF-8".to_owned(),
    })?;
    read(&text.into(), span)
}

/// Parses one document by the parser crate alone, without the quick reader of plain text; tests hold the two together.
pub fn parse_by_crate(text: &Arc<str>, span: Range<usize>) -> Result<Parsed, Error> {
    granit::parse(text, span)
}

/// Parses one document of a file.
pub(crate) fn read(text: &Arc<str>, span: Range<usize>) -> Result<Parsed, Error> {
    match plain::parse(text, span.clone()) {
        Some(parsed) => Ok(parsed),
        None => granit::parse(text, span),
    }
}
