//! Runs the scripts: each command with all that it prints.

use std::path::Path;

use refit_testkit::script::Runner;

#[test]
fn every_script_prints_what_it_says() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let examples = here.join("../../examples").canonicalize().unwrap();
    let runner = Runner::new(env!("CARGO_BIN_EXE_refit")).with("EXAMPLES", examples.display().to_string());
    let differences = runner.run_all(&here.join("tests/scripts")).unwrap();
    assert!(differences.is_empty(), "{differences}");
}
