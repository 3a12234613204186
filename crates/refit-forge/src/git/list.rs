//! Lists the paths of a commit.
//!
//! In: a commit. Out: paths with ids, sizes, kinds, and whether Git attributes filter them. Knows nothing of contents but
//! of `.gitattributes`.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use refit_engine::ports::{BlobId, CommitId, Listed, ListedKind, PortError, PortErrorKind};
use refit_manifest::Path;

use super::Git;
use super::program;

impl Git {
    /// Lists all paths of a commit.
    pub(super) fn list_paths(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError> {
        self.check_commit(commit)?;
        let what = format!("could not list the files of {commit} in {}", self.location);
        let arguments = ["ls-tree", "-r", "-z", "-l", "--full-tree", &commit.0];
        let listed = self.program.ask(&what, &arguments)?;
        let records = listed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        let mut paths: Vec<Listed> = records.filter_map(listed_path).collect();
        if self.may_filter(&paths)? {
            let filtered = self.filtered(commit, &paths)?;
            for path in &mut paths {
                path.filtered = filtered.contains(path.path.as_str());
            }
        }
        Ok(paths)
    }

    /// Lists the paths of a commit below a directory, without asking for filters.
    pub(super) fn list_directory(&self, commit: &CommitId, directory: &str) -> Result<Vec<Listed>, PortError> {
        self.check_commit(commit)?;
        let what = format!("could not list `{directory}` of {commit} in {}", self.location);
        let below = format!("{directory}/");
        let arguments = ["ls-tree", "-r", "-z", "-l", "--full-tree", &commit.0, "--", &below];
        let listed = self.program.ask(&what, &arguments)?;
        let records = listed.split(|byte| *byte == 0).filter(|record| !record.is_empty());
        Ok(records.filter_map(listed_path).collect())
    }

    /// Tells whether any attributes file speaks of filters, so that Git must be asked.
    fn may_filter(&self, paths: &[Listed]) -> Result<bool, PortError> {
        let speaks = |bytes: &[u8]| bytes.windows(6).any(|window| window == b"filter");
        for path in paths
            .iter()
            .filter(|listed| listed.path.file_name() == ".gitattributes")
        {
            if path.kind != ListedKind::Submodule && speaks(&self.read_blob(&path.blob)?) {
                return Ok(true);
            }
        }
        let outside = [Some(self.common.join("info/attributes")), self.users_attributes()];
        let mut outside = outside.into_iter().flatten();
        Ok(outside.any(|file| fs::read(file).is_ok_and(|bytes| speaks(&bytes))))
    }

    /// Gives the attributes file of the user.
    fn users_attributes(&self) -> Option<PathBuf> {
        let place = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = || place("HOME");
        if let Some(file) = self.config.get("core.attributesfile") {
            return match file.strip_prefix("~/") {
                Some(rest) => Some(home()?.join(rest)),
                None => Some(PathBuf::from(file)),
            };
        }
        let config = place("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))?;
        Some(config.join("git/attributes"))
    }

    /// Asks Git which paths have a filter, by an index of the commit that lives outside the repository.
    fn filtered(&self, commit: &CommitId, paths: &[Listed]) -> Result<BTreeSet<String>, PortError> {
        let what = format!("could not read the git attributes of {commit} in {}", self.location);
        let place =
            tempfile::tempdir().map_err(|error| PortError::new(PortErrorKind::Other, what.as_str()).because(error))?;
        let index = place.path().join("index");
        let mut read = self.program.command(&["read-tree", &*commit.0]);
        program::finish(
            {
                read.env("GIT_INDEX_FILE", &index);
                read
            },
            &[],
        )?
        .or_fail(&what)?;
        let mut check = self
            .program
            .command(&["check-attr", "--cached", "--stdin", "-z", "filter"]);
        check.env("GIT_INDEX_FILE", &index);
        let paths = paths.iter().map(|listed| listed.path.as_str());
        let answer = program::finish(check, &zero_ended(paths))?.or_fail(&what)?;
        Ok(with_filter(&answer))
    }

    /// Gives those of some files of the worktree between whose stored and whose checked-out bytes a filter stands, such as
    /// LFS; paths are relative to the top of the worktree.
    pub fn filtered_in_worktree(&self, paths: &[String]) -> Result<BTreeSet<String>, PortError> {
        let Some(top) = self.worktree() else {
            return Ok(BTreeSet::new());
        };
        let what = format!("could not read the git attributes in {}", self.location);
        let check = self.program.command_in(top, &["check-attr", "--stdin", "-z", "filter"]);
        let input = zero_ended(paths.iter().map(String::as_str));
        let answer = program::finish(check, &input)?.or_fail(&what)?;
        Ok(with_filter(&answer))
    }
}

fn zero_ended<'a>(paths: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let mut input = Vec::new();
    for path in paths {
        input.extend_from_slice(path.as_bytes());
        input.push(0);
    }
    input
}

/// Reads the answer of `git check-attr -z filter`: the paths that have a filter.
fn with_filter(answer: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(answer);
    let fields: Vec<&str> = text.split('\0').collect();
    let with_filter = fields
        .chunks_exact(3)
        .filter(|answer| !matches!(answer[2], "unspecified" | "unset" | "set" | ""));
    with_filter.map(|answer| answer[0].to_owned()).collect()
}

/// Reads `mode type id size<TAB>path`; a path that is not UTF-8 gives nothing.
fn listed_path(record: &[u8]) -> Option<Listed> {
    let text = std::str::from_utf8(record).ok()?;
    let (words, path) = text.split_once('\t')?;
    let mut words = words.split_ascii_whitespace();
    let (mode, _, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    Some(Listed {
        path: Path::new(path),
        blob: BlobId(id.into()),
        size: size.parse().unwrap_or(0),
        kind: match mode {
            "100755" => ListedKind::Executable,
            "120000" => ListedKind::Link,
            "160000" => ListedKind::Submodule,
            _ => ListedKind::File,
        },
        filtered: false,
    })
}
