//! Upgrades from the first command to the last.

use refit_core::report::State;
use refit_engine::ports::Repository;
use refit_engine::{Ask, Commits, Others};
use refit_manifest::{Answer, DecisionId};

use crate::world::{GENERATED, World, ask, one, told, upgrade, upgrade_asked};

fn edited(text: String) -> String {
    text.replace(
        "        - --log-level=info\n",
        "        - --log-level=info\n        - --concurrent=20 # ours\n",
    )
}

fn pinned(text: String) -> String {
    text.replace("ghcr.io/fluxcd/source-controller:v7.1.0", "example.org/own:latest")
}

fn scaled(text: String) -> String {
    text.replace("replicas: 1", "replicas: 2")
}

fn merge(world: &World) -> String {
    told(world.run(|ports| {
        let report = refit_engine::request_merge(ports, &ask(""), None)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn resolve(world: &World, answer: Answer) -> String {
    told(world.run(|ports| {
        let listed = one(refit_engine::resolve(ports, &ask(""), None)?);
        let id = listed
            .body
            .decisions
            .iter()
            .find(|decision| decision.open)
            .unwrap()
            .id
            .clone();
        let report = one(refit_engine::resolve(ports, &ask(""), Some((DecisionId(id), answer)))?);
        Ok((report.exit.code(), report.message))
    }))
}

fn resume(world: &World, commits: Commits) -> String {
    told(world.run(|ports| {
        let report = one(refit_engine::resume(ports, &ask(""), commits)?);
        Ok((report.exit.code(), report.message))
    }))
}

fn status(world: &World) -> (State, String) {
    let report = world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap();
    (report.state, report.message)
}

#[test]
fn an_upgrade_keeps_the_users_edits_and_a_second_one_is_empty() {
    let world = World::new(edited);
    assert_eq!(
        status(&world),
        (
            State::UpgradeAvailable,
            "`production` runs v7.1.0, v7.3.0 is available".into()
        )
    );
    let waits = "6 request 1 waits for review: Upgrade flux on production from v7.1.0 to v7.2.0";
    assert_eq!(upgrade(&world, "flux@v7.2.0"), waits);
    let before = world.picture();
    assert_eq!(upgrade(&world, "flux@v7.2.0"), waits);
    assert_eq!(world.picture(), before);
    assert_eq!(status(&world).0, State::Waiting);

    assert_eq!(
        merge(&world),
        "0 request 1 is merged: Upgrade flux on production from v7.1.0 to v7.2.0"
    );
    let text = world.text("main", GENERATED).unwrap();
    assert!(text.contains("- --concurrent=20 # ours"), "{text}");
    assert!(text.contains("ghcr.io/fluxcd/source-controller:v7.2.0"));
    assert!(!text.contains("v7.1.0"), "{text}");
    let (state, message) = status(&world);
    assert_eq!(
        (state, message.as_str()),
        (
            State::Done,
            "`production` runs v7.2.0, the upgrade is done; v7.3.0 is available"
        )
    );
    let before = world.picture();
    assert_eq!(upgrade(&world, "flux@v7.2.0"), "0 v7.2.0 is installed already");
    assert_eq!(world.picture(), before);
}

#[test]
fn no_request_opens_before_an_image_decision_and_its_answer_opens_one() {
    let world = World::new(pinned);
    assert_eq!(
        upgrade(&world, "flux@v7.2.0"),
        "5 1 decision is needed before a request is opened"
    );
    assert_eq!(status(&world).0, State::DecisionNeeded);
    assert_eq!(
        resume(&world, Commits::Stop),
        "5 1 decision is needed before a request is opened"
    );
    assert_eq!(
        resolve(&world, Answer::Theirs),
        "0 no decision is open; request 1 waits for review"
    );
    assert!(merge(&world).starts_with("0 "), "{}", merge(&world));
    let text = world.text("main", GENERATED).unwrap();
    assert!(
        text.contains("image: ghcr.io/fluxcd/source-controller:v7.2.0"),
        "{text}"
    );
    assert_eq!(world.repository.notes("decisions").unwrap(), Vec::<String>::new());
    assert!(
        world
            .text("main", ".refit/production.json")
            .unwrap()
            .contains("\"answer\": \"theirs\"")
    );
}

#[test]
fn an_open_decision_of_another_class_opens_a_draft_that_cannot_be_merged_until_it_is_taken() {
    let world = World::new(scaled);
    assert_eq!(upgrade(&world, ""), "5 request 1 is a draft: 1 decision is needed");
    assert_eq!(merge(&world), "5 request 1 cannot be merged yet: 1 decision is needed");
    assert!(world.text(&world.branch(), GENERATED).unwrap().contains("replicas: 2"));
    assert_eq!(
        resolve(&world, Answer::Value("5".into())),
        "0 no decision is open; request 1 waits for review"
    );
    assert!(world.text(&world.branch(), GENERATED).unwrap().contains("replicas: 5"));
    assert!(merge(&world).starts_with("0 "));
}

#[test]
fn commits_of_people_are_named_and_kept_or_discarded() {
    let world = World::new(edited);
    upgrade(&world, "");
    let branch = world.branch();
    world.commit(&branch, "notes.txt", "mine\n");
    let stopped = "4 people added a commit to the branch of the request, which would be lost";
    assert_eq!(upgrade(&world, ""), stopped);
    assert_eq!(resume(&world, Commits::Stop), stopped);
    let named = merge(&world);
    assert!(named.starts_with(stopped) && named.contains(" By hand ("), "{named}");
    assert!(resume(&world, Commits::Keep).starts_with("6 "));
    assert!(resume(&world, Commits::Stop).starts_with("6 "));
    assert!(merge(&world).starts_with("0 "));
    assert_eq!(world.text("main", "notes.txt").as_deref(), Some("mine\n"));

    let world = World::new(edited);
    upgrade(&world, "");
    world.commit(&branch, "notes.txt", "mine\n");
    assert!(resume(&world, Commits::Discard).starts_with("6 "));
    assert_eq!(world.text(&branch, "notes.txt"), None);
}

#[test]
fn a_target_branch_that_moved_is_computed_anew_before_the_merge() {
    let world = World::new(edited);
    upgrade(&world, "");
    let moved = world
        .text("main", GENERATED)
        .unwrap()
        .replace("--concurrent=20", "--concurrent=40");
    world.commit("main", GENERATED, &moved);
    world.commit("main", "README.md", "changed\n");
    assert!(merge(&world).starts_with("0 "));
    let text = world.text("main", GENERATED).unwrap();
    assert!(text.contains("--concurrent=40 # ours"), "{text}");
    assert!(text.contains("source-controller:v7.2.0"));
    assert_eq!(world.text("main", "README.md").as_deref(), Some("changed\n"));
}

#[test]
fn a_request_whose_release_came_by_another_way_is_to_be_closed() {
    let world = World::new(edited);
    upgrade(&world, "flux@v7.2.0");
    let text = crate::world::manifest("v7.2.0", &["v1", "v1beta2"]);
    world.commit("main", GENERATED, &text);
    let report = world.run(|ports| refit_engine::request_merge(ports, &ask(""), Some(1)));
    let report = report.unwrap();
    assert_eq!(report.message, "v7.2.0 is installed already");
    let commands: Vec<_> = report.next.iter().filter_map(|next| next.command.as_deref()).collect();
    assert_eq!(commands, ["refit request close 1"]);
}

#[test]
fn another_target_stops_until_it_supersedes_the_open_request() {
    let world = World::new(edited);
    upgrade(&world, "flux@v7.2.0");
    let mut releases = world.releases.clone();
    let text = crate::world::manifest("v7.2.1", &["v1", "v1beta2"]);
    releases.add(refit_testkit::releases::ReleaseFile {
        platform: "flux",
        version: "v7.2.1",
        name: "g.yaml",
        text: &text,
    });
    let world = World { releases, ..world };
    assert_eq!(
        upgrade(&world, "flux@v7.2.1"),
        "4 request 1 is open and leads to v7.2.0, another release"
    );
    let superseding = upgrade_asked(&world, &ask("flux@v7.2.1"), Others::Supersede);
    assert_eq!(
        superseding,
        "6 request 2 waits for review: Upgrade flux on production from v7.1.0 to v7.2.1"
    );
}

#[test]
fn a_saved_plan_is_carried_out_or_refused_with_the_difference() {
    let world = World::new(edited);
    let saved = world
        .run(|ports| Ok(serde_json::to_vec(&refit_engine::plan(ports, &ask(""))?.report()).unwrap()))
        .unwrap();
    let run = |world: &World| {
        told(world.run(|ports| {
            let prepared = refit_engine::plan_saved(ports, &Ask::default(), &saved)?;
            let report = one(prepared.report());
            Ok((report.exit.code(), report.body.to))
        }))
    };
    assert_eq!(run(&world), "0 v7.3.0");
    world.commit("main", "README.md", "changed\n");
    assert_eq!(run(&world), "0 v7.3.0");
    let other = world.text("main", GENERATED).unwrap().replace("20", "21");
    world.commit("main", GENERATED, &other);
    assert!(
        run(&world).starts_with("4 error: the saved plan no longer fits: `clusters/production/"),
        "{}",
        run(&world)
    );
}

#[test]
fn the_diff_of_a_request_shows_what_it_changes_alone() {
    let world = World::new(edited);
    upgrade(&world, "");
    world.commit("main", "README.md", "changed\n");
    let report = world
        .run(|ports| refit_engine::diff(ports, &ask(""), None).map(one))
        .unwrap();
    let paths: Vec<&str> = report.body.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, [".refit/production.json", GENERATED]);
    assert!(
        report.body.files[1]
            .diff
            .contains("\n-# Flux Version: v7.1.0\n+# Flux Version: v7.2.0\n")
    );
}

#[test]
fn the_inventory_lists_what_the_user_changed() {
    let world = World::new(|text| scaled(edited(text)));
    let report = world.run(|ports| refit_engine::inventory(ports, &ask(""))).unwrap();
    let cluster = &report.body.clusters[0];
    let changes: Vec<String> = cluster
        .changes
        .iter()
        .map(|change| format!("{} {:?} -> {:?}", change.field, change.generated, change.has))
        .collect();
    assert_eq!(
        changes,
        [
            r#"spec.replicas Some("1") -> Some("2")"#,
            r#"spec.template.spec.containers[name=manager].args[--concurrent] None -> Some("--concurrent=20")"#
        ]
    );
    let roles: Vec<String> = cluster
        .files
        .iter()
        .map(|file| format!("{} {}", file.role, file.path))
        .collect();
    assert_eq!(
        roles,
        [
            format!("generated {GENERATED}"),
            "sync clusters/production/flux-system/gotk-sync.yaml".into(),
            "kustomization clusters/production/flux-system/kustomization.yaml".into(),
        ]
    );
}

#[test]
fn a_kustomization_is_on_the_way_of_a_cluster_by_whole_parts_of_its_path_alone() {
    let text = crate::world::manifest("v7.1.0", &["v1beta2", "v1"]);
    let world = World::with(&[
        (
            "clusters/production/kustomization.yaml",
            "resources: [flux-system, ../prod]\n",
        ),
        (
            "clusters/production/flux-system/kustomization.yaml",
            "resources: [g.yaml]\n",
        ),
        ("clusters/production/flux-system/g.yaml", &text),
        (
            "clusters/production/flux-system/sync.yaml",
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system}\nspec: {path: ./clusters/production}\n",
        ),
        ("clusters/prod/kustomization.yaml", "resources: []\n"),
    ]);
    let report = world.run(|ports| refit_engine::inventory(ports, &ask(""))).unwrap();
    let files = &report.body.clusters[0].files;
    let lines: Vec<String> = files
        .iter()
        .map(|file| format!("{} {}", file.role, file.path))
        .collect();
    assert_eq!(
        lines,
        [
            "generated clusters/production/flux-system/g.yaml",
            "kustomization clusters/production/flux-system/kustomization.yaml",
            "sync clusters/production/flux-system/sync.yaml",
            "kustomization clusters/production/kustomization.yaml",
        ]
    );
}

#[test]
fn closing_a_request_ends_the_upgrade() {
    let world = World::new(edited);
    upgrade(&world, "");
    let closed = told(world.run(|ports| {
        let report = refit_engine::request_close(ports, None)?;
        Ok((report.exit.code(), report.body.request.state))
    }));
    assert_eq!(closed, "0 closed");
    assert_eq!(status(&world).0, State::UpgradeAvailable);
    assert!(resume(&world, Commits::Stop).starts_with("0 no upgrade"));
}

#[test]
fn objects_that_leave_are_named_and_definitions_stay() {
    let old = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: old\n  namespace: flux-system\nspec:\n  ports: []\n---\n\
               apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: olds.example.dev\nspec:\n  \
               names: {kind: Old}\n  versions:\n  - {name: v1, served: true, storage: true}\n";
    for edit in [|text: String| text, edited] {
        let text = crate::world::manifest("v7.1.0", &["v1beta2", "v1"]) + old;
        let mut world = World::with(&[(GENERATED, &edit(text.clone()))]);
        let name = "more.yaml";
        world.releases = refit_testkit::releases::MemoryReleases::new(&[
            refit_testkit::releases::ReleaseFile {
                platform: "flux",
                version: "v7.1.0",
                name,
                text: &text,
            },
            refit_testkit::releases::ReleaseFile {
                platform: "flux",
                version: "v7.2.0",
                name,
                text: &crate::world::manifest("v7.2.0", &["v1", "v1beta2"]),
            },
        ]);
        assert!(upgrade(&world, "").starts_with("6 "));
        let merged = world.text(&world.branch(), GENERATED).unwrap();
        assert!(merged.contains("name: olds.example.dev"), "{merged}");
        assert!(!merged.contains("kind: Service"), "{merged}");
        let body = world
            .run(|ports| refit_engine::request_show(ports, None))
            .unwrap()
            .body
            .text;
        assert!(
            body.contains("## Objects that leave\n\n- `Service/old in flux-system`\n"),
            "{body}"
        );
        assert!(!body.contains("Old`"), "{body}");
    }
}

#[test]
fn an_own_registry_stays_and_its_new_images_are_to_be_mirrored() {
    let world = World::new(|text| text.replace("image: ghcr.io/fluxcd/", "image: registry.example.org/mirror/fluxcd/"));
    assert!(upgrade(&world, "").starts_with("6 "));
    let body = world
        .run(|ports| refit_engine::request_show(ports, None))
        .unwrap()
        .body
        .text;
    let mirror = "## Mirror before merging\n\n- `registry.example.org/mirror/fluxcd/source-controller:v7.2.0`\n";
    assert!(body.contains(mirror), "{body}");
}

#[test]
fn a_known_tag_that_is_older_is_raised_also_in_a_mirror_with_a_path_of_its_own() {
    let mirror = |text: String| {
        text.replace(
            "ghcr.io/fluxcd/source-controller:v7.1.0",
            "registry.example:5000/mirror/fluxcd/source-controller:v1.6.2",
        )
    };
    let world = World::new(mirror);
    let said = upgrade(&world, "flux@v7.2.0");
    assert!(said.starts_with("6 "), "{said}");
    let text = world.text(&world.branch(), GENERATED).unwrap();
    assert!(text.contains("image: registry.example:5000/mirror/fluxcd/source-controller:v7.2.0\n"));
}

#[test]
fn an_object_that_the_user_moved_to_another_file_is_upgraded_there() {
    let text = crate::world::manifest("v7.1.0", &["v1beta2", "v1"]);
    let (rest, namespace) = {
        let start = text.find("apiVersion: v1\nkind: Namespace").unwrap();
        let end = text[start..].find("---\n").unwrap() + start + 4;
        (
            format!("{}{}", &text[..start], &text[end..]),
            text[start..end - 4].to_owned(),
        )
    };
    let namespace = format!("# our namespace\n{namespace}");
    let other = "clusters/production/flux-system/namespace.yaml";
    let world = World::with(&[(GENERATED, &rest), (other, &namespace)]);
    assert!(upgrade(&world, "").starts_with("6 "));
    let moved = world.text(&world.branch(), other).unwrap();
    assert!(
        moved.starts_with("# our namespace\n") && moved.contains("app.kubernetes.io/version: v7.2.0"),
        "{moved}"
    );
    assert!(
        !world
            .text(&world.branch(), GENERATED)
            .unwrap()
            .contains("kind: Namespace")
    );
}

#[test]
fn what_may_be_stored_is_concluded_from_the_oldest_release_of_the_history() {
    let world = World::new(edited);
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    let report = world
        .run(|ports| refit_engine::check(ports, &ask("")).map(one))
        .unwrap();
    let assumed = report
        .body
        .findings
        .iter()
        .find(|finding| finding.code.word() == "StoredVersionsAssumed")
        .unwrap();
    assert!(
        assumed
            .message
            .contains("(the oldest release in the history is v7.1.0): Bucket `v1beta2` may be stored"),
        "{}",
        assumed.message
    );
}

#[test]
fn with_two_upgrades_under_way_one_cluster_must_be_named_and_every_next_command_names_it() {
    let text = scaled(crate::world::manifest("v7.1.0", &["v1beta2", "v1"]));
    let other = text.replace("replicas: 2", "replicas: 2 # b");
    let world = World::with(&[
        ("clusters/a/flux-system/g.yaml", &text),
        ("clusters/b/flux-system/g.yaml", &other),
    ]);
    for name in ["a", "b"] {
        let asked = Ask {
            clusters: vec![name.into()],
            ..ask("flux@v7.2.0")
        };
        assert!(upgrade_asked(&world, &asked, Others::Stop).starts_with("5 "));
    }
    assert_eq!(
        resume(&world, Commits::Stop),
        "2 error: upgrades of `a`, `b` are under way"
    );
    let in_a = Ask {
        clusters: vec!["a".into()],
        ..ask("")
    };
    let commands = |next: &[refit_core::report::Next]| -> Vec<String> {
        next.iter().filter_map(|next| next.command.clone()).collect()
    };
    let report = world.run(|ports| refit_engine::status(ports, &in_a)).unwrap();
    assert_eq!(commands(&report.next), ["refit resolve --cluster a"]);
    let listed = world
        .run(|ports| refit_engine::resolve(ports, &in_a, None).map(one))
        .unwrap();
    let id = DecisionId(listed.body.decisions[0].id.clone());
    let answer = |asked: &Ask| {
        world.run(|ports| refit_engine::resolve(ports, asked, Some((id.clone(), Answer::Theirs))).map(one))
    };
    let error = answer(&ask("")).unwrap_err().to_string();
    assert_eq!(error, format!("decision `{id}` comes up in 2 clusters"));
    assert_eq!(answer(&in_a).unwrap().body.request.unwrap().number, 1);
    let report = world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap();
    let states: Vec<State> = report.body.clusters.iter().map(|cluster| cluster.state).collect();
    assert_eq!(states, [State::Waiting, State::DecisionNeeded]);
    let branch = report.body.clusters[0].requests[0].branch.clone();
    world.commit(&branch, "notes.txt", "mine\n");
    let report = world
        .run(|ports| refit_engine::resume(ports, &in_a, Commits::Stop).map(one))
        .unwrap();
    assert_eq!(
        commands(&report.next),
        [
            "refit resume --keep-commits --cluster a",
            "refit resume --discard-commits --cluster a"
        ]
    );
}
