//! Judges each place: whether it is used up, what is written in its stead, and who must look.

use std::cell::OnceCell;
use std::ops::Range;

use refit_manifest::convert::{self, Change, Converted, Review, Weight};
use refit_manifest::edit::Splice;
use refit_manifest::parse::{Kind as Node, NodeRef};
use refit_manifest::scalar::Style;
use refit_manifest::{Path, Stream};

use super::wanted::{Kind, Standing, Wanted};
use super::{Convertible, Note, Use, What};
use crate::finding::{Code, Finding};
use crate::places::{self, Place, Pointed, Pointers, Sort, Trouble, Trust, Visit};

/// What is known so far about a file.
pub(super) struct Judge<'a> {
    path: &'a Path,
    text: &'a str,
    /// Where each line begins; counted when something is found, which in most files is nothing.
    lines: OnceCell<Vec<usize>>,
    pub(super) wanted: &'a Wanted,
    pub(super) uses: Vec<Use>,
    pub(super) notes: Vec<Note>,
    pub(super) findings: Vec<Finding>,
    /// The uses whose edits wait for those inside of them.
    pub(super) deferred: Vec<usize>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(path: &'a Path, stream: &'a Stream, wanted: &'a Wanted) -> Self {
        Self {
            path,
            text: stream.text(),
            lines: OnceCell::new(),
            wanted,
            uses: Vec::new(),
            notes: Vec::new(),
            findings: Vec::new(),
            deferred: Vec::new(),
        }
    }

    /// Gives line and column of an offset, counted from 1.
    fn position(&self, at: usize) -> (usize, usize) {
        let at = at.min(self.text.len());
        let ends = || memchr::memchr_iter(b'\n', self.text.as_bytes());
        let starts = || std::iter::once(0).chain(ends().map(|end| end + 1)).collect();
        let lines = self.lines.get_or_init(starts);
        let line = lines.partition_point(|start| *start <= at).max(1);
        let row = self.text[lines[line - 1]..at].trim_start_matches('\u{feff}');
        (line, row.chars().count() + 1)
    }

    fn found(&mut self, code: Code, place: &Place<'_>, message: String) {
        let (line, _) = self.position(place.in_file(place.version_node.span()).start);
        self.findings
            .push(Finding::new(code, format!("{}:{line}", self.path), message));
    }

    /// Notes a use at a span of the text that the place is part of.
    fn used(&mut self, place: &Place<'_>, span: Range<usize>, (what, convertible): (What, Convertible)) -> &mut Use {
        let about = (place.sort, object(place), place.within);
        let used = self.note(place.in_file(span), about, (what, convertible));
        place.group.clone_into(&mut used.group);
        place.kind.clone_into(&mut used.kind);
        used
    }

    /// Notes a use at a span of the file; what stands there, the object and what is around it are given.
    pub(super) fn note(
        &mut self,
        span: Range<usize>,
        (sort, object, within): (Sort, String, &str),
        (what, convertible): (What, Convertible),
    ) -> &mut Use {
        let (line, column) = self.position(span.start);
        let at = self.uses.len();
        self.uses.push(Use {
            path: self.path.clone(),
            line,
            column,
            span,
            sort,
            object,
            within: within.to_owned(),
            group: String::new(),
            kind: String::new(),
            what,
            since: None,
            removed_in: None,
            replacement: None,
            convertible,
            rule: None,
        });
        &mut self.uses[at]
    }

    /// Notes the use of a version.
    fn version(&mut self, place: &Place<'_>, kind: &Kind, convertible: Convertible) {
        let what = What::Version(place.version.to_owned());
        let write = match kind.standing(place.version) {
            Standing::Old(write) => write,
            _ => None,
        };
        let used = self.used(place, place.version_node.span(), (what, convertible));
        used.since = kind.since(place.version).cloned();
        used.removed_in = kind.removed_in(place.version).cloned();
        used.replacement = write.map(ToOwned::to_owned);
    }

    fn mention(&mut self, place: &Place<'_>) {
        let wanted = self.wanted;
        let old = |kind: &&Kind| {
            matches!(kind.standing(place.version), Standing::Old(_)) && kind.first(place.version).is_some()
        };
        if let Some(kind) = wanted.kinds_of(place.group).find(old) {
            self.version(place, kind, reserve(&place.trust));
        }
    }

    /// Judges an object: its version and its fields together.
    fn object(&mut self, place: &Place<'_>, kind: Option<&Kind>) -> Vec<Splice> {
        let standing = kind.map_or(Standing::Fine, |kind| kind.standing(place.version));
        let write = match standing {
            Standing::Old(write) => write,
            _ => None,
        };
        let rules = self.wanted.rules(place.group, place.kind);
        let run = match place.sort {
            Sort::Patch => convert::convert_part,
            _ => convert::convert,
        };
        let Converted {
            mut splices,
            changes,
            reviews,
        } = run(place.node, write, &rules);
        let stop = reviews.iter().find(|review| review.weight == Weight::Stop);
        let stop = stop.map(|review| review.message.clone());
        let convertible = match (&place.trust, &stop, standing) {
            (Trust::Certain, Some(reason), _) => Convertible::Review(reason.clone()),
            (Trust::Certain, None, Standing::Old(None)) => nothing_served(self.wanted),
            (Trust::Certain, None, _) => Convertible::Yes,
            (trust, ..) => reserve(trust),
        };
        let is_sure = convertible == Convertible::Yes;
        if let (Some(kind), Standing::Old(_)) = (kind, standing) {
            self.version(place, kind, convertible.clone());
            let is_written = changes.iter().any(|change| change.field == "apiVersion");
            if let (true, false, Some(write)) = (is_sure, is_written, write) {
                splices.extend(self.write(place, write));
            }
        }
        for change in changes.into_iter().filter(|change| change.field != "apiVersion") {
            self.change(place, change, convertible.clone());
        }
        let told = stop.filter(|_| matches!(standing, Standing::Old(_)));
        for review in reviews {
            self.review(place, review, told.as_deref());
        }
        if is_sure { splices } else { Vec::new() }
    }

    /// Notes the use of a field that a rule changes.
    fn change(&mut self, place: &Place<'_>, change: Change, convertible: Convertible) {
        let span = changed(place.node, &change).map_or(place.version_node.span(), NodeRef::full_span);
        let what = What::Field {
            name: change.field,
            message: change.message,
        };
        let used = self.used(place, span, (what, convertible));
        used.rule = Some(change.rule);
    }

    /// Notes what a rule says to a person; nothing that is told as the reason why the version stays.
    fn review(&mut self, place: &Place<'_>, review: Review, told: Option<&str>) {
        if review.weight == Weight::Report {
            let (line, _) = self.position(place.in_file(review.span).start);
            self.notes.push(Note {
                line,
                object: object(place),
                message: review.message,
            });
            return;
        }
        if told == Some(&*review.message) {
            return;
        }
        let convertible = match &place.trust {
            Trust::Never(reason) => Convertible::No((*reason).to_owned()),
            _ => Convertible::Review(review.message.clone()),
        };
        let what = What::Field {
            name: review.field,
            message: review.message,
        };
        self.used(place, review.span, (what, convertible)).rule = Some(review.rule);
    }

    /// Judges a selector or a reference: its version alone.
    fn pointer(&mut self, place: &Place<'_>, kind: &Kind) -> Vec<Splice> {
        let Standing::Old(write) = kind.standing(place.version) else {
            return Vec::new();
        };
        let splice = write.map(|write| self.write(place, write));
        let convertible = match (&place.trust, &splice) {
            (Trust::Certain, None) => nothing_served(self.wanted),
            (Trust::Certain, Some(None)) => {
                Convertible::Review("it is written in a style that is not edited".to_owned())
            }
            (Trust::Certain, Some(Some(_))) => Convertible::Yes,
            (trust, _) => reserve(trust),
        };
        let is_sure = convertible == Convertible::Yes;
        self.version(place, kind, convertible);
        splice.flatten().filter(|_| is_sure).into_iter().collect()
    }

    /// Writes the version of a place anew, in the quotes that it has.
    fn write(&self, place: &Place<'_>, version: &str) -> Option<Splice> {
        let span = place.version_node.span();
        let range = match place.version_node.kind() {
            Node::Scalar(Style::Plain) => span,
            Node::Scalar(Style::Single | Style::Double) if span.len() >= 2 => span.start + 1..span.end - 1,
            _ => return None,
        };
        let text = match place.sort {
            Sort::Target => version.to_owned(),
            _ => format!("{}/{version}", place.group),
        };
        Some(Splice { range, text })
    }

    /// Notes a version that is put together: only who knows what it becomes can tell whether it is old.
    fn computed(&mut self, place: &Place<'_>) {
        let what = What::Field {
            name: "apiVersion".to_owned(),
            message: "a variable or a template writes its version".to_owned(),
        };
        let convertible = match &place.trust {
            Trust::Never(reason) => Convertible::No((*reason).to_owned()),
            _ => Convertible::Review(format!("see that it becomes one which {} serves", names(self.wanted))),
        };
        self.used(place, place.version_node.span(), (what, convertible));
    }

    fn newer(&mut self, place: &Place<'_>, kind: &Kind) {
        let releases = names(self.wanted);
        let first = kind.first(place.version);
        let message = match first.or(kind.born()) {
            Some(first) if kind.first(place.version).is_some() => format!(
                "{} is written in `{}/{}`, which comes with {first}; {releases} does not serve it",
                object(place),
                place.group,
                place.version
            ),
            _ => format!(
                "{} is written in `{}/{}`, which {releases} does not serve",
                object(place),
                place.group,
                place.version
            ),
        };
        self.found(Code::ApiVersionNewer, place, message);
    }

    fn unknown(&mut self, place: &Place<'_>) {
        let other = self.wanted.groups_of(place.kind).find(|group| *group != place.group);
        let message = match other {
            Some(group) => format!("`{}` is of the group `{group}`, not of `{}`", place.kind, place.group),
            None => format!("`{}` has no kind `{}`", place.group, place.kind),
        };
        self.found(Code::UnknownKind, place, message);
    }
}

