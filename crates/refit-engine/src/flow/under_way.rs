//! Which upgrades are under way, and what to ask for to plan them again.
//!
//! In: open requests with their records, confirmed notes. Out: one [`Way`] per cluster, its newest open request before
//! its newest note whose target is not installed yet, before a branch whose request is missing.

use std::collections::BTreeMap;

use refit_core::finding::Acceptance;
use refit_core::inventory::Group;
use refit_core::record::{Note, Record};
use refit_core::release::Version;

use super::ground::{Flow, Pick, Picked};
use super::observe::Open;
use super::prepare::Planned;
use super::shown;
use super::{notes, observe, whose};
use crate::ports::ChangeRequest;
use crate::{Ask, Error, Target};

/// The upgrades of a target branch that are under way.
pub(super) struct UnderWay {
    /// The open requests, newest first.
    pub(super) open: Vec<Open>,
    /// All requests, newest first.
    pub(super) requests: Vec<ChangeRequest>,
    ways: BTreeMap<String, Way>,
}

/// An upgrade under way.
#[derive(Clone)]
pub(super) struct Way {
    to: Version,
    accepted: Vec<Acceptance>,
    way: crate::Way,
}

impl Way {
    /// Gives the way of a request by the record that it brings.
    pub(super) fn of_record(record: &Record) -> Self {
        Self {
            to: match record.rolled_back {
                Some(_) => record.to.clone(),
                None => record.target().clone(),
            },
            accepted: record.accepted.clone(),
            way: direction(record.rolled_back.as_ref()),
        }
    }

    /// Gives the way of what is left of a route whose last merged request brought a record; what was accepted was about that.
    fn of_rest(record: &Record) -> Self {
        Self {
            accepted: Vec::new(),
            ..Self::of_record(record)
        }
    }

    fn of_branch(orphan: &whose::Orphan) -> Self {
        Self {
            to: orphan.to.clone(),
            accepted: Vec::new(),
            way: orphan.way,
        }
    }

    fn of_note(note: &Note) -> Self {
        Self {
            to: note.to.clone(),
            accepted: note.accepted.clone(),
            way: direction(note.rolled_back.as_ref()),
        }
    }
}

fn direction(undone: Option<&String>) -> crate::Way {
    if undone.is_some() {
        crate::Way::Back
    } else {
        crate::Way::Forward
    }
}

/// A group of clusters with what to ask for to plan its upgrade.
pub(super) struct Asked<'a> {
    pub(super) picked: Picked<'a>,
    pub(super) ask: Ask,
}

/// Looks for the upgrades under way.
pub(super) fn look(flow: Flow<'_>) -> Result<UnderWay, Error> {
    let open = observe::open_with_records(flow)?;
    let mut ways = BTreeMap::new();
    for Open { record, clusters, .. } in &open {
        let way = || Way::of_record(record);
        for name in clusters {
            ways.entry(name.clone()).or_insert_with(way);
        }
    }
    let clusters = &flow.ground.inventory.clusters;
    let installed: BTreeMap<&str, &Version> = clusters
        .iter()
        .filter_map(|cluster| Some((&*cluster.root.name, cluster.main()?.detection.version.as_ref()?)))
        .collect();
    let is_installed = |note: &Note| {
        let names = whose::of_note(flow.ground, note);
        let version = names.first().and_then(|name| installed.get(&**name));
        version.is_some_and(|version| match note.rolled_back {
            Some(_) => **version == note.to,
            None => **version >= note.to,
        })
    };
    let mut notes = notes::all(flow.ports)?;
    notes.retain(|note| note.confirmed && note.branch == flow.ground.base.branch && !is_installed(note));
    let requests = flow.ports.forge.list()?;
    let mut declined = Vec::new();
    for note in &notes {
        declined.push(observe::declined(flow.ports, &requests, &note.upgrade)?.is_some());
    }
    // Nobody goes on with what somebody said no to.
    let mut no = declined.into_iter();
    notes.retain(|_| !no.next().unwrap_or_default());
    notes.sort_by_key(|note| std::cmp::Reverse(note.asked));
    for note in &notes {
        let way = || Way::of_note(note);
        for name in whose::of_note(flow.ground, note) {
            ways.entry(name).or_insert_with(way);
        }
    }
    for group in flow.ground.inventory.groups() {
        let orphans = whose::orphans(flow, &group, &requests)?;
        if let Some(orphan) = orphans.iter().find(|orphan| orphan.unseen) {
            for name in group.names() {
                ways.entry(name).or_insert_with(|| Way::of_branch(orphan));
            }
        }
    }
    for group in flow.ground.inventory.groups() {
        if let Some(record) = whose::unfinished(flow, &group, &requests)? {
            for name in group.names() {
                ways.entry(name).or_insert_with(|| Way::of_rest(record));
            }
        }
    }
    Ok(UnderWay { open, requests, ways })
}

