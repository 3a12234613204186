//! Judges what JSON patches and replacements name in objects that stand elsewhere.
//!
//! In: operations or a field path, and what selects the objects. Out: pointers to where the rules take the fields, uses of
//! what is gone or changed otherwise. An operation is one use at most.

use refit_manifest::convert::{self, Aim, Fate, Reason};
use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind as Node, NodeRef};
use refit_manifest::scalar::{self, Style};

use super::judge::{Judge, reserve};
use super::wanted::Meant;
use super::{Convertible, Use, What};
use crate::places::{Pointed, PointerForm, Pointers, Sort, Trust};

const PATTERN: &str = "it selects objects of several kinds; change it by hand together with those that have the field";
const NO_GROUP: &str = "it names no group, and other groups have the kind, too";
const NOT_HELD: &str = "what holds the field at its new place may be missing there: write it by hand";
const BY_HAND: &str = "change it by hand together with the objects that it is for";
const STYLE: &str = "it is written in a style that is not edited";
const ONLY: &str = "no operation would stay: take the whole patch out";

/// What becomes of one pointer.
enum Verdict {
    /// It is right as it is.
    Fine,
    /// The field is there.
    Moves(Vec<String>, Reason),
    /// The field is nowhere.
    Goes(Reason),
    /// A person must look, for a reason.
    Look(Reason, String),
}

/// One pointer of an operation.
struct Named<'a> {
    node: NodeRef<'a>,
    path: Vec<String>,
    aim: Aim<'a>,
    /// Whether what holds the field must be there.
    writes: bool,
}

