//! The API versions that the CustomResourceDefinitions of a manifest serve and store.
//!
//! In: a split manifest. Out: one [`Definition`] per CRD. Knows no cluster: what is *really* stored stands in the status
//! of the CRD there.

use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Stream};

/// The API versions of one CRD.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// The CRD's name, for example `buckets.source.toolkit.fluxcd.io`.
    pub name: String,
    /// The kind.
    pub kind: String,
    /// Every version of `spec.versions`, in its order.
    pub versions: Vec<String>,
    /// The version in which objects are stored.
    pub storage: String,
}

impl Definition {
    /// Tells whether the CRD has a version.
    pub fn has(&self, version: &str) -> bool {
        self.versions.iter().any(|known| known == version)
    }
}

/// Lists the CRDs of a manifest in the order of their names.
pub fn of(stream: &Stream) -> Vec<Definition> {
    let crds = stream.documents().iter().filter(|document| is_definition(document));
    let mut definitions: Vec<Definition> = crds.filter_map(Document::root).filter_map(read).collect();
    definitions.sort();
    definitions
}

/// Tells whether a document is a CRD.
pub fn is_definition(document: &Document) -> bool {
    &*document.head().kind == "CustomResourceDefinition"
}

fn read(root: NodeRef<'_>) -> Option<Definition> {
    let text = |path: &[&str]| Some(root.at(path)?.text()?.to_owned());
    let spec = root.get("spec")?;
    let mut versions = Vec::new();
    let mut storage = String::new();
    for version in spec.get("versions").into_iter().flat_map(NodeRef::items) {
        let name = version.get("name")?.text()?;
        versions.push(name.to_owned());
        if version.get("storage").and_then(NodeRef::text) == Some("true") {
            name.clone_into(&mut storage);
        }
    }
    if versions.is_empty() {
        // apiextensions.k8s.io/v1beta1 allowed one version without a list.
        let only = spec.get("version")?.text()?;
        versions.push(only.to_owned());
        only.clone_into(&mut storage);
    }
    Some(Definition {
        name: text(&["metadata", "name"])?,
        kind: text(&["spec", "names", "kind"])?,
        versions,
        storage,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_storage_are_read_from_each_definition() {
        let text = "kind: Namespace\nmetadata: {name: x}\n---\nkind: CustomResourceDefinition\n\
                    apiVersion: apiextensions.k8s.io/v1\nmetadata:\n  name: buckets.example.dev\nspec:\n  names: {kind: \
                    Bucket}\n  versions:\n  - {name: v1, served: true, storage: true}\n  - {name: v1beta1, storage: false}\n\
                    ---\nkind: CustomResourceDefinition\nmetadata: {name: a.example.dev}\nspec:\n  names: {kind: A}\n  \
                    version: v1alpha1\n";
        let stream = Stream::split(text.as_bytes().into()).unwrap();
        let lines: Vec<String> = of(&stream)
            .iter()
            .map(|d| format!("{} {} {:?} {}", d.name, d.kind, d.versions, d.storage))
            .collect();
        assert_eq!(
            lines,
            [
                r#"a.example.dev A ["v1alpha1"] v1alpha1"#,
                r#"buckets.example.dev Bucket ["v1", "v1beta1"] v1"#
            ]
        );
    }
}
