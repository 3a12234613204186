//! What requests of a route wait for: Jobs, snapshots that say otherwise, objects that no release serves.

use refit_core::finding::Finding;
use refit_core::report::State;
use refit_engine::ports::{Forge, RequestState};
use refit_engine::{Ask, Commits, Others, Wait};
use refit_testkit::flux::Manifests;

use crate::conversions::{OLD_OVERLAY, OLD_RELEASE, OVERLAY, RELEASE, resume_with, snapshot};
use crate::routes::{merge, plan, resume, status};
use crate::world::{GENERATED, World, ask, example, upgrade, upgrade_asked};

const JOBS: &str = "apiVersion: refit.dev/v1alpha1\nkind: Plane\nspec:\n  migration:\n    image: registry.example.org/kubectl:1.33.4\n";

const JOB: &str = "clusters/production/refit-migrate-v2-6-4-v2-7-5-convert.yaml";

/// A plane whose first request is a conversion that waits for a migration, with Jobs asked for.
fn with_job(manifests: &Manifests, own: &[(&str, &str)]) -> World {
    let files = [
        &[(RELEASE, OLD_RELEASE), (OVERLAY, OLD_OVERLAY), ("refit.yaml", JOBS)],
        own,
    ]
    .concat();
    World::routed("v2.6.4", &files).real(manifests, &["v2.6.4", "v2.7.5"])
}

#[test]
fn a_job_comes_by_a_request_of_its_own_before_the_conversion_that_waits_for_it_and_goes_with_that() {
    let Some(manifests) = Manifests::find() else { return };
    let world = with_job(&manifests, &[]);
    let migrate = "Migrate stored objects of flux on production, which runs v2.6.4";
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {migrate}"));
    assert_eq!(merge(&world), format!("0 request 1 is merged: {migrate}"));
    assert!(
        world
            .text("main", JOB)
            .unwrap()
            .contains("migrate helmreleases.helm.toolkit.fluxcd.io\n")
    );
    assert_eq!(world.text("main", RELEASE).unwrap(), OLD_RELEASE);
    let draft = "6 request 2 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), draft);
    let body = world.forge.list().unwrap().remove(0).body;
    assert!(
        body.contains("kubectl -n flux-system wait --for=condition=complete job/refit-migrate-v2-6-4-v2-7-5-convert"),
        "{body}"
    );
    let convert = "Convert API versions of flux on production, which v2.6.4 serves";
    assert_eq!(
        resume(&world, &[Wait::Migrated]),
        format!("6 request 2 waits for review: {convert}")
    );
    assert_eq!(merge(&world), format!("0 request 2 is merged: {convert}"));
    assert_eq!(world.text("main", JOB), None);
}

#[test]
fn a_file_of_a_person_that_is_called_like_a_job_stays() {
    let Some(manifests) = Manifests::find() else { return };
    let (mine, text) = (
        "clusters/production/refit-migrate-mine.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n",
    );
    let world = with_job(&manifests, &[(mine, text)]);
    upgrade(&world, "");
    merge(&world);
    let edited = world
        .text("main", JOB)
        .unwrap()
        .replace("backoffLimit: 10", "backoffLimit: 20");
    world.commit("main", JOB, &edited);
    resume(&world, &[Wait::Migrated]);
    let body = world.forge.list().unwrap().remove(0).body;
    assert!(body.contains("is not as it was written here, so it stays"), "{body}");
    merge(&world);
    assert_eq!(world.text("main", mine).as_deref(), Some(text));
    assert_eq!(world.text("main", JOB), Some(edited));
}

#[test]
fn a_later_snapshot_that_shows_otherwise_shuts_what_a_person_opened() {
    let world = World::routed("v2.6.4", &[]);
    upgrade(&world, "");
    let open = resume(&world, &[Wait::Migrated]);
    assert!(open.starts_with("6 request 1 waits for review"), "{open}");
    let text = example("v2.6.4");
    let stale = snapshot_with(&text, "v1beta2");
    let draft = "6 request 1 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume_with(&world, stale.clone()), draft);
    assert_eq!(world.forge.list().unwrap()[0].state, RequestState::Draft);
    // What it showed counts, whoever looks later, until somebody says so again.
    assert_eq!(resume(&world, &[]), draft);
    assert_eq!(resume(&world, &[Wait::Migrated]), open);
    assert_eq!(resume(&world, &[]), open);
    let ask = Ask {
        confirm: vec![Wait::Migrated],
        snapshot: Some(stale),
        ..ask("")
    };
    let error = world
        .run(|ports| refit_engine::resume(ports, &ask, Commits::Stop).map(drop))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the snapshot shows that `migrated` is not so: "),
        "{error}"
    );
}

