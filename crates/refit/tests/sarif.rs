//! Holds the SARIF of `refit scan` to what SARIF 2.1.0 asks of a log.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may fail where it stands")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Map, Value};

/// Objects of the standard as far as a log of `refit` has them: what they must have, and what they may have besides (the
/// schema of SARIF 2.1.0 closes each of them; section 3 of the standard).
const OBJECTS: [(&str, &str, &str); 12] = [
    ("log", "version runs", "$schema inlineExternalProperties properties"),
    (
        "run",
        "tool",
        "results columnKind artifacts originalUriBaseIds invocations defaultEncoding language properties",
    ),
    ("tool", "driver", "extensions properties"),
    (
        "driver",
        "name",
        "version semanticVersion informationUri rules fullName organization properties",
    ),
    (
        "rule",
        "id",
        "name shortDescription fullDescription help helpUri defaultConfiguration messageStrings properties",
    ),
    ("text", "text", "markdown properties"),
    (
        "result",
        "message",
        "ruleId ruleIndex level kind locations fingerprints partialFingerprints properties",
    ),
    ("message", "text", "markdown arguments id properties"),
    (
        "location",
        "",
        "id physicalLocation logicalLocations message properties",
    ),
    (
        "physicalLocation",
        "artifactLocation",
        "region contextRegion properties",
    ),
    ("artifactLocation", "uri", "uriBaseId index description properties"),
    (
        "region",
        "startLine",
        "startColumn endLine endColumn charOffset charLength snippet properties",
    ),
];

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: a}\nspec:\n  chart: {spec: {chart: c, valuesFile: v.yaml}}\n";

/// Names that a URI cannot hold as they are, each with what stands for it.
const ODD: [(&str, &str); 8] = [
    ("a b.yaml", "a%20b.yaml"),
    ("50%25#top?x.yaml", "50%2525%23top%3Fx.yaml"),
    ("c:d.yaml", "c%3Ad.yaml"),
    ("[x]&+;='.yaml", "%5Bx%5D%26%2B%3B%3D%27.yaml"),
    ("back\\slash\"<>|^`{}.yaml", "back%5Cslash%22%3C%3E%7C%5E%60%7B%7D.yaml"),
    ("two\nlines\t.yaml", "two%0Alines%09.yaml"),
    ("ö ä/日本.yaml", "%C3%B6%20%C3%A4/%E6%97%A5%E6%9C%AC.yaml"),
    ("plain-._~/A1.yaml", "plain-._~/A1.yaml"),
];

/// Writes files by name and content into a folder of their own.
fn laid_out(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

/// Scans a folder and gives what is printed in one of the forms.
fn run(folder: &Path, form: &str) -> Vec<u8> {
    let output = Command::new(env!("CARGO_BIN_EXE_refit"))
        .args(["scan", "--to", "flux@v2.9.4", ".", "-o", form])
        .current_dir(folder)
        .output()
        .unwrap();
    let answered = [Some(0), Some(3)].contains(&output.status.code());
    assert!(answered, "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Scans files by name and content.
fn scan(files: &[(&str, &str)]) -> Value {
    serde_json::from_slice(&run(laid_out(files).path(), "sarif")).unwrap()
}

/// Files whose findings stand at a line, or have odd names.
fn files() -> Vec<(&'static str, &'static str)> {
    let mut files: Vec<(&str, &str)> = ODD.iter().map(|(name, _)| (*name, RELEASE)).collect();
    files.push(("broken.yaml", "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: [\n"));
    files.push(("kustomization.yaml", "resources:\n- gone.yaml\n"));
    files.push((
        "hook.yaml",
        "apiVersion: notification.toolkit.fluxcd.io/v1beta2\nkind: Receiver\nmetadata: {name: hook}\nspec: {type: github}\n",
    ));
    files.push((
        "newer.yaml",
        "apiVersion: notification.toolkit.fluxcd.io/v9\nkind: Alert\nmetadata: {name: a}\n",
    ));
    files
}

/// Takes a value as an object of the standard: it has what it must have, and nothing that the schema does not know.
fn object<'a>(value: &'a Value, kind: &str) -> &'a Map<String, Value> {
    let (_, required, optional) = OBJECTS.iter().find(|(name, _, _)| *name == kind).unwrap();
    let object = value.as_object().unwrap_or_else(|| panic!("{kind}: {value}"));
    for name in required.split_whitespace() {
        assert!(object.contains_key(name), "{kind} has no `{name}`: {value}");
    }
    let known: BTreeSet<&str> = required.split_whitespace().chain(optional.split_whitespace()).collect();
    for name in object.keys() {
        assert!(known.contains(name.as_str()), "{kind} cannot have `{name}`: {value}");
    }
    object
}

fn list<'a>(object: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    object.get(name).map_or(&[], |value| value.as_array().unwrap())
}

fn filled(value: &Value) -> &str {
    let text = value.as_str().unwrap();
    assert!(!text.trim().is_empty());
    text
}

/// Decodes a relative URI reference, which has only characters that may stand in its path (RFC 3986, 3.3 and 4.2).
fn decoded(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let digits = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(digits, 16).unwrap());
            }
            b'/' | b'-' | b'.' | b'_' | b'~' => bytes.push(byte),
            _ if byte.is_ascii_alphanumeric() => bytes.push(byte),
            _ => panic!("`{}` in {uri}", char::from(byte)),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Checks a region: it starts at a line, columns count from 1, and it does not end before it starts.
