//! Plans again what a saved plan says, and refuses it when reality has moved.

use refit_core::report::{FileChange, Plan};

use refit_core::snapshot;
use refit_manifest::Path;
use serde_json::{Map, Value};

use super::prepare::{self, Prepared};
use crate::{Ask, Error, Ports, Target};

/// Plans again what a saved plan says.
pub(crate) fn plan_saved(ports: &Ports<'_>, ask: &Ask, saved: &[u8]) -> Result<Prepared, Error> {
    // A list would be told in words of the program.
    let object: Map<String, Value> = serde_json::from_slice(saved).map_err(Error::SavedPlan)?;
    let saved: Plan = serde_json::from_value(Value::Object(object)).map_err(Error::SavedPlan)?;
    let ask = Ask {
        base: ask.base.clone().or_else(|| some(&saved.branch)),
        clusters: some(&saved.cluster).into_iter().chain(saved.with.clone()).collect(),
        all_clusters: false,
        target: Target {
            platform: some(&saved.platform),
            version: some(&saved.to),
            ..Target::default()
        },
        ..ask.clone()
    };
    let prepared = prepare::plan(ports, &ask)?;
    let mut plans = prepared.planned.iter().map(|planned| &planned.report.body);
    match plans.find_map(|now| difference(&saved, now)) {
        Some(difference) => Err(Error::PlanMoved { difference }),
        None => Ok(prepared),
    }
}

fn some(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// Gives the first difference that matters, in words.
fn difference(saved: &Plan, now: &Plan) -> Option<String> {
    let pairs = [
        ("the upgrade", &saved.upgrade, &now.upgrade),
        ("the installed version", &saved.from, &now.from),
        ("the target branch", &saved.branch, &now.branch),
    ];
    if let Some((what, old, new)) = pairs.into_iter().find(|(_, old, new)| old != new) {
        return Some(format!("{what} was `{old}` and is `{new}`"));
    }
    let content = |files: &[FileChange]| -> Vec<(String, String)> {
        files
            .iter()
            .map(|file| (file.path.clone(), file.digest.clone()))
            .collect()
    };
    let (mut old, mut new) = (content(&saved.files), content(&now.files));
    // A record follows the other files, which say what moved.
    for files in [&mut old, &mut new] {
        files.sort_by_key(|(path, _)| snapshot::is_record(&Path::from(path.as_str())));
    }
    let is_there = |path: &str| new.iter().any(|(other, _)| other == path);
    if let Some((path, _)) = old.iter().find(|(path, _)| !is_there(path)) {
        return Some(format!(
            "`{path}` would not change any more (the plan was made at commit {})",
            saved.commit
        ));
    }
    let was_there = |path: &str| old.iter().any(|(other, _)| other == path);
    if let Some((path, _)) = new.iter().find(|(path, _)| !was_there(path)) {
        return Some(format!(
            "`{path}` would change too (the plan was made at commit {})",
            saved.commit
        ));
    }
    let (path, _) = old.iter().find(|file| !new.contains(file))?;
    Some(format!(
        "`{path}` would get other content than when the plan was made (at commit {})",
        saved.commit
    ))
}
