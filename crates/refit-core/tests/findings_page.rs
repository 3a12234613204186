//! The reference page of the findings is what the table says.

use std::path::Path;

use refit_core::finding::reference;

#[test]
fn the_findings_page_is_generated_from_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/findings.md");
    let page = reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap();
    assert_eq!(
        written, page,
        "write it anew with UPDATE_DOCS=1 cargo test -p refit-core --test findings_page"
    );
}
