//! Compares what patches do before and after an upgrade.
//!
//! In: two evaluations of one directory. Out: [`Problem`]s, in the order of the patches. Knows neither files nor answers.

use refit_kustomize::built::meaning;
use refit_kustomize::{AppliedPatch, Built, Content, Effect, Failure, Field, Operation, State, Step, Value};
use refit_manifest::{Identity, Path};

use super::problem::{End, Pointed};
use super::{Problem, Shift, Slot, What, same, words};

/// The most characters that are shown of an element.
const SHOWN: usize = 100;

/// Says what became of each patch. An evaluation that did not end before gives no ground to compare on, so that nothing
/// is said.
pub fn verify(before: &Built, after: &Built, shift: &Shift) -> Vec<Problem> {
    if before.state != State::Evaluated || matches!(after.state, State::NotEvaluated(_)) {
        return Vec::new();
    }
    let compared = Compared { before, after, shift };
    let mut problems: Vec<Problem> = after.applied.iter().flat_map(|patch| compared.patch(patch)).collect();
    if let State::Failed(failures) = &after.state {
        for failure in failures {
            problems.extend(compared.failure(failure, &problems));
        }
    }
    problems
}

struct Compared<'a> {
    before: &'a Built,
    after: &'a Built,
    shift: &'a Shift,
}

