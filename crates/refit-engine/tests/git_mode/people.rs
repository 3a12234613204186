//! What people do and say while an upgrade is under way, and after it.

use refit_core::report::{Report, State};
use refit_engine::ports::Repository;
use refit_engine::{Again, Ask, Commits, Others, Pausing};
use refit_manifest::{Answer, DecisionId};

use crate::world::{GENERATED, World, ask, one, told, upgrade, upgrade_asked};

fn resume(world: &World, commits: Commits) -> String {
    told(world.run(|ports| {
        let report = one(refit_engine::resume(ports, &ask(""), commits)?);
        Ok((report.exit.code(), report.message))
    }))
}

fn merge(world: &World) -> String {
    told(world.run(|ports| {
        let report = refit_engine::request_merge(ports, &ask(""), None)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn rollback(world: &World) -> String {
    told(world.run(|ports| {
        let prepared = refit_engine::rollback(ports, &ask(""))?;
        let report = one(refit_engine::carry_out(ports, &prepared, Others::Stop)?);
        Ok((report.exit.code(), report.message))
    }))
}

fn cancel(world: &World, commits: Commits) -> String {
    told(world.run(|ports| {
        let report = refit_engine::cancel(ports, &ask(""), commits)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn pause(world: &World, pausing: &Pausing) -> String {
    told(world.run(|ports| {
        let report = refit_engine::pause(ports, &ask(""), pausing)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn status(world: &World) -> Report<refit_core::report::Status> {
    world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap()
}

fn again() -> Ask {
    Ask {
        again: Again::Open,
        ..ask("flux@v7.2.0")
    }
}

fn plain(text: String) -> String {
    text
}

const STOPPED: &str = "4 people added a commit to the branch of the request, which would be lost";

#[test]
fn kept_commits_are_put_on_top_when_the_target_moves_and_no_line_is_lost() {
    let world = World::new(plain);
    upgrade(&world, "");
    let branch = world.branch();
    world.repository.set_author("Grace <grace@example.org>");
    let scaled = world
        .text(&branch, GENERATED)
        .unwrap()
        .replace("cpu: 1000m", "cpu: 2000m");
    world.commit(&branch, GENERATED, &scaled);
    world.commit(&branch, "notes.txt", "mine\n");
    let debug = world
        .text("main", GENERATED)
        .unwrap()
        .replace("--log-level=info", "--log-level=debug");
    world.commit("main", GENERATED, &debug);
    assert!(resume(&world, Commits::Stop).starts_with("4 people added 2 commits"));
    assert!(resume(&world, Commits::Keep).starts_with("6 request 1 waits"));
    let text = world.text(&branch, GENERATED).unwrap();
    for line in [
        "cpu: 2000m",
        "--log-level=debug",
        "source-controller:v7.2.0",
        "replicas: 3",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert_eq!(world.text(&branch, "notes.txt").as_deref(), Some("mine\n"));
    let (base, head) = (
        world.repository.base(None).unwrap(),
        world.repository.branch(&branch).unwrap().unwrap(),
    );
    let commits = world.repository.commits_between(&base.commit, &head).unwrap();
    let authors: Vec<&str> = commits.iter().map(|commit| commit.author.as_str()).collect();
    assert_eq!(authors[..2], ["Grace <grace@example.org>"; 2]);
    assert_eq!((commits.len(), commits[2].ours), (3, true));
    // They stay kept: the next move needs no word.
    world.commit("main", "README.md", "changed\n");
    assert!(merge(&world).starts_with("0 "));
    assert!(world.text("main", GENERATED).unwrap().contains("cpu: 2000m"));
    assert_eq!(world.text("main", "README.md").as_deref(), Some("changed\n"));
}

#[test]
fn a_kept_commit_that_does_not_fit_is_named_and_nothing_moves() {
    let world = World::new(plain);
    upgrade(&world, "");
    let branch = world.branch();
    world.commit(&branch, "README.md", "theirs\n");
    world.commit("main", "README.md", "ours\n");
    let head = world.repository.branch(&branch).unwrap();
    let said = resume(&world, Commits::Keep);
    assert!(said.starts_with("4 commits of people on `refit/"), "{said}");
    assert!(said.contains("`README.md` of "), "{said}");
    assert_eq!(world.repository.branch(&branch).unwrap(), head);
    let said = resume(&world, Commits::Discard);
    assert!(said.ends_with("; 1 commit of people was discarded"), "{said}");
}

#[test]
fn an_answer_after_commits_were_kept_reaches_the_branch() {
    let world = World::new(|text| text.replace("replicas: 1", "replicas: 2"));
    assert!(upgrade(&world, "").starts_with("5 "));
    let branch = world.branch();
    world.commit(&branch, "notes.txt", "mine\n");
    assert!(resume(&world, Commits::Keep).starts_with("5 "));
    let listed = world
        .run(|ports| Ok(one(refit_engine::resolve(ports, &ask(""), None)?)))
        .unwrap();
    let id = DecisionId(listed.body.decisions[0].id.clone());
    let answer = Some((id, Answer::Theirs));
    let report = world
        .run(|ports| Ok(one(refit_engine::resolve(ports, &ask(""), answer)?)))
        .unwrap();
    assert_eq!(report.message, "no decision is open; request 1 waits for review");
    assert!(world.text(&branch, GENERATED).unwrap().contains("replicas: 3"));
    assert_eq!(world.text(&branch, "notes.txt").as_deref(), Some("mine\n"));
}

#[test]
fn no_way_to_close_a_request_loses_commits_of_people_kept_or_not() {
    let world = World::new(plain);
    upgrade(&world, "");
    let branch = world.branch();
    world.commit(&branch, "notes.txt", "mine\n");
    for _ in 0..2 {
        assert!(cancel(&world, Commits::Stop).starts_with("4 people added commits"));
        let closed = world.run(|ports| refit_engine::request_close(ports, None)).unwrap();
        assert_eq!(closed.exit.code(), 4);
        assert_eq!(world.text(&branch, "notes.txt").as_deref(), Some("mine\n"));
        resume(&world, Commits::Keep);
    }
    let said = cancel(&world, Commits::Discard);
    assert_eq!(
        said,
        "0 the upgrade of `production` is given up; 1 commit of people was discarded"
    );
    assert_eq!(world.repository.branch(&branch).unwrap(), None);
}

#[test]
fn an_amended_commit_counts_as_a_persons() {
    let world = World::new(plain);
    upgrade(&world, "");
    let branch = world.branch();
    let (base, head) = (
        world.repository.base(None).unwrap().commit,
        world.repository.branch(&branch).unwrap().unwrap(),
    );
    let change = |path: &str, edit: fn(String) -> String| refit_engine::ports::Change {
        path: path.into(),
        entry: Some(refit_manifest::Entry::file(
            edit(world.text(&branch, path).unwrap()).into_bytes(),
        )),
    };
    let changes = [
        change(GENERATED, |text| text.replace("cpu: 1000m", "cpu: 7")),
        change(".refit/production.json", plain),
    ];
    let message = "Upgrade\n\nRefit-Upgrade: x\n";
    let amended = world.repository.commit(&base, &changes, message).unwrap();
    world.repository.publish(&branch, Some(&amended), Some(&head)).unwrap();
    assert_eq!(resume(&world, Commits::Stop), STOPPED);
    assert!(resume(&world, Commits::Keep).starts_with("6 "));
    let text = world.text(&branch, GENERATED).unwrap();
    assert!(
        text.contains("cpu: 7\n") && text.contains("source-controller:v7.2.0"),
        "{text}"
    );
}

/// Writes the commit of the branch again, as somebody does who amends it.
fn amend(world: &World, branch: &str, message: &str, change: Option<(&str, refit_manifest::Entry)>) {
    let head = world.repository.branch(branch).unwrap().unwrap();
    let base = world.repository.base(None).unwrap().commit;
    let mut changes: Vec<refit_engine::ports::Change> = [GENERATED, ".refit/production.json"]
        .map(|path| refit_engine::ports::Change {
            path: path.into(),
            entry: Some(refit_manifest::Entry::file(
                world.text(branch, path).unwrap().into_bytes(),
            )),
        })
        .into();
    changes.extend(change.map(|(path, entry)| refit_engine::ports::Change {
        path: path.into(),
        entry: Some(entry),
    }));
    let amended = world.repository.commit(&base, &changes, message).unwrap();
    world.repository.publish(branch, Some(&amended), Some(&head)).unwrap();
}

/// Lists the modes of a branch's files.
fn executables(world: &World, branch: &str) -> Vec<String> {
    let head = world.repository.branch(branch).unwrap().unwrap();
    let listed = world.repository.list(&head).unwrap();
    let executable = listed
        .iter()
        .filter(|item| item.kind == refit_engine::ports::ListedKind::Executable);
    executable.map(|item| item.path.to_string()).collect()
}

#[test]
fn an_amended_mode_message_or_author_is_asked_about_and_survives_when_it_is_kept() {
    let script = refit_manifest::Entry::File {
        bytes: b"hello\n".as_slice().into(),
        executable: true,
    };
    let plain_message = "Upgrade\n\nRefit-Upgrade: x\n";
    let cases = [
        (
            plain_message,
            Some(("README.md", script)),
            "Memory <memory@example.org>",
        ),
        (
            "Upgrade, as talked over\n\nRefit-Upgrade: x\n",
            None,
            "Memory <memory@example.org>",
        ),
        (plain_message, None, "Grace <grace@example.org>"),
    ];
    for (message, change, author) in cases {
        let world = World::new(plain);
        upgrade(&world, "");
        let branch = world.branch();
        world.repository.set_author(author);
        let mode = change.is_some();
        amend(&world, &branch, message, change);
        world.repository.set_author("Memory <memory@example.org>");
        let head = world.repository.branch(&branch).unwrap();
        for _ in 0..2 {
            assert_eq!(resume(&world, Commits::Stop), STOPPED);
            world.commit("main", "other.txt", "moved\n");
        }
        assert_eq!(world.repository.branch(&branch).unwrap(), head);
        assert!(resume(&world, Commits::Keep).starts_with("6 "));
        // What was kept stays when the target moves once more.
        for text in ["again\n", "and again\n"] {
            world.commit("main", "other.txt", text);
            assert!(resume(&world, Commits::Stop).starts_with("6 "));
        }
        let base = world.repository.base(None).unwrap().commit;
        let head = world.repository.branch(&branch).unwrap().unwrap();
        let commits = world.repository.commits_between(&base, &head).unwrap();
        let seen: Vec<(&str, &str)> = commits
            .iter()
            .map(|commit| (commit.author.as_str(), commit.subject.as_str()))
            .collect();
        assert_eq!(seen.len(), 2, "{seen:?}");
        assert_eq!(seen[0], (author, message.lines().next().unwrap()));
        assert_eq!(executables(&world, &branch).contains(&"README.md".to_owned()), mode);
        assert!(world.text(&branch, GENERATED).unwrap().contains("v7.2.0"));
    }
}

#[test]
fn an_empty_commit_that_was_kept_keeps_its_message() {
    let world = World::new(plain);
    upgrade(&world, "");
    let branch = world.branch();
    let head = world.repository.branch(&branch).unwrap().unwrap();
    let said = world.repository.commit(&head, &[], "Approved by Grace\n").unwrap();
    world.repository.publish(&branch, Some(&said), Some(&head)).unwrap();
    let report = status(&world);
    assert_eq!(report.state, State::Waiting);
    let commands: Vec<_> = report.next.iter().filter_map(|next| next.command.as_deref()).collect();
    assert_eq!(
        commands,
        ["refit resume --keep-commits", "refit resume --discard-commits"]
    );
    let stopped = merge(&world);
    assert!(
        stopped.starts_with(STOPPED) && stopped.contains("Approved by Grace"),
        "{stopped}"
    );
    assert!(resume(&world, Commits::Keep).starts_with("6 "));
    assert!(
        status(&world)
            .next
            .iter()
            .any(|next| next.command.as_deref() == Some("refit request merge 1"))
    );
    world.commit("main", "README.md", "moved\n");
    assert!(resume(&world, Commits::Stop).starts_with("6 "));
    let base = world.repository.base(None).unwrap().commit;
    let head = world.repository.branch(&branch).unwrap().unwrap();
    let commits = world.repository.commits_between(&base, &head).unwrap();
    assert_eq!(commits[0].subject, "Approved by Grace");
}

#[test]
fn a_request_whose_record_somebody_damaged_or_removed_is_found_by_its_branch() {
    let damages: [fn(&str) -> Option<String>; 3] = [
        |_| Some("garbage".into()),
        |_| None,
        |text| Some(text.replace("\"upgrade\": \"", "\"upgrade\": \"0")),
    ];
    for damage in damages {
        let mut world = World::new(plain);
        let text = crate::world::manifest("v7.1.1", &["v1beta2", "v1"]);
        world.releases.add(refit_testkit::releases::ReleaseFile {
            platform: "flux",
            version: "v7.1.1",
            name: "g.yaml",
            text: &text,
        });
        upgrade(&world, "flux@v7.2.0");
        let (branch, path) = (world.branch(), ".refit/production.json");
        let head = world.repository.branch(&branch).unwrap().unwrap();
        let entry = damage(&world.text(&branch, path).unwrap());
        let change = refit_engine::ports::Change {
            path: path.into(),
            entry: entry.map(|text| refit_manifest::Entry::file(text.into_bytes())),
        };
        let damaged = world.repository.commit(&head, &[change], "By hand\n").unwrap();
        world.repository.publish(&branch, Some(&damaged), Some(&head)).unwrap();
        assert_eq!(status(&world).body.clusters[0].requests.len(), 1);
        assert_eq!(resume(&world, Commits::Stop), STOPPED);
        assert!(merge(&world).starts_with(STOPPED));
        assert_eq!(
            upgrade(&world, "flux@v7.1.1"),
            "4 request 1 is open and leads to v7.2.0, another release"
        );
        assert!(cancel(&world, Commits::Stop).starts_with("4 people added commits"));
        assert_eq!(world.run(refit_engine::request_list).unwrap().body.requests.len(), 1);
        assert!(resume(&world, Commits::Discard).starts_with("6 "));
        assert!(merge(&world).starts_with("0 "));
    }
}

#[test]
fn a_squash_by_hand_leaves_nothing_open_and_a_reset_branch_is_no_merge() {
    let world = World::new(plain);
    upgrade(&world, "flux@v7.2.0");
    let branch = world.branch();
    world.commit("main", "README.md", "moved\n");
    for path in [".refit/production.json", GENERATED] {
        world.commit("main", path, &world.text(&branch, path).unwrap());
    }
    let listed = world.run(refit_engine::request_list).unwrap();
    assert_eq!(listed.body.requests[0].state, "merged");
    assert_eq!(status(&world).state, State::Done);
    assert!(cancel(&world, Commits::Stop).starts_with("0 no upgrade"));
    let merged = world
        .run(|ports| refit_engine::request_merge(ports, &ask(""), Some(1)))
        .unwrap();
    assert_eq!(
        (merged.exit.code(), world.repository.branch(&branch).unwrap()),
        (0, None)
    );

    let world = World::new(plain);
    upgrade(&world, "flux@v7.2.0");
    let (branch, main) = (world.branch(), world.repository.base(None).unwrap().commit);
    let head = world.repository.branch(&branch).unwrap();
    world.repository.publish(&branch, Some(&main), head.as_ref()).unwrap();
    let error = world
        .run(|ports| refit_engine::request_merge(ports, &ask(""), Some(1)))
        .unwrap_err();
    assert_eq!(error.exit().code(), 4, "{error}");
    assert!(upgrade(&world, "flux@v7.2.0").starts_with("4 request 1 for this was closed"));
    assert!(upgrade_asked(&world, &again(), Others::Stop).starts_with("6 request 2 waits"));
}

#[test]
fn a_declined_upgrade_stays_declined_until_it_is_asked_again_or_cleared() {
    let world = World::new(plain);
    upgrade(&world, "flux@v7.2.0");
    world.run(|ports| refit_engine::request_close(ports, None)).unwrap();
    let no = "4 request 1 for this was closed without a merge; it is not opened again by itself";
    assert_eq!(upgrade(&world, "flux@v7.2.0"), no);
    let body = status(&world).body.clusters.remove(0);
    assert_eq!(
        body.declined.map(|declined| (declined.request, declined.to)),
        Some((1, "v7.2.0".into()))
    );
    // Another upgrade, to the newest release, is offered beside it.
    let offered: Vec<&str> = body.next.iter().filter_map(|next| next.command.as_deref()).collect();
    for command in ["refit upgrade flux@v7.3.0", "refit upgrade flux@v7.2.0 --again"] {
        assert!(offered.contains(&command), "{offered:?}");
    }
    assert!(upgrade_asked(&world, &again(), Others::Stop).starts_with("6 request 2 waits"));
    assert!(upgrade(&world, "flux@v7.2.0").starts_with("6 request 2 waits"));
    // Whoever removes the branch says no, too.
    let branch = world.branch();
    let head = world.repository.branch(&branch).unwrap();
    world.repository.publish(&branch, None, head.as_ref()).unwrap();
    assert!(upgrade(&world, "flux@v7.2.0").starts_with("4 request 2 for this"));
    assert!(cancel(&world, Commits::Stop).starts_with("0 the upgrade of `production` is given up"));
    assert!(cancel(&world, Commits::Stop).starts_with("0 no upgrade of `main` is under way"));
    assert!(upgrade(&world, "flux@v7.2.0").starts_with("6 request 3 waits"));
}

#[test]
fn a_pause_keeps_everything_from_opening_until_it_ends() {
    let world = World::new(plain);
    let on = Pausing::On(Some("freeze".into()));
    assert!(pause(&world, &on).starts_with("0 `production` is paused"));
    let paused = "4 `production` is paused since 2026-01-01T12:00:00Z by Memory <memory@example.org>: freeze";
    assert_eq!(upgrade(&world, ""), paused);
    assert!(world.run(refit_engine::request_list).unwrap().body.requests.is_empty());
    let report = status(&world);
    assert_eq!((report.state, report.exit.code()), (State::Stopped, 0));
    assert!(pause(&world, &Pausing::Off).starts_with("0 `production` is not paused"));
    assert_eq!(pause(&world, &Pausing::Off), "0 nothing was paused");
    upgrade(&world, "");
    pause(&world, &on);
    assert_eq!(resume(&world, Commits::Stop), paused);
    assert!(merge(&world).starts_with("0 "), "what is open can be merged");
    assert_eq!(rollback(&world), paused);
}

#[test]
fn a_rollback_keeps_later_edits_and_is_told_by_status_and_history() {
    let mut world = World::new(plain);
    let text = crate::world::manifest("v7.1.1", &["v1beta2", "v1"]);
    world.releases.add(refit_testkit::releases::ReleaseFile {
        platform: "flux",
        version: "v7.1.1",
        name: "g.yaml",
        text: &text,
    });
    assert_eq!(
        rollback(&world),
        "0 no upgrade of `production` is recorded that could go back"
    );
    let before = world.text("main", GENERATED).unwrap();
    upgrade(&world, "flux@v7.1.1");
    merge(&world);
    let edit = |text: &str| text.replace("--log-level=info", "--log-level=debug");
    world.commit("main", GENERATED, &edit(&world.text("main", GENERATED).unwrap()));
    let waits = "6 request 2 waits for review: Roll back flux on production from v7.1.1 to v7.1.0";
    assert_eq!(rollback(&world), waits);
    assert_eq!(resume(&world, Commits::Stop), waits);
    world.commit("main", "README.md", "changed\n");
    assert!(merge(&world).starts_with("0 "));
    assert_eq!(world.text("main", GENERATED).unwrap(), edit(&before));
    assert_eq!(world.text("main", "README.md").as_deref(), Some("changed\n"));
    let report = status(&world);
    assert_eq!(report.message, "`production` runs v7.1.0, rolled back from v7.1.1");
    assert_eq!(
        upgrade(&world, "flux@v7.1.1"),
        "4 this release was rolled back; it is not proposed again by itself"
    );
    assert_eq!(
        rollback(&world),
        "0 no upgrade of `production` is recorded that could go back"
    );
    let history = world.run(|ports| refit_engine::history(ports, &ask(""))).unwrap();
    let lines: Vec<String> = history
        .body
        .entries
        .iter()
        .map(|one| {
            format!(
                "{} {} {} -> {} {:?}",
                one.number, one.kind, one.from, one.to, one.request
            )
        })
        .collect();
    assert_eq!(
        lines,
        [
            "1 rollback v7.1.1 -> v7.1.0 Some(2)",
            "2 upgrade v7.1.0 -> v7.1.1 Some(1)"
        ]
    );
    assert!(
        upgrade(&world, "flux@v7.2.0").starts_with("6 "),
        "another release is free"
    );
}

#[test]
fn an_edit_in_the_way_of_a_rollback_is_a_decision() {
    let world = World::new(plain);
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    let edited = world
        .text("main", GENERATED)
        .unwrap()
        .replace("replicas: 3", "replicas: 5");
    world.commit("main", GENERATED, &edited);
    let said = rollback(&world);
    assert!(
        said.starts_with("6 ") || said.starts_with("5 request 2 is a draft"),
        "{said}"
    );
    assert!(world.text(&world.branch(), GENERATED).unwrap().contains("replicas: 5"));
}

#[test]
fn a_rollback_past_the_point_of_no_return_or_of_another_release_is_blocked() {
    let world = World::new(|_| crate::world::manifest("v7.0.0", &["v1beta2"]));
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    let code = |world: &World| {
        let prepared = world.run(|ports| refit_engine::rollback(ports, &ask(""))).unwrap();
        let report = one(prepared.report());
        assert_eq!(report.exit.code(), 3);
        let blocking = report.body.findings.into_iter().filter(|finding| finding.blocks());
        blocking.map(|finding| finding.code.word()).collect::<Vec<_>>()
    };
    assert_eq!(code(&world), ["PastPointOfNoReturn"]);

    let world = World::new(plain);
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    world.commit("main", GENERATED, &crate::world::manifest("v7.3.0", &["v1", "v1beta2"]));
    assert_eq!(code(&world), ["UpgradedSince"]);
}

#[test]
fn the_answer_to_a_deletion_holds_for_the_next_upgrade() {
    let deleted = |text: String| text.replace("      priorityClassName: system-cluster-critical\n", "");
    let mut world = World::new(deleted);
    let newer = |version: &str, class: &str| {
        crate::world::manifest(version, &["v1beta2", "v1"]).replace("system-cluster-critical", class)
    };
    for (version, class) in [("v7.1.1", "one"), ("v7.1.2", "two")] {
        let text = newer(version, class);
        world.releases.add(refit_testkit::releases::ReleaseFile {
            platform: "flux",
            version,
            name: "g.yaml",
            text: &text,
        });
    }
    let decisions = |target: &str| {
        let prepared = world.run(|ports| refit_engine::plan(ports, &ask(target))).unwrap();
        one(prepared.report()).body.decisions
    };
    let id = decisions("flux@v7.1.1")[0].id.clone();
    let answer = Some((DecisionId(id.clone()), Answer::Ours));
    world
        .run(|ports| refit_engine::resolve(ports, &ask("flux@v7.1.1"), answer))
        .unwrap();
    upgrade(&world, "flux@v7.1.1");
    merge(&world);
    let second = decisions("flux@v7.1.2");
    assert_eq!(
        (second[0].id.as_str(), second[0].answer.as_deref()),
        (id.as_str(), Some("ours"))
    );
}

#[test]
fn a_merged_request_shows_what_it_brought_and_nonsense_is_no_answer() {
    let world = World::new(plain);
    upgrade(&world, "");
    merge(&world);
    let report = world
        .run(|ports| Ok(one(refit_engine::diff(ports, &ask(""), Some(1))?)))
        .unwrap();
    let paths: Vec<&str> = report.body.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".refit/production.json", GENERATED]);

    let pinned = |text: String| text.replace("ghcr.io/fluxcd/source-controller:v7.1.0", "example.org/own:latest");
    let world = World::new(pinned);
    upgrade(&world, "flux@v7.2.0");
    let listed = world
        .run(|ports| Ok(one(refit_engine::resolve(ports, &ask(""), None)?)))
        .unwrap();
    let id = DecisionId(listed.body.decisions[0].id.clone());
    for nonsense in ["", " ", "two words"] {
        let answer = Some((id.clone(), Answer::Value(nonsense.into())));
        let error = world
            .run(|ports| refit_engine::resolve(ports, &ask(""), answer))
            .unwrap_err();
        assert_eq!(error.exit().code(), 2, "{error}");
    }
}

#[test]
fn what_is_accepted_and_matches_nothing_is_said() {
    let world = World::new(plain);
    let accepting = Ask {
        accept: vec!["MixedState:x".parse().unwrap()],
        ..ask("")
    };
    let prepared = world.run(|ports| refit_engine::plan(ports, &accepting)).unwrap();
    assert_eq!(one(prepared.report()).body.unmatched, ["MixedState:x"]);
}
