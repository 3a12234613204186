//! Digests recorded beside files, in the format of `sha256sum`.
//!
//! A line is 64 hexadecimal digits, a space, a space or `*`, and the name of a file in the same folder. So
//! `sha256sum --check SHA256SUMS` checks a folder without this program.

use std::collections::BTreeMap;

/// The name of the file with the digests.
pub(crate) const FILE: &str = "SHA256SUMS";

/// The recorded digests by file name.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Digests(BTreeMap<String, String>);

impl Digests {
    /// Reads the file; gives the number of the first line that cannot be read.
    pub(crate) fn read(text: &str) -> Result<Self, usize> {
        let mut digests = BTreeMap::new();
        for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let (digest, name) = entry(line).ok_or(at + 1)?;
            digests.insert(name.to_owned(), format!("sha256:{}", digest.to_ascii_lowercase()));
        }
        Ok(Self(digests))
    }

    /// Gives the digest of a file, `sha256:` and hexadecimal.
    pub(crate) fn of(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Lists the names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (digest, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?.trim_end();
    let sound = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    (sound && !name.is_empty()).then_some((digest, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_marks_of_sha256sum_are_read() {
        let hex = "E3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let digests = Digests::read(&format!("{hex}  a.yaml\n\n{hex} *b.yaml\r\n")).unwrap();
        assert_eq!(digests.names().collect::<Vec<_>>(), ["a.yaml", "b.yaml"]);
        assert_eq!(
            digests.of("b.yaml"),
            Some(format!("sha256:{}", hex.to_lowercase()).as_str())
        );
    }

    #[test]
    fn a_line_that_is_no_digest_is_numbered() {
        for text in ["abc  a.yaml", "e3b0  a", "\nnonsense"] {
            assert!(Digests::read(text).is_err(), "{text}");
        }
        assert_eq!(Digests::read("\nnonsense"), Err(2));
    }
}
