//! The parts of an artifact.

use std::io::Read as _;
use std::path::{Component, Path};

use flate2::read::GzDecoder;
use serde::Deserialize;

/// The types of manifests that are understood.
pub(super) const MANIFESTS: &str = "application/vnd.oci.image.manifest.v1+json";
/// The type of the layer that `flux push artifact` writes.
const LAYER: &str = "application/vnd.cncf.flux.content.v1.tar+gzip";
/// The most files of an archive that are looked at.
const FILES: usize = 10_000;

/// The manifest of an artifact.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The digest of the layer with the manifests.
    pub(super) layer: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Read {
    #[serde(default)]
    layers: Vec<Described>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    media_type: String,
    digest: String,
}

impl Manifest {
    /// Reads a manifest; says what is wrong with it.
    pub(super) fn read(bytes: &[u8]) -> Result<Self, String> {
        let read: Read = serde_json::from_slice(bytes).map_err(|error| format!("has no readable manifest: {error}"))?;
        let Some(layer) = read.layers.iter().find(|layer| layer.media_type == LAYER) else {
            let types: Vec<String> = read
                .layers
                .iter()
                .map(|layer| format!("`{}`", layer.media_type))
                .collect();
            return Err(format!(
                "is no artifact of Flux: it has no layer `{LAYER}`, but {}",
                match types.as_slice() {
                    [] => "none at all".to_owned(),
                    types => types.join(", "),
                }
            ));
        };
        Ok(Self {
            layer: layer.digest.clone(),
        })
    }
}

/// Unpacks the files of a gzipped tar archive, by their names without folders; says what is wrong with it.
pub(super) fn unpack(archive: &[u8], limit: u64) -> Result<Vec<(String, Vec<u8>)>, String> {
    let unreadable = |error: std::io::Error| format!("has a layer that cannot be unpacked: {error}");
    // An archive can unpack to far more than its size.
    let mut tar = tar::Archive::new(GzDecoder::new(archive).take(limit));
    let mut files = Vec::new();
    for entry in tar.entries().map_err(unreadable)?.take(FILES) {
        let mut entry = entry.map_err(unreadable)?;
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let Some(name) = entry.path().ok().and_then(|path| plain_name(&path)) else {
            continue;
        };
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 != entry.size() {
            return Err(format!(
                "has a layer that is cut off, or unpacks to more than {} MiB",
                limit >> 20
            ));
        }
        files.push((name, bytes));
    }
    Ok(files)
}

/// Gives the name of a file below the archive's root.
fn plain_name(path: &Path) -> Option<String> {
    let inside = path
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    inside.then(|| path.file_name()?.to_str().map(ToOwned::to_owned))?
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, bytes) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, *bytes).unwrap();
        }
        tar.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn files_are_found_in_folders_and_nothing_outside() {
        let bytes = archive(&[
            ("./a/gotk-components.yaml", b"x"),
            ("../b.yaml", b"y"),
            ("/c.yaml", b"z"),
        ]);
        assert_eq!(
            unpack(&bytes, 1 << 20).unwrap(),
            [("gotk-components.yaml".to_owned(), b"x".to_vec())]
        );
    }

    #[test]
    fn a_cut_and_a_swollen_archive_are_refused() {
        let bytes = archive(&[("a.yaml", &vec![0; 1 << 20])]);
        assert!(unpack(&bytes, 1 << 16).is_err(), "it unpacks to more than the limit");
        assert!(unpack(&bytes[..bytes.len() / 2], 8 << 20).is_err(), "it is cut");
        let mut zipped = GzEncoder::new(Vec::new(), Compression::fast());
        zipped.write_all(b"no tar").unwrap();
        assert!(unpack(&zipped.finish().unwrap(), 1 << 20).is_err());
    }

    #[test]
    fn another_kind_of_artifact_is_named() {
        let text =
            br#"{"layers": [{"mediaType": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "digest": "x"}]}"#;
        let why = Manifest::read(text).unwrap_err();
        assert!(
            why.contains("helm.chart") && why.contains("no artifact of Flux"),
            "{why}"
        );
        assert!(Manifest::read(b"{}").unwrap_err().contains("none at all"));
    }
}
