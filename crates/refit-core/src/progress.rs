//! Decides what an upgrade in Git mode may do next.
//!
//! In: the plan, what branches, requests and notes say now, and the user's wishes. Out: one [`Next`]. Keeps no journal:
//! every effect leaves a trace in the repository or the forge, so that what is done is seen there, and a run that was
//! cut anywhere goes on by asking again. Knows neither Git nor clock.

use crate::plan::{Opening, Plan};

/// What branches, requests and notes say now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// The upgrade's branch.
    pub branch: Option<Branch>,
    /// The upgrade's open request.
    pub request: Option<OpenRequest>,
    /// Open requests that bring the same cluster to another release.
    pub others: Vec<Other>,
    /// Whether the note says that the upgrade was confirmed.
    pub confirmed: bool,
    /// Whether something was confirmed for the request that its note lacks.
    pub unnoted: bool,
    /// The request that this run opened, so that nobody can have looked at it yet.
    pub opened: Option<u64>,
    /// The newest request of the upgrade, where somebody closed it without a merge.
    pub declined: Option<u64>,
    /// Whether the last thing that happened to the cluster was to go back from the release that the plan leads to.
    pub rolled_back: bool,
    /// The newest request on the way of the plan that was merged and that the target branch lacks again, where the release
    /// that the plan leads to was not reached by it.
    pub lost: Option<u64>,
    /// The pause of the cluster, in words.
    pub paused: Option<String>,
}

/// The branch of an upgrade.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Branch {
    /// Its newest commit.
    pub head: String,
    /// How its content compares with the plan.
    pub content: Content,
    /// Commits of people on it, which were not agreed to yet: id, author and subject.
    pub people: Vec<String>,
    /// Commits of people on it that were kept.
    pub kept: Vec<String>,
}

/// How the content of a branch compares with the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// It is the newest commit of the target branch with the plan's files.
    Planned,
    /// It is that, and commits on top of it.
    Extended,
    /// It has other content.
    #[default]
    Different,
    /// The target branch has commits that it lacks.
    Behind,
}

/// The open request of an upgrade.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenRequest {
    /// The forge's number.
    pub number: u64,
    /// Whether title, text, state and head are what the plan wants.
    pub current: bool,
}

/// An open request for another release.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Other {
    /// The forge's number.
    pub number: u64,
    /// Where it leads.
    pub to: String,
    /// Its branch.
    pub branch: String,
    /// Commits of people on its branch, kept or not.
    pub people: Vec<String>,
    /// How it compares with the plan.
    pub beside: Beside,
}

/// How an open request of the same clusters compares with the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beside {
    /// It leads to another release.
    #[default]
    Release,
    /// It leads to the same release, for other clusters than those that share their files now.
    Clusters,
    /// It leads to a release that the target branch has already, or to an older one.
    Overtaken,
    /// It is another request of the same upgrade than the one that comes next.
    Order,
}

/// What the user wants in cases that need consent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Open requests for other releases.
    pub others: Others,
    /// Commits of people.
    pub commits: Commits,
    /// An upgrade that was declined or rolled back.
    pub again: Again,
    /// A pause of the cluster.
    pub pause: Heed,
}

/// What happens to an upgrade whose request was closed without a merge, or that was rolled back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Again {
    /// The flow stops and says so.
    #[default]
    Stop,
    /// A new request is opened (`--again`).
    Open,
}

/// What a pause does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Heed {
    /// The flow stops and says so.
    #[default]
    Stop,
    /// Nothing: a person merges what is open.
    Pass,
}

/// What happens to an open request for another target.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Others {
    /// The flow stops and names it.
    #[default]
    Stop,
    /// It is closed (`--supersede`).
    Supersede,
}

/// What happens to commits of people on a request's branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Commits {
    /// The flow stops and names them.
    #[default]
    Stop,
    /// They stay, and are part of the request from now on (`--keep-commits`).
    Keep,
    /// They are dropped (`--discard-commits`).
    Discard,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Carry out an effect, look again, and ask again.
    Run(Effect),
    /// People must take decisions.
    Decide,
    /// The request must not be merged before what it waits for is true.
    Hold,
    /// People must review and merge.
    Wait,
    /// It cannot go on without consent or help.
    Stopped(Cause),
}

