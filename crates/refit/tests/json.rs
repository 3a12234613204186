//! Holds what commands print with `-o json` to the page that describes it.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Lays out the quickstart's repository and prints one object for each line that names a command.
const STORY: &str = r#"
. "$SETUP/platform.sh"
edited >&2
json() { refit "$@" -o json || [ $? != 101 ]; }
json status; json inventory; json plan; json check; json upgrade --yes; json resolve
id=$(refit resolve -o json | sed -n 's/^ *"id": "\([^"]*\)".*/\1/p' | head -n 1)
json resolve "$id" theirs; json diff; json resume; json request list; json request show
json request merge; json status; json upgrade; json plan flux@v0.1.0
json render flux@v2.6.4; json catalog list; json catalog pull v2.6.4 --to copy; json catalog verify; json version; json completion bash
json merge $plane/gotk-components.yaml $plane/gotk-sync.yaml $plane/kustomization.yaml
printf 'apiVersion: helm.toolkit.fluxcd.io/v2beta1\\nkind: HelmRelease\\nmetadata: {name: a}\\nspec: {chart: {spec: {chart: c, valuesFile: v}}}\\n' > a.yaml
json scan --to flux@v2.9.4 a.yaml; json convert --to flux@v2.9.4 a.yaml --diff; json convert --to flux@v2.9.4 a.yaml
json status --repo /; json nothing
"#;

#[test]
fn every_field_that_commands_print_is_on_the_page() {
    let page = std::fs::read_to_string(root().join("docs/json.md")).unwrap();
    let mut kinds = BTreeSet::new();
    for object in serde_json::Deserializer::from_slice(&run(STORY)).into_iter::<Value>() {
        let object = object.unwrap();
        let kind = object["kind"].as_str().unwrap().to_owned();
        assert_eq!(object["apiVersion"], "refit.dev/v1alpha1");
        assert!(object["state"].is_string() && object["next"].is_array(), "{kind}");
        let mut names = BTreeSet::new();
        collect(&object, &mut names);
        for name in names {
            assert!(page.contains(&format!("`{name}`")), "the page lacks `{name}` of {kind}");
        }
        kinds.insert(kind);
    }
    let wanted = "Catalog CatalogPull CatalogVerify Check Completion Convert Decisions Diff Error Inventory Merge Plan Rendered Request Requests Scan Status \
                  Upgrade Version";
    assert_eq!(kinds.into_iter().collect::<Vec<_>>().join(" "), wanted);
}

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a story in a folder of its own and gives what it prints.
fn run(story: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_refit")).parent().unwrap();
    let output = Command::new("bash")
        .args(["-c", story])
        .current_dir(folder.path())
        .env(
            "PATH",
            format!("{}:{}", program.display(), std::env::var("PATH").unwrap()),
        )
        .env("EXAMPLES", root().join("examples").canonicalize().unwrap())
        .env(
            "SETUP",
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/setup"),
        )
        .env("HOME", folder.path())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([("GIT_AUTHOR_NAME", "Ada"), ("GIT_AUTHOR_EMAIL", "ada@example.org")])
        .envs([
            ("GIT_COMMITTER_NAME", "Ada"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
        ])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Collects the names of all fields.
fn collect(value: &Value, names: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (name, below) in fields {
                names.insert(name.clone());
                collect(below, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}
