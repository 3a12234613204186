//! Checks each object and place of a merge against the definition.
//!
//! In: the four sides and the decisions. Out: violations. One-sided changes must be taken, two-sided ones must be
//! reported and end in a value that comes from one of the sides or is put together by a rule.

use std::collections::BTreeSet;

use refit_manifest::{Answer, Decision, Outcome, Path, Rule as MergeRule};

use super::compose;
use super::definitions::ListTable;
use super::dom::{Kind, Node};
use super::keys::{self, Rule};
use super::objects::Name;
use super::step::{Reach, Step, reach, shown};
use super::{Case, Sides};

/// One place on the four sides; `None` where it is missing.
#[derive(Clone, Copy)]
struct Quad<'n> {
    base: Option<&'n Node>,
    ours: Option<&'n Node>,
    theirs: Option<&'n Node>,
    result: Option<&'n Node>,
}

impl<'n> Quad<'n> {
    /// Goes one step down on each side where the place is there.
    fn map(self, get: impl Fn(&'n Node) -> Option<&'n Node>) -> Self {
        let down = |node| view(node).and_then(&get);
        Self {
            base: down(self.base),
            ours: down(self.ours),
            theirs: down(self.theirs),
            result: down(self.result),
        }
    }
}

/// Checks all objects.
pub(super) fn check(case: &Case<'_>, sides: &Sides<'_>) -> Vec<String> {
    let all = [sides.base, sides.ours, sides.theirs, sides.result];
    let names: BTreeSet<&Name> = all
        .iter()
        .flat_map(|side| side.documents().map(|(_, d)| &d.name))
        .collect();
    let mut violations = Vec::new();
    for name in names {
        let [base, ours, theirs, result] = all.map(|side| side.find(name));
        let unread = |path: &Path| {
            all.iter()
                .any(|side| side.files.get(path).is_some_and(|file| file.documents.is_err()))
        };
        let place = ours.or(result).or(theirs).or(base).map(|(path, _)| path);
        if place.is_some_and(unread) {
            continue;
        }
        if let (Some((before, _)), Some((after, _))) = (ours, result)
            && before != after
        {
            violations.push(format!("{} moved from {before} to {after}", name.shown()));
        }
        let decisions = decisions_of(case.decisions, name, place);
        let quad = Quad {
            base: base.map(|(_, d)| &d.root),
            ours: ours.map(|(_, d)| &d.root),
            theirs: theirs.map(|(_, d)| &d.root),
            result: result.map(|(_, d)| &d.root),
        };
        let mut walk = Walk {
            name,
            keys: &sides.keys,
            decisions,
            violations: &mut violations,
        };
        walk.place(&mut Vec::new(), quad);
    }
    violations
}

/// Picks the decisions that speak about an object: by its identity, or by its file where they name no object.
pub(super) fn decisions_of<'d>(all: &'d [Decision], name: &Name, path: Option<&Path>) -> Vec<&'d Decision> {
    let of = |decision: &&Decision| match &decision.object {
        Some(identity) => name.is(identity) || (matches!(name, Name::Nameless { .. }) && path == Some(&decision.path)),
        None => path == Some(&decision.path),
    };
    all.iter().filter(of).collect()
}

struct Walk<'w> {
    name: &'w Name,
    keys: &'w ListTable,
    decisions: Vec<&'w Decision>,
    violations: &'w mut Vec<String>,
}

