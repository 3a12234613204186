//! Which API groups matter, and which texts may name one.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem::{self, Finder};

/// Kinds that other well-known API groups have as well; without a group they are nobody's.
const SHARED_KINDS: [&str; 4] = ["Alert", "Bucket", "Provider", "Receiver"];

/// What stands in every part of a document that holds a place, beside the names of groups: keys of what has a type, selects or
/// points; and what lets a key stand there without its letters, a merge or an escape.
const SIGNS: [&str; 6] = ["kind", "fieldPath", "fieldref", "patch", "<<", "\\"];

/// The API groups and kinds that matter.
#[derive(Clone, Debug)]
pub struct Interest {
    kinds: BTreeMap<String, BTreeSet<String>>,
    groups: BTreeMap<String, BTreeSet<String>>,
    finders: Vec<Finder<'static>>,
    version: Finder<'static>,
    signs: Vec<Finder<'static>>,
}

/// Whose kind it is where no group is named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner<'a> {
    /// That of one group.
    Group(&'a str),
    /// Perhaps that of one group; others have the kind, too.
    Perhaps(&'a str),
    /// Nobody's that matters.
    Nobody,
}

impl Interest {
    /// Takes groups and their kinds.
    pub fn of<'a>(kinds: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        let mut owners: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (group, kind) in kinds {
            groups.entry(group.to_owned()).or_default().insert(kind.to_owned());
            owners.entry(kind.to_owned()).or_default().insert(group.to_owned());
        }
        let needles: BTreeSet<String> = groups.keys().map(|group| needle(group)).collect();
        Self {
            kinds: owners,
            groups,
            finders: needles.iter().map(|needle| Finder::new(needle).into_owned()).collect(),
            version: Finder::new("version").into_owned(),
            signs: SIGNS.iter().map(|sign| Finder::new(sign).into_owned()).collect(),
        }
    }

    /// Tells whether a group matters.
    pub fn has(&self, group: &str) -> bool {
        self.groups.contains_key(group)
    }

    /// Lists the groups.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.groups.keys().map(String::as_str)
    }

    /// Tells whose kind it is that stands without a group.
    pub fn owner(&self, kind: &str) -> Owner<'_> {
        let Some(groups) = self.kinds.get(kind) else {
            return Owner::Nobody;
        };
        let mut names = groups.iter();
        match (names.next(), names.next()) {
            (Some(only), None) if !SHARED_KINDS.contains(&kind) => Owner::Group(only),
            (Some(first), _) => Owner::Perhaps(first),
            (None, _) => Owner::Nobody,
        }
    }

    /// Tells whether a text can name a group and a version; most texts do not, and are not parsed.
    pub fn is_named_in(&self, text: &[u8]) -> bool {
        self.finders.iter().any(|finder| {
            let mut found = finder.find_iter(text).peekable();
            found.peek().is_some()
                && (self.version.find(text).is_some()
                    || found.any(|at| is_version(&text[at + finder.needle().len()..])))
        })
    }

    /// Tells whether a text can be a selector of versions without a group, or name fields of objects that stand elsewhere.
    pub fn can_select(&self, text: &[u8]) -> bool {
        let names_kind = |kind: &String| memmem::find(text, kind.as_bytes()).is_some();
        (self.version.find(text).is_some() && self.kinds.keys().any(names_kind)) || can_point(text)
    }

    /// Tells whether a part of a document can hold a place at all, by a search through its text.
    pub(crate) fn can_stand_in(&self, text: &[u8]) -> bool {
        let mut all = self.finders.iter().chain(&self.signs);
        all.any(|finder| finder.find(text).is_some())
    }

    /// Lists the groups with a version that a text names, with the place of each.
    pub(crate) fn named<'a>(&'a self, text: &'a str) -> Vec<(usize, &'a str, &'a str)> {
        let mut found = Vec::new();
        for finder in &self.finders {
            for at in finder.find_iter(text.as_bytes()) {
                let end = at + finder.needle().len();
                let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
                let start = text[..end].rfind(|c| !part(c)).map_or(0, |before| before + 1);
                let version = text[end..].strip_prefix('/').unwrap_or_default();
                let version = version
                    .split(|c: char| !c.is_ascii_alphanumeric())
                    .next()
                    .unwrap_or_default();
                if self.has(&text[start..end]) && is_version(&text.as_bytes()[end..]) {
                    found.push((start, &text[start..end], version));
                }
            }
        }
        found
    }
}

