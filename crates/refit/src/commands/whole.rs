//! Files that `refit merge` decides as a whole: with names that no tree can hold, or with content that no merge may touch.
//!
//! In: three sides. Out: what stays, and a decision for each such file. Reads nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path as OsPath, PathBuf};

use memchr::memmem;
use refit_manifest::{Class, Decision, DecisionId, Entry, Outcome, Path, Rule, Tree};

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

/// Takes the manifests out of three trees that would have to be merged and must not be; gives each with what stays.
pub(crate) fn hold_back(sides: &mut [Tree; 3]) -> Vec<(Path, Entry, Decision)> {
    let [base, ours, theirs] = &*sides;
    let mut held = Vec::new();
    for (path, entry) in ours.iter().filter(|(path, _)| path.is_yaml() || path.is_json()) {
        let others = [base.get(path), theirs.get(path)];
        if others.contains(&Some(entry)) || others[0] == others[1] {
            continue;
        }
        let named = [("base", others[0]), ("ours", Some(entry)), ("theirs", others[1])];
        let reason = named
            .iter()
            .find_map(|(side, entry)| unfit(side, entry.as_ref()?.bytes()?));
        if let Some(reason) = reason {
            let message = format!("{path}: {reason}; the file stays as it is");
            let decision = file(path.as_str(), Rule::Unmergeable, Outcome::Blocked, message);
            held.push((path.clone(), entry.clone(), decision));
        }
    }
    for (path, ..) in &held {
        for side in &mut *sides {
            side.remove(path);
        }
    }
    held
}

/// Tells why a side must not be merged.
fn unfit(side: &str, bytes: &[u8]) -> Option<String> {
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to();
        return Some(format!(
            "{side} is not UTF-8 at byte {at}: save it as UTF-8, then merge again"
        ));
    }
    let marker = memmem::find_iter(bytes, b"<<<<<<< ").find(|at| *at == 0 || bytes[*at - 1] == b'\n')?;
    memmem::find(&bytes[marker..], b"\n>>>>>>> ")?;
    let line = bytes[..marker].iter().filter(|byte| **byte == b'\n').count() + 1;
    Some(format!(
        "{side} has a conflict marker of Git on line {line}: finish that merge first"
    ))
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
