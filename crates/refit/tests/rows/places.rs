//! Rows 27 to 29 and section 7: several clusters, other directories, other names, other tools. Their cores:
//! `refit-core/src/roots.rs`, `operator.rs`, `substitution.rs`, `refit-engine/tests/git_mode`.

use crate::world::{GENERATED, Lines, World, lines, pristine};

#[test]
fn row_27_patches_one_directory_up_are_seen() {
    let Some(manifest) = pristine("v2.6.4") else { return };
    let patch = "  - target: {kind: Deployment, labelSelector: app.kubernetes.io/part-of=flux}\n    patch: |\n      - op: add\n        \
                 path: /spec/template/spec/nodeSelector/kubernetes.io~1arch\n        value: arm64\n";
    let above = format!("resources:\n- flux-system\npatches:\n{}", patch.repeat(6));
    let Some(world) = World::with(&[
        ("clusters/production/kustomization.yaml", &above),
        (GENERATED, &manifest),
        (
            "clusters/production/flux-system/kustomization.yaml",
            "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n",
        ),
        ("clusters/production/flux-system/gotk-sync.yaml", crate::world::SYNC),
    ]) else {
        return;
    };
    let inventory = world.run(&["inventory"]);
    let cluster = &inventory.json["clusters"][0];
    assert_eq!(cluster["changes"].as_array().map(Vec::len), Some(0));
    assert_eq!(cluster["patches"].as_array().map(Vec::len), Some(6), "{cluster:#}");
    assert_eq!(cluster["patches"][0]["path"], "clusters/production/kustomization.yaml");
    world.upgrade(&["flux@v2.7.5"]);
    assert_eq!(world.text("clusters/production/kustomization.yaml"), above);
}

#[test]
fn row_28_each_cluster_of_a_repository_has_its_own_version_and_base() {
    let Some(world) = World::snapshot("xUnholy+k8s-gitops/2021-04-14") else {
        return;
    };
    let versions: Vec<String> = world.run(&["inventory"]).json["clusters"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|cluster| format!("{} {}", cluster["cluster"], cluster["version"]))
        .collect();
    assert_eq!(
        versions,
        [
            "\"production\" \"v0.12.3\"",
            "\"production-gke\" \"\"",
            "\"staging\" \"v0.8.0\""
        ]
    );
    let gke = "k8s/clusters/production-gke/flux-system/gotk-components.yaml";
    let before = world.text(gke);
    world.upgrade(&["--cluster", "production"]);
    assert_eq!(world.text(gke), before, "another cluster's file");
    let unclear = world.run(&["upgrade", "--cluster", "production-gke", "--yes"]);
    assert_eq!(unclear.code, 3);
    let found = unclear.finding("VersionUnclear");
    assert!(found.contains("its images are `helm-controller:v0.8.0`"), "{found}");
}

#[test]
fn row_28_a_version_that_no_catalog_holds_is_upgraded_from_the_file_that_its_generator_wrote() {
    let (Some(world), Some(pristine)) = (
        World::snapshot("xUnholy+k8s-gitops/2021-04-14"),
        World::corpus_file("onedr0p+home-ops/2021-02-13/cluster/flux-system/gotk-components.yaml"),
    ) else {
        return;
    };
    let blocked = world.run(&["upgrade", "--cluster", "staging", "--yes"]);
    assert_eq!(blocked.code, 3);
    assert!(blocked.has("BaseUnknown"));
    let base = pristine.display().to_string();
    let arguments = [
        "upgrade",
        "--cluster",
        "staging",
        "--base-file",
        &base,
        "flux@v0.41.2",
        "--yes",
    ];
    let answer = world.run(&arguments);
    assert_eq!(answer.code, 6, "{:#}", answer.json);
    // Whoever goes on does not have the file.
    let again = ["upgrade", "--cluster", "staging", "flux@v0.41.2", "--yes"];
    assert_eq!(world.run(&again).code, 6);
    let merged = world.run(&["request", "merge", "1"]);
    assert_eq!(merged.code, 0, "{:#}", merged.json);
    let Some(target) = crate::world::pristine("v0.41.2") else {
        return;
    };
    let (_, below) = target.split_once("\napiVersion: ").unwrap_or_default();
    let expected = crate::options::without_policies(&format!("apiVersion: {below}"));
    let after = world.text("k8s/clusters/staging/flux-system/gotk-components.yaml");
    assert_eq!(lines(&expected, &after), Lines::none());
}

