//! What a request takes out of the Kustomizations of Flux, and what it moves to another one.

use refit_core::evidence::Evidence;
use refit_core::report::{Plan, Report, State};
use refit_engine::ports::Forge;
use refit_engine::{Ask, Commits, Wait, Way};
use refit_testkit::releases::{MemoryReleases, ReleaseFile};

use crate::world::{GENERATED, World, ask, manifest, message, one, told, upgrade};

const POLICY: &str = "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  labels:\n    \
    app.kubernetes.io/instance: flux-system\n    app.kubernetes.io/part-of: flux\n  name: deny-ingress\n  \
    namespace: flux-system\nspec:\n  podSelector: {}\n  policyTypes:\n  - Ingress\n";
const LEAVES: &str =
    "`NetworkPolicy/deny-ingress in flux-system` leaves `flux-system/flux-system` and is removed from the cluster";

fn sync(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\n\
         spec:\n  path: {path}\n  prune: true\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
    )
}

/// A release with a policy that stays.
fn stays(version: &str) -> String {
    let apis = match version {
        "v7.1.0" => ["v1beta2", "v1"],
        _ => ["v1", "v1beta2"],
    };
    manifest(version, &apis) + &POLICY.replace("deny-ingress", "allow-webhooks")
}

fn release<'a>(version: &'a str, text: &'a str) -> ReleaseFile<'a> {
    ReleaseFile {
        platform: "flux",
        version,
        name: "gotk-components.yaml",
        text,
    }
}

/// A plane whose release has a policy that the next one drops, with an edit of its sync and more files.
fn plane(edit: impl Fn(String) -> String, more: &[(&str, &str)]) -> World {
    let generated = stays("v7.1.0") + POLICY;
    let sync = edit(sync("flux-system", "./clusters/production"));
    let mut files = vec![
        (GENERATED, &*generated),
        (
            "clusters/production/flux-system/kustomization.yaml",
            "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n",
        ),
        ("clusters/production/flux-system/gotk-sync.yaml", &*sync),
    ];
    files.extend(more);
    let mut world = World::with(&files);
    let mut releases = MemoryReleases::new(&[]);
    let next = stays("v7.2.0");
    for (version, text) in [("v7.1.0", &generated), ("v7.2.0", &next)] {
        releases.add(release(version, text));
    }
    world.releases = releases;
    world
}

fn plan(world: &World) -> Report<Plan> {
    let ask = ask("flux@v7.2.0");
    one(world.run(|ports| refit_engine::plan(ports, &ask)).unwrap().report())
}

fn codes(report: &Report<Plan>) -> Vec<String> {
    let findings = report.body.findings.iter();
    let own = findings.filter(|finding| {
        let code = finding.code.to_string();
        code.contains("Prun") || code.contains("Move")
    });
    own.map(|finding| format!("{} {:?} {}", finding.code, finding.severity, finding.subject))
        .collect()
}

fn merge(world: &World) -> String {
    told(world.run(|ports| {
        let report = refit_engine::request_merge(ports, &ask(""), None)?;
        Ok((report.exit.code(), report.message))
    }))
}

