//! Three-way merge of trees of files: ours is the canvas.
//!
//! In: base, ours and theirs as [`Tree`]s and the [`Settings`]. Out: ours with minimal splices, and a [`Decision`] for
//! every change (DESIGN.md section 4, the nine rules; facts/yaml.md section 10 has the reasons). Knows neither files
//! nor platforms.

mod diff3;
mod image;
mod quantity;
mod lines;
mod class;
mod keys;
mod expect;
mod merger;
mod comments;
mod leaf;
mod replace;
mod elements;
mod mapping;
mod sequence;
mod value;
mod references;
mod header;
mod index;
mod document;
mod file;
mod trees;
mod compose;
mod conversions;
mod arrivals;
mod files;

use std::collections::BTreeMap;

use crate::convert::Rule;
use crate::decision::{Answers, Decision};
use crate::edit::Splice;
use crate::schema::ListKeys;
use crate::stream::Identity;
use crate::tree::{Path, Tree};

pub use class::class_of_field;
pub use image::ImageRef;

/// What a merge must be told beside the three trees.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The list keys of custom resources, read from the target's CRDs.
    pub lists: ListKeys,
    /// Objects that the new version renamed: old identity, new identity.
    pub renames: Vec<(Identity, Identity)>,
    /// Answers of people to earlier conflicts.
    pub answers: Answers,
    /// The kinds of objects that a generator writes all or none of: without any of them, new ones stay away.
    pub optional_kinds: Vec<String>,
    /// The known image tags by repository path without registry (`fluxcd/source-controller`), oldest first.
    pub known_tags: Vec<(String, Vec<String>)>,
    /// The rules by which objects of another API version than theirs are converted before they are merged.
    pub rules: Vec<Rule>,
    /// Known digests: image `path:tag` without registry, and its digest.
    pub known_digests: Vec<(String, String)>,
}

/// The result of a merge.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    /// Ours with the splices applied.
    pub tree: Tree,
    /// Every decision, in the order of files and places.
    pub decisions: Vec<Decision>,
    /// The splices of each file that was edited in place, with the index of the decision that explains them. A file
    /// that was taken whole has none.
    pub splices: BTreeMap<Path, Vec<(Splice, usize)>>,
    /// Objects that stand more than once on one side, with the files.
    pub duplicates: Vec<(Identity, Vec<Path>)>,
}

impl Merged {
    /// Says of each object that stands more than once how it was matched, as noted decisions.
    pub fn notes_on_duplicates(&self) -> Vec<Decision> {
        self.duplicates
            .iter()
            .filter_map(|(identity, paths)| trees::duplicate(identity, paths))
            .collect()
    }
}

/// Merges three trees of files by the rules of DESIGN.md section 4.
///
/// Objects that are written in other API versions than those of theirs are converted first by [`Settings::rules`].
pub fn merge(base: &Tree, ours: &Tree, theirs: &Tree, settings: &Settings) -> Merged {
    match convert_sides(base, ours, theirs, settings) {
        None => trees::merge(base, ours, theirs, settings),
        Some(sides) => {
            let merged = trees::merge(&sides.base, &sides.ours, theirs, settings);
            conversions::compose(ours, sides, merged)
        }
    }
}

pub use conversions::{Sides as ConvertedSides, convert_sides};