fn check_region(region: &Value) {
    let region = object(region, "region");
    let number = |name: &str| region.get(name).map(|value| value.as_u64().unwrap());
    let line = number("startLine").unwrap();
    assert!(line >= 1 && number("startColumn").is_none_or(|column| column >= 1));
    assert!(number("endLine").is_none_or(|end| end >= line));
    assert!(number("endColumn").is_none_or(|end| end >= number("startColumn").unwrap_or(1)));
}

/// Checks a result against the rules of its run; gives its rule and the file where it stands.
fn check_result(result: &Value, rules: &[&str]) -> (String, String) {
    let result = object(result, "result");
    let id = filled(&result["ruleId"]);
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index], id);
    assert!(["none", "note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
    filled(&object(&result["message"], "message")["text"]);
    let [location] = list(result, "locations") else {
        panic!("one place: {result:?}")
    };
    let physical = object(&object(location, "location")["physicalLocation"], "physicalLocation");
    if let Some(region) = physical.get("region") {
        check_region(region);
    }
    let uri = filled(&object(&physical["artifactLocation"], "artifactLocation")["uri"]);
    assert!(!uri.starts_with('/'), "{uri}");
    decoded(uri);
    (id.to_owned(), uri.to_owned())
}

/// Checks a log, and gives rule and URI of each result.
fn check(log: &Value) -> Vec<(String, String)> {
    let top = object(log, "log");
    assert_eq!(top["version"], "2.1.0");
    let schema = filled(&top["$schema"]);
    assert!(
        schema.starts_with("https://") && schema.ends_with("sarif-2.1.0.json"),
        "{schema}"
    );
    let [run] = list(top, "runs") else { panic!("one run") };
    let run = object(run, "run");
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&run["columnKind"].as_str().unwrap()));
    let driver = object(&object(&run["tool"], "tool")["driver"], "driver");
    assert_eq!(
        (&driver["name"], filled(&driver["version"])),
        (&"refit".into(), env!("CARGO_PKG_VERSION"))
    );
    let rules: Vec<&str> = list(driver, "rules")
        .iter()
        .map(|rule| {
            let rule = object(rule, "rule");
            filled(&object(&rule["shortDescription"], "text")["text"]);
            filled(&rule["id"])
        })
        .collect();
    let different: BTreeSet<&&str> = rules.iter().collect();
    assert_eq!(different.len(), rules.len(), "{rules:?}");
    assert!(
        run.contains_key("results"),
        "a scan that ended has results, be there none (3.14.23)"
    );
    list(run, "results")
        .iter()
        .map(|one| check_result(one, &rules))
        .collect()
}

#[test]
fn the_log_has_what_sarif_asks_for() {
    let results = check(&scan(&files()));
    let ids: BTreeSet<&str> = results.iter().map(|(id, _)| id.as_str()).collect();
    let wanted = "ApiVersionNewer ApiVersionRemoved FieldRemoved OverlayBroken UnreadableManifest";
    assert_eq!(ids.into_iter().collect::<Vec<_>>().join(" "), wanted);
}

#[test]
fn each_name_of_a_file_becomes_a_uri_that_leads_back_to_it() {
    let results = check(&scan(&files()));
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, uri) in &results {
        *found.entry(uri).or_default() += 1;
    }
    for (name, uri) in ODD {
        assert_eq!(found.get(uri), Some(&2), "{name:?}: {found:#?}");
        assert_eq!(decoded(uri), name);
    }
}

#[test]
fn a_result_stands_at_the_first_sign_of_what_it_is_about() {
    let log = scan(&[("a.yaml", &format!("\n# ö\n{RELEASE}"))]);
    check(&log);
    let regions: Vec<&Value> = log["runs"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|result| &result["locations"][0]["physicalLocation"]["region"])
        .collect();
    let at = |region: &Value| {
        (
            region["startLine"].as_u64().unwrap(),
            region["startColumn"].as_u64().unwrap(),
        )
    };
    assert_eq!(regions.into_iter().map(at).collect::<Vec<_>>(), [(3, 13), (7, 40)]);
}

#[test]
fn a_log_of_nothing_is_complete_and_has_no_results() {
    assert_eq!(check(&scan(&[])), []);
}

#[test]
fn the_log_says_what_json_says() {
    let folder = laid_out(&files());
    let said = |form: &str| -> Value { serde_json::from_slice(&run(folder.path(), form)).unwrap() };
    let (log, json) = (said("sarif"), said("json"));
    let mut wanted: Vec<(String, Option<u64>)> = Vec::new();
    for used in json["uses"].as_array().unwrap() {
        wanted.push((used["path"].as_str().unwrap().to_owned(), used["line"].as_u64()));
    }
    for finding in json["findings"].as_array().unwrap() {
        let subject = finding["subject"].as_str().unwrap();
        let parted = subject
            .rsplit_once(':')
            .and_then(|(path, line)| Some((path, line.parse().ok()?)));
        wanted.push(parted.map_or((subject.to_owned(), None), |(path, line)| (path.to_owned(), Some(line))));
    }
    let results = log["runs"][0]["results"].as_array().unwrap().iter().map(|result| {
        let physical = &result["locations"][0]["physicalLocation"];
        let uri = physical["artifactLocation"]["uri"].as_str().unwrap();
        (decoded(uri), physical["region"]["startLine"].as_u64())
    });
    let mut found: Vec<(String, Option<u64>)> = results.collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}
