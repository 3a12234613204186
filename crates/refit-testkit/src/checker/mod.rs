//! An independent checker of three-way merges, written against the definition and not with the merge's code.
//!
//! In: the trees of base, ours, theirs and the result, and the decisions. Out: violations in words; none when, for each
//! object and place, the result is theirs where ours equals base, ours where theirs equals base, and a decision is
//! reported otherwise; when each byte outside of such places is as in ours; when no comment of the user is lost; and
//! when the result parses. It reads YAML with another parser and has list keys and scalar rules of its own.

mod bytes;
mod comments;
mod compose;
mod definitions;
pub(crate) mod dom;
mod files;
mod keys;
mod objects;
mod order;
mod skeleton;
mod step;
mod value;
mod walk;

use refit_manifest::{Decision, Tree};

use definitions::ListTable;
use objects::Side;

/// One merge to check.
#[derive(Clone, Copy, Debug)]
pub struct Case<'c> {
    /// What the generator wrote for the old version.
    pub base: &'c Tree,
    /// What the user has.
    pub ours: &'c Tree,
    /// What the generator writes for the new version.
    pub theirs: &'c Tree,
    /// What the merge made.
    pub result: &'c Tree,
    /// What the merge says it decided.
    pub decisions: &'c [Decision],
    /// CustomResourceDefinitions, as YAML, whose list keys hold beside those in theirs.
    pub definitions: &'c str,
}

/// Lists everything in a merge that breaks the definition.
pub fn check(case: &Case<'_>) -> Vec<String> {
    let mut violations = files::check(case);
    let mut sides = [case.base, case.ours, case.theirs, case.result].map(Side::read);
    objects::part_duplicates(&mut sides);
    let [base, ours, theirs, result] = &sides;
    let sides = Sides {
        base,
        ours,
        theirs,
        result,
        keys: ListTable::read(theirs, case.definitions),
    };
    violations.extend(walk::check(case, &sides));
    violations.extend(bytes::check(case, &sides));
    violations.extend(comments::check(case, &sides));
    violations
}

/// The four sides, read.
struct Sides<'s> {
    base: &'s Side,
    ours: &'s Side,
    theirs: &'s Side,
    result: &'s Side,
    keys: ListTable,
}
