//! What the definitions say before a conversion, beside what a scan says.

use std::collections::{BTreeMap, BTreeSet};

use refit_core::conversion::{self, Reading, Use, What};
use refit_core::finding::Code;
use refit_core::places::Sort;
use refit_core::release::Version;
use refit_core::structural::{Kind, Violation};
use refit_manifest::Path;
use serde_json::Value;

use crate::Target;
use crate::applied::{Applied, Case};
use crate::definitions::{Definitions, Standing, removed_fields};
use crate::expected::Expected;
use crate::objects::{self, Written, describe};
use crate::repositories::Repository;

const NEWER: &str = "version newer";

/// What is told about an object, in words that both sides use.
type Said = BTreeSet<(Path, String, String)>;

/// Compares the two, and notes what breaks a schema for another reason.
pub(crate) fn compare(repository: &Repository, target: &Target, past: &[Definitions], expected: &mut Expected) {
    let readings: BTreeMap<Path, Reading> = repository
        .tree
        .iter()
        .filter_map(|(path, entry)| Some((path.clone(), conversion::read(path, entry.bytes()?, &target.wanted))))
        .collect();
    let none = BTreeSet::new();
    let mut by_definitions = Said::new();
    for written in objects::all(&repository.tree) {
        by_definitions.extend(judged(&written, &target.definitions, past));
        for violation in others(&written.value, &target.definitions, past) {
            let object = format!("{}/{}: {}", repository.name, written.path, describe(&written.value));
            expected.add(&format!("{object}: {violation}"), target.name, &none);
        }
    }
    let by_scan = scanned(&readings, target);
    for (path, object, what) in missing(&by_definitions, &by_scan) {
        let text = format!("{}/{path}: {object}: {what}; the scan does not say so", repository.name);
        expected.add(&text, target.name, &none);
    }
    for (path, object, what) in missing(&by_scan, &by_definitions) {
        let text = format!(
            "{}/{path}: {object}: {what}; the definitions accept it",
            repository.name
        );
        expected.add(&text, target.name, &none);
    }
    for case in Applied::of(&repository.tree).cases {
        assert!(
            is_fine(&case.object, &target.definitions, past) || is_reported(&case, &readings),
            "{}/{}: {} does not accept it, and the scan reports nothing in {:?}",
            repository.name,
            case.name,
            target.name,
            case.files
        );
    }
}

/// Lists what one side says and the other does not: neither the same, nor the same of a field within or around.
fn missing<'a>(said: &'a Said, other: &'a Said) -> impl Iterator<Item = &'a (Path, String, String)> {
    let covers = |around: &str, what: &str| {
        let rest = what.strip_prefix(around.trim_end_matches('`'));
        rest.is_some_and(|rest| rest.starts_with(['`', '.', '[']))
    };
    said.difference(other).filter(move |(path, object, what)| {
        let same = other.iter().filter(|(of, about, _)| (of, about) == (path, object));
        !same
            .into_iter()
            .any(|(_, _, told)| covers(told, what) || covers(what, told))
    })
}

/// Gives what the definitions say about version and removed fields of an object.
fn judged(written: &Written, release: &Definitions, past: &[Definitions]) -> Said {
    let object = &written.value;
    let version = match release.standing(object) {
        Some(Standing::Deprecated) => Some("version deprecated".to_owned()),
        Some(Standing::NotServed) => Some("version not served".to_owned()),
        Some(Standing::Newer) => Some(NEWER.to_owned()),
        Some(Standing::Fine) | None => None,
    };
    let fields = removed_fields(object, release, past).into_iter();
    let said = version
        .into_iter()
        .chain(fields.map(|field| format!("field `{field}`")));
    said.map(|said| (written.path.clone(), describe(object), said))
        .collect()
}

/// Lists what breaks the newest schema of a release, besides removed fields.
fn others(object: &Value, release: &Definitions, past: &[Definitions]) -> Vec<Violation> {
    let removed = removed_fields(object, release, past);
    let mut violations = release.judge_bumped(object);
    violations.retain(|violation| violation.kind != Kind::UnknownField || !removed.contains(&violation.field));
    violations
}

fn scanned(readings: &BTreeMap<Path, Reading>, target: &Target) -> Said {
    let release = Version::parse(target.name).unwrap();
    let uses = readings.values().flat_map(|reading| &reading.uses);
    let objects = uses.filter(|used| used.sort.has_fields() && used.sort != Sort::Patch);
    let objects = objects.map(|used| (used.path.clone(), used.object.clone(), said(used, &release)));
    let findings = readings
        .iter()
        .flat_map(|(path, reading)| reading.findings.iter().map(move |finding| (path, finding)));
    let newer = findings.filter(|(_, finding)| finding.code == Code::ApiVersionNewer);
    let newer = newer.filter_map(|(path, finding)| {
        let (object, _) = finding.message.split_once(" is written in ")?;
        Some((path.clone(), object.to_owned(), NEWER.to_owned()))
    });
    objects.chain(newer).collect()
}

fn said(used: &Use, release: &Version) -> String {
    match &used.what {
        What::Version(_) if used.removed_in.as_ref().is_some_and(|gone| gone <= release) => {
            "version not served".to_owned()
        }
        What::Version(_) => "version deprecated".to_owned(),
        What::Field { name, .. } => format!("field `{name}`"),
    }
}

fn is_fine(object: &Value, release: &Definitions, past: &[Definitions]) -> bool {
    release.standing(object) != Some(Standing::NotServed) && removed_fields(object, release, past).is_empty()
}

fn is_reported(case: &Case, readings: &BTreeMap<Path, Reading>) -> bool {
    let uses = case.files.iter().filter_map(|path| readings.get(path));
    let mut uses = uses.flat_map(|reading| &reading.uses);
    uses.any(|used| case.is_called(&used.object))
}
