//! What a snapshot shows to be wrong with a plane, and what mends it.
//!
//! In: the snapshot, the release in Git, what is known of releases. Out: findings, and steps in their order. A cluster that
//! has not applied yet what was merged is not broken: it is waited for.

use refit_core::finding::{Finding, Severity};
use refit_core::inventory::Group;
use refit_core::release::Version;
use refit_core::repair::{self, Action, Case, Fault};
use refit_core::report::RepairStep;
use refit_core::streams::Streams;

use super::ground::Flow;
use super::{served, target};
use crate::Error;

/// What is wrong, and what mends it.
#[derive(Default)]
pub(super) struct Broken {
    pub(super) findings: Vec<Finding>,
    pub(super) steps: Vec<RepairStep>,
}

/// Compares a plane with the snapshot; nothing is wrong where there is none.
pub(super) fn look(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Broken, Error> {
    let (Some(snapshot), Some(main)) = (&flow.ask.snapshot, group.main()) else {
        return Ok(Broken::default());
    };
    let known = target::known(flow, group, (from, None))?;
    let namespace = main.options.namespace.as_str();
    let kustomization = kustomization(flow, group, namespace);
    let components = main.options.components.iter().cloned().collect();
    let case = Case {
        evidence: &snapshot.evidence,
        git: from,
        components: &components,
        available: &flow.ground.versions,
        kustomization: (&kustomization.0, &kustomization.1),
    };
    let Some(repair) = repair::repair(&case, &known) else {
        return Ok(Broken::default());
    };
    // A definition that the release which the cluster runs does not have yet is one that it has not applied yet.
    let runs = snapshot.evidence.release(flow.ports.catalog.platform().as_str());
    let before = runs.filter(|runs| runs < from).and_then(|runs| known.of(&runs));
    let lags = |fault: &Fault| match fault {
        Fault::Older { .. } => true,
        Fault::Missing { crd } => {
            let comes = before.as_ref().is_some_and(|before| !before.contains_key(crd));
            comes && !snapshot.evidence.definitions.contains_key(crd)
        }
        Fault::Newer { .. } | Fault::Unlike { .. } | Fault::Stale { .. } => false,
    };
    if repair.faults.iter().all(lags) {
        return Ok(Broken::default());
    }
    let mut broken = Broken {
        findings: repair.findings(),
        ..Broken::default()
    };
    for step in repair.steps {
        let mut line = RepairStep {
            what: step.what,
            commands: step.commands,
        };
        if let Action::Land(release) = &step.action {
            let target = format!("{}@{release}", flow.ports.catalog.platform());
            let command = format!("refit upgrade {target}{}", flow.ground.option(group));
            line.commands.push(command);
            // The request that mends it is not kept from being opened by what it mends.
            if is_asked(flow, release) {
                let all = broken.findings.iter_mut();
                all.for_each(|finding| finding.severity = Severity::Warning);
            }
        }
        broken.steps.push(line);
    }
    Ok(broken)
}

/// Tells whether the user named this release as the target.
fn is_asked(flow: Flow<'_>, release: &Version) -> bool {
    let named = flow.ask.target.version.as_deref();
    named.and_then(|text| Version::parse(text).ok()).as_ref() == Some(release)
}

/// Names the Kustomization of Flux that applies the plane, as namespace and name; `flux bootstrap` calls it like the
/// namespace, where none is written.
fn kustomization(flow: Flow<'_>, group: &Group<'_>, namespace: &str) -> (String, String) {
    let streams = Streams::split(&flow.ground.snapshot.tree);
    let reached = served::reached(&[served::repository(&flow.ground.snapshot, &streams)], group);
    let root = reached
        .applied
        .first()
        .filter(|applied| applied.name != applied.directory);
    let written = root.and_then(|applied| applied.name.split_once('/'));
    let (of, name) = written.unwrap_or((namespace, namespace));
    let of = if of.is_empty() { namespace } else { of };
    (of.to_owned(), name.to_owned())
}
