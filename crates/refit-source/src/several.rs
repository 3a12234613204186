//! Several sources as one: a source that lacks something or is silent is passed over, and told.

use refit_core::release::Version;
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};

/// Sources in the order in which they are asked; the first that has a version gives its contents.
pub struct Several {
    sources: Vec<Box<dyn Releases>>,
}

impl Several {
    /// Takes the sources in their order.
    pub fn new(sources: Vec<Box<dyn Releases>>) -> Self {
        Self { sources }
    }
}

impl Releases for Several {
    fn location(&self) -> String {
        let locations: Vec<String> = self.sources.iter().map(|source| source.location()).collect();
        locations.join(", ")
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.available(platform)?.known()
    }

    fn available(&self, platform: &str) -> Result<Available, PortError> {
        let mut all = Available::default();
        let mut known: Vec<Version> = Vec::new();
        for source in &self.sources {
            let one = match source.available(platform) {
                Err(error) if is_lack(&error) => {
                    all.unreachable.push(error);
                    continue;
                }
                decided => decided?,
            };
            for text in one.versions {
                match Version::parse(&text) {
                    Ok(version) if known.contains(&version) => {}
                    Ok(version) => {
                        known.push(version);
                        all.versions.push(text);
                    }
                    Err(_) => all.versions.push(text),
                }
            }
            all.unreachable.extend(one.unreachable);
        }
        Ok(all)
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let mut lacking: Vec<PortError> = Vec::new();
        for source in &self.sources {
            match source.contents(platform, version) {
                Err(error) if is_lack(&error) => lacking.push(error),
                decided => return decided,
            }
        }
        // Who does not answer may have it: that is the better thing to repair.
        let silent = lacking
            .iter()
            .position(|error| error.kind == PortErrorKind::Unreachable);
        if silent.is_some() || lacking.len() == 1 {
            return Err(lacking.swap_remove(silent.unwrap_or(0)));
        }
        let message = format!("`{platform}` `{version}` is in none of {}", self.location());
        let hint = "`refit catalog list` tells what they have; name another source with `--catalog`";
        Err(PortError::new(PortErrorKind::NotFound, message).hint(hint))
    }
}

/// Tells whether another source can still have it.
fn is_lack(error: &PortError) -> bool {
    matches!(error.kind, PortErrorKind::NotFound | PortErrorKind::Unreachable)
}