impl Judge<'_> {
    pub(super) fn point(&mut self, pointers: &Pointers<'_>) -> Pointed {
        let meant: Vec<Vec<Meant<'_>>> = pointers
            .targets
            .iter()
            .map(|target| self.wanted.meant(target))
            .collect();
        if meant.iter().all(Vec::is_empty) {
            return Pointed::default();
        }
        match pointers.form {
            PointerForm::Operations => self.operations(pointers, &meant),
            PointerForm::FieldPath => {
                let path = field_path(pointers.node.text().unwrap_or_default());
                let named = Named {
                    node: pointers.node,
                    path,
                    aim: Aim::Use,
                    writes: false,
                };
                let verdict = self.verdict(&named, &meant);
                Pointed {
                    splices: self.renamed(pointers, vec![(named, verdict)], write_field_path),
                    gone: Vec::new(),
                }
            }
        }
    }

    fn operations(&mut self, pointers: &Pointers<'_>, meant: &[Vec<Meant<'_>>]) -> Pointed {
        let mut pointed = Pointed::default();
        let mut going = Vec::new();
        for (index, operation) in pointers.node.items().enumerate() {
            let named = named(operation);
            let verdicts: Vec<(Named<'_>, Verdict)> = named
                .into_iter()
                .map(|named| {
                    let verdict = self.verdict(&named, meant);
                    (named, verdict)
                })
                .collect();
            let goes = verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Goes(_)));
            let looks = verdicts.iter().any(|(_, verdict)| matches!(verdict, Verdict::Look(..)));
            match verdicts.first() {
                Some(_) if goes && !looks && takes_or_sets(operation) => going.push((index, verdicts)),
                _ => pointed.splices.extend(self.renamed(pointers, verdicts, write_pointer)),
            }
        }
        let gone: Vec<usize> = going.iter().map(|(index, _)| *index).collect();
        let splices = convert::without(pointers.node, &gone);
        let convertible = match (&pointers.trust, &splices) {
            (Trust::Certain, None) => Convertible::Review(ONLY.to_owned()),
            (trust, _) => reserve(trust),
        };
        let is_sure = convertible == Convertible::Yes;
        for (named, verdict) in going.into_iter().flat_map(|(_, verdicts)| verdicts) {
            if let Verdict::Goes(reason) = verdict {
                self.pointed(pointers, (&named, reason), convertible.clone());
            }
        }
        if is_sure && !gone.is_empty() {
            pointed.splices.extend(splices.unwrap_or_default());
            pointed.gone = gone;
        }
        pointed
    }

    /// Writes the pointers of one operation anew, or says why not.
    fn renamed(
        &mut self,
        pointers: &Pointers<'_>,
        verdicts: Vec<(Named<'_>, Verdict)>,
        write: fn(&[String]) -> String,
    ) -> Vec<Splice> {
        let mut moves = Vec::new();
        let mut looks = None;
        for (named, verdict) in verdicts {
            match verdict {
                Verdict::Fine => {}
                Verdict::Look(reason, why) => looks = looks.or(Some((named, reason, why))),
                Verdict::Goes(reason) => looks = looks.or(Some((named, reason, BY_HAND.to_owned()))),
                Verdict::Moves(path, reason) => {
                    let splice = written(&named, &write(&path));
                    moves.push((named, path, (reason, splice)));
                }
            }
        }
        if looks.is_none() && moves.iter().any(|(.., (_, splice))| splice.is_none()) {
            let first = moves.pop();
            looks = first.map(|(named, _, (reason, _))| (named, reason, STYLE.to_owned()));
        }
        if let Some((named, reason, why)) = looks {
            let convertible = match &pointers.trust {
                Trust::Certain => Convertible::Review(why),
                trust => reserve(trust),
            };
            self.pointed(pointers, (&named, reason), convertible);
            return Vec::new();
        }
        let convertible = reserve(&pointers.trust);
        if let Some((named, path, (reason, _))) = moves.first() {
            let used = self.pointed(pointers, (named, reason.clone()), convertible.clone());
            used.replacement = Some(write(path));
        }
        let splices = moves.into_iter().filter_map(|(.., (_, splice))| splice);
        splices.filter(|_| convertible == Convertible::Yes).collect()
    }

    /// Notes a use.
    fn pointed(
        &mut self,
        pointers: &Pointers<'_>,
        (named, reason): (&Named<'_>, Reason),
        convertible: Convertible,
    ) -> &mut Use {
        let span = pointers.in_file(named.node.span());
        let target = pointers.targets.first().cloned().unwrap_or_default();
        let kind = if target.kind.is_empty() { "*" } else { &target.kind };
        let object = match target.name.as_str() {
            "" => kind.to_owned(),
            name => format!("{kind}/{name}"),
        };
        let what = What::Field {
            name: shown(&named.path),
            message: reason.message,
        };
        let used = self.note(span, (Sort::Pointer, object, pointers.within), (what, convertible));
        used.group = target.group;
        used.kind = target.kind;
        used.rule = Some(reason.rule);
        used
    }

    /// Tells what becomes of a pointer in all objects that are meant.
    fn verdict(&self, named: &Named<'_>, meant: &[Vec<Meant<'_>>]) -> Verdict {
        let mut fates: Vec<Fate> = Vec::new();
        let mut doubt = None;
        for kinds in meant {
            for of in kinds {
                let rules = self.wanted.rules(of.group, of.kind);
                fates.push(convert::fate(
                    &convert::Pointed {
                        group: of.group,
                        kind: of.kind,
                        version: of.version,
                        wanted: of.wanted,
                        path: &named.path,
                        aim: named.aim,
                    },
                    &rules,
                ));
                if !of.is_sure {
                    doubt = Some(if kinds.len() > 1 { PATTERN } else { NO_GROUP });
                }
            }
        }
        let is_even = fates.windows(2).all(|two| is_same(&two[0], &two[1]));
        let Some(first) = fates.into_iter().find(|fate| *fate != Fate::Stays) else {
            return Verdict::Fine;
        };
        let doubt = doubt.or((!is_even).then_some(PATTERN));
        match (first, doubt) {
            (Fate::Stays, _) => Verdict::Fine,
            (Fate::Moves { reason, .. } | Fate::Goes(reason) | Fate::Unsure(reason), Some(doubt)) => {
                Verdict::Look(reason, doubt.to_owned())
            }
            (Fate::Moves { is_held, reason, .. }, None) if named.writes && !is_held => {
                Verdict::Look(reason, NOT_HELD.to_owned())
            }
            (Fate::Moves { path, reason, .. }, None) => Verdict::Moves(path, reason),
            (Fate::Goes(reason), None) => Verdict::Goes(reason),
            (Fate::Unsure(reason), None) => Verdict::Look(reason, BY_HAND.to_owned()),
        }
    }
}

