//! Faults and steps of a repair in words.

use std::collections::BTreeSet;
use std::fmt;

use super::{Action, Case, Fault, Repair, Step};
use crate::finding::{Code, Finding};
use crate::migration;
use crate::release::Version;

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { crd, release } => write!(
                formatter,
                "the cluster has `{crd}` as {release} defines it, which is newer than what Git has"
            ),
            Self::Older { crd, release } => write!(
                formatter,
                "the cluster has `{crd}` as {release} defines it, which is older than what Git has"
            ),
            Self::Unlike { crd, versions } => write!(
                formatter,
                "the cluster has `{crd}` with the versions `{}`, as no known release defines it",
                versions.join("`, `")
            ),
            Self::Missing { crd } => write!(
                formatter,
                "the cluster has no `{crd}`; objects that it had went with it, and those in Git come back when Flux applies them"
            ),
            Self::Stale { crd, versions } => write!(
                formatter,
                "objects of `{crd}` are stored as `{}`, which the definition in Git no longer has, so the API server \
                 refuses it",
                versions.join("`, `")
            ),
        }
    }
}

impl Fault {
    /// Gives the CRD that it is about.
    pub fn crd(&self) -> &str {
        match self {
            Self::Newer { crd, .. }
            | Self::Older { crd, .. }
            | Self::Unlike { crd, .. }
            | Self::Missing { crd }
            | Self::Stale { crd, .. } => crd,
        }
    }
}

impl Repair {
    /// Makes a finding of the faults of each sort; the remedy is the first step.
    pub fn findings(&self) -> Vec<Finding> {
        let mut sorts: Vec<Vec<&Fault>> = Vec::new();
        for fault in &self.faults {
            match sorts.iter_mut().find(|sort| sort.iter().any(|one| one.is_like(fault))) {
                Some(sort) => sort.push(fault),
                None => sorts.push(vec![fault]),
            }
        }
        let remedy = match self.steps.first() {
            Some(step) => format!("first: {}", step.what),
            None => "no release that can be had leads out of this: add a catalog with newer releases with `--catalog DIR`, or \
                     bring the definitions in order by hand"
                .to_owned(),
        };
        sorts
            .iter()
            .map(|sort| told(sort).with_remedy(remedy.clone()))
            .collect()
    }
}

impl Fault {
    /// Tells whether one sentence can say it of both.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Newer { release: one, .. }, Self::Newer { release: other, .. })
            | (Self::Older { release: one, .. }, Self::Older { release: other, .. }) => one == other,
            (Self::Missing { .. }, Self::Missing { .. }) => true,
            (Self::Stale { versions: one, .. }, Self::Stale { versions: other, .. }) => one == other,
            _ => false,
        }
    }
}

/// Makes one finding of faults of one sort.
fn told(sort: &[&Fault]) -> Finding {
    let crds: Vec<&str> = sort.iter().map(|fault| fault.crd()).collect();
    let first = crds.first().copied().unwrap_or_default();
    let message = match sort {
        [fault] => fault.to_string(),
        several => {
            let text = several.first().map(ToString::to_string).unwrap_or_default();
            let named = format!("`{first}`");
            let (count, all) = (crds.len(), crds.join("`, `"));
            format!(
                "{}: `{all}`",
                text.replacen(&named, &format!("{count} such definitions"), 1)
            )
        }
    };
    Finding::new(Code::RepairNeeded, first, message)
}

/// Says what a step is and which lines carry it out.
pub(super) fn step(action: Action, case: &Case<'_>) -> Step {
    let (namespace, name) = case.kustomization;
    let kustomization = format!("kubectl -n {namespace} patch kustomizations.kustomize.toolkit.fluxcd.io {name}");
    let suspend = |wanted: &str| format!("{kustomization} --type=merge -p '{{\"spec\":{{\"suspend\":{wanted}}}}}'");
    let (what, commands) = match &action {
        Action::Suspend => (
            format!("keep Flux from applying the older definitions in Git: suspend `{name}`"),
            vec![suspend("true")],
        ),
        Action::Migrate(gate) => (
            format!("migrate stored objects: {}", migration::summary(gate).join(", ")),
            migration::by_kubectl(gate),
        ),
        Action::Define { release, crds } => (
            format!(
                "apply these definitions of {release}, and nothing else of it: {}",
                list(crds)
            ),
            define(release, crds, case.components),
        ),
        Action::Land(release) => (
            format!("bring Git to {release}, whose definitions are not older than those of the cluster"),
            Vec::new(),
        ),
        Action::Reconcile => (
            format!("let Flux apply what is in Git: `{name}`"),
            vec![
                suspend("false"),
                format!(
                    "kubectl -n {namespace} annotate --overwrite kustomizations.kustomize.toolkit.fluxcd.io {name} \
                     reconcile.fluxcd.io/requestedAt=\"$(date +%s)\""
                ),
            ],
        ),
    };
    Step { action, what, commands }
}

/// The lines that apply some definitions of a release. The middle one leaves all other documents out.
fn define(release: &Version, crds: &BTreeSet<String>, components: &BTreeSet<String>) -> Vec<String> {
    let names: Vec<&str> = crds.iter().map(String::as_str).collect();
    let components: Vec<&str> = components.iter().map(String::as_str).collect();
    vec![
        format!(
            "refit render flux@{release} --components {} > release.yaml",
            components.join(",")
        ),
        format!(
            "awk -v names='{}' 'BEGIN {{ n = split(names, w, \" \"); for (i = 1; i <= n; i++) want[w[i]] = 1 }} /^---/ {{ if \
             (keep) printf \"%s\", text; text = \"\"; keep = 0; crd = 0 }} {{ text = text $0 \"\\n\" }} /^kind: \
             CustomResourceDefinition/ {{ crd = 1 }} /^  name: / {{ if (crd && ($2 in want)) keep = 1 }} END {{ if (keep) \
             printf \"%s\", text }}' release.yaml > definitions.yaml",
            names.join(" ")
        ),
        "kubectl apply --server-side --force-conflicts -f definitions.yaml".to_owned(),
    ]
}

fn list(crds: &BTreeSet<String>) -> String {
    let names: Vec<String> = crds.iter().map(|crd| format!("`{crd}`")).collect();
    names.join(", ")
}