/// Tells whether a text can hold operations of a JSON patch, or a field path.
fn can_point(text: &[u8]) -> bool {
    let words = [&b"op:"[..], b"\"op\"", b"'op'", b"fieldPath", b"fieldpath"];
    words.iter().any(|word| memmem::find(text, word).is_some())
}

/// Gives the end that groups of one owner have in common: the last two parts of the domain.
fn needle(group: &str) -> String {
    let parts: Vec<&str> = group.rsplitn(3, '.').collect();
    match parts.as_slice() {
        [last, before, ..] => format!("{before}.{last}"),
        _ => group.to_owned(),
    }
}

/// How a slash is written, also as an escape.
const SLASHES: [&[u8]; 6] = [b"/", b"\\/", b"\\x2f", b"\\x2F", b"\\u002f", b"\\u002F"];

/// Tells whether a text goes on like `/v1`, or like `/` and what a variable or a template becomes.
fn is_version(rest: &[u8]) -> bool {
    let behind = SLASHES.iter().find_map(|slash| rest.strip_prefix(*slash));
    behind.is_some_and(|behind| match behind {
        [b'v', digit, ..] => digit.is_ascii_digit(),
        behind => behind.starts_with(b"$") || behind.starts_with(b"{{"),
    })
}

/// Tells whether a version is put together by a variable or a template, so that it is not known.
pub(crate) fn is_computed(version: &str) -> bool {
    version.contains('$') || version.contains("{{")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interest() -> Interest {
        Interest::of([
            ("source.toolkit.fluxcd.io", "Bucket"),
            ("helm.toolkit.fluxcd.io", "HelmRelease"),
        ])
    }

    #[test]
    fn texts_that_name_no_group_with_a_version_are_passed_over() {
        let named = |text: &str| interest().is_named_in(text.as_bytes());
        assert!(named("apiVersion: helm.toolkit.fluxcd.io/v2"));
        assert!(named("{\"group\": \"helm.toolkit.fluxcd.io\", \"version\": \"v2\"}"));
        assert!(named("{\"apiVersion\": \"helm.toolkit.fluxcd.io\\/v2beta1\"}"));
        assert!(named("apiVersion: \"helm.toolkit.fluxcd.io\\x2fv2beta1\""));
        assert!(named("apiVersion: helm.toolkit.fluxcd.io/${V:=v2beta1}"));
        assert!(named("apiVersion: helm.toolkit.fluxcd.io/{{ .Values.version }}"));
        assert!(!named("annotations: {kustomize.toolkit.fluxcd.io/prune: disabled}"));
        assert!(!named("apiVersion: v1\nkind: Service"));
    }

    #[test]
    fn a_part_of_a_document_without_the_words_of_a_place_is_passed_over() {
        let can = |text: &str| interest().can_stand_in(text.as_bytes());
        assert!(!can("replicas: 2\nimage: {tag: v1}"));
        assert!(can("sourceRef: {kind: Bucket}") && can("text: fluxcd.io/v1"));
        assert!(can("<<: *base") && can("\"ki\\x6ed\": Bucket") && can("patch: |\n  - op: remove"));
    }

    #[test]
    fn a_kind_without_a_group_is_that_of_its_only_owner() {
        assert_eq!(interest().owner("HelmRelease"), Owner::Group("helm.toolkit.fluxcd.io"));
        assert_eq!(interest().owner("Bucket"), Owner::Perhaps("source.toolkit.fluxcd.io"));
        assert_eq!(interest().owner("Deployment"), Owner::Nobody);
    }

    #[test]
    fn mentions_are_found_within_longer_words() {
        let interest = interest();
        let found = interest.named("get x.helm.toolkit.fluxcd.io/v2 or helm.toolkit.fluxcd.io/v2beta1/HelmRelease");
        assert_eq!(found, [(35, "helm.toolkit.fluxcd.io", "v2beta1")]);
    }
}
