//! Detects each release and recovers its options.

use refit_core::catalog::Catalog;
use refit_core::detect::{Confidence, Recognised, detect, recognise};
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};

use crate::support::{each_version, releases};

#[test]
fn each_release_is_recognised_and_detected_with_its_options() {
    let catalog = Catalog::flux().unwrap();
    let mut files = 0;
    for folder in releases() {
        each_version(&folder, |version, manifests| {
            for manifest in &manifests {
                let title = manifest.title();
                assert_eq!(recognise(&manifest.stream, &catalog), Recognised::Manifest, "{title}");
                let read = Generated::read(&manifest.stream, &catalog);
                let detection = detect(&read, &catalog);
                assert_eq!(detection.version.as_ref(), Some(version), "{title}: {detection:?}");
                assert_eq!(detection.mixed, [], "{title}");
                assert_eq!(detection.confidence, Confidence::Agreed, "{title}");
                let count = read.controllers().count();
                let names = catalog
                    .components()
                    .iter()
                    .take(count)
                    .map(|component| component.name.clone());
                let expected = Options {
                    components: names.collect(),
                    ..Options::defaults(&catalog)
                };
                assert_eq!(recover(&read, &catalog), expected, "{title}");
                files += 1;
            }
        });
    }
    println!("{files} files");
}
