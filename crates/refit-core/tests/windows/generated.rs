//! Generated repositories: every plan reaches its end, or says what is in the way.

use refit_core::finding::{Finding, Severity};
use refit_core::windows::Planned;
use refit_testkit::planes::{LAYOUTS, Layout, Plane, make};
use refit_testkit::random::Random;

use crate::support::{lines, planned};

/// The routes of a cluster.
const ROUTES: [(&str, &str); 4] = [
    ("v0.41.2", "v2.9.4"),
    ("v2.2.3", "v2.9.4"),
    ("v2.6.4", "v2.8.8"),
    ("v2.7.5", "v2.9.4"),
];

fn blocking(planned: &Planned) -> Vec<&Finding> {
    let findings = planned.findings.iter();
    findings
        .filter(|finding| finding.severity == Severity::Blocking)
        .collect()
}

fn upgrades(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.starts_with("upgrade")).count()
}

#[test]
fn every_generated_repository_has_a_plan_that_its_own_law_accepts() {
    for (seed, (layout, (from, to))) in (0..).zip(LAYOUTS.iter().flat_map(|layout| ROUTES.map(|route| (layout, route))))
    {
        let planes = make(&mut Random::new(seed), *layout, &[Plane::new("a", from, to)]);
        let planned = planned(&planes);
        let lines = lines(&planes, &planned);
        assert!(
            planned.stuck.is_empty() && blocking(&planned).is_empty() && planned.unfinished.is_empty(),
            "{layout:?} {seed}: {lines:#?}"
        );
        assert!(
            upgrades(&lines) >= 1 && planned.requests.len() <= 2 * upgrades(&lines) * planes.repositories.len(),
            "{lines:#?}"
        );
    }
}

#[test]
fn a_cluster_that_stays_behind_is_named_when_a_shared_file_has_no_version_for_both() {
    let planes = [Plane::new("a", "v2.6.4", "v2.9.4"), Plane::new("b", "v2.2.3", "v2.2.3")];
    let planes = make(&mut Random::new(3), Layout::SharedBase, &planes);
    let planned = planned(&planes);
    let findings = blocking(&planned);
    let lagging: Vec<&str> = findings.iter().map(|finding| finding.code.word()).collect();
    assert!(
        !lagging.is_empty() && lagging.iter().all(|code| *code == "ClusterLags"),
        "{:#?}",
        findings
    );
    assert!(
        findings
            .iter()
            .all(|finding| finding.message.contains("`b` has v2.2.3")),
        "{:#?}",
        findings
    );
    assert!(
        findings[0].remedy.contains("upgrade `b` first"),
        "{}",
        findings[0].remedy
    );
}
