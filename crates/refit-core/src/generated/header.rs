//! The comments at the top of a generated manifest.

use std::ops::Range;

use refit_manifest::Stream;

use crate::release::Version;

/// What the comments before the first object say; they can lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The release.
    pub version: Option<Version>,
    /// The components.
    pub components: Vec<String>,
    /// Where in the file the list of components stands.
    pub components_span: Option<Range<usize>>,
}

impl Header {
    /// Reads the comments before the first object of a stream.
    pub fn read(stream: &Stream) -> Self {
        let end = stream
            .documents()
            .iter()
            .find(|document| !document.is_empty())
            .map_or(0, |document| document.body().start);
        let text = stream
            .bytes()
            .get(..end)
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or_default();
        let mut header = Self::default();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            header.take(line, at);
            at += line.len();
        }
        header
    }

    fn take(&mut self, line: &str, at: usize) {
        let Some(comment) = line.trim_start().strip_prefix('#') else {
            return;
        };
        let Some((name, value)) = comment.split_once(':') else {
            return;
        };
        let value = value.trim();
        match name.trim().to_ascii_lowercase().as_str() {
            "flux version" => self.version = Version::parse(value).ok(),
            "components" => {
                let start = at + line.trim_end().len() - value.len();
                self.components = value
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .filter(|name| !name.is_empty())
                    .collect();
                self.components_span = Some(start..start + value.len());
            }
            _ => {}
        }
    }
}
