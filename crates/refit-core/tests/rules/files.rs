//! Rule files: what is refused and how, what two forms of a field are.

use refit_core::catalog::{Catalog, ConversionRules, Texts};
use refit_core::release::Version;
use refit_manifest::convert::Rule;

use super::support::{by, catalog};

const HEAD: &str = "rules:\n- id: X1\n  group: x.dev\n  kinds: [App]\n  message: m\n  origin: o\n";

/// Checks that a rule is refused with its line, name, cause and remedy.
#[track_caller]
fn check_refused(rest: &str, line: usize, words: &[&str]) {
    let error = ConversionRules::read("mine.yaml", &format!("{HEAD}{rest}")).unwrap_err();
    let text = error.to_string();
    let begin = format!("rule file `mine.yaml`, line {line}: rule `X1`: ");
    assert!(text.starts_with(&begin), "{text}");
    for word in words.iter().chain(&["; hint: "]) {
        assert!(text.contains(word), "`{word}` is not in: {text}");
    }
}

#[test]
fn a_rule_that_says_nothing_certain_is_refused() {
    check_refused(
        "  do:\n  - remove: a\n  - frobnicate: b\n",
        9,
        &["unknown operation `frobnicate`", "use one of set-version, remove"],
    );
    check_refused("  do:\n  - remove: a..b\n", 8, &["`a..b` names no field"]);
    check_refused("  do:\n  - move: {from: a}\n", 8, &["`to` is missing"]);
    check_refused(
        "  do:\n  - move: {from: a, to: b, too: c}\n",
        8,
        &["unknown field `too`"],
    );
    check_refused("  do:\n  - move: {from: a, to: a.b}\n", 8, &["into itself"]);
    check_refused(
        "  do:\n  - move: {from: 'a[].b', to: c}\n",
        8,
        &["do not lie below the same lists"],
    );
    check_refused("  do:\n  - rename: {from: a.b, to: c}\n", 8, &["use `move`"]);
    check_refused(
        "  when:\n  - persent: a\n  do:\n  - remove: a\n",
        8,
        &["unknown field `persent`", "use `present`"],
    );
    check_refused(
        "  when:\n  - matching: {field: a, pattern: '('}\n  do:\n  - remove: a\n",
        8,
        &["no regular expression"],
    );
    check_refused(
        "  whem: []\n  do: [{remove: a}]\n",
        2,
        &["unknown field `whem`", "docs/rules.md"],
    );
    check_refused(
        "  from: v2.3.0\n  by: v2.2.0\n  do: [{remove: a}]\n",
        2,
        &["from `v2.3.0`, but must have run by `v2.2.0`"],
    );
    check_refused("  from: two\n  do: [{remove: a}]\n", 2, &["`two` is not a version"]);
    check_refused("  when: []\n", 2, &["it does nothing"]);
    check_refused("  behaviour: true\n  do: [{remove: a}]\n", 2, &["edits nothing"]);
    check_refused(
        "  forms: {old: a, new: b, both-from: v2.0.0, drop-at: v1.0.0}\n",
        2,
        &["`both-from` be a release before"],
    );
    check_refused(
        "  forms: {old: a, new: a.b, both-from: v1.0.0, drop-at: v2.0.0}\n",
        2,
        &["beside each other"],
    );
}

#[test]
fn moves_that_lead_back_are_refused() {
    let text = format!(
        "{HEAD}  do:\n  - move: {{from: a, to: b}}\n  - move: {{from: b, to: c}}\n- {{id: X2, group: x.dev, kinds: [App], message: m, origin: o, do: [{{prepend: {{from: c, to: a}}}}]}}\n"
    );
    let error = ConversionRules::read("mine.yaml", &text).unwrap_err();
    assert_eq!((error.line, error.rule.as_deref()), (10, Some("X2")), "{error}");
    assert!(
        error.to_string().contains("the moves are a circle: `a` goes to `b`"),
        "{error}"
    );
    let other_kind = text.replace("X2, group: x.dev, kinds: [App]", "X2, group: x.dev, kinds: [Other]");
    assert!(ConversionRules::read("mine.yaml", &other_kind).is_ok());
}

#[test]
fn a_file_that_is_no_rule_file_is_refused() {
    for (text, words) in [
        ("rules: [", "not YAML"),
        ("- a\n", "has no rules"),
        ("rulez: []\n", "unknown field `rulez`"),
        (
            &*format!("{HEAD}  do: [{{remove: a}}]\n{}  do: [{{remove: b}}]\n", &HEAD[7..]),
            "taken by the rule on line 2",
        ),
    ] {
        let error = ConversionRules::read("mine.yaml", text).unwrap_err().to_string();
        assert!(
            error.starts_with("rule file `mine.yaml`, line ") && error.contains(words),
            "{error}"
        );
    }
}

