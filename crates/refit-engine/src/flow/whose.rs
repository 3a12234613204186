//! To which clusters an upgrade belongs, whatever they were called when it began.
//!
//! In: records, notes and branches of upgrades. Out: the clusters as they are called now, found by the ids that are computed
//! from their directories, then by a record's directory, then by name.

use refit_core::inventory::Group;
use refit_core::plan::{self, BRANCHES};
use refit_core::record::{Note, Record};
use refit_core::release::Version;
use refit_core::report::Next;

use super::ground::{Flow, Ground};
use super::notes;
use super::observe::{self, Open};
use crate::ports::{ChangeRequest, RequestState};
use crate::{Error, Way};

/// Gives the clusters that a record is about; none where they are gone.
pub(super) fn of_record(ground: &Ground, record: &Record) -> Vec<String> {
    same(ground, &record.upgrade, |group| {
        plan::recorded_id(&ground.base.branch, group, record)
    })
    .unwrap_or_else(|| {
        let clusters = ground.inventory.clusters.iter();
        let about = clusters.filter(|cluster| record.is_about(&cluster.root.directory, &cluster.root.name));
        about.map(|cluster| cluster.root.name.clone()).collect()
    })
}

/// Gives the clusters that a note is about; by its names where they are another group by now.
pub(super) fn of_note(ground: &Ground, note: &Note) -> Vec<String> {
    let target = match &note.rolled_back {
        Some(undone) => plan::rollback_target(undone),
        None => format!("{}@{}", note.platform, note.to),
    };
    same(ground, &note.upgrade, |group| {
        plan::upgrade_id(&ground.base.branch, group, &target)
    })
    .unwrap_or_else(|| std::iter::once(&note.cluster).chain(&note.with).cloned().collect())
}

fn same(ground: &Ground, upgrade: &str, id: impl Fn(&Group<'_>) -> String) -> Option<Vec<String>> {
    let groups = ground.inventory.groups();
    let own = groups.iter().find(|group| id(group) == upgrade);
    own.map(Group::names)
}

/// Gives the record of a route of which the target branch has some requests and not all, where nobody gave it up: it was
/// cancelled, or its newest request was declined.
pub(super) fn unfinished<'a>(
    flow: Flow<'_>,
    group: &Group<'a>,
    requests: &[ChangeRequest],
) -> Result<Option<&'a Record>, Error> {
    let Flow { ports, ground, .. } = flow;
    let installed = group.main().and_then(|file| file.detection.version.as_ref());
    let goes_on = |record: &&Record| {
        record.goes_on()
            && installed == Some(&record.to)
            && plan::recorded_id(&ground.base.branch, group, record) == record.upgrade
    };
    let Some(record) = group.records().find(goes_on) else {
        return Ok(None);
    };
    let settled = notes::settled(ports, &record.upgrade)?;
    let given_up = settled > 0 && merged(requests, &record.upgrade) <= settled;
    let declined = observe::declined(ports, requests, &record.upgrade)?.is_some();
    Ok((!given_up && !declined).then_some(record))
}

/// Gives the release that the upgrade led to in the end of which a record undid a request; what the record says where no
/// source has that release any more.
pub(super) fn undone(flow: Flow<'_>, group: &Group<'_>, record: &Record) -> Option<Version> {
    let Flow { ports, ground, .. } = flow;
    let undone = record.rolled_back.as_ref()?;
    // The key of a request begins with its upgrade.
    let upgrade = undone.split('/').next().unwrap_or(undone);
    let leads = |version: &&Version| {
        let target = format!("{}@{version}", ports.catalog.platform());
        plan::upgrade_id(&ground.base.branch, group, &target) == upgrade
    };
    let target = ground.versions.iter().find(leads).unwrap_or(&record.from);
    Some(target.clone())
}

/// Gives the releases that a group went back from last: the one that it ran, and the one that the upgrade led to.
pub(super) fn went_back(flow: Flow<'_>, group: &Group<'_>) -> Vec<Version> {
    let Some(record) = group.records().find(|record| record.rolled_back.is_some()) else {
        return Vec::new();
    };
    // What only converted was at one release all the time.
    let ran = (record.from != record.to).then(|| record.from.clone());
    ran.into_iter().chain(undone(flow, group, record)).collect()
}

/// Gives the number of the newest merged request of an upgrade; 0 where none is known.
pub(super) fn merged(requests: &[ChangeRequest], upgrade: &str) -> u64 {
    let mut own = requests
        .iter()
        .filter(|request| request.state == RequestState::Merged && observe::upgrade_of(&request.branch) == upgrade);
    own.next().map(|request| request.number).unwrap_or_default()
}

