//! Definitions that a user copied into a manifest from another release.
//!
//! In: a generated file, what the generator wrote for the installed release, and contents of other releases. Out: a base
//! in which each such definition is the other release's. A definition counts only when its whole `spec` is equal: nothing
//! is guessed.

use std::sync::Arc;

use refit_manifest::edit::{self, Splice};
use refit_manifest::parse::{NodeRef, same};
use refit_manifest::{Document, Identity, Stream};

use crate::catalog::Catalog;
use crate::detect;
use crate::finding::{Code, Finding};
use crate::generated::{Generated, VERSION_LABEL};
use crate::inventory::GeneratedFile;
use crate::release::Version;

/// The most releases whose contents are compared.
const RELEASES_LIMIT: usize = 6;

/// The most definitions that a finding names.
const NAMED: usize = 2;

/// A base with the definitions of another release in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebased {
    /// The base.
    pub bytes: Arc<[u8]>,
    /// The names of the definitions.
    pub names: Vec<String>,
}

/// Lists the releases that definitions of a file may have been copied from, the likeliest first: those whose API
/// versions they have, near to the installed release. Empty where all definitions have the installed release's versions.
pub fn releases(file: &GeneratedFile, catalog: &Catalog) -> Vec<Version> {
    let Some(installed) = file.detection.version.as_ref().filter(|version| catalog.knows(version)) else {
        return Vec::new();
    };
    let manifest = Generated::read(&file.stream, catalog);
    let fits = |version: &Version| {
        let known = manifest
            .definitions()
            .filter(|(name, _)| catalog.resource(name).is_some());
        let copied = known.filter(|(name, found)| !detect::is_definition_of(name, found, installed, catalog));
        copied
            .filter(|(name, found)| detect::is_definition_of(name, found, version, catalog))
            .count()
    };
    let releases = catalog.releases().iter().map(|release| &release.version);
    let at = |version: &Version| releases.clone().position(|known| known == version).unwrap_or(0);
    let here = at(installed);
    let mut fitting: Vec<(usize, usize, &Version)> = releases
        .clone()
        .map(|version| (fits(version), at(version).abs_diff(here), version))
        .filter(|(count, _, version)| *count > 0 && *version != installed)
        .collect();
    fitting.sort_by_key(|(count, distance, _)| (usize::MAX - count, *distance));
    fitting.truncate(RELEASES_LIMIT);
    fitting.into_iter().map(|(_, _, version)| version.clone()).collect()
}

/// Puts the definitions that ours has from another release into the base; `None` where there is none.
pub fn rebase(base: &Arc<[u8]>, ours: &Stream, other: &Stream) -> Option<Rebased> {
    let stream = Stream::split(Arc::clone(base)).ok()?;
    let mut splices = Vec::new();
    let mut names = Vec::new();
    let mut added = String::new();
    for (identity, own) in definitions(ours) {
        let Some(theirs) = find(other, identity).filter(|theirs| has_same_spec(own, theirs)) else {
            continue;
        };
        let installed = find(&stream, identity);
        let text = with_head(theirs, own, installed);
        match installed {
            Some(known) if known.body_text() == own.body_text() || has_same_spec(own, known) => continue,
            Some(known) => splices.push(Splice {
                range: known.body(),
                text,
            }),
            None => added.push_str(&format!("---\n{text}")),
        }
        names.push(identity.name.to_string());
    }
    if names.is_empty() {
        return None;
    }
    let mut bytes = edit::apply(base, &splices).ok()?.to_vec();
    if !added.is_empty() && !bytes.ends_with(b"\n") {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(added.as_bytes());
    Some(Rebased {
        bytes: bytes.into(),
        names,
    })
}

/// Says which definitions are those of another release.
pub fn finding(file: &GeneratedFile, release: &Version, names: &[String]) -> Finding {
    let named: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "{}{more} {} as {release} has {}: they follow the upgrade like text that the generator wrote",
        named.join(", "),
        if names.len() == 1 { "is" } else { "are" },
        if names.len() == 1 { "it" } else { "them" },
    );
    Finding::new(Code::DefinitionsCopied, file.path.as_str(), message)
}

