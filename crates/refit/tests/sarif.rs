//! Holds the SARIF of `refit scan` to what SARIF 2.1.0 asks of a log.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::process::Command;

use serde_json::Value;

/// Scans two files, one of them broken.
fn log() -> Value {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write(
        "a b.yaml",
        "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart: {spec: {chart: c, valuesFile: v.yaml}}\n",
    );
    write("broken.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: [\n");
    let output = Command::new(env!("CARGO_BIN_EXE_refit"))
        .args(["scan", "--to", "flux@v2.9.4", ".", "-o", "sarif"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn the_log_has_what_sarif_asks_for() {
    let log = log();
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let [run] = log["runs"].as_array().unwrap().as_slice() else {
        panic!("one run")
    };
    let driver = &run["tool"]["driver"];
    assert_eq!(
        (&driver["name"], &run["columnKind"]),
        (&"refit".into(), &"unicodeCodePoints".into())
    );
    let rules = driver["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert!(
        rules
            .iter()
            .all(|rule| !rule["shortDescription"]["text"].as_str().unwrap().is_empty())
    );
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 3, "{results:#?}");
    for result in results {
        let id = result["ruleId"].as_str().unwrap();
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(ids[index], id);
        assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let physical = &result["locations"][0]["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        assert!(!uri.contains(' ') && !uri.starts_with('/'), "{uri}");
        assert!(physical["region"]["startLine"].as_u64().unwrap() >= 1);
    }
    let first = &results[0];
    assert_eq!(first["ruleId"], "ApiVersionRemoved");
    let physical = &first["locations"][0]["physicalLocation"];
    assert_eq!(physical["artifactLocation"]["uri"], "a%20b.yaml");
    assert_eq!(
        (&physical["region"]["startLine"], &physical["region"]["startColumn"]),
        (&1.into(), &13.into())
    );
    assert!(results.iter().any(|result| result["ruleId"] == "UnreadableManifest"));
}
