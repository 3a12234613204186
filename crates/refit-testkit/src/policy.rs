//! Reads a file of merge cases: base, ours, theirs and what must come out.
//!
//! In: the file's bytes. Out: cases. The second parser reads it, not the product's.

use refit_core::catalog::Catalog;
use refit_manifest::convert::Rule;
use refit_manifest::{Entry, Path, Tree};

use crate::checker::dom::{self, Node};

/// One case of the policy.
#[derive(Clone, Debug)]
pub struct PolicyCase {
    /// The short name.
    pub id: String,
    /// What it shows.
    pub title: String,
    /// The generated files of the old version.
    pub base: Tree,
    /// The files of the user.
    pub ours: Tree,
    /// The generated files of the new version.
    pub theirs: Tree,
    /// What the merge must give.
    pub expected: Tree,
    /// The word of the strongest outcome.
    pub outcome: String,
    /// A message as people would see it.
    pub message: String,
    /// A CustomResourceDefinition that states the list keys, where the case has some.
    pub definition: Option<String>,
}

/// Reads all cases; the parser's complaint when the file cannot be read.
pub fn read(bytes: &[u8]) -> Result<Vec<PolicyCase>, String> {
    let documents = dom::read(bytes)?;
    Ok(documents.iter().flat_map(Node::items).map(case).collect())
}

/// Gives the embedded rules of conversion that cases use.
pub fn rules() -> Vec<Rule> {
    let catalog = Catalog::flux().expect("the embedded catalog can be read");
    let newest = catalog.newest().expect("the catalog has releases");
    catalog.rules().open_at(newest).into_iter().cloned().collect()
}

fn case(node: &Node) -> PolicyCase {
    let text = |key: &str| node.get(key).and_then(Node::text).unwrap_or_default().to_owned();
    let tree = |key: &str| {
        let files = node.get(key).map(Node::entries).unwrap_or_default();
        let file = |(path, content): &(Node, Node)| {
            let bytes = content.text().unwrap_or_default().as_bytes();
            (Path::from(path.text().unwrap_or_default()), Entry::file(bytes))
        };
        files.iter().map(file).collect()
    };
    PolicyCase {
        id: text("id"),
        title: text("title"),
        base: tree("base"),
        ours: tree("ours"),
        theirs: tree("theirs"),
        expected: tree("expected"),
        outcome: text("outcome"),
        message: text("message"),
        definition: node.get("schema").map(definition),
    }
}

/// Writes the definition that a case describes by group, kind, path and keys.
fn definition(schema: &Node) -> String {
    let text = |key: &str| schema.get(key).and_then(Node::text).unwrap_or_default();
    let keys: Vec<&str> = schema
        .get("listMapKeys")
        .map(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(Node::text)
        .collect();
    let mut out = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: a.{group}\nspec:\n  \
         group: {group}\n  names: {{kind: {kind}}}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    \
         schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n",
        group = text("group"),
        kind = text("kind"),
    );
    let parts: Vec<&str> = text("path").split('.').collect();
    let mut indent = 10;
    for (index, part) in parts.iter().enumerate() {
        let pad = " ".repeat(indent);
        out.push_str(&format!("{pad}{part}:\n"));
        if index + 1 < parts.len() {
            out.push_str(&format!("{pad}  type: object\n{pad}  properties:\n"));
        } else {
            out.push_str(&format!(
                "{pad}  type: array\n{pad}  x-kubernetes-list-type: {}\n{pad}  x-kubernetes-list-map-keys: [{}]\n{pad}  \
                 items:\n{pad}    type: object\n{pad}    properties:\n",
                text("listType"),
                keys.join(", ")
            ));
            for key in &keys {
                out.push_str(&format!("{pad}      {key}: {{type: string}}\n"));
            }
        }
        indent += 4;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_case_is_read_with_its_definition() {
        let text = "- id: X\n  base: {a.yaml: \"k: 1\\n\"}\n  outcome: clean\n  schema: {group: g.dev, kind: K, path: \
                    spec.l, listType: map, listMapKeys: [a]}\n";
        let cases = read(text.as_bytes()).expect("a file of cases");
        let definition = cases[0].definition.as_deref().expect("a definition");
        assert!(definition.contains("    spec:\n") && definition.contains("x-kubernetes-list-map-keys: [a]"));
        assert_eq!(
            cases[0].base.bytes(&"a.yaml".into()).map(|bytes| bytes.to_vec()),
            Some(b"k: 1\n".to_vec())
        );
    }
}
