//! Before and after of a request, by lines.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_core::record::Record;
use refit_core::report::{Diff, FileDiff, Next, Report, Reports, State};
use refit_manifest::Path;
use similar::TextDiff;

use super::ground::{self, Flow, Ground};
use super::prepare::Planned;
use super::under_way::{self, Asked, Meant};
use super::{lines, observe, prepare, requests};
use crate::ports::{ChangeRequest, CommitId, Listed, PortErrorKind, RequestState};
use crate::{Ask, Error, Ports};

/// The lines around each change.
const CONTEXT: usize = 3;

/// Gives before and after of a request; without a number of the only open one, or of those of the clusters that were
/// named; where none is open, of the plan.
pub(crate) fn diff(ports: &Ports<'_>, ask: &Ask, number: Option<u64>) -> Result<Reports<Diff>, Error> {
    let names_clusters = ask.all_clusters || !ask.clusters.is_empty();
    let request = match number {
        Some(number) => Some(requests::meant(ports, Some(number))?),
        None if names_clusters => None,
        None => only_open(ports)?,
    };
    let branch = request.as_ref().map(|request| request.base.as_str());
    match &request {
        Some(request) if !observe::is_open(request) => return past(ports, request).map(Reports::from),
        _ => {}
    }
    let ground = &ground::survey(ports, ask.base.as_deref().or(branch))?;
    match &request {
        Some(request) => of_request(ports, ground, request).map(Reports::from),
        None => of_groups(Flow { ports, ask, ground }),
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

/// Gives the difference of each group's open request, else of its plan.
fn of_groups(flow: Flow<'_>) -> Result<Reports<Diff>, Error> {
    let asked = match under_way::or_plan(flow)? {
        Meant::Groups(asked) => asked,
        Meant::Whole(planned) => return Ok(nothing(&planned).into()),
    };
    let open = observe::open_with_records(flow)?;
    ground::each(&asked, |one| {
        let names = one.picked.group.names();
        match open.iter().find(|open| open.is_about(&names)) {
            Some(open) => of_request(flow.ports, flow.ground, &open.request),
            None => of_plan(flow, one),
        }
    })
}

fn of_request(ports: &Ports<'_>, ground: &Ground, request: &ChangeRequest) -> Result<Report<Diff>, Error> {
    let after = ports.repository.list(&request.head)?;
    let behind = !ports
        .repository
        .commits_between(&request.head, &ground.base.commit)?
        .is_empty();
    let listed: BTreeMap<&Path, &Listed> = ground.listed.iter().map(|item| (&item.path, item)).collect();
    let generated: BTreeSet<&Path> = {
        let clusters = ground.inventory.clusters.iter();
        clusters.flat_map(|cluster| &cluster.root.generated).collect()
    };
    let is_ours = |path: &Path| refit_core::snapshot::is_record(path) || generated.contains(path);
    let mut files = Vec::new();
    for item in &after {
        let before = listed.get(&item.path);
        if before.is_some_and(|before| before.blob == item.blob) {
            continue;
        }
        // What only the target branch changed since is no part of the request.
        if behind && !is_ours(&item.path) {
            continue;
        }
        let old = before.map(|before| ports.repository.read(&before.blob)).transpose()?;
        let new = ports.repository.read(&item.blob)?;
        files.push(file(&item.path, old.as_ref(), Some(&new)));
    }
    if !behind {
        files.extend(removed(ports, ground, &after)?);
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

/// Shows what a request that is done brought, or would have brought: from the parent of the commit with its record.
fn past(ports: &Ports<'_>, request: &ChangeRequest) -> Result<Report<Diff>, Error> {
    let line = lines::request(request);
    let mut body = Diff {
        request: Some(request.number),
        files: Vec::new(),
    };
    let Some(before) = before(ports, request, &line.upgrade)? else {
        let message = format!("request {} is {} already", line.number, line.state);
        let next = vec![Next::run(format!("git show {}", request.head), "see what it changed")];
        return Ok(Report::new(State::NothingToDo, message, next, body));
    };
    let (old, new) = (ports.repository.list(&before)?, ports.repository.list(&request.head)?);
    let had: BTreeMap<&Path, &Listed> = old.iter().map(|item| (&item.path, item)).collect();
    let has: BTreeMap<&Path, &Listed> = new.iter().map(|item| (&item.path, item)).collect();
    let paths: BTreeSet<&Path> = had.keys().chain(has.keys()).copied().collect();
    let read = |item: Option<&&Listed>| item.map(|item| ports.repository.read(&item.blob)).transpose();
    for path in paths {
        let (old, new) = (had.get(path), has.get(path));
        if old.map(|item| &item.blob) != new.map(|item| &item.blob) {
            body.files.push(file(path, read(old)?.as_ref(), read(new)?.as_ref()));
        }
    }
    let verb = if request.state == RequestState::Merged {
        "changed"
    } else {
        "would have changed"
    };
    let message = format!(
        "request {} is {}; it {verb} {}",
        line.number,
        line.state,
        count(body.files.len())
    );
    Ok(Report::new(State::Done, message, Vec::new(), body))
}

/// Finds the commit that a request that is done began at; a head that is not here any more has none.
fn before(ports: &Ports<'_>, request: &ChangeRequest, upgrade: &str) -> Result<Option<CommitId>, Error> {
    if upgrade.is_empty() {
        return Ok(None);
    }
    let log = match ports.repository.log(&request.head, &Path::from(".refit")) {
        Ok(log) => log,
        Err(error) if error.kind == PortErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    for change in log.changes {
        let Some(blob) = &change.after else { continue };
        let record = Record::read(&ports.repository.read(blob)?).ok();
        if record.is_some_and(|record| record.upgrade == upgrade) {
            return Ok(change.parent);
        }
    }
    Ok(None)
}

fn removed(ports: &Ports<'_>, ground: &Ground, after: &[Listed]) -> Result<Vec<FileDiff>, Error> {
    let stays: BTreeSet<&Path> = after.iter().map(|item| &item.path).collect();
    let mut files = Vec::new();
    for item in ground.listed.iter() {
        if !stays.contains(&item.path) {
            let old = ports.repository.read(&item.blob)?;
            files.push(file(&item.path, Some(&old), None));
        }
    }
    Ok(files)
}

fn of_plan(flow: Flow<'_>, asked: &Asked<'_>) -> Result<Report<Diff>, Error> {
    let planned = prepare::group(flow.asking(&asked.ask), &asked.picked)?;
    let Some(work) = &planned.work else {
        return Ok(nothing(&planned));
    };
    let ground = flow.ground;
    let change = |write: &refit_core::plan::Write| {
        file(&write.path, ground.snapshot.tree.bytes(&write.path), Some(&write.bytes))
    };
    let removal = |path: &Path| file(path, ground.snapshot.tree.bytes(path), None);
    let removals = work.plan.removes.iter().map(removal);
    let files: Vec<FileDiff> = work.plan.writes.iter().map(change).chain(removals).collect();
    let message = format!("the upgrade to {} would change {}", work.plan.to, count(files.len()));
    let body = Diff { request: None, files };
    Ok(Report::new(State::Done, message, vec![lines::upgrade(work)], body))
}

fn nothing(planned: &Planned) -> Report<Diff> {
    planned.report_for("diff").with_body(Diff {
        request: None,
        files: Vec::new(),
    })
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