impl Walk<'_> {
    fn report(&mut self, steps: &[Step], what: &str, quad: Quad<'_>) {
        let side = |node: Option<&Node>| node.map_or("(missing)".to_owned(), Node::shown);
        self.violations.push(format!(
            "{}: {}: {what}\n    base   {}\n    ours   {}\n    theirs {}\n    result {}",
            self.name.shown(),
            shown(steps),
            side(quad.base),
            side(quad.ours),
            side(quad.theirs),
            side(quad.result)
        ));
    }

    fn place(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>) {
        let [base, ours, theirs, result] =
            [quad.base, quad.ours, quad.theirs, quad.result].map(|node| node.map(|node| node.hash));
        if ours == base {
            if result != theirs && !self.stays(steps, quad) && !self.inside(steps, quad) {
                self.report(
                    steps,
                    "only the new version changed this, the result must be theirs",
                    quad,
                );
            }
        } else if theirs == base {
            if result != ours {
                self.report(steps, "only the user changed this, the result must be ours", quad);
            }
        } else if ours == theirs {
            if result != ours {
                self.report(steps, "both made the same change, the result must be that", quad);
            }
        } else {
            self.two_sided(steps, quad);
        }
    }

    /// Tells whether a rule lets ours stay where only theirs changed: options, secrets, files that cannot be merged.
    fn stays(&self, steps: &[Step], quad: Quad<'_>) -> bool {
        let kept = quad.result.map(|n| n.hash) == quad.ours.map(|n| n.hash);
        // An element with the same first key, such as the port number, may be in conflict instead.
        let alike = |field: &str| match steps.split_last() {
            Some((Step::Element(names), list)) => {
                let first = names.iter().min_by_key(|name| name.len()).map_or("", String::as_str);
                let part = names
                    .iter()
                    .find(|name| name.contains('=') && !name.contains(','))
                    .map_or(first, String::as_str);
                reach(field, list) == Reach::Inside
                    && [',', ']'].iter().any(|end| field.contains(&format!("[{part}{end}")))
            }
            _ => false,
        };
        kept && self.decisions.iter().any(|decision| {
            if decision.outcome == Outcome::Conflict && alike(&decision.field) {
                return true;
            }
            let whole = decision.outcome == Outcome::Blocked || decision.rule == MergeRule::SecretKept;
            let option = decision.rule == MergeRule::GroupAbsent && steps.is_empty() && quad.ours.is_none();
            let answered = decision.answer == Some(Answer::Ours)
                && matches!(reach(&decision.field, steps), Reach::Covers(depth) if depth == steps.len());
            whole || option || answered
        })
    }

    /// Looks for the difference further inside, so that it is named exactly, and so that the order of a list whose
    /// elements have keys may be that of ours. Tells whether it could.
    fn inside(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>) -> bool {
        let (Some(theirs), Some(result)) = (view(quad.theirs), view(quad.result)) else {
            return false;
        };
        let (ours, base) = (view(quad.ours), view(quad.base));
        let all: Vec<&Node> = [base, ours, Some(theirs), Some(result)].into_iter().flatten().collect();
        if all.iter().all(|node| node.is_map()) {
            self.maps(steps, quad);
            return true;
        }
        let keyed = match all.iter().all(|node| node.is_list()) {
            true => keys::rule(self.keys.rule(self.name, steps), steps, &all),
            false => None,
        };
        match keyed {
            Some(keyed) if keyed.certain => self.elements(steps, quad, &keyed.rule),
            _ => return false,
        }
        true
    }

    fn two_sided(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>) {
        if let (Some(ours), Some(theirs)) = (view(quad.ours), view(quad.theirs)) {
            let base = view(quad.base);
            if ours.is_map() && theirs.is_map() && base.is_none_or(Node::is_map) {
                return self.maps(steps, quad);
            }
            if ours.is_list() && theirs.is_list() && base.is_none_or(Node::is_list) {
                let versions: Vec<&Node> = [base, Some(ours), Some(theirs)].into_iter().flatten().collect();
                let exact = self.decision_at(steps).is_some();
                match keys::rule(self.keys.rule(self.name, steps), steps, &versions) {
                    Some(keyed) if keyed.certain || !exact => return self.lists(steps, quad, &keyed.rule),
                    _ => {}
                }
            }
        }
        self.whole(steps, quad);
    }

    fn maps(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>) {
        if self.blocked() {
            return self.whole(steps, quad);
        }
        if !view(quad.result).is_some_and(Node::is_map) {
            return self.report(steps, "a map on all sides is none in the result", quad);
        }
        let sides = [quad.ours, quad.theirs, quad.base, quad.result].map(view);
        let mut keys: Vec<(String, usize)> = Vec::new();
        for side in sides.iter().flatten() {
            for key in occurrences(side) {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        for (key, count) in keys {
            let inner = quad.map(|node| entry(node, &key, count));
            steps.push(Step::Key(key.clone()));
            self.place(steps, inner);
            steps.pop();
        }
    }

    fn lists(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>, rule: &Rule) {
        let told = |decision: &&Decision| {
            decision.outcome >= Outcome::Noted && reach(&decision.field, steps) != Reach::Elsewhere
        };
        if *rule == Rule::Flag && !self.decisions.iter().copied().any(|decision| told(&decision)) {
            self.report(steps, "arguments changed on both sides without a decision", quad);
        }
        self.elements(steps, quad, rule);
    }

    fn elements(&mut self, steps: &mut Vec<Step>, quad: Quad<'_>, rule: &Rule) {
        let sides = [quad.ours, quad.theirs, quad.base, quad.result].map(view);
        let mut order: Vec<String> = Vec::new();
        for side in sides.iter().flatten() {
            for item in side.items() {
                let Some(key) = keys::key(item, rule) else {
                    return self.report(steps, "an element of the result has no key", quad);
                };
                if !order.contains(&key) {
                    order.push(key);
                }
            }
        }
        let Some(result) = view(quad.result) else {
            return self.report(steps, "a list on all sides is missing in the result", quad);
        };
        let made: Vec<String> = result.items().iter().filter_map(|item| keys::key(item, rule)).collect();
        if made.iter().collect::<BTreeSet<_>>().len() != made.len() {
            self.report(steps, "an element stands twice in the result", quad);
        }
        let mine = keys_of(sides[0], rule);
        let kept = mine.iter().filter(|key| made.contains(key));
        let other: Vec<String> = keys_of(sides[1], rule);
        let theirs = other.iter().filter(|key| made.contains(key));
        let as_theirs = theirs.eq(made.iter().filter(|key| other.contains(key)));
        if !kept.eq(made.iter().filter(|key| mine.contains(key))) && !as_theirs {
            self.report(steps, "the order of the elements is neither ours nor theirs", quad);
        }
        for key in order {
            let inner = quad.map(|node| position(Some(node), &key, rule).map(|(_, item)| item));
            steps.push(Step::Element(element_names(
                &key,
                rule,
                &[quad.ours, quad.theirs, quad.base, quad.result],
            )));
            self.place(steps, inner);
            steps.pop();
        }
    }

    /// Checks a place that both sides changed and that is one value.
    fn whole(&mut self, steps: &[Step], quad: Quad<'_>) {
        let Some(decision) = self.covering(steps, Outcome::Noted) else {
            if self.by_items(steps, quad) {
                return;
            }
            return self.report(steps, "both sides changed this and no decision is reported", quad);
        };
        let outcome = decision.outcome;
        let rule = decision.rule;
        let answer = decision.answer.clone();
        let [ours, theirs, result] = [quad.ours, quad.theirs, quad.result].map(|node| node.map(|node| node.hash));
        if let Some(wrong) = wrong_values(decision, steps, quad) {
            self.report(steps, &wrong, quad);
        }
        match answer {
            Some(Answer::Ours) if result == ours => return,
            Some(Answer::Theirs) if result == theirs => return,
            Some(Answer::Value(text)) if quad.result.and_then(Node::text) == Some(text.trim()) => return,
            Some(_) => return self.report(steps, "the answer was not followed", quad),
            None => {}
        }
        let keeps = matches!(
            rule,
            MergeRule::SizingKept | MergeRule::DeletionKept | MergeRule::SecretKept
        );
        if (outcome != Outcome::Noted || keeps) && result != ours {
            return self.report(
                steps,
                &format!("decided {} ({}), so ours must stay", outcome.word(), rule.word()),
                quad,
            );
        }
        if outcome == Outcome::Noted && is_contract(self.name.kind(), steps) {
            self.report(steps, "both changed a contract field and it is only noted", quad);
        }
        if outcome == Outcome::Noted && !compose::follows(rule, quad.base, quad.ours, quad.theirs, quad.result) {
            self.report(
                steps,
                &format!("the result does not follow the rule {}", rule.word()),
                quad,
            );
        }
        if result != ours && result != theirs && !compose::explains(quad.base, quad.ours, quad.theirs, quad.result) {
            self.report(
                steps,
                "the result is neither ours nor theirs nor put together from both",
                quad,
            );
        }
    }

    /// Tells whether a list without keys was merged item by item, with decisions on the items: either the items add up,
    /// or a conflict on one of them left the list as ours.
    fn by_items(&self, steps: &[Step], quad: Quad<'_>) -> bool {
        let lists = [quad.ours, quad.theirs, quad.result]
            .iter()
            .all(|node| view(*node).is_some_and(Node::is_list));
        let named = |decision: &&&Decision| match reach(&decision.field, steps) {
            Reach::Inside => true,
            Reach::Covers(depth) => depth == steps.len(),
            Reach::Elsewhere => false,
        };
        let strongest = self
            .decisions
            .iter()
            .filter(named)
            .map(|decision| decision.outcome)
            .max();
        let kept = strongest >= Some(Outcome::Conflict) && quad.ours.map(|n| n.hash) == quad.result.map(|n| n.hash);
        let added_up = || compose::explains(quad.base, quad.ours, quad.theirs, quad.result);
        let same = quad.ours.map(|n| n.hash) == quad.result.map(|n| n.hash);
        // Where each change of theirs is one of ours too, nothing was decided.
        lists && (strongest.is_some() && kept || (strongest.is_some() || same) && added_up())
    }

    fn blocked(&self) -> bool {
        self.decisions
            .iter()
            .any(|decision| decision.outcome == Outcome::Blocked)
    }

    /// Finds the decision that stands exactly at a place.
    fn decision_at(&self, steps: &[Step]) -> Option<&Decision> {
        self.decisions.iter().copied().find(|decision| {
            decision.outcome >= Outcome::Noted && reach(&decision.field, steps) == Reach::Covers(steps.len())
        })
    }

    /// Finds the decision nearest around a place that is at least as strong as asked. A decision on a map never covers
    /// what is inside, as long as the map is there on both sides: only lists and missing things are decided as wholes.
    fn covering(&self, steps: &[Step], least: Outcome) -> Option<&Decision> {
        let depth = |decision: &Decision| match reach(&decision.field, steps) {
            Reach::Covers(depth) if depth == steps.len() => Some(depth),
            Reach::Covers(0) if decision.outcome == Outcome::Blocked => Some(0),
            _ => None,
        };
        self.decisions
            .iter()
            .copied()
            .filter(|decision| decision.outcome >= least)
            .filter_map(|decision| depth(decision).map(|depth| (depth, decision.outcome, decision)))
            .max_by_key(|(depth, outcome, _)| (*depth, *outcome))
            .map(|(_, _, decision)| decision)
    }
}

/// Tells whether a decision on one scalar shows other values than the sides have.
fn wrong_values(decision: &Decision, steps: &[Step], quad: Quad<'_>) -> Option<String> {
    if reach(&decision.field, steps) != Reach::Covers(steps.len()) || steps.is_empty() {
        return None;
    }
    let told = [
        ("base", &decision.base, quad.base),
        ("ours", &decision.ours, quad.ours),
        ("theirs", &decision.theirs, quad.theirs),
    ];
    told.into_iter().find_map(|(side, told, node)| {
        let differs = match (told, node) {
            (None, None) => false,
            (Some(told), Some(node)) => node.text().is_some_and(|text| {
                let short = text.len() < 40 && !text.contains(['\n', '\\', '"', '\'']);
                short && !told.contains(text)
            }),
            _ => true,
        };
        differs.then(|| format!("the decision tells {side} as {told:?}"))
    })
}

/// Tells whether a field is part of a contract, by a table of its own.
fn is_contract(kind: &str, steps: &[Step]) -> bool {
    let first = steps.first().and_then(Step::key);
    let last = steps.last().and_then(Step::key);
    let rules = matches!(kind, "Role" | "ClusterRole") && first == Some("rules");
    let selector = steps
        .iter()
        .any(|step| matches!(step.key(), Some("selector" | "matchLabels")));
    let workload = matches!(kind, "Deployment" | "Service" | "StatefulSet" | "DaemonSet");
    rules || (steps.len() == 1 && last == Some("apiVersion")) || (selector && workload)
}

/// Gives what an alias stands for, and other nodes as they are.
pub(super) fn view(node: Option<&Node>) -> Option<&Node> {
    match node.map(|node| &node.kind) {
        Some(Kind::Alias { target, .. }) => target.as_deref(),
        _ => node,
    }
}

/// Lists the keys of a map, each with the number of the same keys before it.
pub(super) fn occurrences(map: &Node) -> Vec<(String, usize)> {
    let mut found: Vec<(String, usize)> = Vec::new();
    for (key, _) in map.entries() {
        let key = key.text().unwrap_or("?").to_owned();
        let count = found.iter().filter(|(other, _)| *other == key).count();
        found.push((key, count));
    }
    found
}

/// Gives the value of the nth entry with a key.
pub(super) fn entry<'n>(map: &'n Node, key: &str, count: usize) -> Option<&'n Node> {
    map.entries()
        .iter()
        .filter(|(k, _)| k.text().unwrap_or("?") == key)
        .nth(count)
        .map(|(_, value)| value)
}

