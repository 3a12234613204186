//! Merges lists: by key where items can be told apart, else by place.

use std::collections::HashMap;

use super::diff3::{self, Change, Region};
use super::elements::Places;
use super::expect::Expect;
use super::keys::{Keying, Keys};
use super::leaf::proposal;
use super::merger::{Choice, Holder, Merger, Three};
use crate::decision::{Class, Outcome, Rule};
use crate::elements::{self, Element, Spot};
use crate::parse::{Kind, Layout, NodeRef, canonical, same};
use crate::{layout, render};

/// A list and what becomes of its items.
struct Work<'a> {
    three: Three<'a>,
    layout: Layout,
    all: Vec<Element<'a>>,
    gone: Vec<bool>,
    result: Vec<Slot<'a>>,
    added: usize,
}

/// The items of the sides by their places, and what was inserted behind each item of ours.
struct Lists<'a> {
    base: Vec<NodeRef<'a>>,
    ours: Vec<NodeRef<'a>>,
    theirs: Vec<NodeRef<'a>>,
    inserted: Vec<Vec<NodeRef<'a>>>,
}

/// The items of the sides by their keys.
struct Keyed<'a> {
    ours: Vec<(String, NodeRef<'a>)>,
    theirs: Vec<(String, NodeRef<'a>)>,
    base: HashMap<String, NodeRef<'a>>,
    /// Which items of ours neither base nor theirs has.
    own: Vec<bool>,
}

/// One place of the result.
enum Slot<'a> {
    /// An item of ours, by index.
    Ours(Expect<'a>),
    Gone,
}

impl<'a> Merger<'a> {
    /// Merges a list of ours that has items with a list of theirs.
    pub(super) fn sequence(&mut self, three: Three<'a>) -> Expect<'a> {
        let Kind::Sequence(layout) = three.ours.kind() else {
            return Expect::Node(three.ours);
        };
        let base = three
            .base
            .filter(|base| matches!(base.target().kind(), Kind::Sequence(_)));
        let mut sides = vec![three.ours, three.theirs];
        sides.extend(base);
        let keys = Keys::of(&self.settings.lists, &self.list_place(), &sides);
        let three = Three { base, ..three };
        let all = elements::elements(three.ours);
        let work = Work {
            three,
            layout,
            gone: vec![false; all.len()],
            all,
            result: Vec::new(),
            added: 0,
        };
        let untouched = base.is_some_and(|base| same(base, three.ours));
        match keys.keying {
            Keying::Sequence => self.by_place(work),
            _ if untouched && !in_one_order(&keys, three.ours, three.theirs) => self.by_place(work),
            _ => self.by_key(work, &keys),
        }
    }

    fn by_key(&mut self, mut work: Work<'a>, keys: &Keys) -> Expect<'a> {
        let outer = self.own_arguments.take();
        let keyed = |node: NodeRef<'a>| -> Vec<(String, NodeRef<'a>)> {
            node.items().filter_map(|item| Some((keys.key(item)?, item))).collect()
        };
        let mut sides = Keyed {
            ours: keyed(work.three.ours),
            theirs: keyed(work.three.theirs),
            base: work.three.base.map(keyed).unwrap_or_default().into_iter().collect(),
            own: Vec::new(),
        };
        if keys.keying == Keying::Flag {
            self.own_arguments = own_arguments(&work.three);
        }
        let by_key: HashMap<&str, NodeRef<'a>> = sides.theirs.iter().map(|(key, item)| (key.as_str(), *item)).collect();
        for (index, (key, item)) in sides.ours.iter().enumerate() {
            let (old, new) = (sides.base.get(key).copied(), by_key.get(key.as_str()).copied());
            sides.own.push(old.is_none() && new.is_none());
            let holder = Holder::Item(work.layout);
            let kept = self.within(format!("[{key}]"), |merger| match (old, new) {
                (_, Some(theirs)) => Some(merger.value(Three {
                    holder,
                    base: old,
                    ours: *item,
                    theirs,
                })),
                (None, None) => Some(Expect::Node(*item)),
                (Some(base), None) => merger.removed(base, *item),
            });
            work.gone[index] = kept.is_none();
            work.result.push(kept.map_or(Slot::Gone, Slot::Ours));
        }
        let out = self.items_of_theirs(&mut work, &sides);
        self.own_arguments = outer;
        self.finish_sequence(&work);
        out
    }

    /// Inserts the items that theirs brings, and gives the whole result.
    fn items_of_theirs(&mut self, work: &mut Work<'a>, sides: &Keyed<'a>) -> Expect<'a> {
        let Keyed {
            ours,
            theirs,
            base,
            own,
        } = sides;
        let all = ours.len();
        let position: HashMap<&str, usize> = ours
            .iter()
            .enumerate()
            .map(|(index, (key, _))| (key.as_str(), index))
            .collect();
        let in_ours: Vec<Option<usize>> = theirs
            .iter()
            .map(|(key, _)| position.get(key.as_str()).copied())
            .collect();
        let places = Places::new(&in_ours, own);
        let mut inserted: Vec<Vec<NodeRef<'a>>> = vec![Vec::new(); all + 1];
        for (index, (key, item)) in theirs.iter().enumerate() {
            if in_ours[index].is_some() {
                continue;
            }
            let old = base.get(key).copied();
            if self.within(format!("[{key}]"), |merger| merger.missing(old, *item)) {
                match places.spot(index) {
                    Some(spot) => {
                        self.insert_item(work, *item, floor_of(theirs, index, work.three.theirs), spot);
                        inserted[slot_of(spot)].push(*item);
                    }
                    None => self.block("no place for a new list item"),
                }
            }
        }
        assemble(std::mem::take(&mut work.result), inserted)
    }

    /// Merges a list without keys by comparing sequences.
    fn by_place(&mut self, mut work: Work<'a>) -> Expect<'a> {
        let Three { base, ours, theirs, .. } = work.three;
        let Some(base) = base else {
            return self.conflict(work.three);
        };
        let mut lists = Lists {
            base: base.items().collect(),
            ours: ours.items().collect(),
            theirs: theirs.items().collect(),
            inserted: vec![Vec::new(); ours.items().len() + 1],
        };
        let [b, o, t] = numbered(&lists.base, &lists.ours, &lists.theirs);
        let regions = diff3::compare(&b, &o, &t);
        if regions.iter().any(|region| self.needs_a_person(region, &lists)) {
            return self.whole_list(work.three);
        }
        work.result = lists.ours.iter().map(|item| Slot::Ours(Expect::Node(*item))).collect();
        for region in regions {
            match region.change {
                Change::None | Change::Ours | Change::Agreed => {}
                Change::Theirs | Change::Both if is_paired(&region) => self.pairs(&mut work, &region, &lists),
                Change::Theirs => {
                    let (rule, outcome) = self.rule_of_change(Rule::TheirsChanged);
                    let message = counted(region.base.len(), region.theirs.len());
                    self.decide(proposal(work.three, rule, outcome, Choice::Theirs, message));
                    for index in region.ours.clone() {
                        work.gone[index] = true;
                        work.result[index] = Slot::Gone;
                    }
                    self.insert_run(&mut work, &region, &mut lists);
                }
                Change::Both => {
                    let (yours, new) = (region.ours.len(), region.theirs.len());
                    let message = format!("{yours} of yours and {new} of the new version, both kept");
                    let (rule, choice) = (Rule::Added, Choice::Theirs);
                    self.decide(proposal(work.three, rule, Outcome::Noted, choice, message));
                    self.insert_run(&mut work, &region, &mut lists);
                }
            }
        }
        let out = assemble(std::mem::take(&mut work.result), lists.inserted);
        self.finish_sequence(&work);
        out
    }

    /// Tells whether both sides changed items in a way that no rule can join.
    fn needs_a_person(&self, region: &Region, lists: &Lists<'a>) -> bool {
        let sides = [
            &lists.base[region.base.clone()],
            &lists.ours[region.ours.clone()],
            &lists.theirs[region.theirs.clone()],
        ];
        let maps = sides
            .iter()
            .all(|side| side.iter().all(|item| matches!(item.target().kind(), Kind::Mapping(_))));
        let contract = self.class() == Class::Contract;
        match (region.change, maps) {
            (Change::Both, true) => !region.base.is_empty() && (contract || !is_paired(region)),
            (Change::Both, false) => !region.base.is_empty() || contract,
            _ => false,
        }
    }

    /// Merges items that stand for each other one by one.
    fn pairs(&mut self, work: &mut Work<'a>, region: &Region, lists: &Lists<'a>) {
        if region.change == Change::Both {
            let message = "items that both sides changed were matched by their place".to_owned();
            self.decide(proposal(
                work.three,
                Rule::Heuristic,
                Outcome::Noted,
                Choice::Theirs,
                message,
            ));
        }
        for offset in 0..region.ours.len() {
            let index = region.ours.start + offset;
            let three = Three {
                holder: Holder::Item(work.layout),
                base: Some(lists.base[region.base.start + offset]),
                ours: lists.ours[index],
                theirs: lists.theirs[region.theirs.start + offset],
            };
            let value = self.within(format!("[{index}]"), |merger| merger.value(three));
            work.result[index] = Slot::Ours(value);
        }
    }

    /// Decides on a list as one value.
    fn whole_list(&mut self, three: Three<'a>) -> Expect<'a> {
        if self.class() == Class::Sizing {
            let message = "kept your list; the new version has another".to_owned();
            return self.ask(three, Rule::SizingKept, Outcome::Noted, message);
        }
        self.conflict(three)
    }

    fn insert_run(&mut self, work: &mut Work<'a>, region: &Region, lists: &mut Lists<'a>) {
        let spot = match region.ours.end {
            0 => Spot::Before(0),
            end => Spot::After(end - 1),
        };
        for index in region.theirs.clone() {
            let item = lists.theirs[index];
            self.insert_item(work, item, item.full_span().start, spot);
            lists.inserted[slot_of(spot)].push(item);
        }
    }

    fn insert_item(&mut self, work: &mut Work<'a>, item: NodeRef<'a>, floor: usize, spot: Spot) {
        work.added += 1;
        match work.layout {
            Layout::Block => {
                let column = layout::column(work.three.ours.bytes(), work.all[0].start);
                let in_block = work.three.theirs.target().kind() == Kind::Sequence(Layout::Block);
                let lines = if in_block {
                    render::item(item, floor, self.target(column))
                } else {
                    format!("{:column$}- {}\n", "", render::flow(item, self.notation))
                };
                self.insert_block(&work.all, spot, &lines);
            }
            Layout::Flow => {
                let text = render::flow(item, self.notation);
                self.insert_flow(&work.all, spot, &text);
            }
        }
    }

    fn finish_sequence(&mut self, work: &Work<'a>) {
        let compact = !layout::first_on_line(work.three.ours.bytes(), work.all[0].start);
        let remains = work.gone.iter().any(|gone| !gone);
        if remains || (work.added > 0 && work.layout == Layout::Block && !compact) {
            self.remove(work.layout, &work.all, &work.gone);
        } else if work.added == 0 {
            self.empty(work.three.holder, work.three.ours);
        } else {
            self.block("every item of a list that stands on one line changed");
        }
    }
}

/// Tells whether the items of a region stand for each other one by one.
fn is_paired(region: &Region) -> bool {
    let pairs = region.ours.len();
    pairs > 0 && pairs == region.theirs.len() && pairs == region.base.len()
}

/// Tells whether the items that two lists share stand in the same order.
fn in_one_order(keys: &Keys, ours: NodeRef<'_>, theirs: NodeRef<'_>) -> bool {
    let own: Vec<String> = ours.items().filter_map(|item| keys.key(item)).collect();
    let new: Vec<String> = theirs.items().filter_map(|item| keys.key(item)).collect();
    let position: HashMap<&str, usize> = own
        .iter()
        .enumerate()
        .map(|(index, key)| (key.as_str(), index))
        .collect();
    let shared: Vec<usize> = new
        .iter()
        .filter_map(|key| position.get(key.as_str()).copied())
        .collect();
    shared.is_sorted()
}

/// Lists the arguments of ours that base lacks or has otherwise; `None` when ours never changed the list.
fn own_arguments(three: &Three<'_>) -> Option<String> {
    let base = three.base.filter(|base| !same(*base, three.ours))?;
    let own = three
        .ours
        .items()
        .filter(|item| !base.items().any(|old| same(old, *item)));
    let shown: Vec<&str> = own.filter_map(NodeRef::text).collect();
    Some(if shown.is_empty() {
        "list without what you removed".to_owned()
    } else {
        shown.join(" ")
    })
}

/// Gives the place in the result: before the first item, or behind an item.
fn slot_of(spot: Spot) -> usize {
    match spot {
        Spot::After(index) => index + 1,
        Spot::Before(index) => index,
    }
}

fn assemble<'a>(slots: Vec<Slot<'a>>, mut inserted: Vec<Vec<NodeRef<'a>>>) -> Expect<'a> {
    let mut out: Vec<Expect<'a>> = inserted[0].drain(..).map(Expect::Node).collect();
    for (index, slot) in slots.into_iter().enumerate() {
        if let Slot::Ours(value) = slot {
            out.push(value);
        }
        out.extend(inserted[index + 1].drain(..).map(Expect::Node));
    }
    Expect::Sequence(out)
}

fn floor_of(theirs: &[(String, NodeRef<'_>)], index: usize, list: NodeRef<'_>) -> usize {
    match index.checked_sub(1) {
        Some(before) => layout::after(theirs[before].1),
        None => layout::line_start(list.bytes(), list.span().start),
    }
}

fn counted(before: usize, after: usize) -> String {
    match (before, after) {
        (0, added) => format!("{added} items added"),
        (removed, 0) => format!("{removed} items removed"),
        (before, after) => format!("{before} items replaced by {after}"),
    }
}

/// Gives equal items of the three sides equal numbers.
fn numbered(base: &[NodeRef<'_>], ours: &[NodeRef<'_>], theirs: &[NodeRef<'_>]) -> [Vec<usize>; 3] {
    let mut known: HashMap<String, usize> = HashMap::new();
    [base, ours, theirs].map(|side| {
        side.iter()
            .map(|node| {
                let next = known.len();
                *known.entry(canonical(*node)).or_insert(next)
            })
            .collect()
    })
}
