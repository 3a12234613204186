//! Several clusters in one repository.

use std::collections::BTreeSet;

use refit_core::report::{Reports, State};
use refit_engine::ports::{CommitId, Repository};
use refit_engine::{Ask, Commits, Others};

use crate::world::{World, ask, example, manifest, message, one, told, upgrade_asked};

const V71: &[&str] = &["v1beta2", "v1"];

fn named(target: &str, clusters: &[&str]) -> Ask {
    Ask {
        clusters: clusters.iter().map(|name| (*name).to_owned()).collect(),
        ..ask(target)
    }
}

fn all(target: &str) -> Ask {
    Ask {
        all_clusters: true,
        ..ask(target)
    }
}

fn sync(path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: flux-system}}\nspec: {{path: {path}}}\n"
    )
}

/// Clusters `a` and `b` build from one generated file, `c` has its own.
fn shared() -> World {
    let text = manifest("v7.1.0", V71);
    World::with(&[
        ("base/kustomization.yaml", "resources: [flux.yaml]\n"),
        ("base/flux.yaml", &text),
        ("clusters/a/kustomization.yaml", "resources: [../../base, sync.yaml]\n"),
        ("clusters/a/sync.yaml", &sync("clusters/a")),
        ("clusters/b/kustomization.yaml", "resources: [../../base, sync.yaml]\n"),
        ("clusters/b/sync.yaml", &sync("clusters/b")),
        ("clusters/c/flux/g.yaml", &text),
        ("clusters/c/flux/sync.yaml", &sync("clusters/c")),
    ])
}

/// The files that a request changes.
fn changed(world: &World, head: &CommitId) -> BTreeSet<String> {
    let files = |commit: &CommitId| -> BTreeSet<(String, String)> {
        let listed = world.repository.list(commit).unwrap();
        let pair = |item: &refit_engine::ports::Listed| (item.path.to_string(), item.blob.0.to_string());
        listed.iter().map(pair).collect()
    };
    let base = world.repository.branch("main").unwrap().unwrap();
    let (before, after) = (files(&base), files(head));
    before
        .symmetric_difference(&after)
        .map(|(path, _)| path.clone())
        .collect()
}

#[test]
fn a_part_of_a_group_is_refused_with_the_flags_of_all_and_the_whole_is_one_request() {
    let world = shared();
    let prepared = world
        .run(|ports| refit_engine::plan(ports, &named("", &["a"])))
        .unwrap();
    let plan = one(prepared.report());
    assert_eq!(plan.state, State::Blocked);
    assert_eq!(
        plan.message,
        "SharedFile base/flux.yaml: cluster `a` shares it with `b`"
    );
    assert_eq!(
        plan.next[0].text,
        "upgrade them together with `--cluster a --cluster b`, or give each cluster its own generated file"
    );
    assert_eq!(
        upgrade_asked(&world, &named("", &["b", "a"]), Others::Stop),
        "6 request 1 waits for review: Upgrade flux on a, b from v7.1.0 to v7.2.0"
    );
    let request = world.run(|ports| refit_engine::request_show(ports, None)).unwrap().body;
    assert!(
        request.text.starts_with(
            "Upgrades flux on clusters `a`, `b`, which share their generated files, from `v7.1.0` to `v7.2.0`."
        ),
        "{}",
        request.text
    );
    let changed = changed(&world, &CommitId(request.head.into()));
    let expected = [".refit/a.json", ".refit/b.json", "base/flux.yaml"];
    assert_eq!(changed, expected.map(str::to_owned).into());
    let record = |name: &str| {
        let text = world
            .text(&request.request.branch, &format!(".refit/{name}.json"))
            .unwrap();
        refit_core::record::Record::read(text.as_bytes()).unwrap()
    };
    let (a, b) = (record("a"), record("b"));
    assert_eq!((a.cluster.as_str(), a.with.as_slice()), ("a", &["b".to_owned()][..]));
    assert_eq!((b.cluster.as_str(), b.with.as_slice()), ("b", &["a".to_owned()][..]));
    assert_eq!(a.upgrade, b.upgrade);
}

