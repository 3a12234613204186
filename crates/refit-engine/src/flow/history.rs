//! Who upgraded what, when, and with which decisions: told by commits alone.
//!
//! In: the commits on the way of the target branch that changed a record. Out: one line for each. It needs neither notes
//! nor requests, so that a fresh clone answers the same; they add the number of the request where they are there.

use std::collections::BTreeMap;

use refit_core::history::{self, Event, Kind, Told};
use refit_core::plan::line_of_answer;
use refit_core::record::{Record, RecordedDecision};
use refit_core::report::{History, HistoryDecision, HistoryLine, Next, Report, State};
use refit_core::snapshot;
use refit_manifest::{Answer, Outcome, Path};

use super::observe;
use crate::ports::{BlobId, ChangeRequest, CommitId, Log, Logged, RequestState};
use crate::{Ask, Error, Ports};

/// Where records are.
const DIRECTORY: &str = ".refit";

/// The changes of one record, the oldest first.
pub(super) struct Past {
    pub(super) changes: Vec<Logged>,
    pub(super) records: Vec<(Option<Record>, Option<Record>)>,
    pub(super) told: Told,
}

/// Tells what happened to the clusters of a branch.
pub(crate) fn history(ports: &Ports<'_>, ask: &Ask) -> Result<Report<History>, Error> {
    let base = ports.repository.base(ask.base.as_deref())?;
    let log = log(ports, &base.commit)?;
    let requests = ports.forge.list()?;
    let mut lines: Vec<(usize, HistoryLine)> = Vec::new();
    for path in paths(&log) {
        let past = of_record(ports, &log, path)?;
        for (at, event) in past.told.events.iter().enumerate() {
            let (Some(change), Some((before, after))) = (past.changes.get(at), past.records.get(at)) else {
                continue;
            };
            let Some(record) = after.as_ref().or(before.as_ref()) else {
                continue;
            };
            if let Some(event) = event {
                let place = log
                    .changes
                    .iter()
                    .position(|one| one.commit == change.commit)
                    .unwrap_or_default();
                // A revert brings an older record back, which tells nothing about the revert itself.
                let own = after.is_some() && (event.kind != Kind::Rollback || record.rolled_back.is_some());
                lines.push((place, line((change, event), (record, own), &requests)));
            }
        }
    }
    lines.sort_by_key(|(place, _)| *place);
    let mut entries: Vec<HistoryLine> = lines.into_iter().map(|(_, line)| line).collect();
    // A number means the same entry whatever is asked for.
    for (at, line) in entries.iter_mut().enumerate() {
        line.number = at + 1;
    }
    entries.retain(|line| is_meant(ask, &line.cluster));
    let (message, next) = said(ask, &base.branch, entries.len(), &log);
    let body = History { entries, cut: log.cut };
    Ok(Report::new(State::Done, message, next, body))
}

fn said(ask: &Ask, branch: &str, count: usize, log: &Log) -> (String, Vec<Next>) {
    let of = match ask.clusters.as_slice() {
        [] => String::new(),
        names => format!(" for `{}`", names.join("`, `")),
    };
    let mut message = match count {
        0 => format!("no upgrade is recorded on `{branch}`{of}"),
        1 => format!("1 change of release is recorded on `{branch}`{of}"),
        several => format!("{several} changes of release are recorded on `{branch}`{of}"),
    };
    if !log.cut {
        return (message, Vec::new());
    }
    message.push_str(
        "; the history of this clone is cut off: its oldest entry may have come by an earlier commit, and what was before \
         is not told",
    );
    (
        message,
        vec![Next::run("git fetch --unshallow", "fetch the rest of the history")],
    )
}

/// Reads the changes of all records on the way of a branch.
pub(super) fn log(ports: &Ports<'_>, commit: &CommitId) -> Result<Log, Error> {
    let mut log = ports.repository.log(commit, &Path::from(DIRECTORY))?;
    log.changes.retain(|change| snapshot::is_record(&change.path));
    Ok(log)
}

fn paths(log: &Log) -> Vec<&Path> {
    let mut paths: Vec<&Path> = log.changes.iter().map(|change| &change.path).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// Tells the changes of one record.
pub(super) fn of_record(ports: &Ports<'_>, log: &Log, path: &Path) -> Result<Past, Error> {
    let mut changes: Vec<Logged> = log
        .changes
        .iter()
        .filter(|change| change.path == *path)
        .cloned()
        .collect();
    changes.reverse();
    let mut read: BTreeMap<BlobId, Option<Record>> = BTreeMap::new();
    let mut record = |blob: &Option<BlobId>| -> Result<Option<Record>, Error> {
        let Some(blob) = blob else { return Ok(None) };
        if let Some(known) = read.get(blob) {
            return Ok(known.clone());
        }
        let found = Record::read(&ports.repository.read(blob)?).ok();
        read.insert(blob.clone(), found.clone());
        Ok(found)
    };
    let mut records = Vec::new();
    for change in &changes {
        records.push((record(&change.before)?, record(&change.after)?));
    }
    let told = history::tell(&records);
    Ok(Past { changes, records, told })
}

/// Tells whether a cluster was asked for, by its name or the last part of its path.
fn is_meant(ask: &Ask, cluster: &str) -> bool {
    let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    ask.clusters.is_empty() || ask.clusters.iter().any(|name| last(name).as_deref() == Some(cluster))
}

/// Writes one line; a record that is gone, or an older one that came back, brought nothing of its own.
fn line((change, event): (&Logged, &Event), (record, is_there): (&Record, bool), all: &[ChangeRequest]) -> HistoryLine {
    let request = is_there.then(|| request(change, record, all)).flatten();
    HistoryLine {
        number: 0,
        cluster: record.cluster.clone(),
        kind: event.kind.word().to_owned(),
        time: change.time.to_string(),
        author: change.author.clone(),
        from: event.from.to_string(),
        to: event.to.to_string(),
        upgrade: event.upgrade.clone(),
        commit: change.commit.to_string(),
        request: request.map(|request| request.number),
        branch: request.map(|request| request.branch.clone()),
        decisions: match is_there {
            true => record.decisions.iter().map(decision).collect(),
            false => Vec::new(),
        },
        accepted: match is_there {
            true => record.accepted.iter().map(ToString::to_string).collect(),
            false => Vec::new(),
        },
    }
}

/// Finds the merged request that brought a record: the only one of its upgrade, else the one with this commit.
fn request<'a>(change: &Logged, record: &Record, all: &'a [ChangeRequest]) -> Option<&'a ChangeRequest> {
    let own = |request: &&ChangeRequest| {
        request.state == RequestState::Merged
            && observe::upgrade_of(&request.branch) == record.upgrade
            && observe::index_of(&request.branch) == record.index
    };
    let merged: Vec<&ChangeRequest> = all.iter().filter(own).collect();
    match merged.as_slice() {
        [only] => Some(only),
        several => several.iter().copied().find(|request| request.head == change.commit),
    }
}

fn decision(decision: &RecordedDecision) -> HistoryDecision {
    HistoryDecision {
        id: decision.id.clone(),
        path: decision.path.clone(),
        object: decision.object.clone(),
        field: decision.field.clone(),
        rule: decision.rule.clone(),
        answer: decision
            .answer
            .as_ref()
            .map(|answer| line_of_answer(&Answer::from(answer))),
        open: decision.outcome == Outcome::Conflict.word() && decision.answer.is_none(),
    }
}
