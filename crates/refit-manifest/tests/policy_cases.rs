//! The merge cases of the facts, contents and outcome byte for byte.

use refit_manifest::Stream;
use refit_manifest::merge::Settings;
use refit_manifest::schema::ListKeys;
use refit_testkit::policy::PolicyCase;
use refit_testkit::{merging, policy, shared};

/// What each case's messages must hold: object, values, remedy.
const WORDS: [(&str, &[&str]); 17] = [
    ("P01", &["Deployment/a", "x:1", "x:2"]),
    ("P02", &["registry.corp/mirror", "v1.3.0", "mirror"]),
    ("P03", &["digest", "v1 -> v2", "Choose"]),
    ("P04", &["limits.cpu", "100m", "200m"]),
    ("P06", &["spec.x"]),
    ("P07", &["--storage-adv-addr", "--concurrent=20"]),
    ("P09", &["v2", "app.kubernetes.io/part-of"]),
    ("P10", &["NetworkPolicy/deny", "refit resolve", "theirs"]),
    ("P11", &["ConfigMap/c", "mine", "refit resolve"]),
    ("P14", &["sidecar", "s:1", "s:2"]),
    ("P15", &[]),
    ("P17", &["t.yaml", "template"]),
    ("P19", &["p.json", "c"]),
    (
        "P20",
        &[
            "HelmRelease/h",
            "v2beta1 -> v2",
            "valuesFile",
            "valuesFiles",
            "mine.yaml",
            "carried over",
        ],
    ),
    ("P21", &["value", "on"]),
    ("P22", &["f.conf", "a=9", "d=2"]),
    ("P24", &["retry"]),
];

/// Cases that the merge alone does not decide: patches are verified after it (`refit-core/tests/patches`).
const LATER: [&str; 1] = ["P15"];

#[test]
fn every_policy_case_gives_its_contents_outcome_and_words() {
    let Some(path) = shared::find("facts/merge-policy-cases.yaml") else {
        return;
    };
    let cases = policy::read(&std::fs::read(path).expect("the file can be read")).expect("the file is YAML");
    assert_eq!(cases.len(), WORDS.len(), "a case was added; give it its words");
    let wrong: Vec<String> = cases
        .iter()
        .filter(|case| !LATER.contains(&case.id.as_str()))
        .flat_map(run)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn run(case: &PolicyCase) -> Vec<String> {
    let mut settings = Settings {
        rules: policy::rules(),
        ..Settings::default()
    };
    if let Some(definition) = &case.definition {
        let stream = Stream::split(definition.as_bytes().into());
        settings.lists = stream.map(|stream| ListKeys::read(&stream)).unwrap_or_default();
    }
    let definitions = case.definition.as_deref().unwrap_or_default();
    let checked = merging::trees_defined([&case.base, &case.ours, &case.theirs], &settings, definitions);
    let mut wrong: Vec<String> = checked.violations.clone();
    if checked.merged.tree != case.expected {
        let text = |tree: &refit_manifest::Tree| {
            let file = |(path, entry): (&refit_manifest::Path, &refit_manifest::Entry)| {
                format!(
                    "{path}: {:?}",
                    entry.bytes().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
                )
            };
            tree.iter().map(file).collect::<Vec<_>>().join(" ")
        };
        wrong.push(format!(
            "expected {}\n     got {}",
            text(&case.expected),
            text(&checked.merged.tree)
        ));
    }
    if checked.outcome().word() != case.outcome {
        wrong.push(format!(
            "outcome {} instead of {}",
            checked.outcome().word(),
            case.outcome
        ));
    }
    let told: String = checked
        .merged
        .decisions
        .iter()
        .map(|d| format!("{}\n", d.message))
        .collect();
    let words = WORDS
        .iter()
        .find(|(id, _)| *id == case.id)
        .map(|(_, words)| *words)
        .unwrap_or_default();
    for word in words.iter().filter(|word| !told.contains(**word)) {
        wrong.push(format!("no message holds `{word}`: {told}"));
    }
    wrong
        .into_iter()
        .map(|line| format!("{} ({}): {line}", case.id, case.title))
        .collect()
}
