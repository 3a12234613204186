//! Planes that the Flux Operator installs: what in a repository asks it to.
//!
//! In: the files of a snapshot. Out: an [`Instance`] for each FluxInstance, written as such or as the values of its Helm
//! chart, with the line that sets the version. Knows no cluster.

use refit_manifest::parse::NodeRef;
use refit_manifest::{Document, Path, Stream};

use crate::finding::{Code, Finding};
use crate::release::Version;
use crate::streams::Streams;

/// The group of the operator's objects.
const GROUP: &str = "fluxcd.controlplane.io/";

/// A plane that the operator installs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// The file.
    pub path: Path,
    /// The line of `spec.distribution.version`, else the one where the object begins.
    pub line: usize,
    /// The version or range of versions, where one is written.
    pub version: Option<String>,
}

impl Instance {
    /// Tells whether the operator upgrades by itself: no version, or a range of them.
    pub fn is_range(&self) -> bool {
        let exact = |text: &str| text.matches('.').count() == 2 && Version::parse(text).is_ok();
        !self.version.as_deref().is_some_and(exact)
    }

    /// Gives the place for messages.
    pub fn place(&self) -> String {
        format!("{}:{}", self.path, self.line)
    }

    /// Gives what it asks for, in words.
    pub fn asks(&self) -> String {
        match &self.version {
            Some(version) if self.is_range() => format!("the newest release of the range `{version}`"),
            Some(version) => format!("release `{version}`"),
            None => "a release".to_owned(),
        }
    }

    /// Says that no manifest is left that could be upgraded.
    pub fn alone(&self) -> Finding {
        let message = format!(
            "the Flux Operator installs {} here; no generated manifest is left that `refit` could upgrade",
            self.asks()
        );
        let remedy = format!(
            "change `spec.distribution.version` at `{}`; the operator carries the upgrade out",
            self.place()
        );
        Finding::new(Code::OperatorManaged, self.place(), message).with_remedy(remedy)
    }

    /// Says that a manifest is left beside it.
    pub fn beside(&self, files: &[Path]) -> Finding {
        let names: Vec<&str> = files.iter().map(Path::as_str).collect();
        let message = format!(
            "the Flux Operator installs {} here, and `{}` is still there: only one of the two decides what runs",
            self.asks(),
            names.join("`, `")
        );
        let remedy = format!(
            "once the operator runs Flux, remove the generated manifest and change the version at `{}` instead",
            self.place()
        );
        Finding::new(Code::OperatorManaged, self.place(), message).with_remedy(remedy)
    }
}

/// Finds every plane that the operator installs.
pub fn instances(streams: &Streams) -> Vec<Instance> {
    let mut instances = Vec::new();
    for (path, stream) in streams.iter().filter(|(path, _)| path.is_yaml()) {
        let Ok(stream) = stream else { continue };
        let mentions = |text: &str| {
            (text.contains(GROUP) && text.contains("FluxInstance"))
                || (text.contains("HelmRelease") && text.contains("distribution:"))
        };
        if mentions(stream.text()) {
            let documents = stream.documents().iter();
            instances.extend(documents.filter_map(|document| instance(path, stream, document)));
        }
    }
    instances
}

fn instance(path: &Path, stream: &Stream, document: &Document) -> Option<Instance> {
    let head = document.head();
    let of_operator = &*head.kind == "FluxInstance" && head.api_version.starts_with(GROUP);
    let of_chart = &*head.kind == "HelmRelease";
    let root = document.root().filter(|_| of_operator || of_chart)?;
    let distribution = match of_operator {
        true => root.at(&["spec", "distribution"]),
        // The chart `flux-instance` writes a FluxInstance from these values.
        false => Some(root.at(&["spec", "values", "instance", "distribution"])?),
    };
    let version = distribution.and_then(|distribution| distribution.get("version"));
    let at = version.map_or(document.body().start, |version| version.span().start);
    Some(Instance {
        path: path.clone(),
        line: line_at(stream.bytes(), at),
        version: version.and_then(NodeRef::text).map(ToOwned::to_owned),
    })
}

/// Gives the number of the line that holds an offset.
fn line_at(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use refit_manifest::{Entry, Tree};

    use super::*;

    fn check(text: &str, expected: &[(usize, &str, bool)]) {
        let mut tree = Tree::new();
        tree.insert("a/flux.yaml".into(), Entry::file(text.as_bytes()));
        let found = instances(&Streams::split(&tree));
        let found: Vec<(usize, &str, bool)> = found
            .iter()
            .map(|found| (found.line, found.version.as_deref().unwrap_or("-"), found.is_range()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_flux_instance_is_found_with_the_line_of_its_version() {
        let instance = |version: &str| {
            format!(
                "kind: ConfigMap\nmetadata: {{name: x}}\n---\napiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\n\
                 metadata:\n  name: flux\nspec:\n  distribution:\n    registry: ghcr.io/fluxcd\n    version: {version}\n"
            )
        };
        check(&instance("\"2.x\""), &[(11, "2.x", true)]);
        check(&instance("v2.7.5"), &[(11, "v2.7.5", false)]);
        check(&instance("2.7.*"), &[(11, "2.7.*", true)]);
        check(
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata: {name: flux}\n",
            &[(1, "-", true)],
        );
        check(
            "apiVersion: other/v1\nkind: FluxInstance\nmetadata: {name: flux}\n",
            &[],
        );
    }

    #[test]
    fn the_values_of_the_chart_count_too() {
        let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: flux-instance}\nspec:\n  \
                       values:\n    instance:\n      distribution:\n        version: 2.7.x\n";
        check(release, &[(8, "2.7.x", true)]);
        check(&release.replace("instance:\n", "other:\n"), &[]);
    }
}
