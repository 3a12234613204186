//! Renders each release with its own options, with others, and with fewer components.

use refit_core::catalog::Catalog;
use refit_core::detect::detect;
use refit_core::generated::Generated;
use refit_core::options::{Options, recover};
use refit_core::render::render;
use refit_manifest::Stream;

use crate::support::{Manifest, below_header, each_version, releases, split};

fn options_of(stream: &Stream, catalog: &Catalog) -> Options {
    recover(&Generated::read(stream, catalog), catalog)
}

fn each_manifest(mut check: impl FnMut(&Manifest)) {
    for folder in releases() {
        each_version(&folder, |_, manifests| manifests.iter().for_each(&mut check));
    }
}

#[test]
fn a_release_with_its_own_options_is_rendered_byte_for_byte() {
    let catalog = Catalog::flux().unwrap();
    each_manifest(|manifest| {
        let options = options_of(&manifest.stream, &catalog);
        let rendered = render(std::slice::from_ref(&manifest.stream), &options, &catalog).unwrap();
        assert_eq!(rendered.missing, [""; 0], "{}", manifest.title());
        assert_eq!(
            below_header(&rendered.bytes),
            below_header(manifest.stream.bytes()),
            "{}",
            manifest.title()
        );
        let lies = manifest.version.to_string() == "v0.30.2" && options.components.len() == 4;
        assert_eq!(rendered.bytes != *manifest.stream.bytes(), lies, "{}", manifest.title());
    });
}

#[test]
fn fewer_components_of_the_larger_manifest_are_the_smaller_manifest_byte_for_byte() {
    let catalog = Catalog::flux().unwrap();
    let mut pairs = 0;
    for folder in releases() {
        each_version(&folder, |version, manifests| {
            let [large, small] = manifests.as_slice() else { return };
            let options = options_of(&small.stream, &catalog);
            let rendered = render(std::slice::from_ref(&large.stream), &options, &catalog).unwrap();
            assert_eq!(rendered.missing, [""; 0]);
            assert_eq!(
                below_header(&rendered.bytes),
                below_header(small.stream.bytes()),
                "{version}"
            );
            let same = rendered.bytes == *small.stream.bytes();
            assert_eq!(same, version.to_string() != "v0.30.2", "{version}");
            let more = options_of(&large.stream, &catalog);
            let lacking = render(std::slice::from_ref(&small.stream), &more, &catalog).unwrap();
            assert_eq!(
                lacking.missing,
                ["image-reflector-controller", "image-automation-controller"]
            );
            assert_eq!(
                below_header(&lacking.bytes),
                below_header(small.stream.bytes()),
                "{version}"
            );
            pairs += 1;
        });
    }
    println!("{pairs} pairs");
}

/// Each option alone takes long, so only every tenth manifest is tried that way, and all with many options at once.
#[derive(Clone, Copy, PartialEq)]
enum Depth {
    Each,
    Together,
}

fn variants(options: &Options, depth: Depth) -> Vec<Options> {
    let with = |change: fn(&mut Options)| {
        let mut options = options.clone();
        change(&mut options);
        options
    };
    let each = [
        with(|options| options.namespace = "wego-system".into()),
        with(|options| options.network_policies = false),
        with(|options| options.cluster_domain = "corp.example".into()),
        with(|options| options.toleration_keys = vec!["node.example/control".into(), "1".into()]),
        with(|options| options.registry = "registry.example:5000/mirror/flux".into()),
        with(|options| options.image_pull_secret = Some("pull".into())),
        with(|options| options.log_level = "debug".into()),
        with(|options| options.watch_all_namespaces = false),
        with(|options| options.components = vec!["source-controller".into(), "kustomize-controller".into()]),
    ];
    let together = with(|options| {
        options.namespace = "system-flux".into();
        options.network_policies = false;
        options.cluster_domain = "cluster.internal".into();
        options.toleration_keys = vec!["dedicated".into(), "node.example/control".into()];
        options.registry = "mirror.example".into();
        options.image_pull_secret = Some("true".into());
        options.log_level = "error".into();
        options.watch_all_namespaces = false;
    });
    let smaller = Options {
        components: vec!["source-controller".into(), "notification-controller".into()],
        ..together.clone()
    };
    match depth {
        Depth::Each => each.into_iter().chain([together, smaller]).collect(),
        Depth::Together => vec![together],
    }
}

#[test]
fn options_are_recovered_from_what_was_rendered_with_them() {
    let catalog = Catalog::flux().unwrap();
    let mut cases = 0;
    let mut at = 0;
    each_manifest(|manifest| {
        let own = options_of(&manifest.stream, &catalog);
        at += 1;
        for options in variants(&own, if at % 10 == 1 { Depth::Each } else { Depth::Together }) {
            let rendered = render(std::slice::from_ref(&manifest.stream), &options, &catalog).unwrap();
            let stream = split(&rendered.bytes);
            let read = Generated::read(&stream, &catalog);
            assert_eq!(recover(&read, &catalog), options, "{}", manifest.title());
            let detection = detect(&read, &catalog);
            assert_eq!(
                detection.version.as_ref(),
                Some(&manifest.version),
                "{}",
                manifest.title()
            );
            let back = render(&[stream], &own, &catalog).unwrap();
            if back.missing.is_empty() && options.components == own.components {
                assert_eq!(
                    below_header(&back.bytes),
                    below_header(manifest.stream.bytes()),
                    "{}",
                    manifest.title()
                );
            }
            cases += 1;
        }
    });
    println!("{cases} cases");
}
