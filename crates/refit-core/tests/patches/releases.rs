//! Real overlays of real repositories, from one real release to another.

use std::fs;

use crate::support::{Upgrade, shared, told};

/// Takes the overlay of a repository of the corpus, with the generated file of two releases in its place.
fn real(repository: &str, releases: [&str; 2], name: &str) -> Option<Upgrade> {
    let folder = shared(&format!("corpus/{repository}"))?;
    let manifests = shared("flux-manifests")?;
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_file() && file != "gotk-components.yaml" {
            files.push((file, fs::read_to_string(&path).unwrap()));
        }
    }
    let files: Vec<(&str, &str)> = files
        .iter()
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let [before, after] = releases.map(|version| {
        let text = fs::read_to_string(manifests.join(version).join(name)).unwrap();
        // The generator ends the file with a document that holds nothing.
        text.trim_end_matches("---\n").to_owned()
    });
    Some(Upgrade::of(&files, "gotk-components.yaml", &before, &after))
}

fn check(repository: &str, releases: [&str; 2], name: &str, holding: usize, expected: &[&str]) {
    let Some(upgrade) = real(repository, releases, name) else {
        return;
    };
    let settled = upgrade.settle(&[]);
    assert_eq!(told(&settled), expected, "{repository} {releases:?}");
    assert_eq!(settled.holding, holding, "{repository} {releases:?}");
}

const XUNHOLY: &str = "xUnholy+k8s-gitops/2023-03-31/k8s/clusters/cluster-1/flux-system";

/// Says that an index of a definition of notification-controller is another version.
fn moved(definition: &str, list: &str, before: &str, after: &str, now: Option<usize>) -> String {
    let enumeration = format!("properties.spec.properties.{list}.items.properties.kind.enum");
    let pointer = |index: usize| {
        let steps = enumeration.replace('.', "/");
        format!("/spec/versions/{index}/schema/openAPIV3Schema/{steps}/-")
    };
    let meaning = |version: &str| format!("spec.versions[name={version}].schema.openAPIV3Schema.{enumeration}[-]");
    let now = match now {
        Some(index) => format!("what it reached is now at `{}`", pointer(index)),
        None => "the new version has nowhere what it reached".to_owned(),
    };
    format!(
        "open contract patch: The patch in kustomization.yaml has the operation `add {}`, which reaches `{}` of \
         CustomResourceDefinition/{definition}.notification.toolkit.fluxcd.io and would reach `{}`; {now}. Choose with \
         `refit resolve ID`",
        pointer(0),
        meaning(before),
        meaning(after)
    )
}

#[test]
fn row_20_the_first_version_of_a_definition_is_another_one_after_the_upgrade() {
    let receivers = moved("receivers", "resources", "v1beta1", "v1", Some(1));
    let alerts = moved("alerts", "eventSources", "v1beta1", "v1beta2", None);
    let six = "gotk-components.six.yaml";
    check(XUNHOLY, ["v0.41.2", "v2.6.4"], six, 7, &[&receivers]);
    check(XUNHOLY, ["v2.6.4", "v2.7.5"], six, 7, &[&alerts]);
    check(XUNHOLY, ["v2.6.4", "v2.6.4"], six, 8, &[]);
}

#[test]
fn row_14_deletions_of_policies_hold_while_the_policies_are_there() {
    let repository = "onedr0p+home-ops/2022-05-14/cluster/base/flux-system";
    check(repository, ["v0.30.2", "v2.6.4"], "gotk-components.yaml", 3, &[]);
    // `allow-egress` came with v0.13.0; where it is not there, the build ends.
    let gone = "open contract patch: The patch in gotk-patches.yaml, named by kustomization.yaml, is for \
                NetworkPolicy/allow-egress in flux-system, which the new version does not have; the build would fail. \
                Choose with `refit resolve ID`";
    check(repository, ["v0.13.4", "v0.12.3"], "gotk-components.yaml", 2, &[gone]);
}

#[test]
fn row_15_the_repository_that_did_not_build_is_told_apart() {
    let broken = "OverlayBroken kustomization.yaml:10: the build of `.` fails before the upgrade: no object is the \
                  `Deployment/source-controller in system-flux` of `apps/v1` that the patch is for";
    check(
        "onedr0p+home-ops/2021-02-13/cluster/flux-system",
        ["v0.9.0", "v0.10.0"],
        "gotk-components.yaml",
        0,
        &[broken],
    );
}

#[test]
fn row_26_targets_for_controllers_that_are_not_installed_are_no_problem() {
    // The fourth patch is for a Kustomization that the placeholder of this example does not have.
    let repository = "fluxcd+flux2-multi-tenancy/2025-06-27/clusters/production/flux-system";
    check(repository, ["v2.6.4", "v2.7.5"], "gotk-components.yaml", 3, &[]);
}
