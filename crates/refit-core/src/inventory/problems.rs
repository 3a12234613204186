//! Findings about files that cannot be read, or that say two things.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::reach;
use refit_manifest::{Path, Stream, parse, stream};

use super::GeneratedFile;
use crate::catalog::Catalog;
use crate::configuration::{NamedCluster, Spec};
use crate::detect::Source;
use crate::finding::{Code, Finding};
use crate::generated::{Definition, Generated, Role};
use crate::options::OddDomain;
use crate::roots::Root;
use crate::snapshot::{SIZE_LIMIT, Snapshot};
use crate::streams::Streams;

/// The most objects that a finding names.
const NAMED: usize = 3;

/// A file that is no stream of documents at all.
pub(super) fn unsplit(path: &Path, error: &stream::Error) -> Finding {
    match error {
        stream::Error::NotUtf8 { offset } => {
            Finding::new(Code::InvalidUtf8, path.as_str(), format!("byte {offset} is not UTF-8"))
        }
        stream::Error::TooLarge { size } => Finding::new(
            Code::UnreadableFile,
            path.as_str(),
            format!("{size} bytes are too many for a manifest"),
        ),
        stream::Error::ConflictMarker { line } => conflict(path, *line),
    }
}

/// The documents of a file that do not parse.
pub(super) fn unparsed(path: &Path, stream: &Arc<Stream>) -> Vec<Finding> {
    let errors = stream.documents().iter().filter_map(|document| document.parsed().err());
    errors.map(|error| unparsed_document(path, error)).collect()
}

/// What is wrong with a file beside the generated ones.
pub(super) fn in_file(streams: &Streams, path: &Path) -> Vec<Finding> {
    match streams.of(path) {
        None => Vec::new(),
        Some(Ok(stream)) => unparsed(path, stream),
        Some(Err(error)) => vec![unsplit(path, error)],
    }
}

fn unparsed_document(path: &Path, error: &parse::Error) -> Finding {
    match error {
        parse::Error::Syntax { line, column, reason } => {
            let subject = format!("{path}:{line}:{column}");
            Finding::new(Code::UnreadableFile, subject, format!("it is not YAML: {reason}"))
        }
        parse::Error::AliasLoop { line } | parse::Error::TooManyAliases { line } => {
            Finding::new(Code::TooDeep, format!("{path}:{line}"), error.to_string())
        }
        parse::Error::TooDeep { line, limit } => Finding::new(
            Code::TooDeep,
            format!("{path}:{line}"),
            format!("it nests deeper than {limit} levels"),
        ),
    }
}

fn conflict(path: &Path, line: usize) -> Finding {
    Finding::new(
        Code::ConflictMarkers,
        format!("{path}:{line}"),
        "Git left a conflict marker on this line",
    )
}

/// The same problem in a file that belongs to no plane.
pub(super) fn elsewhere(finding: &Finding) -> Finding {
    Finding::new(
        Code::UnreadableElsewhere,
        finding.subject.as_str(),
        finding.message.as_str(),
    )
}

/// The clusters that the configuration names and that are not there.
pub(super) fn unfound(said: &Spec, roots: &[Root]) -> Vec<Finding> {
    let missing = said
        .clusters
        .iter()
        .filter(|named| roots.iter().all(|root| root.name != named.name));
    let finding = |named: &NamedCluster| {
        let message = format!("no generated manifest is synchronised by or stands in `{}`", named.path);
        Finding::new(Code::ConfiguredClusterMissing, named.name.as_str(), message)
    };
    missing.map(finding).collect()
}

/// A file that waits for its content.
pub(super) fn placeholder(path: &Path) -> Finding {
    Finding::new(Code::PlaceholderManifest, path.as_str(), "it holds no objects")
}

/// A file whose evidence does not choose a version.
pub(super) fn unclear(file: &GeneratedFile) -> Finding {
    let candidates: Vec<String> = file
        .detection
        .candidates
        .iter()
        .map(|version| format!("`{version}`"))
        .collect();
    let message = match candidates.as_slice() {
        [] => {
            let images = file
                .detection
                .evidence
                .iter()
                .find(|evidence| evidence.source == Source::Images);
            let seen = images
                .map(|images| format!("; its images are {}", images.seen))
                .unwrap_or_default();
            format!("neither labels, images, definitions nor header name a release{seen}")
        }
        several => format!("it can be {}", several.join(" or ")),
    };
    Finding::new(Code::VersionUnclear, file.path.as_str(), message)
}

