//! The labels and API versions of a CustomResourceDefinition.
//!
//! Definitions are nine tenths of a manifest, so the few lines that matter are found by their indentation. Text that is
//! not laid out in plain blocks is parsed.

use std::sync::Arc;

use refit_manifest::Document;
use refit_manifest::parse::NodeRef;
use refit_manifest::scalar::Value;

use super::{COMPONENT_LABEL, VERSION_LABEL};

/// What a definition says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definition {
    /// The value of the version label.
    pub version_label: Option<Arc<str>>,
    /// The value of the component label.
    pub component_label: Option<Arc<str>>,
    /// Its API versions in their order; empty where they cannot be read.
    pub versions: Vec<Served>,
}

/// One API version of a definition.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// The version.
    pub name: String,
    /// Whether it is served.
    pub served: bool,
    /// Whether objects are stored in it.
    pub storage: bool,
    /// Whether it is marked as deprecated.
    pub deprecated: bool,
}

impl Definition {
    /// Reads a document that is a definition.
    pub fn read(document: &Document) -> Self {
        scan(document.body_text())
            .or_else(|| document.root().map(Self::of))
            .unwrap_or_default()
    }

    /// Reads the tree of a definition.
    pub fn of(root: NodeRef<'_>) -> Self {
        let label = |name: &str| {
            root.at(&["metadata", "labels", name])
                .and_then(NodeRef::as_str)
                .map(Into::into)
        };
        let versions = root.at(&["spec", "versions"]).into_iter().flat_map(NodeRef::items);
        Self {
            version_label: label(VERSION_LABEL),
            component_label: label(COMPONENT_LABEL),
            versions: versions.map(version_of).collect(),
        }
    }

    /// Lists the served versions.
    pub fn served(&self) -> impl Iterator<Item = &str> {
        self.versions
            .iter()
            .filter(|version| version.served)
            .map(|version| version.name.as_str())
    }

    /// Gives the version in which objects are stored.
    pub fn storage(&self) -> Option<&str> {
        self.versions
            .iter()
            .find(|version| version.storage)
            .map(|version| version.name.as_str())
    }
}

fn version_of(node: NodeRef<'_>) -> Served {
    let flag = |name: &str| matches!(node.get(name).and_then(NodeRef::value), Some(Value::Bool(true)));
    Served {
        name: node.get("name").and_then(NodeRef::text).unwrap_or_default().to_owned(),
        served: flag("served"),
        storage: flag("storage"),
        deprecated: flag("deprecated"),
    }
}

/// Reads the text of a definition that is laid out in blocks; `None` when it may be laid out otherwise.
fn scan(text: &str) -> Option<Definition> {
    let mut scan = Scan::default();
    for line in text.lines() {
        scan.take(line)?;
    }
    scan.finish()
}

/// More blanks than usual indentation has.
const BLANKS: &str = "                ";

#[derive(Default)]
struct Scan {
    section: Section,
    /// The indentation of the keys of `spec`.
    inner: Option<usize>,
    list: List,
    /// Which of name, served and storage the version at hand has.
    has: [bool; 3],
    found: Definition,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Section {
    Metadata,
    Spec,
    #[default]
    Other,
}

/// Where the reading of `spec.versions` is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum List {
    #[default]
    Before,
    Begun,
    /// Items begin with a dash at the first column, their keys at the second.
    Inside(usize, usize),
    After,
}

impl Scan {
    fn take(&mut self, line: &str) -> Option<()> {
        if self.is_inside_schema(line) {
            return Some(());
        }
        let content = line.trim_start_matches(' ');
        if content.is_empty() || content.starts_with('#') {
            return Some(());
        }
        let indent = line.len() - content.len();
        if indent == 0 {
            return self.open(content);
        }
        match self.section {
            Section::Metadata => self.take_label(content),
            Section::Spec => return self.take_spec(content, indent),
            Section::Other => {}
        }
        Some(())
    }

    /// Tells whether a line stands deeper than the fields of a version, as nearly all lines do.
    fn is_inside_schema(&self, line: &str) -> bool {
        let List::Inside(_, keys) = self.list else { return false };
        BLANKS.get(..=keys).is_some_and(|blanks| line.starts_with(blanks))
    }

    fn open(&mut self, content: &str) -> Option<()> {
        if !content.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let (key, rest) = content.split_once(':')?;
        self.section = match key {
            "metadata" => Section::Metadata,
            "spec" => Section::Spec,
            _ => Section::Other,
        };
        (self.section == Section::Other || plain(rest).is_empty()).then_some(())
    }

