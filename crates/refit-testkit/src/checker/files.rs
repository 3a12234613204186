//! Checks files as wholes: those that are not YAML, modes, links, and that each result parses.
//!
//! In: the trees. Out: violations.

use std::collections::BTreeSet;

use refit_manifest::{Entry, Outcome, Path};

use super::objects::is_structured;
use super::{Case, dom};

/// Checks all files of a merge.
pub(super) fn check(case: &Case<'_>) -> Vec<String> {
    let trees = [case.base, case.ours, case.theirs, case.result];
    let paths: BTreeSet<&Path> = trees.iter().flat_map(|tree| tree.paths()).collect();
    let mut violations = Vec::new();
    for path in paths {
        let entries = trees.map(|tree| tree.get(path));
        violations.extend(entries_agree(case, path, entries));
        if is_structured(path) {
            violations.extend(parses(case, path));
        }
    }
    for decision in case.decisions {
        if decision.message.trim().is_empty() || decision.id.0.is_empty() {
            violations.push(format!(
                "{}: a decision without words or id: {decision:?}",
                decision.path
            ));
        }
    }
    violations
}

fn entries_agree(case: &Case<'_>, path: &Path, entries: [Option<&Entry>; 4]) -> Option<String> {
    let [base, ours, theirs, result] = entries;
    let decided = case
        .decisions
        .iter()
        .any(|d| d.path == *path && d.outcome >= Outcome::Noted);
    // An object may live in another file on ours, so that a structured file missing there says nothing.
    let wanted = if ours == base && (!is_structured(path) || ours.is_some()) {
        Some(theirs)
    } else if theirs == base || ours == theirs {
        (!is_structured(path)).then_some(ours)
    } else {
        None
    };
    match wanted {
        Some(wanted) if wanted != result && !decided && !(is_structured(path) && theirs.is_none()) => Some(format!(
            "{path}: the file is not as the one side that changed it has it"
        )),
        None if !is_structured(path) && !decided => Some(format!("{path}: changed on both sides, no decision")),
        _ => None,
    }
}

fn parses(case: &Case<'_>, path: &Path) -> Option<String> {
    let result = case.result.bytes(path)?;
    let complaint = dom::read(result).err()?;
    let as_before = case.ours.bytes(path) == Some(result) || case.theirs.bytes(path) == Some(result);
    let told = case
        .decisions
        .iter()
        .any(|d| d.path == *path && d.outcome >= Outcome::Noted);
    let excused = as_before
        && (told || case.base.bytes(path) == case.ours.bytes(path) || case.base.bytes(path) == case.theirs.bytes(path));
    (!excused).then(|| format!("{path}: the result does not parse: {complaint}"))
}