impl Compared<'_> {
    /// Compares one patch with itself before.
    fn patch(&self, now: &AppliedPatch) -> Vec<Problem> {
        let slot = self.shift.before(&Slot::of(now));
        let earlier = self.shift.earlier(&slot);
        let Some(was) = self.before.applied.iter().find(|was| Some(Slot::of(was)) == earlier) else {
            return Vec::new();
        };
        let about = |objects: Vec<Identity>, what: What| about(now, &slot, objects, what);
        if now.effects.is_empty() {
            let lost = !was.effects.is_empty();
            let objects = was.matched().cloned().collect();
            let what = match now.target {
                Some(_) => What::MatchesNothing,
                None => What::TargetGone,
            };
            return lost.then(|| about(objects, what)).into_iter().collect();
        }
        let matched: Vec<Identity> = now.matched().cloned().collect();
        let mut problems = self.operations(now, was, &slot);
        problems.extend(self.lists(now, was).map(|(object, what)| about(vec![object], what)));
        if was.effects.is_empty() {
            problems.push(about(matched, What::BecomesLive));
        } else if was.changed() && !now.changed() && problems.is_empty() {
            problems.push(about(matched, What::Redundant));
        }
        problems
    }

    /// Compares the operations; those that have one problem on several objects are told once.
    fn operations(&self, now: &AppliedPatch, was: &AppliedPatch, slot: &Slot) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        for effect in &now.effects {
            let earlier = was.effects.iter().find(|earlier| earlier.object == effect.object);
            for operation in &effect.operations {
                let place = self.shift.before(&Slot::of(now).operation(operation.index));
                let index = place.operation.unwrap_or(operation.index);
                let old = earlier.and_then(|earlier| earlier.operations.iter().find(|old| old.index == index));
                let Some(what) = self.operation(operation, old, effect) else {
                    continue;
                };
                let place = slot.operation(index);
                let same =
                    |known: &&mut Problem| known.slot.as_ref() == Some(&place) && known.what.word() == what.word();
                match problems.iter_mut().find(same) {
                    Some(known) => known.objects.push(effect.object.clone()),
                    None => problems.push(about(now, &place, vec![effect.object.clone()], what)),
                }
            }
        }
        problems
    }

    fn operation(&self, now: &Operation, was: Option<&Operation>, effect: &Effect) -> Option<What> {
        if !now.resolved {
            return was.is_none_or(|was| was.resolved).then(|| self.gone(now, was, effect));
        }
        let was = was.filter(|was| was.resolved && was.pointer == now.pointer && was.from == now.from)?;
        let values = (was.before.as_ref(), now.before.as_ref());
        let at = self
            .moved(compared_steps(was), compared_steps(now), values, effect)
            .map(|at| (at, End::Path));
        let from = || {
            let moved = self.moved(&was.from_meaning, &now.from_meaning, (None, None), effect);
            moved.map(|at| (at, End::From))
        };
        let (at, end) = at.or_else(from)?;
        let (old, new) = (steps(was, end), steps(now, end));
        let operation = pointed(now, end);
        let place = |built, steps: &[Step], end: Option<&Value>| {
            let in_build = || same::at(object(built, &effect.original)?, steps.get(..=at)?).map(same::shown);
            let is_end = at + 1 == steps.len();
            let element = end.filter(|_| is_end).map(same::shown).or_else(in_build);
            told(steps, at, element)
        };
        Some(What::OtherMeaning {
            instead: self.instead(&Lost::of(was, end, at), effect),
            before: place(self.before, old, value_at(was, end)),
            after: place(self.after, new, value_at(now, end)),
            operation,
        })
    }

    /// Says what an operation lost: its `from` where the new version does not have that, else its `path`.
    fn gone(&self, now: &Operation, was: Option<&Operation>, effect: &Effect) -> What {
        let has_from =
            || object(self.after, &effect.original).is_none_or(|object| same::at(object, &now.from_meaning).is_some());
        let end = match now.from {
            Some(_) if !has_from() => End::From,
            _ => End::Path,
        };
        let operation = pointed(now, end);
        let Some(was) = was else {
            let (before, instead) = (String::new(), None);
            return What::PlaceGone {
                operation,
                before,
                instead,
            };
        };
        let old = steps(was, end);
        let last = old.iter().rposition(|step| matches!(step, Step::Element { .. }));
        let in_build = || same::at(object(self.before, &effect.original)?, old).map(same::shown);
        let element = value_at(was, end).map(same::shown).or_else(in_build);
        What::PlaceGone {
            before: told(old, old.len().saturating_sub(1), element),
            instead: last.and_then(|at| self.instead(&Lost::of(was, end, at), effect)),
            operation,
        }
    }

    /// Finds the first step that leads to another element; `ends` are the values where the steps end.
    fn moved(
        &self,
        was: &[Step],
        now: &[Step],
        ends: (Option<&Value>, Option<&Value>),
        effect: &Effect,
    ) -> Option<usize> {
        was.iter().zip(now).enumerate().find_map(|(at, pair)| {
            let (Step::Element { identity: old, .. }, Step::Element { identity: new, .. }) = pair else {
                return None;
            };
            let differs = if old.is_empty() && new.is_empty() {
                let is_end = at + 1 == was.len() && at + 1 == now.len() && ends.0.is_some();
                let (old, new) = if is_end {
                    ends
                } else {
                    let in_build = |built, steps: &[Step]| {
                        object(built, &effect.original).and_then(|object| same::at(object, steps).cloned())
                    };
                    let (old, new) = (in_build(self.before, &was[..=at]), in_build(self.after, &now[..=at]));
                    return old
                        .zip(new)
                        .is_some_and(|(old, new)| !same::is_same(&old, &new))
                        .then_some(at);
                };
                old.zip(new).is_some_and(|(old, new)| !same::is_same(old, new))
            } else {
                old != new
            };
            differs.then_some(at)
        })
    }

    /// Gives the pointer whose last given step leads to the element that it meant before.
    fn instead(&self, lost: &Lost<'_>, effect: &Effect) -> Option<String> {
        let was = lost.steps;
        let (last, parents) = was.split_last()?;
        let Step::Element { identity, index } = last else {
            return None;
        };
        let list = same::at(object(self.after, &effect.original)?, parents)?;
        let is_it = |item: &Value| {
            if identity.is_empty() {
                let in_build = || object(self.before, &effect.original).and_then(|object| same::at(object, was));
                return lost.value.or_else(in_build).is_some_and(|old| same::is_same(old, item));
            }
            let mut keys = identity.iter();
            keys.all(|(key, value)| item.get(key).and_then(Value::scalar) == Some(value))
        };
        let found = list.items().iter().position(is_it).filter(|found| found != index)?;
        let mut parts: Vec<String> = lost.pointer.split('/').map(ToOwned::to_owned).collect();
        *parts.get_mut(was.len())? = found.to_string();
        Some(parts.join("/"))
    }

    /// Finds lists and flags that hide what the release has.
    fn lists(&self, now: &AppliedPatch, was: &AppliedPatch) -> impl Iterator<Item = (Identity, What)> {
        let effects = now.effects.iter().filter_map(|effect| {
            let earlier = was.effects.iter().find(|earlier| earlier.object == effect.object)?;
            Some((effect, earlier))
        });
        effects.flat_map(|(effect, earlier)| {
            let merged = effect.merge.replaced.iter().filter_map(|list| {
                let path = meaning(&list.path);
                let old = earlier.merge.replaced.iter().find(|old| meaning(&old.path) == path)?;
                hides(path, old.before.as_ref(), list.before.as_ref(), &list.after)
            });
            let operations = effect.operations.iter().filter_map(|now| {
                let index = now.index;
                let old = earlier
                    .operations
                    .iter()
                    .find(|old| old.index == index && old.pointer == now.pointer)?;
                self.written_list(now, old).or_else(|| self.doubled(now, effect))
            });
            let whats: Vec<What> = merged.chain(operations).collect();
            whats
                .into_iter()
                .map(|what| (effect.object.clone(), what))
                .collect::<Vec<_>>()
        })
    }

    /// An operation that writes a list whole.
    fn written_list(&self, now: &Operation, old: &Operation) -> Option<What> {
        let written = now.value.as_ref().filter(|value| matches!(value, Value::List(_)))?;
        let (Some(Value::List(_)), Some(Value::List(_))) = (&old.before, &now.before) else {
            return None;
        };
        hides(meaning(&now.meaning), old.before.as_ref(), now.before.as_ref(), written)
    }

    /// An operation that adds a flag which the release has now, too, with another value.
    fn doubled(&self, now: &Operation, effect: &Effect) -> Option<What> {
        let added = now.value.as_ref().and_then(Value::as_str)?;
        let name = same::flag(added)?;
        let (_, list) = now
            .meaning
            .split_last()
            .filter(|(last, _)| **last == Step::End && now.op == "add")?;
        let flags = |built: &Built| -> Vec<String> {
            let items = object(built, &effect.original).and_then(|object| same::at(object, list));
            let items = items
                .map(Value::items)
                .unwrap_or_default()
                .iter()
                .filter_map(Value::as_str);
            items
                .filter(|item| same::flag(item) == Some(name))
                .map(ToOwned::to_owned)
                .collect()
        };
        let (was, has) = (flags(self.before), flags(self.after));
        if was.len() > 1 || has.len() < 2 {
            return None;
        }
        Some(What::HidesItems {
            list: meaning(list),
            items: has.into_iter().filter(|item| item != added).take(1).collect(),
            dropped: Vec::new(),
        })
        .filter(|what| !matches!(what, What::HidesItems { items, .. } if items.is_empty()))
    }

    /// Says where the build fails, as far as its patches have not said so.
    fn failure(&self, failure: &Failure, known: &[Problem]) -> Option<Problem> {
        let Some(entry) = failure.entry.as_ref().filter(|entry| is_patch(entry.field)) else {
            return Some(elsewhere(failure, None, failure.to_string()));
        };
        let entry = self.shift.before(&Slot::of_entry(entry));
        let is_told = |problem: &Problem| {
            let slot = problem.slot.as_ref();
            problem.what.breaks() && slot.is_some_and(|slot| slot.entry() == entry)
        };
        if known.iter().any(is_told) {
            return None;
        }
        let Some((slot, stopped)) = self.stopped(&entry) else {
            return Some(elsewhere(failure, Some(entry), failure.message.clone()));
        };
        let object = failure.object.clone().or_else(|| stopped.own.clone());
        let what = match stopped.target {
            None => What::TargetGone,
            Some(_) => What::Fails {
                message: failure.message.clone(),
            },
        };
        Some(about(stopped, &slot, object.into_iter().collect(), what))
    }

    /// Finds the document of an entry at which the evaluation stopped: the first that ran before and does not now.
    fn stopped(&self, entry: &Slot) -> Option<(Slot, &AppliedPatch)> {
        let ran: Vec<Slot> = self
            .after
            .applied
            .iter()
            .map(|now| self.shift.before(&Slot::of(now)))
            .collect();
        let old = self.shift.earlier(entry);
        let was_there = self
            .before
            .applied
            .iter()
            .filter(|was| Some(Slot::of_entry(&was.entry)) == old);
        // Counted as the entry is now.
        let index = entry.index;
        let mut earlier = was_there.map(|was| (Slot { index, ..Slot::of(was) }, was));
        earlier.find(|(slot, _)| !ran.contains(slot) && !self.shift.has(slot))
    }
}

