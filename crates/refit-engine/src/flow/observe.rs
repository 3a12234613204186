//! What branches, requests and notes say about an upgrade.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::plan::{BRANCHES, Plan};
use refit_core::progress::{Beside, Branch, Content, OpenRequest, Other, Seen};
use refit_core::record::{Note, Record};
use refit_core::release::Version;
use refit_core::request::{self, Block};
use refit_core::snapshot;
use refit_core::stage::Said;
use refit_manifest::Path;

use super::ground::Flow;
use super::prepare::Work;
use super::{notes, pause, people, whose};
use crate::ports::{BlobId, ChangeRequest, CommitId, Draft, Listed, ListedKind, PortErrorKind, RequestState};
use crate::{Error, Ports};

/// An open request of this program with the record on its branch.
pub(super) struct Open {
    pub(super) request: ChangeRequest,
    pub(super) record: Record,
    /// The clusters that it is about, as they are called now.
    pub(super) clusters: Vec<String>,
}

impl Open {
    /// Tells whether it is about one of some clusters.
    pub(super) fn is_about(&self, clusters: &[String]) -> bool {
        self.clusters.iter().any(|name| clusters.contains(name))
    }
}

/// The records that branches bring: those that the target branch does not have so.
#[derive(Debug)]
pub(super) struct Records {
    base: CommitId,
    before: BTreeMap<Path, BlobId>,
    known: RefCell<BTreeMap<CommitId, Option<Record>>>,
}

impl Records {
    /// Starts from what the target branch has.
    pub(super) fn before(base: &CommitId, listed: &[Listed]) -> Self {
        let records = listed.iter().filter(|item| snapshot::is_record(&item.path));
        Self {
            base: base.clone(),
            before: records.map(|item| (item.path.clone(), item.blob.clone())).collect(),
            known: RefCell::default(),
        }
    }

    /// Reads the record that a request brings; of several, which name each other, the first. Where somebody damaged or
    /// removed it, the one that an older commit of the branch brought, or the commit that the program wrote last: which
    /// upgrade a request belongs to is said by its branch.
    pub(super) fn of(&self, ports: &Ports<'_>, request: &ChangeRequest) -> Result<Option<Record>, Error> {
        // A commit never changes.
        if let Some(record) = self.known.borrow().get(&request.head) {
            return Ok(record.clone());
        }
        let record = self.read(ports, request)?;
        self.known.borrow_mut().insert(request.head.clone(), record.clone());
        Ok(record)
    }

    fn read(&self, ports: &Ports<'_>, request: &ChangeRequest) -> Result<Option<Record>, Error> {
        if let Some(record) = self.at(ports, request, &request.head)? {
            return Ok(Some(record));
        }
        let older = ports.repository.commits_between(&self.base, &request.head)?;
        for commit in older.iter().filter(|commit| commit.id != request.head) {
            if let Some(record) = self.at(ports, request, &commit.id)? {
                return Ok(Some(record));
            }
        }
        let Some(block) = request::block(&request.body) else {
            return Ok(None);
        };
        match self.at(ports, request, &CommitId(block.head.into())) {
            Err(Error::Port(error)) if error.kind == PortErrorKind::NotFound => Ok(None),
            found => found,
        }
    }

    /// Reads the record of a request's upgrade at a commit.
    fn at(&self, ports: &Ports<'_>, request: &ChangeRequest, commit: &CommitId) -> Result<Option<Record>, Error> {
        let upgrade = upgrade_of(&request.branch);
        for item in ports.repository.list_below(commit, Record::DIRECTORY)? {
            if snapshot::is_record(&item.path) && self.before.get(&item.path) != Some(&item.blob) {
                let record = Record::read(&ports.repository.read(&item.blob)?);
                // A branch that the target branch left behind still has the older records of other clusters.
                if let Some(own) = record.ok().filter(|record| record.upgrade == upgrade) {
                    return Ok(Some(own));
                }
            }
        }
        Ok(None)
    }
}

