//! Routes that take an API version away: what a plane's own objects are written in is converted by a request before.

use std::collections::BTreeMap;
use std::rc::Rc;

use refit_core::finding::Finding;
use refit_core::report::State;
use refit_engine::ports::{Forge, Repository, RequestState};
use refit_engine::{Ask, Commits, Others, Snapshot, Wait, Way};
use refit_testkit::flux::Manifests;

use crate::routes::{merge, plan, resume, status};
use crate::world::{GENERATED, World, ask, example, message, one, told, upgrade, upgrade_asked};

pub(crate) const RELEASE: &str = "clusters/production/apps/release.yaml";
pub(crate) const OVERLAY: &str = "clusters/production/apps/overlay.yaml";

pub(crate) const OLD_RELEASE: &str = "\
# ours
apiVersion: helm.toolkit.fluxcd.io/v2beta1 # old
kind: HelmRelease
metadata:
  name: app
  namespace: apps
spec:
  interval: 5m # often
  chart:
    spec:
      chart: app
      valuesFile: values-prod.yaml
      sourceRef:
        kind: HelmRepository
        name: app
";

pub(crate) const OLD_OVERLAY: &str = "\
apiVersion: kustomize.toolkit.fluxcd.io/v1beta2
kind: Kustomization
metadata:
  name: apps
  namespace: flux-system
spec:
  path: ./apps
  prune: true
  sourceRef:
    kind: GitRepository
    name: apps
  patchesJson6902:
  - target:
      kind: Deployment
      name: app
    patch:
    - op: remove
      path: /spec/replicas
";

/// A plane at v2.6.4 with objects in versions that v2.9.4 does not serve.
pub(crate) fn world() -> World {
    World::routed("v2.6.4", &[(RELEASE, OLD_RELEASE), (OVERLAY, OLD_OVERLAY)])
}

const NEW_RELEASE: &str = "\
# ours
apiVersion: helm.toolkit.fluxcd.io/v2 # old
kind: HelmRelease
metadata:
  name: app
  namespace: apps
spec:
  interval: 5m # often
  chart:
    spec:
      chart: app
      valuesFiles:
      - values-prod.yaml
      sourceRef:
        kind: HelmRepository
        name: app
";

const CONVERT: &str = "Convert API versions of flux on production, which v2.6.4 serves";
const UPGRADE: &str = "Upgrade flux on production from v2.6.4 to v2.9.4";

/// The files of the target branch without records.
fn files(world: &World) -> BTreeMap<String, String> {
    let head = world.repository.branch("main").unwrap().unwrap();
    let listed = world.repository.list(&head).unwrap();
    let paths = listed.iter().map(|item| item.path.to_string());
    let outside = paths.filter(|path| !path.starts_with(".refit/"));
    outside
        .map(|path| (path.clone(), world.text("main", &path).unwrap()))
        .collect()
}

/// Lists the files that differ.
fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let all = before
        .keys()
        .chain(after.keys())
        .filter(|path| before.get(*path) != after.get(*path));
    let all: std::collections::BTreeSet<String> = all.cloned().collect();
    all.into_iter().collect()
}