fn keys_of(list: Option<&Node>, rule: &Rule) -> Vec<String> {
    let items = list.map(Node::items).unwrap_or_default();
    items.iter().filter_map(|item| keys::key(item, rule)).collect()
}

/// Gives the element of a list that has a key, and its index.
pub(super) fn position<'n>(list: Option<&'n Node>, key: &str, rule: &Rule) -> Option<(usize, &'n Node)> {
    list?
        .items()
        .iter()
        .enumerate()
        .find(|(_, item)| keys::key(item, rule).as_deref() == Some(key))
}

/// Lists the ways to write an element between brackets.
pub(super) fn element_names(key: &str, rule: &Rule, sides: &[Option<&Node>]) -> Vec<String> {
    let mut names = vec![key.to_owned()];
    if let Rule::Fields(_) = rule {
        names.push(
            key.split(',')
                .filter(|part| !part.ends_with('='))
                .collect::<Vec<_>>()
                .join(","),
        );
        names.push(
            key.split(',')
                .filter_map(|part| part.split_once('='))
                .map(|(_, v)| v)
                .collect::<Vec<_>>()
                .join(","),
        );
        names.push(key.split(',').next().unwrap_or(key).to_owned());
    }
    for side in sides {
        if let Some((index, item)) = position(view(*side), key, rule) {
            names.push(index.to_string());
            names.extend(item.text().map(str::to_owned));
        }
    }
    names
}
