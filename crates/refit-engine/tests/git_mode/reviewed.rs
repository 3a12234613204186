//! A merge of a request that turned into another one since it was reviewed, and what was merged and is gone again.

use refit_core::report::State;
use refit_engine::ports::{Change, Repository};
use refit_engine::{Ask, Others, Wait, Way};

use crate::conversions::{OLD_RELEASE, RELEASE, world};
use crate::routes::{merge, plan, resume, status};
use crate::world::{World, ask, message, one, told, upgrade};

const CONVERT: &str = "Convert API versions of flux on production, which v2.6.4 serves";
const MORE: &str = "clusters/production/apps/more.yaml";

fn commands(world: &World) -> Vec<String> {
    let next = status(world).next;
    next.into_iter().filter_map(|next| next.command).collect()
}

fn rollback(world: &World) -> String {
    let ask = Ask {
        way: Way::Back,
        ..ask("")
    };
    told(world.run(|ports| {
        let prepared = refit_engine::rollback(ports, &ask)?;
        let reports = refit_engine::carry_out(ports, &prepared, Others::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

#[test]
fn a_request_that_became_another_step_is_updated_and_not_merged() {
    let world = world();
    upgrade(&world, "");
    merge(&world);
    resume(&world, &[Wait::Migrated]);
    world.commit("main", RELEASE, OLD_RELEASE);
    let main = world.repository.branch("main").unwrap();
    let said = merge(&world);
    assert!(
        said.starts_with(&format!(
            "6 request 2 was computed anew and is not merged: it is now \"{CONVERT}\""
        )),
        "{said}"
    );
    assert_eq!(world.repository.branch("main").unwrap(), main);
    assert_eq!(merge(&world), format!("0 request 2 is merged: {CONVERT}"));
}

#[test]
fn a_request_that_changes_other_files_since_is_updated_and_not_merged() {
    let world = world();
    upgrade(&world, "");
    world.commit("main", MORE, &OLD_RELEASE.replace("name: app", "name: more"));
    let main = world.repository.branch("main").unwrap();
    assert_eq!(
        merge(&world),
        format!("6 request 1 was computed anew and is not merged: it changes `{MORE}` too; review it")
    );
    assert_eq!(world.repository.branch("main").unwrap(), main);
    // What changes elsewhere, or within the same files, asks for no other look.
    world.commit("main", "README.md", "other\n");
    world.commit("main", RELEASE, &OLD_RELEASE.replace("# often", "# rarely"));
    assert_eq!(merge(&world), format!("0 request 1 is merged: {CONVERT}"));
    assert!(world.text("main", RELEASE).unwrap().contains("# rarely"));
}

#[test]
fn after_the_way_back_of_a_conversion_the_way_on_is_the_release_that_it_led_to() {
    let world = world();
    upgrade(&world, "");
    merge(&world);
    let back = world.run(|ports| {
        let ask = Ask {
            way: Way::Back,
            ..ask("")
        };
        refit_engine::rollback(ports, &ask)
    });
    assert_eq!(
        one(back.unwrap().report()).message,
        "production can undo what request 1 of its upgrade did at v2.6.4 (`convert`)"
    );
    rollback(&world);
    merge(&world);
    let said = status(&world);
    assert_eq!(said.message, "`production` runs v2.6.4, v2.9.4 is available");
    assert_eq!(said.state, State::UpgradeAvailable);
    let commands = commands(&world);
    assert!(
        commands.contains(&"refit upgrade flux@v2.9.4 --again".to_owned()),
        "{commands:?}"
    );
    assert!(
        !commands.contains(&"refit upgrade flux@v2.9.4".to_owned()),
        "{commands:?}"
    );
    assert!(upgrade(&world, "flux@v2.9.4").starts_with("4 this release was rolled back"));
    assert!(
        upgrade(&world, "flux@v2.7.5").starts_with("6 "),
        "{}",
        upgrade(&world, "flux@v2.7.5")
    );
}

#[test]
fn what_was_merged_on_the_way_and_is_gone_again_is_no_way_back_from_the_release() {
    let world = world();
    let before = world.repository.branch("main").unwrap().unwrap();
    upgrade(&world, "");
    merge(&world);
    // A revert of the merge.
    let merged = world.repository.branch("main").unwrap().unwrap();
    let old = world.repository.list(&before).unwrap();
    let now = world.repository.list(&merged).unwrap();
    let mut changes = Vec::new();
    for item in &now {
        let was = old.iter().find(|was| was.path == item.path);
        if was.map(|was| &was.blob) != Some(&item.blob) {
            let entry = was.map(|was| refit_manifest::Entry::file(&*world.repository.read(&was.blob).unwrap()));
            changes.push(Change {
                path: item.path.clone(),
                entry,
            });
        }
    }
    let revert = world.repository.commit(&merged, &changes, "Revert it\n").unwrap();
    world.repository.publish("main", Some(&revert), Some(&merged)).unwrap();
    assert_eq!(plan(&world, "").state, State::Ready);
    assert_eq!(status(&world).message, "`production` runs v2.6.4, v2.9.4 is available");
    let commands = commands(&world);
    assert!(
        commands.contains(&"refit upgrade flux@v2.9.4 --again".to_owned()),
        "{commands:?}"
    );
    assert_eq!(
        upgrade(&world, ""),
        "4 request 1 on the way to this release was merged, and the target branch lacks it; it is not proposed again by \
         itself"
    );
}

#[test]
fn a_record_that_cannot_be_read_does_not_say_that_nothing_is_under_way() {
    let world = world();
    upgrade(&world, "");
    merge(&world);
    world.commit("main", ".refit/production.json", "{");
    assert_eq!(
        resume(&world, &[]),
        "3 no upgrade of `main` is under way; what cannot be read may say otherwise"
    );
}

#[test]
fn a_plane_that_began_with_a_newer_release_than_it_has_is_told() {
    let text = "apiVersion: refit.dev/v1alpha1\nkind: Plane\nspec: {installedSince: v2.7.5}\n";
    let world = World::routed("v2.6.4", &[("refit.yaml", text)]);
    let report = plan(&world, "");
    let told = report
        .body
        .findings
        .iter()
        .filter(|finding| finding.subject == "refit.yaml");
    let told: Vec<String> = told
        .map(|finding| format!("{} {}", finding.code, finding.message))
        .collect();
    assert_eq!(
        told,
        [
            "InvalidConfiguration `spec.installedSince` is v2.7.5, and `production` runs v2.6.4, which is older; every version \
             that v2.6.4 serves counts as stored"
        ]
    );
    assert_eq!(report.state, State::Ready);
}
