//! One function per question; the reader sees the texts.

use std::sync::LazyLock;

use refit_core::catalog::Catalog;
use refit_core::release::Version;
use refit_manifest::convert::{Converted, Rule, convert};
use refit_manifest::{Stream, edit};

/// Converts the first object of a text by rules.
pub(crate) fn by(rules: &[&Rule], wanted: Option<&str>, text: &str) -> (String, Converted) {
    let stream = Stream::split(text.as_bytes().into()).unwrap();
    let root = stream.documents().iter().find_map(|document| document.root()).unwrap();
    let converted = convert(root, wanted, rules);
    let bytes = edit::apply(stream.bytes(), &converted.splices).unwrap();
    (String::from_utf8(bytes.to_vec()).unwrap(), converted)
}

/// Gives the embedded catalog, read once.
pub(crate) fn catalog() -> &'static Catalog {
    static CATALOG: LazyLock<Catalog> = LazyLock::new(|| Catalog::flux().unwrap());
    &CATALOG
}

/// Converts by all embedded rules that are open at the newest release.
pub(crate) fn run(wanted: &str, text: &str) -> (String, Converted) {
    let catalog = catalog();
    let rules = catalog.rules().open_at(&Version::new(2, 9, 0));
    by(&rules, Some(wanted), text)
}

/// Checks a conversion exactly in four forms of the file, and that a second run changes nothing.
#[track_caller]
pub(crate) fn check_convert(wanted: &str, before: &str, after: &str) {
    check_text(wanted, before, after);
    check_text(wanted, &before.replace('\n', "\r\n"), &after.replace('\n', "\r\n"));
    let end = |text: &str| text.strip_suffix('\n').unwrap_or(text).to_owned();
    check_text(
        wanted,
        &format!("---\n# before\n---\n{before}---\n# behind\n"),
        &format!("---\n# before\n---\n{after}---\n# behind\n"),
    );
    let (text, converted) = run(wanted, &end(before));
    assert_eq!(end(&text), end(after), "{converted:#?}");
}

#[track_caller]
pub(crate) fn check_text(wanted: &str, before: &str, after: &str) {
    let (text, converted) = run(wanted, before);
    assert_eq!(text, after, "{converted:#?}");
    let (again, second) = run(wanted, &text);
    assert_eq!(again, text, "a second run changes something");
    assert!(second.changes.is_empty(), "{second:#?}");
}

/// Checks that a text stays as it is, and what is told.
#[track_caller]
pub(crate) fn check_stopped(wanted: &str, text: &str, message: &str) {
    let (after, converted) = run(wanted, text);
    assert_eq!(after, text);
    assert!(converted.is_stopped(), "{converted:#?}");
    check_told(&converted, message);
}

#[track_caller]
pub(crate) fn check_told(converted: &Converted, message: &str) {
    let told = converted.reviews.iter().any(|review| review.message.contains(message));
    assert!(told, "{:#?}", converted.reviews);
}