impl Visit for Judge<'_> {
    fn place(&mut self, place: &Place<'_>) -> Vec<Splice> {
        if place.sort == Sort::Mention {
            self.mention(place);
            return Vec::new();
        }
        let wanted = self.wanted;
        let kind = wanted.kind(place.group, place.kind);
        match kind {
            None if wanted.is_of_platform(place.group) => {
                // A pattern of kinds is no kind that somebody got wrong.
                if !matches!(place.trust, Trust::Review(_)) || place.sort != Sort::Target {
                    self.unknown(place);
                }
                Vec::new()
            }
            Some(_) if place.sort != Sort::Target && places::is_computed(place.version) => {
                self.computed(place);
                Vec::new()
            }
            Some(kind) if kind.standing(place.version) == Standing::Newer => {
                let is_version = convert::compare_versions(place.version, "v1").is_some();
                match &place.trust {
                    Trust::Review(_) if place.sort == Sort::Target && is_version => {}
                    trust @ Trust::Review(_) if place.sort == Sort::Target => self.version(place, kind, reserve(trust)),
                    _ => self.newer(place, kind),
                }
                Vec::new()
            }
            kind if place.sort.has_fields() => self.object(place, kind),
            Some(kind) => self.pointer(place, kind),
            None => Vec::new(),
        }
    }

    fn pointers(&mut self, pointers: &Pointers<'_>) -> Pointed {
        self.point(pointers)
    }

    fn trouble(&mut self, trouble: Trouble) {
        self.findings.push(super::trouble(self.path, &trouble));
    }

    fn mark(&self) -> usize {
        self.uses.len()
    }

    fn defer(&mut self, marks: Range<usize>) {
        self.deferred.extend(marks);
    }

    fn withdraw(&mut self, mark: usize, reason: &'static str) {
        for used in &mut self.uses[mark..] {
            if used.convertible == Convertible::Yes {
                used.convertible = Convertible::Review(reason.to_owned());
            }
        }
    }
}

