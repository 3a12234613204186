//! A text that stands inside a scalar.
//!
//! In: the scalar. Out: its text, and the way of splices over it back to the text around it. Every byte of the scalar that
//! no splice touches stays; indentation, escapes and line ends are those of the scalar.

use std::ops::Range;

use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::scalar::{self, Style};

/// The text of a scalar and where its bytes stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inside {
    /// The text.
    pub(crate) text: String,
    form: Form,
    /// Where runs of bytes begin that stand in the file as in the text: in the text, in the file.
    runs: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    /// On one line, as it is.
    Plain,
    Single,
    Double,
    /// Somewhere in the scalar: it is not known where.
    Folded,
    /// By lines.
    Literal {
        indent: String,
        line_end: &'static str,
        /// Where each line begins with its indentation: in the text, in the file; the last is the end.
        lines: Vec<(usize, usize)>,
    },
}

impl Inside {
    /// Reads a scalar; `None` for one that is folded or tells its indentation by a number, so that its lines are not
    /// found by looking at them.
    pub(crate) fn of(scalar: NodeRef<'_>) -> Option<Self> {
        let (source, start) = (scalar.source(), scalar.span().start);
        match scalar.kind() {
            Kind::Scalar(Style::Plain) => {
                let text = scalar.text().filter(|text| *text == source)?.to_owned();
                let runs = vec![(0, start)];
                Some(Self {
                    text,
                    form: Form::Plain,
                    runs,
                })
            }
            Kind::Scalar(Style::Single) => quoted(source, start, Form::Single),
            Kind::Scalar(Style::Double) => quoted(source, start, Form::Double),
            Kind::Scalar(Style::Literal) => literal(source, start),
            _ => None,
        }
        // A document that was read with its templates masked gives the source of a block as its text.
        .filter(|inside| scalar.parsed().is_masked() || scalar.text() == Some(&*inside.text))
    }

    /// Takes the text of a scalar whose bytes stand somewhere in it; nothing can be spliced into it.
    pub(crate) fn folded(scalar: NodeRef<'_>) -> Option<Self> {
        Some(Self {
            text: scalar.text()?.to_owned(),
            form: Form::Folded,
            runs: vec![(0, scalar.span().start)],
        })
    }

    /// Gives the place of a byte of the text.
    pub(crate) fn offset(&self, at: usize) -> usize {
        if self.form == Form::Folded {
            return self.runs.first().map_or(at, |(_, place)| *place);
        }
        let run = self.runs.partition_point(|(start, _)| *start <= at).saturating_sub(1);
        self.runs.get(run).map_or(at, |(start, place)| place + (at - start))
    }

    /// Moves splices over the text to the text around it.
    pub(crate) fn splices(&self, splices: Vec<Splice>) -> Vec<Splice> {
        splices.into_iter().map(|splice| self.splice(splice)).collect()
    }

    fn splice(&self, splice: Splice) -> Splice {
        match &self.form {
            Form::Plain | Form::Folded => self.moved(&splice.range, splice.text),
            Form::Single => self.moved(&splice.range, splice.text.replace('\'', "''")),
            Form::Double => {
                let written = scalar::write(&splice.text, Style::Double);
                self.moved(&splice.range, written[1..written.len() - 1].to_owned())
            }
            Form::Literal {
                indent,
                line_end,
                lines,
            } => {
                let begins = |at: usize| {
                    let line = lines.get(lines.partition_point(|(start, _)| *start < at));
                    line.filter(|(start, _)| *start == at).map(|(_, place)| *place)
                };
                let whole = splice.text.is_empty() || splice.text.ends_with('\n');
                match (begins(splice.range.start), begins(splice.range.end)) {
                    (Some(start), Some(end)) if whole => Splice {
                        range: start..end,
                        text: indented(&splice.text, indent, line_end),
                    },
                    (_, Some(end)) if splice.text.ends_with('\n') => Splice {
                        range: self.offset(splice.range.start)..end,
                        text: continued(&splice.text, indent, line_end),
                    },
                    _ => self.moved(&splice.range, continued(&splice.text, indent, line_end)),
                }
            }
        }
    }

    fn moved(&self, range: &Range<usize>, text: String) -> Splice {
        Splice {
            range: self.offset(range.start)..self.offset(range.end),
            text,
        }
    }
}

