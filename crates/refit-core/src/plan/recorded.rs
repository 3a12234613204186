//! What a plan leaves in the repository for each cluster.

use std::collections::BTreeSet;

use refit_manifest::Decision;

use super::{Given, Sides, is_told};
use crate::digest;
use crate::inventory::Cluster;
use crate::record::{Record, RecordedDecision, RecordedFile, envelope};
use crate::stage::Stage;

/// Makes the record of a cluster.
pub(super) fn record(given: &Given<'_>, cluster: &Cluster, upgrade: &str, decisions: &[Decision]) -> Record {
    let (api_version, kind) = envelope("Record");
    let written = |sides: &Sides| RecordedFile {
        path: sides.path.to_string(),
        base: digest::of(&sides.base),
        theirs: digest::of(&sides.theirs),
    };
    // On the way back, what the generator wrote for the older release is the base of the next upgrade.
    let before = |sides: &Sides| {
        let recorded = given
            .undone?
            .files
            .iter()
            .find(|file| file.path == sides.path.as_str())?;
        Some(recorded.back())
    };
    let file = |sides: &Sides| before(sides).unwrap_or_else(|| written(sides));
    Record {
        api_version,
        kind,
        upgrade: upgrade.to_owned(),
        platform: given.catalog.platform().clone(),
        cluster: cluster.root.name.clone(),
        directory: Some(cluster.root.directory.clone()),
        with: given.group.beside(&cluster.root.name),
        from: given.from.clone(),
        to: given.to.clone(),
        target: (given.place.target != *given.to && given.undone.is_none()).then(|| given.place.target.clone()),
        stage: given.place.stage,
        index: given.place.index,
        options: given.options.clone(),
        files: given
            .sides
            .iter()
            .filter(|sides| cluster.root.generated.contains(&sides.path))
            .map(file)
            .collect(),
        decisions: recorded(given, cluster, decisions),
        accepted: given.accepted.to_vec(),
        conversions: given.edits.conversions.clone(),
        confirmations: given.place.confirmations.clone(),
        rolled_back: given.undone.map(Record::key),
    }
}

/// Lists the decisions for a record; a request that merges no release keeps those of the last one, whose answers count when
/// the same question comes up.
fn recorded(given: &Given<'_>, cluster: &Cluster, decisions: &[Decision]) -> Vec<RecordedDecision> {
    let told = decisions.iter().filter(|decision| is_told(decision));
    let mut recorded: Vec<RecordedDecision> = told.map(RecordedDecision::of).collect();
    if given.place.stage != Stage::Upgrade
        && let Some(last) = &cluster.record
    {
        let new: BTreeSet<String> = recorded.iter().map(|decision| decision.id.clone()).collect();
        let kept = last.decisions.iter().filter(|decision| !new.contains(&decision.id));
        recorded.extend(kept.cloned());
    }
    recorded
}