/// A failure that no patch of before explains.
fn elsewhere(failure: &Failure, slot: Option<Slot>, message: String) -> Problem {
    Problem {
        slot,
        kustomization: failure.path.clone(),
        line: failure.line,
        file: None,
        objects: failure.object.iter().cloned().collect(),
        target: String::new(),
        what: What::Fails { message },
    }
}

/// An element that an operation reached before.
struct Lost<'a> {
    pointer: &'a str,
    steps: &'a [Step],
    /// The element as the operation found it, where it says so: the operation itself may have taken it out.
    value: Option<&'a Value>,
}

impl<'a> Lost<'a> {
    /// Takes the element that a step of an end of an operation leads to.
    fn of(was: &'a Operation, end: End, at: usize) -> Self {
        let from = was.from.as_ref().filter(|_| end == End::From);
        let all = steps(was, end);
        Self {
            pointer: from.unwrap_or(&was.pointer),
            steps: all.get(..=at).unwrap_or(all),
            value: value_at(was, end).filter(|_| at + 1 == all.len()),
        }
    }
}

fn pointed(operation: &Operation, end: End) -> Pointed {
    let from = operation.from.as_ref().filter(|_| end == End::From);
    Pointed {
        op: operation.op.clone(),
        pointer: from.unwrap_or(&operation.pointer).clone(),
        end,
    }
}

