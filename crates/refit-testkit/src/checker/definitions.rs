//! Reads from CustomResourceDefinitions how the lists of custom resources are keyed.
//!
//! In: the definitions of theirs, and others as YAML. Out: keys by group, kind and place. Independent of the product's
//! own reader.

use super::dom::{self, Node};
use super::keys::Rule;
use super::objects::{Name, Side};
use super::step::Step;

/// The keyed lists of one kind.
struct Listing {
    group: String,
    kind: String,
    /// The keys of maps on the way, `[]` for items and `*` for any key.
    place: Vec<String>,
    rule: Rule,
}

/// All keyed lists of custom resources.
#[derive(Default)]
pub(super) struct ListTable(Vec<Listing>);

impl ListTable {
    /// Reads the definitions of a side and of a text.
    pub(super) fn read(side: &Side, text: &str) -> Self {
        let others = dom::read(text.as_bytes()).unwrap_or_default();
        let mut table = Self::default();
        for root in side.documents().map(|(_, document)| &document.root).chain(&others) {
            table.definition(root);
        }
        table
    }

    fn definition(&mut self, root: &Node) {
        if root.get("kind").and_then(Node::text) != Some("CustomResourceDefinition") {
            return;
        }
        let Some(spec) = root.get("spec") else { return };
        let text = |node: Option<&Node>| node.and_then(Node::text).unwrap_or_default().to_owned();
        let owner = (
            text(spec.get("group")),
            text(spec.get("names").and_then(|names| names.get("kind"))),
        );
        for version in spec.get("versions").map(Node::items).unwrap_or_default() {
            if let Some(schema) = version.get("schema").and_then(|schema| schema.get("openAPIV3Schema")) {
                self.schema(&owner, &mut Vec::new(), schema);
            }
        }
    }

    fn schema(&mut self, owner: &(String, String), place: &mut Vec<String>, schema: &Node) {
        if schema.get("x-kubernetes-list-type").and_then(Node::text) == Some("map") {
            let keys = schema
                .get("x-kubernetes-list-map-keys")
                .map(Node::items)
                .unwrap_or_default();
            let properties = schema.get("items").and_then(|items| items.get("properties"));
            let default = |key: &str| properties?.get(key)?.get("default")?.text().map(str::to_owned);
            let field = |key: &str| (key.to_owned(), default(key));
            let fields = keys.iter().filter_map(Node::text).map(field).collect();
            let (group, kind) = owner.clone();
            self.0.push(Listing {
                group,
                kind,
                place: place.clone(),
                rule: Rule::Fields(fields),
            });
        }
        let named = schema.get("properties").map(Node::entries).unwrap_or_default();
        let named = named.iter().map(|(key, child)| (key.text().unwrap_or_default(), child));
        let items = schema.get("items").map(|child| ("[]", child));
        let any = schema.get("additionalProperties").map(|child| ("*", child));
        for (part, child) in named.chain(items).chain(any) {
            place.push(part.to_owned());
            self.schema(owner, place, child);
            place.pop();
        }
    }

    /// Gives how the definition of an object keys a list.
    pub(super) fn rule(&self, name: &Name, steps: &[Step]) -> Option<&Rule> {
        let Name::Object {
            id: [group, kind, ..], ..
        } = name
        else {
            return None;
        };
        let fits = |listing: &&Listing| {
            listing.group == *group
                && listing.kind == *kind
                && listing.place.len() == steps.len()
                && listing.place.iter().zip(steps).all(|(part, step)| match step {
                    Step::Element(_) => part == "[]",
                    Step::Key(key) => part == "*" || part == key,
                })
        };
        self.0.iter().find(fits).map(|listing| &listing.rule)
    }
}
