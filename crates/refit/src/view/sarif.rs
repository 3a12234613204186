//! The answer of a scan as SARIF 2.1.0, which code forges show beside the lines.
//!
//! In: the body of a scan. Out: one log with one run. Columns count characters (code points).

use std::collections::BTreeMap;

use refit_core::finding::{self, Finding, Severity};
use refit_core::report::{Scan, UseLine};
use serde_json::{Value, json};

use crate::output::pretty;
use crate::view::conversions::{said, what};

/// The rules of uses: id, and what it means.
const RULES: [(&str, &str); 3] = [
    ("ApiVersionDeprecated", "An API version is deprecated in the release."),
    (
        "ApiVersionRemoved",
        "An API version is not served by the release any more.",
    ),
    (
        "FieldRemoved",
        "A field is not part of the API version of the release any more, or means something else.",
    ),
];

/// Renders the log.
pub(crate) fn text(body: &Scan) -> Vec<u8> {
    let mut rules: BTreeMap<&str, &str> = RULES.into();
    for found in &body.findings {
        let about = found.code.about();
        rules.insert(about.word, about.meaning);
    }
    let ids: Vec<&str> = rules.keys().copied().collect();
    let index = |id: &str| ids.iter().position(|known| *known == id).unwrap_or_default();
    let uses = body.uses.iter().map(|used| result(used, &index));
    let findings = body.findings.iter().map(|found| result_of_finding(found, &index));
    let descriptors: Vec<Value> = rules
        .iter()
        .map(|(id, meaning)| json!({"id": id, "shortDescription": {"text": meaning}}))
        .collect();
    pretty(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "refit",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": descriptors,
            }},
            "columnKind": "unicodeCodePoints",
            "results": uses.chain(findings).collect::<Vec<_>>(),
        }],
    }))
}

fn result(used: &UseLine, index: &impl Fn(&str) -> usize) -> Value {
    let (id, level) = match (&used.version, used.removed) {
        (Some(_), true) => ("ApiVersionRemoved", "error"),
        (Some(_), false) => ("ApiVersionDeprecated", "warning"),
        (None, _) => ("FieldRemoved", "warning"),
    };
    let mut properties = json!({"convertible": used.convertible, "place": used.place});
    for (name, value) in [("replacement", &used.replacement), ("rule", &used.rule)] {
        if let Some(value) = value {
            properties[name] = json!(value);
        }
    }
    json!({
        "ruleId": id,
        "ruleIndex": index(id),
        "level": level,
        "message": {"text": format!("{}: {}", what(used), said(used))},
        "locations": [location(&used.path, Some((used.line, Some(used.column))))],
        "properties": properties,
    })
}

fn result_of_finding(found: &Finding, index: &impl Fn(&str) -> usize) -> Value {
    let level = match found.severity {
        Severity::Blocking => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let (path, line) = match found.subject.rsplit_once(':') {
        Some((path, line)) => match line.parse() {
            Ok(line) => (path, Some(line)),
            Err(_) => (found.subject.as_str(), None),
        },
        None => (found.subject.as_str(), None),
    };
    let is_about_the_release = found.code == finding::Code::CatalogOlderThanTarget;
    let locations = if is_about_the_release {
        Vec::new()
    } else {
        vec![location(path, line.map(|line: usize| (line, None)))]
    };
    json!({
        "ruleId": found.code.word(),
        "ruleIndex": index(found.code.word()),
        "level": level,
        "message": {"text": format!("{}; {}", found.message, found.remedy)},
        "locations": locations,
    })
}

fn location(path: &str, place: Option<(usize, Option<usize>)>) -> Value {
    let mut physical = json!({"artifactLocation": {"uri": uri(path)}});
    if let Some((line, column)) = place {
        physical["region"] = match column {
            Some(column) => json!({"startLine": line, "startColumn": column}),
            None => json!({"startLine": line}),
        };
    }
    json!({"physicalLocation": physical})
}

/// Writes a path as a URI reference: relative paths stay relative.
fn uri(path: &str) -> String {
    let mut text = String::new();
    if path.starts_with('/') {
        text.push_str("file://");
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => text.push(char::from(byte)),
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_references_that_any_reader_resolves() {
        assert_eq!(uri("a b/é.yaml"), "a%20b/%C3%A9.yaml");
        assert_eq!(uri("/srv/x.yaml"), "file:///srv/x.yaml");
    }
}
