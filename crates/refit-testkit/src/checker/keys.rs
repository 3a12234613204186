//! Says which list elements are the same element.
//!
//! In: the place of a list and its versions. Out: a rule that gives each element a key, or none: then the list is one
//! value. A table of its own, written down from the Kubernetes API and from what the generated manifests hold.

use std::collections::HashSet;

use super::dom::{Kind, Node};
use super::step::Step;

/// How elements are told apart.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Rule {
    /// By these fields; a missing one counts as its default.
    Fields(Vec<(String, Option<String>)>),
    /// By the name of the command-line flag.
    Flag,
}

/// A rule and whether a merge has to follow it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Keyed {
    pub(super) rule: Rule,
    /// Whether the API itself says so; otherwise a merge may also see the list as one value, and say so.
    pub(super) certain: bool,
}

/// Finds the rule that works for all versions of a list.
pub(super) fn rule(known: Option<&Rule>, steps: &[Step], versions: &[&Node]) -> Option<Keyed> {
    let known = known.map(|rule| Keyed {
        rule: rule.clone(),
        certain: true,
    });
    known.into_iter().chain(candidates(steps)).find(|keyed| {
        versions.iter().all(|list| {
            let mut seen = HashSet::new();
            list.items()
                .iter()
                .all(|item| key(item, &keyed.rule).is_some_and(|key| seen.insert(key)))
        })
    })
}

fn candidates(steps: &[Step]) -> Vec<Keyed> {
    let one = |name| fields(&[(name, None)]);
    let name = last_key(steps, 0);
    let in_container = last_key(steps, 1).is_some_and(|key| key.to_lowercase().ends_with("containers"));
    let mut found = match name {
        Some("containers" | "initContainers" | "ephemeralContainers" | "volumes" | "imagePullSecrets" | "env") => {
            vec![Keyed {
                rule: one("name"),
                certain: true,
            }]
        }
        Some("versions") if steps.len() == 2 => vec![Keyed {
            rule: one("name"),
            certain: true,
        }],
        Some("volumeMounts") => vec![Keyed {
            rule: one("mountPath"),
            certain: true,
        }],
        Some("ports") => vec![
            Keyed {
                rule: fields(&[("containerPort", None), ("protocol", Some("TCP"))]),
                certain: in_container,
            },
            Keyed {
                rule: fields(&[("port", None), ("protocol", Some("TCP"))]),
                certain: steps.len() == 2,
            },
        ],
        Some("args") => vec![Keyed {
            rule: Rule::Flag,
            certain: true,
        }],
        _ => Vec::new(),
    };
    found.push(Keyed {
        rule: one("name"),
        certain: false,
    });
    let reference = [
        ("apiVersion", Some("")),
        ("kind", None),
        ("namespace", Some("")),
        ("name", None),
    ];
    found.push(Keyed {
        rule: fields(&reference),
        certain: false,
    });
    found
}

fn fields(fields: &[(&str, Option<&str>)]) -> Rule {
    let owned = |(name, default): &(&str, Option<&str>)| ((*name).to_owned(), default.map(str::to_owned));
    Rule::Fields(fields.iter().map(owned).collect())
}

/// Gives the name of the map key at a place, counted from the end and without list elements.
fn last_key(steps: &[Step], back: usize) -> Option<&str> {
    let mut names = steps.iter().rev().filter_map(Step::key);
    names.nth(back)
}

/// Gives the key of an element, in the form in which paths show it.
pub(super) fn key(item: &Node, rule: &Rule) -> Option<String> {
    match rule {
        Rule::Flag => {
            let text = item.text()?;
            text.starts_with('-')
                .then(|| text.split('=').next().unwrap_or(text).to_owned())
        }
        Rule::Fields(fields) => {
            item.is_map().then_some(())?;
            let mut parts = Vec::new();
            for (field, default) in fields {
                let value = match item.get(field).map(|node| &node.kind) {
                    Some(Kind::Scalar { text, .. }) => text.clone(),
                    Some(_) => return None,
                    None => default.clone()?,
                };
                parts.push(format!("{field}={value}"));
            }
            Some(parts.join(","))
        }
    }
}
