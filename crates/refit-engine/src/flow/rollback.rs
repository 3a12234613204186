//! Plans the way back from the last upgrade.
//!
//! In: the commit that brought the upgrade, found by its record. Out: a plan like that of an upgrade: base is what the
//! upgrade left, ours what stands there now, theirs what stood there before. Edits made since stay.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::check::{self, Definitions};
use refit_core::finding::{self, Code, Finding};
use refit_core::generated::Generated;
use refit_core::inventory::Group;
use refit_core::plan::{self, Edits, Given, Sides};
use refit_core::record::Record;
use refit_core::release::Version;
use refit_core::report::{self, Hop, Next};
use refit_core::rollback::Back;
use refit_core::stage::Place;
use refit_manifest::{Entry, Path, Stream};

use super::ground::{Flow, Picked};
use super::prepare::{self, Planned};
use super::shown;
use super::{history, notes, target};
use crate::ports::{BlobId, CommitId, Log, Logged};
use crate::{Error, Ports};

/// The upgrade that is undone.
struct Last {
    /// The commit that brought it.
    change: Logged,
    /// Its record.
    record: Record,
    /// The files that it wrote, those of all clusters that it was for.
    files: Vec<Path>,
}

/// Plans the way back from the last upgrade of a group of clusters.
pub(super) fn group(flow: Flow<'_>, picked: &Picked<'_>) -> Result<Planned, Error> {
    let Flow { ports, ask, ground } = flow;
    let group = &picked.group;
    let mut body = prepare::body(flow);
    body.cluster.clone_from(&group.first().root.name);
    body.with = group.beside(&body.cluster);
    body.findings = prepare::found(ground, picked);
    let log = history::log(ports, &ground.base.commit)?;
    let Some(last) = last(ports, group, &log)? else {
        // A record that cannot be read may be the one that is looked for.
        let is_record = |finding: &Finding| finding.blocks() && finding.subject.starts_with(Record::DIRECTORY);
        if body.findings.iter().any(is_record) {
            return Ok(shown::blocked(body, ask));
        }
        body.findings.clear();
        let cut = if log.cut {
            "; the history of this clone is cut off"
        } else {
            ""
        };
        let message = format!("no upgrade of `{}` is recorded that could go back{cut}", body.cluster);
        return Ok(shown::nothing(body, ask, (message, Vec::new())));
    };
    body.from = last.record.to.to_string();
    body.to = last.record.from.to_string();
    body.route = vec![Hop {
        from: body.from.clone(),
        to: body.to.clone(),
        why: String::new(),
    }];
    body.findings.extend(upgraded_since(group, &last.record));
    let (sides, edits) = match sides(flow, group, &last)? {
        Ok(found) => found,
        Err(finding) => {
            body.findings.push(finding);
            return Ok(shown::blocked(body, ask));
        }
    };
    body.findings.extend(past_return(ports, group, &last.record, &sides));
    body.base = sides.first().map(|side| side.origin.clone()).unwrap_or_default();
    planned(flow, group, (&last.record, &sides, &edits), body)
}

/// Finds the last upgrade in effect: that of the first cluster of the group, with the files of the others that went with it.
fn last(ports: &Ports<'_>, group: &Group<'_>, log: &Log) -> Result<Option<Last>, Error> {
    let mut last: Option<Last> = None;
    for cluster in group.clusters() {
        let past = history::of_record(ports, log, &Record::path(&cluster.root.name))?;
        let Some(at) = past.told.in_effect.last() else { continue };
        let (Some(change), Some((_, Some(record)))) = (past.changes.get(*at), past.records.get(*at)) else {
            continue;
        };
        let generated = record.files.iter().map(|file| &file.path);
        let converted = record.conversions.iter().map(|conversion| &conversion.path);
        let files = generated.chain(converted).map(|path| Path::new(path.as_str()));
        match &mut last {
            Some(last) if last.record.key() == record.key() => last.files.extend(files),
            Some(_) => {}
            None => {
                last = Some(Last {
                    change: change.clone(),
                    record: record.clone(),
                    files: files.collect(),
                });
            }
        }
    }
    Ok(last)
}

