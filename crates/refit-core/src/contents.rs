//! Compares the manifest of a release with what the catalog says about that release.
//!
//! In: a manifest, a version, the catalog. Out: one line per difference. Does not know where the manifest came from.

use crate::catalog::Catalog;
use crate::generated::Generated;
use crate::release::Version;

/// Lists how a manifest differs from what is known about its release; what is not known is passed over.
pub fn differences(manifest: &Generated<'_>, version: &Version, catalog: &Catalog) -> Vec<String> {
    let mut found = Vec::new();
    if manifest.controllers().next().is_none() {
        found.push("it has no controller".to_owned());
    }
    found.extend(labels(manifest, version));
    found.extend(images(manifest, version, catalog));
    found.extend(definitions(manifest, version, catalog));
    found
}

/// The version that the header states may be a lie, which is found elsewhere; the labels come from the generator.
fn labels(manifest: &Generated<'_>, version: &Version) -> Option<String> {
    let stated = |text: &str| Version::parse(text).ok();
    let other = manifest
        .parts
        .iter()
        .filter_map(|part| part.version_label.as_deref())
        .find(|text| stated(text).is_some_and(|stated| stated != *version))?;
    Some(format!("its labels name the version {other}"))
}

fn images(manifest: &Generated<'_>, version: &Version, catalog: &Catalog) -> Vec<String> {
    let Some(release) = catalog.release(version) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for controller in manifest.controllers() {
        let (Some(wanted), Some(image)) = (release.tags.get(controller.name), controller.image()) else {
            continue;
        };
        if image.tag != wanted {
            found.push(format!(
                "the image of `{}` has the tag `{}`, that of the release is `{wanted}`",
                controller.name, image.tag
            ));
        }
    }
    found
}

fn definitions(manifest: &Generated<'_>, version: &Version, catalog: &Catalog) -> Vec<String> {
    let mut found = Vec::new();
    if !catalog.knows(version) {
        return found;
    }
    for (name, definition) in manifest.definitions() {
        let Some(api) = catalog.api(name, version) else {
            found.push(format!("it defines `{name}`, which the release does not have"));
            continue;
        };
        let mut served: Vec<&str> = definition.served().collect();
        let mut wanted: Vec<&str> = api.versions.served.iter().map(String::as_str).collect();
        served.sort_unstable();
        wanted.sort_unstable();
        if served != wanted {
            found.push(format!(
                "`{name}` serves {}, in the release {}",
                listed(&served),
                listed(&wanted)
            ));
        }
        if definition.storage() != Some(api.versions.storage.as_str()) {
            found.push(format!(
                "`{name}` stores {}, in the release {}",
                definition.storage().unwrap_or("nothing"),
                api.versions.storage
            ));
        }
    }
    found
}

fn listed(versions: &[&str]) -> String {
    if versions.is_empty() {
        return "nothing".to_owned();
    }
    versions.join(", ")
}

#[cfg(test)]
mod tests {
    use refit_manifest::Stream;

    use super::*;

    fn of(text: &str) -> Vec<String> {
        let catalog = Catalog::flux().unwrap();
        let stream = Stream::split(text.as_bytes().into()).unwrap();
        differences(&Generated::read(&stream, &catalog), &Version::new(2, 6, 4), &catalog)
    }

    fn controller(version: &str, tag: &str) -> String {
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  labels:\n    app.kubernetes.io/part-of: flux\n    \
             app.kubernetes.io/version: {version}\n  name: source-controller\n  namespace: flux-system\nspec:\n  template:\n    \
             spec:\n      containers:\n      - image: ghcr.io/fluxcd/source-controller:{tag}\n        name: manager\n"
        )
    }

    fn definition(versions: &str) -> String {
        format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: \
             gitrepositories.source.toolkit.fluxcd.io\nspec:\n  versions:\n{versions}"
        )
    }

    #[test]
    fn labels_images_and_definitions_of_another_release_are_told() {
        let right = controller("v2.6.4", "v1.6.2");
        assert_eq!(of(&right), Vec::<String>::new());
        assert_eq!(
            of(&controller("v2.5.1", "v1.6.2")),
            ["its labels name the version v2.5.1"]
        );
        assert_eq!(
            of(&controller("v2.6.4", "v1.5.0")),
            ["the image of `source-controller` has the tag `v1.5.0`, that of the release is `v1.6.2`"]
        );
        let other = definition("  - name: v1alpha9\n    served: true\n    storage: true\n");
        assert_eq!(
            of(&format!("{right}---\n{other}")),
            [
                "`gitrepositories.source.toolkit.fluxcd.io` serves v1alpha9, in the release v1, v1beta1, v1beta2",
                "`gitrepositories.source.toolkit.fluxcd.io` stores v1alpha9, in the release v1"
            ]
        );
        assert_eq!(of("kind: A\n"), ["it has no controller"]);
    }
}
