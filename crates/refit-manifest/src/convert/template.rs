//! Rewrites known shapes of Go templates.
//!
//! In: the text of a template. Out: the text with `.Updated` become `.Changed` where the meaning is certain, and what is
//! not (facts/flux.md, rule R12; docs of image-automation-controller 0.38, "Message template").

use std::ops::Range;

use crate::parse::{self, Kind, NodeRef};
use crate::scalar::Style;

/// What became of a template.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Rewritten {
    pub(super) text: String,
    /// What is not known; nothing is written then.
    pub(super) unknown: Vec<String>,
    /// What differs from before.
    pub(super) notes: Vec<String>,
}

const DIFFERS: &str = "`.Changed.Changes` lists each edit with its old and new value, also one of only a tag or a name; \
                       `.Updated.Images` listed each image once; read the message that it makes";

const OF_OBJECTS: &str = "`.Changed.Objects` lists the edits in each object with their old and new values, `.Updated.Objects` \
                          listed images; read the message that it makes";

/// Rewrites `.Updated` of the messages of Flux's image automation.
pub(super) fn updated(text: &str) -> Rewritten {
    rewrite(text, "\"")
}

/// Gives the source of a scalar with its template rewritten to a text, in its style; `None` where the style cannot hold
/// it so.
pub(super) fn source(node: NodeRef<'_>, text: &str) -> Option<String> {
    let quote = match node.kind() {
        Kind::Scalar(Style::Double) => "\\\"",
        _ => "\"",
    };
    let source = rewrite(node.source(), quote).text;
    let alone = format!("k: {source}\n");
    let parsed = parse::parse(alone.as_bytes(), 0..alone.len()).ok()?;
    let reads =
        parsed.root()?.get("k")?.text().map(|read| read.trim_end_matches('\n')) == Some(text.trim_end_matches('\n'));
    reads.then_some(source)
}

fn rewrite(text: &str, quote: &str) -> Rewritten {
    let mut work = Work {
        text,
        quote,
        edits: Vec::new(),
        open: Vec::new(),
        out: Rewritten::default(),
    };
    for action in actions(text) {
        work.action(action);
    }
    let mut at = 0;
    for (range, with) in work.edits {
        work.out.text.push_str(&text[at..range.start]);
        work.out.text.push_str(&with);
        at = range.end;
    }
    work.out.text.push_str(&text[at..]);
    work.out
}

/// Lists what stands between `{{` and `}}`, without the marks of trimming.
fn actions(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("{{").map(|at| from + at + 2) {
        let Some(end) = text[start..].find("}}").map(|at| start + at) else {
            break;
        };
        let mut inner = start..end;
        if text[inner.clone()].starts_with("- ") || text[inner.clone()].starts_with("-\n") {
            inner.start += 1;
        }
        if text[inner.clone()].ends_with(" -") || text[inner.clone()].ends_with("\n-") {
            inner.end -= 1;
        }
        out.push(inner);
        from = end + 2;
    }
    out
}

/// What `.` and variables are in a block of a template.
enum Block {
    /// What they were outside.
    Same,
    /// Something that is not looked into.
    Other,
    /// An image of before, a change now; its variable.
    Image(Option<String>),
    /// A file or an object with a value that is another now; its variable.
    Entry(Option<String>),
}

struct Work<'a> {
    text: &'a str,
    /// How a quotation mark is written.
    quote: &'a str,
    edits: Vec<(Range<usize>, String)>,
    open: Vec<Block>,
    out: Rewritten,
}

impl<'a> Work<'a> {
    fn action(&mut self, range: Range<usize>) {
        let body: &'a str = &self.text[range.clone()];
        let words = words(body);
        let first = words.first().map_or("", |word| &body[word.clone()]);
        let at = |word: &Range<usize>| range.start + word.start..range.start + word.end;
        match first {
            "end" => drop(self.open.pop()),
            "range" => {
                let block = self.range(body, &words, &at);
                self.open.push(block);
            }
            "if" | "with" | "block" | "define" => {
                let block = self.condition(first, body, &words, &at);
                self.open.push(block);
            }
            _ if body.trim_start().starts_with("/*") => {}
            _ => self.value(body, &words, range),
        }
    }

    fn unknown(&mut self, body: &str) {
        let shown = body.split_whitespace().collect::<Vec<_>>().join(" ");
        self.out.unknown.push(format!(
            "`{{{{ {shown} }}}}` cannot be rewritten with certainty; write it with `.Changed`"
        ));
    }

