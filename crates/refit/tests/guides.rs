//! Runs the guides of `docs/guides`: what they show is what the program prints.

use std::fmt::Write as _;
use std::path::Path;

use refit_testkit::guide;
use refit_testkit::script::Runner;

#[test]
fn every_guide_shows_what_the_program_prints() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let top = here.join("../..").canonicalize().unwrap();
    let runner = Runner::new(env!("CARGO_BIN_EXE_refit")).with("EXAMPLES", top.join("examples").display().to_string());
    let mut differences = String::new();
    let mut guides: Vec<_> = std::fs::read_dir(top.join("docs/guides"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    guides.sort();
    assert!(guides.len() >= 4, "guides are missing: {guides:?}");
    for path in guides {
        let found = guide::run(&runner, &path, &here.join("tests/scripts/setup")).unwrap();
        let _ = write!(differences, "{found}");
    }
    assert!(differences.is_empty(), "{differences}");
}

#[test]
fn the_guide_to_routes_has_the_lines_that_write_a_snapshot() {
    let guide = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guides/routes.md");
    let text = std::fs::read_to_string(guide).unwrap();
    for line in refit_core::evidence::COMMANDS {
        assert!(text.contains(line), "{line}");
    }
}
