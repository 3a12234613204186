//! Holds the shape of the project: the crate graph, the direction of imports, the sizes of STYLE, purity.
//!
//! Each test lists all its violations at once, as `file:line: what`. Who has a good reason to go another way changes
//! the rule here, in the same commit, and says why.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

#[path = "structure/crates.rs"]
mod crates;
#[path = "structure/files.rs"]
mod files;
#[path = "structure/imports.rs"]
mod imports;
#[path = "structure/sizes.rs"]
mod sizes;
#[path = "structure/source.rs"]
mod source;
#[path = "structure/texts.rs"]
mod texts;

use files::Violations;

#[test]
fn each_crate_depends_only_on_what_the_crate_graph_allows() {
    report(crates::check());
}

#[test]
fn modules_import_only_from_those_listed_above_them() {
    report(imports::check_direction());
}

#[test]
fn deciding_crates_touch_nothing() {
    report(imports::check_purity());
}

#[test]
fn files_functions_and_parameter_lists_keep_their_limits() {
    report(sizes::check());
}

#[test]
fn texts_and_scripts_keep_their_limits() {
    report(texts::check());
}

fn report(violations: Violations) {
    assert!(
        violations.is_empty(),
        "{} violations:\n{}",
        violations.len(),
        violations.join("\n")
    );
}