/// A file whose evidence names more than one version.
pub(super) fn mixed(file: &GeneratedFile) -> Option<Finding> {
    let mixed = &file.detection.mixed;
    let version = file.detection.version.as_ref()?;
    if mixed.is_empty() {
        return None;
    }
    let named: Vec<String> = mixed
        .iter()
        .take(NAMED)
        .map(|mixed| {
            let says = match mixed.source {
                Source::Header => "the header says".to_owned(),
                source => format!("the {} of {} say", source.word(), mixed.subject),
            };
            format!("{says} `{}`, not `{}`", mixed.found, mixed.expected)
        })
        .collect();
    let more = match mixed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let message = format!("most of it is {version}, but {}{more}", named.join(", "));
    Some(Finding::new(Code::MixedState, file.path.as_str(), message))
}

/// Files of a cluster that are too large to be read, and so were left out; `large` are those of the repository.
pub(super) fn too_large(root: &Root, large: &[(&Path, u64)]) -> Vec<Finding> {
    let inside = large
        .iter()
        .filter(|(path, _)| reach::is_inside(path.as_str(), &root.directory) && !root.generated.contains(path));
    let finding = |(path, size): &(&Path, u64)| {
        let message = format!("{size} bytes are too many for a manifest; it was not read");
        Finding::new(Code::UnreadableElsewhere, path.as_str(), message)
    };
    inside.map(finding).collect()
}

/// Lists the manifests of a repository that are too large to be read.
pub(super) fn large(snapshot: &Snapshot) -> Vec<(&Path, u64)> {
    let large = snapshot
        .paths
        .iter()
        .filter(|(path, seen)| seen.size > SIZE_LIMIT && path.is_yaml());
    large.map(|(path, seen)| (path, seen.size)).collect()
}

/// Gives the namespaces in which controllers of a manifest stand, where one controller stands in several; else nothing.
pub(super) fn planes(manifest: &Generated<'_>) -> BTreeSet<String> {
    let mut places: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    let controllers = manifest.parts.iter().filter_map(|part| match &part.role {
        Role::Controller(controller) => Some((controller.name, part.identity.namespace.to_string())),
        _ => None,
    });
    for (name, namespace) in controllers {
        places.entry(name).or_default().insert(namespace);
    }
    places
        .into_values()
        .filter(|places| places.len() > 1)
        .flatten()
        .collect()
}

/// A file with the controllers of several planes.
pub(super) fn several_planes(file: &GeneratedFile) -> Option<Finding> {
    let names: Vec<String> = file.namespaces.iter().map(|name| format!("`{name}`")).collect();
    (names.len() > 1).then(|| {
        let message = format!(
            "it holds the same controllers in the namespaces {}",
            names.join(" and ")
        );
        Finding::new(Code::SeveralPlanes, file.path.as_str(), message)
    })
}

/// Files of one cluster that define the same kinds in other versions: the cluster has what was applied last, so nothing that
/// one of them says of served and stored versions holds.
pub(super) fn contrary(files: &[GeneratedFile], catalog: &Catalog) -> Vec<Finding> {
    let mut first: BTreeMap<String, (&GeneratedFile, Definition)> = BTreeMap::new();
    let mut found = Vec::new();
    for file in files.iter().filter(|_| files.len() > 1) {
        let manifest = Generated::read(&file.stream, catalog);
        let mut others: BTreeMap<&Path, (&GeneratedFile, Vec<&str>)> = BTreeMap::new();
        for (crd, definition) in manifest.definitions() {
            match first.get(crd) {
                Some((other, known)) if !serves_the_same(known, definition) => {
                    others.entry(&other.path).or_insert((other, Vec::new())).1.push(crd);
                }
                Some(_) => {}
                None => {
                    first.insert(crd.to_owned(), (file, definition.clone()));
                }
            }
        }
        found.extend(others.into_values().map(|(other, crds)| differing(file, other, &crds)));
    }
    found
}

