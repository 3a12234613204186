//! Reads rule files and refuses those that say nothing certain.

use std::collections::BTreeMap;

use refit_manifest::convert::{Condition, Field, Operation, Rule};
use refit_manifest::parse::{self, Kind, NodeRef};
use serde::de::DeserializeOwned;

use super::file::{ConditionText, FormsText, NotCheckedText, OPERATIONS, OperationText, RuleText, TOP};
use super::{ConversionRule, ConversionRules, Enabled, Error, NotChecked, Purpose, Window, cycle, shape};

/// A place of a file that errors name.
#[derive(Clone, Copy)]
struct Spot<'a> {
    file: &'a str,
    text: &'a str,
    rule: Option<&'a str>,
}

impl Spot<'_> {
    fn error(self, node: NodeRef<'_>, what: String, remedy: &str) -> Error {
        self.at(self.line(node), what, remedy)
    }

    /// Gives the line of a node, counted from 1.
    fn line(self, node: NodeRef<'_>) -> usize {
        let before = self.text.as_bytes().get(..node.span().start).unwrap_or_default();
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    fn at(self, line: usize, what: String, remedy: &str) -> Error {
        Error {
            file: self.file.to_owned(),
            line,
            rule: self.rule.map(ToOwned::to_owned),
            what,
            remedy: remedy.to_owned(),
        }
    }

    fn enabled(self, id: String, node: NodeRef<'_>) -> Enabled {
        Enabled {
            id,
            file: self.file.to_owned(),
            line: self.line(node),
        }
    }

    /// Makes a type of a node.
    fn of<T: DeserializeOwned>(self, node: NodeRef<'_>, remedy: &str) -> Result<T, Error> {
        shape::of(node).map_err(|(at, what)| self.error(at, what, remedy))
    }
}

const FORMAT: &str = "docs/rules.md describes the fields of a rule";

/// What is wrong in a rule file: the first error, and the others.
pub(super) type Wrong = Box<(Error, Vec<Error>)>;

/// Reads a rule file.
pub(super) fn read(file: &str, text: &str) -> Result<ConversionRules, Wrong> {
    let spot = Spot { file, text, rule: None };
    let parsed = parse::parse(text.as_bytes(), 0..text.len());
    let parsed = parsed.map_err(|error| {
        let what = format!("not YAML: {error}");
        Box::new((spot.at(error.line(), what, "correct the line"), Vec::new()))
    })?;
    let mut found = Found::default();
    found.top(spot, parsed.root());
    let mut errors = found.errors.into_iter();
    match errors.next() {
        Some(first) => Err(Box::new((first, errors.collect()))),
        None => match cycle::check(&found.rules.rules) {
            Ok(()) => Ok(found.rules),
            Err(error) => Err(Box::new((error, Vec::new()))),
        },
    }
}

/// What was read of a file so far.
#[derive(Default)]
struct Found {
    rules: ConversionRules,
    errors: Vec<Error>,
    /// The names that are taken, with the lines of their rules.
    taken: BTreeMap<String, usize>,
}

impl Found {
    fn top(&mut self, spot: Spot<'_>, root: Option<NodeRef<'_>>) {
        let Some(root) = root.filter(|root| matches!(root.kind(), Kind::Mapping(_))) else {
            let error = spot.at(1, "the file has no rules".to_owned(), "begin with `rules:`");
            return self.errors.push(error);
        };
        let is_unknown = |(key, _): &(NodeRef<'_>, NodeRef<'_>)| !TOP.contains(&key.text().unwrap_or_default());
        for (key, _) in root.entries().filter(is_unknown) {
            let what = format!("unknown field `{}`", key.source());
            self.errors
                .push(spot.error(key, what, "use `origin`, `rules`, `not-checked` and `enable`"));
        }
        let is_list = |node: NodeRef<'_>| matches!(node.target().kind(), Kind::Sequence(_)) || node.is_null();
        for key in ["rules", "not-checked", "enable"] {
            match root.get(key) {
                Some(node) if !is_list(node) => {
                    self.errors
                        .push(spot.error(node, format!("`{key}` is no list"), FORMAT));
                }
                Some(node) => node.items().for_each(|item| self.item(spot, key, item)),
                None => {}
            }
        }
    }

    /// Takes an item of one of the lists.
    fn item(&mut self, spot: Spot<'_>, list: &str, node: NodeRef<'_>) {
        let read = match list {
            "rules" => rule(spot, node).and_then(|rules| self.add(spot, node, rules)),
            "not-checked" => spot.of::<NotCheckedText>(node, FORMAT).map(|text| {
                self.rules.not_checked.push(NotChecked {
                    id: text.id,
                    by: text.by,
                    message: text.message,
                    reason: text.reason,
                    origin: text.origin,
                });
            }),
            _ => spot
                .of(node, "`enable` is a list of names of rules")
                .map(|id| self.rules.enabled.push(spot.enabled(id, node))),
        };
        self.errors.extend(read.err());
    }

    fn add(&mut self, spot: Spot<'_>, node: NodeRef<'_>, rules: Vec<ConversionRule>) -> Result<(), Error> {
        for rule in rules {
            if let Some(line) = self.taken.insert(rule.rule.id.clone(), rule.line) {
                let what = format!("the name `{}` is taken by the rule on line {line}", rule.rule.id);
                return Err(spot.error(node, what, "give each rule its own `id`"));
            }
            self.rules.rules.push(rule);
        }
        Ok(())
    }
}

