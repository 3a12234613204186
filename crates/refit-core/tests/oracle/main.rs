//! Every Flux object of real repositories against the schema of each target, before and after conversion.
//!
//! Before: what does not fit because its version or a field is gone is exactly what the scan reports. After: everything
//! fits, or a review names the reason. What does not fit for reasons of its own is listed in `expected.txt`.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod corpus;
mod schemas;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use refit_core::catalog::Catalog;
use refit_core::conversion::{self, Convertible, Wanted};
use refit_core::places::Sort;
use refit_core::release::Version;
use refit_core::structural::{Kind, Violation};
use refit_manifest::{Entry, Tree};
use refit_testkit::flux::Manifests;

use corpus::{Found, Snapshot};
use schemas::{Schemas, Verdict};

/// The newest release of each target minor.
const TARGETS: &[&str] = &["v2.3.0", "v2.6.4", "v2.7.5", "v2.8.8", "v2.9.4"];

/// What the scan says about a file at a target: objects with uses that the target no longer has, and what must be looked at.
#[derive(Default)]
struct Scanned {
    gone: BTreeSet<(String, String)>,
    reviews: BTreeSet<(String, String)>,
}

/// Converts a repository, and gathers what the scan says.
fn convert(tree: &Tree, wanted: &Wanted, to: &Version) -> (Tree, Scanned) {
    let (mut converted, mut scanned) = (Tree::new(), Scanned::default());
    for (path, entry) in tree.iter() {
        let Some(bytes) = entry.bytes() else { continue };
        let reading = conversion::convert(path, bytes, wanted);
        for of in &reading.uses {
            // The scan names the namespace as well, where one is written.
            let object = of.object.split(" in ").next().unwrap_or_default();
            let key = (path.to_string(), object.to_owned());
            let is_object = matches!(of.sort, Sort::Object | Sort::Item);
            if is_object && of.removed_in.as_ref().is_some_and(|gone| gone <= to) {
                scanned.gone.insert(key.clone());
            }
            if of.convertible != Convertible::Yes {
                scanned.reviews.insert(key);
            }
        }
        let again = conversion::convert(path, &reading.bytes, wanted);
        assert!(
            again.bytes == reading.bytes,
            "{path} at {to}: a second conversion changes it"
        );
        converted.insert(path.clone(), Entry::file(reading.bytes.clone()));
    }
    (converted, scanned)
}

/// Tells whether a violation comes from a release that took something away.
fn is_removal(schemas: &Schemas, found: &Found, violation: &Violation) -> bool {
    violation.kind == Kind::UnknownField && schemas.had_field(found, &violation.field)
}

fn line(to: &str, snapshot: &Snapshot, found: &Found, what: &str) -> String {
    format!("{to} {} {} {}: {what}", snapshot.name, found.path, found.object)
}

/// What the test gathers: the lines of `expected.txt`, and what must not be.
#[derive(Default)]
struct Report {
    others: BTreeSet<String>,
    wrong: Vec<String>,
    checked: BTreeMap<String, usize>,
    converted: usize,
}

fn compare(snapshot: &Snapshot, to: &str, schemas: &Schemas, catalog: &Catalog, report: &mut Report) {
    let release = Version::parse(to).unwrap();
    let rules = catalog.rules().open_at(&release);
    let wanted = Wanted::of(catalog, &release).with_rules(rules.into_iter().cloned());
    let (converted, scanned) = convert(&snapshot.tree, &wanted, &release);
    let mut gone = BTreeSet::new();
    for found in corpus::objects(&snapshot.tree, catalog) {
        let verdict = schemas.verdict(&found, to);
        let removed = match &verdict {
            Verdict::NotDefined => false,
            Verdict::NotServed => true,
            Verdict::Checked(violations) => violations
                .iter()
                .any(|violation| is_removal(schemas, &found, violation)),
        };
        if removed {
            gone.insert((found.path.clone(), found.object.clone()));
        }
        *report.checked.entry(to.to_owned()).or_default() += 1;
    }
    // Only objects are compared: the scan also reports references, targets of patches and embedded texts.
    let objects: BTreeSet<(String, String)> = corpus::objects(&snapshot.tree, catalog)
        .map(|found| (found.path, found.object))
        .collect();
    for missed in gone.difference(&scanned.gone) {
        report
            .wrong
            .push(format!("{to} {}: the scan misses {missed:?}", snapshot.name));
    }
    for more in scanned.gone.intersection(&objects).filter(|key| !gone.contains(*key)) {
        report
            .wrong
            .push(format!("{to} {}: the scan reports {more:?}, which fits", snapshot.name));
    }
    report.converted += gone.len();
    for found in corpus::objects(&converted, catalog) {
        let key = (found.path.clone(), found.object.clone());
        match schemas.verdict(&found, to) {
            Verdict::NotDefined => {
                report.others.insert(line(to, snapshot, &found, "no definition"));
            }
            Verdict::NotServed if !scanned.reviews.contains(&key) => {
                let text = line(to, snapshot, &found, &format!("is still {}", found.version));
                report.wrong.push(text);
            }
            Verdict::NotServed => {}
            Verdict::Checked(violations) => {
                for violation in violations {
                    let text = line(to, snapshot, &found, &violation.to_string());
                    if !is_removal(schemas, &found, &violation) {
                        report.others.insert(text);
                    } else if !scanned.reviews.contains(&key) {
                        report.wrong.push(text);
                    }
                }
            }
        }
    }
}

/// Gives the lines of the expectation file: those that begin with `#` say why, for the lines up to the next empty one.
fn expected() -> BTreeSet<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/expected.txt");
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(ToOwned::to_owned).collect()
}

#[test]
fn every_flux_object_of_real_repositories_fits_each_target_after_its_conversion_or_is_named() {
    let Some(manifests) = Manifests::find() else { return };
    let Some(folder) = refit_testkit::shared::find("corpus") else {
        return;
    };
    let catalog = Catalog::flux().unwrap();
    let schemas = Schemas::read(&manifests, TARGETS);
    let mut report = Report::default();
    let snapshots = corpus::snapshots(&folder);
    assert!(snapshots.len() >= 20, "{}", snapshots.len());
    for snapshot in &snapshots {
        for to in TARGETS {
            compare(snapshot, to, &schemas, &catalog, &mut report);
        }
    }
    println!(
        "objects: {:?}, without a version or field at a target: {}",
        report.checked, report.converted
    );
    let mut text = String::new();
    for line in report.others.difference(&expected()) {
        writeln!(text, "not expected: {line}").unwrap();
    }
    for line in expected().difference(&report.others) {
        writeln!(text, "no longer found: {line}").unwrap();
    }
    for line in &report.wrong {
        writeln!(text, "wrong: {line}").unwrap();
    }
    assert!(text.is_empty(), "\n{text}");
    assert!(
        report.checked.values().all(|count| *count >= 50),
        "{:?}",
        report.checked
    );
    assert!(report.converted >= 50, "{}", report.converted);
}
