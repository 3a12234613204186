//! Every object of Flux in the real repositories, judged by the definitions of Flux releases.
//!
//! The definitions are the judge, read from the release manifests: neither the catalog nor a rule is asked. Each repository
//! is converted for a release and built again, and what is built must be what that release accepts. Text files name
//! what stays, with a reason that a person wrote; `UPDATE_EXPECTED=1` writes them anew and keeps the reasons.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]
#![expect(clippy::panic, reason = "a test says with a panic what is wrong")]

mod applied;
mod before;
mod complete;
mod definitions;
mod expected;
mod objects;
mod patched;
mod repositories;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use refit_core::catalog::Catalog;
use refit_core::conversion::{self, Reading, Wanted};
use refit_core::release::Version;
use refit_manifest::{Entry, Path, Tree};
use refit_testkit::flux::Manifests;

use applied::{Applied, Case};
use definitions::{Definitions, PAST};
use expected::Expected;
use repositories::Repository;

/// The releases of which each minor's last manifest with all six components is there.
const TARGETS: [&str; 5] = ["v2.3.0", "v2.6.4", "v2.7.5", "v2.8.8", "v2.9.4"];

/// A release to convert for.
struct Target {
    name: &'static str,
    definitions: Definitions,
    wanted: Wanted,
}

impl Target {
    fn read(name: &'static str, manifests: &Manifests, catalog: &Catalog) -> Self {
        let release = Version::parse(name).unwrap();
        Self {
            name,
            definitions: Definitions::read(manifests, name),
            wanted: Wanted::of(catalog, &release),
        }
    }
}

/// What releases say, read once for all tests; `None` without the manifests.
struct Releases {
    past: Vec<Definitions>,
    targets: Vec<Target>,
}

static RELEASES: LazyLock<Option<Releases>> = LazyLock::new(|| {
    let manifests = Manifests::find()?;
    let catalog = Catalog::flux().unwrap();
    Some(Releases {
        past: PAST.iter().map(|name| Definitions::read(&manifests, name)).collect(),
        targets: TARGETS
            .iter()
            .map(|name| Target::read(name, &manifests, &catalog))
            .collect(),
    })
});

/// Converts every file of a repository; a second run must change nothing.
fn convert(tree: &Tree, wanted: &Wanted) -> (Tree, BTreeMap<Path, Reading>) {
    let (mut converted, mut readings) = (tree.clone(), BTreeMap::new());
    for (path, entry) in tree.iter() {
        let Some(bytes) = entry.bytes() else { continue };
        let reading = conversion::read(path, bytes, wanted);
        if !Arc::ptr_eq(&reading.bytes, bytes) {
            let again = conversion::read(path, &reading.bytes, wanted);
            assert!(
                Arc::ptr_eq(&again.bytes, &reading.bytes),
                "{path}: a second run changes it"
            );
            converted.insert(path.clone(), Entry::file(Arc::clone(&reading.bytes)));
        }
        readings.insert(path.clone(), reading);
    }
    (converted, readings)
}

/// Lists what a scan tells people to look at in the files that make an object.
fn reviews(case: &Case, readings: &BTreeMap<Path, Reading>) -> BTreeSet<String> {
    let readings = || case.files.iter().filter_map(|path| readings.get(path));
    let left = readings()
        .flat_map(Reading::left)
        .filter(|used| case.is_called(&used.object));
    let reasons = left.filter_map(|used| used.convertible.reason().map(ToOwned::to_owned));
    let findings = readings().flat_map(|reading| &reading.findings);
    let findings = findings.map(|finding| format!("{}: {}", finding.subject, finding.message));
    reasons.chain(findings).collect()
}

/// Judges what is built after the conversion.
fn after(repository: &Repository, target: &Target, before: &Applied, expected: &mut Expected) {
    let (tree, readings) = convert(&repository.tree, &target.wanted);
    let after = Applied::of(&tree);
    assert_eq!(after.unbuilt, before.unbuilt, "{}: {}", repository.name, target.name);
    let names = |applied: &Applied| -> Vec<String> { applied.cases.iter().map(|case| case.name.clone()).collect() };
    assert_eq!(
        names(&after),
        names(before),
        "{}: {}: objects were lost",
        repository.name,
        target.name
    );
    for case in &after.cases {
        let wrong = target.definitions.judge(&case.object);
        let reviews = reviews(case, &readings);
        for message in wrong.messages() {
            expected.add(
                &format!("{}/{}: {message}", repository.name, case.name),
                target.name,
                &reviews,
            );
        }
    }
}

#[test]
fn each_flux_object_of_real_repositories_is_accepted_after_its_conversion_or_is_named() {
    let Some(Releases { targets, .. }) = &*RELEASES else {
        return;
    };
    let Some(repositories) = repositories::all() else {
        return;
    };
    let mut expected = Expected::new("after.txt");
    for repository in &repositories {
        let before = Applied::of(&repository.tree);
        expected.note(&format!("{}: {} objects", repository.name, before.cases.len()));
        for name in &before.unbuilt {
            expected.add(&format!("{}/{name}", repository.name), "is not built", &BTreeSet::new());
        }
        for target in targets {
            after(repository, target, &before, &mut expected);
        }
    }
    expected.compare();
}

#[test]
fn a_scan_reports_exactly_the_objects_whose_version_or_field_a_release_does_not_have() {
    let Some(Releases { past, targets }) = &*RELEASES else {
        return;
    };
    let Some(repositories) = repositories::all() else {
        return;
    };
    let mut expected = Expected::new("before.txt");
    for target in targets {
        for repository in &repositories {
            before::compare(repository, target, past, &mut expected);
        }
    }
    expected.compare();
}

#[test]
fn objects_with_every_field_of_their_version_are_accepted_after_their_conversion_or_are_named() {
    let Some(Releases { past, targets }) = &*RELEASES else {
        return;
    };
    let mut expected = Expected::new("complete.txt");
    for (at, target) in targets.iter().enumerate() {
        let older = PAST.iter().copied().zip(past);
        let newer = targets[..=at].iter().map(|target| (target.name, &target.definitions));
        let repository = complete::repository(older.chain(newer));
        before::compare(&repository, target, past, &mut expected);
        after(&repository, target, &Applied::of(&repository.tree), &mut expected);
    }
    expected.compare();
}

#[test]
fn operations_on_any_field_of_an_object_fit_it_after_the_conversion_or_are_left_for_a_person() {
    let Some(Releases { past, targets }) = &*RELEASES else {
        return;
    };
    let mut count = patched::Count::default();
    for target in targets {
        let repository = complete::repository(PAST.iter().copied().zip(past));
        patched::check(&repository.tree, target, &mut count);
    }
    assert!(count.converted > 0 && count.left > 0, "{count:?}");
}