/// An effect; each can be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Close the request for another release.
    Close(u64),
    /// Close the request that this run opened, since another was opened before it.
    Yield(u64),
    /// Note that the upgrade was confirmed.
    Confirm,
    /// Note what was confirmed for the request.
    Note,
    /// Note that the commits up to this head stay.
    Keep(String),
    /// Commit the plan's files on the target branch, and move the branch there from where it is now.
    Publish(Option<String>),
    /// Open the request.
    Open,
    /// Update the request.
    Update(u64),
    /// Commit the plan's files on the target branch, put the commits of people on top, and move the branch there from
    /// where it is now.
    Replay(String),
}

/// Why an upgrade stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// A request for another release is open.
    OtherOpen(Other),
    /// A request for another release would be closed, and people added commits to its branch.
    OtherHasCommits(Other),
    /// People added commits to the branch.
    PeopleCommitted(Vec<String>),
    /// Commits of people do not fit on what was computed anew.
    RebaseNeeded {
        /// The branch.
        branch: String,
        /// What does not fit: commit, file and reason.
        conflicts: Vec<String>,
    },
    /// Somebody closed the request without a merge.
    Declined(u64),
    /// The cluster went back from this release.
    RolledBack,
    /// The target branch lacks a request on the way to the release that was merged.
    Lost(u64),
    /// The cluster is paused.
    Paused(String),
}

impl Cause {
    /// Gives the sentence.
    pub fn sentence(&self) -> String {
        match self {
            Self::OtherOpen(other) => {
                let (number, to) = (other.number, &other.to);
                match other.beside {
                    Beside::Release => format!("request {number} is open and leads to {to}, another release"),
                    Beside::Clusters => format!(
                        "request {number} to {to} is open for other clusters than those that share their files now"
                    ),
                    Beside::Order => {
                        format!("request {number} is open and is not the one that comes next on the way to {to}")
                    }
                    Beside::Overtaken => {
                        format!("request {number} is open and leads to {to}, and the target branch does not need it")
                    }
                }
            }
            Self::OtherHasCommits(other) => {
                format!(
                    "request {} cannot be closed: people added {} to its branch `{}`, which would be lost",
                    other.number,
                    count(other.people.len()),
                    other.branch
                )
            }
            Self::PeopleCommitted(commits) => {
                format!(
                    "people added {} to the branch of the request, which would be lost",
                    count(commits.len())
                )
            }
            Self::RebaseNeeded { branch, conflicts } => {
                format!(
                    "commits of people on `{branch}` do not fit on what was computed anew: {}",
                    conflicts.join("; ")
                )
            }
            Self::Declined(number) => {
                format!("request {number} for this was closed without a merge; it is not opened again by itself")
            }
            Self::RolledBack => "this release was rolled back; it is not proposed again by itself".to_owned(),
            Self::Lost(number) => format!(
                "request {number} on the way to this release was merged, and the target branch lacks it; it is not proposed \
                 again by itself"
            ),
            Self::Paused(pause) => pause.clone(),
        }
    }

    /// Gives the commits of people that are in the way.
    pub fn commits(&self) -> Vec<String> {
        match self {
            Self::PeopleCommitted(commits) => commits.clone(),
            Self::OtherHasCommits(other) => other.people.clone(),
            _ => Vec::new(),
        }
    }
}

/// Decides what comes next; the plan must not be blocked.
pub fn next(plan: &Plan, seen: &Seen, wishes: Wishes) -> Next {
    if let Some(cause) = refused(seen, wishes) {
        return Next::Stopped(cause);
    }
    if let Some(next) = beside(seen, wishes) {
        return next;
    }
    if seen.unnoted {
        return Next::Run(Effect::Note);
    }
    // What was opened stays open as a draft when a new base brings up new decisions.
    let held = plan.opening == Opening::Held && seen.request.is_none();
    if held && !seen.confirmed {
        return Next::Run(Effect::Confirm);
    }
    if held {
        return Next::Decide;
    }
    if let Some(next) = branch(seen.branch.as_ref(), wishes.commits) {
        return next;
    }
    match &seen.request {
        None => Next::Run(Effect::Open),
        Some(request) if !request.current => Next::Run(Effect::Update(request.number)),
        Some(_) if plan.opening != Opening::Ready => Next::Decide,
        Some(_) if plan.is_draft() => Next::Hold,
        Some(_) => Next::Wait,
    }
}