fn back(world: &World) -> String {
    told(world.run(|ports| {
        let ask = Ask {
            way: Way::Back,
            ..ask("")
        };
        let prepared = refit_engine::rollback(ports, &ask)?;
        let reports = refit_engine::carry_out(ports, &prepared, Others::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

#[test]
fn what_a_hop_takes_away_is_converted_by_a_request_before_it_and_all_else_stays() {
    let world = world();
    let report = plan(&world, "");
    assert_eq!(report.message, "production can go from v2.6.4 to v2.9.4 in 2 requests");
    let requests = report.body.requests.iter();
    let requests: Vec<_> = requests
        .map(|one| (&*one.state, &*one.title, one.gates.len()))
        .collect();
    assert_eq!(requests, [("open", CONVERT, 0), ("later", UPGRADE, 1)]);
    let before = files(&world);
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {CONVERT}"));
    assert_eq!(files(&world), before);
    assert_eq!(merge(&world), format!("0 request 1 is merged: {CONVERT}"));
    let converted = files(&world);
    assert_eq!(changed(&before, &converted), [OVERLAY, RELEASE]);
    assert_eq!(converted[RELEASE], NEW_RELEASE);
    assert!(
        converted[OVERLAY].contains("  patches:\n  - target:\n      kind: Deployment\n      name: app\n    patch: |\n"),
        "{}",
        converted[OVERLAY]
    );
    let said = status(&world).message;
    assert_eq!(
        said,
        "`production` runs v2.6.4; 1 of 2 requests on the way to v2.9.4 is merged, and none is open"
    );

    let draft = "6 request 2 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), draft);
    let once = world.picture();
    assert_eq!(resume(&world, &[]), draft);
    assert_eq!(world.picture(), once);
    let open = format!("6 request 2 waits for review: {UPGRADE}");
    assert_eq!(resume(&world, &[Wait::Migrated]), open);
    let once = world.picture();
    assert_eq!(resume(&world, &[]), open);
    assert_eq!(upgrade(&world, ""), open);
    assert_eq!(world.picture(), once);
    assert_eq!(merge(&world), format!("0 request 2 is merged: {UPGRADE}"));
    assert_eq!(changed(&converted, &files(&world)), [GENERATED]);
    assert_eq!(files(&world)[GENERATED], example("v2.9.4"));
    assert_eq!(resume(&world, &[]), "0 no upgrade of `main` is under way");
}

#[test]
fn where_nothing_is_taken_away_there_is_one_request_and_own_files_stay_byte_for_byte() {
    let own = OLD_OVERLAY
        .replace("v1beta2", "v1")
        .replace("patchesJson6902", "patches");
    let world = World::routed("v2.8.8", &[(RELEASE, NEW_RELEASE), (OVERLAY, &own)]);
    let report = plan(&world, "");
    let requests: Vec<&str> = report.body.requests.iter().map(|one| &*one.title).collect();
    assert_eq!(requests, ["Upgrade flux on production from v2.8.8 to v2.9.4"]);
    let before = files(&world);
    let request = "6 request 1 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(upgrade(&world, ""), request);
    resume(&world, &[Wait::Migrated]);
    merge(&world);
    assert_eq!(changed(&before, &files(&world)), [GENERATED]);
}

#[test]
fn the_way_back_undoes_the_upgrade_and_then_its_conversion() {
    let world = world();
    let before = files(&world);
    upgrade(&world, "");
    merge(&world);
    resume(&world, &[Wait::Migrated]);
    merge(&world);
    let first = "Roll back flux on production from v2.9.4 to v2.6.4";
    assert_eq!(back(&world), format!("6 request 3 waits for review: {first}"));
    merge(&world);
    assert_eq!(files(&world)[RELEASE], NEW_RELEASE);
    // An edit since then stays.
    let edited = NEW_RELEASE.replace("# often", "# rarely");
    world.commit("main", RELEASE, &edited);
    let second = "Undo what request `convert` of flux on production did";
    assert_eq!(back(&world), format!("6 request 4 waits for review: {second}"));
    merge(&world);
    let after = files(&world);
    assert_eq!(after[RELEASE], OLD_RELEASE.replace("# often", "# rarely"));
    assert_eq!(after[OVERLAY], before[OVERLAY]);
}

#[test]
fn a_conversion_is_not_undone_below_a_release_that_took_the_old_version_away() {
    let world = world();
    upgrade(&world, "");
    merge(&world);
    world.commit("main", GENERATED, &example("v2.9.4"));
    let found = world
        .run(|ports| {
            let ask = Ask {
                way: Way::Back,
                ..ask("")
            };
            Ok(one(refit_engine::rollback(ports, &ask)?.report()).body.findings)
        })
        .unwrap();
    let lines: Vec<String> = found
        .iter()
        .filter(|one| one.blocks())
        .map(|one| format!("{}: {}", one.subject, one.message))
        .collect();
    assert_eq!(
        lines[1..],
        [
            format!("{OVERLAY}: `Kustomization/apps` would be written as `v1beta2` again, which v2.9.4 does not serve"),
            format!("{RELEASE}: `HelmRelease/app` would be written as `v2beta1` again, which v2.9.4 does not serve"),
        ]
    );
    assert!(back(&world).starts_with("3 "), "{}", back(&world));
}

/// A snapshot of a cluster that runs a release: all is migrated; kinds are listed but for some.
pub(crate) fn snapshot(text: &str, unlisted: &[&str]) -> Rc<Snapshot> {
    let mut snapshot = String::new();
    for definition in text
        .split("---\n")
        .filter(|text| text.contains("kind: CustomResourceDefinition"))
    {
        let value = |key: &str| {
            let line = definition.lines().find_map(|line| line.trim_start().strip_prefix(key));
            line.unwrap_or_default().trim().to_owned()
        };
        // The version whose block says that it is stored.
        let mut names = Vec::new();
        let mut stored = String::new();
        for line in definition.split("\n  versions:\n").nth(1).unwrap_or_default().lines() {
            match line.strip_prefix("    name: ").or(line.strip_prefix("  - name: ")) {
                Some(name) => names.push(name.to_owned()),
                None if line == "    storage: true" => stored.clone_from(names.last().unwrap()),
                None => {}
            }
        }
        snapshot.push_str(&format!("---\n{definition}status:\n  storedVersions: [{stored}]\n"));
        let (group, kind) = (value("group:"), value("kind: "));
        let kind = match kind.as_str() {
            "CustomResourceDefinition" => {
                let of = definition.lines().find_map(|line| line.strip_prefix("    kind: "));
                of.unwrap().to_owned()
            }
            other => other.to_owned(),
        };
        if !unlisted.contains(&&*kind) {
            snapshot.push_str(&format!(
                "---\napiVersion: {group}/{stored}\nkind: {kind}List\nitems: []\n"
            ));
        }
    }
    Rc::new(Snapshot::read(&snapshot.into_bytes().into()).unwrap())
}

pub(crate) fn resume_with(world: &World, snapshot: Rc<Snapshot>) -> String {
    let ask = Ask {
        snapshot: Some(snapshot),
        ..ask("")
    };
    told(world.run(|ports| {
        let reports = refit_engine::resume(ports, &ask, Commits::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

#[test]
fn a_conversion_that_is_under_way_goes_on_when_somebody_upgrades_by_hand_on_the_way() {
    let world = world();
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {CONVERT}"));
    world.commit("main", GENERATED, &example("v2.7.5"));
    let said = status(&world);
    assert_eq!(
        said.message,
        "`production` runs v2.7.5, request 1 waits for review, and the target branch moved since"
    );
    assert_eq!(said.next[0].command.as_deref(), Some("refit resume"));
    let anew = "6 request 1 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), anew);
    // Where the target is there already, it has nothing left to bring.
    world.commit("main", GENERATED, &example("v2.9.4"));
    let said = status(&world);
    assert_eq!(
        said.message,
        "`production` runs v2.9.4 already; request 1 has nothing left to bring"
    );
}

#[test]
fn what_the_installed_release_does_not_serve_blocks_also_where_nothing_newer_is_to_come() {
    let world = World::routed("v2.9.4", &[(RELEASE, OLD_RELEASE)]);
    let said = plan(&world, "");
    assert_eq!(said.state, State::Blocked);
    assert!(
        said.message
            .ends_with("no newer stable release to go to, and 1 object is written in a version that it does not serve"),
        "{}",
        said.message
    );
    let finding = said.body.findings.iter().find(|finding| finding.blocks()).unwrap();
    assert_eq!(finding.subject, format!("{RELEASE}:2"));
    assert_eq!(
        finding.message,
        "`HelmRelease/app in apps` is written as `v2beta1`, which v2.9.4 does not serve"
    );
    let convert = format!("refit convert --to flux@v2.9.4 {RELEASE}");
    assert!(finding.remedy.contains(&convert), "{finding:?}");
    assert_eq!(status(&world).state, State::Blocked);
    world.commit("main", RELEASE, NEW_RELEASE);
    assert_eq!(plan(&world, "").state, State::NothingToDo);
    assert_eq!(status(&world).state, State::NothingToDo);
}

#[test]
fn a_snapshot_opens_a_draft_only_when_it_lists_every_kind_that_the_draft_waits_for() {
    let world = world();
    upgrade(&world, "");
    merge(&world);
    let draft = "6 request 2 is a draft: do not merge before: stored objects are migrated";
    assert_eq!(resume(&world, &[]), draft);
    let text = example("v2.6.4");
    assert_eq!(resume_with(&world, snapshot(&text, &["Bucket"])), draft);
    let body = &world.forge.list().unwrap()[0].body;
    assert!(body.contains("the snapshot does not list: Bucket"), "{body}");
    let open = format!("6 request 2 waits for review: {UPGRADE}");
    assert_eq!(resume_with(&world, snapshot(&text, &[])), open);
    assert_eq!(resume(&world, &[]), open);
}

const SOURCE: &str = "clusters/production/apps/source.yaml";
const OLD_SOURCE: &str = "\
apiVersion: source.toolkit.fluxcd.io/v1beta2
kind: OCIRepository
metadata:
  name: app
  namespace: apps
spec:
  interval: 5m
  url: oci://registry.example.org/app
";

#[test]
fn a_conversion_waits_where_managed_fields_in_the_old_version_keep_it_from_being_applied() {
    let Some(manifests) = Manifests::find() else { return };
    let begun = || {
        let own = [(RELEASE, OLD_RELEASE), (SOURCE, OLD_SOURCE)];
        let world = World::routed("v2.6.4", &own).real(&manifests, &["v2.6.4", "v2.8.8"]);
        let draft = "6 request 1 is a draft: do not merge before: stored objects are migrated";
        assert_eq!(upgrade(&world, ""), draft);
        let request = world.forge.list().unwrap().remove(0);
        assert_eq!(request.state, RequestState::Draft);
        let why = "the API server of v2.6.4 refuses the versions that this request writes";
        let has = |text: &str| request.body.contains(text);
        assert!(
            has(why) && has("- HelmRelease from `v2beta1` to `v2`\n"),
            "{}",
            request.body
        );
        // The schemas show that the other one needs no migration.
        assert!(
            has("OCIRepository/app in apps `v1beta2` becomes `v1`") && !has("- OCIRepository from"),
            "{}",
            request.body
        );
        let text = world.text("main", GENERATED).unwrap();
        assert_eq!(resume_with(&world, snapshot(&text, &["HelmRelease"])), draft);
        (world, text)
    };
    let open = format!("6 request 1 waits for review: {CONVERT}");
    let (world, _) = begun();
    assert_eq!(resume(&world, &[Wait::Migrated]), open);
    assert_eq!(resume(&world, &[]), open);
    let (world, text) = begun();
    assert_eq!(resume_with(&world, snapshot(&text, &[])), open);
    assert_eq!(merge(&world), format!("0 request 1 is merged: {CONVERT}"));
    assert_eq!(world.text("main", RELEASE).unwrap(), NEW_RELEASE);
    assert_eq!(world.text("main", SOURCE).unwrap(), OLD_SOURCE.replace("v1beta2", "v1"));
}

#[test]
fn a_conversion_that_the_schemas_show_to_be_safe_waits_for_nothing() {
    let Some(manifests) = Manifests::find() else { return };
    let world = World::routed("v2.6.4", &[(SOURCE, OLD_SOURCE)]).real(&manifests, &["v2.6.4", "v2.8.8"]);
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {CONVERT}"));
}

#[test]
fn an_object_that_would_lack_what_its_new_version_wants_is_told_before_anything_is_written() {
    let Some(manifests) = Manifests::find() else { return };
    let lacking = "apiVersion: notification.toolkit.fluxcd.io/v1beta1\nkind: Receiver\nmetadata: {name: hook}\nspec:\n  \
        type: generic\n  resources:\n  - {kind: GitRepository, name: app}\n";
    let world = World::routed("v2.6.4", &[(RELEASE, lacking)]).real(&manifests, &["v2.6.4", "v2.7.5"]);
    let report = plan(&world, "");
    let found: Vec<&Finding> = report.body.findings.iter().filter(|one| one.blocks()).collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].subject.starts_with(RELEASE) && found[0].message.contains("secretRef"),
        "{found:#?}"
    );
}

/// Two clusters of two releases that apply one directory.
fn sharing(other: &str, shared: &str) -> World {
    let apply = OLD_OVERLAY.split("  patchesJson6902").next().unwrap_or_default();
    let apply = apply
        .replace("v1beta2", "v1")
        .replace("name: apps\n  patches", "name: flux-system\n  patches");
    let apply = apply
        .replace("    name: apps\n", "    name: flux-system\n")
        .replace("path: ./apps", "path: ./shared");
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: flux-system, namespace: flux-system}\n\
        spec:\n  path: ./clusters/lagging\n  sourceRef: {kind: GitRepository, name: flux-system}\n";
    World::routed(
        "v2.6.4",
        &[
            ("clusters/production/shared.yaml", &apply),
            ("clusters/lagging/flux-system/gotk-components.yaml", &example(other)),
            ("clusters/lagging/flux-system/gotk-sync.yaml", sync),
            ("clusters/lagging/shared.yaml", &apply),
            ("shared/release.yaml", shared),
        ],
    )
}

fn of_production(target: &str) -> Ask {
    Ask {
        clusters: vec!["production".to_owned()],
        ..ask(target)
    }
}

#[test]
fn a_file_that_clusters_of_two_releases_share_is_written_in_a_version_that_both_serve() {
    let world = sharing("v2.2.3", OLD_RELEASE);
    assert_eq!(
        upgrade_asked(&world, &of_production("flux@v2.7.5"), Others::Stop),
        format!("6 request 1 waits for review: {CONVERT}")
    );
    world
        .run(|ports| refit_engine::request_merge(ports, &of_production(""), None))
        .unwrap();
    let text = world.text("main", "shared/release.yaml").unwrap();
    assert!(
        text.contains("apiVersion: helm.toolkit.fluxcd.io/v2beta2 # old"),
        "{text}"
    );
}

#[test]
fn a_cluster_that_lags_behind_is_named_where_no_version_is_served_by_both() {
    let shared = NEW_RELEASE.replace("io/v2 ", "io/v2beta2 ");
    let world = sharing("v2.2.3", &shared);
    let report = one(world
        .run(|ports| refit_engine::plan(ports, &of_production("flux@v2.9.4")))
        .unwrap()
        .report());
    let lags: Vec<&Finding> = report
        .body
        .findings
        .iter()
        .filter(|one| one.code.to_string() == "ClusterLags")
        .collect();
    assert_eq!(lags.len(), 1, "{:#?}", report.body.findings);
    assert_eq!(lags[0].subject, "shared/release.yaml");
    assert!(lags[0].message.contains("`lagging` has v2.2.3"), "{}", lags[0].message);
    assert!(lags[0].remedy.contains("upgrade `lagging` first"), "{}", lags[0].remedy);
    assert!(lags[0].blocks());
}

#[test]
fn a_snapshot_for_several_clusters_is_refused_with_the_way_to_name_one() {
    let world = sharing("v2.2.3", OLD_RELEASE);
    let ask = Ask {
        all_clusters: true,
        snapshot: Some(snapshot(&example("v2.6.4"), &[])),
        ..ask("")
    };
    let error = world
        .run(|ports| refit_engine::plan(ports, &ask))
        .map(drop)
        .unwrap_err();
    assert_eq!(error.exit().code(), 2);
    let refit_engine::Error::Usage { message, remedy } = error else {
        panic!("{error}");
    };
    assert_eq!(message, "a snapshot is of one cluster, and 2 are meant");
    assert_eq!(
        remedy,
        "name the one that it is of: `--cluster lagging` or `--cluster production`"
    );
    let resumed = world.run(|ports| refit_engine::resume(ports, &ask, Commits::Stop).map(drop));
    assert_eq!(resumed.unwrap_err().exit().code(), 2);
}

const RULES: &str = "origin: ours\nrules:\n- id: own-interval\n  group: helm.toolkit.fluxcd.io\n  kinds: [HelmRelease]\n  \
    message: releases are looked at on demand\n  origin: our handbook\n  by: v2.8.0\n  do:\n  - remove: spec.interval\n";

fn ruled(rules: Option<&str>) -> World {
    let refit = "apiVersion: refit.dev/v1alpha1\nkind: Plane\nspec:\n  rules: [rules/own.txt]\n";
    let mut own = vec![(RELEASE, OLD_RELEASE), ("refit.yaml", refit)];
    own.extend(rules.map(|rules| ("rules/own.txt", rules)));
    World::routed("v2.6.4", &own)
}

#[test]
fn rules_of_the_repository_convert_on_the_way_of_an_upgrade() {
    let world = ruled(Some(RULES));
    assert_eq!(upgrade(&world, ""), format!("6 request 1 waits for review: {CONVERT}"));
    merge(&world);
    let expected = NEW_RELEASE.replace("  interval: 5m # often\n", "");
    assert_eq!(world.text("main", RELEASE).unwrap(), expected);
    let record = world.text("main", ".refit/production.json").unwrap();
    assert!(record.contains("releases are looked at on demand"), "{record}");
}

#[test]
fn a_rule_file_that_cannot_be_used_blocks_with_file_line_rule_and_remedy() {
    for (rules, subject, message) in [
        (
            Some(RULES.replace("remove:", "delete:")),
            "rules/own.txt:10",
            "rule `own-interval`: unknown operation `delete`",
        ),
        (None, "rules/own.txt", "there is no such file"),
    ] {
        let world = ruled(rules.as_deref());
        let report = plan(&world, "");
        let found = report
            .body
            .findings
            .iter()
            .find(|one| one.code.to_string() == "InvalidRules")
            .unwrap();
        assert_eq!((&*found.subject, &*found.message), (subject, message));
        assert!(found.blocks() && !found.remedy.is_empty());
        assert!(upgrade(&world, "").starts_with("3 "), "{}", upgrade(&world, ""));
        assert!(world.forge.list().unwrap().is_empty());
    }
}
