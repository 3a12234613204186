//! Rows 1 to 6: versions and images. Their cores: `refit-core/tests/flux/edits.rs`, `refit-core/src/copied.rs`,
//! `refit-manifest/tests/rules.rs`.

use crate::world::{Lines, World, lines, pristine};

const DEPLOYMENT: &str = "        image: ghcr.io/fluxcd/";

/// Replaces an image, which must be there.
fn image(text: &str, from: &str, to: &str) -> String {
    let line = format!("{DEPLOYMENT}{from}\n");
    assert!(text.contains(&line), "no image {from}");
    text.replace(&line, &format!("{DEPLOYMENT}{to}\n"))
}

fn digest(letter: &str) -> String {
    format!("@sha256:{}", letter.repeat(64))
}

#[test]
fn row_1_images_that_a_user_raised_follow_the_release_that_has_them() {
    let Some(world) = World::snapshot("billimek+k8s-gitops/2024-09-26") else {
        return;
    };
    let path = "flux-system/gotk-components.yaml";
    let answer = world.upgrade(&["flux@v2.4.0"]);
    let found = answer.finding("MixedState");
    for image in ["`source-controller:v1.4.1`", "`helm-controller:v1.1.0`"] {
        assert!(found.contains(image), "{found}");
    }
    let Some(target) = pristine("v2.4.0") else { return };
    assert_eq!(lines(&target, &world.text(path)), Lines::none());
}

