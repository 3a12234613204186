//! Checks that a merge touches no byte outside of the places that it changed.
//!
//! In: ours and the result, and the decisions. Out: violations. The changed places come from comparing the two as
//! values; they are cut out of both texts, and what is left must be the same line by line.

use std::collections::BTreeSet;
use std::ops::Range;

use refit_manifest::{Decision, Path, Rule as MergeRule};

use super::dom::{Kind, Node, Shape};
use super::keys::{self, Rule};
use super::objects::{Document, File, Name, Side};
use super::order::{common, misplaced};
use super::skeleton::{Cut, Cutting, Known};
use super::step::{Reach, Step, reach, shown};
use super::walk::{decisions_of, element_names, entry, occurrences, position, view};
use super::{Case, Sides, comments, skeleton};

/// Checks all files that ours and the result share.
pub(super) fn check(case: &Case<'_>, sides: &Sides<'_>) -> Vec<String> {
    let mut violations = Vec::new();
    for (path, ours) in &sides.ours.files {
        let Some(result) = sides.result.files.get(path) else {
            continue;
        };
        if case.ours.get(path) == case.base.get(path) || ours.text == result.text {
            continue;
        }
        let (Ok(before), Ok(after)) = (&ours.documents, &result.documents) else {
            continue;
        };
        let mut changes = Changes {
            decisions: case.decisions,
            path,
            sides,
            found: Vec::new(),
            violations: Vec::new(),
        };
        changes.documents(before, after);
        let known = Known {
            base: comments::set(sides.base.files.values()),
            theirs: comments::set(sides.theirs.files.values()),
            lines: sides
                .theirs
                .files
                .values()
                .chain(Some(ours))
                .flat_map(|file| file.text.lines())
                .map(|line| skeleton::without_indentation(line).to_owned())
                .collect(),
        };
        let left = skeleton::lines(
            &ours.text,
            changes.found.iter().filter_map(|change| change.ours.clone()).collect(),
        );
        let right = skeleton::lines(
            &result.text,
            changes
                .found
                .iter()
                .filter_map(|change| change.result.clone())
                .collect(),
        );
        if let Some(wrong) = skeleton::compare(&left, &right, &known) {
            violations.push(format!("{path}: {wrong}"));
        }
        violations.extend(line_ends(path, ours, result));
        let in_theirs = sides.theirs.files.get(path).map_or(0, |file| file.empty);
        if result.empty > in_theirs.max(ours.empty) {
            violations.push(format!("{path}: the result has an empty document more"));
        }
        violations.extend(changes.violations);
    }
    violations
}

fn line_ends(path: &Path, ours: &File, result: &File) -> Option<String> {
    let kinds = |text: &str| {
        let breaks = text.matches('\n').count();
        let carriage = text.matches("\r\n").count();
        (carriage > 0, carriage < breaks)
    };
    let (before, after) = (kinds(&ours.text), kinds(&result.text));
    let mixed = (after.0 && !before.0) || (after.1 && !before.1 && ours.text.contains('\n'));
    let mark = ours.text.starts_with('\u{feff}') != result.text.starts_with('\u{feff}');
    (mixed || mark).then(|| format!("{path}: the line ends or the byte order mark changed"))
}

/// One changed place, in each text that has it.
struct Change {
    ours: Option<Cut>,
    result: Option<Cut>,
}

impl Change {
    /// Tells whether the place is a whole node of ours.
    fn is_of(&self, node: &Node) -> bool {
        self.ours.as_ref().is_some_and(|cut| cut.range == node.span)
    }
}

struct Changes<'c> {
    decisions: &'c [Decision],
    path: &'c Path,
    sides: &'c Sides<'c>,
    found: Vec<Change>,
    violations: Vec<String>,
}

/// One place on the three sides that say how it is written.
#[derive(Clone, Copy)]
struct Trio<'n> {
    ours: Option<&'n Node>,
    result: Option<&'n Node>,
    theirs: Option<&'n Node>,
}

impl<'n> Trio<'n> {
    /// Goes one step down on each side where the place is there.
    fn map(self, get: impl Fn(&'n Node) -> Option<&'n Node>) -> Self {
        let down = |node: Option<&'n Node>| node.and_then(&get);
        Self {
            ours: down(self.ours),
            result: down(self.result),
            theirs: down(self.theirs),
        }
    }
}

/// One object while its changed places are looked for.
struct Object<'o> {
    name: &'o Name,
    decisions: Vec<&'o Decision>,
    /// Whether the document of ours is the one of base, so that it may be replaced as a whole.
    untouched: bool,
}

