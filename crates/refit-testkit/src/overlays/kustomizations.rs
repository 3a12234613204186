//! Kustomizations with what they can hold.

use super::manifests::NAMES;
use super::{Overlay, one_of, patches};
use crate::random::Random;

/// Writes the kustomization of one level, with the files that it names.
pub(super) fn level(random: &mut Random, overlay: &mut Overlay, directory: &str, resources: &[String]) -> String {
    let mut text = String::new();
    if random.once_in(3) {
        text.push_str("apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n");
    }
    let key = if random.once_in(8) { "bases" } else { "resources" };
    text.push_str(&format!("{key}: [{}]\n", resources.join(", ")));
    generators(random, overlay, directory, &mut text);
    for line in simple(random) {
        text.push_str(&line);
    }
    if random.once_in(2) {
        text.push_str("patches:\n");
        for index in 0..1 + random.below(2) {
            patch(random, overlay, directory, index, &mut text);
        }
    }
    if random.once_in(5) {
        text.push_str("patchesStrategicMerge:\n");
        let merge = patches::merge(random);
        if random.once_in(2) {
            overlay.file(format!("{directory}/merge.yaml"), merge);
            text.push_str("- merge.yaml\n");
        } else {
            text.push_str(&format!("- |\n{}", indented(&merge, 4)));
        }
    }
    if random.once_in(12) {
        let operations = patches::operations(random);
        let name = one_of(random, &NAMES);
        let kind = one_of(
            random,
            &["Deployment", "Deployment", "Widget", "CustomResourceDefinition"],
        );
        text.push_str(&format!(
            "patchesJson6902:\n- target: {{kind: {kind}, name: {name}}}\n  patch: |\n{}",
            indented(&operations, 4)
        ));
    }
    if random.once_in(6) {
        component(random, overlay, directory);
        text.push_str("components: [../part]\n");
    }
    text
}

fn patch(random: &mut Random, overlay: &mut Overlay, directory: &str, index: usize, text: &mut String) {
    let by_target = random.below(3) > 0;
    let content = match (by_target, random.once_in(2)) {
        (true, true) => patches::operations(random),
        (true, false) => patches::merge_for_target(random),
        (false, _) => patches::merge(random),
    };
    if random.once_in(3) {
        let name = format!("patch{index}.yaml");
        overlay.file(format!("{directory}/{name}"), content);
        text.push_str(&format!("- path: {name}\n"));
    } else {
        text.push_str(&format!("- patch: |\n{}", indented(&content, 4)));
    }
    if by_target {
        text.push_str(&format!("  target: {}\n", patches::target(random)));
    }
    match random.below(14) {
        0 => text.push_str("  options: {allowNameChange: true}\n"),
        1 => text.push_str("  options: {allowKindChange: true}\n"),
        _ => {}
    }
}

fn component(random: &mut Random, overlay: &mut Overlay, directory: &str) {
    if overlay.files.iter().any(|(path, _)| path == "part/kustomization.yaml") {
        return;
    }
    let _ = directory;
    let mut text = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n".to_owned();
    text.push_str(one_of(
        random,
        &[
            "namePrefix: part-\n",
            "commonLabels: {part: a}\n",
            "labels: [{pairs: {part: b}, includeTemplates: true}]\n",
            "configMapGenerator: [{name: cfg, behavior: merge, literals: [x=1]}]\n",
            "images: [{name: nginx, newTag: part}]\n",
            "commonAnnotations: {part: c}\n",
            "namePrefix: r-\nnamespace: apps\n",
            "nameSuffix: -t\n",
            "commonAnnotations: {part: d}\n",
            "resources: [../nowhere]\n",
        ],
    ));
    if random.once_in(2) {
        text.push_str(&format!(
            "patches:\n- target: {}\n  patch: |\n{}",
            patches::target(random),
            indented(&patches::merge(random), 4)
        ));
    }
    overlay.file("part/kustomization.yaml", text);
}

