//! The crate graph: who may depend on whom, in the workspace and outside.

use std::process::Command;

use serde_json::Value;

use super::files::{Violations, root};

/// What a crate may depend on.
struct Rule {
    name: &'static str,
    /// Crates of the workspace.
    workspace: &'static [&'static str],
    outside: Outside,
}

enum Outside {
    /// Only these crates.
    Only(&'static [&'static str]),
    /// Anything but crates of these families.
    Not(&'static [&'static [&'static str]]),
}

const KUBE: &[&str] = &["kube", "kube-client", "kube-runtime", "k8s-openapi"];
const GIT: &[&str] = &["git2", "gix", "gix-object", "gitoxide"];
const TERMINAL: &[&str] = &[
    "clap",
    "lexopt",
    "indicatif",
    "anstream",
    "console",
    "crossterm",
    "dialoguer",
];
/// No library uses it: each has its own errors.
const NOWHERE: &[&str] = &["anyhow", "eyre"];

const RULES: &[Rule] = &[
    Rule {
        name: "refit-manifest",
        workspace: &[],
        outside: Outside::Only(&["granit-parser", "memchr", "regex", "similar", "thiserror"]),
    },
    Rule {
        name: "refit-kustomize",
        workspace: &["refit-manifest"],
        outside: Outside::Only(&["regex", "serde_json", "sha2"]),
    },
    Rule {
        name: "refit-core",
        workspace: &["refit-kustomize", "refit-manifest"],
        outside: Outside::Only(&[
            "jiff",
            "memchr",
            "regex",
            "schemars",
            "semver",
            "serde",
            "serde_json",
            "sha2",
            "similar",
            "thiserror",
        ]),
    },
    Rule {
        name: "refit-engine",
        workspace: &["refit-core", "refit-kustomize", "refit-manifest"],
        outside: Outside::Only(&["jiff", "semver", "serde", "serde_json", "sha2", "similar", "thiserror"]),
    },
    Rule {
        name: "refit-source",
        workspace: &["refit-core", "refit-engine", "refit-kustomize", "refit-manifest"],
        outside: Outside::Not(&[KUBE, GIT, TERMINAL, NOWHERE]),
    },
    Rule {
        name: "refit-forge",
        workspace: &["refit-core", "refit-engine", "refit-kustomize", "refit-manifest"],
        outside: Outside::Not(&[KUBE, TERMINAL, NOWHERE]),
    },
    Rule {
        name: "refit-testkit",
        workspace: &[
            "refit-core",
            "refit-engine",
            "refit-kustomize",
            "refit-manifest",
            "refit-source",
            "refit-forge",
        ],
        outside: Outside::Not(&[TERMINAL]),
    },
    Rule {
        name: "refit",
        workspace: &[
            "refit-core",
            "refit-engine",
            "refit-kustomize",
            "refit-manifest",
            "refit-source",
            "refit-forge",
        ],
        outside: Outside::Not(&[NOWHERE]),
    },
];

pub(crate) fn check() -> Violations {
    let metadata = metadata();
    let mut violations = Violations::new();
    for package in metadata["packages"].as_array().unwrap() {
        let name = package["name"].as_str().unwrap();
        let Some(rule) = RULES.iter().find(|rule| rule.name == name) else {
            violations.push(format!(
                "crates/{name}/Cargo.toml:1: the crate has no rule in this test"
            ));
            continue;
        };
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            if dependency["kind"].is_null() && !rule.allows(other) {
                violations.push(format!(
                    "crates/{name}/Cargo.toml:1: `{name}` may not depend on `{other}`"
                ));
            }
            if dependency["kind"] == "dev" && other == "refit" {
                violations.push(format!("crates/{name}/Cargo.toml:1: nothing may depend on the binary"));
            }
        }
    }
    violations
}

impl Rule {
    fn allows(&self, other: &str) -> bool {
        if other == "refit" || other.starts_with("refit-") {
            return self.workspace.contains(&other);
        }
        match self.outside {
            Outside::Only(names) => names.contains(&other),
            Outside::Not(families) => !families.iter().any(|family| family.contains(&other)),
        }
    }
}

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_git_library_in_the_engine_is_noticed() {
    let engine = RULES.iter().find(|rule| rule.name == "refit-engine").unwrap();
    assert!(!engine.allows("gix") && !engine.allows("kube") && !engine.allows("refit-forge"));
    let source = RULES.iter().find(|rule| rule.name == "refit-source").unwrap();
    assert!(!source.allows("gix") && source.allows("ureq"));
}
