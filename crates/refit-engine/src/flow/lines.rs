//! Requests and next actions as people and programs read them.

use refit_core::finding::{Code, Finding};
use refit_core::progress::{Beside, Cause, Other};
use refit_core::report::{DecisionLine, Next, RequestLine};
use refit_core::stage::Gate;

use super::prepare::Work;
use super::{gate, observe};
use crate::ports::{ChangeRequest, RequestState};

/// The most commands that are listed; more stand in the text of the request.
const FEW: usize = 3;

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

/// Gives the way to the open decisions of an upgrade, and how each is taken.
pub(super) fn resolve(work: &Work) -> Vec<Next> {
    let list = Next::run(format!("refit resolve{}", work.option), "list the decisions");
    std::iter::once(list).chain(takes(work)).collect()
}

/// Gives the commands that take the open decisions of an upgrade: each with the side that changes nothing, then the other.
pub(super) fn takes(work: &Work) -> Vec<Next> {
    let option = &work.option;
    let sides = |decision: &DecisionLine| {
        let side = |side: &str, why: String| Next::run(format!("refit resolve {} {side}{option}", decision.id), why);
        let ours = side("ours", format!("keep what you have, for decision {}", decision.id));
        let theirs = side(
            "theirs",
            format!("take the new version's side of decision {}", decision.id),
        );
        std::iter::once(ours).chain(decision.takes_theirs().then_some(theirs))
    };
    work.plan.open().flat_map(sides).collect()
}

/// Lists what a person chose to leave broken.
pub(super) fn broken(work: &Work) -> Vec<Finding> {
    let findings = work.plan.findings.iter();
    findings
        .filter(|finding| finding.code == Code::PatchBroken)
        .cloned()
        .collect()
}

/// Gives the ways on where a request waits for something to be true: how it is done, and how it is said.
pub(super) fn gates(gates: &[Gate], option: &str) -> Vec<Next> {
    if gates.is_empty() {
        return Vec::new();
    }
    let ways = gates.iter().flat_map(|gate| {
        let what = gate.wait.ways();
        if gate.ways.len() > FEW || gate.ways.iter().any(|way| gate::is_of_others(way)) {
            return vec![Next::say(format!("{what}: its text has the commands"))];
        }
        gate.ways.iter().map(|way| Next::run(way.as_str(), what)).collect()
    });
    let can_show = gates.iter().any(|gate| gate.shows);
    let shown = can_show.then(|| {
        Next::run(
            format!("refit resume --snapshot FILE{option}"),
            "let a snapshot of the cluster show it (`refit resume --help` has the lines that write one)",
        )
    });
    let said = gates.iter().map(|gate| {
        Next::run(
            format!("refit resume --confirm {}{option}", gate.wait.word()),
            format!("say yourself that {}", gate.wait.sentence()),
        )
    });
    ways.chain(shown).chain(said).collect()
}

/// Gives the way to open a draft for its merge that waits for nothing any more.
pub(super) fn opens(option: &str, snapshot: Option<&str>) -> Next {
    let snapshot = snapshot.unwrap_or_default();
    Next::run(
        format!("refit resume{snapshot}{option}"),
        "open the draft for its merge: what it waited for is so",
    )
}

/// Gives the way to the next request of a route.
pub(super) fn goes_on(option: &str) -> Next {
    Next::run(
        format!("refit resume{option}"),
        "open the next request, once the cluster has what was merged",
    )
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
        None => format!("refit upgrade {}@{}{options}{option}", plan.platform, plan.target()),
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

/// Gives the way on where the target branch has the release of a request without it.
pub(super) fn overtaken(number: u64) -> Next {
    Next::run(
        format!("refit request close {number}"),
        "close it: the branch has its release without it",
    )
}

/// Gives the ways on where other clusters share their files than when a request was opened; `anew` opens another.
pub(super) fn regroup(number: u64, anew: &str, option: &str) -> Vec<Next> {
    vec![
        Next::run(
            anew,
            format!("close request {number} and open one for all clusters that share their files now"),
        ),
        Next::run(format!("refit cancel{option}"), "give the open one up"),
    ]
}

/// Gives the ways on after a stop.
pub(super) fn ways_on(cause: &Cause, work: &Work) -> Vec<Next> {
    let option = &work.option;
    match cause {
        Cause::OtherOpen(other) => beside(other, work),
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
        Cause::Declined(_) | Cause::RolledBack | Cause::Lost(_) => vec![
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

/// Gives the ways on where another request of the same clusters is open.
fn beside(other: &Other, work: &Work) -> Vec<Next> {
    let option = &work.option;
    match other.beside {
        Beside::Overtaken => vec![overtaken(other.number)],
        Beside::Order => {
            let close = format!("refit request close {}", other.number);
            vec![Next::run(
                close,
                "close it; the one that comes next is opened again by `refit resume`",
            )]
        }
        Beside::Clusters => {
            let mut next = regroup(other.number, &command(work, " --supersede"), option);
            // The way back has no such option.
            next.drain(..usize::from(work.plan.undone.is_some()));
            next
        }
        Beside::Release if work.plan.undone.is_some() => vec![
            Next::run(
                format!("refit request merge {}", other.number),
                "finish the open one first",
            ),
            Next::run(format!("refit cancel{option}"), "give the open one up"),
        ],
        Beside::Release => vec![
            Next::run(
                command(work, " --supersede"),
                format!(
                    "close request {} and go to {} instead",
                    other.number,
                    work.plan.target()
                ),
            ),
            Next::run(
                format!("refit request merge {}", other.number),
                "finish the open one first",
            ),
        ],
    }
}
