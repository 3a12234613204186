//! Runs the scripts: each command with all that it prints.

use std::path::Path;

use refit_testkit::script::Runner;

#[test]
fn every_script_prints_what_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts");
    let runner = Runner::new(env!("CARGO_BIN_EXE_refit"));
    let differences = runner.run_all(&folder).unwrap();
    assert!(differences.is_empty(), "{differences}");
}