fn generators(random: &mut Random, overlay: &mut Overlay, directory: &str, text: &mut String) {
    if random.once_in(4) {
        let mut entry = one_of(random, &CONFIG_MAPS);
        // What is said of one that is there, or is not, mostly fails.
        if entry.contains("cfg") && !random.once_in(3) {
            entry = CONFIG_MAPS[0];
        }
        if entry.contains("app.env") {
            overlay.file(
                format!("{directory}/app.env"),
                "# comment\nA=1\n  B = x y\nC\n\nD=\"q\"\n",
            );
            overlay.file(
                format!("{directory}/sub/app.txt"),
                "text <with> & signs\nsecond \"line\"\n",
            );
        }
        text.push_str(&format!("configMapGenerator:\n- {entry}\n"));
    }
    if random.once_in(6) {
        text.push_str(&format!("secretGenerator:\n- {}\n", one_of(random, &SECRETS)));
    }
    if random.once_in(10) {
        text.push_str("generatorOptions: {labels: {made: here}, disableNameSuffixHash: true}\n");
    }
}

const CONFIG_MAPS: [&str; 16] = [
    "{name: new, literals: [a=1]}",
    "{name: new, literals: [a=2, c=3], options: {labels: {x: w}}}",
    "{name: made, files: [sub/app.txt], envs: [app.env]}",
    "{name: third, literals: [a=1], options: {disableNameSuffixHash: true}}",
    "{name: fourth, namespace: apps, literals: [a=1]}",
    "{name: new, literals: [a=1, \"b='x y'\"]}",
    "{name: web, literals: [a=1, b=]}",
    "{name: cfg, behavior: merge, literals: [more=2]}",
    "{name: cfg, literals: [a=1, \"b='x y'\"]}",
    "{name: cfg, behavior: merge, literals: [a=2]}",
    "{name: cfg, behavior: replace, literals: [z=2]}",
    "{name: made, envs: [app.env], files: [sub/app.txt, other=sub/app.txt]}",
    "{name: cfg, files: [sub/app.txt], envs: [app.env], options: {immutable: true, annotations: {a: b}}}",
    "{name: cfg, literals: [a=1], options: {disableNameSuffixHash: true, labels: {x: z}}}",
    "{name: cfg, namespace: apps, literals: [a=1]}",
    "{name: empty}",
];

const SECRETS: [&str; 8] = [
    "{name: web, literals: [p=secret]}",
    "{name: web, type: kubernetes.io/tls, literals: [tls.crt=a, tls.key=b], options: {disableNameSuffixHash: true}}",
    "{name: long, literals: [\"p=0123456789012345678901234567890123456789012345678901234567890123456789\"]}",
    "{name: other, literals: [a=b]}",
    "{name: web, literals: [p=secret, q=\"x\"]}",
    "{name: other, type: x, literals: [a=b], options: {labels: {a: b}}}",
    "{name: fresh, literals: [a=b]}",
    "{name: kept, literals: [a=b], options: {immutable: true}}",
];

fn simple(random: &mut Random) -> Vec<String> {
    let mut lines = Vec::new();
    for (times, choices) in FIELDS {
        if random.once_in(*times) {
            lines.push(format!("{}\n", one_of(random, choices)));
        }
    }
    lines
}

/// Fields with what they can hold, each there once in so many times.
const FIELDS: &[(usize, &[&str])] = &[
    (
        4,
        &[
            "namespace: apps",
            "namespace: apps",
            "namespace: other",
            "namespace: default",
        ],
    ),
    (5, &["namePrefix: p-", "namePrefix: q-"]),
    (7, &["nameSuffix: -s", "nameSuffix: \"-1\""]),
    (40, &COMMON_LABELS),
    (5, &LABELS),
    (6, &["commonAnnotations: {common: \"1\", note: over}"]),
    (4, &IMAGES),
    (10, &REPLICAS),
    (11, &REPLACEMENTS),
    (10, &SORTS),
    (80, &WRONG),
];

/// What kustomize refuses, and what is not evaluated.
const WRONG: [&str; 6] = [
    "unknown: field",
    "resourcess: []",
    "openapi: {version: v1.20.4}",
    "crds: [1]",
    "secretGenerator: [{name: z, literals: [nothing]}]",
    "labels: [{pairs: {l: one}, fields: [{path: metadata/labels, create: false}]}]",
];