#[test]
fn every_cluster_of_a_group_shows_its_request_and_is_done_after_the_merge() {
    let world = shared();
    upgrade_asked(&world, &named("flux@v7.2.0", &["a", "b"]), Others::Stop);
    let states = || -> Vec<(String, Vec<String>, State, usize)> {
        let report = world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap();
        let line = |cluster: refit_core::report::ClusterStatus| {
            (cluster.cluster, cluster.with, cluster.state, cluster.requests.len())
        };
        report.body.clusters.into_iter().map(line).collect()
    };
    let cluster = |name: &str, with: &[&str], state, requests| {
        let with = with.iter().map(|name| (*name).to_owned()).collect();
        (name.to_owned(), with, state, requests)
    };
    assert_eq!(
        states(),
        [
            cluster("a", &["b"], State::Waiting, 1),
            cluster("b", &["a"], State::Waiting, 1),
            cluster("c", &[], State::UpgradeAvailable, 0),
        ]
    );
    // One more cluster of the group is no other upgrade: the same command finds the same request.
    let before = world.picture();
    assert!(upgrade_asked(&world, &named("flux@v7.2.0", &["a", "b"]), Others::Stop).starts_with("6 request 1 "));
    assert_eq!(world.picture(), before);
    assert!(
        told(world.run(|ports| {
            let report = refit_engine::request_merge(ports, &ask(""), None)?;
            Ok((report.exit.code(), report.message))
        }))
        .starts_with("0 request 1 is merged")
    );
    assert_eq!(
        states(),
        [
            cluster("a", &["b"], State::Done, 0),
            cluster("b", &["a"], State::Done, 0),
            cluster("c", &[], State::UpgradeAvailable, 0),
        ]
    );
}

#[test]
fn all_groups_get_a_request_each_that_touches_their_own_files_alone_and_a_blocked_one_stops_no_other() {
    let text = manifest("v7.1.0", V71);
    let broken = text.replace("app.kubernetes.io/version: v7.1.0", "app.kubernetes.io/version: latest");
    let broken = broken.replace("v7.1.0", "latest");
    let world = World::with(&[
        ("clusters/a/flux-system/g.yaml", &text),
        ("clusters/b/flux-system/g.yaml", &broken),
        (
            "clusters/c/flux-system/g.yaml",
            &text.replace("replicas: 1", "replicas: 1 # c"),
        ),
    ]);
    let asked = all("flux@v7.2.0");
    assert_eq!(
        upgrade_asked(&world, &asked, Others::Stop),
        "3 3 groups of clusters: 1 blocked, 2 waiting"
    );
    let requests = world.run(refit_engine::request_list).unwrap().body.requests;
    assert_eq!(requests.len(), 2);
    for (request, cluster) in requests.iter().rev().zip(["a", "c"]) {
        let head = world.repository.branch(&request.branch).unwrap().unwrap();
        let expected = [
            format!(".refit/{cluster}.json"),
            format!("clusters/{cluster}/flux-system/g.yaml"),
        ];
        assert_eq!(changed(&world, &head), expected.into());
    }
    let diff = world.run(|ports| refit_engine::diff(ports, &asked, None)).unwrap();
    let Reports::Several(diff) = diff else {
        panic!("it is one diff")
    };
    let numbers: Vec<Option<u64>> = diff.body.groups.iter().map(|group| group.report.body.request).collect();
    assert_eq!(numbers, [Some(1), None, Some(2)]);
    world.commit("main", "README.md", "moved\n");
    let resumed = world
        .run(|ports| refit_engine::resume(ports, &all(""), Commits::Stop))
        .unwrap();
    assert_eq!(
        (resumed.exit().code(), message(&resumed).as_str()),
        (6, "2 groups of clusters: 2 waiting")
    );
    let error = world
        .run(|ports| refit_engine::resume(ports, &ask(""), Commits::Stop))
        .unwrap_err();
    assert_eq!(
        error.remedy().unwrap(),
        "name one with `--cluster NAME`, or take all with `--all-clusters`"
    );
}

