//! Upgrades over several requests, from the first command to the last.

use refit_core::report::{Plan, State, Status};
use refit_engine::ports::{Forge, Repository, RequestState};
use refit_engine::{Ask, Commits, Others, Wait, Way};

use crate::world::{GENERATED, World, ask, message, one, told, upgrade};

/// The id does not change over the requests of an upgrade.
fn ids(world: &World) -> Vec<String> {
    let requests = world.forge.list().unwrap();
    let mut ids: Vec<String> = requests
        .iter()
        .map(|request| request.branch.split('/').nth(1).unwrap().to_owned())
        .collect();
    ids.dedup();
    ids
}

pub(crate) fn resume(world: &World, confirm: &[Wait]) -> String {
    let ask = Ask {
        confirm: confirm.to_vec(),
        ..ask("")
    };
    told(world.run(|ports| {
        let reports = refit_engine::resume(ports, &ask, Commits::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

pub(crate) fn merge(world: &World) -> String {
    told(world.run(|ports| {
        let report = refit_engine::request_merge(ports, &ask(""), None)?;
        Ok((report.exit.code(), report.message))
    }))
}

pub(crate) fn status(world: &World) -> refit_core::report::Report<Status> {
    world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap()
}

pub(crate) fn plan(world: &World, target: &str) -> refit_core::report::Report<Plan> {
    one(world
        .run(|ports| refit_engine::plan(ports, &ask(target)))
        .unwrap()
        .report())
}

fn record(world: &World) -> serde_json::Value {
    serde_json::from_str(&world.text("main", ".refit/production.json").unwrap()).unwrap()
}

const FIRST: &str = "Upgrade flux on production from v7.1.0 to v7.2.0";
const SECOND: &str = "Upgrade flux on production from v7.2.0 to v7.3.0";

#[test]
fn a_plan_shows_every_hop_why_it_is_needed_and_the_requests_in_order() {
    let world = World::new(|text| text);
    let report = plan(&world, "");
    assert_eq!(report.message, "production can go from v7.1.0 to v7.3.0 in 2 requests");
    let hops: Vec<(&str, &str)> = report.body.route.iter().map(|hop| (&*hop.from, &*hop.to)).collect();
    assert_eq!(hops, [("v7.1.0", "v7.2.0"), ("v7.2.0", "v7.3.0")]);
    let why = &report.body.route[0].why;
    assert!(why.contains("Bucket") || why.contains("buckets.source"), "{why}");
    assert!(why.contains("v1beta2"), "{why}");
    assert!(report.body.route[1].why.is_empty());
    let requests = report.body.requests.iter();
    let requests: Vec<_> = requests
        .map(|one| {
            (
                &*one.state,
                &*one.title,
                one.gates.iter().map(|gate| &*gate.what).collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(requests, [("open", FIRST, vec![]), ("later", SECOND, vec!["migrated"])]);
    assert!(
        report.body.requests[0]
            .body
            .contains("Request 1 of 2 on the way to v7.3.0")
    );
}

#[test]
fn a_route_is_walked_request_by_request_and_the_record_says_how_far_it_came() {
    let world = World::new(|text| text);
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {FIRST}"));
    let said = status(&world);
    assert_eq!(
        said.message,
        "`production` runs v7.1.0, request 1 (1 of 2 on the way to v7.3.0) waits for review"
    );
    assert_eq!(merge(&world), format!("0 request 1 is merged: {FIRST}"));
    assert_eq!(record(&world)["target"], "v7.3.0");
    assert!(record(&world).get("index").is_none());

    // Nothing is open; a fresh look finds the way on by the record alone.
    let said = status(&world);
    assert_eq!(said.state, State::Ready);
    assert_eq!(
        said.message,
        "`production` runs v7.2.0; 1 of 2 requests on the way to v7.3.0 is merged, and none is open"
    );
    assert_eq!(said.next[0].command.as_deref(), Some("refit resume"));

    // The next request is a draft until somebody says that stored objects are migrated.
    let draft = "6 request 2 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), draft);
    let before = world.picture();
    assert_eq!(resume(&world, &[]), draft);
    assert_eq!(upgrade(&world, "flux@v7.3.0"), draft);
    assert_eq!(world.picture(), before);
    assert_eq!(merge(&world), draft);
    let said = status(&world);
    assert_eq!(
        said.message,
        "`production` runs v7.2.0, request 2 (2 of 2 on the way to v7.3.0) is a draft: do not merge before: stored objects \
         are migrated"
    );
    let commands: Vec<_> = said.next.iter().filter_map(|next| next.command.as_deref()).collect();
    assert!(commands.contains(&"refit resume --confirm migrated"), "{commands:?}");
    let request = world.forge.list().unwrap().remove(0);
    assert_eq!(request.state, RequestState::Draft);
    assert_eq!(
        request.title,
        format!("do not merge before: stored objects are migrated: {SECOND}")
    );
    assert!(
        request.branch.contains("/2-production-flux-v7-3-0"),
        "{}",
        request.branch
    );

    assert_eq!(
        resume(&world, &[Wait::Migrated]),
        format!("6 request 2 waits for review: {SECOND}")
    );
    let before = world.picture();
    assert_eq!(
        resume(&world, &[Wait::Migrated]),
        format!("6 request 2 waits for review: {SECOND}")
    );
    assert_eq!(resume(&world, &[]), format!("6 request 2 waits for review: {SECOND}"));
    assert_eq!(world.picture(), before);
    assert_eq!(merge(&world), format!("0 request 2 is merged: {SECOND}"));
    let record = record(&world);
    assert_eq!((&record["index"], record.get("target")), (&2.into(), None));
    let confirmed = &record["confirmations"][0];
    assert_eq!(confirmed["what"], "migrated");
    assert_eq!(confirmed["at"], "2026-01-01T12:00:00Z");
    assert!(
        confirmed["by"].as_str().is_some_and(|by| by.contains('@')),
        "{confirmed}"
    );
    assert_eq!(record["files"][0]["path"], GENERATED);
    assert_eq!(status(&world).state, State::Done);
    assert_eq!(resume(&world, &[]), "0 no upgrade of `main` is under way");
    assert_eq!(ids(&world).len(), 1, "{:?}", ids(&world));
    assert_eq!(world.repository.notes("decisions").unwrap(), Vec::<String>::new());
}

#[test]
fn what_the_next_request_does_not_wait_for_cannot_be_confirmed() {
    let world = World::new(|text| text);
    upgrade(&world, "");
    assert_eq!(
        resume(&world, &[Wait::Migrated]),
        "2 error: the request that comes next does not wait for `migrated`"
    );
}

#[test]
fn a_route_that_is_given_up_between_two_requests_is_not_under_way_until_it_is_asked_for_again() {
    let world = World::new(|text| text);
    upgrade(&world, "");
    merge(&world);
    let cancelled = world
        .run(|ports| refit_engine::cancel(ports, &ask(""), Commits::Stop))
        .unwrap();
    assert_eq!(cancelled.message, "the upgrade of `production` is given up");
    assert_eq!(resume(&world, &[]), "0 no upgrade of `main` is under way");
    let said = status(&world);
    assert_eq!(said.state, State::UpgradeAvailable);
    assert_eq!(said.message, "`production` runs v7.2.0, v7.3.0 is available");
    let draft = "6 request 2 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(upgrade(&world, ""), draft);
    assert_eq!(resume(&world, &[]), draft);
    assert_eq!(ids(&world).len(), 1);
}

#[test]
fn a_declined_request_of_a_route_is_not_opened_again_by_itself() {
    let world = World::new(|text| text);
    upgrade(&world, "");
    merge(&world);
    resume(&world, &[]);
    world.run(|ports| refit_engine::request_close(ports, Some(2))).unwrap();
    assert_eq!(resume(&world, &[]), "0 no upgrade of `main` is under way");
    let said = status(&world);
    assert_eq!(
        said.message,
        "`production` runs v7.2.0; request 2 to v7.3.0 was closed without a merge"
    );
    assert!(upgrade(&world, "").starts_with("4 request 2 for this was closed"));
}

#[test]
fn a_pause_between_two_requests_opens_nothing() {
    let world = World::new(|text| text);
    upgrade(&world, "");
    merge(&world);
    let pausing = refit_engine::Pausing::On(None);
    world
        .run(|ports| refit_engine::pause(ports, &ask(""), &pausing))
        .unwrap();
    assert!(resume(&world, &[]).starts_with("4 "), "{}", resume(&world, &[]));
    assert_eq!(world.forge.list().unwrap().len(), 1);
}

#[test]
fn the_requests_of_a_route_go_back_one_by_one() {
    let world = World::new(|text| text);
    for confirm in [&[][..], &[Wait::Migrated]] {
        if confirm.is_empty() {
            upgrade(&world, "");
        } else {
            resume(&world, confirm);
        }
        merge(&world);
    }
    let back = |world: &World| {
        told(world.run(|ports| {
            let ask = Ask {
                way: Way::Back,
                ..ask("")
            };
            let prepared = refit_engine::rollback(ports, &ask)?;
            let reports = refit_engine::carry_out(ports, &prepared, Others::Stop)?;
            Ok((reports.exit().code(), message(&reports)))
        }))
    };
    assert_eq!(
        back(&world),
        "6 request 3 waits for review: Roll back flux on production from v7.3.0 to v7.2.0"
    );
    merge(&world);
    assert!(world.text("main", GENERATED).unwrap().contains("v7.2.0"));
    // The first request: its release stores in a version that the one before serves, too.
    assert_eq!(
        back(&world),
        "6 request 4 waits for review: Roll back flux on production from v7.2.0 to v7.1.0"
    );
    merge(&world);
    let history = world.run(|ports| refit_engine::history(ports, &ask(""))).unwrap();
    let told: Vec<String> = history
        .body
        .entries
        .iter()
        .map(|line| {
            format!(
                "{} {} -> {} #{}",
                line.kind,
                line.from,
                line.to,
                line.request.unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "rollback v7.2.0 -> v7.1.0 #4",
            "rollback v7.3.0 -> v7.2.0 #3",
            "upgrade v7.2.0 -> v7.3.0 #2",
            "upgrade v7.1.0 -> v7.2.0 #1",
        ]
    );
    assert!(
        upgrade(&world, "").starts_with("4 this release was rolled back"),
        "{}",
        upgrade(&world, "")
    );
}