const COMMON_LABELS: [&str; 5] = [
    "commonLabels: {common: label}",
    "commonLabels: {app: other}",
    "commonLabels: {app: other, more: \"2\"}",
    "commonLabels: {a: b, c: d}",
    "commonLabels: {common: other}",
];

const REPLICAS: [&str; 6] = [
    "replicas: [{name: web, count: 4}]",
    "replicas: [{name: web, count: 5}]",
    "replicas: [{name: web, count: 0}]",
    "replicas: [{name: web}]",
    "replicas: [{name: web, count: 9}, {name: web, count: 8}]",
    "replicas: [{name: web, count: 3}]",
];

const SORTS: [&str; 3] = [
    "sortOptions: {order: fifo}",
    "sortOptions: {order: legacy}",
    "sortOptions: {order: legacy, legacySortOptions: {orderFirst: [Deployment], orderLast: [Namespace]}}",
];

const LABELS: [&str; 6] = [
    "labels: [{pairs: {l: one}}]",
    "labels: [{pairs: {l: one}, includeSelectors: true}]",
    "labels: [{pairs: {l: one}, includeTemplates: true}, {pairs: {m: two}}]",
    "labels: [{pairs: {l: one}, fields: [{path: spec/labels, create: true, kind: Widget}]}]",
    "labels: [{pairs: {l: one}, fields: [{path: spec/labels, kind: Widget}, {path: spec/x, create: true, kind: Deployment, group: apps}]}]",
    "labels: [{pairs: {l: one, k: two}}]",
];

const IMAGES: [&str; 8] = [
    "images: [{name: nginx, newTag: \"9\"}]",
    "images: [{name: nginx, newName: other/nginx}]",
    "images: [{name: ghcr.io/a/b, digest: sha256:fff}]",
    "images: [{name: ghcr.io/a/b, newName: x.y/z, newTag: v2}]",
    "images: [{name: nginx, tagSuffix: -alpine}]",
    "images: [{name: \".*nginx\", newTag: re}]",
    "images: [{name: nginx, newTag: \"1.5\"}, {name: ghcr.io/a/b, newTag: x}]",
    "images: [{name: host:5000/nginx, newName: nginx, digest: sha256:0}]",
];

const REPLACEMENTS: [&str; 8] = [
    "replacements: [{source: {kind: Deployment, name: web}, targets: [{select: {kind: Service}, fieldPaths: [spec.selector.app]}]}]",
    "replacements: [{source: {kind: ConfigMap, name: cfg, fieldPath: data.a}, targets: [{select: {kind: Deployment}, fieldPaths: [\"spec.template.spec.containers.[name=main].image\"]}]}]",
    "replacements: [{sourceValue: fixed, targets: [{select: {kind: Deployment}, fieldPaths: [metadata.annotations.made], options: {create: true}}]}]",
    "replacements: [{sourceValue: v3, targets: [{select: {kind: Deployment}, fieldPaths: [\"spec.template.spec.containers.*.image\"], options: {delimiter: \":\", index: 1}}]}]",
    "replacements: [{sourceValue: \"4\", targets: [{select: {kind: Deployment}, reject: [{name: api}], fieldPaths: [spec.replicas]}]}]",
    "replacements: [{sourceValue: x, targets: [{select: {kind: Widget}, fieldPaths: [spec.items.0.name, \"spec.items.[name=two].value\"]}]}]",
    "replacements: [{source: {kind: Deployment, fieldPath: spec.template.spec.containers.0.image, options: {delimiter: \":\"}}, targets: [{select: {name: \"web|api\"}}]}]",
    "replacements: [{source: {kind: Widget}, targets: [{select: {kind: Widget}, fieldPaths: [spec.absent]}]}]",
];

fn indented(text: &str, blanks: usize) -> String {
    let blanks = " ".repeat(blanks);
    text.lines().map(|line| format!("{blanks}{line}\n")).collect()
}
