//! Files that several clusters apply, one of which is upgraded.

use refit_core::report::{Plan, State};
use refit_engine::Ask;

use crate::conversions::OLD_RELEASE;
use crate::world::{World, ask, example, one};

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
