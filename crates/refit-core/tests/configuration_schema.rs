//! Holds `docs/refit.schema.json` to the types that read `refit.yaml`; `UPDATE_DOCS=1` writes it anew.

use std::path::Path;

use refit_core::configuration::Configuration;

#[test]
fn the_published_schema_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/refit.schema.json");
    let schema = serde_json::to_string_pretty(&Configuration::schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &schema).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == schema,
        "docs/refit.schema.json is old: run `UPDATE_DOCS=1 cargo test -p refit-core schema`"
    );
}