#[test]
fn a_bad_file_leaves_the_rules_of_others_in_use() {
    let mut catalog = catalog().clone();
    let before = catalog.rules().clone();
    let back = "rules:\n- {id: Y1, group: helm.toolkit.fluxcd.io, kinds: [HelmRelease], message: m, origin: o, do: [{move: {from: spec.chart.spec.valuesFiles, to: spec.chart.spec.valuesFile}}]}\n";
    let error = catalog
        .add_rules(ConversionRules::read("mine.yaml", back).unwrap())
        .unwrap_err();
    assert!(
        error.to_string().contains("circle") && error.file == "mine.yaml",
        "{error}"
    );
    assert_eq!(catalog.rules(), &before);
    let good = format!("{HEAD}  do: [{{remove: spec.a}}]\n");
    catalog
        .add_rules(ConversionRules::read("good.yaml", &good).unwrap())
        .unwrap();
    assert_eq!(catalog.rules().iter().count(), before.iter().count() + 1);
}

#[test]
fn a_bad_embedded_text_is_an_error_of_the_catalog() {
    let error = Catalog::read(&Texts {
        conversions: "rulez: []\n",
        ..Texts::FLUX
    })
    .unwrap_err();
    assert!(error.to_string().contains("`conversions.yaml`"), "{error}");
}

#[test]
fn a_users_rule_takes_the_place_of_the_one_with_its_name() {
    let mut catalog = catalog().clone();
    let text = "rules:\n- {id: R1-validation, group: kustomize.toolkit.fluxcd.io, kinds: [Kustomization], message: kept, origin: mine, do: [{report: {field: spec.validation, message: kept}}]}\n";
    catalog
        .add_rules(ConversionRules::read("mine.yaml", text).unwrap())
        .unwrap();
    let rules = catalog.rules().open_at(&Version::new(2, 9, 0));
    let before = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta2\nkind: Kustomization\nspec: {validation: none}\n";
    assert_eq!(by(&rules, Some("v1"), before).0, before.replace("v1beta2", "v1"));
}

#[test]
fn two_forms_are_written_for_some_releases_and_then_the_old_one_goes() {
    let text =
        format!("{HEAD}  forms: {{old: spec.path, new: spec.source.path, both-from: v1.2.0, drop-at: v1.4.0}}\n");
    let rules = ConversionRules::read("mine.yaml", &text).unwrap();
    let run = |release: &str, text: &str| {
        let open: Vec<&Rule> = rules.open_at(&Version::parse(release).unwrap());
        let (after, converted) = by(&open, None, text);
        (after, converted.reviews.len())
    };
    let object = |spec: &str| format!("apiVersion: x.dev/v1\nkind: App\nspec:\n  # p\n  {spec}  b: 1\n");
    let old = object("path: ./a # t\n");
    let both = old.replace("  b: 1\n", "  b: 1\n  source:\n    path: ./a # t\n");
    let new = object("b: 1\n")
        .replace("  # p\n  b: 1\n", "")
        .replace("  b: 1\n", "  b: 1\n  source:\n    path: ./a # t\n");
    assert_eq!(run("v1.1.0", &old), (old.clone(), 0), "no release reads the new form");
    assert_eq!(run("v1.2.0", &old), (both.clone(), 0));
    assert_eq!(run("v1.3.9", &both), (both.clone(), 0), "a second run changes nothing");
    assert_eq!(run("v1.4.0", &both), (new.clone(), 0));
    assert_eq!(run("v1.4.0", &new), (new, 0));
    let moved = old.replace("  # p\n  path: ./a # t\n", "  source:\n    # p\n    path: ./a # t\n");
    assert_eq!(run("v1.4.0", &old), (moved, 0), "one that was late");
    let differs = both.replace("    path: ./a", "    path: ./other");
    assert_eq!(run("v1.3.0", &differs), (differs.clone(), 1));
    assert_eq!(
        run("v1.4.0", &differs),
        (differs.clone(), 1),
        "two values are for people"
    );
    let due: Vec<&str> = rules
        .due_at(&Version::new(1, 4, 0))
        .iter()
        .map(|rule| &*rule.rule.id)
        .collect();
    assert_eq!(due, ["X1-both"]);
}

#[test]
fn a_rule_that_is_enabled_and_not_there_is_refused() {
    for (text, told) in [
        ("enable: [R99-nothing]\n", "there is no such rule"),
        ("enable:\n- R9-summary\n- R1-version\n", "not optional"),
    ] {
        let mut catalog = Catalog::flux().unwrap();
        let before = catalog.rules().clone();
        let error = catalog
            .add_rules(ConversionRules::read("mine.yaml", text).unwrap())
            .unwrap_err();
        assert!(error.what.contains(told) && !error.remedy.is_empty(), "{error}");
        assert_eq!((error.file.as_str(), error.line), ("mine.yaml", text.lines().count()));
        assert!(*catalog.rules() == before);
    }
    for text in ["rules: 5\n", "enable: {a: b}\n", "not-checked: x\n"] {
        let error = ConversionRules::read("mine.yaml", text).unwrap_err();
        assert!(error.what.contains("is no list"), "{error}");
    }
}