fn rule(spot: Spot<'_>, node: NodeRef<'_>) -> Result<Vec<ConversionRule>, Error> {
    let id = node.get("id").and_then(NodeRef::text);
    let spot = Spot { rule: id, ..spot };
    let text: RuleText = spot.of(node, FORMAT)?;
    let conditions = conditions(spot, node)?;
    let operations = operations(spot, node)?;
    check(spot, node, &text, &operations)?;
    let made = ConversionRule {
        rule: Rule {
            id: text.id,
            group: text.group,
            kinds: text.kinds,
            conditions,
            operations,
            message: text.message,
        },
        window: Window {
            from: text.from,
            by: text.by,
            until: None,
        },
        purpose: if text.behaviour {
            Purpose::Behaviour
        } else {
            Purpose::Conversion
        },
        optional: text.optional,
        origin: text.origin,
        file: spot.file.to_owned(),
        line: spot.line(node),
    };
    match (text.forms, made.rule.operations.is_empty()) {
        (Some(forms), true) => both_forms(spot, node, &made, forms).map(Vec::from),
        (None, false) => Ok(vec![made]),
        (None, true) => Err(spot.error(
            node,
            "it does nothing".to_owned(),
            "write operations below `do`, or `forms`",
        )),
        (Some(_), false) => {
            let what = "it has both `do` and `forms`".to_owned();
            Err(spot.error(node, what, "make two rules of it"))
        }
    }
}

/// Refuses a rule whose parts do not go together.
fn check(spot: Spot<'_>, node: NodeRef<'_>, text: &RuleText, operations: &[Operation]) -> Result<(), Error> {
    if text.kinds.is_empty() {
        return Err(spot.error(
            node,
            "`kinds` is empty".to_owned(),
            "name the kinds that the rule is about",
        ));
    }
    if let (Some(from), Some(by)) = (&text.from, &text.by)
        && from > by
    {
        let what = format!("it may run from `{from}`, but must have run by `{by}`");
        return Err(spot.error(node, what, "let `from` be a release before `by`"));
    }
    if let Some(operation) = operations.iter().find(|operation| text.behaviour && edits(operation)) {
        let what = format!("a rule about behaviour edits nothing, but this one does: {operation}");
        return Err(spot.error(node, what, "take `behaviour` out, or use `report` and `review`"));
    }
    Ok(())
}

fn edits(operation: &Operation) -> bool {
    use refit_manifest::convert::Defaults;
    !matches!(
        operation,
        Operation::Review { .. }
            | Operation::Default {
                mode: Defaults::Report,
                ..
            }
    )
}

/// Makes two rules of a field with two forms: one writes both, one drops the old form.
fn both_forms(
    spot: Spot<'_>,
    node: NodeRef<'_>,
    made: &ConversionRule,
    forms: FormsText,
) -> Result<[ConversionRule; 2], Error> {
    if made.window != Window::default() {
        let what = "`forms` has its own releases beside `from` and `by`".to_owned();
        return Err(spot.error(node, what, "take `from` and `by` out"));
    }
    if forms.both_from >= forms.drop_at {
        let what = format!(
            "both forms are written from `{}`, but the old one is dropped at `{}`",
            forms.both_from, forms.drop_at
        );
        return Err(spot.error(node, what, "let `both-from` be a release before `drop-at`"));
    }
    let field = |text: &str| Field::parse(text).map_err(|error| spot.error(node, error.to_string(), FORMAT));
    let (old, new) = (field(&forms.old)?, field(&forms.new)?);
    if old.lists() != new.lists() || old.is_within(&new) || new.is_within(&old) {
        let what = format!("`{old}` and `{new}` cannot hold the same value beside each other");
        return Err(spot.error(node, what, "name two fields below the same lists"));
    }
    let with = |suffix: &str, window: Window, operation: Operation| {
        let mut rule = made.clone();
        rule.rule.id = format!("{}-{suffix}", made.rule.id);
        rule.rule.operations = vec![operation];
        rule.window = window;
        rule
    };
    let write = Window {
        from: Some(forms.both_from),
        by: Some(forms.drop_at.clone()),
        until: Some(forms.drop_at.clone()),
    };
    let drop = Window {
        from: Some(forms.drop_at),
        by: None,
        until: None,
    };
    let (from, to) = (old.clone(), new.clone());
    let move_old = Operation::Move { from: old, to: new };
    Ok([
        with("both", write, Operation::Copy { from, to }),
        with("drop", drop, move_old),
    ])
}

fn conditions(spot: Spot<'_>, node: NodeRef<'_>) -> Result<Vec<Condition>, Error> {
    let items = node.get("when").into_iter().flat_map(NodeRef::items);
    items
        .map(|item| {
            let remedy = "use `present`, `absent`, `equal`, `matching`, `version`, `wanted`, `any` and `not`";
            let text: ConditionText = spot.of(item, remedy)?;
            text.condition().map_err(|what| spot.error(item, what, remedy))
        })
        .collect()
}

fn operations(spot: Spot<'_>, node: NodeRef<'_>) -> Result<Vec<Operation>, Error> {
    let items = node.get("do").into_iter().flat_map(NodeRef::items);
    items
        .map(|item| {
            let name = item
                .text()
                .or_else(|| item.entries().next().and_then(|(key, _)| key.text()));
            if !name.is_some_and(|name| OPERATIONS.contains(&name)) {
                let what = format!("unknown operation `{}`", name.unwrap_or_default());
                return Err(spot.error(item, what, &format!("use one of {}", OPERATIONS.join(", "))));
            }
            let text: OperationText = spot.of(item, FORMAT)?;
            text.operation().map_err(|what| spot.error(item, what, FORMAT))
        })
        .collect()
}