/// Decides what other open requests of the same clusters mean; `None` when the upgrade can go on.
fn beside(seen: &Seen, wishes: Wishes) -> Option<Next> {
    let other = seen.others.first()?;
    if let (Some(opened), Some(own)) = (seen.opened, &seen.request)
        && opened == own.number
    {
        // Two runs looked before either opened its request. Each sees both now; the later one yields.
        let earlier = seen.others.iter().any(|other| other.number < opened);
        return earlier.then_some(Next::Run(Effect::Yield(opened)));
    }
    Some(match wishes.others {
        Others::Supersede if !other.people.is_empty() => Next::Stopped(Cause::OtherHasCommits(other.clone())),
        Others::Supersede => Next::Run(Effect::Close(other.number)),
        Others::Stop => Next::Stopped(Cause::OtherOpen(other.clone())),
    })
}

/// Tells why nothing may be opened: the cluster is paused, or people said no to this before.
fn refused(seen: &Seen, wishes: Wishes) -> Option<Cause> {
    if let (Some(pause), Heed::Stop) = (&seen.paused, wishes.pause) {
        return Some(Cause::Paused(pause.clone()));
    }
    if wishes.again == Again::Open || seen.request.is_some() {
        return None;
    }
    match seen.declined {
        Some(number) => Some(Cause::Declined(number)),
        // A new request for the release says that somebody wanted it again.
        None if seen.rolled_back => Some(Cause::RolledBack),
        None => seen.lost.map(Cause::Lost),
    }
}

/// Decides what the branch needs; `None` when it is as it should be.
fn branch(branch: Option<&Branch>, commits: Commits) -> Option<Next> {
    let Some(branch) = branch else {
        return Some(Next::Run(Effect::Publish(None)));
    };
    let rewrite = Some(Next::Run(Effect::Publish(Some(branch.head.clone()))));
    let replay = Some(Next::Run(Effect::Replay(branch.head.clone())));
    if !branch.people.is_empty() {
        return match (commits, branch.content) {
            (Commits::Stop, _) => Some(Next::Stopped(Cause::PeopleCommitted(branch.people.clone()))),
            (Commits::Discard, _) => rewrite,
            (Commits::Keep, Content::Planned | Content::Extended) => Some(Next::Run(Effect::Keep(branch.head.clone()))),
            (Commits::Keep, Content::Different | Content::Behind) => replay,
        };
    }
    let keep = !branch.kept.is_empty() && commits != Commits::Discard;
    match branch.content {
        Content::Planned => None,
        Content::Extended if keep => None,
        Content::Different | Content::Behind if keep => replay,
        Content::Extended | Content::Different | Content::Behind => rewrite,
    }
}

