//! What a snapshot shows to be wrong with a plane, and what mends it.
//!
//! In: the snapshot, the release in Git, what is known of releases. Out: findings, and steps in their order. A cluster that
//! has not applied yet what was merged is not broken: it is waited for.

use refit_core::finding::{Finding, Severity};
use refit_core::inventory::Group;
use refit_core::release::Version;
use refit_core::repair::{self, Action, Case, Fault};
use refit_core::report::RepairStep;

use super::ground::Flow;
use super::target;
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
    let components = main.options.components.iter().cloned().collect();
    let case = Case {
        evidence: &snapshot.evidence,
        git: from,
        components: &components,
        available: &flow.ground.versions,
        // `flux bootstrap` calls it like the namespace.
        kustomization: (namespace, namespace),
    };
    let Some(repair) = repair::repair(&case, &known) else {
        return Ok(Broken::default());
    };
    let lags = |fault: &Fault| matches!(fault, Fault::Older { .. });
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
            if flow
                .ask
                .target
                .version
                .as_deref()
                .and_then(|text| Version::parse(text).ok())
                .as_ref()
                == Some(release)
            {
                broken
                    .findings
                    .iter_mut()
                    .for_each(|finding| finding.severity = Severity::Warning);
            }
        }
        broken.steps.push(line);
    }
    Ok(broken)
}