impl Changes<'_> {
    fn documents(&mut self, before: &[Document], after: &[Document]) {
        let names: BTreeSet<&Name> = before.iter().chain(after).map(|document| &document.name).collect();
        for name in names {
            let find = |documents: &'_ [Document]| documents.iter().position(|d| d.name == *name);
            let (ours, result) = (find(before).map(|i| &before[i]), find(after).map(|i| &after[i]));
            let base = self.sides.base.find(name).map(|(_, d)| d.root.hash);
            let object = Object {
                name,
                decisions: decisions_of(self.decisions, name, Some(self.path)),
                untouched: base.is_some() && base == ours.map(|d| d.root.hash),
            };
            let theirs = self.sides.theirs.find(name).map(|(_, d)| &d.root);
            if let (Some(o), Some(r)) = (ours, result)
                && self.replaced(name, &o.root, &r.root)
            {
                self.replace(&object, &[], (&o.root, &r.root), Cutting::Entry);
                continue;
            }
            let trio = Trio {
                ours: ours.map(|d| &d.root),
                result: result.map(|d| &d.root),
                theirs,
            };
            self.place(&object, &mut Vec::new(), trio);
        }
        let order = |documents: &[Document]| documents.iter().map(|d| d.name.clone()).collect::<Vec<_>>();
        let theirs = self
            .sides
            .theirs
            .files
            .get(self.path)
            .and_then(|file| file.documents.as_ref().ok());
        let theirs = theirs.map(|documents| order(documents)).unwrap_or_default();
        if let Some(name) = misplaced(&order(before), &order(after), &theirs) {
            self.violations.push(format!(
                "{}: {} stands at another place than theirs has it",
                self.path,
                name.shown()
            ));
        }
    }

    /// Tells whether a document that nobody edited was replaced by the text of theirs, which may spell equal values
    /// otherwise.
    fn replaced(&self, name: &Name, ours: &Node, result: &Node) -> bool {
        let text = |side: &Side, path: &Path, node: &Node| {
            let text = side.files.get(path).and_then(|file| file.text.get(node.span.clone()));
            text.map(|text| text.trim_end().to_owned())
        };
        let (Some((old, base)), Some((new, theirs))) = (self.sides.base.find(name), self.sides.theirs.find(name))
        else {
            return false;
        };
        text(self.sides.ours, self.path, ours) == text(self.sides.base, old, &base.root)
            && text(self.sides.result, self.path, result) == text(self.sides.theirs, new, &theirs.root)
            && text(self.sides.ours, self.path, ours) != text(self.sides.result, self.path, result)
    }

    fn place(&mut self, object: &Object<'_>, steps: &mut Vec<Step>, trio: Trio<'_>) {
        let (Some(o), Some(r)) = (trio.ours, trio.result) else {
            if let Some(one) = trio.ours.or(trio.result) {
                let cut = Cut {
                    range: one.span.clone(),
                    cutting: Cutting::Entry,
                    own: true,
                };
                self.explain(object, steps);
                self.copied(object, steps, trio);
                self.found.push(match trio.ours {
                    Some(_) => Change {
                        ours: Some(cut),
                        result: None,
                    },
                    None => Change {
                        ours: None,
                        result: Some(cut),
                    },
                });
            }
            return;
        };
        if o.hash == r.hash {
            return;
        }
        match (&o.kind, &r.kind) {
            (Kind::Map { entries: a, .. }, Kind::Map { entries: b, .. }) if !a.is_empty() && !b.is_empty() => {
                self.maps(object, steps, (o, r), trio);
            }
            (Kind::List { items: a, .. }, Kind::List { items: b, .. }) if !a.is_empty() && !b.is_empty() => {
                self.lists(object, steps, (o, r), trio);
            }
            (Kind::Scalar { .. }, Kind::Scalar { .. }) if !o.span.is_empty() && !r.span.is_empty() => {
                self.replace(object, steps, (o, r), Cutting::Scalar);
            }
            _ => self.replace(object, steps, (o, r), Cutting::Value),
        }
    }

    fn replace(&mut self, object: &Object<'_>, steps: &[Step], (o, r): (&Node, &Node), cutting: Cutting) {
        self.explain(object, steps);
        let heads = [
            block_head(self.sides.ours, self.path, o),
            block_head(self.sides.result, self.path, r),
        ];
        // The line that opens a block scalar stays, unless another one is needed.
        let same = heads[0].trim_end() == heads[1].trim_end();
        let cut = |node: &Node, head: &str| {
            let start = node.span.start + if same { head.len() } else { 0 };
            Some(Cut {
                range: start..node.span.end.max(start),
                cutting,
                own: true,
            })
        };
        let change = Change {
            ours: cut(o, heads[0]),
            result: cut(r, heads[1]),
        };
        self.found.push(change);
    }

    /// Requires that what was added is written as theirs writes it, apart from the indentation.
    fn copied(&mut self, object: &Object<'_>, steps: &[Step], trio: Trio<'_>) {
        let (None, Some(made), Some(theirs)) = (trio.ours, trio.result, trio.theirs) else {
            return;
        };
        let text = |file: Option<&File>, node: &Node| {
            let text = file.map_or("", |file| file.text.as_str());
            let end = node.span.start + text.get(node.span.clone()).unwrap_or("").trim_end().len();
            let rest = text[end..]
                .split('\n')
                .next()
                .filter(|rest| rest.trim().is_empty())
                .map_or(0, str::len);
            let lines = text[node.span.start..end + rest].lines();
            lines
                .map(|line| skeleton::without_indentation(line).to_owned())
                .collect::<Vec<_>>()
        };
        let from = self
            .sides
            .theirs
            .find(object.name)
            .map(|(path, _)| path)
            .unwrap_or(self.path);
        let mut new = text(self.sides.result.files.get(self.path), made);
        let mut old = text(self.sides.theirs.files.get(from), theirs);
        // The style of flow collections and of quotes follows the neighbours, so only block text is compared.
        if is_flow(made) != is_flow(theirs) {
            return;
        }
        for lines in [&mut new, &mut old] {
            lines.retain(|line| !line.is_empty());
        }
        if made.hash == theirs.hash && new != old {
            let place = format!("{}: {}", object.name.shown(), shown(steps));
            self.violations.push(format!(
                "{}: {place}: added as {new:?}, theirs writes {old:?}",
                self.path
            ));
        }
    }

    fn maps(&mut self, object: &Object<'_>, steps: &mut Vec<Step>, (o, r): (&Node, &Node), trio: Trio<'_>) {
        let order = |map: &Node| occurrences(map);
        if let Some((key, _)) = misplaced(&order(o), &order(r), &trio.theirs.map(order).unwrap_or_default()) {
            let place = format!("{}: {}", object.name.shown(), shown(steps));
            self.violations.push(format!(
                "{}: {place}: `{key}` stands at another place than theirs has it",
                self.path
            ));
        }
        let mut keys = occurrences(o);
        for key in occurrences(r) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for (key, count) in keys {
            steps.push(Step::Key(key.clone()));
            let (a, b) = (entry(o, &key, count), entry(r, &key, count));
            let before = self.found.len();
            self.place(object, steps, trio.map(|map| entry(map, &key, count)));
            let from = |map: &Node, held: Option<&Node>| held.and(key_of(map, &key, count));
            self.stretch(before, [from(o, a), from(r, b)]);
            steps.pop();
        }
    }

    /// Lets whole entries begin at their key, and values that change their form behind the colon.
    fn stretch(&mut self, from: usize, keys: [Option<Range<usize>>; 2]) {
        for change in &mut self.found[from..] {
            for (cut, key) in [&mut change.ours, &mut change.result].into_iter().zip(&keys) {
                let (Some(cut), Some(key)) = (cut, key) else { continue };
                match cut.cutting {
                    Cutting::Entry if keys.contains(&None) => cut.range.start = key.start,
                    Cutting::Value if cut.own => cut.range.start = key.end + 1,
                    _ => {}
                }
            }
            for cut in [&mut change.ours, &mut change.result].into_iter().flatten() {
                cut.own = false;
            }
        }
    }

    /// The items of a list are no values of the entry that holds it.
    fn lists(&mut self, object: &Object<'_>, steps: &mut Vec<Step>, (o, r): (&Node, &Node), trio: Trio<'_>) {
        let before = self.found.len();
        match keys::rule(self.sides.keys.rule(object.name, steps), steps, &[o, r]) {
            Some(keyed) => self.keyed(object, steps, trio, &keyed.rule),
            None => self.sequence(object, steps, (o, r)),
        }
        if self.found.len() > before + 1 || !self.found[before..].iter().all(|change| change.is_of(o)) {
            self.stretch(before, [None, None]);
        }
    }

    fn sequence(&mut self, object: &Object<'_>, steps: &mut Vec<Step>, (o, r): (&Node, &Node)) {
        let pairs = common(o.items(), r.items());
        let (mut left, mut right) = (0, 0);
        for (i, j) in pairs.into_iter().chain([(o.items().len(), r.items().len())]) {
            self.between(object, steps, (o, left..i), (r, right..j));
            (left, right) = (i + 1, j + 1);
        }
    }

    /// Pairs the items between two equal ones by their order.
    fn between(
        &mut self,
        object: &Object<'_>,
        steps: &mut Vec<Step>,
        (o, left): (&Node, Range<usize>),
        (r, right): (&Node, Range<usize>),
    ) {
        for offset in 0..left.len().max(right.len()) {
            let item = |list: &'_ Node, range: &Range<usize>| {
                let index = range.start + offset;
                (index < range.end).then(|| list.items()[index].clone())
            };
            let (a, b) = (item(o, &left), item(r, &right));
            let texts = a.iter().chain(&b).filter_map(|node| node.text().map(str::to_owned));
            let names = [(left.start + offset).to_string(), (right.start + offset).to_string()];
            steps.push(Step::Element(names.into_iter().chain(texts).collect()));
            let trio = |ours, result| Trio {
                ours,
                result,
                theirs: None,
            };
            if a.iter().chain(&b).all(|node| node.text().is_some()) {
                // Scalars without keys at one place are no versions of one item.
                a.iter()
                    .for_each(|node| self.place(object, steps, trio(Some(node), None)));
                b.iter()
                    .for_each(|node| self.place(object, steps, trio(None, Some(node))));
            } else {
                self.place(object, steps, trio(a.as_ref(), b.as_ref()));
            }
            steps.pop();
        }
    }

    fn keyed(&mut self, object: &Object<'_>, steps: &mut Vec<Step>, trio: Trio<'_>, rule: &Rule) {
        let keys = |list: Option<&Node>| {
            let items = list.map(Node::items).unwrap_or_default();
            items
                .iter()
                .map(|item| keys::key(item, rule).unwrap_or_default())
                .collect::<Vec<_>>()
        };
        let (ours, result) = (keys(trio.ours), keys(trio.result));
        if let Some(key) = misplaced(&ours, &result, &keys(trio.theirs)) {
            let place = format!("{}: {}", object.name.shown(), shown(steps));
            self.violations.push(format!(
                "{}: {place}: [{key}] stands at another place than theirs has it",
                self.path
            ));
        }
        let common = |keys: &[String], other: &[String]| {
            keys.iter()
                .filter(|key| other.contains(key))
                .cloned()
                .collect::<Vec<_>>()
        };
        if common(&ours, &result) != common(&result, &ours)
            && let (Some(o), Some(r)) = (trio.ours, trio.result)
        {
            // Theirs put the elements into another order: the list as a whole is new.
            return self.replace(object, steps, (o, r), Cutting::Value);
        }
        let new = result.iter().filter(|key| !ours.contains(key));
        for key in ours.iter().chain(new) {
            steps.push(Step::Element(element_names(
                key,
                rule,
                &[trio.ours, trio.result, trio.theirs],
            )));
            self.place(
                object,
                steps,
                trio.map(|list| position(view(Some(list)), key, rule).map(|(_, item)| item)),
            );
            steps.pop();
        }
    }

    /// Requires that a decision of any outcome names a changed place.
    fn explain(&mut self, object: &Object<'_>, steps: &[Step]) {
        let whole = [MergeRule::Added, MergeRule::Removed, MergeRule::TheirsChanged];
        let named = object
            .decisions
            .iter()
            .any(|decision| match reach(&decision.field, steps) {
                Reach::Covers(0) => steps.is_empty() || (object.untouched && whole.contains(&decision.rule)),
                Reach::Covers(_) | Reach::Inside => true,
                Reach::Elsewhere => false,
            });
        if !named {
            let place = format!("{}: {}", object.name.shown(), shown(steps));
            self.violations
                .push(format!("{}: {place}: changed, and no decision explains it", self.path));
        }
    }
}

/// Gives the line that opens a block scalar, empty for other nodes.
fn block_head<'s>(side: &'s Side, path: &Path, node: &Node) -> &'s str {
    let text = side.files.get(path).and_then(|file| file.text.get(node.span.clone()));
    let head = text.and_then(|text| text.split('\n').next()).unwrap_or_default();
    if node.text().is_some() && head.starts_with(['|', '>']) {
        head
    } else {
        ""
    }
}

/// Gives the place of the nth entry's key.
fn key_of(map: &Node, key: &str, count: usize) -> Option<Range<usize>> {
    let mut same = map.entries().iter().filter(|(k, _)| k.text().unwrap_or("?") == key);
    same.nth(count).map(|(key, _)| key.span.clone())
}

fn is_flow(node: &Node) -> bool {
    match &node.kind {
        Kind::Map { shape, .. } | Kind::List { shape, .. } => *shape == Shape::Flow,
        _ => false,
    }
}