fn serves_the_same(one: &Definition, other: &Definition) -> bool {
    let served = |definition: &Definition| definition.served().map(ToOwned::to_owned).collect::<BTreeSet<String>>();
    one.storage() == other.storage() && served(one) == served(other)
}

fn differing(file: &GeneratedFile, other: &GeneratedFile, crds: &[&str]) -> Finding {
    let version = |file: &GeneratedFile| {
        let version = file.detection.version.as_ref();
        version.map_or_else(|| "of an unclear release".to_owned(), ToString::to_string)
    };
    let named: Vec<String> = crds.iter().take(NAMED).map(|crd| format!("`{crd}`")).collect();
    let more = match crds.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "it is {} and has other versions than `{}`, which is {}, in {}{more}: the cluster has what is applied last",
        version(file),
        other.path,
        version(other),
        named.join(", ")
    );
    Finding::new(Code::SeveralPlanes, file.path.as_str(), message)
        .with_remedy("take one of the two files away, or bring both to one release by hand first")
}

/// Controllers whose addresses name a domain that looks mistyped.
pub(super) fn odd_domain(file: &GeneratedFile, odd: &OddDomain) -> Finding {
    let message = format!(
        "{} of {} {} the domain `{}`, perhaps mistyped for `{}`; it is kept",
        if odd.controllers.len() == 1 {
            "an argument"
        } else {
            "arguments"
        },
        odd.controllers.join(", "),
        if odd.controllers.len() == 1 { "names" } else { "name" },
        odd.domain,
        odd.expected
    );
    Finding::new(Code::OddClusterDomain, file.path.as_str(), message)
}

/// What stands where a generated manifest belongs and cannot be one: a link, a pointer of Git LFS, a file that is too
/// large to be read.
pub(super) fn unread(path: &Path, snapshot: &Snapshot) -> Option<Finding> {
    let seen = snapshot.paths.get(path)?;
    let pointer = snapshot
        .tree
        .bytes(path)
        .is_some_and(|bytes| bytes.starts_with(b"version https://git-lfs.github.com/spec/"));
    if seen.linked {
        let message = "a symbolic link stands here; what it points to is not read";
        return Some(Finding::new(Code::LinkedFile, path.as_str(), message));
    }
    if pointer {
        let message = "it is a pointer of Git LFS; the manifest itself is not in the repository";
        return Some(Finding::new(Code::FilteredFile, path.as_str(), message).with_remedy(
            "commit the manifest itself: `git lfs untrack` it, or exclude it in .gitattributes, and add it again",
        ));
    }
    (seen.size > SIZE_LIMIT).then(|| {
        let message = format!(
            "{} bytes are too many for a manifest; at most {SIZE_LIMIT} are read",
            seen.size
        );
        Finding::new(Code::UnreadableFile, path.as_str(), message)
            .with_remedy("commit the manifest as the generator wrote it, and keep other data in files of their own")
    })
}

/// Tells whether an image has the name that a kustomization uses: all before tag and digest.
pub(super) fn is_image(image: &str, name: &str) -> bool {
    let rest = image.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':') || rest.starts_with('@'))
}

/// Leaves out what clusters tell already: the same place and the same words, though it may have a milder name here.
pub(super) fn leave_out<'a>(findings: &mut Vec<Finding>, told: impl Iterator<Item = &'a Finding>) {
    let told: BTreeSet<(&str, &str)> = told.map(|finding| (&*finding.subject, &*finding.message)).collect();
    findings.retain(|finding| !told.contains(&(&finding.subject, &finding.message)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_problem_is_left_out_not_another_one_of_the_same_file() {
        let file = "clusters/a/gotk-components.yaml";
        let marker = conflict(&Path::from(file), 3);
        let told = [marker.clone(), placeholder(&Path::from("b.yaml"))];
        let other = Finding::new(Code::TooDeep, format!("{file}:3"), "it nests deeper than 100 levels");
        let elsewhere_in_it = conflict(&Path::from(file), 9);
        let mut findings = vec![elsewhere(&marker), other.clone(), elsewhere_in_it.clone()];
        leave_out(&mut findings, told.iter());
        assert_eq!(findings, [other, elsewhere_in_it]);
    }
}
