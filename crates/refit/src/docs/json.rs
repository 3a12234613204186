//! The page of the JSON results, made from the sources that define them.
//!
//! In: Rust text of the result types. Out: Markdown. A field or word that the page lacks cannot be added unseen.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What a type is made of.
struct Shape {
    name: String,
    meaning: String,
    /// Name, type and meaning of each field; the type is empty for a word of an enumeration.
    parts: Vec<(String, String, String)>,
}

#[test]
fn the_page_of_json_results_says_what_the_types_say() {
    let path = root().join("docs/json.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &page).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/json.md is old: run `UPDATE_DOCS=1 cargo test -p refit page_of_json`"
    );
}

#[test]
fn every_type_that_the_page_names_is_described_on_it() {
    let page = page();
    for link in page.split("](#").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(
            page.to_lowercase().contains(&format!("\n## {link}\n")),
            "#{link} leads nowhere"
        );
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads the sources of the result types, in the order in which they are described.
fn sources() -> String {
    let core = root().join("crates/refit-core/src");
    let mut files = vec![core.join("report.rs")];
    let mut below: Vec<PathBuf> = fs::read_dir(core.join("report"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    below.sort();
    files.extend(below);
    let view = root().join("crates/refit/src/view");
    files.extend(["mod.rs", "catalog.rs"].map(|name| view.join(name)));
    files.push(core.join("finding.rs"));
    files.iter().map(|file| fs::read_to_string(file).unwrap()).collect()
}

/// Finds all public structures and enumerations that are serialized.
fn shapes(source: &str) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = Vec::new();
    let (mut meaning, mut serialized, mut skipped) = (String::new(), false, false);
    let mut inside = false;
    for line in source.lines() {
        let text = line.trim();
        let plain = text.replace("pub(crate) ", "pub ");
        if let Some(doc) = text.strip_prefix("/// ") {
            meaning = format!("{meaning} {doc}").trim().to_owned();
        } else if text.starts_with("#[derive") {
            serialized = text.contains("Serialize");
        } else if text == "#[serde(skip)]" {
            skipped = true;
        } else if let Some(name) = declared(&plain) {
            inside = serialized && plain.ends_with('{');
            if inside {
                shapes.push(Shape {
                    name,
                    meaning: meaning.clone(),
                    parts: Vec::new(),
                });
            }
            (meaning, serialized) = (String::new(), false);
        } else if line == "}" {
            inside = false;
        } else if !text.starts_with('#') {
            if let (true, Some(part), Some(shape)) = (inside && !skipped, part(&plain), shapes.last_mut()) {
                shape.parts.push((part.0, part.1, meaning.clone()));
            }
            (meaning, skipped) = (String::new(), false);
        }
    }
    shapes
}

fn declared(line: &str) -> Option<String> {
    let rest = line
        .strip_prefix("pub struct ")
        .or_else(|| line.strip_prefix("pub enum "))?;
    Some(rest.split(|letter: char| !letter.is_alphanumeric()).next()?.to_owned())
}

/// Reads `pub field: Type,` or `Word,`.
fn part(line: &str) -> Option<(String, String)> {
    let line = line.strip_suffix(',')?;
    match line.strip_prefix("pub ").and_then(|field| field.split_once(": ")) {
        Some((name, kind)) => Some((camel(name), kind.to_owned())),
        None if line.chars().all(char::is_alphanumeric) => Some((camel(line), String::new())),
        None => None,
    }
}

fn camel(name: &str) -> String {
    let mut text = String::new();
    let mut upper = false;
    for letter in name.chars() {
        match letter {
            '_' => upper = true,
            _ if upper => {
                text.extend(letter.to_uppercase());
                upper = false;
            }
            _ if text.is_empty() => text.extend(letter.to_lowercase()),
            _ => text.push(letter),
        }
    }
    text
}

fn kind(rust: &str, known: &BTreeMap<&str, &Shape>) -> String {
    let inner = |start: &str| rust.strip_prefix(start).and_then(|rest| rest.strip_suffix('>'));
    if let Some(inner) = inner("Option<") {
        return format!("{} or null", kind(inner, known));
    }
    if let Some(inner) = inner("Vec<") {
        return format!("list of {}", kind(inner, known));
    }
    match rust {
        "String" | "&'static str" => "text".into(),
        "usize" | "u64" | "u8" => "number".into(),
        "bool" => "true or false".into(),
        "serde_json::Value" => "object".into(),
        "Code" => "[code](findings.md)".into(),
        "OfGroup<B>" => "[OfGroup](#ofgroup)".into(),
        "Report<B>" => {
            "the fields of the result with its own `apiVersion`, `kind`, `state`, `message` and `next`".into()
        }
        name if known.contains_key(name) => format!("[{name}](#{})", name.to_lowercase()),
        other => panic!("the page has no words for the type `{other}`"),
    }
}

fn page() -> String {
    let source = sources();
    let shapes: Vec<Shape> = shapes(&source)
        .into_iter()
        .filter(|shape| shape.name != "Exit" && shape.name != "Code")
        .collect();
    let known: BTreeMap<&str, &Shape> = shapes.iter().map(|shape| (shape.name.as_str(), shape)).collect();
    let mut page = String::from(INTRODUCTION);
    for shape in shapes
        .iter()
        .filter(|shape| shape.name != "Report" && shape.name != "Acceptance")
    {
        let _ = write!(page, "\n## {}\n\n{}\n\n", shape.name, shape.meaning);
        let words = shape.parts.iter().all(|(_, kind, _)| kind.is_empty());
        page.push_str(if words {
            "| word | meaning |\n|---|---|\n"
        } else {
            "| field | type | meaning |\n|---|---|---|\n"
        });
        for (name, rust, meaning) in &shape.parts {
            let middle = if words {
                String::new()
            } else {
                format!(" {} |", kind(rust, &known))
            };
            let _ = writeln!(page, "| `{name}` |{middle} {} |", unlinked(meaning));
        }
    }
    page
}

/// Takes the brackets of links between Rust items off a text.
fn unlinked(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`")
}

const INTRODUCTION: &str = "# JSON results

Generated from the types of the results; a test compares the two. With `-o json` each command prints one object to
stdout, whatever happens; messages for people go to stderr.

| field | type | meaning |
|---|---|---|
| `apiVersion` | text | `refit.dev/v1alpha1`; it changes when a field goes or changes its meaning, not when one is added |
| `kind` | text | which of the results below, or `Error` |
| `state` | [State](#state) | where things stand, `error` when no answer could be given |
| `message` | text | the sentence that goes with the state |
| `next` | list of [Next](#next) | what the user can do next, the best first |

The fields of the result follow beside these. A `kind` is one of `Status`, `Inventory`, `Check`, `Plan`, `Upgrade` (also
of `resume` and `rollback`; where a plan cannot be
carried out, the answer is that `Plan`), `Decisions` (of `resolve`), `Diff`, `Requests`, `Request`, `History`, `Cancel`, `Pauses` (of
`pause`), `Merge`, `Scan`, `Convert`, `Rendered`, `Catalog` (of `catalog list`), `CatalogPull`, `CatalogVerify`, `Init`, `Schema` (of
`init --schema`), `Completion`, `Version`. An object of the kind `Error` has `causes`, a list of texts, the outermost first,
and `exit`, the exit code.
A command that worked on several groups of clusters (`--all-clusters`, several `--cluster`) gives an object of the kind
`Groups`, which lists the result of each; for one group it gives the result itself.

Ids and digests are texts of hexadecimal digits. Lists have a fixed order: the same repository gives the same object.
";
