//! What the files of a release are called, and which of them comes first.

use refit_core::release::{Platform, Version};
use refit_engine::ports::{Content, PortError, PortErrorKind};

/// The file that each release of Flux has.
pub(crate) const FLUX: &str = "gotk-components.yaml";

/// Tells whether a file of this name holds manifests of a platform.
pub(crate) fn is_manifest(platform: &str, name: &str) -> bool {
    match platform {
        "flux" => name == FLUX || (name.starts_with("gotk-components.") && name.ends_with(".yaml")),
        _ => name.ends_with(".yaml"),
    }
}

/// Sorts the file with most components first.
pub(crate) fn sort(contents: &mut [Content]) {
    contents.sort_by_key(|content| std::cmp::Reverse(components(&content.bytes)));
}

/// Counts the controllers of a manifest, to tell the largest.
pub(crate) fn components(bytes: &[u8]) -> usize {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines
        .filter(|line| line.trim_ascii_end() == b"kind: Deployment")
        .count()
}

/// Reads the name of a platform.
pub(crate) fn platform(text: &str) -> Result<Platform, PortError> {
    Platform::parse(text).map_err(|source| {
        let error = PortError::new(PortErrorKind::NotFound, "could not look for releases").because(source);
        error.hint("name a platform that the catalog has, as in `flux`")
    })
}

/// Says that a source lacks a version, and what it has (oldest first).
pub(crate) fn unknown(platform: &str, version: &str, place: &str, versions: &[Version], way: &str) -> PortError {
    let has = match versions {
        [] => "it has no version at all".to_owned(),
        [only] => format!("it has `{only}` only"),
        [oldest, .., newest] => format!("it has {} versions from `{oldest}` to `{newest}`", versions.len()),
    };
    let message = format!("`{platform}` `{version}` is not in {place}");
    PortError::new(PortErrorKind::NotFound, message).hint(format!("{has}; {way}"))
}
