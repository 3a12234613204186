//! Rows 16 to 19: formatting. Their cores: `refit-manifest/tests/customisations.rs`, `rules.rs` and `tricky.rs`.

use refit_testkit::reformat::{FOUR_BLANKS, LISTS_INDENTED, Style, reindent};

use crate::world::{Lines, World, lines, pristine};

/// Compares without the blanks at both ends of lines: text blocks may stand deeper or less deep than a formatter puts them.
fn trimmed(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.trim())).collect()
}

fn check_formatter(style: Style, from: &str, to: &str) {
    let (Some(base), Some(target)) = (pristine(from), pristine(to)) else {
        return;
    };
    let (Some(formatted), Some(wanted)) = (reindent(&base, style), reindent(&target, style)) else {
        panic!("the formatter cannot read {from} or {to}");
    };
    assert!(
        lines(&base, &formatted).come.len() > 5000,
        "the formatter touched little of {from}"
    );
    // Small edits that the formatting hides from a comparison by lines.
    let edit = |text: &str| {
        let text = text.replacen("--log-level=info", "--log-level=debug", 1);
        text.replace("memory: 1Gi", "memory: 2Gi # large repositories")
    };
    let Some(world) = World::of(&edit(&formatted)) else {
        return;
    };
    let inventory = world.run(&["inventory"]);
    let changes = inventory.json["clusters"][0]["changes"].as_array().map(Vec::len);
    assert_eq!(
        changes,
        Some(1 + formatted.matches("memory: 1Gi").count()),
        "{:#}",
        inventory.json
    );
    let answer = world.upgrade(&[&format!("flux@{to}")]);
    assert_eq!(answer.decisions(), [""; 0]);
    let after = world.generated();
    assert_eq!(lines(&trimmed(&edit(&wanted)), &trimmed(&after)), Lines::none());
    let touched = lines(&edit(&formatted), &after).come.len();
    let needed = lines(&formatted, &wanted).come.len();
    assert!(
        touched <= needed + needed / 10,
        "{touched} lines touched, the release needs {needed}"
    );
}

#[test]
fn row_16_a_file_through_a_formatter_keeps_its_style_and_its_edits() {
    check_formatter(LISTS_INDENTED, "v2.4.0", "v2.5.1");
}

#[test]
fn row_16_a_file_with_four_blanks_keeps_its_style_and_its_edits() {
    check_formatter(FOUR_BLANKS, "v2.4.0", "v2.5.1");
}

#[test]
fn row_17_empty_timestamps_that_a_formatter_removed_are_no_wish_of_the_user() {
    let bare = |text: &str| {
        reindent(text, LISTS_INDENTED)
            .map(|text| text.replace("  creationTimestamp: null\n", ""))
            .unwrap_or_default()
    };
    let (Some(base), Some(target)) = (pristine("v0.20.1"), pristine("v0.41.2")) else {
        return;
    };
    let Some(world) = World::of(&bare(&base)) else { return };
    let answer = world.upgrade(&["flux@v0.41.2"]);
    assert_eq!(answer.decisions(), [""; 0]);
    let plain = |text: &str| text.replace('\'', "\"").trim_end_matches("---\n").to_owned();
    // The definition of OCIRepositories is new, and comes as it was generated.
    let expected = Lines {
        gone: Vec::new(),
        come: vec!["  creationTimestamp: null".to_owned()],
    };
    assert_eq!(lines(&plain(&bare(&target)), &plain(&world.generated())), expected);
}

#[test]
fn row_18_blank_lines_taken_out_of_descriptions_do_not_stop_a_schema() {
    let (Some(base), Some(target)) = (pristine("v2.3.0"), pristine("v2.4.0")) else {
        return;
    };
    let ours = base.replace("\n\n", "\n");
    assert!(base.len() - ours.len() > 50);
    let Some(world) = World::of(&ours) else { return };
    let answer = world.upgrade(&["flux@v2.4.0"]);
    assert_eq!(answer.decisions(), [""; 0]);
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

/// Takes the property `patchesJson6902` out of the schema of `v1beta2` of Kustomizations; gives its lines too.
fn without_property(text: &str) -> (String, Vec<String>) {
    let definition = text
        .find("  name: kustomizations.kustomize.toolkit.fluxcd.io\n")
        .unwrap_or_default();
    let version = definition + text[definition..].find("    name: v1beta2\n").unwrap_or_default();
    let start = version
        + text[version..]
            .find("              patchesJson6902:\n")
            .unwrap_or_default();
    let rest = &text[start..];
    let first = rest.find('\n').map_or(0, |at| at + 1);
    let deeper = |line: &&str| line.trim().is_empty() || line.starts_with("               ");
    let length: usize = rest[first..]
        .split_inclusive('\n')
        .take_while(deeper)
        .map(str::len)
        .sum();
    let gone = rest[..first + length].lines().map(ToOwned::to_owned).collect();
    (format!("{}{}", &text[..start], &rest[first + length..]), gone)
}

#[test]
fn row_19_a_property_deleted_from_a_schema_stays_deleted_and_goes_with_its_version() {
    let (Some(base), Some(near), Some(far)) = (pristine("v2.5.1"), pristine("v2.6.4"), pristine("v2.8.8")) else {
        return;
    };
    let (ours, gone) = without_property(&base);
    assert!(gone.len() > 50, "{gone:?}");
    let Some(world) = World::of(&ours) else { return };
    world.upgrade(&["flux@v2.6.4"]);
    let (expected, _) = without_property(&near);
    assert_eq!(lines(&expected, &world.generated()), Lines::none());
    let answer = world.run(&["upgrade", "flux@v2.8.8", "--yes"]);
    assert_eq!(answer.code, 6, "{:#}", answer.json);
    world.merge_all(&answer);
    assert_eq!(lines(&far, &world.generated()), Lines::none());
}