#[test]
fn without_a_name_the_clusters_are_listed_with_the_flags_that_choose() {
    let world = shared();
    let prepared = world.run(|ports| refit_engine::plan(ports, &ask(""))).unwrap();
    let report = one(prepared.report_for("plan"));
    assert_eq!((report.state, report.exit.code()), (State::Choose, 2));
    assert_eq!(report.body.choices, ["a", "b", "c"]);
    let commands: Vec<String> = report.next.into_iter().filter_map(|next| next.command).collect();
    assert_eq!(
        commands,
        [
            "refit plan --cluster a --cluster b",
            "refit plan --cluster c",
            "refit plan --all-clusters"
        ]
    );
}

#[test]
fn a_request_that_the_target_branch_left_behind_belongs_to_its_own_cluster() {
    let text = manifest("v7.0.0", &["v1beta2"]);
    let world = World::with(&[
        ("clusters/a/flux-system/g.yaml", &text),
        ("clusters/b/flux-system/g.yaml", &text),
    ]);
    let merge = |number| {
        told(world.run(|ports| {
            let report = refit_engine::request_merge(ports, &ask(""), Some(number))?;
            Ok((report.exit.code(), report.message))
        }))
    };
    upgrade_asked(&world, &named("flux@v7.1.0", &["a"]), Others::Stop);
    assert!(merge(1).starts_with("0 "));
    // The branch of `b` has the record of the first upgrade of `a`, which a second one replaces.
    upgrade_asked(&world, &named("flux@v7.1.0", &["b"]), Others::Stop);
    upgrade_asked(&world, &named("flux@v7.2.0", &["a"]), Others::Stop);
    assert!(merge(3).starts_with("0 "));
    let report = world.run(|ports| refit_engine::status(ports, &ask(""))).unwrap();
    let requests: Vec<usize> = report
        .body
        .clusters
        .iter()
        .map(|cluster| cluster.requests.len())
        .collect();
    assert_eq!(requests, [0, 1]);
}

#[test]
fn generated_files_are_found_by_content_under_any_name_also_two_in_one_cluster() {
    let text = manifest("v7.1.0", V71);
    let second = text.replace("source-controller", "kustomize-controller");
    let second = second.replace(
        "buckets.source.toolkit.fluxcd.io",
        "kustomizations.kustomize.toolkit.fluxcd.io",
    );
    let world = World::with(&[
        ("infra/live/plane/one.yml", &text),
        ("infra/live/more/two.yaml", &second),
        ("infra/live/root.yaml", &sync("./infra/live/")),
    ]);
    let report = world.run(|ports| refit_engine::inventory(ports, &ask(""))).unwrap();
    assert_eq!(report.body.clusters.len(), 1);
    let cluster = &report.body.clusters[0];
    assert_eq!((cluster.cluster.as_str(), cluster.version.as_str()), ("live", "v7.1.0"));
    let generated: Vec<&str> = cluster
        .files
        .iter()
        .filter(|file| file.role == "generated")
        .map(|file| file.path.as_str())
        .collect();
    assert_eq!(generated, ["infra/live/more/two.yaml", "infra/live/plane/one.yml"]);
}

#[test]
fn files_of_one_cluster_that_define_the_same_kinds_in_other_versions_block() {
    let second = "clusters/production/flux-old/gotk-components.yaml";
    let plan = |version: &str| {
        let old = example(version).replace("flux-system", "flux-old");
        let world = World::routed("v2.6.4", &[(second, &old)]);
        one(world.run(|ports| refit_engine::plan(ports, &ask(""))).unwrap().report())
    };
    for older in ["v2.2.3", "v2.8.8"] {
        let report = plan(older);
        assert_eq!(report.state, State::Blocked, "{older}: {report:#?}");
        let mut blocks = report.body.findings.iter().filter(|finding| finding.blocks());
        let finding = blocks.next().unwrap();
        assert_eq!(finding.code.word(), "SeveralPlanes");
        let between = format!("which is {older}, in");
        assert!(finding.message.contains(&between), "{}", finding.message);
        assert!(
            finding.message.ends_with("the cluster has what is applied last"),
            "{}",
            finding.message
        );
        assert!(blocks.next().is_none());
    }
    let same = plan("v2.6.4");
    assert!(
        same.body
            .findings
            .iter()
            .all(|finding| finding.code.word() != "SeveralPlanes"),
        "{same:#?}"
    );
}
