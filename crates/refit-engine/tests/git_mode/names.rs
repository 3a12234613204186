//! Upgrades, pauses and records whose clusters are called otherwise than when they began, share files with others by now,
//! or are gone; branches whose request is missing.

use refit_core::record::Record;
use refit_core::report::State;
use refit_engine::ports::{Change, Forge, Repository, RequestState};
use refit_engine::{Ask, Commits, Others, Pausing};

use crate::world::{GENERATED, World, ask, manifest, message, one, told, upgrade, upgrade_asked};

const SYNC: &str = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system}\nspec: {path: PATH}\n";

fn named(target: &str, cluster: &str) -> Ask {
    Ask {
        clusters: vec![cluster.to_owned()],
        ..ask(target)
    }
}

/// Adds a cluster whose directory ends like that of the first.
fn another(world: &World) {
    world.commit(
        "main",
        "eu/production/flux-system/g.yaml",
        &manifest("v7.1.0", &["v1beta2", "v1"]),
    );
    world.commit(
        "main",
        "eu/production/flux-system/sync.yaml",
        &SYNC.replace("PATH", "eu/production"),
    );
}

fn merge(world: &World) -> String {
    told(world.run(|ports| {
        let report = refit_engine::request_merge(ports, &Ask::default(), None)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn resume(world: &World, commits: Commits) -> String {
    told(world.run(|ports| {
        let reports = refit_engine::resume(ports, &Ask::default(), commits)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

fn cancel(world: &World, commits: Commits) -> String {
    told(world.run(|ports| {
        let report = refit_engine::cancel(ports, &Ask::default(), commits)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn remove(world: &World, paths: &[&str]) {
    let head = world.repository.branch("main").unwrap().unwrap();
    let removal = |path: &&str| Change {
        path: (*path).into(),
        entry: None,
    };
    let changes: Vec<Change> = paths.iter().map(removal).collect();
    let commit = world.repository.commit(&head, &changes, "Remove\n").unwrap();
    world.repository.publish("main", Some(&commit), Some(&head)).unwrap();
}

fn open(world: &World) -> Vec<(u64, String)> {
    let requests = world.forge.list().unwrap();
    let open = requests.iter().filter(|request| request.state == RequestState::Open);
    open.map(|request| (request.number, request.branch.clone())).collect()
}

#[test]
fn a_request_and_a_pause_are_found_after_another_cluster_changed_the_name() {
    let world = World::new(|text| text);
    assert_eq!(
        upgrade(&world, "flux@v7.2.0"),
        "6 request 1 waits for review: Upgrade flux on production from v7.1.0 to v7.2.0"
    );
    let before = open(&world);
    let pausing = Pausing::On(Some("freeze".to_owned()));
    world
        .run(|ports| refit_engine::pause(ports, &Ask::default(), &pausing))
        .unwrap();
    another(&world);
    let all = Ask {
        all_clusters: true,
        ..ask("")
    };
    let status = world.run(|ports| refit_engine::status(ports, &all)).unwrap();
    let first = &status.body.clusters[0];
    assert_eq!(first.cluster, "clusters-production");
    let paused = first
        .paused
        .as_ref()
        .map(|pause| (&*pause.cluster, pause.reason.as_deref()));
    assert_eq!(paused, Some(("clusters-production", Some("freeze"))));
    assert_eq!(first.requests.len(), 1);
    assert!(status.body.clusters[1].paused.is_none() && status.body.clusters[1].requests.is_empty());
    let again = named("flux@v7.2.0", "clusters-production");
    let stopped = upgrade_asked(&world, &again, Others::Stop);
    assert!(stopped.starts_with("4 `clusters-production` is paused"), "{stopped}");
    world
        .run(|ports| refit_engine::pause(ports, &again, &Pausing::Off))
        .unwrap();
    assert_eq!(
        upgrade_asked(&world, &again, Others::Stop),
        "6 request 1 waits for review: Upgrade flux on clusters-production from v7.1.0 to v7.2.0"
    );
    assert_eq!(open(&world), before);
    let other = named("flux@v7.3.0", "clusters-production");
    assert_eq!(
        upgrade_asked(&world, &other, Others::Stop),
        "4 request 1 is open and leads to v7.2.0, another release"
    );
}

#[test]
fn a_no_is_heard_under_another_name() {
    let world = World::new(|text| text);
    upgrade(&world, "flux@v7.2.0");
    world.forge.close(1).unwrap();
    another(&world);
    assert_eq!(
        upgrade_asked(&world, &named("flux@v7.2.0", "clusters-production"), Others::Stop),
        "4 request 1 for this was closed without a merge; it is not opened again by itself"
    );
}

#[test]
fn a_recorded_cluster_keeps_its_name_and_its_way_back() {
    let world = World::new(|text| text);
    upgrade(&world, "flux@v7.2.0");
    assert!(merge(&world).starts_with("0 "));
    let record = world.text("main", ".refit/production.json").unwrap();
    let record = Record::read(record.as_bytes()).unwrap();
    assert_eq!(record.directory.as_deref(), Some("clusters/production"));
    another(&world);
    let inventory = world
        .run(|ports| refit_engine::inventory(ports, &Ask::default()))
        .unwrap();
    let names: Vec<&str> = inventory
        .body
        .clusters
        .iter()
        .map(|cluster| &*cluster.cluster)
        .collect();
    assert_eq!(names, ["production", "eu-production"]);
    let back = Ask {
        way: refit_engine::Way::Back,
        ..named("", "production")
    };
    let planned = world.run(|ports| refit_engine::plan(ports, &back)).unwrap();
    assert_eq!(
        one(planned.report()).message,
        "production can go back from v7.2.0 to v7.1.0"
    );
}

#[test]
fn a_branch_whose_request_is_missing_goes_on_or_is_given_up() {
    for commits in [Commits::Keep, Commits::Discard] {
        let world = World::new(|text| text);
        upgrade(&world, "flux@v7.2.0");
        let branch = world.branch();
        // Another forge has no request yet: the run was cut between branch and request.
        let world = World {
            forge: refit_testkit::memory_forge::MemoryForge::new(world.repository.clone()),
            ..world
        };
        world.commit(&branch, "person", "mine\n");
        let status = world.run(|ports| refit_engine::status(ports, &Ask::default())).unwrap();
        assert_eq!(
            (status.state, &*status.message),
            (
                State::Stopped,
                "`production` runs v7.1.0, and its upgrade was cut before the request was opened"
            )
        );
        assert!(upgrade(&world, "flux@v7.2.0").starts_with("4 people added a commit"));
        assert!(resume(&world, Commits::Stop).starts_with("4 people added a commit"));
        assert!(cancel(&world, Commits::Stop).starts_with("4 people added commits"));
        let resumed = resume(&world, commits);
        assert!(resumed.starts_with("6 request 1 waits for review"), "{resumed}");
        let kept = world.text(&branch, "person");
        assert_eq!(kept.is_some(), commits == Commits::Keep);
    }
    let world = World::new(|text| text);
    upgrade(&world, "flux@v7.2.0");
    let branch = world.branch();
    let world = World {
        forge: refit_testkit::memory_forge::MemoryForge::new(world.repository.clone()),
        ..world
    };
    world.commit(&branch, "person", "mine\n");
    assert_eq!(
        cancel(&world, Commits::Discard),
        "0 the upgrade of `production` is given up; 1 commit of people was discarded"
    );
    assert_eq!(world.repository.branch(&branch).unwrap(), None);
}

#[test]
fn a_request_for_clusters_that_share_their_files_with_others_by_now_is_named_with_the_ways_on() {
    let text = manifest("v7.1.0", &["v1beta2", "v1"]);
    let world = World::with(&[
        ("base/kustomization.yaml", "resources: [flux.yaml]\n"),
        ("base/flux.yaml", &text),
        ("clusters/a/kustomization.yaml", "resources: [../../base, sync.yaml]\n"),
        ("clusters/a/sync.yaml", &SYNC.replace("PATH", "clusters/a")),
    ]);
    upgrade(&world, "flux@v7.2.0");
    world.commit("main", "clusters/b/sync.yaml", &SYNC.replace("PATH", "clusters/b"));
    world.commit(
        "main",
        "clusters/b/kustomization.yaml",
        "resources: [../../base, sync.yaml]\n",
    );
    let other = "request 1 to v7.2.0 is open for other clusters than those that share their files now";
    let commands = |next: &[refit_core::report::Next]| -> Vec<String> {
        next.iter().filter_map(|next| next.command.clone()).collect()
    };
    let ways = [
        "refit upgrade flux@v7.2.0 --supersede --cluster a --cluster b",
        "refit cancel --cluster a --cluster b",
    ];
    let status = world.run(|ports| refit_engine::status(ports, &Ask::default())).unwrap();
    for cluster in &status.body.clusters {
        assert_eq!((cluster.state, cluster.requests.len()), (State::Stopped, 1));
        assert_eq!(commands(&cluster.next), ways);
    }
    let resumed = world
        .run(|ports| refit_engine::resume(ports, &Ask::default(), Commits::Stop))
        .unwrap();
    let resumed = one(resumed);
    assert_eq!((resumed.exit.code(), &*resumed.message), (4, other));
    assert_eq!(commands(&resumed.next), ways);
    assert_eq!(merge(&world), format!("4 {other}"));
    let both = Ask {
        clusters: vec!["a".to_owned(), "b".to_owned()],
        ..ask("flux@v7.2.0")
    };
    let anew = upgrade_asked(&world, &both, Others::Supersede);
    assert!(anew.starts_with("6 request 2 waits for review"), "{anew}");
    assert_eq!(open(&world).len(), 1);
}

#[test]
fn a_request_of_a_cluster_that_is_gone_is_named_and_can_be_given_up() {
    let world = World::new(|text| text);
    upgrade(&world, "flux@v7.2.0");
    let branch = world.branch();
    remove(
        &world,
        &[
            GENERATED,
            "clusters/production/flux-system/kustomization.yaml",
            "clusters/production/flux-system/gotk-sync.yaml",
        ],
    );
    let gone = "request 1 is open for cluster `production`, which `main` does not have any more";
    let status = world.run(|ports| refit_engine::status(ports, &Ask::default())).unwrap();
    assert!(status.message.ends_with(gone), "{}", status.message);
    assert_eq!(
        resume(&world, Commits::Stop),
        format!("4 no upgrade of `main` is under way; {gone}")
    );
    assert_eq!(merge(&world), format!("4 {gone}"));
    another(&world);
    let status = world.run(|ports| refit_engine::status(ports, &Ask::default())).unwrap();
    assert!(status.message.ends_with(gone), "{}", status.message);
    let mut close = status.next.iter().filter_map(|next| next.command.as_deref());
    assert_eq!(close.next_back(), Some("refit request close 1"));
    assert_eq!(
        cancel(&world, Commits::Stop),
        "0 the upgrade of `production` is given up"
    );
    assert_eq!(world.repository.branch(&branch).unwrap(), None);
    assert!(open(&world).is_empty());
}

#[test]
fn a_request_that_the_branch_does_not_need_is_to_be_closed() {
    let world = World::new(|text| text);
    upgrade(&world, "flux@v7.2.0");
    world.commit("main", GENERATED, &manifest("v7.2.0", &["v1", "v1beta2"]));
    let report = world
        .run(|ports| {
            let prepared = refit_engine::plan(ports, &ask("flux@v7.3.0"))?;
            Ok(one(refit_engine::carry_out(ports, &prepared, Others::Stop)?))
        })
        .unwrap();
    assert_eq!(
        report.message,
        "request 1 is open and leads to v7.2.0, and the target branch does not need it"
    );
    let commands: Vec<_> = report.next.iter().filter_map(|next| next.command.as_deref()).collect();
    assert_eq!(commands, ["refit request close 1"]);
}