fn count(commits: usize) -> String {
    match commits {
        1 => "a commit".to_owned(),
        several => format!("{several} commits"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::{Platform, Version};

    fn plan(opening: Opening) -> Plan {
        Plan {
            upgrade: "u".into(),
            platform: Platform::flux(),
            cluster: "c".into(),
            with: vec![],
            from: Version::new(1, 0, 0),
            to: Version::new(1, 1, 0),
            branch: "refit/u/1-c".into(),
            writes: vec![],
            removes: Vec::new(),
            message: String::new(),
            title: String::new(),
            body: String::new(),
            opening,
            decisions: vec![],
            files: vec![],
            findings: vec![],
            undone: None,
            place: crate::stage::Place::only(&Version::new(1, 1, 0)),
            moves: vec![],
        }
    }

    fn branch(content: Content) -> Option<Branch> {
        Some(Branch {
            head: "h".into(),
            content,
            people: vec![],
            kept: vec![],
        })
    }

    fn people(content: Content) -> Option<Branch> {
        Some(Branch {
            people: vec!["p".into()],
            ..branch(content).unwrap()
        })
    }

    fn kept(content: Content) -> Option<Branch> {
        Some(Branch {
            kept: vec!["k".into()],
            ..branch(content).unwrap()
        })
    }

    fn check(opening: Opening, seen: Seen, commits: Commits, expected: Next) {
        let wishes = Wishes {
            commits,
            ..Wishes::default()
        };
        assert_eq!(next(&plan(opening), &seen, wishes), expected, "{seen:?}");
    }

    fn rewrite() -> Next {
        Next::Run(Effect::Publish(Some("h".into())))
    }

    fn request(current: bool) -> Option<OpenRequest> {
        Some(OpenRequest { number: 7, current })
    }

    #[test]
    fn what_is_confirmed_is_noted_first_and_a_request_is_held_until_all_is() {
        let seen = Seen {
            unnoted: true,
            ..Seen::default()
        };
        check(Opening::Ready, seen, Commits::Stop, Next::Run(Effect::Note));
        let mut gated = plan(Opening::Ready);
        gated.place.gate.push(crate::stage::Gate {
            wait: crate::stage::Wait::Migrated,
            why: vec![],
            ways: vec![],
            shows: true,
        });
        let seen = Seen {
            branch: branch(Content::Planned),
            request: request(true),
            ..Seen::default()
        };
        assert_eq!(next(&gated, &seen, Wishes::default()), Next::Hold);
        gated.opening = Opening::Draft;
        assert_eq!(next(&gated, &seen, Wishes::default()), Next::Decide);
        check(Opening::Ready, seen, Commits::Stop, Next::Wait);
    }

    #[test]
    fn a_fresh_upgrade_publishes_then_opens_then_waits() {
        let ready = Opening::Ready;
        check(ready, Seen::default(), Commits::Stop, Next::Run(Effect::Publish(None)));
        let seen = Seen {
            branch: branch(Content::Planned),
            ..Seen::default()
        };
        check(ready, seen.clone(), Commits::Stop, Next::Run(Effect::Open));
        let seen = Seen {
            request: request(true),
            ..seen
        };
        check(ready, seen.clone(), Commits::Stop, Next::Wait);
        check(Opening::Draft, seen, Commits::Stop, Next::Decide);
    }

    #[test]
    fn a_stale_branch_is_written_anew_and_a_stale_text_updated() {
        for content in [Content::Behind, Content::Different] {
            let seen = Seen {
                branch: branch(content),
                request: request(true),
                ..Seen::default()
            };
            check(Opening::Ready, seen, Commits::Stop, rewrite());
        }
        let seen = Seen {
            branch: branch(Content::Planned),
            request: request(false),
            ..Seen::default()
        };
        check(Opening::Ready, seen, Commits::Stop, Next::Run(Effect::Update(7)));
    }

    #[test]
    fn no_request_opens_before_image_and_contract_decisions_but_an_open_one_stays() {
        check(
            Opening::Held,
            Seen::default(),
            Commits::Stop,
            Next::Run(Effect::Confirm),
        );
        let seen = Seen {
            confirmed: true,
            ..Seen::default()
        };
        check(Opening::Held, seen, Commits::Stop, Next::Decide);
        let seen = Seen {
            branch: branch(Content::Planned),
            request: request(true),
            ..Seen::default()
        };
        check(Opening::Held, seen, Commits::Stop, Next::Decide);
    }

    #[test]
    fn commits_of_people_stop_the_flow_until_they_are_kept_or_discarded() {
        let stopped = Next::Stopped(Cause::PeopleCommitted(vec!["p".into()]));
        for content in [Content::Different, Content::Behind] {
            let seen = Seen {
                branch: people(content),
                request: request(true),
                ..Seen::default()
            };
            check(Opening::Ready, seen.clone(), Commits::Stop, stopped.clone());
            check(Opening::Ready, seen, Commits::Discard, rewrite());
        }
        let seen = |content| Seen {
            branch: people(content),
            request: request(true),
            ..Seen::default()
        };
        let (keep, replay) = (Effect::Keep("h".into()), Effect::Replay("h".into()));
        let run = Next::Run;
        check(Opening::Ready, seen(Content::Extended), Commits::Keep, run(keep));
        for content in [Content::Different, Content::Behind] {
            check(Opening::Ready, seen(content), Commits::Keep, run(replay.clone()));
        }
        let seen = |content| Seen {
            branch: kept(content),
            request: request(true),
            ..Seen::default()
        };
        check(Opening::Ready, seen(Content::Extended), Commits::Stop, Next::Wait);
        check(
            Opening::Ready,
            seen(Content::Behind),
            Commits::Stop,
            run(replay.clone()),
        );
        check(Opening::Ready, seen(Content::Different), Commits::Stop, run(replay));
        for content in [Content::Extended, Content::Different, Content::Behind] {
            check(Opening::Ready, seen(content), Commits::Discard, rewrite());
        }
    }

    #[test]
    fn a_pause_stops_all_but_a_merge_and_a_no_of_people_stops_until_it_is_asked_again() {
        let no = Seen {
            declined: Some(4),
            rolled_back: true,
            ..Seen::default()
        };
        let stopped = |seen: &Seen, wishes| match next(&plan(Opening::Ready), seen, wishes) {
            Next::Stopped(cause) => Some(cause),
            _ => None,
        };
        let again = Wishes {
            again: Again::Open,
            ..Wishes::default()
        };
        assert_eq!(stopped(&no, Wishes::default()), Some(Cause::Declined(4)));
        assert_eq!(stopped(&no, again), None);
        let back = Seen { declined: None, ..no };
        assert_eq!(stopped(&back, Wishes::default()), Some(Cause::RolledBack));
        let open = Seen {
            request: request(true),
            branch: branch(Content::Planned),
            ..back.clone()
        };
        assert_eq!(stopped(&open, Wishes::default()), None);
        let paused = Seen {
            paused: Some("p".into()),
            ..open
        };
        assert_eq!(stopped(&paused, again), Some(Cause::Paused("p".into())));
        let pass = Wishes {
            pause: Heed::Pass,
            ..Wishes::default()
        };
        assert_eq!(stopped(&paused, pass), None);
    }

    #[test]
    fn another_target_stops_the_flow_or_is_superseded_first() {
        let other = Other {
            number: 3,
            to: "v1.2.0".into(),
            branch: "refit/v/1-c".into(),
            people: vec![],
            beside: Beside::Release,
        };
        let seen = Seen {
            others: vec![other.clone()],
            ..Seen::default()
        };
        check(
            Opening::Ready,
            seen.clone(),
            Commits::Stop,
            Next::Stopped(Cause::OtherOpen(other)),
        );
        let wishes = Wishes {
            others: Others::Supersede,
            ..Wishes::default()
        };
        assert_eq!(next(&plan(Opening::Ready), &seen, wishes), Next::Run(Effect::Close(3)));
        let worked = Other {
            people: vec!["p".into()],
            beside: Beside::Release,
            ..seen.others[0].clone()
        };
        let seen = Seen {
            others: vec![worked.clone()],
            ..seen
        };
        let stopped = Next::Stopped(Cause::OtherHasCommits(worked));
        assert_eq!(next(&plan(Opening::Ready), &seen, wishes), stopped);
    }

    fn rival(number: u64) -> Other {
        Other {
            number,
            to: "v1.2.0".into(),
            branch: "refit/v/1-c".into(),
            people: vec![],
            beside: Beside::Release,
        }
    }

    #[test]
    fn of_two_requests_opened_at_the_same_moment_the_later_yields_whatever_it_wishes() {
        let seen = |opened: Option<u64>, other: u64| Seen {
            branch: branch(Content::Planned),
            request: request(true),
            others: vec![rival(other)],
            opened,
            ..Seen::default()
        };
        for others in [Others::Stop, Others::Supersede] {
            let wishes = Wishes {
                others,
                ..Wishes::default()
            };
            let decide = |seen| next(&plan(Opening::Ready), &seen, wishes);
            assert_eq!(decide(seen(Some(7), 3)), Next::Run(Effect::Yield(7)));
            assert_eq!(decide(seen(Some(7), 8)), Next::Wait);
        }
        // Another run opened it, and people may have looked at it since.
        check(
            Opening::Ready,
            seen(None, 3),
            Commits::Stop,
            Next::Stopped(Cause::OtherOpen(rival(3))),
        );
    }
}
