//! Rules about fields that a hop forces: an end is always found, and what cannot be done is told.

use refit_testkit::planes::{Plane, Planes};

use crate::support::{apply, lines, object, planes, planned, planned_by, sync};

fn plane(route: (&str, &str), version: &str, spec: &str) -> Planes {
    let files = [
        ("clusters/a/sync.yaml", sync("v1", "a")),
        ("clusters/a/apps.yaml", apply("v1", "apps", "flux-system")),
        (
            "apps/r.yaml",
            object(&format!("helm.toolkit.fluxcd.io/{version}"), "HelmRelease", "one", spec),
        ),
    ];
    planes(&[Plane::new("a", route.0, route.1)], &[&files])
}

/// A rule that writes an interval where another stands, before 2.9 comes.
fn rule(id: &str, from: Option<&str>, to: &str) -> String {
    let when = from.map_or_else(String::new, |from| {
        format!("  when:\n  - equal: {{field: spec.interval, value: {from}}}\n")
    });
    format!(
        "- id: {id}\n  group: helm.toolkit.fluxcd.io\n  kinds: [HelmRelease]\n  by: v2.9.0\n  message: m\n  origin: o\n{when}  \
         do:\n  - set: {{field: spec.interval, value: {to}}}\n"
    )
}

fn check(rules: &[String], expected: &[&str]) {
    let planes = plane(("v2.8.8", "v2.9.4"), "v2", "interval: 1m");
    let planned = planned_by(&planes, &format!("rules:\n{}", rules.concat()));
    assert_eq!(lines(&planes, &planned), expected);
    let is_done = planned.requests.len() == expected.len();
    assert_eq!(
        planned.unfinished.is_empty(),
        is_done,
        "what is in the way leaves no hop to take"
    );
}

#[test]
fn a_rule_is_done_before_the_hop_that_needs_it() {
    check(
        &[rule("one", Some("1m"), "5m")],
        &[
            "convert in platform [r.yaml] needs []",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [0]",
        ],
    );
}

#[test]
fn of_two_rules_that_write_one_field_the_later_one_wins_in_one_request() {
    check(
        &[rule("one", None, "5m"), rule("two", None, "10m")],
        &[
            "convert in platform [r.yaml] needs []",
            "upgrade a from v2.8.8 to v2.9.4 [] needs [0]",
        ],
    );
}

#[test]
fn rules_that_bring_each_other_back_over_several_requests_end_with_what_is_in_the_way() {
    let rules = [
        rule("c", Some("3m"), "1m"),
        rule("b", Some("2m"), "3m"),
        rule("a", Some("1m"), "2m"),
    ];
    let planes = plane(("v2.8.8", "v2.9.4"), "v2", "interval: 1m");
    let planned = planned_by(&planes, &format!("rules:\n{}", rules.concat()));
    assert!(
        planned.requests.len() <= 8 && !planned.stuck.is_empty(),
        "{:#?}",
        lines(&planes, &planned)
    );
    assert!(planned.unfinished.contains(&0));
}

#[test]
fn what_is_left_for_a_person_goes_with_the_request() {
    let kustomization = "path: ./nowhere, prune: false, interval: 5m, targetNamespace: x, sourceRef: {kind: GitRepository, name: \
                         flux-system}, patchesJson6902: [{target: {kind: ConfigMap, name: m}, patch: [{op: remove, path: /data}]}]";
    let files = [
        ("clusters/a/sync.yaml", sync("v1beta2", "a")),
        ("clusters/a/apps.yaml", apply("v1beta2", "apps", "flux-system")),
        (
            "apps/k.yaml",
            object(
                "kustomize.toolkit.fluxcd.io/v1beta2",
                "Kustomization",
                "one",
                kustomization,
            ),
        ),
    ];
    let planes = planes(&[Plane::new("a", "v2.6.4", "v2.8.8")], &[&files]);
    let planned = planned(&planes);
    let first = &planned.requests[0];
    let told = first.left.iter().filter_map(|used| used.convertible.reason());
    let told: Vec<&str> = told
        .chain(first.notes.iter().map(|noted| noted.note.message.as_str()))
        .collect();
    assert!(
        told.iter()
            .any(|text| text.contains("check that each target still names its object")),
        "{told:#?}"
    );
}
