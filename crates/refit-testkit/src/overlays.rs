//! Makes random directories for kustomize.
//!
//! In: a seed. Out: files with kustomizations, resources and patches. Most build; some fail, each in a way of its own. The
//! same seed gives the same files.

mod kustomizations;
mod manifests;
mod patches;

use crate::random::Random;

/// Files, and the directory that is built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overlay {
    /// Paths and texts.
    pub files: Vec<(String, String)>,
    /// The directory that is built.
    pub directory: String,
}

impl Overlay {
    pub(crate) fn file(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.files.push((path.into(), text.into()));
    }
}

/// Makes the files of one seed.
pub fn overlay(seed: u64) -> Overlay {
    let mut random = Random::new(seed);
    let mut overlay = Overlay::default();
    let levels = 1 + random.below(3);
    let mut inner: Option<String> = None;
    for level in 0..levels {
        let directory = format!("level{level}");
        let mut resources = Vec::new();
        if let Some(inner) = inner {
            resources.push(format!("../{inner}"));
        }
        if level == 0 || random.once_in(2) {
            let name = format!("objects{level}.yaml");
            let text = manifests::several(&mut random, level);
            overlay.file(format!("{directory}/{name}"), text);
            resources.push(name);
        }
        let text = kustomizations::level(&mut random, &mut overlay, &directory, &resources);
        overlay.file(format!("{directory}/kustomization.yaml"), text);
        inner = Some(directory);
    }
    overlay.directory = inner.unwrap_or_default();
    overlay
}

/// Picks one of some texts.
fn one_of<'a>(random: &mut Random, texts: &[&'a str]) -> &'a str {
    random.pick(texts).copied().unwrap_or_default()
}
