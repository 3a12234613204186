//! Renovate, which updates Flux manifests without being told to.
//!
//! In: the text of its configuration, JSON or JSON5. Out: the line that configures it, unless it leaves the files out.

use refit_manifest::Path;

use super::{Found, line_of};

/// Finds Renovate at work on some files.
pub(super) fn find(text: &str, files: &[Path]) -> Option<Found> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_whitespace() && !"\"'".contains(*c))
        .collect();
    let block = |name: &str, close: char| {
        let (_, rest) = plain.split_once(name)?;
        Some(rest.split(close).next().unwrap_or(rest).to_owned())
    };
    let off = block("flux:{", '}').is_some_and(|flux| flux.contains("enabled:false"));
    let others =
        block("enabledManagers:[", ']').is_some_and(|managers| !managers.split(',').any(|manager| manager == "flux"));
    let ignored = plain.contains("ignorePaths")
        && files.iter().all(|file| {
            let directory = file.directory().rsplit('/').next().unwrap_or_default();
            plain.contains(file.file_name()) || (!directory.is_empty() && plain.contains(directory))
        });
    if off || others || ignored {
        return None;
    }
    let line = line_of(text, "\"flux\"")
        .or_else(|| line_of(text, "flux:"))
        .or_else(|| line_of(text, "gotk-components"))
        .unwrap_or(1);
    Some(Found::new(
        line,
        "Renovate is at work here and overwrites generated Flux manifests with pristine ones",
        "add the generated file to `ignorePaths` of Renovate, or switch its `flux` manager off",
    ))
}
