//! Texts: scripts and ARCHITECTURE.md keep their length, open work has an issue.

use std::fs;

use super::files::{Violations, root, walk};

const SCRIPT_LINES: usize = 150;
const ARCHITECTURE_LINES: usize = 150;
const EXTENSIONS: &[&str] = &["rs", "md", "sh", "toml", "yaml", "yml", "go", "script", "run"];
/// Parted, so that this file does not find itself.
const MARKS: &[&str] = &[concat!("TO", "DO"), concat!("FIX", "ME"), concat!("XX", "X:")];

pub(crate) fn check() -> Violations {
    let root = root();
    let mut violations = Violations::new();
    for path in walk(&root, EXTENSIONS) {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        if !name.starts_with("bench/out/") {
            violations.extend(marks(&name, &text));
        }
    }
    let scripts = root.join("crates/refit/tests/scripts");
    if scripts.is_dir() {
        for path in walk(&scripts, &[]) {
            let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
            violations.extend(long(&name, &fs::read_to_string(&path).unwrap(), SCRIPT_LINES));
        }
    }
    if let Ok(text) = fs::read_to_string(root.join("ARCHITECTURE.md")) {
        violations.extend(long("ARCHITECTURE.md", &text, ARCHITECTURE_LINES));
    }
    violations
}

fn long(name: &str, text: &str, limit: usize) -> Option<String> {
    let lines = text.lines().count();
    (lines > limit).then(|| format!("{name}:{limit}: the file has {lines} lines, at most {limit}"))
}

/// Finds notes of open work that name no issue, such as `(#12)`.
fn marks(name: &str, text: &str) -> Violations {
    let mut violations = Violations::new();
    for (index, line) in text.lines().enumerate() {
        // In Rust only comments count: a string may hold what a user wrote.
        let line = if name.ends_with(".rs") {
            line.split_once("//").map_or("", |(_, comment)| comment)
        } else {
            line
        };
        for mark in MARKS {
            let Some((_, after)) = line.split_once(mark) else {
                continue;
            };
            let issue = after
                .strip_prefix("(#")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if !issue {
                violations.push(format!(
                    "{name}:{}: open work without an issue: {}",
                    index + 1,
                    line.trim()
                ));
            }
        }
    }
    violations
}

#[test]
fn open_work_must_name_its_issue() {
    let mark = MARKS[0];
    assert_eq!(
        marks("a.rs", &format!("// {mark}(#3): later\n// {mark}: never\n// fine")).len(),
        1
    );
    assert!(long("a", "1\n2\n3", 2).is_some() && long("a", "1\n2", 2).is_none());
}
