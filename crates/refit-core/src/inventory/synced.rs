//! What a Flux Kustomization does to the objects of a cluster after they are built.

use refit_manifest::Document;

use super::Root;
use crate::finding::{Code, Finding};
use crate::roots;
use crate::streams::Streams;

/// The fields that patch the built objects.
const FIELDS: [&str; 4] = ["patches", "patchesStrategicMerge", "patchesJson6902", "components"];

/// Says that patches of the Flux Kustomization itself are not evaluated.
pub(super) fn unevaluated(root: &Root, streams: &Streams) -> Vec<Finding> {
    let mut findings = Vec::new();
    for path in &root.build.resources {
        let Some(stream) = streams.get(path) else { continue };
        for document in stream.documents().iter().filter(|document| is_of(document, root)) {
            let spec = document.root().and_then(|node| node.get("spec"));
            for field in FIELDS {
                let Some(node) = spec
                    .and_then(|spec| spec.get(field))
                    .filter(|node| node.items().next().is_some())
                else {
                    continue;
                };
                let before = &node.bytes()[..node.span().start];
                let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
                let message = format!(
                    "`spec.{field}` of `Kustomization/{}` is applied by Flux after the build; what the upgrade does to it was \
                     not looked at",
                    document.head().name
                );
                findings.push(Finding::new(
                    Code::OverlayNotEvaluated,
                    format!("{path}:{line}"),
                    message,
                ));
            }
        }
    }
    findings
}

/// Tells whether a document is the Flux Kustomization that synchronises the cluster.
fn is_of(document: &Document, root: &Root) -> bool {
    roots::directory_of(document).as_ref() == Some(&root.directory)
}

#[cfg(test)]
mod tests {
    use refit_manifest::{Entry, Path, Tree};

    use super::*;
    use crate::configuration::Spec;

    #[test]
    fn patches_of_the_flux_kustomization_are_named_with_their_line() {
        let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: main}\nspec:\n  path: ./c\n  patches:\n  - patch: '[]'\n  components: []\n";
        let files = [("c/flux-system/g.yaml", ""), ("c/flux-system/sync.yaml", sync)];
        let entry = |(path, text): &(&str, &str)| (Path::from(*path), Entry::file(text.as_bytes()));
        let tree: Tree = files.iter().map(entry).collect();
        let streams = Streams::split(&tree);
        let named = roots::Names {
            said: &Spec::default(),
            records: &[],
        };
        let roots = roots::find(&tree, &streams, &["c/flux-system/g.yaml".into()], &named);
        let found = unevaluated(&roots[0], &streams);
        let line = |finding: &Finding| format!("{} {}: {}", finding.code, finding.subject, finding.message);
        assert_eq!(
            found.iter().map(line).collect::<Vec<_>>(),
            [
                "OverlayNotEvaluated c/flux-system/sync.yaml:7: `spec.patches` of `Kustomization/main` is applied by Flux after the build; what the upgrade does to it was not looked at"
            ]
        );
    }
}
