//! What a mapping is, by its keys.

use refit_manifest::parse::{Kind, NodeRef};
use refit_manifest::{Document, Stream};

/// The type that a mapping states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'a> {
    pub(super) node: NodeRef<'a>,
    pub(super) group: &'a str,
    pub(super) version: &'a str,
    pub(super) kind: &'a str,
}

/// Reads `apiVersion` and `kind`; `None` where one is missing or no string.
pub(super) fn head(mapping: NodeRef<'_>) -> Option<Head<'_>> {
    let node = mapping.get("apiVersion")?.target();
    let (group, version) = node.text()?.split_once('/').unwrap_or(("", node.text()?));
    Some(Head {
        node,
        group,
        version,
        kind: mapping.get("kind")?.text()?,
    })
}

/// Reads `version` and `kind`, and the group where there is one.
pub(super) fn selector(mapping: NodeRef<'_>) -> Option<Head<'_>> {
    let text = |key: &str| mapping.get(key).and_then(NodeRef::text);
    let node = mapping.get("version")?.target();
    Some(Head {
        node,
        group: text("group").unwrap_or_default(),
        version: node.text()?,
        kind: text("kind")?,
    })
}

/// Tells whether a mapping with a type is a whole object or a part of one, and no mere reference.
pub(super) fn is_object(mapping: NodeRef<'_>) -> bool {
    ["metadata", "spec", "data", "items"]
        .iter()
        .any(|key| mapping.get(key).is_some())
}

/// Tells whether SOPS encrypted an object: a checksum covers all of it.
pub(super) fn is_sealed(mapping: NodeRef<'_>) -> bool {
    let sops = mapping.get("sops");
    sops.is_some_and(|sops| sops.get("mac").is_some() || sops.get("lastmodified").is_some())
}

/// Tells whether a mapping writes a value itself, and no alias stands for it.
pub(super) fn is_own(mapping: NodeRef<'_>, value: NodeRef<'_>) -> bool {
    value.anchor().is_none() && mapping.entries().any(|(_, own)| own == value)
}

/// Tells whether several branches of a template write the type of an object.
pub(super) fn is_branched(mapping: NodeRef<'_>) -> bool {
    let times = |key: &str| mapping.entries().filter(|(name, _)| name.text() == Some(key)).count();
    mapping.parsed().is_masked() && (times("apiVersion") > 1 || times("kind") > 1)
}

/// Names an object.
pub(super) fn describe(mapping: NodeRef<'_>) -> String {
    let text = |path: &[&str]| mapping.at(path).and_then(NodeRef::text).unwrap_or_default();
    let (kind, name, namespace) = (
        text(&["kind"]),
        text(&["metadata", "name"]),
        text(&["metadata", "namespace"]),
    );
    match (kind, name, namespace) {
        ("", "", _) => "the file".to_owned(),
        (kind, "", _) => kind.to_owned(),
        (kind, name, "") => format!("{kind}/{name}"),
        (kind, name, namespace) => format!("{kind}/{name} in {namespace}"),
    }
}

/// Tells whether a text is laid out like a mapping or a list, so that it may be one.
pub(super) fn looks_structured(text: &str) -> bool {
    text.contains('\n') || text.trim_start().starts_with(['{', '['])
}

/// Tells whether a node is a mapping or a sequence.
pub(super) fn is_collection(node: NodeRef<'_>) -> bool {
    matches!(node.kind(), Kind::Mapping(_) | Kind::Sequence(_))
}

/// Tells whether a text is a version or kind and no pattern of them.
pub(super) fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Lists what the branches of a template write as the version, without the one that counts.
pub(super) fn other_branches<'a>(mapping: NodeRef<'a>, own: Head<'a>) -> Vec<Head<'a>> {
    let versions = mapping.entries().filter(|(key, _)| key.text() == Some("apiVersion"));
    let heads = versions.filter_map(|(_, node)| {
        let (group, version) = node.text()?.split_once('/')?;
        (node != own.node).then_some(Head {
            node,
            group,
            version,
            ..own
        })
    });
    heads.collect()
}

/// Tells whether a text is a group and no pattern of groups.
pub(super) fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-'))
}

/// Tells whether every document of a text is a mapping or a sequence.
pub(super) fn is_structured(stream: &Stream) -> bool {
    let fits = |document: &Document| document.is_empty() || document.root().is_some_and(is_collection);
    stream.documents().iter().all(fits)
}

/// Finds the scalar that begins at an offset.
pub(super) fn find_at(root: NodeRef<'_>, start: usize) -> Option<NodeRef<'_>> {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        match node.kind() {
            Kind::Scalar(_) if node.span().start == start => return Some(node),
            Kind::Scalar(_) | Kind::Alias => {}
            Kind::Mapping(_) => open.extend(node.entries().map(|(_, value)| value)),
            Kind::Sequence(_) => open.extend(node.items()),
        }
    }
    None
}
