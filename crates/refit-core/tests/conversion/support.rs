//! Text in, text out.

use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::conversion::{self, Reading, Use, Wanted, What};
use refit_core::release::Version;
use refit_manifest::Path;

pub(crate) fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

pub(crate) fn wanted(release: &str) -> Wanted {
    Wanted::of(&Catalog::flux().unwrap(), &version(release))
}

/// Reads a file for a release; a second run over its result must change nothing and find the same left over.
pub(crate) fn read_for(release: &str, path: &str, text: &str) -> Reading {
    let wanted = wanted(release);
    let bytes: Arc<[u8]> = text.as_bytes().into();
    let reading = conversion::read(&Path::from(path), &bytes, &wanted);
    let again = conversion::read(&Path::from(path), &reading.bytes, &wanted);
    assert!(
        Arc::ptr_eq(&again.bytes, &reading.bytes),
        "a second run changes\n{}\nto\n{}",
        utf8(&reading.bytes),
        utf8(&again.bytes)
    );
    assert_eq!(again.changes().count(), 0, "{:?}", again.uses);
    assert_eq!(again.left().count(), reading.left().count(), "{:?}", again.uses);
    if reading.changes().count() == 0 {
        assert!(
            Arc::ptr_eq(&reading.bytes, &bytes),
            "a file without need is given back as it is"
        );
    }
    reading
}

pub(crate) fn read(path: &str, text: &str) -> Reading {
    read_for("v2.9.4", path, text)
}

pub(crate) fn utf8(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// Compares a converted file of release 2.9.4.
#[track_caller]
pub(crate) fn check(path: &str, before: &str, after: &str) {
    let reading = read(path, before);
    assert_eq!(utf8(&reading.bytes), after, "{:#?}", reading.uses);
}

/// Shows uses as lines.
pub(crate) fn lines(reading: &Reading) -> Vec<String> {
    let line = |used: &Use| {
        let what = match &used.what {
            What::Version(version) => version.clone(),
            What::Field { name, .. } => name.clone(),
        };
        let reason = used
            .convertible
            .reason()
            .map(|reason| format!(" ({reason})"))
            .unwrap_or_default();
        format!(
            "{}:{} {} {} {what} {}{reason}",
            used.line,
            used.column,
            used.sort.word(),
            used.object,
            used.convertible.word()
        )
    };
    reading.uses.iter().map(line).collect()
}

/// Shows findings as lines.
pub(crate) fn findings(reading: &Reading) -> Vec<String> {
    let line =
        |finding: &refit_core::finding::Finding| format!("{} {}: {}", finding.code, finding.subject, finding.message);
    reading.findings.iter().map(line).collect()
}