fn definitions(stream: &Stream) -> impl Iterator<Item = (&Identity, &Document)> {
    stream
        .objects()
        .filter(|(identity, _)| identity.kind.as_ref() == "CustomResourceDefinition")
}

fn find<'a>(stream: &'a Stream, wanted: &Identity) -> Option<&'a Document> {
    let mut found = definitions(stream).filter(|(identity, _)| *identity == wanted);
    found.next().map(|(_, document)| document)
}

fn has_same_spec(one: &Document, other: &Document) -> bool {
    let texts = (spec_text(one), spec_text(other));
    if matches!(texts, (Some(one), Some(other)) if one == other) {
        return true;
    }
    matches!((spec(one), spec(other)), (Some(one), Some(other)) if same(one, other))
}

fn spec_text(document: &Document) -> Option<&str> {
    let (_, text) = document.body_text().split_once("\nspec:\n")?;
    Some(text.trim_end())
}

fn spec(document: &Document) -> Option<NodeRef<'_>> {
    at(document, &["spec"])
}

fn label(document: &Document) -> Option<&str> {
    at(document, &["metadata", "labels", VERSION_LABEL])?.text()
}

fn at<'a>(document: &'a Document, path: &[&str]) -> Option<NodeRef<'a>> {
    document.root()?.at(path)
}

/// Gives the other release's definition with the head that ours has, as far as a generator wrote it: the version label is
/// no edit, and neither are the annotations of the installed release.
fn with_head(theirs: &Document, own: &Document, installed: Option<&Document>) -> String {
    let annotations = |document: &Document, other: &Document| {
        let of = |document| at(document, &["metadata", "annotations"]);
        matches!((of(document), of(other)), (Some(a), Some(b)) if same(a, b))
    };
    let head = installed
        .filter(|installed| annotations(installed, own))
        .unwrap_or(theirs);
    let text = match (
        head.body_text().split_once("\nspec:\n"),
        theirs.body_text().split_once("\nspec:\n"),
    ) {
        (Some((head, _)), Some((_, spec))) => format!("{head}\nspec:\n{spec}"),
        _ => theirs.body_text().to_owned(),
    };
    match (label(head), label(own)) {
        (Some(old), Some(new)) => text.replacen(
            &format!("{VERSION_LABEL}: {old}\n"),
            &format!("{VERSION_LABEL}: {new}\n"),
            1,
        ),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(label: &str, spec: &str) -> String {
        format!(
            "---\napiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  labels:\n    \
             app.kubernetes.io/version: {label}\n  name: a.b.c\nspec:\n  text: {spec}\n"
        )
    }

    fn check(ours: &str, expected: Option<&str>) {
        let split = |text: &str| Stream::split(text.as_bytes().into()).unwrap();
        let base: Arc<[u8]> = definition("v1", "old").into_bytes().into();
        let found = rebase(&base, &split(ours), &split(&definition("v2", "new")));
        let text = found.map(|found| String::from_utf8(found.bytes.to_vec()).unwrap());
        assert_eq!(text.as_deref(), expected, "{ours}");
    }

    #[test]
    fn a_definition_equal_to_that_of_the_other_release_is_its_base_with_the_label_of_ours() {
        let wanted = definition("v1", "new");
        check(&wanted, Some(&wanted));
        check(&definition("v2", "new"), Some(&definition("v2", "new")));
        let reformatted = definition("v1", "\"new\"   # copied");
        check(&reformatted, Some(&wanted));
    }

    #[test]
    fn an_own_or_edited_definition_is_left_to_the_merge() {
        check(&definition("v1", "old"), None);
        check(&definition("v1", "mine"), None);
        check("kind: A\nmetadata: {name: a}\n", None);
    }
}