/// Writes lines that begin at the start of a line.
fn indented(text: &str, indent: &str, line_end: &str) -> String {
    let line = |line: &str| match line {
        "" => line_end.to_owned(),
        line => format!("{indent}{line}{line_end}"),
    };
    text.lines().map(line).collect()
}

/// Writes text that begins within a line; what follows its last line end is not indented when nothing does.
fn continued(text: &str, indent: &str, line_end: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push_str(line_end);
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        }
    }
    out
}

/// Reads a quoted scalar of one line.
fn quoted(source: &str, start: usize, form: Form) -> Option<Inside> {
    let inner = source.get(1..source.len().checked_sub(1)?)?;
    if inner.contains('\n') {
        return None;
    }
    let mut text = String::with_capacity(inner.len());
    let mut runs = vec![(0, start + 1)];
    let mut at = 0;
    while let Some(c) = inner[at..].chars().next() {
        let (length, decoded) = match (c, &form) {
            ('\'', Form::Single) => (2, '\''),
            ('\\', Form::Double) => escape(&inner[at..])?,
            _ => (c.len_utf8(), c),
        };
        text.push(decoded);
        at += length;
        if length != decoded.len_utf8() {
            runs.push((text.len(), start + 1 + at));
        }
    }
    Some(Inside { text, form, runs })
}

/// Reads an escape of a double-quoted scalar: its length and what it stands for.
fn escape(rest: &str) -> Option<(usize, char)> {
    let letter = rest.chars().nth(1)?;
    let hex = |digits: usize| {
        let code = u32::from_str_radix(rest.get(2..2 + digits)?, 16).ok()?;
        Some((2 + digits, char::from_u32(code)?))
    };
    let simple = match letter {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => letter,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' => return hex(2),
        'u' => return hex(4),
        'U' => return hex(8),
        _ => return None,
    };
    Some((1 + letter.len_utf8(), simple))
}