    fn range(&mut self, body: &str, words: &[Range<usize>], at: &dyn Fn(&Range<usize>) -> Range<usize>) -> Block {
        let text = |index: usize| words.get(index).map_or("", |word| &body[word.clone()]);
        let (variables, path) = match words.len() {
            2 => (0, 1),
            4 if text(2) == ":=" => (1, 3),
            5 if text(3) == ":=" => (2, 4),
            _ => {
                self.value(body, words, Range::default());
                return Block::Other;
            }
        };
        let variable = || (variables > 0).then(|| text(variables).to_owned());
        let source = text(path);
        if self
            .open
            .iter()
            .any(|block| matches!(block, Block::Entry(Some(name)) if name == source))
        {
            self.note(OF_OBJECTS);
            return Block::Image(variable());
        }
        match new_path(source) {
            Some(new) => {
                self.edits.push((at(&words[path]), new.to_owned()));
                if source.ends_with(".Images") {
                    self.note(DIFFERS);
                    Block::Image(variable())
                } else {
                    // With two variables the second one is the value; with one, it is the value, too.
                    Block::Entry(variable())
                }
            }
            None => {
                self.value(body, words, Range::default());
                Block::Other
            }
        }
    }

    fn note(&mut self, note: &str) {
        if self.out.notes.iter().all(|known| known != note) {
            self.out.notes.push(note.to_owned());
        }
    }

    fn condition(
        &mut self,
        first: &str,
        body: &str,
        words: &[Range<usize>],
        at: &dyn Fn(&Range<usize>) -> Range<usize>,
    ) -> Block {
        let path = words.get(1).map_or("", |word| &body[word.clone()]);
        match new_path(path) {
            Some(new) if first == "if" && words.len() == 2 => self.edits.push((at(&words[1]), new.to_owned())),
            _ => self.value(body, words, Range::default()),
        }
        if first == "if" { Block::Same } else { Block::Other }
    }

    /// Rewrites what writes an image; `range` is empty for what is no value of its own.
    fn value(&mut self, body: &str, words: &[Range<usize>], range: Range<usize>) {
        let texts: Vec<&str> = words.iter().map(|word| &body[word.clone()]).collect();
        if texts.iter().any(|word| is_gone(word)) {
            return self.unknown(body);
        }
        let dot = self.open.iter().rev().find(|block| !matches!(block, Block::Same));
        let dot_is_new = matches!(dot, Some(Block::Image(_) | Block::Entry(_)));
        let is_new = |word: &&&str| {
            let name = word.split('.').next().unwrap_or_default();
            let of_variable = self.open.iter().any(|block| {
                matches!(block, Block::Image(Some(known)) | Block::Entry(Some(known)) if known == name && name != "$_")
            });
            of_variable || (dot_is_new && word.starts_with('.'))
        };
        let Some(used) = texts.iter().find(is_new).copied() else {
            return;
        };
        let is_image = self.open.iter().rev().any(|block| match block {
            Block::Image(name) => name.as_deref() == Some(used) || (used == "." && dot_is_new),
            _ => false,
        });
        let is_image = is_image && !matches!((dot, used), (Some(Block::Entry(_)), "."));
        let of = |field: &str| {
            if used == "." {
                format!(".{field}")
            } else {
                format!("{used}.{field}")
            }
        };
        let (old, new, quote) = (of("OldValue"), of("NewValue"), self.quote);
        let written = match (is_image && !range.is_empty(), texts.as_slice()) {
            (true, [_]) => format!("{old} }}}} -> {{{{ {new}"),
            (true, ["println", _]) => format!("println {old} {quote}->{quote} {new}"),
            (true, ["print", _]) => format!("print {old} {quote} -> {quote} {new}"),
            _ => return self.unknown(body),
        };
        let lead = body.len() - body.trim_start().len();
        let tail = body.len() - body.trim_end().len();
        // `{{.}}` becomes two actions, which read better with blanks.
        let (before, behind) = if lead == 0 && words.len() == 1 {
            (" ", " ")
        } else {
            ("", "")
        };
        let range = range.start + lead..range.end - tail;
        self.edits.push((range, format!("{before}{written}{behind}")));
    }
}

/// Gives the new name of a list.
fn new_path(path: &str) -> Option<&'static str> {
    match path {
        ".Updated.Images" => Some(".Changed.Changes"),
        "$.Updated.Images" => Some("$.Changed.Changes"),
        ".Updated.Files" => Some(".Changed.FileChanges"),
        "$.Updated.Files" => Some("$.Changed.FileChanges"),
        ".Updated.Objects" => Some(".Changed.Objects"),
        "$.Updated.Objects" => Some("$.Changed.Objects"),
        _ => None,
    }
}

/// Tells whether a word of a template names what is gone.
fn is_gone(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    parts.contains(&"Updated") || parts.contains(&"ImageResult")
}