impl UnderWay {
    /// Lists the open requests that are about one of some clusters.
    pub(super) fn open_of(&self, clusters: &[String]) -> Vec<&Open> {
        self.open.iter().filter(|open| open.is_about(clusters)).collect()
    }

    /// Gives what to ask for to plan the upgrade of a group again.
    pub(super) fn of(&self, ask: &Ask, group: &Group<'_>) -> Option<Ask> {
        let names = group.names();
        let way = names.iter().find_map(|name| self.ways.get(name))?;
        Some(again(ask, &names, way))
    }

    /// Gives the upgrades under way of the groups that the user named, or of all.
    pub(super) fn all<'a>(&self, flow: Flow<'a>) -> Result<Vec<Asked<'a>>, Error> {
        let asked = |picked: Picked<'a>| {
            let ask = self.of(flow.ask, &picked.group)?;
            Some(Asked {
                picked: picked.whole(),
                ask,
            })
        };
        Ok(flow.picked()?.into_iter().filter_map(asked).collect())
    }
}

/// Gives the upgrades under way that the user means: all that were named; of those that were not, the only one.
pub(super) fn meant(flow: Flow<'_>) -> Result<Vec<Asked<'_>>, Error> {
    let all = look(flow)?.all(flow)?;
    if all.len() > 1 && !flow.names_clusters() {
        let mut names: Vec<String> = all.iter().flat_map(|asked| asked.picked.group.names()).collect();
        names.sort_unstable();
        return Err(Error::Usage {
            message: format!("upgrades of `{}` are under way", names.join("`, `")),
            remedy: "name one with `--cluster NAME`, or take all with `--all-clusters`".to_owned(),
        });
    }
    Ok(all)
}

/// What a flow looks at that takes upgrades under way before plans.
pub(super) enum Meant<'a> {
    /// These groups.
    Groups(Vec<Asked<'a>>),
    /// An answer about the repository as a whole: clusters to choose from, or none.
    Whole(Box<Planned>),
}

/// Gives the groups that the user means, each with its upgrade under way, else with what was asked.
pub(super) fn or_plan(flow: Flow<'_>) -> Result<Meant<'_>, Error> {
    let under_way = meant(flow)?;
    if !under_way.is_empty() && !flow.names_clusters() {
        return Ok(Meant::Groups(under_way));
    }
    match flow.pick()? {
        Pick::Groups(picked) => {
            let mut asked = asked(flow, picked);
            for one in under_way {
                let name = &one.picked.group.first().root.name;
                if let Some(place) = asked.iter_mut().find(|asked| asked.picked.group.has(name)) {
                    *place = one;
                }
            }
            Ok(Meant::Groups(asked))
        }
        Pick::Choose(groups) => Ok(Meant::Whole(shown::choose(flow, &groups).into())),
        Pick::None => Ok(Meant::Whole(shown::nothing_there(flow).into())),
    }
}

/// Gives groups with what the user asked.
pub(super) fn asked<'a>(flow: Flow<'_>, picked: Vec<Picked<'a>>) -> Vec<Asked<'a>> {
    let asked = |picked| Asked {
        picked,
        ask: flow.ask.clone(),
    };
    picked.into_iter().map(asked).collect()
}

/// Asks again for what was asked before.
pub(super) fn again(ask: &Ask, clusters: &[String], way: &Way) -> Ask {
    let mut accept = ask.accept.clone();
    accept.extend(way.accepted.iter().cloned());
    Ask {
        clusters: clusters.to_vec(),
        all_clusters: false,
        target: Target {
            version: Some(way.to.to_string()),
            ..Target::default()
        },
        accept,
        way: way.way,
        ..ask.clone()
    }
}