/// Looks at everything that belongs to an upgrade.
pub(super) fn look(ports: &Ports<'_>, work: &Work) -> Result<(Seen, Option<ChangeRequest>), Error> {
    let plan = &work.plan;
    let note = notes::read(ports, &plan.upgrade)?;
    let kept = note.as_ref().and_then(|note| note.kept.clone());
    let all = ports.forge.list()?;
    let open = all.iter().filter(|request| is_mine(request, &work.base.branch));
    let (mine, rest): (Vec<_>, Vec<_>) = open.partition(|request| request.branch == plan.branch);
    let own = mine.into_iter().next().cloned();
    let branch = branch(ports, work, own.as_ref(), kept.as_deref())?;
    let is_about = |record: &Record| work.places.iter().any(|place| place.is_of(record));
    let mut others = Vec::new();
    for request in rest {
        let record = work.records.of(ports, request)?;
        if let Some(record) = record.filter(&is_about) {
            others.push(Other {
                number: request.number,
                to: record.target().to_string(),
                branch: request.branch.clone(),
                people: people::Branch::read(ports, &work.base.commit, &request.head, Some(request))?.lines(),
                beside: beside(plan, &record),
            });
        }
    }
    let wanted = match (&branch, &own) {
        (Some(branch), Some(_)) => Some(draft(work, &CommitId(branch.head.as_str().into()))?),
        _ => None,
    };
    let request = own.as_ref().map(|own| OpenRequest {
        number: own.number,
        current: wanted.is_some_and(|wanted| is_current(own, &wanted)),
    });
    let lost = lost_of(ports, work, &all)?;
    let seen = Seen {
        branch,
        request,
        others,
        unnoted: is_unheard(note.as_ref(), &work.said),
        confirmed: note.is_some_and(|note| note.confirmed),
        opened: None,
        declined: declined(ports, &all, &plan.upgrade)?.map(|request| request.number),
        rolled_back: goes_where_it_came_from(work) || lost == Some(Lost::Release),
        lost: match lost {
            Some(Lost::Request(number)) => Some(number),
            _ => None,
        },
        paused: pause::of_all(ports, &work.places)?.map(|pause| pause::sentence(&pause)),
    };
    Ok((seen, own))
}

/// Tells whether something was said that a note lacks.
fn is_unheard(note: Option<&Note>, said: &Said) -> bool {
    let Some(note) = note else {
        return *said != Said::default();
    };
    let mut heard = note.clone();
    heard.hear(said);
    heard != *note
}

/// Tells whether a plan leads to what its clusters went back from; a request that only converts brings no release.
fn goes_where_it_came_from(work: &Work) -> bool {
    let plan = &work.plan;
    let brought = plan.place.stage.is_upgrade().then_some(&plan.to);
    let mut gone = work.rolled_back.iter();
    gone.any(|gone| Some(gone) == brought || gone == plan.target())
}

fn beside(plan: &Plan, record: &Record) -> Beside {
    let same_way = record.rolled_back.is_some() == plan.undone.is_some();
    if record.upgrade == plan.upgrade {
        Beside::Order
    } else if same_way && record.target() == plan.target() {
        Beside::Clusters
    } else if same_way && plan.undone.is_none() && *record.target() <= plan.from {
        Beside::Overtaken
    } else {
        Beside::Release
    }
}

/// Gives the newest request of an upgrade, where somebody closed it without a merge and nobody settled that.
pub(super) fn declined<'a>(
    ports: &Ports<'_>,
    requests: &'a [ChangeRequest],
    upgrade: &str,
) -> Result<Option<&'a ChangeRequest>, Error> {
    let newest = requests.iter().find(|request| upgrade_of(&request.branch) == upgrade);
    match newest.filter(|request| request.state == RequestState::Closed) {
        Some(closed) if notes::settled(ports, upgrade)? < closed.number => Ok(Some(closed)),
        _ => Ok(None),
    }
}

