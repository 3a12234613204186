//! Runs a merge as tests want it: with the checker behind it and a second merge after it.
//!
//! In: texts or trees. Out: the result with everything that is wrong with it.

use refit_manifest::merge::{Merged, Settings, convert_sides, merge};
use refit_manifest::{Entry, Outcome, Path, Tree, edit};

use crate::checker::{Case, check};

/// A merge and what is wrong with it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The result.
    pub merged: Merged,
    /// Violations in words; empty when all is right.
    pub violations: Vec<String>,
}

impl Checked {
    /// Gives the strongest outcome of the decisions.
    pub fn outcome(&self) -> Outcome {
        self.merged
            .decisions
            .iter()
            .map(|decision| decision.outcome)
            .max()
            .unwrap_or(Outcome::Clean)
    }

    /// Gives the text of a file of the result, empty when there is none.
    pub fn text(&self, path: &str) -> String {
        let bytes = self.merged.tree.bytes(&Path::from(path));
        bytes
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .unwrap_or_default()
    }
}

/// Makes a tree of one file.
pub fn tree(path: &str, text: &str) -> Tree {
    [(Path::from(path), Entry::file(text.as_bytes()))].into_iter().collect()
}

/// Merges three texts of one file.
pub fn texts(path: &str, [base, ours, theirs]: [&str; 3]) -> Checked {
    trees(
        [&tree(path, base), &tree(path, ours), &tree(path, theirs)],
        &Settings::default(),
    )
}

/// Merges three trees, checks the result, and merges again: nothing may change then.
pub fn trees(sides: [&Tree; 3], settings: &Settings) -> Checked {
    trees_defined(sides, settings, "")
}

/// The same with CustomResourceDefinitions beside those in theirs; the settings must hold their list keys.
pub fn trees_defined([base, ours, theirs]: [&Tree; 3], settings: &Settings, definitions: &str) -> Checked {
    let merged = merge(base, ours, theirs, settings);
    // The checker knows no rules of conversion: it holds the merge to the sides as the rules leave them.
    let converted = convert_sides(base, ours, theirs, settings);
    let (old, own) = converted
        .as_ref()
        .map_or((base, ours), |sides| (&sides.base, &sides.ours));
    let mut violations = check(&Case {
        base: old,
        ours: own,
        theirs,
        result: &merged.tree,
        decisions: &merged.decisions,
        definitions,
    });
    for (from, what) in [(theirs, "from theirs"), (base, "from base again")] {
        let again = merge(from, &merged.tree, theirs, settings);
        if again.tree != merged.tree {
            violations.push(format!(
                "a second merge {what} changes {}",
                difference(&merged.tree, &again.tree)
            ));
        }
    }
    violations.extend(splices_that_differ(ours, &merged));
    Checked { merged, violations }
}

/// Names the files whose splices do not make the result of ours.
fn splices_that_differ(ours: &Tree, merged: &Merged) -> Vec<String> {
    let makes = |(path, splices): (&Path, &Vec<(edit::Splice, usize)>)| {
        let bare: Vec<edit::Splice> = splices.iter().map(|(splice, _)| splice.clone()).collect();
        let made = ours.bytes(path).map(|bytes| edit::apply(bytes, &bare));
        let is_made = matches!((made, merged.tree.bytes(path)), (Some(Ok(made)), Some(result)) if made == *result);
        (!is_made).then(|| format!("the splices of {path} do not make the result of ours"))
    };
    merged.splices.iter().filter_map(makes).collect()
}

/// Names the first file and line in which two trees differ.
pub fn difference(left: &Tree, right: &Tree) -> String {
    for path in left.paths().chain(right.paths()) {
        let text = |tree: &Tree| {
            tree.bytes(path)
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        match (text(left), text(right)) {
            (Some(a), Some(b)) if a != b => {
                let at = a.lines().zip(b.lines()).position(|(x, y)| x != y);
                let line = at.unwrap_or_else(|| a.lines().count().min(b.lines().count()));
                let shown = |text: &str| {
                    text.lines()
                        .nth(line)
                        .map_or("(end)".to_owned(), |line| format!("{line:?}"))
                };
                return format!("{path} line {}: {} becomes {}", line + 1, shown(&a), shown(&b));
            }
            (Some(_), None) => return format!("{path}, which is gone"),
            (None, Some(_)) => return format!("{path}, which is new"),
            _ => {}
        }
    }
    "nothing in text".to_owned()
}
