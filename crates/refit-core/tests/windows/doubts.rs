//! What cannot be looked at is told, and an order that is not sure blocks.

use refit_core::finding::{Finding, Severity};
use refit_testkit::planes::Plane;

use crate::support::{apply, object, planes, planned, sync};

fn findings(files: &[(&str, String)]) -> Vec<Finding> {
    let planes = planes(&[Plane::new("a", "v2.6.4", "v2.8.8")], &[files]);
    planned(&planes).findings
}

fn told(findings: &[Finding]) -> Vec<(&str, bool, &str)> {
    let told = findings.iter().map(|finding| {
        (
            finding.code.word(),
            finding.severity == Severity::Blocking,
            finding.subject.as_str(),
        )
    });
    told.collect()
}

#[test]
fn a_file_that_names_a_kind_and_cannot_be_read_blocks() {
    let broken = object("helm.toolkit.fluxcd.io/v2beta2", "HelmRelease", "one", "interval: [5m");
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        ("apps/broken.yaml", broken),
        ("apps/other.yaml", "a: [b".to_owned()),
    ];
    let findings = findings(&files);
    assert_eq!(told(&findings), [("UnreadableManifest", true, "apps/broken.yaml")]);
}

#[test]
fn a_kustomization_whose_source_is_not_at_hand_is_told_with_what_to_do() {
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "elsewhere")),
    ];
    let findings = findings(&files);
    assert_eq!(told(&findings), [("SourceNotRead", false, "flux-system/apps")]);
    assert!(
        findings[0].message.contains("GitRepository `flux-system/elsewhere`")
            && findings[0].remedy.contains("refit scan"),
        "{findings:#?}"
    );
}