/// Gives what the request of a plan should be.
pub(super) fn draft(work: &Work, head: &CommitId) -> Result<Draft, Error> {
    let plan = &work.plan;
    let block = Block {
        upgrade: plan.upgrade.clone(),
        index: plan.place.index,
        needs: (1..plan.place.index).collect(),
        head: head.to_string(),
    };
    let body = request::with_block(&plan.body, &block).map_err(|source| Error::Unwritable {
        what: "the block of the request",
        source,
    })?;
    Ok(Draft {
        title: plan.headline(),
        body,
        branch: plan.branch.clone(),
        base: work.base.branch.clone(),
        head: head.clone(),
        state: if plan.is_draft() {
            RequestState::Draft
        } else {
            RequestState::Open
        },
    })
}

/// Lists the open requests of this program for a target branch.
pub(super) fn open_requests(ports: &Ports<'_>, base: &str) -> Result<Vec<ChangeRequest>, Error> {
    let mut requests = ports.forge.list()?;
    requests.retain(|request| is_mine(request, base));
    Ok(requests)
}

/// Tells what the target branch lacks again of the upgrade that is planned; a way back has nothing of that.
fn lost_of(ports: &Ports<'_>, work: &Work, requests: &[ChangeRequest]) -> Result<Option<Lost>, Error> {
    let plan = &work.plan;
    if plan.undone.is_some() {
        return Ok(None);
    }
    let done = Done {
        upgrade: &plan.upgrade,
        requests: plan.place.index - 1,
        target: plan.target(),
    };
    lost(ports, &work.records, (requests, &work.base.branch), &done)
}

/// How far the target branch has an upgrade.
pub(super) struct Done<'a> {
    /// Its id.
    pub(super) upgrade: &'a str,
    /// How many of its requests the target branch has.
    pub(super) requests: usize,
    /// The release that it leads to.
    pub(super) target: &'a Version,
}

/// What the target branch had of an upgrade and lacks again, by a revert for example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The release that it leads to.
    Release,
    /// A request on the way, by its number.
    Request(u64),
}

/// Tells whether a request of an upgrade was merged beyond those that the target branch has; who plans the same once more has
/// undone it since.
pub(super) fn lost(
    ports: &Ports<'_>,
    records: &Records,
    (requests, base): (&[ChangeRequest], &str),
    done: &Done<'_>,
) -> Result<Option<Lost>, Error> {
    let is_of = |request: &&ChangeRequest| {
        request.base == base
            && request.state == RequestState::Merged
            && upgrade_of(&request.branch) == done.upgrade
            && index_of(&request.branch) > done.requests
    };
    let Some(newest) = requests.iter().find(is_of) else {
        return Ok(None);
    };
    let record = match records.of(ports, newest) {
        // The commits of a target branch that was reset may be gone.
        Err(Error::Port(error)) if error.kind == PortErrorKind::NotFound => None,
        record => record?,
    };
    let reached = record.is_none_or(|record| record.to == *done.target && record.from != record.to);
    Ok(Some(if reached {
        Lost::Release
    } else {
        Lost::Request(newest.number)
    }))
}

/// Tells whether a request is an open one of this program for a target branch.
fn is_mine(request: &ChangeRequest, base: &str) -> bool {
    is_open(request) && request.base == base && request.branch.starts_with(BRANCHES)
}

/// Lists the open requests of this program with their records.
pub(super) fn open_with_records(flow: Flow<'_>) -> Result<Vec<Open>, Error> {
    let Flow { ports, ground, .. } = flow;
    let mut open = Vec::new();
    for request in open_requests(ports, &ground.base.branch)? {
        if let Some(record) = ground.records.of(ports, &request)? {
            let clusters = whose::of_record(ground, &record);
            open.push(Open {
                request,
                record,
                clusters,
            });
        }
    }
    Ok(open)
}