#[test]
fn a_request_that_a_snapshot_shut_stays_a_draft_until_a_later_one_or_a_person_opens_it() {
    let world = World::routed("v2.8.8", &[]);
    let (before, now) = (snapshot(&example("v2.7.5"), &[]), snapshot(&example("v2.8.8"), &[]));
    let ask = Ask {
        snapshot: Some(before.clone()),
        ..ask("flux@v2.9.4")
    };
    let draft = "request 1 is a draft: do not merge before: what was merged before is reconciled";
    assert_eq!(upgrade_asked(&world, &ask, Others::Stop), format!("6 {draft}"));
    assert_eq!(resume(&world, &[]), format!("6 {draft}"));
    assert_eq!(merge(&world), format!("6 {draft}"));
    let body = world.forge.list().unwrap().remove(0).body;
    assert!(body.contains("the cluster runs v2.7.5, and v2.8.8 is in Git"), "{body}");
    world.commit("main", "README.md", "ours\n");
    assert_eq!(
        status(&world).message,
        "`production` runs v2.8.8, request 1 is a draft, and the target branch moved since"
    );
    let open = "6 request 1 waits for review: Upgrade flux on production from v2.8.8 to v2.9.4";
    assert_eq!(resume_with(&world, now), open);
    assert_eq!(resume(&world, &[]), open);
    assert_eq!(resume_with(&world, before), format!("6 {draft}"));
    assert_eq!(resume(&world, &[Wait::Reconciled]), open);
    assert_eq!(resume(&world, &[]), open);
}

#[test]
fn a_migration_that_was_confirmed_counts_for_what_was_asked_for_then_and_no_more() {
    let since = "apiVersion: refit.dev/v1alpha1\nkind: Plane\nspec: {installedSince: v2.6.4}\n";
    let world = World::routed("v2.6.4", &[("refit.yaml", since)]);
    upgrade(&world, "");
    let open = resume(&world, &[Wait::Migrated]);
    assert!(open.starts_with("6 request 1 waits for review"), "{open}");
    assert_eq!(resume(&world, &[]), open);
    // Now older versions may be stored, too.
    world.commit("main", "refit.yaml", &since.replace("v2.6.4", "v2.1.2"));
    let draft = "6 request 1 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), draft);
    assert_eq!(resume(&world, &[Wait::Migrated]), open);
    assert_eq!(resume(&world, &[]), open);
}

/// A snapshot of a cluster where objects of Buckets are stored in an older version as well.
fn snapshot_with(text: &str, stored: &str) -> std::rc::Rc<refit_engine::Snapshot> {
    let mut stale = (*snapshot(text, &[])).clone();
    let held = stale
        .evidence
        .definitions
        .get_mut("buckets.source.toolkit.fluxcd.io")
        .unwrap();
    held.stored.push(stored.to_owned());
    std::rc::Rc::new(stale)
}

#[test]
fn an_object_in_a_version_that_neither_release_serves_blocks_and_nothing_can_be_accepted_of_it() {
    let release = OLD_RELEASE.replace("v2beta1 # old", "v3");
    let world = World::routed("v2.8.8", &[(RELEASE, &release)]);
    let report = plan(&world, "");
    let blocks: Vec<&Finding> = report.body.findings.iter().filter(|one| one.blocks()).collect();
    assert_eq!(report.state, State::Blocked, "{:#?}", report.body.findings);
    assert!(
        blocks.iter().any(|one| one
            .message
            .contains("written in `helm.toolkit.fluxcd.io/v3`, which v2.9.4 does not serve")),
        "{blocks:#?}"
    );
    assert!(upgrade(&world, "").starts_with("3 "), "{}", upgrade(&world, ""));
    assert!(world.forge.list().unwrap().is_empty());
}

