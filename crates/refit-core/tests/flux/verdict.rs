//! Says in one line what was detected and recovered.

use std::fmt::Write as _;

use refit_core::catalog::Catalog;
use refit_core::detect::{Confidence, Detection, Recognised, detect, recognise};
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};
use refit_manifest::Stream;

/// Gives the verdict on a file; `None` for one that is not the platform's.
pub(crate) fn verdict(stream: &Stream, catalog: &Catalog) -> Option<String> {
    match recognise(stream, catalog) {
        Recognised::Other => None,
        Recognised::Placeholder => Some("placeholder".to_owned()),
        Recognised::Manifest => Some(manifest(stream, catalog)),
    }
}

fn manifest(stream: &Stream, catalog: &Catalog) -> String {
    let manifest = Generated::read(stream, catalog);
    let detection = detect(&manifest, catalog);
    let mut text = version(&detection, catalog);
    options(&mut text, &recover(&manifest, catalog), &Options::defaults(catalog));
    for mixed in &detection.mixed {
        write!(
            text,
            "; {} is {} instead of {}",
            mixed.subject, mixed.found, mixed.expected
        )
        .unwrap();
    }
    text
}

fn version(detection: &Detection, catalog: &Catalog) -> String {
    let Some(version) = &detection.version else {
        let candidates: Vec<String> = detection.candidates.iter().map(ToString::to_string).collect();
        return format!("unclear {}", candidates.join("|")).trim_end().to_owned();
    };
    let known = if catalog.knows(version) {
        ""
    } else {
        " (not in the catalog)"
    };
    let header = if detection.confidence == Confidence::HeaderOnly {
        " (header only)"
    } else {
        ""
    };
    assert_eq!(detection.confidence == Confidence::Agreed, detection.mixed.is_empty());
    format!("{version}{known}{header}")
}

/// Writes what differs from the defaults.
fn options(text: &mut String, options: &Options, defaults: &Options) {
    let values = |options: &Options| serde_json::to_value(options).unwrap();
    let (found, plain) = (values(options), values(defaults));
    for (name, value) in found.as_object().unwrap() {
        match value {
            same if plain[name] == *same => {}
            components if name == "components" => {
                write!(text, ", {} components", components.as_array().unwrap().len()).unwrap();
            }
            other => write!(text, ", {name} {other}").unwrap(),
        }
    }
}