/// Gives what an end of an operation means.
fn steps(operation: &Operation, end: End) -> &[Step] {
    match end {
        End::Path => &operation.meaning,
        End::From => &operation.from_meaning,
    }
}

/// Gives the value that the operation found where it writes.
fn value_at(operation: &Operation, end: End) -> Option<&Value> {
    operation.before.as_ref().filter(|_| end == End::Path)
}

/// Gives the steps that tell what an operation is about: where `add` inserts into a list, the element there is not.
fn compared_steps(operation: &Operation) -> &[Step] {
    match operation.meaning.split_last() {
        Some((Step::Element { .. }, parents)) if matches!(operation.op.as_str(), "add" | "copy" | "move") => parents,
        _ => &operation.meaning,
    }
}

/// Writes what steps mean, with the value of the element that tells, where it has no name.
fn told(steps: &[Step], at: usize, element: Option<String>) -> String {
    let text = meaning(steps);
    match (steps.get(at), element) {
        (Some(Step::Element { identity, .. }), Some(element)) if identity.is_empty() => {
            let cut: String = element.chars().take(SHOWN).collect();
            let rest = if cut == element { "" } else { "..." };
            format!("{text}: {cut}{rest}")
        }
        _ => text,
    }
}

fn hides(list: String, before: Option<&Value>, after: Option<&Value>, written: &Value) -> Option<What> {
    let items = same::hidden(before, after, written);
    let dropped = same::dropped(before, after, written);
    (!items.is_empty() || !dropped.is_empty()).then_some(What::HidesItems { list, items, dropped })
}

/// Gives the final value of an object that a patch matched, by what its origin calls it.
fn object<'b>(built: &'b Built, original: &Identity) -> Option<&'b Value> {
    let mut objects = built.objects.iter();
    objects
        .find(|object| is_one(&object.original, original))
        .map(|object| &object.value)
}