/// An upgrade that could be proposed for a group.
pub(super) struct Possible {
    pub(super) id: String,
    pub(super) to: Version,
    pub(super) way: Way,
}

/// Lists the upgrades that could be proposed for a group: to what is newer than installed, and back from the last one.
pub(super) fn possible(flow: Flow<'_>, group: &Group<'_>) -> Vec<Possible> {
    let Flow { ports, ground, .. } = flow;
    let installed = group.main().and_then(|file| file.detection.version.as_ref());
    let id = |target: &str| plan::upgrade_id(&ground.base.branch, group, target);
    let newer = ground.versions.iter().rev();
    let newer = newer.filter(|version| Some(*version) > installed);
    let forward = newer.map(|version| Possible {
        id: id(&format!("{}@{version}", ports.catalog.platform())),
        to: version.clone(),
        way: Way::Forward,
    });
    let back = group.records().filter(|record| record.rolled_back.is_none());
    let back = back.map(|record| Possible {
        id: id(&plan::rollback_target(&record.key())),
        to: record.from.clone(),
        way: Way::Back,
    });
    forward.chain(back).collect()
}

/// A branch of an upgrade without an open request: a run was cut between the two, or somebody removed the request.
pub(super) struct Orphan {
    pub(super) branch: String,
    pub(super) to: Version,
    pub(super) way: Way,
    /// Whether no request of the upgrade was there ever, as far as one can see.
    pub(super) unseen: bool,
}

/// Lists the branches of upgrades of a group that have no open request.
pub(super) fn orphans(flow: Flow<'_>, group: &Group<'_>, requests: &[ChangeRequest]) -> Result<Vec<Orphan>, Error> {
    let mut branches = flow.ports.repository.branches(BRANCHES)?;
    let has_request = |branch: &String| {
        let mut open = requests.iter().filter(|request| observe::is_open(request));
        open.any(|request| request.branch == *branch)
    };
    branches.retain(|branch| !has_request(branch));
    if branches.is_empty() {
        return Ok(Vec::new());
    }
    let possible = possible(flow, group);
    let orphan = |branch: String| {
        let upgrade = observe::upgrade_of(&branch);
        let own = possible.iter().find(|possible| possible.id == upgrade)?;
        let of_upgrade = |request: &ChangeRequest| {
            observe::upgrade_of(&request.branch) == upgrade
                && observe::index_of(&request.branch) == observe::index_of(&branch)
        };
        Some(Orphan {
            unseen: !requests.iter().any(of_upgrade),
            to: own.to.clone(),
            way: own.way,
            branch,
        })
    };
    Ok(branches.into_iter().filter_map(orphan).collect())
}

/// Gives the branch that a request of an upgrade has already, under whatever words.
pub(super) fn branch_of(flow: Flow<'_>, (upgrade, index): (&str, usize)) -> Result<Option<String>, Error> {
    let branches = flow.ports.repository.branches(&format!("{BRANCHES}{upgrade}/"))?;
    let mut own = branches.into_iter().filter(|branch| observe::index_of(branch) == index);
    Ok(own.next())
}

/// Lists the open requests whose clusters are gone from the target branch.
pub(super) fn stranded(flow: Flow<'_>) -> Result<Vec<Open>, Error> {
    let mut open = observe::open_with_records(flow)?;
    open.retain(|open| open.clusters.is_empty());
    Ok(open)
}

/// Adds what is to be said of open requests whose clusters are gone, where the user named no cluster.
pub(super) fn tell_stranded(flow: Flow<'_>, message: &mut String, next: &mut Vec<Next>) -> Result<(), Error> {
    if !flow.ask.clusters.is_empty() {
        return Ok(());
    }
    for Open { request, record, .. } in stranded(flow)? {
        message.push_str("; ");
        message.push_str(&is_gone(&request, &record));
        next.push(give_up(&request));
    }
    Ok(())
}

/// Says that the cluster of a request is gone.
pub(super) fn is_gone(request: &ChangeRequest, record: &Record) -> String {
    let (number, cluster, base) = (request.number, &record.cluster, &request.base);
    format!("request {number} is open for cluster `{cluster}`, which `{base}` does not have any more")
}

/// Gives the way out for a request whose cluster is gone.
pub(super) fn give_up(request: &ChangeRequest) -> Next {
    Next::run(format!("refit request close {}", request.number), "close it")
}
