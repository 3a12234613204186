//! What an upgrade does to the patches of Kustomize overlays, and how that is told.
//!
//! In: two trees and a directory, or what was built from them. Out: [`Problem`]s, and of these decisions, findings and
//! edits. Judges nothing that the evaluator does not claim to know, and changes no patch unasked.

mod slot;
mod same;
mod problem;
mod compare;
mod words;
mod mapped;
mod cut;
mod edits;
mod shared;
mod meant;
mod settle;
mod overlaid;
mod folders;

pub use compare::verify;
pub use edits::fits;
pub use folders::over_folders;
pub use overlaid::{has_patches, matched, reach_generated};
pub use problem::{Problem, What};
pub use settle::{Question, Settled, settle, with_files};
pub use slot::{Shift, Slot};
pub use words::{counted, told};
