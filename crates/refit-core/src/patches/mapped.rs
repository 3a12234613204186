//! Edits of a text that stands inside a scalar of YAML.
//!
//! In: the scalar and splices over its text. Out: the same splices over the file, where each byte of the text stands in
//! the file as it is; otherwise nothing.

use std::ops::Range;

use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::Style;

/// Where the bytes of a text stand in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mapped {
    /// All at one distance.
    Shift(usize),
    /// Line by line behind an indentation: the start of each line in the text and in the file;
    /// the last is the end where a line ends there.
    Lines { starts: Vec<(usize, usize)>, indent: usize },
}

impl Mapped {
    /// Finds the text of a scalar in its file.
    pub(super) fn of(scalar: NodeRef<'_>) -> Option<Self> {
        let text = scalar.text()?;
        let (source, start) = (scalar.source(), scalar.span().start);
        match scalar.kind() {
            Kind::Scalar(Style::Plain) => (source == text).then_some(Self::Shift(start)),
            Kind::Scalar(Style::Single | Style::Double) => {
                let inner = source.get(1..source.len().checked_sub(1)?)?;
                (inner == text).then_some(Self::Shift(start + 1))
            }
            Kind::Scalar(Style::Literal) => lines(text, source, start),
            _ => None,
        }
    }

    /// Moves a splice over the text to the file.
    pub(super) fn splice(&self, splice: Splice) -> Option<Splice> {
        let range = match self {
            Self::Shift(by) => splice.range.start + by..splice.range.end + by,
            Self::Lines { starts, .. } => {
                let line = |at: usize| starts.iter().find(|(start, _)| *start == at).map(|(_, source)| *source);
                match (line(splice.range.start), line(splice.range.end)) {
                    (Some(start), Some(end)) if splice.text.is_empty() => start..end,
                    _ => self.range(&splice.range)?,
                }
            }
        };
        Some(Splice {
            range,
            text: splice.text,
        })
    }

    fn range(&self, range: &Range<usize>) -> Option<Range<usize>> {
        Some(self.offset(range.start)?..self.offset(range.end)?)
    }

    fn offset(&self, at: usize) -> Option<usize> {
        match self {
            Self::Shift(by) => Some(at + by),
            Self::Lines { starts, indent } => {
                let (start, source) = starts.iter().rev().find(|(start, _)| *start <= at)?;
                Some(source + indent + (at - start))
            }
        }
    }
}

/// Maps a literal block line by line; `None` where a line does not stand there as it is.
fn lines(text: &str, source: &str, at: usize) -> Option<Mapped> {
    let body = source.find('\n')? + 1;
    let mut rows = source.get(body..)?.split_inclusive('\n');
    let mut starts = Vec::new();
    let mut indent = None;
    let (mut in_text, mut in_source) = (0, at + body);
    for line in text.split_inclusive('\n') {
        let row = rows.next()?;
        starts.push((in_text, in_source));
        let (content, whole) = (line.trim_end_matches('\n'), row.trim_end_matches('\n'));
        if !content.is_empty() {
            let before = whole.strip_suffix(content)?;
            if before.bytes().any(|byte| byte != b' ') || *indent.get_or_insert(before.len()) != before.len() {
                return None;
            }
        }
        in_text += line.len();
        in_source += row.len();
    }
    if text.ends_with('\n') {
        starts.push((in_text, in_source));
    }
    Some(Mapped::Lines {
        starts,
        indent: indent?,
    })
}
