//! Files that several clusters apply, one of which is upgraded.

use refit_core::report::{Plan, State};
use refit_engine::ports::Forge;
use refit_engine::{Ask, Commits, Others, Snapshot, Wait};
use refit_testkit::flux::{Manifests, Set};

use crate::conversions::{OLD_RELEASE, snapshot};
use crate::world::{World, ask, example, message, one, told, upgrade_asked};

const SHARED: &str = "apps/release.yaml";

fn sync(name: &str, path: &str) -> String {
    format!(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {{name: {name}, namespace: flux-system}}\n\
         spec:\n  path: {path}\n  sourceRef: {{kind: GitRepository, name: flux-system}}\n"
    )
}

/// A plane at v2.6.4 whose applications another cluster applies as well.
fn world(other: &str) -> World {
    World::routed(
        "v2.6.4",
        &[
            ("clusters/production/apps.yaml", &sync("apps", "./apps")),
            ("clusters/other/flux-system/gotk-components.yaml", other),
            (
                "clusters/other/flux-system/gotk-sync.yaml",
                &sync("flux-system", "./clusters/other"),
            ),
            ("clusters/other/apps.yaml", &sync("apps", "./apps")),
            (SHARED, OLD_RELEASE),
        ],
    )
}

fn plan(world: &World) -> refit_core::report::Report<Plan> {
    let ask = Ask {
        clusters: vec!["production".to_owned()],
        ..ask("flux@v2.9.4")
    };
    one(world.run(|ports| refit_engine::plan(ports, &ask)).unwrap().report())
}

fn blocking(report: &refit_core::report::Report<Plan>) -> Vec<String> {
    let findings = report.body.findings.iter().filter(|finding| finding.blocks());
    findings
        .map(|finding| format!("{} {}: {}", finding.code, finding.subject, finding.message))
        .collect()
}

#[test]
fn a_file_that_a_cluster_of_unclear_release_shares_is_not_converted() {
    let unclear: String = example("v2.6.4")
        .lines()
        .map(|line| match line.split_once("-controller:v") {
            Some((image, _)) => format!("{image}-controller:latest\n"),
            None => format!("{}\n", line.replace("v2.6.4", "latest")),
        })
        .collect();
    let world = world(&unclear);
    let report = plan(&world);
    assert_eq!(report.state, State::Blocked, "{report:#?}");
    let expected = "ClusterLags apps/release.yaml: HelmRelease `v2beta1` is shared, v2.9.4 for `production` does not accept it, \
                    and what it does accept is not known to all: `other` has a release that cannot be told";
    assert_eq!(blocking(&report), [expected]);
}

const DRAFT: &str = "6 request 1 is a draft: do not merge before: stored objects are migrated";

fn resume(world: &World, confirm: &[Wait], shown: Option<std::rc::Rc<Snapshot>>) -> String {
    let ask = Ask {
        clusters: vec!["production".to_owned()],
        confirm: confirm.to_vec(),
        snapshot: shown,
        ..ask("")
    };
    told(world.run(|ports| {
        let reports = refit_engine::resume(ports, &ask, Commits::Stop)?;
        Ok((reports.exit().code(), message(&reports)))
    }))
}

#[test]
fn a_conversion_of_what_another_cluster_applies_too_waits_for_that_one_as_well() {
    let Some(manifests) = Manifests::find() else { return };
    let of = manifests.versions().iter().find(|of| of.name == "v2.6.4").unwrap();
    let text = manifests.read(of, Set::Default).unwrap();
    let world = world(&text).real(&manifests, &["v2.6.4", "v2.9.4"]);
    let ask = Ask {
        clusters: vec!["production".to_owned()],
        ..ask("flux@v2.9.4")
    };
    assert_eq!(upgrade_asked(&world, &ask, Others::Stop), DRAFT);
    let body = world.forge.list().unwrap().remove(0).body;
    let other = "HelmRelease from `v2beta1` to `v2` in `other`, which applies the same files";
    assert!(body.contains(other), "{body}");
    assert!(body.contains("\n# in cluster other\n"), "{body}");
    assert!(!body.contains("--snapshot FILE"), "{body}");
    // A snapshot is of one cluster: of the other one it says nothing.
    let migrated = snapshot(&text, &[]);
    assert_eq!(resume(&world, &[], Some(migrated)), DRAFT);
    let body = world.forge.list().unwrap().remove(0).body;
    assert!(body.contains(other), "{body}");
    let convert = "6 request 1 waits for review: Convert API versions of flux on production, which v2.6.4 serves";
    assert_eq!(resume(&world, &[Wait::Migrated], None), convert);
}
