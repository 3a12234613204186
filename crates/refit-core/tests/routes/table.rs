//! The hop table of facts/flux.md 2.6, for every release.

use refit_core::catalog::{Catalog, Texts};
use refit_core::release::{Series, Version};
use refit_core::route::{self, Known, Route};
use refit_testkit::flux::Manifests;

use crate::support::{CATALOG, FOUR, SIX, catalog_versions, definitions, fresh, version};

/// The minors from which and to which a row holds, the minors where the hops end with six and with four components, and
/// what the first release that refuses a direct way refuses of six.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const IMAGES: &str = "ImagePolicy ImageRepository ImageUpdateAutomation";
const ALL: &str = "Alert Bucket GitRepository HelmChart HelmRelease HelmRepository ImagePolicy ImageRepository \
                   ImageUpdateAutomation Kustomization Provider Receiver";

const TABLE: &[Row] = &[
    (
        "0.9",
        "0.15",
        "0.36 2.6 2.8 2.9",
        "2.6 2.9",
        "0.37 ImagePolicy ImageRepository ImageUpdateAutomation",
    ),
    ("0.16", "0.17", "2.6 2.8 2.9", "2.6 2.9", ""),
    ("0.18", "0.27", "2.6 2.8 2.9", "2.6 2.9", ""),
    ("0.28", "2.1", "2.6 2.8 2.9", "2.6 2.9", ""),
    ("2.2", "2.2", "2.6 2.8 2.9", "2.7 2.9", "2.7 ImageUpdateAutomation"),
    ("2.3", "2.3", "2.7 2.9", "2.7 2.9", "2.8 Bucket OCIRepository"),
    ("2.4", "2.5", "2.7 2.9", "2.7 2.9", "2.8 OCIRepository"),
    (
        "2.6",
        "2.6",
        "2.8 2.9",
        "2.9",
        "2.9 ImagePolicy ImageRepository ImageUpdateAutomation",
    ),
    ("2.7", "2.9", "2.9", "2.9", ""),
];

fn series(text: &str) -> Series {
    version(&format!("{text}.0")).series()
}

fn row(from: &Version) -> &'static Row {
    let holds = |row: &&Row| series(row.0) <= from.series() && from.series() <= series(row.1);
    TABLE.iter().find(holds).unwrap_or_else(|| panic!("no row for {from}"))
}

fn minors(route: &Route) -> String {
    let minor = |hop: &route::Hop| hop.to.series().to_string().trim_start_matches('v').to_owned();
    route.hops.iter().map(minor).collect::<Vec<_>>().join(" ")
}

/// Says what the first release that stands in the way refuses.
fn first_refused(route: &Route) -> String {
    let Some(refused) = route.hops.first().map(|hop| &hop.refused_directly_by) else {
        return String::new();
    };
    let Some(first) = refused.first().map(|refusal| &refusal.release) else {
        return String::new();
    };
    let kinds = refused.iter().filter(|refusal| refusal.release == *first);
    let kinds: Vec<&str> = kinds.map(|refusal| refusal.kind.as_str()).collect();
    format!(
        "{} {}",
        first.series().to_string().trim_start_matches('v'),
        kinds.join(" ")
    )
}

/// What 2.7 refuses of the rows whose kinds differ between the releases of a row: those stored as v1beta1, HelmReleases
/// before 2.2 and, from 0.16 on, image kinds before they got v1beta2.
fn first_refused_of_2_7(from: &Version) -> String {
    let before = |text: &str| from.series() < series(text);
    let kinds = ALL.split(' ').filter(|kind| match *kind {
        "Kustomization" => before("0.18"),
        "Bucket" | "GitRepository" | "HelmChart" | "HelmRepository" => before("0.28"),
        "Alert" | "Provider" | "Receiver" => before("0.38"),
        "ImagePolicy" | "ImageRepository" => before("0.40"),
        _ => true,
    });
    format!("2.7 {}", kinds.collect::<Vec<_>>().join(" "))
}