/// Lists the words of an action: names, `:=` and operators; texts in quotes are one word.
fn words(body: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut open: Option<usize> = None;
    let mut quoted: Option<char> = None;
    for (at, c) in body.char_indices() {
        if let Some(quote) = quoted {
            if c == quote {
                quoted = None;
            }
            continue;
        }
        if matches!(c, '"' | '`') {
            quoted = Some(c);
            open.get_or_insert(at);
        } else if c.is_whitespace() || matches!(c, ',' | '(' | ')' | '|') {
            out.extend(open.take().map(|start| start..at));
        } else {
            open.get_or_insert(at);
        }
    }
    out.extend(open.map(|start| start..body.len()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, after: &str) {
        let rewritten = updated(before);
        assert_eq!(rewritten.unknown, Vec::<String>::new());
        assert_eq!(rewritten.text, after);
        assert_eq!(
            updated(after),
            Rewritten {
                text: after.to_owned(),
                ..Rewritten::default()
            },
            "a second run"
        );
    }

    #[test]
    fn lists_of_what_was_updated_become_lists_of_changes() {
        for (before, after) in [
            (
                "{{ range .Updated.Images }}{{ println . }}{{ end }}",
                "{{ range .Changed.Changes }}{{ println .OldValue \"->\" .NewValue }}{{ end }}",
            ),
            (
                "{{range .Updated.Images}}{{.}}{{end}}",
                "{{range .Changed.Changes}}{{ .OldValue }} -> {{ .NewValue }}{{end}}",
            ),
            (
                "{{- range $.Updated.Images -}}\n- {{- . -}}\n{{- end -}}",
                "{{- range $.Changed.Changes -}}\n- {{- .OldValue }} -> {{ .NewValue -}}\n{{- end -}}",
            ),
            (
                "{{ range $image := .Updated.Images }}{{ $image }}, {{ end }}",
                "{{ range $image := .Changed.Changes }}{{ $image.OldValue }} -> {{ $image.NewValue }}, {{ end }}",
            ),
            (
                "{{ range $i, $image := .Updated.Images }}{{ $i }}{{ print $image }}{{ end }}",
                "{{ range $i, $image := .Changed.Changes }}{{ $i }}{{ print $image.OldValue \" -> \" $image.NewValue }}{{ end }}",
            ),
            (
                "{{ range $filename, $_ := .Updated.Files -}}\n- {{ $filename }}\n{{ end -}}",
                "{{ range $filename, $_ := .Changed.FileChanges -}}\n- {{ $filename }}\n{{ end -}}",
            ),
            (
                "{{ range $resource, $_ := .Updated.Objects -}}\n- {{ $resource.Kind }} {{ $resource.Name }}\n{{ end }}",
                "{{ range $resource, $_ := .Changed.Objects -}}\n- {{ $resource.Kind }} {{ $resource.Name }}\n{{ end }}",
            ),
            (
                "{{ range $o, $images := .Updated.Objects }}{{ range $images }}{{ . }}{{ end }}{{ end }}",
                "{{ range $o, $images := .Changed.Objects }}{{ range $images }}{{ .OldValue }} -> {{ .NewValue }}{{ end }}{{ end }}",
            ),
            (
                "{{ if .Updated.Images }}x{{ range .Updated.Images }}{{ if $.On }}{{ . }}{{ end }}{{ end }}{{ end }}",
                "{{ if .Changed.Changes }}x{{ range .Changed.Changes }}{{ if $.On }}{{ .OldValue }} -> {{ .NewValue }}{{ end }}{{ end }}{{ end }}",
            ),
            (
                "{{ .AutomationObject }} {{ range .Values }}{{ . }}{{ end }} .Updated.Images {{/* .Updated */}}",
                "{{ .AutomationObject }} {{ range .Values }}{{ . }}{{ end }} .Updated.Images {{/* .Updated */}}",
            ),
        ] {
            check(before, after);
        }
    }

    #[test]
    fn a_message_that_reads_otherwise_is_told() {
        for (text, note) in [
            ("{{ range .Updated.Images }}{{ . }}{{ end }}", Some(DIFFERS)),
            (
                "{{ range $o, $images := .Updated.Objects }}{{ range $images }}{{ . }}{{ end }}{{ end }}",
                Some(OF_OBJECTS),
            ),
            ("{{ range $name, $_ := .Updated.Files }}{{ $name }}{{ end }}", None),
        ] {
            assert_eq!(updated(text).notes, note.into_iter().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn what_is_not_certain_is_for_people() {
        for text in [
            "{{ len .Updated.Images }}",
            "{{ range .Updated.Images }}{{ .Repository }}{{ end }}",
            "{{ range .Updated.Images }}{{ printf \"%s\" . }}{{ end }}",
            "{{ range $i := .Updated.Images }}{{ $i.Identifier }}{{ end }}",
            "{{ range .Updated.Files }}{{ . }}{{ end }}",
            "{{ range $f, $v := .Updated.Files }}{{ $v.Objects }}{{ end }}",
            "{{ with .Updated }}{{ .Images }}{{ end }}",
            "{{ (index .Updated.Images 0).Name }}",
            "{{ range .Changed.ImageResult.Images }}{{ . }}{{ end }}",
            "{{ $u := .Updated }}{{ $u.Images }}",
        ] {
            assert!(!updated(text).unknown.is_empty(), "{text}: {}", updated(text).text);
        }
    }
}