/// Tells whether a request can still be merged or closed.
pub(super) fn is_open(request: &ChangeRequest) -> bool {
    matches!(request.state, RequestState::Open | RequestState::Draft)
}

/// Gives the upgrade that a branch belongs to; empty for a branch of somebody else.
pub(super) fn upgrade_of(branch: &str) -> String {
    let rest = branch.strip_prefix(BRANCHES).unwrap_or_default();
    rest.split('/').next().unwrap_or_default().to_owned()
}

/// Gives the place of a branch among the requests of its upgrade; 1 where it says none.
pub(super) fn index_of(branch: &str) -> usize {
    let name = branch.rsplit('/').next().unwrap_or_default();
    let number = name.split('-').next().unwrap_or_default();
    number.parse().unwrap_or(1)
}

fn is_current(request: &ChangeRequest, wanted: &Draft) -> bool {
    request.title == wanted.title
        && request.body == wanted.body
        && request.state == wanted.state
        && request.head == wanted.head
}

fn branch(
    ports: &Ports<'_>,
    work: &Work,
    request: Option<&ChangeRequest>,
    kept: Option<&str>,
) -> Result<Option<Branch>, Error> {
    let Some(head) = ports.repository.branch(&work.plan.branch)? else {
        return Ok(None);
    };
    let read = people::Branch::read(ports, &work.base.commit, &head, request)?;
    let behind = !ports.repository.commits_between(&head, &work.base.commit)?.is_empty();
    let content = if behind {
        Content::Behind
    } else if read.commits.is_empty() || !read.has_own() {
        // What somebody amended is more than its content: its message and its author are theirs, too.
        Content::Different
    } else if is_planned(ports, work, &head)? {
        Content::Planned
    } else {
        match read.commits.last() {
            Some(first) if first.id != head && is_planned(ports, work, &first.id)? => Content::Extended,
            _ => Content::Different,
        }
    };
    let (people, kept) = read.asked_and_kept(kept);
    Ok(Some(Branch {
        head: head.to_string(),
        content,
        people,
        kept,
    }))
}

/// Tells whether a commit has exactly the files of the target branch with those of the plan.
fn is_planned(ports: &Ports<'_>, work: &Work, head: &CommitId) -> Result<bool, Error> {
    let written = work.plan.writes.iter().map(|write| &write.path);
    let written: BTreeSet<&Path> = written.chain(&work.plan.removes).collect();
    let at_head = ports.repository.list(head)?;
    let rest = |listed: &[Listed]| -> BTreeMap<Path, (ListedKind, BlobId)> {
        let kept = listed.iter().filter(|item| !written.contains(&item.path));
        kept.map(|item| (item.path.clone(), (item.kind, item.blob.clone())))
            .collect()
    };
    if rest(&at_head) != rest(&work.listed) {
        return Ok(false);
    }
    if at_head.iter().any(|item| work.plan.removes.contains(&item.path)) {
        return Ok(false);
    }
    for write in &work.plan.writes {
        let Some(item) = at_head.iter().find(|item| item.path == write.path) else {
            return Ok(false);
        };
        let kind = if write.executable {
            ListedKind::Executable
        } else {
            ListedKind::File
        };
        if item.kind != kind || ports.repository.read(&item.blob)? != write.bytes {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Gives the changes of a plan's commit.
pub(super) fn changes(plan: &Plan) -> Vec<crate::ports::Change> {
    let change = |write: &refit_core::plan::Write| crate::ports::Change {
        path: write.path.clone(),
        entry: Some(refit_manifest::Entry::File {
            bytes: Arc::clone(&write.bytes),
            executable: write.executable,
        }),
    };
    let removal = |path: &Path| crate::ports::Change {
        path: path.clone(),
        entry: None,
    };
    plan.writes
        .iter()
        .map(change)
        .chain(plan.removes.iter().map(removal))
        .collect()
}