#[test]
fn a_definition_that_the_cluster_has_not_applied_yet_is_no_damage_and_one_that_is_gone_is() {
    let world = World::routed("v2.6.4", &[]);
    upgrade(&world, "flux@v2.7.5");
    resume(&world, &[Wait::Migrated]);
    merge(&world);
    assert!(world.text("main", GENERATED).unwrap().contains("v2.7.5"));
    let told = |snapshot: refit_engine::Snapshot| {
        let ask = Ask {
            snapshot: Some(std::rc::Rc::new(snapshot)),
            ..ask("flux@v2.8.8")
        };
        let report = world
            .run(|ports| Ok(crate::world::one(refit_engine::plan(ports, &ask)?.report())))
            .unwrap();
        let findings = report
            .body
            .findings
            .iter()
            .filter(|one| one.code.to_string() == "RepairNeeded");
        findings.map(|one| one.message.clone()).collect::<Vec<_>>()
    };
    let before = (*snapshot(&example("v2.6.4"), &[])).clone();
    assert!(
        !before
            .evidence
            .definitions
            .contains_key("externalartifacts.source.toolkit.fluxcd.io")
    );
    assert_eq!(told(before.clone()), Vec::<String>::new());
    let mut gone = before;
    gone.evidence
        .definitions
        .remove("buckets.source.toolkit.fluxcd.io")
        .unwrap();
    let lines = told(gone);
    assert!(
        lines
            .iter()
            .any(|line| line.contains("buckets.source.toolkit.fluxcd.io")),
        "{lines:?}"
    );
}

#[test]
fn what_a_release_reads_otherwise_is_told_by_the_request_that_brings_it_and_not_again() {
    let flag = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: image-reflector-controller, namespace: flux-system}\nspec:\n  \
        template:\n    spec:\n      containers:\n      - name: manager\n        args:\n        - --aws-autologin-for-ecr\n";
    let place = "clusters/production/apps/reflector.yaml";
    let world = World::routed("v2.6.4", &[(place, flag)]);
    let told = |target: &str| {
        let findings = plan(&world, target).body.findings;
        let told = findings.iter().filter(|one| one.code.to_string() == "BehaviourChanges");
        told.map(|one| format!("{}: {}", one.subject, one.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        told("flux@v2.7.5"),
        [format!(
            "{place}:10: with v2.7.5: image-reflector-controller refuses this flag; set `spec.provider` of each \
             ImageRepository and take the flag out"
        )]
    );
    upgrade(&world, "flux@v2.7.5");
    resume(&world, &[Wait::Migrated]);
    merge(&world);
    assert_eq!(told("flux@v2.8.8"), Vec::<String>::new());
}

#[test]
fn a_snapshot_that_blocks_an_open_request_blocks_its_status_too() {
    let world = World::routed("v2.6.4", &[]);
    upgrade(&world, "");
    let mut old = (*snapshot(&example("v2.6.4"), &[])).clone();
    old.evidence.kubernetes = Some("v1.29.0".parse().unwrap());
    let ask = Ask {
        snapshot: Some(std::rc::Rc::new(old)),
        ..ask("")
    };
    let report = world.run(|ports| refit_engine::status(ports, &ask)).unwrap();
    assert_eq!(report.state, State::Blocked, "{report:#?}");
    assert_eq!(report.message, "`production` runs v2.6.4, and findings block request 1");
    let findings = report.body.clusters[0].findings.iter();
    let blocks: Vec<&str> = findings.filter(|one| one.blocks()).map(|one| one.code.word()).collect();
    assert_eq!(blocks, ["KubernetesTooOld"]);
    let opens = |next: &refit_core::report::Next| next.text.contains("open the draft");
    assert!(!report.next.iter().any(opens), "{:?}", report.next);
    let now = Ask {
        snapshot: Some(snapshot(&example("v2.6.4"), &[])),
        ..ask.clone()
    };
    let report = world.run(|ports| refit_engine::status(ports, &now)).unwrap();
    assert_eq!(report.state, State::Waiting);
}

#[test]
fn a_plan_names_a_kustomization_of_an_application_that_cannot_be_built() {
    let apps = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
        spec:\n  path: ./apps\n  sourceRef: {kind: GitRepository, name: flux-system}\n";
    let broken = |resources: &str| {
        let files = [
            ("clusters/production/apps.yaml", apps),
            ("apps/kustomization.yaml", resources),
            (
                "apps/there.yaml",
                "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n",
            ),
        ];
        let report = plan(&World::routed("v2.8.8", &files), "");
        let findings = report.body.findings.into_iter();
        let broken = findings.filter(|one| one.code.word() == "OverlayBroken");
        broken
            .map(|one| format!("{}: {}", one.subject, one.message))
            .collect::<Vec<_>>()
    };
    assert_eq!(broken("resources: [there.yaml]\n"), Vec::<String>::new());
    assert_eq!(
        broken("resources:\n- there.yaml\n- missing.yaml\n"),
        ["apps/kustomization.yaml:3: it names `missing.yaml`, which is not there"]
    );
}