/// Tells whether two identities are of one object; no namespace and the one that kustomize then assumes are the same.
fn is_one(one: &Identity, other: &Identity) -> bool {
    let namespace = |of: &Identity| match &*of.namespace {
        "default" | "_non_namespaceable_" => "".into(),
        _ => std::sync::Arc::clone(&of.namespace),
    };
    let names = |of: &Identity| (of.group.clone(), of.kind.clone(), of.name.clone(), namespace(of));
    names(one) == names(other)
}

fn is_patch(field: Field) -> bool {
    matches!(
        field,
        Field::Patches | Field::PatchesStrategicMerge | Field::PatchesJson6902
    )
}

fn about(patch: &AppliedPatch, slot: &Slot, objects: Vec<Identity>, what: What) -> Problem {
    let file: Option<&Path> = match &patch.content {
        Content::File(place) => Some(&place.path),
        Content::Inline { .. } => None,
    };
    Problem {
        slot: Some(slot.clone()),
        kustomization: patch.entry.kustomization.clone(),
        line: patch.entry.line,
        file: file.cloned(),
        objects,
        target: words::target(patch),
        what,
    }
}

#[cfg(test)]
mod tests {
    use refit_kustomize::{Entry, Form, Merge, Object, Origin, ReplacedList, Target};

    use super::*;

    const ENUM: &str = "/spec/versions/0/enum/-";

    fn identity(text: &str) -> Identity {
        let (kind, name) = text.split_once('/').unwrap();
        Identity {
            group: "".into(),
            kind: kind.into(),
            namespace: "".into(),
            name: name.into(),
        }
    }

    fn entry(index: usize) -> Entry {
        Entry {
            kustomization: "kustomization.yaml".into(),
            field: Field::Patches,
            index,
            span: 0..0,
            line: 2,
        }
    }

    fn effect(object: &str) -> Effect {
        Effect {
            object: identity(object),
            original: identity(object),
            api_version: "v1".into(),
            changed: true,
            deleted: false,
            operations: Vec::new(),
            merge: Merge::default(),
        }
    }

    fn add(pointer: &str, meaning: Vec<Step>) -> Operation {
        Operation {
            index: 0,
            op: "add".into(),
            pointer: pointer.into(),
            resolved: true,
            meaning,
            before: None,
            value: Some(Value::text("X")),
            from: None,
            from_meaning: Vec::new(),
        }
    }

    fn key(text: &str) -> Step {
        Step::Key(text.into())
    }

    fn element(index: usize, name: &str) -> Step {
        let identity = Some(("name".to_owned(), name.to_owned())).filter(|(_, name)| !name.is_empty());
        Step::Element {
            index,
            identity: identity.into_iter().collect(),
        }
    }

    fn version(index: usize, name: &str) -> Vec<Step> {
        vec![
            key("spec"),
            key("versions"),
            element(index, name),
            key("enum"),
            Step::End,
        ]
    }

    fn texts(items: &[&str]) -> Value {
        Value::List(items.iter().map(|item| Value::text(item)).collect())
    }

    fn map(key: &str, value: Value) -> Value {
        Value::Map([(key.into(), value)].into())
    }

    fn patch(effects: Vec<Effect>) -> AppliedPatch {
        AppliedPatch {
            entry: entry(0),
            content: Content::Inline { document: 0 },
            form: Form::Json6902,
            target: Some(Target {
                kind: "Crd".into(),
                name: "a".into(),
                ..Target::default()
            }),
            own: None,
            own_api_version: String::new(),
            effects,
        }
    }

    fn built(applied: Vec<AppliedPatch>, objects: &[(&str, Value)]) -> Built {
        let object = |(name, value): &(&str, Value)| Object {
            value: value.clone(),
            identity: identity(name),
            original: identity(name),
            origin: Origin::Generator(entry(0)),
            through: Vec::new(),
        };
        Built {
            applied,
            objects: objects.iter().map(object).collect(),
            ..Built::default()
        }
    }

    fn check(before: &Built, after: &Built, expected: &[&str]) {
        let problems = verify(before, after, &Shift::default());
        let told: Vec<String> = problems
            .iter()
            .map(|problem| format!("{}: {}", problem.what.word(), words::sentence(problem)))
            .collect();
        assert_eq!(told, expected);
    }