/// Tells whether two fates are the same, whatever the reason.
fn is_same(one: &Fate, other: &Fate) -> bool {
    match (one, other) {
        (Fate::Stays, Fate::Stays) | (Fate::Goes(_), Fate::Goes(_)) | (Fate::Unsure(_), Fate::Unsure(_)) => true,
        (
            Fate::Moves { path, is_held, .. },
            Fate::Moves {
                path: to,
                is_held: held,
                ..
            },
        ) => path == to && is_held == held,
        _ => false,
    }
}

/// Lists the pointers of an operation that name a field.
fn named(operation: NodeRef<'_>) -> Vec<Named<'_>> {
    let pointer = |key: &str, aim, writes| {
        let node = operation.get(key)?;
        Some(Named {
            node,
            path: pointer(node.text()?)?,
            aim,
            writes,
        })
    };
    let value = operation.get("value").map_or(Aim::Use, Aim::Put);
    let found = match operation.get("op").and_then(NodeRef::text).unwrap_or_default() {
        "add" | "replace" => [pointer("path", value, true), None],
        "test" => [pointer("path", value, false), None],
        "remove" => [pointer("path", Aim::Take, false), None],
        "move" | "copy" => [pointer("from", Aim::Use, false), pointer("path", Aim::Use, true)],
        _ => [None, None],
    };
    found.into_iter().flatten().collect()
}

/// Tells whether an operation does nothing but set or take out the field that it names.
fn takes_or_sets(operation: NodeRef<'_>) -> bool {
    let name = operation.get("op").and_then(NodeRef::text);
    matches!(name, Some("add" | "replace" | "remove"))
}

/// Reads a JSON pointer.
fn pointer(text: &str) -> Option<Vec<String>> {
    let parts = text.strip_prefix('/')?.split('/');
    Some(parts.map(|part| part.replace("~1", "/").replace("~0", "~")).collect())
}

fn write_pointer(path: &[String]) -> String {
    let parts = path.iter().map(|part| part.replace('~', "~0").replace('/', "~1"));
    parts.map(|part| format!("/{part}")).collect()
}

/// Reads a field path: keys with dots between them, `\.` for a dot, `[key=value]` for an item.
fn field_path(text: &str) -> Vec<String> {
    let (mut parts, mut part, mut depth) = (Vec::new(), String::new(), 0_usize);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'.') => part.extend(letters.next()),
            '.' if depth == 0 => parts.push(std::mem::take(&mut part)),
            letter => {
                match letter {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                part.push(letter);
            }
        }
    }
    parts.push(part);
    parts
}

fn write_field_path(path: &[String]) -> String {
    let escaped = |part: &String| match part.starts_with('[') {
        true => part.clone(),
        false => part.replace('.', "\\."),
    };
    path.iter().map(escaped).collect::<Vec<_>>().join(".")
}

/// Names a field for people.
fn shown(path: &[String]) -> String {
    let mut out = String::new();
    for part in path {
        let is_place = part == "-" || (!part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        match part {
            part if part.starts_with('[') => out.push_str(part),
            part if is_place => out.push_str(&format!("[{part}]")),
            part if out.is_empty() => out.push_str(part),
            part => out.push_str(&format!(".{part}")),
        }
    }
    out
}

/// Writes a pointer in the quotes that it has.
fn written(named: &Named<'_>, text: &str) -> Option<Splice> {
    let style = match named.node.kind() {
        Node::Scalar(style @ (Style::Plain | Style::Single | Style::Double)) => style,
        _ => return None,
    };
    if named.node.anchor().is_some() {
        return None;
    }
    Some(Splice {
        range: named.node.span(),
        text: scalar::write(text, style),
    })
}
