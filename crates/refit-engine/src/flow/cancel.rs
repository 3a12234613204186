//! Gives the upgrade under way up.
//!
//! In: clusters, and what is to become of commits of people. Out: its requests closed, its branches and answers removed.
//! Everything is looked at before the first effect; run again, it goes on where it was cut.

use refit_core::inventory::Group;
use refit_core::record::Note;
use refit_core::report::{Cancel, Next, Report, State};

use super::ground::{self, Flow};
use super::people::Branch;
use super::{lines, notes, observe, standing, whose};
use crate::ports::{ChangeRequest, CommitId};
use crate::{Ask, Commits, Error, Ports};

/// What is left of the upgrades of a cluster.
#[derive(Default)]
struct Left {
    /// Requests that are open, or that somebody closed and nobody settled.
    requests: Vec<ChangeRequest>,
    /// The branches that are still there, with their heads.
    branches: Vec<(String, CommitId)>,
    notes: Vec<Note>,
    /// Commits of people on the branches.
    people: Vec<String>,
    /// A route whose first requests are merged, and the number of the newest of them.
    rest: Option<(String, u64)>,
}

impl Left {
    fn is_empty(&self) -> bool {
        self.requests.is_empty() && self.notes.is_empty() && self.branches.is_empty() && self.rest.is_none()
    }

    /// Looks for the branches of the requests and for commits of people on them.
    fn look(&mut self, flow: Flow<'_>) -> Result<(), Error> {
        let Flow { ports, ground, .. } = flow;
        for request in &self.requests {
            let Some(head) = ports.repository.branch(&request.branch)? else {
                continue;
            };
            self.people
                .extend(Branch::read(ports, &ground.base.commit, &head, Some(request))?.lines());
            self.branches.push((request.branch.clone(), head));
        }
        Ok(())
    }
}

/// Gives the upgrade under way up.
pub(crate) fn cancel(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Report<Cancel>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let requests = ports.forge.list()?;
    let mut having = Vec::new();
    for picked in flow.picked()? {
        let left = left(flow, &picked.group, &requests)?;
        if !left.is_empty() {
            having.push((picked.group.names(), left));
        }
    }
    // What is left of clusters that are gone cannot be named.
    if having.is_empty() && ask.clusters.is_empty() || ask.all_clusters {
        for open in whose::stranded(flow)? {
            let mut left = Left::default();
            left.requests.push(open.request);
            left.look(flow)?;
            having.push((vec![open.record.cluster], left));
        }
    }
    if having.len() > 1 && !flow.names_clusters() {
        let names: Vec<&str> = having.iter().flat_map(|(names, _)| names).map(String::as_str).collect();
        return Err(Error::Usage {
            message: format!("upgrades of `{}` are under way", names.join("`, `")),
            remedy: "name one with `--cluster NAME`, or take all with `--all-clusters`".to_owned(),
        });
    }
    let mut body = Cancel {
        clusters: having.iter().flat_map(|(names, _)| names.clone()).collect(),
        closed: Vec::new(),
        branches: Vec::new(),
        answers: 0,
        commits: having.iter().flat_map(|(_, left)| left.people.clone()).collect(),
    };
    if having.is_empty() {
        let message = format!("no upgrade of `{}` is under way", ground.base.branch);
        let next = vec![Next::run("refit status", "see what can be upgraded")];
        return Ok(Report::new(State::NothingToDo, message, next, body));
    }
    if !body.commits.is_empty() && commits != Commits::Discard {
        return Ok(refused(flow, body));
    }
    for (_, left) in having {
        end(ports, left, &mut body)?;
    }
    let names = body.clusters.join("`, `");
    let message = format!("the upgrade of `{names}` is given up{}", discarded(&body));
    let next = vec![Next::run("refit status", "see where it stands")];
    Ok(Report::new(State::Done, message, next, body))
}

fn discarded(body: &Cancel) -> String {
    match body.commits.len() {
        0 => String::new(),
        count => format!("; {} discarded", lines::commits(count)),
    }
}

fn refused(flow: Flow<'_>, body: Cancel) -> Report<Cancel> {
    let several = flow.ground.inventory.clusters.len() > 1;
    let names = body.clusters.iter().filter(|_| several);
    let option: String = names.map(|name| format!(" --cluster {name}")).collect();
    let next = vec![
        Next::say("keep them under another name with `git branch NAME ID`"),
        Next::run(
            format!("refit cancel --discard-commits{option}"),
            "give the upgrade up with them",
        ),
    ];
    let message = "people added commits to the branch of the request, which would be lost; nothing was changed";
    Report::new(State::Stopped, message, next, body)
}

/// Finds what is left of the upgrades of a group of clusters.
fn left(flow: Flow<'_>, group: &Group<'_>, requests: &[ChangeRequest]) -> Result<Left, Error> {
    let Flow { ports, ground, .. } = flow;
    let names = group.names();
    let mut left = Left {
        notes: notes::all(ports)?,
        ..Left::default()
    };
    let is_about = |note: &Note| whose::of_note(ground, note).iter().any(|name| names.contains(name));
    left.notes
        .retain(|note| is_about(note) && note.branch == ground.base.branch);
    for open in observe::open_with_records(flow)? {
        if open.is_about(&names) {
            left.requests.push(open.request);
        }
    }
    let declined = standing::declined(flow, group, requests)?;
    left.requests
        .extend(declined.into_iter().map(|(request, _)| request.clone()));
    left.look(flow)?;
    left.rest = whose::unfinished(flow, group, requests)?.map(|record| {
        let newest = whose::merged(requests, &record.upgrade);
        (record.upgrade.clone(), newest.max(1))
    });
    for orphan in whose::orphans(flow, group, requests)? {
        let known = left.branches.iter().any(|(branch, _)| *branch == orphan.branch);
        let head = ports.repository.branch(&orphan.branch)?;
        if let Some(head) = head.filter(|_| !known) {
            let people = Branch::read(ports, &ground.base.commit, &head, None)?;
            left.people.extend(people.lines());
            left.branches.push((orphan.branch, head));
        }
    }
    Ok(left)
}

fn end(ports: &Ports<'_>, left: Left, body: &mut Cancel) -> Result<(), Error> {
    if let Some((upgrade, newest)) = &left.rest {
        notes::settle(ports, upgrade, *newest)?;
    }
    for request in &left.requests {
        notes::settle(ports, &observe::upgrade_of(&request.branch), request.number)?;
    }
    for (branch, head) in left.branches {
        ports.repository.publish(&branch, None, Some(&head))?;
        body.branches.push(branch);
    }
    for request in left.requests {
        let closed = ports.forge.close(request.number)?;
        notes::remove(ports, &observe::upgrade_of(&closed.branch))?;
        body.closed.push(lines::request(&closed));
    }
    for note in left.notes {
        body.answers += note.answers.len();
        notes::remove(ports, &note.upgrade)?;
    }
    Ok(())
}