    fn with(operation: Operation) -> Vec<AppliedPatch> {
        vec![patch(vec![Effect {
            operations: vec![operation],
            ..effect("Crd/a")
        }])]
    }

    fn versions(names: &[&str]) -> Value {
        let named = names.iter().map(|name| map("name", Value::text(name))).collect();
        map("spec", map("versions", Value::List(named)))
    }

    #[test]
    fn an_index_that_stands_for_another_version_is_told_with_the_index_that_has_it_now() {
        let before = built(
            with(add(ENUM, version(0, "v1beta1"))),
            &[("Crd/a", versions(&["v1beta1"]))],
        );
        let after = built(
            with(add(ENUM, version(0, "v1"))),
            &[("Crd/a", versions(&["v1", "v1beta1"]))],
        );
        check(
            &before,
            &after,
            &[
                "other-meaning: The patch in kustomization.yaml has the operation `add /spec/versions/0/enum/-`, which \
               reaches `spec.versions[name=v1beta1].enum[-]` of Crd/a and would reach \
               `spec.versions[name=v1].enum[-]`; what it reached is now at `/spec/versions/1/enum/-`",
            ],
        );
        check(&before, &before, &[]);
    }

    #[test]
    fn an_index_into_a_list_without_names_is_compared_by_the_value_there() {
        let replace = |before: &str| Operation {
            op: "replace".into(),
            before: Some(Value::text(before)),
            ..add("/args/0", vec![key("args"), element(0, "")])
        };
        let built = |operation: Operation| built(with(operation), &[]);
        check(
            &built(replace("--log-level=info")),
            &built(replace("--log-level=debug")),
            &[],
        );
        check(
            &built(replace("--log-level=info")),
            &built(replace("--new=1")),
            &[
                "other-meaning: The patch in kustomization.yaml has the operation `replace /args/0`, which reaches \
               `args[0]: --log-level=info` of Crd/a and would reach `args[0]: --new=1`; the new version has nowhere what \
               it reached",
            ],
        );
        // An insertion at a place is not about the element that stands there.
        let insert = |before: &str| Operation {
            op: "add".into(),
            ..replace(before)
        };
        check(&built(insert("--log-level=info")), &built(insert("--new=1")), &[]);
    }

    #[test]
    fn a_rule_without_a_name_is_looked_up_among_the_rules() {
        let rule = |resource: &str| {
            Value::Map(
                [
                    ("apiGroups".into(), texts(&[""])),
                    ("resources".into(), texts(&[resource])),
                    ("verbs".into(), texts(&["get"])),
                ]
                .into(),
            )
        };
        let role = |resources: &[&str]| map("rules", Value::List(resources.iter().map(|name| rule(name)).collect()));
        let operation = || {
            let meaning = vec![key("rules"), element(0, ""), key("verbs"), element(0, "")];
            with(Operation {
                op: "replace".into(),
                before: Some(Value::text("get")),
                ..add("/rules/0/verbs/0", meaning)
            })
        };
        let before = built(operation(), &[("Crd/a", role(&["secrets"]))]);
        check(
            &before,
            &built(operation(), &[("Crd/a", role(&["secrets", "events"]))]),
            &[],
        );
        let problems = verify(
            &before,
            &built(operation(), &[("Crd/a", role(&["events", "secrets"]))]),
            &Shift::default(),
        );
        assert!(
            matches!(&problems[0].what, What::OtherMeaning { instead, .. } if instead.as_deref() == Some("/rules/1/verbs/0"))
        );
    }

