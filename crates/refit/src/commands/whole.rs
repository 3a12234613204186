//! Files whose names no tree can hold, which `refit merge` takes as a whole.
//!
//! In: three sides. Out: what stays, and a decision for each such file. Reads nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as OsPath, PathBuf};

use refit_manifest::{Class, Decision, DecisionId, Entry, Outcome, Rule};

/// The files of one side whose names are not UTF-8.
type Odd = BTreeMap<PathBuf, Entry>;

/// Merges the files that no tree can hold.
pub(crate) fn merge_odd([base, ours, theirs]: [Odd; 3]) -> (Odd, Vec<Decision>) {
    let paths: BTreeSet<&PathBuf> = base.keys().chain(ours.keys()).chain(theirs.keys()).collect();
    let (mut merged, mut decided) = (Odd::new(), Vec::new());
    for path in paths {
        let [base, ours, theirs] = [&base, &ours, &theirs].map(|side| side.get(path));
        if ours != theirs && theirs != base {
            decided.push(if ours == base { followed(path) } else { undecided(path) });
        }
        if let Some(entry) = if ours == base { theirs } else { ours } {
            merged.insert(path.clone(), entry.clone());
        }
    }
    (merged, decided)
}

fn followed(path: &OsPath) -> Decision {
    let shown = path.to_string_lossy();
    let message = format!("`{shown}`, whose name is not UTF-8, follows theirs");
    file(&shown, Rule::TheirsChanged, Outcome::Clean, message)
}

fn undecided(path: &OsPath) -> Decision {
    let shown = path.to_string_lossy();
    let message = format!("both sides changed `{shown}`, whose name is not UTF-8; ours stays: compare the two by hand");
    file(&shown, Rule::BothChanged, Outcome::Conflict, message)
}

fn file(path: &str, rule: Rule, outcome: Outcome, message: String) -> Decision {
    Decision {
        id: DecisionId(path.to_owned()),
        path: path.into(),
        object: None,
        field: String::new(),
        base: None,
        ours: None,
        theirs: None,
        class: Class::File,
        rule,
        outcome,
        message,
        answer: None,
    }
}
