//! Which objects a patch or a replacement is for.

use refit_manifest::parse::NodeRef;

use super::interest::{Interest, Owner};

/// A selector of objects; what is empty fits all, and each part may be a pattern.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The API group.
    pub group: String,
    /// The version without the group.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
}

/// What the documents of a file are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Content {
    /// Objects.
    #[default]
    Objects,
    /// Patches: parts of objects, or operations for the objects that are selected.
    Patch(Vec<Target>),
    /// Replacements of kustomize.
    Replacements,
}

impl Target {
    /// Reads a selector.
    pub fn read(node: NodeRef<'_>) -> Self {
        let text = |key: &str| node.get(key).and_then(NodeRef::text).unwrap_or_default().to_owned();
        let (of_version, version) = match text("apiVersion") {
            api if api.is_empty() => (text("group"), text("version")),
            api => match api.split_once('/') {
                Some((group, version)) => (group.to_owned(), version.to_owned()),
                None => (String::new(), api),
            },
        };
        Self {
            group: of_version,
            version,
            kind: text("kind"),
            name: text("name"),
        }
    }

    /// Adds the group where only one has the kind.
    pub(super) fn completed(mut self, interest: &Interest) -> Self {
        if let (true, Owner::Group(group)) = (self.group.is_empty(), interest.owner(&self.kind)) {
            group.clone_into(&mut self.group);
        }
        self
    }
}

impl Content {
    /// Adds what another use of the same file makes of it.
    pub fn join(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Patch(targets), Self::Patch(others)) => targets.extend(others),
            (own @ Self::Objects, other) => *own = other,
            _ => {}
        }
    }
}
