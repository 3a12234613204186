//! Findings about files that cannot be read, or that say two things.

use std::sync::Arc;

use refit_manifest::{Path, Stream, Tree, parse, stream};

use super::{Cluster, GeneratedFile};
use crate::configuration::{NamedCluster, Spec};
use crate::detect::Source;
use crate::finding::{Code, Finding};
use crate::roots::Root;

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
pub(super) fn in_file(tree: &Tree, path: &Path) -> Vec<Finding> {
    match tree.bytes(path).map(|bytes| Stream::split(Arc::clone(bytes))) {
        None => Vec::new(),
        Some(Ok(stream)) => unparsed(path, &Arc::new(stream)),
        Some(Err(error)) => vec![unsplit(path, &error)],
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
        [] => "neither labels, images, definitions nor header name a release".to_owned(),
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
            format!(
                "the {} of {} {} `{}`, not `{}`",
                mixed.source.word(),
                mixed.subject,
                if mixed.source == Source::Header { "says" } else { "say" },
                mixed.found,
                mixed.expected
            )
        })
        .collect();
    let more = match mixed.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let message = format!("most of it is {version}, but {}{more}", named.join(", "));
    Some(Finding::new(Code::MixedState, file.path.as_str(), message))
}

/// Tells whether an image has the name that a kustomization uses: all before tag and digest.
pub(super) fn is_image(image: &str, name: &str) -> bool {
    let rest = image.strip_prefix(name);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':') || rest.starts_with('@'))
}

/// Tells whether a cluster has a finding about the same file.
pub(super) fn names(cluster: &Cluster, subject: &str) -> bool {
    let file = subject.split(':').next().unwrap_or(subject);
    cluster
        .findings
        .iter()
        .any(|finding| finding.subject.split(':').next() == Some(file))
}
