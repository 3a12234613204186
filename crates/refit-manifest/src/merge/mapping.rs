//! Merges mappings by key.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::elements::Places;
use super::expect::Expect;
use super::merger::{Choice, Holder, Merger, Proposal, Three, short};
use super::value::only_removals;
use crate::decision::{Outcome, Rule};
use crate::elements::{self, Element, Spot};
use crate::parse::{Kind, Layout, NodeRef, canonical, same, view};
use crate::{layout, render};

type Keyed<'a> = HashMap<&'a str, NodeRef<'a>>;

/// The mapping's entries on the sides, and what becomes of those of ours.
struct Work<'a> {
    three: Three<'a>,
    layout: Layout,
    written: Vec<(&'a str, NodeRef<'a>, NodeRef<'a>)>,
    all: Vec<Element<'a>>,
    gone: Vec<bool>,
    own: Vec<bool>,
    base: Keyed<'a>,
    theirs: Keyed<'a>,
    result: Vec<(String, Expect<'a>)>,
}

impl<'a> Merger<'a> {
    /// Merges a mapping of ours that has entries with a mapping of theirs.
    pub(super) fn mapping(&mut self, three: Three<'a>) -> Expect<'a> {
        let Kind::Mapping(layout) = three.ours.kind() else {
            return Expect::Node(three.ours);
        };
        let keyed = |node: NodeRef<'a>| view(node).into_iter().collect::<Keyed<'a>>();
        let written: Vec<_> = three
            .ours
            .entries()
            .map(|(key, value)| (key.text().unwrap_or_else(|| key.source()), key, value))
            .collect();
        let count = written.len();
        let mut work = Work {
            three,
            layout,
            written,
            all: elements::elements(three.ours),
            gone: vec![false; count],
            own: vec![false; count],
            base: three.base.map(keyed).unwrap_or_default(),
            theirs: keyed(three.theirs),
            result: Vec::new(),
        };
        self.refuse_changed_doubles(three);
        self.entries_of_ours(&mut work);
        self.inherited_entries(&mut work);
        let added = self.entries_of_theirs(&mut work);
        self.follow_leads(three);
        self.finish_mapping(work, added)
    }

    /// Blocks a mapping in which theirs changed a key that stands twice: which of the two is meant cannot be told.
    fn refuse_changed_doubles(&mut self, three: Three<'a>) {
        let Some(base) = three.base else { return };
        let (old, new) = (doubles(base), doubles(three.theirs));
        if old != new {
            let name = new.keys().chain(old.keys()).next().copied().unwrap_or_default();
            self.block(format!(
                "the key `{name}` stands twice in a mapping that the upgrade must change"
            ));
        }
    }

    fn entries_of_ours(&mut self, work: &mut Work<'a>) {
        let mut places: HashMap<&str, (usize, usize)> = HashMap::with_capacity(work.written.len());
        for (index, (name, ..)) in work.written.iter().enumerate() {
            places
                .entry(name)
                .and_modify(|place| place.1 = index)
                .or_insert((index, index));
        }
        for index in 0..work.written.len() {
            let (name, key, ours) = work.written[index];
            let (first, last) = places.get(name).copied().unwrap_or((index, index));
            if name == "<<" || last != index {
                continue;
            }
            let repeated = first != last;
            let before = self.splices.len();
            let (base, theirs) = (work.base.get(name).copied(), work.theirs.get(name).copied());
            let holder = Holder::Key(key, work.layout);
            let kept = self.within(name.to_owned(), |merger| merger.entry(holder, base, ours, theirs));
            match kept {
                Some(value) => work.result.push((name.to_owned(), value)),
                None => work.gone[index] = true,
            }
            work.own[index] = base.is_none() && theirs.is_none();
            if repeated && (self.splices.len() > before || work.gone[index]) {
                self.block(format!(
                    "the key `{name}` stands twice in a mapping that the upgrade must change"
                ));
            }
        }
    }

    /// Merges one entry that ours has; `None` when it goes.
    fn entry(
        &mut self,
        holder: Holder<'a>,
        base: Option<NodeRef<'a>>,
        ours: NodeRef<'a>,
        theirs: Option<NodeRef<'a>>,
    ) -> Option<Expect<'a>> {
        match (base, theirs) {
            (_, Some(theirs)) => Some(self.value(Three {
                holder,
                base,
                ours,
                theirs,
            })),
            (None, None) => Some(Expect::Node(ours)),
            (Some(base), None) => self.removed(base, ours),
        }
    }

    /// Decides on an entry or item that theirs removed; `None` when it goes.
    pub(super) fn removed(&mut self, base: NodeRef<'a>, ours: NodeRef<'a>) -> Option<Expect<'a>> {
        let (rule, outcome, choice, message) = if same(base, ours) {
            let (rule, outcome) = self.rule_of_change(Rule::Removed);
            (rule, outcome, Choice::Theirs, format!("{} removed", short(ours)))
        } else if only_removals(base, ours) {
            let text = "the new version removed it, and with it what you had taken out".to_owned();
            (Rule::Removed, Outcome::Noted, Choice::Theirs, text)
        } else {
            let text = format!(
                "the new version removed it; you have {}; kept yours, choose with `refit resolve <id>`",
                short(ours)
            );
            (Rule::RemovedUpstream, Outcome::Conflict, Choice::Ours, text)
        };
        let proposal = Proposal {
            rule,
            outcome,
            base: Some(base),
            ours: Some(ours),
            theirs: None,
            choice,
            message,
        };
        match self.decide(proposal) {
            Choice::Theirs => None,
            Choice::Ours => Some(Expect::Node(ours)),
            Choice::Value(_) => {
                self.block("a removal can only be answered with ours or theirs");
                Some(Expect::Node(ours))
            }
        }
    }

    /// Merges what ours only has through `<<`: it is overridden where theirs changed it, never edited at its anchor.
    fn inherited_entries(&mut self, work: &mut Work<'a>) {
        let written: HashSet<&str> = work.written.iter().map(|(name, ..)| *name).collect();
        let inherited: Vec<_> = view(work.three.ours)
            .into_iter()
            .filter(|(name, _)| !written.contains(name))
            .collect();
        let merged = |node: NodeRef<'a>| {
            node.entries()
                .find(|(key, _)| key.text() == Some("<<"))
                .map(|(_, value)| value.source())
        };
        let follows = merged(work.three.ours) == merged(work.three.theirs);
        for (name, ours) in inherited {
            if follows {
                work.result.push((name.to_owned(), Expect::Inherited));
                continue;
            }
            let (base, theirs) = (work.base.get(name).copied(), work.theirs.get(name).copied());
            let unchanged = match (base, theirs) {
                (Some(base), Some(theirs)) => same(base, theirs) || same(ours, theirs),
                (None, Some(theirs)) => same(ours, theirs),
                (_, None) => base.is_none(),
            };
            let kept = match theirs {
                Some(theirs) if !unchanged => {
                    let holder = Holder::Root;
                    self.within(name.to_owned(), |merger| {
                        merger.conflict(Three {
                            holder,
                            base,
                            ours,
                            theirs,
                        });
                    });
                    self.block_answered("a value that comes through `<<` must be changed at its anchor by hand");
                    Expect::Node(ours)
                }
                _ => Expect::Node(ours),
            };
            work.result.push((name.to_owned(), kept));
        }
    }

    /// Blocks when the newest decision was answered with anything but ours.
    fn block_answered(&mut self, reason: &str) {
        let answer = self.decisions.last().and_then(|decision| decision.answer.as_ref());
        if answer.is_some_and(|answer| *answer != crate::decision::Answer::Ours) {
            self.block(reason);
        }
    }

    /// Inserts the entries that theirs brings; gives how many.
    fn entries_of_theirs(&mut self, work: &mut Work<'a>) -> usize {
        let theirs: Vec<_> = work.three.theirs.entries().collect();
        let position: HashMap<&str, usize> = work
            .written
            .iter()
            .enumerate()
            .map(|(index, (name, ..))| (*name, index))
            .collect();
        let in_ours: Vec<Option<usize>> = theirs
            .iter()
            .map(|(key, _)| position.get(key.text().unwrap_or_default()).copied())
            .collect();
        let places = Places::new(&in_ours, &work.own);
        let inherited: HashSet<&str> = view(work.three.ours).into_iter().map(|(name, _)| name).collect();
        let mut added = 0;
        let mut floor = layout::line_start(work.three.theirs.bytes(), work.three.theirs.span().start);
        for (index, (key, value)) in theirs.iter().enumerate() {
            let name = key.text().unwrap_or_else(|| key.source());
            let known = in_ours[index].is_some() || inherited.contains(name);
            if !known && name != "<<" {
                let base = work.base.get(name).copied();
                let wanted = self.within(name.to_owned(), |merger| merger.missing(base, *value));
                if wanted {
                    let spot = places.spot(index);
                    self.insert_entry(work, (*key, *value), floor, spot);
                    work.result.push((name.to_owned(), Expect::Node(*value)));
                    added += 1;
                }
            }
            floor = layout::after(*value);
        }
        added
    }

    /// Decides on an entry or item of theirs that ours lacks; `true` when it goes in.
    pub(super) fn missing(&mut self, base: Option<NodeRef<'a>>, theirs: NodeRef<'a>) -> bool {
        if base.is_some_and(|base| same(base, theirs)) {
            return false;
        }
        let (rule, outcome, choice, message) = match base {
            None => {
                let (rule, outcome) = self.rule_of_change(Rule::Added);
                (
                    rule,
                    outcome,
                    Choice::Theirs,
                    format!("{} added{}", short(theirs), self.beside_own_arguments()),
                )
            }
            Some(base) => {
                let change = format!("{} -> {}", change_of(base, theirs).0, change_of(base, theirs).1);
                let text = format!(
                    "removed by you; the change of the new version ({change}) was not applied; take it with `refit \
                     resolve <id> theirs`"
                );
                (Rule::DeletionKept, Outcome::Noted, Choice::Ours, text)
            }
        };
        let choice = self.decide(Proposal {
            rule,
            outcome,
            base,
            ours: None,
            theirs: Some(theirs),
            choice,
            message,
        });
        match choice {
            Choice::Theirs => true,
            Choice::Ours => false,
            Choice::Value(_) => {
                self.block("a deletion can only be answered with ours or theirs");
                false
            }
        }
    }

    fn insert_entry(&mut self, work: &Work<'a>, entry: (NodeRef<'a>, NodeRef<'a>), floor: usize, spot: Option<Spot>) {
        let (key, value) = entry;
        let Some(spot) = spot else {
            return self.block("no place for a new key");
        };
        match work.layout {
            Layout::Block => {
                let column = layout::column(work.three.ours.bytes(), work.all[0].start);
                let lines = match key.kind() {
                    _ if layout::first_on_line(key.bytes(), key.full_span().start) || is_dashed(key) => {
                        render::entry(key, value, floor, self.target(column))
                    }
                    _ => {
                        let text = render::flow(value, self.notation);
                        format!("{:column$}{}: {text}\n", "", render::flow_key(key, self.notation))
                    }
                };
                self.insert_block(&work.all, spot, &lines);
            }
            Layout::Flow => {
                let key = render::flow_key(key, self.notation);
                let text = format!("{key}: {}", render::flow(value, self.notation));
                self.insert_flow(&work.all, spot, &text);
            }
        }
    }

    fn finish_mapping(&mut self, work: Work<'a>, added: usize) -> Expect<'a> {
        let remains = work.gone.iter().any(|gone| !gone);
        let compact = !layout::first_on_line(work.three.ours.bytes(), work.all[0].start);
        if remains || (added > 0 && work.layout == Layout::Block && !compact) {
            self.remove(work.layout, &work.all, &work.gone);
        } else if added == 0 {
            self.empty(work.three.holder, work.three.ours);
        } else {
            self.block("every key of a mapping that stands on one line changed");
        }
        Expect::Mapping(work.result)
    }
}