#[test]
fn row_28_a_label_latest_is_told_by_a_header_and_a_base_file() {
    let Some(world) = World::snapshot("xUnholy+k8s-gitops/2021-04-14") else {
        return;
    };
    let path = "k8s/clusters/production-gke/flux-system/gotk-components.yaml";
    let text = world.text(path);
    // What the generator wrote is not known; the user takes the file itself for it.
    let base = world.outside("base.yaml", &format!("---\n# Flux version: v0.8.2\n{text}"));
    let answer = world.run(&[
        "upgrade",
        "--cluster",
        "production-gke",
        "--base-file",
        &base,
        "flux@v0.41.2",
        "--yes",
    ]);
    assert_eq!(answer.code, 6, "{:#}", answer.json);
    assert_eq!(answer.json["from"], "v0.8.2");
}

#[test]
fn row_29_an_upgrade_touches_the_runtime_of_one_cluster_and_no_shared_application() {
    let Some(world) = World::snapshot("sympatheticmoose+upgrade-repo/2021-12-16") else {
        return;
    };
    // `kind-kind` alone applies `podinfo-deploy`, by its directory `user`; `minikube` has no runtime, and names it nowhere.
    // Every version that it is written in is served up to v0.41.2; beyond that it is converted.
    world.upgrade(&["flux@v0.41.2"]);
    let runtime = ".weave-gitops/clusters/kind-kind/system/gitops-runtime.yaml";
    assert_eq!(world.changed(), [".refit/kind-kind.json", runtime]);
}

#[test]
fn section_7_user_resources_in_the_directory_stay_untouched() {
    let (Some(base), Some(target)) = (pristine("v2.5.1"), pristine("v2.6.4")) else {
        return;
    };
    let own = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: mine\n  namespace: flux-system\ndata:\n  a:   b # aligned\n";
    let receiver = "apiVersion: notification.toolkit.fluxcd.io/v1\nkind: Receiver\nmetadata:\n  name: r\n  namespace: flux-system\n";
    let mixed = format!("{base}---\n{own}");
    let directory = "clusters/production/flux-system";
    let kustomization = "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n- receiver.yaml\n";
    let Some(world) = World::with(&[
        (GENERATED, &mixed),
        (&format!("{directory}/kustomization.yaml"), kustomization),
        (
            &format!("{directory}/gotk-sync.yaml"),
            &format!("{}---\n{receiver}", crate::world::SYNC),
        ),
        (&format!("{directory}/receiver.yaml"), receiver),
        (&format!("{directory}/notes.txt"), "mine"),
    ]) else {
        return;
    };
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(world.changed(), [".refit/production.json", GENERATED]);
    let after = world.generated();
    assert!(after.ends_with(&format!("---\n{own}")));
    let expected = Lines {
        gone: Vec::new(),
        come: format!("---\n{own}").lines().map(ToOwned::to_owned).collect(),
    };
    assert_eq!(lines(&target, &after), expected);
}

#[test]
fn section_7_generated_files_under_other_names_are_found() {
    let Some(world) = World::snapshot("onedr0p+home-ops/2021-02-13") else {
        return;
    };
    let inventory = world.run(&["inventory"]);
    let roles: Vec<String> = inventory.json["clusters"][0]["files"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|file| format!("{} {}", file["role"], file["path"]).replace('"', ""))
        .collect();
    let directory = "cluster/flux-system";
    for line in [
        format!("generated {directory}/gotk-components.yaml"),
        format!("sync {directory}/gotk-kustomization.yaml"),
        format!("kustomization {directory}/kustomization.yaml"),
    ] {
        assert!(roles.contains(&line), "{line} among {roles:#?}");
    }
    let Some(manifest) = pristine("v2.5.1") else { return };
    let Some(world) = World::with(&[("k8s/flux.yml", &manifest)]) else {
        return;
    };
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(world.changed(), [".refit/k8s.json", "k8s/flux.yml"]);
}

