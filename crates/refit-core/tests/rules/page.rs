//! Holds `docs/rules.md` to the rules; `UPDATE_DOCS=1` writes its tables anew. Its examples run.

use std::fmt::Write as _;
use std::path::Path;

use refit_core::catalog::rules::OPERATIONS;
use refit_core::catalog::{ConversionRule, ConversionRules, Purpose};
use refit_core::release::Version;

use super::support::{by, catalog};

const MARK: &str = "<!-- written from catalog/flux/conversions.yaml by a test; change it there -->\n";

fn page() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/rules.md");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    (path, text)
}

fn tables() -> String {
    let mut out = String::from(MARK);
    for (title, purpose) in [("Conversions", Purpose::Conversion), ("Behaviour", Purpose::Behaviour)] {
        let _ = write!(
            out,
            "\n## {title}\n| rule | kinds | what it does | may from | must by | origin |\n|---|---|---|---|---|---|\n"
        );
        for rule in catalog().rules().iter().filter(|rule| rule.purpose == purpose) {
            let version = |version: &Option<Version>| version.as_ref().map(ToString::to_string).unwrap_or_default();
            let (from, by) = (version(&rule.window.from), version(&rule.window.by));
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {from} | {by} | {} |",
                rule.rule.id,
                kinds(rule),
                what(rule),
                cell(&rule.origin)
            );
        }
    }
    out.push_str("\n## What one object does not tell\n| | release | what changes | why it is not checked | origin |\n|---|---|---|---|---|\n");
    for one in catalog().rules().not_checked() {
        let (message, reason, origin) = (cell(&one.message), cell(&one.reason), cell(&one.origin));
        let _ = writeln!(out, "| `{}` | {} | {message} | {reason} | {origin} |", one.id, one.by);
    }
    out
}

fn kinds(rule: &ConversionRule) -> String {
    rule.rule.kinds.join(", ")
}

fn cell(text: &str) -> String {
    text.split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('|', "\\|")
}

/// Describes a rule by its operations and message.
fn what(rule: &ConversionRule) -> String {
    let optional = if rule.optional { "(optional) " } else { "" };
    let does: Vec<String> = rule
        .rule
        .operations
        .iter()
        .map(|operation| cell(&operation.to_string()))
        .collect();
    format!("{optional}{}: {}", does.join("; "), cell(&rule.rule.message))
}

#[test]
fn the_page_of_rules_lists_those_of_the_catalog() {
    let (path, text) = page();
    let (head, found) = text
        .split_once(MARK)
        .map_or((text.as_str(), ""), |(head, rest)| (head, rest));
    let wanted = tables();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{wanted}")).unwrap();
        return;
    }
    let is_same = format!("{MARK}{found}") == wanted;
    assert!(
        is_same,
        "docs/rules.md is old: run `UPDATE_DOCS=1 cargo test -p refit-core --test rules page`"
    );
}

/// Gives the blocks of YAML of the page, each with what stands in front of it.
fn blocks(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("```yaml\n") {
        let (block, behind) = after.split_once("```\n").unwrap();
        out.push((before.lines().last().unwrap_or_default(), block));
        rest = behind;
    }
    out
}

/// Tells whether a line is an item of this operation, and not of one whose name only begins like it.
fn names(line: &str, operation: &str) -> bool {
    let item = line.trim().strip_prefix("- ").unwrap_or_default();
    item.strip_prefix(operation)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

#[test]
fn the_examples_of_the_page_are_rules_that_can_be_read() {
    let (_, text) = page();
    let files: Vec<&str> = blocks(&text)
        .into_iter()
        .map(|(_, block)| block)
        .filter(|block| block.starts_with("rules:") || block.starts_with("enable:"))
        .collect();
    assert!(!files.is_empty());
    for file in &files {
        ConversionRules::read("page.yaml", file).unwrap();
    }
    for operation in OPERATIONS {
        assert!(
            files
                .iter()
                .flat_map(|file| file.lines())
                .any(|line| names(line, operation)),
            "no example of `{operation}`"
        );
    }
}

#[test]
fn the_example_of_the_page_gives_what_the_page_says() {
    let (_, text) = page();
    let block = |label: &str| {
        blocks(&text)
            .into_iter()
            .find(|(before, _)| before.starts_with(label))
            .unwrap()
            .1
    };
    let rules = ConversionRules::read("page.yaml", block("A rule file")).unwrap();
    let open = rules.open_at(&Version::new(1, 6, 0));
    let (after, converted) = by(&open, Some("v2"), block("Before"));
    assert_eq!(after, block("After"), "{converted:#?}");
}