#[test]
fn every_start_has_the_route_of_the_table() {
    let known = Known::new(&CATALOG);
    let available = catalog_versions();
    let to = version("v2.9.4");
    for from in available.iter().filter(|from| **from < to) {
        let row = row(from);
        let six = route::find(&fresh(from, SIX, &known), &to, &available, &known).unwrap();
        let four = route::find(&fresh(from, FOUR, &known), &to, &available, &known).unwrap();
        assert_eq!(
            (minors(&six).as_str(), minors(&four).as_str()),
            (row.2, row.3),
            "{from}"
        );
        let direct = series("2.7") <= from.series();
        let refused = match row.4 {
            "" if direct => String::new(),
            "" => first_refused_of_2_7(from),
            refused => refused.to_owned(),
        };
        assert_eq!(first_refused(&six), refused, "{from}");
    }
}

#[test]
fn each_hop_lands_on_the_newest_stable_patch_of_its_minor_and_the_last_one_on_the_target() {
    let known = Known::new(&CATALOG);
    let available = catalog_versions();
    for to in ["v2.7.2", "v2.8.8", "v2.9.0"].map(version) {
        for from in available.iter().filter(|from| **from < to) {
            let route = route::find(&fresh(from, SIX, &known), &to, &available, &known).unwrap();
            let (last, before) = route.hops.split_last().unwrap();
            assert_eq!(last.to, to);
            for hop in before {
                assert_eq!(CATALOG.newest_in(hop.to.series()), Some(&hop.to), "{from} to {to}");
            }
            let linked = route.hops.windows(2).all(|pair| pair[0].to == pair[1].from);
            assert!(linked && route.hops[0].from == *from);
            // A plane that was never upgraded has nothing to migrate before its first hop but what managed fields hold.
            let stored = |stale: &&route::Stale| stale.used == route::Used::Stored;
            assert_eq!(route.hops[0].gate.iter().find(stored), None, "{from} to {to}");
        }
    }
}

/// A catalog that lists none of the releases that manifests are there for, so that only those are asked.
fn catalog_of_no_release() -> Catalog {
    let releases = "origin: a\ndate: 2026-01-01\ncomponents: [source-controller]\nreleases:\n- {version: v0.0.1, manifest: default, tags: [v0.0.1]}\n";
    Catalog::read(&Texts {
        releases,
        ..Texts::FLUX
    })
    .unwrap()
}

#[test]
fn the_manifests_of_the_releases_give_the_same_routes_as_the_catalog() {
    let Some(manifests) = Manifests::find() else { return };
    let blank = catalog_of_no_release();
    let (mut from_manifests, from_catalog) = (Known::new(&blank), Known::new(&CATALOG));
    let (mut with_six, mut with_four) = (Vec::new(), Vec::new());
    for found in manifests.versions() {
        let release = version(&found.name);
        let Some(definitions) = definitions(&manifests, &found.name) else {
            continue;
        };
        let images = IMAGES.split(' ').count();
        let held = definitions
            .keys()
            .filter(|name| name.contains(".image.toolkit."))
            .count();
        if held == images {
            with_six.push(release.clone());
        }
        from_manifests = from_manifests.with(&release, &definitions);
        with_four.push(release);
    }
    assert!(
        with_four.len() > 120 && with_six.len() > 30,
        "{} {}",
        with_four.len(),
        with_six.len()
    );
    let to = version("v2.9.4");
    let mut compared = 0;
    for (components, available) in [(SIX, &with_six), (FOUR, &with_four)] {
        for from in available.iter().filter(|from| **from < to) {
            let of = |known: &Known<'_>| {
                let route = route::find(&fresh(from, components, known), &to, available, known).unwrap();
                let step = |hop: &route::Hop| (hop.to.clone(), hop.gate.clone(), hop.refused_directly_by.len());
                route.hops.iter().map(step).collect::<Vec<_>>()
            };
            assert_eq!(of(&from_manifests), of(&from_catalog), "{from}");
            compared += 1;
        }
    }
    assert_eq!(compared, with_six.len() + with_four.len() - 2);
}
