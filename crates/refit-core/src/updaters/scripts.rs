//! Terraform and pipelines that write generated manifests.
//!
//! In: the text of a file. Out: the line that configures the tool.

use refit_manifest::Path;

use super::{Found, line_of};

/// Finds the resource of Terraform that bootstraps Flux, by the line of its version where it has one.
pub(super) fn terraform(text: &str) -> Option<Found> {
    let line = line_of(text, "\"flux_bootstrap_git\"")?;
    let inside = text.lines().enumerate().skip(line).take_while(|(_, line)| *line != "}");
    let version = inside
        .filter(|(_, line)| line.trim_start().starts_with("version") && line.contains('='))
        .map(|(at, _)| at + 1)
        .next();
    Some(Found::new(
        version.unwrap_or(line),
        "Terraform's Flux provider writes the same manifests",
        "raise the version there instead, or take the resource out of Terraform's state",
    ))
}

/// Tells whether a file describes a pipeline.
pub(super) fn is_pipeline(path: &Path) -> bool {
    let folders = [
        ".github/workflows",
        ".gitea/workflows",
        ".forgejo/workflows",
        ".gitlab/ci",
        ".circleci",
        ".tekton",
    ];
    let names = [
        ".gitlab-ci.yml",
        "azure-pipelines.yml",
        "bitbucket-pipelines.yml",
        ".drone.yml",
        ".woodpecker.yml",
    ];
    folders.contains(&path.directory()) || names.contains(&path.as_str())
}

/// Finds a pipeline that regenerates manifests: by the command, or by the action that installs `flux` beside one that
/// opens requests.
pub(super) fn pipeline(text: &str) -> Option<Found> {
    let command = line_of(text, "flux install").or_else(|| line_of(text, "flux bootstrap"));
    let action = || line_of(text, "fluxcd/flux2/action").filter(|_| text.contains("create-pull-request"));
    Some(Found::new(
        command.or_else(action)?,
        "a pipeline regenerates Flux manifests with the `flux` program, without the edits in them",
        "stop the pipeline, or let it run `refit upgrade` in place of `flux`",
    ))
}
