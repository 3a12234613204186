//! Holds the documentation together: each relative link and anchor of each Markdown file resolves.
//!
//! Links to the web are left alone: the tests run without a network.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

#[path = "structure/files.rs"]
mod files;

use std::fs;
use std::path::Path;

use files::{Violations, root, walk};

/// A link's target with the line that it stands in.
#[derive(Debug, PartialEq)]
struct Link {
    line: usize,
    target: String,
}

#[test]
fn links_between_documents_resolve() {
    let root = root();
    let mut violations = Violations::new();
    for path in walk(&root, &["md"]) {
        let name = path.strip_prefix(&root).unwrap().display().to_string();
        for link in links(&fs::read_to_string(&path).unwrap()) {
            if let Some(what) = broken(&path, &link.target) {
                violations.push(format!("{name}:{}: `{}`: {what}", link.line, link.target));
            }
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn each_document_is_reached_from_the_readme() {
    let root = root();
    let mut reached = vec![root.join("README.md")];
    let mut next = 0;
    while next < reached.len() {
        let path = reached[next].clone();
        next += 1;
        let Ok(text) = fs::read_to_string(&path) else { continue };
        for link in links(&text) {
            let file = link.target.split('#').next().unwrap();
            let Ok(target) = path.parent().unwrap().join(file).canonicalize() else {
                continue;
            };
            if file.ends_with(".md") && !reached.contains(&target) {
                reached.push(target);
            }
        }
    }
    let lost: Vec<_> = walk(&root, &["md"])
        .into_iter()
        .filter(|path| !reached.contains(path))
        .collect();
    assert!(lost.is_empty(), "no way leads from README.md to {lost:?}");
}

#[test]
fn readme_and_ci_run_the_same_tests_and_the_same_quickstart() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    for command in ["cargo test --workspace", "./examples/quickstart.sh"] {
        assert!(
            readme.lines().any(|line| line.trim() == command),
            "README.md lacks `{command}`"
        );
        assert!(
            ci.lines().any(|line| line.trim().ends_with(command)),
            ".ci/run lacks `{command}`"
        );
    }
}

#[test]
fn each_test_that_known_problems_names_is_there() {
    let page = fs::read_to_string(root().join("docs/known-problems.md")).unwrap();
    let sources = walk(&root().join("crates"), &["rs"]);
    let sources: String = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let (mut named, mut wrong) = (0, Violations::new());
    for (at, line) in page.lines().enumerate().filter(|(_, line)| line.starts_with("| ")) {
        let cell = line.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        for test in cell.split('`').skip(1).step_by(2) {
            named += 1;
            if !sources.contains(&format!("#[test]\nfn {test}() {{")) {
                wrong.push(format!("docs/known-problems.md:{}: there is no test `{test}`", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(named >= 30, "the page names {named} tests");
}

/// Says what is wrong with a link of the document at `path`; `None` when it resolves.
fn broken(path: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target
        .split_once('#')
        .map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let file = if file.is_empty() {
        path.to_path_buf()
    } else {
        path.parent().unwrap().join(file)
    };
    let Ok(file) = file.canonicalize() else {
        return Some("there is no such file".into());
    };
    if !file.starts_with(root()) {
        return Some("the file is outside of the repository".into());
    }
    let anchor = anchor?;
    let text = fs::read_to_string(&file).ok()?;
    (!anchors(&text).iter().any(|known| known == anchor)).then(|| "there is no such heading".into())
}

/// Lists the lines outside of fenced code, numbered from one, without `code`.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((index + 1, line.to_owned()));
        }
    }
    lines
}

fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, text) in prose(text) {
        let outside_code: String = text.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for part in outside_code.split("](").skip(1) {
            let target = part.split(')').next().unwrap().split(' ').next().unwrap();
            links.push(Link {
                line,
                target: target.to_owned(),
            });
        }
        let definition = outside_code.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        links.extend(definition.map(|(_, target)| Link {
            line,
            target: target.trim().to_owned(),
        }));
    }
    links
}

/// Gives the anchors of a document's headings as forges make them.
fn anchors(text: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(text) {
        let title = line.trim_start_matches('#');
        if title.len() == line.len() || !title.starts_with(' ') {
            continue;
        }
        let slug: String = title
            .trim()
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let before = anchors.iter().filter(|known| **known == slug).count();
        anchors.push(if before == 0 { slug } else { format!("{slug}-{before}") });
    }
    anchors
}

#[test]
fn links_and_anchors_are_found_and_code_is_not() {
    let text = "# A title: `refit merge`!\n[a](b.md#c) and ![d](e.png \"t\") and `[x](y)`\n```\n[no](no.md)\n# no\n```\n\
                [ref]: f.md\n## A title\n## A title\n";
    let found: Vec<String> = links(text).into_iter().map(|link| link.target).collect();
    assert_eq!(found, ["b.md#c", "e.png", "f.md"]);
    assert_eq!(anchors(text), ["a-title-refit-merge", "a-title", "a-title-1"]);
}

#[test]
fn a_broken_link_is_noticed() {
    let path = root().join("README.md");
    assert_eq!(broken(&path, "nowhere.md").as_deref(), Some("there is no such file"));
    assert_eq!(
        broken(&path, "README.md#nowhere").as_deref(),
        Some("there is no such heading")
    );
    assert_eq!(broken(&path, "../outside.md").as_deref(), Some("there is no such file"));
    assert_eq!(broken(&path, "https://example.com/x"), None);
}
