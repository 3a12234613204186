//! What kustomize would build from a directory of a tree.
//!
//! In: a [`Tree`](refit_manifest::Tree) and a directory. Out: a [`Built`]: the objects with their origin, and for each
//! patch what it matched and did. Touches no file, clock or network; what it cannot evaluate it says and never guesses.
//! Modules are listed in flow order; each imports only from those above it.

pub mod reach;
pub mod value;
pub mod built;
mod id;
mod read;
mod stop;
mod files;
mod schema;
mod fields;
mod resource;
mod objects;
mod kustomization;
mod selector;
mod merge;
mod operations;
mod patches;
mod names;
mod marks;
mod images;
mod replacements;
mod generators;
mod references;
mod order;
mod evaluate;

pub use evaluate::{build, build_as_flux};

pub use built::{
    AppliedPatch, Built, Content, Directive, Effect, Entry, Failure, Field, Form, Merge, Object, Operation, Origin,
    Place, Reason, ReplacedList, State, Step, Target,
};
pub use value::Value;
