//! What every `Forge` must do.

use std::sync::Barrier;

use refit_engine::ports::{Change, CommitId, Forge, PortErrorKind, Repository, RequestState};

use super::{Place, child, draft, head, write};

/// A fresh place with a forge for its requests.
pub trait Site: Place + Sync {
    /// Uses the forge, as another process would.
    fn with_forge(&self, check: &dyn Fn(&dyn Forge));
}

/// Runs all checks, each in a fresh place.
pub fn check(make: &dyn Fn() -> Box<dyn Site>) {
    let checks: [fn(&dyn Site); 11] = [
        a_request_is_opened_once_for_a_branch,
        a_request_is_updated,
        a_request_is_merged_when_it_is_what_was_seen,
        a_request_is_not_merged_onto_a_target_that_moved,
        a_merge_by_hand_is_recognised,
        a_squash_or_rebase_by_hand_is_a_merge_and_stays_one,
        a_branch_that_brings_nothing_is_not_merged,
        a_closed_request_loses_its_branch,
        commits_of_people_are_seen_and_never_removed,
        requests_opened_at_once_get_numbers_of_their_own,
        a_branch_that_is_opened_several_times_at_once_gets_one_request,
    ];
    for check in checks {
        check(&*make());
    }
}

const BRANCH: &str = "refit/1234/1-flux";

/// Publishes a branch with one commit on top of `main`.
fn published(repository: &dyn Repository, branch: &str) -> CommitId {
    let commit = child(repository, branch);
    repository.publish(branch, Some(&commit), None).expect("a branch");
    commit
}

fn state(forge: &dyn Forge, number: u64) -> RequestState {
    let all = forge.list().expect("requests");
    all.into_iter()
        .find(|request| request.number == number)
        .expect("the request")
        .state
}

fn a_request_is_opened_once_for_a_branch(site: &dyn Site) {
    let repository = site.open();
    let commit = published(&*repository, BRANCH);
    let second = published(&*repository, "refit/1234/2-sources");
    site.with_forge(&|forge| {
        assert!(forge.list().expect("requests").is_empty());
        let opened = forge
            .open(&draft(BRANCH, &commit, RequestState::Draft))
            .expect("a request");
        assert_eq!((opened.number, opened.state), (1, RequestState::Draft));
        assert_eq!((opened.branch.as_str(), opened.base.as_str()), (BRANCH, "main"));
        assert_eq!(opened.head, commit);
        assert!(!opened.url.is_empty());
        let again = forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("the request");
        assert_eq!((again.number, again.state), (1, RequestState::Open));
        let other = forge
            .open(&draft("refit/1234/2-sources", &second, RequestState::Open))
            .expect("a request");
        assert_eq!(other.number, 2);
    });
    site.with_forge(&|forge| {
        let listed = forge.list().expect("requests");
        let seen: Vec<_> = listed
            .iter()
            .map(|one| (one.number, one.title.as_str(), one.body.as_str()))
            .collect();
        let body = "for the reviewer\n";
        assert_eq!(
            seen,
            [
                (2, "Change refit/1234/2-sources", body),
                (1, "Change refit/1234/1-flux", body)
            ]
        );
    });
}

fn a_request_is_updated(site: &dyn Site) {
    let repository = site.open();
    let commit = published(&*repository, BRANCH);
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Draft))
            .expect("a request");
        let next = repository
            .commit(&commit, &[write("x", "y")], "Next\n")
            .expect("a commit");
        repository
            .publish(BRANCH, Some(&next), Some(&commit))
            .expect("a moved branch");
        let mut newer = draft(BRANCH, &next, RequestState::Open);
        newer.title = "Newer".to_owned();
        let updated = forge.update(1, &newer).expect("an update");
        assert_eq!((updated.title.as_str(), updated.state), ("Newer", RequestState::Open));
        assert_eq!(updated.head, next);
        assert_eq!(forge.list().expect("requests"), [updated]);
        assert_eq!(
            forge.update(7, &newer).expect_err("no such request").kind,
            PortErrorKind::NotFound
        );
        forge.close(1).expect("a closed request");
        assert_eq!(
            forge.update(1, &newer).expect_err("it is closed").kind,
            PortErrorKind::NotReady
        );
        repository.publish(BRANCH, Some(&next), None).expect("the branch again");
        assert_eq!(forge.open(&newer).expect("a new request").number, 2);
    });
}