    fn take_label(&mut self, content: &str) {
        let Some((key, value)) = content.split_once(':') else {
            return;
        };
        let value = || Some(plain(value).into());
        match key {
            VERSION_LABEL => self.found.version_label = value(),
            COMPONENT_LABEL => self.found.component_label = value(),
            _ => {}
        }
    }

    fn take_spec(&mut self, content: &str, indent: usize) -> Option<()> {
        let inner = *self.inner.get_or_insert(indent);
        match self.list {
            List::Begun => {
                let first = content.strip_prefix("- ")?.trim_start_matches(' ');
                self.list = List::Inside(indent, indent + content.len() - first.len());
                self.next_version(first)
            }
            List::Inside(dash, _) if indent == dash && content.starts_with("- ") => {
                self.next_version(content[2..].trim_start_matches(' '))
            }
            List::Inside(_, keys) if indent == keys => self.take_field(content),
            List::Inside(dash, _) if indent > dash => Some(()),
            List::Inside(..) => {
                self.list = List::After;
                Some(())
            }
            List::Before if indent == inner && content.starts_with("versions:") => {
                self.list = List::Begun;
                plain(&content["versions:".len()..]).is_empty().then_some(())
            }
            List::Before | List::After => Some(()),
        }
    }

    fn next_version(&mut self, first: &str) -> Option<()> {
        if !self.found.versions.is_empty() && self.has != [true; 3] {
            return None;
        }
        self.has = [false; 3];
        self.found.versions.push(Served::default());
        self.take_field(first)
    }

    fn take_field(&mut self, content: &str) -> Option<()> {
        let (key, value) = content.split_once(':')?;
        let value = plain(value);
        let version = self.found.versions.last_mut()?;
        match key {
            "name" => {
                value.clone_into(&mut version.name);
                self.has[0] = true;
            }
            "served" => {
                version.served = flag(value)?;
                self.has[1] = true;
            }
            "storage" => {
                version.storage = flag(value)?;
                self.has[2] = true;
            }
            "deprecated" => version.deprecated = flag(value)?,
            _ => {}
        }
        Some(())
    }

    fn finish(self) -> Option<Definition> {
        (self.has == [true; 3]).then_some(self.found)
    }
}

/// Gives a plain or quoted scalar of one line without its trailing comment.
fn plain(value: &str) -> &str {
    let value = value.split(" #").next().unwrap_or_default().trim();
    let quoted = |mark| value.strip_prefix(mark).and_then(|rest: &str| rest.strip_suffix(mark));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(value)
}

fn flag(value: &str) -> Option<bool> {
    match value {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use refit_manifest::Stream;

    use super::*;

    fn check(text: &str, way: Way) {
        let body = format!(
            "kind: CustomResourceDefinition\nmetadata:\n  labels:\n    app.kubernetes.io/version: v1.0.0\n  name: a.b\n{text}"
        );
        let stream = Stream::split(body.into_bytes().into()).unwrap();
        let document = &stream.documents()[0];
        assert_eq!(scan(document.body_text()).is_some(), way == Way::Scanned);
        let definition = Definition::read(document);
        assert_eq!(definition, Definition::of(document.root().unwrap()));
        assert_eq!(definition.version_label.as_deref(), Some("v1.0.0"));
        assert_eq!(definition.served().collect::<Vec<_>>(), ["v1", "v1beta1"]);
        assert_eq!(definition.storage(), Some("v1"));
        assert!(definition.versions[1].deprecated);
    }

    #[derive(PartialEq)]
    enum Way {
        Scanned,
        Parsed,
    }

    #[test]
    fn generated_text_is_scanned() {
        let text = "spec:\n  group: b\n  versions:\n  - additionalPrinterColumns:\n    - jsonPath: .x\n      name: Age\n    name: v1\n\
            \x20   schema:\n      name: no\n    served: true\n    storage: true\n  - deprecated: true\n    name: v1beta1\n    served: true\n    storage: false\n  z: 1\n";
        check(text, Way::Scanned);
    }

    #[test]
    fn other_indentation_quotes_and_comments_are_scanned() {
        let text = "spec:\n    versions:\n        # newest\n        -   name: 'v1' # stable\n            served: true\n            storage: true\n        \
            -   name: \"v1beta1\"\n            served: true\n            storage: false\n            deprecated: true\nstatus:\n    a: b\n";
        check(text, Way::Scanned);
    }

    #[test]
    fn flow_style_is_parsed() {
        let text = "spec:\n  versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: false, deprecated: true}]\n";
        check(text, Way::Parsed);
    }

    #[test]
    fn a_definition_without_versions_has_none() {
        let stream = Stream::split(b"kind: CustomResourceDefinition\nspec:\n  group: a\n"[..].into()).unwrap();
        assert_eq!(Definition::read(&stream.documents()[0]), Definition::default());
    }
}