/// Gives the keys that stand more than once, with all their values.
fn doubles(node: NodeRef<'_>) -> BTreeMap<&str, Vec<String>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (key, _) in node.entries() {
        *counts.entry(key.text().unwrap_or_default()).or_default() += 1;
    }
    let mut out: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    if counts.len() == node.entries().len() {
        return out;
    }
    for (key, value) in node.entries() {
        let name = key.text().unwrap_or_default();
        if counts.get(name).is_some_and(|count| *count > 1) {
            out.entry(name).or_default().push(canonical(value));
        }
    }
    out
}

/// Tells whether a key stands directly behind the dash of its item.
fn is_dashed(key: NodeRef<'_>) -> bool {
    let start = key.full_span().start;
    let line = layout::line_start(key.bytes(), start);
    key.bytes()[line..start].iter().all(|byte| matches!(byte, b' ' | b'-'))
}

/// Gives the first values that differ, for a message.
fn change_of(base: NodeRef<'_>, theirs: NodeRef<'_>) -> (String, String) {
    let differing = view(theirs).into_iter().find_map(|(key, new)| {
        let old = base.get(key)?;
        (!same(old, new)).then_some((old, new))
    });
    match differing {
        Some((old, new)) => change_of(old, new),
        None => (short(base), short(theirs)),
    }
}