#[test]
fn section_7_additions_to_the_sync_file_are_never_lost() {
    let Some(world) = World::snapshot("onedr0p+home-ops/2022-05-14") else {
        return;
    };
    let sync = "cluster/base/flux-system/gotk-sync.yaml";
    let before = world.text(sync);
    assert!(before.contains("decryption:"));
    world.upgrade(&["flux@v2.6.4"]);
    assert_eq!(world.text(sync), before);
}

#[test]
fn section_7_an_empty_manifest_names_the_way_out_and_one_of_another_cluster_does_not_block() {
    let Some(manifest) = pristine("v2.5.1") else { return };
    let Some(world) = World::of("") else { return };
    let references = world.references();
    let answer = world.run(&["upgrade", "--yes"]);
    assert_eq!(answer.code, 3);
    assert!(answer.has("PlaceholderManifest"));
    assert_eq!(world.references(), references);
    world.commit("clusters/b/flux-system/gotk-components.yaml", &manifest);
    let answer = world.upgrade(&["flux@v2.6.4"]);
    assert!(answer.has("PlaceholderManifest"), "it is told all the same");
}

const INSTANCE: &str = "apiVersion: fluxcd.controlplane.io/v1\nkind: FluxInstance\nmetadata:\n  name: flux\n  namespace: \
                        flux-system\nspec:\n  distribution:\n    version: 2.x\n    registry: ghcr.io/fluxcd\n";

#[test]
fn section_7_a_plane_of_the_flux_operator_names_the_line_to_change() {
    let Some(world) = World::with(&[("clusters/production/flux.yaml", INSTANCE)]) else {
        return;
    };
    let answer = world.run(&["upgrade", "--yes"]);
    assert_eq!(answer.code, 3);
    let found = answer.finding("OperatorManaged");
    assert!(
        found.starts_with("OperatorManaged clusters/production/flux.yaml:8: "),
        "{found}"
    );
    assert!(!answer.has("PlaneNotFound"));
    let next = answer.json["next"][0]["text"].as_str().unwrap_or_default();
    assert!(
        next.contains("change `spec.distribution.version` at `clusters/production/flux.yaml:8`"),
        "{next}"
    );
}

#[test]
fn section_7_a_manifest_left_beside_the_flux_operator_warns_and_can_be_upgraded() {
    let (Some(manifest), Some(target)) = (pristine("v2.5.1"), pristine("v2.6.4")) else {
        return;
    };
    let Some(world) = World::of(&manifest) else { return };
    world.commit("clusters/production/flux-system/flux.yaml", INSTANCE);
    let answer = world.upgrade(&["flux@v2.6.4"]);
    let place = "clusters/production/flux-system/flux.yaml:8";
    assert!(
        answer
            .finding("OperatorManaged")
            .starts_with(&format!("OperatorManaged {place}: "))
    );
    assert!(
        answer
            .finding("OtherUpdater")
            .starts_with(&format!("OtherUpdater {place}: "))
    );
    assert_eq!(lines(&target, &world.generated()), Lines::none());
}

#[test]
fn section_7_substitution_into_definitions_is_told_and_silent_where_they_are_excluded() {
    let Some(manifest) = pristine("v2.5.1") else { return };
    let Some(world) = World::of(&manifest) else { return };
    let sync = format!(
        "{}  postBuild:\n    substitute:\n      cluster: production\n",
        crate::world::SYNC
    );
    let path = "clusters/production/flux-system/gotk-sync.yaml";
    assert!(!world.run(&["check"]).has("SubstitutionInSchema"));
    world.commit(path, &sync);
    let found = world.run(&["check"]).finding("SubstitutionInSchema");
    assert!(
        found.starts_with(&format!("SubstitutionInSchema {path}:13: Kustomization `flux-system` ")),
        "{found}"
    );
    let excluded = manifest.replace(
        "\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n",
        "\nkind: CustomResourceDefinition\nmetadata:\n  annotations:\n    kustomize.toolkit.fluxcd.io/substitute: disabled\n",
    );
    assert_ne!(excluded, manifest);
    world.commit(GENERATED, &excluded);
    assert!(!world.run(&["check"]).has("SubstitutionInSchema"));
}
