//! The Git configuration of a repository, read once.
//!
//! In: the output of `git config --list -z`. Out: values by key. Knows no meaning of keys but those asked for.

use std::collections::BTreeSet;

use refit_engine::ports::PortError;

use super::program::Program;

/// All settings, later ones outweigh earlier ones.
#[derive(Clone, Debug, Default)]
pub(super) struct Config(Vec<(String, String)>);

impl Config {
    /// Reads the configuration of all levels.
    pub(super) fn read(program: &Program) -> Result<Self, PortError> {
        let listed = program.ask("could not read the git configuration", &["config", "--list", "-z"])?;
        Ok(Self::parse(&listed))
    }

    fn parse(listed: &[u8]) -> Self {
        let text = String::from_utf8_lossy(listed);
        let pairs = text.split('\0').filter(|pair| !pair.is_empty());
        // A key without a value means true.
        let pair = |pair: &str| {
            let (key, value) = pair.split_once('\n').unwrap_or((pair, "true"));
            (key.to_owned(), value.to_owned())
        };
        Self(pairs.map(pair).collect())
    }

    /// Gives the last value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    }

    /// Tells whether a key is on.
    pub(super) fn is_on(&self, key: &str) -> bool {
        self.get(key)
            .is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }

    /// Lists the names of the remotes.
    pub(super) fn remotes(&self) -> BTreeSet<String> {
        let names = self.0.iter().filter_map(|(key, _)| {
            let name = key.strip_prefix("remote.")?.strip_suffix(".url")?;
            Some(name.to_owned())
        });
        names.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_values_win_and_a_bare_key_is_true() {
        let config = Config::parse(b"commit.gpgsign\0user.name\nA\nB\0remote.o.x.url\nu\0user.name\nC\0");
        assert!(config.is_on("commit.gpgsign"));
        assert_eq!(config.get("user.name"), Some("C"));
        assert_eq!(config.remotes().into_iter().collect::<Vec<_>>(), ["o.x"]);
        assert!(!config.is_on("tag.gpgsign"));
    }
}