#[test]
fn row_2_a_digest_never_contradicts_its_tag() {
    let (Some(base), Some(target)) = (pristine("v2.3.0"), pristine("v2.4.0")) else {
        return;
    };
    let pinned = format!("source-controller:v1.3.0{}", digest("a"));
    let raised = format!("helm-controller:v1.1.0{}", digest("b"));
    let ours = image(&base, "source-controller:v1.3.0", &pinned);
    let ours = image(&ours, "helm-controller:v1.0.1", &raised);
    let Some(world) = World::of(&ours) else { return };

    let plan = world.run(&["plan", "flux@v2.4.0"]);
    let decisions = plan.decisions();
    let conflicts: Vec<&String> = decisions.iter().filter(|line| line.starts_with("conflict ")).collect();
    assert_eq!(conflicts.len(), 1, "{decisions:#?}");
    assert!(
        conflicts[0].contains("you pinned source-controller to a digest"),
        "{conflicts:?}"
    );
    let kept = decisions.iter().find(|line| line.contains("helm-controller"));
    assert!(
        kept.is_some_and(|line| line.starts_with("noted image-pinned: ")),
        "{decisions:#?}"
    );

    let refs = world.references();
    let held = world.run(&["upgrade", "flux@v2.4.0", "--yes"]);
    assert_eq!(held.code, 5);
    assert!(
        held.json["request"].is_null(),
        "an image is asked about before a request opens"
    );
    let id = held.json["open"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert_ne!(world.references(), refs, "the branch holds the rest");
    let value = format!("ghcr.io/fluxcd/source-controller:v1.4.1{}", digest("c"));
    assert_eq!(world.run(&["resolve", &id, &value]).code, 0);
    assert_eq!(world.run(&["request", "merge", "1"]).code, 0);
    let expected = Lines {
        gone: vec![
            format!("{DEPLOYMENT}source-controller:v1.4.1"),
            format!("{DEPLOYMENT}helm-controller:v1.1.0"),
        ],
        come: vec![format!("        image: {value}"), format!("{DEPLOYMENT}{raised}")],
    };
    assert_eq!(lines(&target, &world.generated()), expected);
}

/// Copies the `spec` of each definition from another manifest.
fn definitions_of(text: &str, newer: &str) -> String {
    let name = |document: &str| {
        document
            .lines()
            .find(|line| line.starts_with("  name: "))
            .map(str::to_owned)
    };
    let is_definition = |document: &str| document.contains("\nkind: CustomResourceDefinition\n");
    let others: Vec<&str> = newer
        .split("\n---\n")
        .filter(|document| is_definition(document))
        .collect();
    let copy = |document: &str| {
        let other = others.iter().find(|other| name(other) == name(document));
        match (
            document.split_once("\nspec:\n"),
            other.and_then(|other| other.split_once("\nspec:\n")),
        ) {
            (Some((head, _)), Some((_, spec))) if is_definition(document) => format!("{head}\nspec:\n{spec}"),
            _ => document.to_owned(),
        }
    };
    text.split("\n---\n").map(copy).collect::<Vec<_>>().join("\n---\n")
}

#[test]
fn row_3_definitions_copied_from_a_newer_release_are_no_edits() {
    let (Some(base), Some(copied), Some(target)) = (pristine("v2.2.3"), pristine("v2.3.0"), pristine("v2.4.0")) else {
        return;
    };
    let ours = definitions_of(&base, &copied);
    assert!(
        lines(&base, &ours).come.len() > 3000,
        "thousands of lines differ from the base"
    );
    let Some(world) = World::of(&ours) else { return };
    let answer = world.upgrade(&["flux@v2.4.0"]);
    let found = answer.finding("DefinitionsCopied");
    assert!(found.contains(" are as v2.3.0 has them"), "{found}");
    assert!(answer.has("MixedState"));
    assert_eq!(lines(&target, &world.generated()), Lines::none());
    let inventory = world.run(&["inventory"]);
    assert_eq!(
        inventory.json["clusters"][0]["changes"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn row_3_an_edit_inside_a_copied_definition_is_asked_about() {
    let (Some(base), Some(copied)) = (pristine("v2.2.3"), pristine("v2.3.0")) else {
        return;
    };
    let ours = definitions_of(&base, &copied).replacen(
        "deprecationWarning: v1beta1 Bucket is deprecated, upgrade to v1beta2",
        "deprecationWarning: do not use v1beta1",
        1,
    );
    let Some(world) = World::of(&ours) else { return };
    let plan = world.run(&["plan", "flux@v2.4.0"]);
    let open: Vec<String> = plan
        .decisions()
        .into_iter()
        .filter(|line| line.starts_with("conflict "))
        .collect();
    assert!(
        !open.is_empty() && open.iter().all(|line| line.contains("buckets.source")),
        "{open:#?}"
    );
    assert!(open.iter().any(|line| line.contains("do not use v1beta1")), "{open:#?}");
}

#[test]
fn row_3_definitions_newer_than_the_target_do_not_go_back_without_a_question() {
    let (Some(base), Some(copied)) = (pristine("v2.2.2"), pristine("v2.3.0")) else {
        return;
    };
    let Some(world) = World::of(&definitions_of(&base, &copied)) else {
        return;
    };
    let plan = world.run(&["plan", "flux@v2.2.3"]);
    assert!(!plan.has("DefinitionsCopied"));
    assert_eq!(
        plan.code, 3,
        "what may be stored already would be lost: {:#}",
        plan.json
    );
    assert!(plan.has("StoredVersionRemoved"));
}

#[test]
fn row_4_labels_and_definitions_outweigh_a_header_and_images_that_a_bot_raised() {
    let (Some(base), Some(raised), Some(target)) = (pristine("v2.6.3"), pristine("v2.6.4"), pristine("v2.7.5")) else {
        return;
    };
    let images = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with(DEPLOYMENT));
        lines.map(ToOwned::to_owned).collect()
    };
    let mut ours = base.replacen("# Flux Version: v2.6.3\n", "# Flux Version: v2.6.4\n", 1);
    for (old, new) in images(&base).iter().zip(images(&raised)) {
        ours = ours.replace(old.as_str(), &new);
    }
    let Some(world) = World::of(&ours) else { return };

    let inventory = world.run(&["inventory"]);
    let cluster = &inventory.json["clusters"][0];
    assert_eq!(cluster["version"], "v2.6.3");
    assert_eq!(
        cluster["verdict"],
        "`v2.6.3` fits the labels, definitions, and most of the images; outweighed: the header"
    );
    let answer = world.upgrade(&["flux@v2.7.5"]);
    let found = answer.finding("MixedState");
    assert!(found.contains("the header says `v2.6.4`, not `v2.6.3`"), "{found}");
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn row_5_an_image_pinned_in_the_kustomization_is_reported_with_its_line_and_stays() {
    let Some(world) = World::snapshot("billimek+k8s-gitops/2021-05-17") else {
        return;
    };
    let before = world.text("flux-system/kustomization.yaml");
    let answer = world.upgrade(&[]);
    let found = answer.finding("PinnedImage");
    assert!(
        found.starts_with("PinnedImage flux-system/kustomization.yaml:7: "),
        "{found}"
    );
    assert!(found.contains("newTag kustomize-v4-rc-de0310e7"), "{found}");
    assert_eq!(world.text("flux-system/kustomization.yaml"), before);
}

#[test]
fn row_6_a_test_build_is_asked_about_and_its_comments_stay() {
    let (Some(base), Some(target)) = (pristine("v2.3.0"), pristine("v2.4.0")) else {
        return;
    };
    let own = "        # own build with the fix for slow health checks\n        image: \
               registry.example/someone/kustomize-controller:fix-health-3 # TODO drop\n";
    let ours = base.replace(&format!("{DEPLOYMENT}kustomize-controller:v1.3.0\n"), own);
    let Some(world) = World::of(&ours) else { return };
    let held = world.run(&["upgrade", "flux@v2.4.0", "--yes"]);
    assert_eq!(held.code, 5);
    let open = held.decisions();
    assert_eq!(open.len(), 1, "{open:#?}");
    assert!(
        open[0].contains("you set kustomize-controller to fix-health-3"),
        "{open:#?}"
    );
    let id = held.json["open"][0]["id"].as_str().unwrap_or_default().to_owned();
    assert_eq!(world.run(&["resolve", &id, "ours"]).code, 0);
    assert_eq!(world.run(&["request", "merge", "1"]).code, 0);
    let expected = Lines {
        gone: vec![format!("{DEPLOYMENT}kustomize-controller:v1.4.0")],
        come: own.lines().map(ToOwned::to_owned).collect(),
    };
    assert_eq!(lines(&target, &world.generated()), expected);
}
