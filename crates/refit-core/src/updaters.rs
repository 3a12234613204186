//! Other tools that write the same files.
//!
//! In: the files of a snapshot and the generated files of a plane. Out: [`Code::OtherUpdater`] findings that name the
//! line which configures the tool.

use std::str::from_utf8;

use refit_kustomize::reach;
use refit_manifest::{Path, Tree};

use crate::finding::{Code, Finding};
use crate::snapshot::is_renovate;

/// Finds every other updater of some files.
pub fn find(tree: &Tree, files: &[Path]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, entry) in tree.iter() {
        let Some(text) = entry.bytes().and_then(|bytes| from_utf8(bytes).ok()) else {
            continue;
        };
        let found = if is_renovate(path) {
            renovate(text, files)
        } else if path.as_str().ends_with(".tf") {
            terraform(text)
        } else if is_workflow(path) {
            workflow(text)
        } else if files.contains(path) || reach::is_kustomization(path) {
            marker(text)
        } else {
            instance(text)
        };
        findings.extend(found.map(|found| found.at(path)));
    }
    findings
}

struct Found {
    line: usize,
    message: String,
    remedy: String,
}

impl Found {
    fn new(line: usize, message: &str, remedy: &str) -> Self {
        Self {
            line,
            message: message.to_owned(),
            remedy: remedy.to_owned(),
        }
    }

    fn at(self, path: &Path) -> Finding {
        Finding::new(Code::OtherUpdater, format!("{path}:{}", self.line), self.message).with_remedy(self.remedy)
    }
}

/// Renovate updates Flux manifests without being told to, unless its configuration leaves them out.
fn renovate(text: &str, files: &[Path]) -> Option<Found> {
    let off = text.contains("\"enabled\": false") && text.contains("\"flux\"");
    let ignored = text.contains("ignorePaths")
        && files.iter().all(|file| {
            let directory = file.directory().rsplit('/').next().unwrap_or_default();
            text.contains(file.file_name()) || (!directory.is_empty() && text.contains(directory))
        });
    if off || ignored {
        return None;
    }
    let line = line_of(text, "\"flux\"")
        .or_else(|| line_of(text, "gotk-components"))
        .unwrap_or(1);
    Some(Found::new(
        line,
        "Renovate is at work here and overwrites generated Flux manifests with pristine ones",
        "add the generated file to `ignorePaths` of Renovate, or switch its `flux` manager off",
    ))
}

fn terraform(text: &str) -> Option<Found> {
    let line = line_of(text, "\"flux_bootstrap_git\"").or_else(|| line_of(text, "fluxcd/flux"))?;
    Some(Found::new(
        line,
        "Terraform's Flux provider writes the same manifests",
        "raise the version there instead, or take the resource out of Terraform's state",
    ))
}

fn workflow(text: &str) -> Option<Found> {
    let line = line_of(text, "fluxcd/flux2/action")?;
    Some(Found::new(
        line,
        "a workflow installs the `flux` program, which can regenerate the same manifests",
        "see whether the workflow runs `flux install --export`, and stop it or this upgrade",
    ))
}

fn marker(text: &str) -> Option<Found> {
    let line = line_of(text, "{\"$imagepolicy\"")?;
    Some(Found::new(
        line,
        "image automation of Flux raises an image on this line",
        "remove the marker, or let image automation do this part and accept the finding",
    ))
}

fn instance(text: &str) -> Option<Found> {
    if !text.contains("fluxcd.controlplane.io/") || line_of(text, "kind: FluxInstance").is_none() {
        return None;
    }
    let line = line_of(text, " version:").or_else(|| line_of(text, "kind: FluxInstance"))?;
    Some(Found::new(
        line,
        "a FluxInstance lets the Flux Operator install and upgrade Flux",
        "raise the version range of the FluxInstance instead, or remove it",
    ))
}

fn is_workflow(path: &Path) -> bool {
    path.directory() == ".github/workflows"
}

/// Gives the number of the first line that holds a text and is no comment of its own, except for markers in comments.
fn line_of(text: &str, wanted: &str) -> Option<usize> {
    let live = |line: &str| !line.trim_start().starts_with('#');
    text.lines()
        .position(|line| line.contains(wanted) && live(line))
        .map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use refit_manifest::Entry;

    use super::*;

    fn check(path: &str, text: &str, subject: Option<&str>) {
        let generated = Path::from("clusters/a/flux-system/gotk-components.yaml");
        let mut tree = Tree::new();
        tree.insert(path.into(), Entry::file(text.as_bytes()));
        let subjects: Vec<String> = find(&tree, &[generated])
            .into_iter()
            .map(|finding| finding.subject)
            .collect();
        assert_eq!(subjects, subject.into_iter().collect::<Vec<_>>(), "{path}: {text}");
    }

    #[test]
    fn renovate_is_named_unless_it_leaves_the_manifest_out() {
        check("renovate.json", "{\n  \"flux\": {}\n}", Some("renovate.json:2"));
        check(".github/renovate.json5", "{}", Some(".github/renovate.json5:1"));
        check(
            "renovate.json",
            "{\"ignorePaths\": [\"**/gotk-components.yaml\"]}",
            None,
        );
        check(
            "renovate.json",
            "{\"ignorePaths\": [\"clusters/**/flux-system/**\"]}",
            None,
        );
        check("renovate.json", "{\"flux\": {\"enabled\": false}}", None);
        check(
            "renovate.json",
            "{\"ignorePaths\": [\"docs\"]}",
            Some("renovate.json:1"),
        );
        check("docs/renovate.json", "{}", None);
    }

    #[test]
    fn terraform_workflows_image_policies_and_flux_instances_are_named_with_their_line() {
        check(
            "main.tf",
            "# \n resource \"flux_bootstrap_git\" \"x\" {}",
            Some("main.tf:2"),
        );
        check("main.tf", "resource \"null_resource\" \"x\" {}", None);
        let workflow = "steps:\n- uses: fluxcd/flux2/action@main\n";
        check(".github/workflows/up.yml", workflow, Some(".github/workflows/up.yml:2"));
        check("other/up.yml", workflow, None);
        let kustomization = "images:\n- newTag: v1 # {\"$imagepolicy\": \"flux-system:x:tag\"}\n";
        check("a/kustomization.yaml", kustomization, Some("a/kustomization.yaml:2"));
        check("a/app.yaml", kustomization, None);
        let instance =
            "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nspec:\n  distribution:\n    version: 2.x\n";
        check("a/flux.yaml", instance, Some("a/flux.yaml:5"));
    }
}
