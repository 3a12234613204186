//! Reports of users about upgrades that overwrite what is theirs; docs/known-problems.md lists them.

use super::options::without_policies;
use super::world::{Lines, World, lines, pristine};

#[test]
fn renovate_13952_flux2_3648_flags_of_the_generator_are_read_back_from_the_file_and_given_again() {
    let own = |text: String| without_policies(&text).replace("cluster.local", "acme.example");
    let (Some(ours), Some(target)) = (pristine("v2.3.0").map(own), pristine("v2.6.4").map(own)) else {
        return;
    };
    let Some(world) = World::of(&ours) else { return };
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn flux2_1837_limits_edited_by_hand_in_the_generated_file_survive_the_upgrade() {
    let edit = |text: String| text.replacen("            memory: 1Gi\n", "            memory: 3Gi\n", 1);
    let (Some(ours), Some(target)) = (pristine("v2.3.0").map(edit), pristine("v2.6.4").map(edit)) else {
        return;
    };
    assert!(ours.contains("memory: 3Gi") && target.contains("memory: 3Gi"));
    let Some(world) = World::of(&ours) else { return };
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn flux2_5686_the_kustomization_of_the_user_with_its_patches_stays_byte_for_byte() {
    let Some(ours) = pristine("v2.3.0") else { return };
    let kustomization = "# ours\napiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n  - gotk-components.yaml\npatches:\n  - target: {kind: Deployment, name: helm-controller}\n    patch: |\n      - op: add\n        path: /spec/template/spec/containers/0/args/-\n        value: --concurrent=10\n";
    let folder = "clusters/production/flux-system";
    let Some(world) = World::with(&[
        (&format!("{folder}/gotk-components.yaml"), &ours),
        (&format!("{folder}/kustomization.yaml"), kustomization),
    ]) else {
        return;
    };
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(world.text(&format!("{folder}/kustomization.yaml")), kustomization);
    assert!(!world.changed().iter().any(|path| path.ends_with("kustomization.yaml")));
}

/// `flux migrate -f` takes only paths below the directory that it runs in.
#[test]
fn shape_run_from_another_directory() {
    let Some(world) = World::with(&[("README.md", "# ours\n")]) else {
        return;
    };
    let text = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata: {name: web}\nspec: {chart: {spec: {chart: web}}}\n";
    let path = world.outside("web.yaml", text);
    let answer = world.run(&["convert", "--to", "flux@v2.9.4", &path]);
    assert_eq!(answer.code, 0, "{:#}", answer.json);
    let converted = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(converted, text.replace("v2beta1", "v2"));
}
