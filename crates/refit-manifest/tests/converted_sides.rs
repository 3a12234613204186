//! Merges of objects that the sides have in different API versions (case P20 and its neighbours).

use refit_manifest::Outcome;
use refit_manifest::merge::Settings;
use refit_testkit::{merging, policy};

/// Merges three texts by the embedded rules; expects the bytes, the outcome, words in the messages, no violation.
#[track_caller]
fn check(sides: [&str; 3], expected: &str, outcome: Outcome, words: &[&str]) {
    let settings = Settings {
        rules: policy::rules(),
        ..Settings::default()
    };
    let trees = sides.map(|text| merging::tree("h.yaml", text));
    let checked = merging::trees([&trees[0], &trees[1], &trees[2]], &settings);
    assert_eq!(checked.text("h.yaml"), expected, "{:#?}", checked.merged.decisions);
    assert_eq!(checked.violations, Vec::<String>::new());
    assert_eq!(checked.outcome(), outcome, "{:#?}", checked.merged.decisions);
    let told: Vec<&str> = checked
        .merged
        .decisions
        .iter()
        .map(|decision| &*decision.message)
        .collect();
    for word in words {
        assert!(
            told.iter().any(|message| message.contains(word)),
            "no message holds `{word}`: {told:#?}"
        );
    }
}

fn release(version: &str, chart: &str, rest: &str) -> String {
    format!(
        "apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata: {{name: h}}\nspec:\n  chart: {{spec: {{chart: c, {chart}}}}}\n{rest}"
    )
}

#[test]
fn the_users_value_is_carried_over_and_theirs_changes_come_in() {
    let base = release("v2beta1", "valuesFile: v.yaml", "  interval: 5m\n");
    let ours = release(
        "v2beta1",
        "valuesFile: mine.yaml",
        "  # often\n  interval: 5m # t\n  suspend: true\n",
    );
    let theirs = release("v2", "valuesFiles: [v.yaml]", "  interval: 10m\n");
    let expected = release(
        "v2",
        "valuesFiles: [mine.yaml]",
        "  # often\n  interval: 10m # t\n  suspend: true\n",
    );
    check(
        [&base, &ours, &theirs],
        &expected,
        Outcome::Noted,
        &["v2beta1 -> v2", "your `mine.yaml` was carried over", "5m -> 10m"],
    );
}

#[test]
fn ours_that_is_newer_already_is_merged_with_a_converted_base() {
    let base = release("v2beta1", "valuesFile: v.yaml", "  interval: 5m\n");
    let ours = release("v2", "valuesFiles: [mine.yaml]", "  interval: 5m\n");
    let theirs = release("v2", "valuesFiles: [v.yaml]", "  interval: 10m\n");
    let expected = release("v2", "valuesFiles: [mine.yaml]", "  interval: 10m\n");
    check([&base, &ours, &theirs], &expected, Outcome::Clean, &["5m -> 10m"]);
}

#[test]
fn an_object_that_the_user_left_alone_follows_theirs() {
    let base = release("v2beta1", "valuesFile: v.yaml", "");
    let mine = "---\n# mine\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: m}\n";
    let theirs = release("v2", "valuesFiles: [v.yaml]", "");
    check(
        [&base, &format!("{base}{mine}"), &theirs],
        &format!("{theirs}{mine}"),
        Outcome::Clean,
        &[],
    );
}

#[test]
fn what_cannot_be_converted_stays_as_it_is_and_is_asked() {
    let base = release("v2beta1", "valuesFile: v.yaml", "  x: &x {a: 1}\n");
    let ours = base
        .replace("chart: {spec: {", "chart: {spec: &s {")
        .replace("  x: &x {a: 1}\n", "  x: &x {a: 1}\n  y: *s\n");
    let theirs = release("v2", "valuesFiles: [v.yaml]", "  x: &x {a: 1}\n");
    check(
        [&base, &ours, &theirs],
        &ours,
        Outcome::Conflict,
        &["cannot be converted to v2", "`&s`"],
    );
}

#[test]
fn a_receiver_without_a_secret_never_gets_the_version_that_refuses_it() {
    let receiver = |version: &str, rest: &str| {
        format!(
            "apiVersion: notification.toolkit.fluxcd.io/{version}\nkind: Receiver\nmetadata: {{name: r}}\nspec:\n  type: github\n{rest}"
        )
    };
    let base = receiver("v1beta2", "  secretRef: {name: s}\n  resources: []\n");
    let ours = receiver("v1beta2", "  resources: [] # none yet\n");
    let theirs = receiver("v1", "  secretRef: {name: s}\n  resources: []\n  interval: 5m\n");
    check([&base, &ours, &theirs], &ours, Outcome::Conflict, &["secretRef"]);

    // What a person answers is done.
    let trees = [&base, &ours, &theirs].map(|text| merging::tree("h.yaml", text));
    let mut settings = Settings {
        rules: policy::rules(),
        ..Settings::default()
    };
    let asked = refit_manifest::merge::merge(&trees[0], &trees[1], &trees[2], &settings);
    let asked = asked
        .decisions
        .iter()
        .find(|decision| decision.outcome == Outcome::Conflict);
    let answer = refit_manifest::decision::Answer::Theirs;
    settings.answers.0.insert(asked.unwrap().id.clone(), answer);
    let checked = merging::trees([&trees[0], &trees[1], &trees[2]], &settings);
    assert_eq!(checked.text("h.yaml"), theirs);
    assert_eq!(checked.outcome(), Outcome::Noted);
    assert_eq!(checked.violations, Vec::<String>::new());
}