/// Reads a literal block: its header, then lines behind an indentation.
fn literal(source: &str, start: usize) -> Option<Inside> {
    let (header, body) = source.split_once('\n')?;
    let line_end = if header.ends_with('\r') { "\r\n" } else { "\n" };
    let rows: Vec<&str> = body.split_inclusive('\n').collect();
    let content = |row: &str| row.trim_end_matches(['\n', '\r']).to_owned();
    let indent = match header.bytes().find(u8::is_ascii_digit) {
        // What an explicit width counts from is the indentation of the parent, which the source does not tell.
        Some(_) => return None,
        None => {
            let first = rows.iter().find(|row| !row.trim().is_empty())?;
            first[..first.len() - first.trim_start_matches(' ').len()].to_owned()
        }
    };
    let mut text = String::with_capacity(body.len());
    let (mut runs, mut lines) = (Vec::new(), Vec::new());
    let mut at = start + header.len() + 1;
    for row in rows {
        let line = content(row);
        lines.push((text.len(), at));
        let (skipped, shown) = match line.strip_prefix(&*indent) {
            Some(shown) => (indent.len(), shown),
            None if line.trim().is_empty() => (line.len(), ""),
            None => return None,
        };
        runs.push((text.len(), at + skipped));
        text.push_str(shown);
        if row.ends_with('\n') {
            text.push('\n');
        }
        at += row.len();
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    let chomping = header.bytes().find(|byte| matches!(byte, b'-' | b'+'));
    let kept = match chomping {
        Some(b'+') => text.len(),
        Some(_) => text.trim_end_matches('\n').len(),
        None => (text.trim_end_matches('\n').len() + 1).min(text.len()),
    };
    text.truncate(kept);
    lines.retain(|(start, _)| *start < kept);
    if text.ends_with('\n') {
        let end = runs.iter().find(|(start, _)| *start == kept);
        let end = end.and_then(|_| line_at(source, start, &lines));
        lines.push((kept, end.unwrap_or(at)));
    }
    Some(Inside {
        text,
        form: Form::Literal {
            indent,
            line_end,
            lines,
        },
        runs,
    })
}

/// Gives the offset behind the last line that is listed.
fn line_at(source: &str, start: usize, lines: &[(usize, usize)]) -> Option<usize> {
    let (_, last) = lines.last()?;
    let rest = &source[last - start..];
    rest.find('\n').map(|end| last + end + 1)
}

#[cfg(test)]
mod tests {
    use refit_manifest::{Stream, edit};

    use super::*;

    /// Replaces a part of the text under `k` and gives the file, which must read as the text with that part replaced.
    fn check(file: &str, old: &str, new: &str, expected: &str) {
        let stream = Stream::split(file.as_bytes().into()).unwrap();
        let scalar = stream.documents()[0].root().and_then(|root| root.get("k")).unwrap();
        let inside = Inside::of(scalar).unwrap_or_else(|| panic!("{file:?} {:?}", scalar.text()));
        assert_eq!(Some(&*inside.text), scalar.text(), "{file:?}");
        let at = inside.text.find(old).unwrap();
        let splice = Splice {
            range: at..at + old.len(),
            text: new.to_owned(),
        };
        let changed = inside.text.replacen(old, new, 1);
        let bytes = edit::apply(stream.bytes(), &inside.splices(vec![splice])).unwrap();
        assert_eq!(std::str::from_utf8(&bytes).unwrap(), expected);
        let again = Stream::split(bytes).unwrap();
        let text = again.documents()[0].root().and_then(|root| root.get("k")).unwrap();
        assert_eq!(text.text(), Some(&*changed), "{expected:?}");
    }

    #[test]
    fn lines_of_a_block_keep_their_indentation() {
        let file = "k: |\n    a: 1\n    b:\n      c: 2\n\n    d: 3\nz: 0\n";
        check(
            file,
            "c: 2",
            "c: 9",
            "k: |\n    a: 1\n    b:\n      c: 9\n\n    d: 3\nz: 0\n",
        );
        check(file, "a: 1\n", "", "k: |\n    b:\n      c: 2\n\n    d: 3\nz: 0\n");
        check(
            file,
            "a: 1\n",
            "x:\n- y\n",
            "k: |\n    x:\n    - y\n    b:\n      c: 2\n\n    d: 3\nz: 0\n",
        );
        check(
            file,
            "1\nb",
            "1\ne: 4\nb",
            "k: |\n    a: 1\n    e: 4\n    b:\n      c: 2\n\n    d: 3\nz: 0\n",
        );
        check(
            file,
            "\n  c: 2\n",
            "\n  c: 2\n  f: 5\n",
            "k: |\n    a: 1\n    b:\n      c: 2\n      f: 5\n\n    d: 3\nz: 0\n",
        );
    }

    #[test]
    fn blocks_are_read_with_each_way_to_end_them() {
        check(
            "k: |-\n  a: 1\n  b: 2\n",
            "b: 2",
            "b: 2\nc: 3",
            "k: |-\n  a: 1\n  b: 2\n  c: 3\n",
        );
        check(
            "k: |+\n  a: 1\n\nz: 0\n",
            "a: 1\n",
            "a: 1\nb: 2\n",
            "k: |+\n  a: 1\n  b: 2\n\nz: 0\n",
        );
        check(
            "k: |\r\n  a: 1\r\n  b: 2\r\n",
            "a: 1\n",
            "c: 3\nd: 4\n",
            "k: |\r\n  c: 3\r\n  d: 4\r\n  b: 2\r\n",
        );
        check("k: |\n  a: 1", "1", "2", "k: |\n  a: 2");
    }

    #[test]
    fn quoted_texts_keep_their_escapes() {
        check(
            r#"k: "a: \"1\"\nb: \u00e9 2\n""#,
            "2",
            "3",
            r#"k: "a: \"1\"\nb: \u00e9 3\n""#,
        );
        check(r#"k: "a: \"1\"\nb: 2\n""#, "b: 2\n", "", r#"k: "a: \"1\"\n""#);
        check(r#"k: "a: 1\n""#, "a: 1\n", "a: \"x\"\n", r#"k: "a: \"x\"\n""#);
        check("k: '{a: ''1'', b: 2}'\n", "2", "'x'", "k: '{a: ''1'', b: ''x''}'\n");
        check("k: a/v1\n", "v1", "v2", "k: a/v2\n");
    }

    #[test]
    fn folded_texts_are_not_edited() {
        for file in ["k: >\n  a\n  b\n", "k: \"a\n  b\"\n", "k: a\n  b\n"] {
            let stream = Stream::split(file.as_bytes().into()).unwrap();
            let root = stream.documents()[0].root().unwrap();
            assert_eq!(Inside::of(root.get("k").unwrap()), None, "{file:?}");
        }
    }
}
