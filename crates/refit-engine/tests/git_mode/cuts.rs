//! A run that is killed at any effect leaves nothing half-written, and the next run goes on to the same end.

use refit_engine::ports::{Forge, Repository};
use refit_engine::{Error, Others, Ports};
use refit_manifest::{Answer, DecisionId};

use crate::world::{Cut, GENERATED, When, World, ask, one};

type Step = fn(&Ports<'_>) -> Result<(), Error>;

/// An upgrade with a decision of the class image, from the first command to the merge.
const STEPS: [Step; 3] = [
    |ports| {
        let prepared = refit_engine::plan(ports, &ask("flux@v7.2.0"))?;
        refit_engine::carry_out(ports, &prepared, Others::Stop).map(drop)
    },
    |ports| {
        let listed = one(refit_engine::resolve(ports, &ask(""), None)?);
        let Some(open) = listed.body.decisions.iter().find(|decision| decision.open) else {
            return Ok(());
        };
        refit_engine::resolve(ports, &ask(""), Some((DecisionId(open.id.clone()), Answer::Theirs))).map(drop)
    },
    |ports| {
        // Where the kill came in the second step, the request may not be open yet; its own way on is to resume.
        refit_engine::resume(ports, &ask(""), refit_engine::Commits::Stop)?;
        let open = ports.forge.list()?;
        let number = open.first().map(|request| request.number);
        refit_engine::request_merge(ports, &ask(""), number).map(drop)
    },
];

fn world() -> World {
    World::new(|text| {
        text.replace(
            "image: ghcr.io/fluxcd/source-controller:v7.1.0",
            "image: example.org/own:latest",
        )
    })
}

/// Runs the story and gives how often it was cut.
fn play(world: &World, effect: usize, when: When) -> usize {
    let mut cuts = 0;
    let cut = Cut {
        repository: &world.repository,
        forge: &world.forge,
        left: effect.into(),
        when,
    };
    for step in STEPS {
        let first = world.run_through(&cut, &cut, &world.releases, step);
        if let Err(error) = first {
            assert!(cuts == 0 && error.to_string().contains("killed"), "{error}");
            assert_whole(world);
            cuts += 1;
            cut.left.set(usize::MAX);
            world.run_through(&cut, &cut, &world.releases, step).unwrap();
        }
    }
    cuts
}

/// Plays an upgrade that another one supersedes, and the cancel of that; cut once, and run again.
fn supersede_and_cancel(effect: usize, when: When) -> (World, usize) {
    let steps: [Step; 3] = [
        |ports| {
            let prepared = refit_engine::plan(ports, &ask("flux@v7.1.1"))?;
            refit_engine::carry_out(ports, &prepared, Others::Stop).map(drop)
        },
        |ports| {
            let prepared = refit_engine::plan(ports, &ask("flux@v7.2.0"))?;
            refit_engine::carry_out(ports, &prepared, Others::Supersede).map(drop)
        },
        |ports| refit_engine::cancel(ports, &ask(""), refit_engine::Commits::Stop).map(drop),
    ];
    let mut world = World::new(|text| text);
    let text = crate::world::manifest("v7.1.1", &["v1beta2", "v1"]);
    world.releases.add(refit_testkit::releases::ReleaseFile {
        platform: "flux",
        version: "v7.1.1",
        name: "g.yaml",
        text: &text,
    });
    let cut = Cut {
        repository: &world.repository,
        forge: &world.forge,
        left: effect.into(),
        when,
    };
    let mut cuts = 0;
    for step in steps {
        if world.run_through(&cut, &cut, &world.releases, step).is_err() {
            cuts += 1;
            cut.left.set(usize::MAX);
            world.run_through(&cut, &cut, &world.releases, step).unwrap();
        }
    }
    (world, cuts)
}

#[test]
fn a_supersede_or_cancel_that_is_killed_at_any_effect_is_finished_by_the_next_run() {
    let end = supersede_and_cancel(usize::MAX, When::Before).0.picture();
    assert!(!end.contains("decisions/") && !end.contains("branch refit/"), "{end}");
    for when in [When::Before, When::After] {
        for effect in 0.. {
            let (world, cuts) = supersede_and_cancel(effect, when);
            assert_eq!(world.picture(), end, "killed {when:?} effect {effect}");
            if cuts == 0 {
                assert!(effect >= 5, "only {effect} effects were cut");
                break;
            }
        }
    }
}

/// No branch is half-written: what stands on a branch of an upgrade has both files.
fn assert_whole(world: &World) {
    for request in world.forge.list().unwrap() {
        if let Some(text) = world.text(&request.branch, GENERATED) {
            assert!(text.contains("v7.2.0"));
            assert!(world.text(&request.branch, ".refit/production.json").is_some());
        }
    }
    assert!(world.repository.branch("main").unwrap().is_some());
}

#[test]
fn a_run_that_is_killed_at_any_effect_ends_like_one_that_is_not() {
    let whole = world();
    assert_eq!(play(&whole, usize::MAX, When::Before), 0);
    let end = whole.picture();
    assert!(end.contains("state: Merged"), "{end}");
    for when in [When::Before, When::After] {
        let mut effect = 0;
        loop {
            let world = world();
            if play(&world, effect, when) == 0 {
                break;
            }
            assert_eq!(world.picture(), end, "killed {when:?} effect {effect}");
            effect += 1;
        }
        assert!(effect >= 6, "only {effect} effects were cut");
    }
}

/// Plays a route of two requests with the gate of the second one, from the first command to the last merge; cut once, and
/// run again.
fn two_requests(world: World, effect: usize, when: When) -> (World, usize) {
    let merge: Step = |ports| {
        let newest = ports.forge.list()?.first().map(|request| request.number);
        refit_engine::request_merge(ports, &ask(""), newest).map(drop)
    };
    let steps: [Step; 5] = [
        |ports| {
            let prepared = refit_engine::plan(ports, &ask(""))?;
            refit_engine::carry_out(ports, &prepared, Others::Stop).map(drop)
        },
        merge,
        |ports| refit_engine::resume(ports, &ask(""), refit_engine::Commits::Stop).map(drop),
        |ports| {
            let confirm = refit_engine::Ask {
                confirm: vec![refit_engine::Wait::Migrated],
                ..ask("")
            };
            refit_engine::resume(ports, &confirm, refit_engine::Commits::Stop).map(drop)
        },
        merge,
    ];
    let cut = Cut {
        repository: &world.repository,
        forge: &world.forge,
        left: effect.into(),
        when,
    };
    let mut cuts = 0;
    for step in steps {
        if let Err(error) = world.run_through(&cut, &cut, &world.releases, step) {
            assert!(cuts == 0 && error.to_string().contains("killed"), "{error}");
            cuts += 1;
            cut.left.set(usize::MAX);
            world.run_through(&cut, &cut, &world.releases, step).unwrap();
        }
    }
    (world, cuts)
}

fn check_two_requests(world: fn() -> World) -> String {
    let end = two_requests(world(), usize::MAX, When::Before).0.picture();
    assert!(
        end.matches("state: Merged").count() == 2 && !end.contains("note decisions/"),
        "{end}"
    );
    assert!(end.contains("\\\"migrated\\\""), "{end}");
    for when in [When::Before, When::After] {
        for effect in 0.. {
            let (world, cuts) = two_requests(world(), effect, when);
            assert_eq!(world.picture(), end, "killed {when:?} effect {effect}");
            if cuts == 0 {
                assert!(effect >= 10, "only {effect} effects were cut");
                break;
            }
        }
    }
    end
}

#[test]
fn a_route_of_two_requests_that_is_killed_at_any_effect_comes_to_the_same_end() {
    let end = check_two_requests(|| World::new(|text| text));
    assert!(end.contains("v7.3.0"), "{end}");
}

#[test]
fn a_conversion_and_its_upgrade_that_are_killed_at_any_effect_come_to_the_same_end() {
    let end = check_two_requests(crate::conversions::world);
    assert!(end.contains("convert") && end.contains("v2.9.4"), "{end}");
}