fn a_request_is_merged_when_it_is_what_was_seen(site: &dyn Site) {
    let repository = site.open();
    let before = head(&*repository);
    let commit = published(&*repository, BRANCH);
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Draft))
            .expect("a request");
        assert_eq!(
            forge.merge(1, &commit).expect_err("it is a draft").kind,
            PortErrorKind::NotReady
        );
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("the request");
        assert_eq!(
            forge.merge(1, &before).expect_err("another head").kind,
            PortErrorKind::Moved
        );
        assert_eq!(
            forge.merge(9, &commit).expect_err("no such request").kind,
            PortErrorKind::NotFound
        );
        assert_eq!(head(&*site.open()), before);
        let merged = forge.merge(1, &commit).expect("a merge");
        assert_eq!((merged.state, &merged.head), (RequestState::Merged, &commit));
        assert_eq!(head(&*site.open()), commit);
        assert_eq!(site.open().branch(BRANCH).expect("an answer"), None);
        assert_eq!(
            forge.merge(1, &commit).expect("a repeated effect").state,
            RequestState::Merged
        );
        assert_eq!(forge.close(1).expect_err("it is merged").kind, PortErrorKind::NotReady);
    });
    site.with_forge(&|forge| assert_eq!(state(forge, 1), RequestState::Merged));
}

fn a_request_is_not_merged_onto_a_target_that_moved(site: &dyn Site) {
    let repository = site.open();
    let commit = published(&*repository, BRANCH);
    let base = repository.base(None).expect("a base");
    let moved = child(&*repository, "somebody else");
    repository
        .fast_forward(&base, &moved)
        .expect("a merge of somebody else");
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("a request");
        assert_eq!(
            forge.merge(1, &commit).expect_err("the target moved").kind,
            PortErrorKind::Moved
        );
        assert_eq!(state(forge, 1), RequestState::Open);
    });
    assert_eq!(head(&*site.open()), moved);
}

fn a_merge_by_hand_is_recognised(site: &dyn Site) {
    let repository = site.open();
    let base = repository.base(None).expect("a base");
    let commit = published(&*repository, BRANCH);
    let other = published(&*repository, "refit/1234/2-other");
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("a request");
        forge
            .open(&draft("refit/1234/2-other", &other, RequestState::Open))
            .expect("a request");
    });
    repository.fast_forward(&base, &commit).expect("a merge by hand");
    repository
        .publish("refit/1234/2-other", None, Some(&other))
        .expect("a branch removed by hand");
    site.with_forge(&|forge| {
        assert_eq!(state(forge, 1), RequestState::Merged);
        assert_eq!(state(forge, 2), RequestState::Closed);
    });
    repository
        .publish(BRANCH, None, Some(&commit))
        .expect("a branch removed by hand");
    site.with_forge(&|forge| {
        assert_eq!(state(forge, 1), RequestState::Merged);
        assert_eq!(
            forge.merge(1, &commit).expect("nothing to do").state,
            RequestState::Merged
        );
    });
}

/// Moves `main` to a commit with a change, as somebody does, and gives it.
fn moved(repository: &dyn Repository, changes: &[Change], message: &str) -> CommitId {
    let base = repository.base(None).expect("a base");
    let commit = repository.commit(&base.commit, changes, message).expect("a commit");
    repository.fast_forward(&base, &commit).expect("a moved target");
    commit
}

fn a_squash_or_rebase_by_hand_is_a_merge_and_stays_one(site: &dyn Site) {
    let repository = site.open();
    let first = published(&*repository, BRANCH);
    let head = repository
        .commit(&first, &[write("more", "by hand\n")], "By hand\n")
        .expect("a commit");
    repository
        .publish(BRANCH, Some(&head), Some(&first))
        .expect("a moved branch");
    let other = published(&*repository, "refit/1234/2-other");
    site.with_forge(&|forge| {
        for (branch, head) in [(BRANCH, &head), ("refit/1234/2-other", &other)] {
            forge.open(&draft(branch, head, RequestState::Open)).expect("a request");
        }
        moved(&*site.open(), &[write("elsewhere", "1")], "Something else\n");
        assert_eq!(
            (state(forge, 1), state(forge, 2)),
            (RequestState::Open, RequestState::Open)
        );
        // A part of it is not all of it.
        moved(&*site.open(), &[write("said", BRANCH)], "A part\n");
        assert_eq!(state(forge, 1), RequestState::Open);
        moved(&*site.open(), &[write("more", "by hand\n")], "The rest\n");
        assert_eq!(
            (state(forge, 1), state(forge, 2)),
            (RequestState::Merged, RequestState::Open)
        );
        let both = [write("said", "refit/1234/2-other"), write("elsewhere", "2")];
        moved(&*site.open(), &both, "A squash\n");
        assert_eq!(state(forge, 2), RequestState::Merged);
        moved(&*site.open(), &[write("said", "something newer")], "Later\n");
        assert_eq!(state(forge, 2), RequestState::Merged);
        let merged = forge.merge(2, &other).expect("nothing to do");
        assert_eq!(merged.state, RequestState::Merged);
        assert_eq!(site.open().branch("refit/1234/2-other").expect("an answer"), None);
        assert_eq!(state(forge, 2), RequestState::Merged);
    });
}