    #[test]
    fn one_operation_that_fails_on_several_objects_is_one_problem() {
        let effects = |resolved: bool| {
            let operation = Operation {
                resolved,
                ..add(ENUM, version(0, "v1"))
            };
            let effect = |name| Effect {
                operations: vec![operation.clone()],
                ..effect(name)
            };
            vec![patch(vec![effect("Crd/a"), effect("Crd/b")])]
        };
        let mut after = built(effects(false), &[]);
        after.state = State::Failed(vec![Failure {
            path: "kustomization.yaml".into(),
            line: 2,
            entry: Some(entry(0)),
            object: Some(identity("Crd/a")),
            message: "the same in other words".into(),
        }]);
        check(
            &built(effects(true), &[]),
            &after,
            &[
                "place-gone: The patch in kustomization.yaml has the operation `add /spec/versions/0/enum/-`, whose place \
               Crd/a and Crd/b does not have in the new version (it was `spec.versions[name=v1].enum[-]`); the build \
               would fail",
            ],
        );
    }

    #[test]
    fn patches_that_match_nothing_any_more_or_something_at_last_are_told() {
        let some = || built(vec![patch(vec![effect("Crd/a")])], &[]);
        let none = || built(vec![patch(Vec::new())], &[]);
        check(
            &some(),
            &none(),
            &[
                "matches-nothing: The patch in kustomization.yaml targets Crd/a, which the new version does not have; it \
               would silently match nothing",
            ],
        );
        check(
            &none(),
            &some(),
            &["becomes-live: it matched nothing, and with the new version it matches Crd/a"],
        );
        check(&none(), &none(), &[]);
    }

    #[test]
    fn a_patch_without_target_whose_object_is_gone_stops_the_build() {
        let own = |effects| AppliedPatch {
            target: None,
            own: Some(identity("Policy/p")),
            ..patch(effects)
        };
        let after = Built {
            state: State::Failed(vec![Failure {
                path: "kustomization.yaml".into(),
                line: 2,
                entry: Some(entry(0)),
                object: Some(identity("Policy/p")),
                message: "no object matches".into(),
            }]),
            ..built(Vec::new(), &[])
        };
        check(
            &built(vec![own(vec![effect("Policy/p")])], &[]),
            &after,
            &[
                "target-gone: The patch in kustomization.yaml is for Policy/p, which the new version does not have; the \
               build would fail",
            ],
        );
    }

    #[test]
    fn a_list_written_whole_hides_what_the_release_adds() {
        let merged = |release: &[&str]| {
            let list = ReplacedList {
                path: vec![key("args")],
                before: Some(texts(release)),
                after: texts(&["--a", "--mine"]),
            };
            let merge = Merge {
                replaced: vec![list],
                directives: Vec::new(),
            };
            built(
                vec![patch(vec![Effect {
                    merge,
                    ..effect("Crd/a")
                }])],
                &[],
            )
        };
        check(
            &merged(&["--a", "--old"]),
            &merged(&["--a", "--b=1"]),
            &["hides-items: for `args` of Crd/a it hides `--b=1` of the new version"],
        );
    }

    #[test]
    fn a_flag_that_the_release_has_now_too_is_told_and_another_appended_flag_is_not() {
        let append = || {
            with(Operation {
                value: Some(Value::text("--log-level=debug")),
                ..add("/args/-", vec![key("args"), Step::End])
            })
        };
        let has = |flags: &[&str]| built(append(), &[("Crd/a", map("args", texts(flags)))]);
        check(&has(&["--log-level=debug"]), &has(&["--new", "--log-level=debug"]), &[]);
        check(
            &has(&["--log-level=debug"]),
            &has(&["--log-level=info", "--log-level=debug"]),
            &["hides-items: for `args` of Crd/a it hides `--log-level=info` of the new version"],
        );
    }

    #[test]
    fn a_patch_that_changes_nothing_any_more_is_told() {
        let done = |changed| {
            built(
                vec![patch(vec![Effect {
                    changed,
                    ..effect("Crd/a")
                }])],
                &[],
            )
        };
        check(
            &done(true),
            &done(false),
            &["redundant: it changes nothing of Crd/a any more: the new version has the value itself"],
        );
    }

    #[test]
    fn what_did_not_build_before_is_not_compared() {
        let before = Built {
            state: State::NotEvaluated(Vec::new()),
            ..built(vec![patch(vec![effect("Crd/a")])], &[])
        };
        check(&before, &built(vec![patch(Vec::new())], &[]), &[]);
    }
}