/// Names what stands at a place.
fn object(place: &Place<'_>) -> String {
    let text = |path: &[&str]| {
        place
            .node
            .at(path)
            .and_then(NodeRef::text)
            .filter(|text| !text.is_empty())
    };
    let (name, namespace) = match place.sort {
        Sort::Mention | Sort::List | Sort::Pointer => (None, None),
        Sort::Target | Sort::Reference => (text(&["name"]), text(&["namespace"])),
        _ => (text(&["metadata", "name"]), text(&["metadata", "namespace"])),
    };
    let kind = match place.sort {
        Sort::Mention => return place.within.to_owned(),
        Sort::List => format!("{}List", place.kind),
        _ => place.kind.to_owned(),
    };
    match (name, namespace) {
        (None, _) => kind,
        (Some(name), None) => format!("{kind}/{name}"),
        (Some(name), Some(namespace)) => format!("{kind}/{name} in {namespace}"),
    }
}

/// Says why a place that is not certain is left as it is.
pub(super) fn reserve(trust: &Trust) -> Convertible {
    match trust {
        Trust::Certain => Convertible::Yes,
        Trust::Review(reason) => Convertible::Review((*reason).to_owned()),
        Trust::Never(reason) => Convertible::No((*reason).to_owned()),
    }
}

fn nothing_served(wanted: &Wanted) -> Convertible {
    Convertible::No(format!("{} serve no version in common", names(wanted)))
}

fn names(wanted: &Wanted) -> String {
    let names: Vec<String> = wanted.releases().iter().map(ToString::to_string).collect();
    names.join(" and ")
}

/// Finds the field that a change is about: the one it names, else the one that its message names, which a move takes away.
fn changed<'a>(object: NodeRef<'a>, change: &Change) -> Option<NodeRef<'a>> {
    let told = change.message.split('`').skip(1).step_by(2);
    let mut names = std::iter::once(change.field.as_str()).chain(told);
    names.find_map(|name| field(object, name))
}

/// Finds a field by its dotted name.
fn field<'a>(object: NodeRef<'a>, name: &str) -> Option<NodeRef<'a>> {
    let mut node = object;
    for part in name.split(['.', '[']) {
        let part = part.trim_end_matches(']');
        let next = match part.parse::<usize>() {
            Ok(index) => node.items().nth(index),
            Err(_) => node
                .entries()
                .find(|(key, _)| key.text() == Some(part))
                .map(|(_, value)| value),
        };
        node = next?;
    }
    Some(node)
}