fn planned(
    flow: Flow<'_>,
    group: &Group<'_>,
    (undone, sides, edits): (&Record, &[Sides], &Edits),
    mut body: report::Plan,
) -> Result<Planned, Error> {
    let Flow { ports, ask, ground } = flow;
    let target = plan::rollback_target(&undone.key());
    let note = notes::read(ports, &plan::upgrade_id(&ground.base.branch, group, &target))?;
    let accepted = prepare::accepted(ask, note.as_ref());
    finding::accept(&mut body.findings, &accepted);
    let plan = plan::make(&Given {
        snapshot: &ground.snapshot,
        group,
        catalog: ports.catalog,
        from: &undone.to,
        to: &undone.from,
        options: &undone.options,
        sides,
        answers: &note.map(|note| note.answers()).unwrap_or_default(),
        accepted: &accepted,
        findings: &body.findings,
        undone: Some(undone),
        place: &Place {
            stage: undone.stage,
            ..Place::only(&undone.from)
        },
        edits,
    })
    .map_err(|source| Error::Unwritable {
        what: "the record of the rollback",
        source,
    })?;
    let mut planned = shown::ready(body, prepare::work(flow, group, plan, accepted)?);
    if let Some(work) = &planned.work {
        let open = work.plan.open().count();
        let names = group.names().join(", ");
        let message = if undone.from == undone.to {
            format!(
                "{names} can undo what request {} of its upgrade did at {} (`{}`)",
                undone.index,
                undone.to,
                undone.stage.word()
            )
        } else {
            format!("{names} can go back from {} to {}", undone.to, undone.from)
        };
        planned.report.message = match open {
            0 => message,
            open => format!("{message}; {}", super::decisions(open)),
        };
        let command = format!("refit rollback{}", work.option);
        planned.report.next = vec![Next::run(command, "open a request for it")];
    }
    Ok(planned)
}

/// Finds out whether the branch runs what the upgrade brought.
fn upgraded_since(group: &Group<'_>, undone: &Record) -> Option<Finding> {
    let installed: Option<&Version> = group.main().and_then(|file| file.detection.version.as_ref());
    let installed = installed.filter(|installed| **installed != undone.to)?;
    let message = format!(
        "`{}` runs {installed}, and the last recorded upgrade went from {} to {}",
        group.first().root.name,
        undone.from,
        undone.to
    );
    Some(Finding::new(
        Code::UpgradedSince,
        group.first().root.name.as_str(),
        message,
    ))
}

/// Gives the sides of each file: what the upgrade left, and what stood there before; files that it brought go.
fn sides(flow: Flow<'_>, group: &Group<'_>, last: &Last) -> Result<Result<(Vec<Sides>, Edits), Finding>, Error> {
    let Flow { ports, ground, .. } = flow;
    let change = &last.change;
    let unknown = |message: String| {
        let finding = Finding::new(Code::BaseUnknown, group.first().root.name.as_str(), message);
        finding.with_remedy("run `git fetch --unshallow`, or go back with `git revert`")
    };
    let Some(parent) = &change.parent else {
        let message = format!("what was before commit {} is not in this repository", change.commit);
        return Ok(Err(unknown(message)));
    };
    let (before, after) = (files(ports, parent)?, files(ports, &change.commit)?);
    // Objects that the user moved to another file of the cluster were upgraded there.
    let moved = group
        .resources()
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    let mut paths: Vec<Path> = last.files.iter().chain(moved).cloned().collect();
    let mut seen = BTreeSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    let (mut sides, mut edits) = (Vec::new(), Edits::default());
    for path in paths {
        let now = ground.snapshot.tree.get(&path);
        if let (None, Some(new), Some(now)) = (before.get(&path), after.get(&path), now.and_then(Entry::bytes))
            && ports.repository.read(new)? == *now
        {
            edits.removes.push(path);
            continue;
        }
        if !before.contains_key(&path) && now.is_none() {
            continue;
        }
        let (Some(old), Some(new), Some(_)) = (before.get(&path), after.get(&path), now) else {
            let message = format!(
                "`{path}` was moved or removed, before or since commit {}",
                change.commit
            );
            return Ok(Err(unknown(message)));
        };
        sides.push(Sides {
            base: ports.repository.read(new)?,
            origin: format!("commit {}, which upgraded it", change.commit),
            theirs: ports.repository.read(old)?,
            path,
        });
    }
    Ok(Ok((sides, edits)))
}

fn files(ports: &Ports<'_>, commit: &CommitId) -> Result<BTreeMap<Path, BlobId>, Error> {
    let listed = ports.repository.list(commit)?;
    Ok(listed.into_iter().map(|item| (item.path, item.blob)).collect())
}

fn past_return(ports: &Ports<'_>, group: &Group<'_>, undone: &Record, sides: &[Sides]) -> Vec<Finding> {
    let mut before = Definitions::new();
    for side in sides {
        if let Ok(stream) = Stream::split(Arc::clone(&side.theirs)) {
            before.extend(check::definitions(&Generated::read(&stream, ports.catalog)));
        }
    }
    let back = Back {
        from: &undone.to,
        to: &undone.from,
        catalog: ports.catalog,
    };
    let installed = target::installed(ports, group);
    let mut findings = back.past(&installed, &before);
    let runs = group.main().and_then(|file| file.detection.version.as_ref());
    let now = Back {
        from: runs.unwrap_or(&undone.to),
        ..back
    };
    for side in sides {
        if let Ok(stream) = Stream::split(Arc::clone(&side.theirs)) {
            findings.extend(now.unserved((&side.path, &stream), &installed));
        }
    }
    findings
}
