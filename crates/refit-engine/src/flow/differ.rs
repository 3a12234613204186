//! Before and after of a request, by lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::report::{Diff, FileDiff, Next, Report, State};
use refit_manifest::Path;
use similar::TextDiff;

use super::ground::{self, Ground};
use super::{lines, observe, prepare, requests, resume};
use crate::ports::{ChangeRequest, Listed};
use crate::{Ask, Error, Ports};

/// The lines around each change.
const CONTEXT: usize = 3;

/// Gives before and after of a request; without a number of the only open one, else of the plan.
pub(crate) fn diff(ports: &Ports<'_>, ask: &Ask, number: Option<u64>) -> Result<Report<Diff>, Error> {
    let request = match number {
        Some(number) => Some(requests::meant(ports, Some(number))?),
        None => only_open(ports)?,
    };
    match request {
        Some(request) => of_request(ports, ask, &request),
        None => of_plan(ports, ask),
    }
}

fn only_open(ports: &Ports<'_>) -> Result<Option<ChangeRequest>, Error> {
    let mut open = ports.forge.list()?;
    open.retain(observe::is_open);
    match open.len() {
        0 => Ok(None),
        _ => requests::meant(ports, None).map(Some),
    }
}

fn of_request(ports: &Ports<'_>, ask: &Ask, request: &ChangeRequest) -> Result<Report<Diff>, Error> {
    if !observe::is_open(request) {
        return Ok(past(request));
    }
    let ground = ground::survey(ports, ask.base.as_deref().or(Some(&request.base)))?;
    let after = ports.repository.list(&request.head)?;
    let behind = !ports
        .repository
        .commits_between(&request.head, &ground.base.commit)?
        .is_empty();
    let listed: BTreeMap<&Path, &Listed> = ground.listed.iter().map(|item| (&item.path, item)).collect();
    let mut files = Vec::new();
    for item in &after {
        let before = listed.get(&item.path);
        if before.is_some_and(|before| before.blob == item.blob) {
            continue;
        }
        // What only the target branch changed since is no part of the request.
        if behind && !is_ours(&ground, &item.path) {
            continue;
        }
        let old = before.map(|before| ports.repository.read(&before.blob)).transpose()?;
        let new = ports.repository.read(&item.blob)?;
        files.push(file(&item.path, old.as_ref(), Some(&new)));
    }
    if !behind {
        files.extend(removed(ports, &ground, &after)?);
    }
    let mut message = format!("request {} changes {}", request.number, count(files.len()));
    if behind {
        message.push_str("; the target branch moved since, `refit resume` computes the change anew");
    }
    let body = Diff {
        request: Some(request.number),
        files,
    };
    Ok(Report::new(State::Done, message, Vec::new(), body))
}

/// A request that is done has nothing before it any more: the target branch has it, or never will.
fn past(request: &ChangeRequest) -> Report<Diff> {
    let line = lines::request(request);
    let message = format!("request {} is {} already", line.number, line.state);
    let next = vec![Next::run(format!("git show {}", request.head), "see what it changed")];
    let body = Diff {
        request: Some(request.number),
        files: Vec::new(),
    };
    Report::new(State::NothingToDo, message, next, body)
}

fn removed(ports: &Ports<'_>, ground: &Ground, after: &[Listed]) -> Result<Vec<FileDiff>, Error> {
    let stays: BTreeSet<&Path> = after.iter().map(|item| &item.path).collect();
    let mut files = Vec::new();
    for item in &ground.listed {
        if !stays.contains(&item.path) {
            let old = ports.repository.read(&item.blob)?;
            files.push(file(&item.path, Some(&old), None));
        }
    }
    Ok(files)
}

fn is_ours(ground: &Ground, path: &Path) -> bool {
    let mut clusters = ground.inventory.clusters.iter();
    refit_core::snapshot::is_record(path) || clusters.any(|cluster| cluster.root.generated.contains(path))
}

fn of_plan(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Diff>, Error> {
    let ground = ground::survey(ports, ask.base.as_deref())?;
    let ask = resume::under_way(ports, ask, &ground)?.unwrap_or_else(|| ask.clone());
    let prepared = prepare::plan_on(ports, &ask, &ground)?;
    let Some(work) = &prepared.work else {
        return Ok(prepared.report_for("diff").with_body(Diff {
            request: None,
            files: Vec::new(),
        }));
    };
    let change = |write: &refit_core::plan::Write| {
        file(&write.path, ground.snapshot.tree.bytes(&write.path), Some(&write.bytes))
    };
    let files: Vec<FileDiff> = work.plan.writes.iter().map(change).collect();
    let message = format!("the upgrade to {} would change {}", work.plan.to, count(files.len()));
    let body = Diff { request: None, files };
    Ok(Report::new(State::Done, message, vec![lines::upgrade(work)], body))
}

fn file(path: &Path, old: Option<&Arc<[u8]>>, new: Option<&Arc<[u8]>>) -> FileDiff {
    let text = |bytes: Option<&Arc<[u8]>>| {
        bytes
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .unwrap_or_default()
    };
    let (before, after) = (text(old), text(new));
    let name = |side: &str, bytes: Option<&Arc<[u8]>>| match bytes {
        Some(_) => format!("{side}/{path}"),
        None => "/dev/null".to_owned(),
    };
    let diff = TextDiff::from_lines(before.as_str(), after.as_str());
    let unified = diff
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&name("a", old), &name("b", new))
        .to_string();
    FileDiff {
        path: path.to_string(),
        diff: unified,
    }
}

fn count(files: usize) -> String {
    match files {
        1 => "1 file".to_owned(),
        several => format!("{several} files"),
    }
}
