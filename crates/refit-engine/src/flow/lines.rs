//! Requests and next actions as people and programs read them.

use refit_core::progress::Cause;
use refit_core::report::{Next, RequestLine};

use super::observe;
use super::prepare::Work;
use crate::ports::{ChangeRequest, RequestState};

/// The most decisions that the next actions name.
const NAMED: usize = 3;

/// Gives a request in a few words.
pub(super) fn request(request: &ChangeRequest) -> RequestLine {
    RequestLine {
        number: request.number,
        title: request.title.clone(),
        state: match request.state {
            RequestState::Open => "open",
            RequestState::Draft => "draft",
            RequestState::Merged => "merged",
            RequestState::Closed => "closed",
        }
        .to_owned(),
        branch: request.branch.clone(),
        base: request.base.clone(),
        url: request.url.clone(),
        upgrade: observe::upgrade_of(&request.branch),
    }
}

/// Gives the ways to review and merge a request.
pub(super) fn review(request: &ChangeRequest) -> Vec<Next> {
    let number = request.number;
    vec![
        Next::run(format!("refit diff {number}"), "see what changes"),
        Next::run(format!("refit request merge {number}"), "merge it after the review"),
    ]
}

/// Gives the ways to take the open decisions of an upgrade.
pub(super) fn resolve(work: &Work) -> Vec<Next> {
    let option = &work.option;
    let mut next = vec![Next::run(format!("refit resolve{option}"), "list the decisions")];
    for decision in work.plan.open().take(NAMED) {
        let command = format!("refit resolve {} {}{option}", decision.id, decision.ways());
        next.push(Next::run(command, decision.message.as_str()));
    }
    next
}

/// Gives the way to list the decisions that a request waits for; `option` names the cluster, where there are several.
pub(super) fn waits(option: &str) -> Next {
    Next::run(format!("refit resolve{option}"), "list the decisions that it waits for")
}

/// Gives the way to carry a plan out.
pub(super) fn upgrade(work: &Work) -> Next {
    Next::run(command(work, ""), "open the request")
}

/// Gives the command that carries a plan out, with more options.
fn command(work: &Work, options: &str) -> String {
    let (plan, option) = (&work.plan, &work.option);
    match plan.undone {
        Some(_) => format!("refit rollback{options}{option}"),
        None => format!("refit upgrade {}@{}{options}{option}", plan.platform, plan.to),
    }
}

/// Counts commits of people.
pub(super) fn commits(count: usize) -> String {
    match count {
        1 => "1 commit of people was".to_owned(),
        several => format!("{several} commits of people were"),
    }
}

/// Gives the two ways on where people added commits.
pub(super) fn keep_or_discard(option: &str) -> Vec<Next> {
    let keep = Next::run(
        format!("refit resume --keep-commits{option}"),
        "make these commits part of the request",
    );
    vec![keep, discard(option)]
}

fn discard(option: &str) -> Next {
    Next::run(
        format!("refit resume --discard-commits{option}"),
        "drop these commits and compute the change anew",
    )
}

/// Gives the ways on after a stop.
pub(super) fn ways_on(cause: &Cause, work: &Work) -> Vec<Next> {
    let option = &work.option;
    match cause {
        Cause::OtherOpen(other) if work.plan.undone.is_some() => vec![
            Next::run(
                format!("refit request merge {}", other.number),
                "finish the open one first",
            ),
            Next::run(format!("refit cancel{option}"), "give the open one up"),
        ],
        Cause::OtherOpen(other) => vec![
            Next::run(
                command(work, " --supersede"),
                format!("close request {} and go to {} instead", other.number, work.plan.to),
            ),
            Next::run(
                format!("refit request merge {}", other.number),
                "finish the open one first",
            ),
        ],
        Cause::OtherHasCommits(other) => vec![
            Next::run(
                format!("refit request merge {}", other.number),
                "finish the open one first",
            ),
            Next::run(
                format!("refit cancel --discard-commits{option}"),
                "give the open one up with these commits, then run this again",
            ),
        ],
        Cause::PeopleCommitted(_) => keep_or_discard(option),
        Cause::RebaseNeeded { branch, .. } => vec![
            Next::say(format!(
                "rebase `{branch}` onto the target branch (`git rebase {} {branch}`), publish it, and run `refit resume \
                 --keep-commits{option}`",
                work.base.branch
            )),
            discard(option),
        ],
        Cause::Declined(_) | Cause::RolledBack => vec![
            Next::run(command(work, " --again"), "open a new request all the same"),
            Next::run(
                format!("refit cancel{option}"),
                "forget the no, and clear what is left of it",
            ),
        ]
        .into_iter()
        .take(if matches!(cause, Cause::Declined(_)) { 2 } else { 1 })
        .collect(),
        Cause::Paused(_) => vec![Next::run(format!("refit pause --off{option}"), "end the pause")],
    }
}