fn a_branch_that_brings_nothing_is_not_merged(site: &dyn Site) {
    let repository = site.open();
    let before = head(&*repository);
    let commit = published(&*repository, BRANCH);
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("a request");
    });
    repository
        .publish(BRANCH, Some(&before), Some(&commit))
        .expect("a branch reset by hand");
    site.with_forge(&|forge| {
        assert_eq!(state(forge, 1), RequestState::Closed);
        let error = forge.merge(1, &before).expect_err("there is nothing to merge");
        assert_eq!(error.kind, PortErrorKind::NotReady);
        moved(&*site.open(), &[write("elsewhere", "1")], "Something else\n");
        assert_eq!(state(forge, 1), RequestState::Closed);
        assert_eq!(forge.close(1).expect("a closed request").state, RequestState::Closed);
    });
    assert_eq!(site.open().branch(BRANCH).expect("an answer"), Some(before));
}

fn a_closed_request_loses_its_branch(site: &dyn Site) {
    let repository = site.open();
    let commit = published(&*repository, BRANCH);
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Draft))
            .expect("a request");
        assert_eq!(forge.close(1).expect("a closed request").state, RequestState::Closed);
        assert_eq!(forge.close(1).expect("a repeated effect").state, RequestState::Closed);
        assert_eq!(
            forge.close(2).expect_err("no such request").kind,
            PortErrorKind::NotFound
        );
        assert_eq!(
            forge.merge(1, &commit).expect_err("it is closed").kind,
            PortErrorKind::NotReady
        );
    });
    let again = site.open();
    assert_eq!(again.branch(BRANCH).expect("an answer"), None);
    // The next request of the same branch keeps it when the old one is closed once more.
    again.publish(BRANCH, Some(&commit), None).expect("the branch again");
    site.with_forge(&|forge| {
        assert_eq!(state(forge, 1), RequestState::Closed);
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("a new request");
        forge.close(1).expect("a repeated effect");
        assert_eq!(state(forge, 2), RequestState::Open);
    });
}

fn commits_of_people_are_seen_and_never_removed(site: &dyn Site) {
    let repository = site.open();
    let commit = published(&*repository, BRANCH);
    site.with_forge(&|forge| {
        forge
            .open(&draft(BRANCH, &commit, RequestState::Open))
            .expect("a request");
    });
    let theirs = repository
        .commit(&commit, &[write("x", "by hand")], "By hand\n")
        .expect("a commit");
    repository
        .publish(BRANCH, Some(&theirs), Some(&commit))
        .expect("a moved branch");
    site.with_forge(&|forge| {
        assert_eq!(forge.list().expect("requests")[0].head, theirs);
        assert_eq!(
            forge.merge(1, &commit).expect_err("the branch moved").kind,
            PortErrorKind::Moved
        );
        assert_eq!(
            forge.close(1).expect_err("commits would be lost").kind,
            PortErrorKind::Moved
        );
        assert_eq!(state(forge, 1), RequestState::Open);
        assert_eq!(site.open().branch(BRANCH).expect("an answer").as_ref(), Some(&theirs));
        assert_eq!(
            forge.merge(1, &theirs).expect("what was seen").state,
            RequestState::Merged
        );
    });
    assert_eq!(head(&*site.open()), theirs);
}

fn requests_opened_at_once_get_numbers_of_their_own(site: &dyn Site) {
    let writers = 4;
    let repository = site.open();
    let branches: Vec<_> = (0..writers).map(|number| format!("refit/1234/{number}")).collect();
    let commits: Vec<_> = branches.iter().map(|branch| published(&*repository, branch)).collect();
    let barrier = Barrier::new(writers);
    std::thread::scope(|scope| {
        for (branch, commit) in branches.iter().zip(&commits) {
            let barrier = &barrier;
            scope.spawn(move || {
                site.with_forge(&|forge| {
                    barrier.wait();
                    forge
                        .open(&draft(branch, commit, RequestState::Open))
                        .expect("a request");
                });
            });
        }
    });
    site.with_forge(&|forge| {
        let listed = forge.list().expect("requests");
        let numbers: Vec<_> = listed.iter().map(|request| request.number).collect();
        assert_eq!(numbers, [4, 3, 2, 1]);
        let mut seen: Vec<_> = listed.into_iter().map(|request| request.branch).collect();
        seen.sort();
        assert_eq!(seen, branches);
    });
}

fn a_branch_that_is_opened_several_times_at_once_gets_one_request(site: &dyn Site) {
    let writers = 4;
    let commit = published(&*site.open(), BRANCH);
    let barrier = Barrier::new(writers);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (barrier, commit) = (&barrier, &commit);
            scope.spawn(move || {
                site.with_forge(&|forge| {
                    let mut own = draft(BRANCH, commit, RequestState::Open);
                    own.title = format!("Writer {writer}");
                    barrier.wait();
                    // Whoever comes to the request while another fills it has to look again.
                    match forge.open(&own) {
                        Ok(request) => assert_eq!(request.number, 1),
                        Err(error) => assert_eq!(error.kind, PortErrorKind::Moved, "{error:?}"),
                    }
                });
            });
        }
    });
    site.with_forge(&|forge| assert_eq!(forge.list().expect("requests").len(), 1));
}
