//! Objects that a release does not accept as they are written.

use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::conversion::{self, Convertible, Reading, Wanted};
use refit_kustomize::{State, build};
use refit_manifest::{Entry, Path, Tree};

use crate::version;

fn wanted(release: &str) -> Wanted {
    Wanted::of(&Catalog::flux().unwrap(), &version(release))
}

fn read(release: &str, text: &str) -> Reading {
    let bytes: Arc<[u8]> = text.as_bytes().into();
    conversion::read(&Path::from("a.yaml"), &bytes, &wanted(release))
}

fn text(reading: &Reading) -> &str {
    std::str::from_utf8(&reading.bytes).unwrap()
}

fn convert(tree: &Tree, names: &[&str], release: &str) -> Tree {
    let (wanted, mut converted) = (wanted(release), tree.clone());
    for path in names.iter().map(|name| Path::from(*name)) {
        let bytes = conversion::read(&path, tree.bytes(&path).unwrap(), &wanted).bytes;
        converted.insert(path, Entry::file(bytes));
    }
    converted
}

#[test]
fn flux2_1924_a_patch_is_converted_together_with_the_object_that_it_is_for() {
    let sync = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  interval: 10m0s\n  path: ./clusters\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n";
    let patch = "apiVersion: kustomize.toolkit.fluxcd.io/v1beta1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\nspec:\n  # ours\n  interval: 1m0s\n";
    let overlay = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources:\n- gotk-sync.yaml\npatchesStrategicMerge:\n- patch.yaml\n";
    let mut tree = Tree::new();
    for (name, text) in [
        ("gotk-sync.yaml", sync),
        ("patch.yaml", patch),
        ("kustomization.yaml", overlay),
    ] {
        tree.insert(Path::from(name), Entry::file(text.as_bytes()));
    }
    let alone = convert(&tree, &["gotk-sync.yaml"], "v2.6.4");
    let State::Failed(failures) = build(&alone, "").state else {
        panic!("the patch of the old version finds its object")
    };
    assert!(failures[0].message.contains("flux-system"), "{}", failures[0]);

    let together = convert(&tree, &["gotk-sync.yaml", "patch.yaml", "kustomization.yaml"], "v2.6.4");
    let built = build(&together, "");
    assert_eq!(built.state, State::Evaluated);
    let object = &built.objects[0];
    assert_eq!(object.api_version(), "kustomize.toolkit.fluxcd.io/v1");
    let interval = object.value.at(&["spec", "interval"]).and_then(|value| value.as_str());
    assert_eq!(interval, Some("1m0s"));
}

#[test]
fn flux2_4964_a_values_file_becomes_a_list_before_the_definition_of_2_3_comes() {
    let catalog = Catalog::flux().unwrap();
    let rule = catalog.rules().rule("R3-values-file").unwrap();
    assert!(rule.window.is_open(&version("v2.2.3")) && rule.window.is_due(&version("v2.3.0")));
    assert!(!rule.window.is_due(&version("v2.2.3")));

    let before = "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata:\n  name: app\nspec:\n  chart:\n    spec:\n      chart: app\n      valuesFile: prod.yaml\n";
    let at_2_2 = read("v2.2.3", before);
    let fields = before.replace("valuesFile: prod.yaml", "valuesFiles:\n      - prod.yaml");
    assert_eq!(text(&at_2_2), fields, "still in the version that 2.2 serves");
    let at_2_3 = read("v2.3.0", text(&at_2_2));
    assert_eq!(text(&at_2_3), fields.replace("v2beta2", "v2"));
}

#[test]
fn flux2_4479_a_conversion_raises_the_version_alone_and_brings_no_new_field() {
    let before = "apiVersion: helm.toolkit.fluxcd.io/v2beta1\nkind: HelmRelease\nmetadata:\n  name: app\n  annotations:\n    helm.toolkit.fluxcd.io/driftDetection: enabled\nspec:\n  interval: 5m\n  chart:\n    spec:\n      chart: app\n";
    let reading = read("v2.2.3", before);
    assert_eq!(text(&reading), before.replace("io/v2beta1", "io/v2beta2"));
    assert_eq!(reading.uses.len(), 1, "{:?}", reading.uses);
}

#[test]
fn flux2_5411_a_template_with_updated_is_rewritten_or_a_person_must_look() {
    let automation = |template: &str| {
        format!(
            "apiVersion: image.toolkit.fluxcd.io/v1beta2\nkind: ImageUpdateAutomation\nmetadata:\n  name: all\nspec:\n  git:\n    commit:\n      messageTemplate: '{template}'\n"
        )
    };
    let known = automation("{{ range $file, $_ := .Updated.Files }}{{ $file }}{{ end }}");
    let reading = read("v2.7.5", &known);
    assert!(!text(&reading).contains(".Updated"), "{}", text(&reading));
    assert!(text(&reading).contains(".Changed.FileChanges"), "{}", text(&reading));

    let unknown = automation("{{ range .Updated.Images }}{{ .Repository }}{{ end }}");
    let reading = read("v2.7.5", &unknown);
    let reviewed = reading
        .left()
        .any(|used| matches!(used.convertible, Convertible::Review(_)) && used.rule.as_deref() == Some("R12-template"));
    assert!(reviewed, "{:?}", reading.uses);
}