fn resume(world: &World, ask: &Ask) -> String {
    told(world.run(|ports| {
        let reports = refit_engine::resume(ports, ask, Commits::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

#[test]
fn what_a_release_drops_is_listed_in_the_plan_and_in_the_request() {
    let world = plane(|text| text, &[]);
    let report = plan(&world);
    assert_eq!(report.state, State::Ready, "{}", report.message);
    assert_eq!(report.body.pruned, [LEAVES]);
    assert_eq!(
        codes(&report),
        ["ObjectPruned Warning NetworkPolicy/deny-ingress in flux-system"]
    );
    assert!(upgrade(&world, "flux@v7.2.0").starts_with("6 request 1 waits"));
    let request = &world.forge.list().unwrap()[0];
    let listed = format!("## Objects that will be pruned\n\n- {LEAVES}\n");
    assert!(request.body.contains(&listed), "{}", request.body);
}

#[test]
fn nothing_is_listed_where_the_kustomization_prunes_nothing_or_nothing_leaves() {
    let off = plane(|text| text.replace("prune: true", "prune: false"), &[]);
    assert_eq!((plan(&off).body.pruned, codes(&plan(&off))), (vec![], vec![]));
    let world = World::new(|text| text);
    assert_eq!((plan(&world).body.pruned, codes(&plan(&world))), (vec![], vec![]));
}

#[test]
fn what_cannot_be_built_is_told_where_something_may_leave() {
    let remote = "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n- https://example.org/more.yaml\n";
    let files = [("clusters/production/flux-system/kustomization.yaml", remote)];
    let world = plane(|text| text, &files);
    let report = plan(&world);
    assert_eq!(codes(&report), ["PruningUnknown Warning flux-system/flux-system"]);
    assert!(report.body.pruned.is_empty());
}

/// The policy is also among what `apps` applies, as people copied it there.
fn copied() -> World {
    let apps = sync("apps", "./apps");
    let files = [("clusters/production/apps.yaml", &*apps), ("apps/policy.yaml", POLICY)];
    plane(|text| text, &files)
}

#[test]
fn what_moves_is_marked_in_a_request_of_its_own_and_seen_in_the_cluster_before_it_moves() {
    let world = copied();
    let report = plan(&world);
    assert_eq!((codes(&report), &report.body.pruned), (vec![], &vec![]));
    let requests = report.body.requests.iter();
    let requests: Vec<String> = requests.map(|one| format!("{} {}", one.stage, one.state)).collect();
    assert_eq!(requests, ["detach open", "upgrade later"]);
    assert_eq!(report.body.requests[1].gates[0].what, "reconciled");

    let detach = "Keep objects of flux on production from being pruned";
    assert_eq!(
        upgrade(&world, "flux@v7.2.0"),
        format!("6 request 1 waits for review: {detach}")
    );
    let marked = world.text(&world.branch(), GENERATED).unwrap();
    let before = world.text("main", GENERATED).unwrap();
    let line = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n";
    assert_eq!(marked.replace(line, ""), before);
    assert_eq!(marked.matches(line).count(), 1);
    assert_eq!(merge(&world), format!("0 request 1 is merged: {detach}"));

    let draft = "6 request 2 is a draft: do not merge before: what was merged before is reconciled";
    assert_eq!(resume(&world, &ask("")), draft);
    assert_eq!(merge(&world), draft);
    let confirmed = Ask {
        confirm: vec![Wait::Reconciled],
        ..ask("")
    };
    let second = "Upgrade flux on production from v7.1.0 to v7.2.0";
    assert_eq!(
        resume(&world, &confirmed),
        format!("6 request 2 waits for review: {second}")
    );
    // The mark alone is no edit of a person: the policy goes where the release drops it.
    assert_eq!(merge(&world), format!("0 request 2 is merged: {second}"));
    assert!(!world.text("main", GENERATED).unwrap().contains("deny-ingress"));
    assert_eq!(world.text("main", "apps/policy.yaml").unwrap(), POLICY);
}

#[test]
fn a_snapshot_without_the_mark_does_not_open_the_move_and_one_with_it_does() {
    let world = copied();
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    let snapshot = |mark: &str| {
        let object = |kind: &str, rest: &str| format!("{{\"kind\": \"{kind}\", {rest}}}\n");
        let definition = object(
            "CustomResourceDefinition",
            "\"metadata\": {\"name\": \"buckets.source.toolkit.fluxcd.io\"}, \"spec\": {\"group\": \
             \"source.toolkit.fluxcd.io\", \"names\": {\"kind\": \"Bucket\"}, \"versions\": [{\"name\": \"v1beta2\", \
             \"served\": true, \"storage\": true}, {\"name\": \"v1\", \"served\": true, \"storage\": false}]}, \"status\": \
             {\"storedVersions\": [\"v1beta2\"]}",
        );
        let policy = object(
            "NetworkPolicy",
            &format!(
                "\"apiVersion\": \"networking.k8s.io/v1\", \"metadata\": {{\"name\": \"deny-ingress\", \"namespace\": \
                 \"flux-system\", \"annotations\": {{{mark}}}}}"
            ),
        );
        let bytes: std::sync::Arc<[u8]> = format!("{definition}{policy}").into_bytes().into();
        Ask {
            snapshot: Some(std::rc::Rc::new(refit_engine::Snapshot {
                evidence: Evidence::read(&bytes).unwrap(),
                digest: "d".into(),
            })),
            ..ask("")
        }
    };
    let said = resume(&world, &snapshot(""));
    assert!(said.starts_with("6 request 2 is a draft"), "{said}");
    let mark = "\"kustomize.toolkit.fluxcd.io/prune\": \"disabled\"";
    let said = resume(&world, &snapshot(mark));
    assert!(
        said.starts_with("6 request 2 waits for review"),
        "{said} {:?} {:?}",
        snapshot(mark).snapshot.unwrap().evidence.kept,
        plan(&world).body.requests[0].gates
    );
}

#[test]
fn going_back_is_refused_where_it_moves_what_is_not_marked() {
    let mut world = World::new(|text| text);
    let mut releases = MemoryReleases::new(&[]);
    let (old, new) = (stays("v7.1.0"), stays("v7.2.0") + POLICY);
    for (version, text) in [("v7.1.0", &old), ("v7.2.0", &new)] {
        releases.add(release(version, text));
    }
    world.releases = releases;
    world.commit("main", GENERATED, &old);
    world.commit(
        "main",
        "clusters/production/flux-system/gotk-sync.yaml",
        &sync("flux-system", "./clusters/production"),
    );
    upgrade(&world, "flux@v7.2.0");
    merge(&world);
    world.commit("main", "clusters/production/apps.yaml", &sync("apps", "./apps"));
    world.commit("main", "apps/policy.yaml", POLICY);
    let back = || {
        let ask = Ask {
            way: Way::Back,
            ..ask("")
        };
        one(world.run(|ports| refit_engine::plan(ports, &ask)).unwrap().report())
    };
    let report = back();
    assert_eq!(report.state, State::Blocked);
    assert_eq!(
        codes(&report),
        ["MoveNotMarked Blocking NetworkPolicy/deny-ingress in flux-system"]
    );
    let remedy = report.next[0].text.as_str();
    assert!(remedy.contains("prune: disabled"), "{remedy}");

    let mark = "  annotations:\n    kustomize.toolkit.fluxcd.io/prune: disabled\n  name: deny-ingress\n";
    let marked = world
        .text("main", GENERATED)
        .unwrap()
        .replace("  name: deny-ingress\n", mark);
    world.commit("main", GENERATED, &marked);
    let report = back();
    assert_eq!((report.state, codes(&report)), (State::Ready, vec![]));
}

#[test]
fn the_policy_that_flux_0_13_no_longer_has_is_listed() {
    let read = |version: &str| {
        let path = refit_testkit::shared::find(&format!("flux-manifests/{version}/gotk-components.yaml"))?;
        Some(std::fs::read_to_string(path).unwrap())
    };
    let (Some(old), Some(new)) = (read("v0.12.3"), read("v0.13.0")) else {
        return;
    };
    let mut world = plane(
        |text| text.replace("toolkit.fluxcd.io/v1\n", "toolkit.fluxcd.io/v1beta1\n"),
        &[],
    );
    let mut releases = MemoryReleases::new(&[]);
    for (version, text) in [("v0.12.3", &old), ("v0.13.0", &new)] {
        releases.add(release(version, text));
    }
    world.releases = releases;
    world.commit("main", GENERATED, &old);
    let ask = ask("flux@v0.13.0");
    let report = one(world.run(|ports| refit_engine::plan(ports, &ask)).unwrap().report());
    assert_eq!(report.state, State::Ready, "{}", report.message);
    assert_eq!(report.body.pruned, [LEAVES]);
}

#[test]
fn a_component_that_the_user_left_out_is_not_pruned_again() {
    let patch = "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\npatches:\n- patch: |\n    $patch: delete\n    apiVersion: \
                 networking.k8s.io/v1\n    kind: NetworkPolicy\n    metadata:\n      name: deny-ingress\n      namespace: \
                 flux-system\n";
    let files = [("clusters/production/flux-system/kustomization.yaml", patch)];
    let world = plane(|text| text, &files);
    assert_eq!(plan(&world).body.pruned, [""; 0]);
}
