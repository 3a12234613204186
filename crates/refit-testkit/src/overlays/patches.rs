//! Patches of all forms.

use super::manifests::NAMES;
use super::one_of;
use crate::random::Random;

/// Writes a target.
pub(super) fn target(random: &mut Random) -> String {
    let mut parts = Vec::new();
    let kind = one_of(
        random,
        &[
            "Deployment",
            "Deployment",
            "Widget",
            "Deployment|StatefulSet",
            "CustomResourceDefinition",
            ".*",
            "Service",
        ],
    );
    parts.push(format!("kind: \"{kind}\""));
    if random.once_in(2) {
        let name = one_of(random, &["web", "api", "w.*", "(web|api)", "eb", "job-1", "web.*|cfg"]);
        parts.push(format!("name: \"{name}\""));
    }
    match random.below(9) {
        0 => parts.push("namespace: apps".to_owned()),
        1 => parts.push("namespace: default".to_owned()),
        2 => parts.push("group: apps".to_owned()),
        3 => parts.push("version: v1".to_owned()),
        4 => parts.push("labelSelector: \"app=web\"".to_owned()),
        5 => parts.push("labelSelector: \"app in (web, x),!nope\"".to_owned()),
        6 => parts.push("annotationSelector: note".to_owned()),
        _ => {}
    }
    format!("{{{}}}", parts.join(", "))
}

/// Writes the content of a strategic merge for any kind, which needs a target.
pub(super) fn merge_for_target(random: &mut Random) -> String {
    let (version, kind) = match random.below(8) {
        0..=3 => ("apps/v1", "Deployment"),
        4..=5 => ("example.org/v1beta1", "Widget"),
        6 => ("v1", "Service"),
        _ => ("apps/v1", "StatefulSet"),
    };
    merge_of(random, version, kind)
}

/// Writes the content of a strategic merge whose object is likely to be there.
pub(super) fn merge(random: &mut Random) -> String {
    let (version, kind) = match random.below(150) {
        0..=146 => ("apps/v1", "Deployment"),
        147 => ("example.org/v1beta1", "Widget"),
        148 => ("v1", "Service"),
        _ => ("apps/v1", "StatefulSet"),
    };
    merge_of(random, version, kind)
}

fn merge_of(random: &mut Random, version: &str, kind: &str) -> String {
    let mut text = format!(
        "apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {}\n",
        if random.once_in(60) {
            one_of(random, &NAMES)
        } else {
            "web"
        }
    );
    text.push_str(one_of(random, &METADATA));
    if random.once_in(12) {
        text.push_str("$patch: delete\n");
        return text;
    }
    let body = match kind {
        "Deployment" | "StatefulSet" => workload(random),
        "Widget" => one_of(random, &WIDGETS).to_owned(),
        _ => one_of(random, &SERVICES).to_owned(),
    };
    text.push_str(&body);
    text
}

const METADATA: [&str; 10] = [
    "",
    "",
    "",
    "",
    "  labels: {new: label}\n",
    "  annotations: {note: changed, number: \"2\"}\n",
    "  labels: {app: null}\n",
    "  annotations: null\n",
    "",
    "  finalizers: [c.example.org/z, a.example.org/x]\n",
];

const WIDGETS: [&str; 8] = [
    "spec: {list: [c]}\n",
    "spec: {items: [{name: one, value: 9}]}\n",
    "spec: {nothing: null, image: other, added: {deep: {x: null, y: 1}}}\n",
    "spec: {$patch: replace, only: this}\n",
    "spec: {containers: [{name: main, tag: x}]}\n",
    "spec: {template: {spec: {template: {spec: {containers: [{name: side, image: x}]}}}}}\n",
    "spec: null\n",
    "spec: {text: {a: b}}\n",
];

const SERVICES: [&str; 5] = [
    "spec: {ports: [{port: 80, name: renamed}]}\n",
    "spec: {ports: [{port: 80, protocol: UDP, nodePort: 1}]}\n",
    "spec: {ports: [{$patch: replace}, {port: 1}]}\n",
    "spec: {type: NodePort, selector: {app: other}}\n",
    "spec: {ports: [{port: 80, $patch: delete}]}\n",
];

fn workload(random: &mut Random) -> String {
    let spec = match random.below(5) {
        0 => return format!("spec: {{replicas: {}}}\n", random.below(5)),
        1 => {
            return one_of(
                random,
                &[
                    "spec: {strategy: {type: Recreate, rollingUpdate: null}}\n",
                    "spec: {template: {metadata: {annotations: {a: b}}}}\n",
                    "spec: {selector: {$patch: delete}}\n",
                    "spec: {minReadySeconds: 5}\n",
                    "spec: {template: {metadata: {labels: {app: web, extra: e}}}}\n",
                    "spec: {revisionHistoryLimit: 2, paused: true}\n",
                    "spec: [a]\n",
                ],
            )
            .to_owned();
        }
        2 => one_of(random, &PODS).to_owned(),
        _ => {
            let mut containers = Vec::new();
            for _ in 0..1 + random.below(2) {
                let name = one_of(random, &["main", "side", "new"]);
                containers.push(format!("{{name: {name}{}}}", one_of(random, &CONTAINERS)));
            }
            format!("containers: [{}]", containers.join(", "))
        }
    };
    format!("spec: {{template: {{spec: {{{spec}}}}}}}\n")
}

const PODS: [&str; 12] = [
    "volumes: [{name: v, emptyDir: {}}]",
    "volumes: [{name: v, configMap: null, emptyDir: {}}, {name: x, emptyDir: {}}]",
    "volumes: [{name: v, $patch: delete}]",
    "tolerations: [{key: z}]",
    "tolerations: null",
    "imagePullSecrets: [{name: more}]",
    "nodeSelector: {a: null, c: d}",
    "topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, maxSkew: 1}]",
    "topologySpreadConstraints: [{topologyKey: host, whenUnsatisfiable: ScheduleAnyway}]",
    "containers: [{$patch: replace}, {name: only, image: x}]",
    "containers: [{$patch: delete}]",
    "containers: null",
];

const CONTAINERS: [&str; 20] = [
    ", image: \"patched:2\"",
    ", args: [--new]",
    ", args: null",
    ", env: [{name: A, value: y}]",
    ", env: [{name: C, value: z}, {name: A, $patch: delete}]",
    ", env: [{name: A, value: null, valueFrom: {fieldRef: {fieldPath: x}}}]",
    ", ports: [{containerPort: 80, name: p}]",
    ", ports: [{containerPort: 80, protocol: UDP, hostPort: 1}]",
    ", ports: [{containerPort: 82, protocol: TCP}]",
    ", ports: [{containerPort: 81, $patch: delete}]",
    ", $patch: delete",
    ", $patch: replace, image: z",
    ", $patch: merge, image: z",
    ", resources: {limits: {cpu: null, memory: 1Gi}}",
    ", volumeMounts: [{mountPath: /v, name: other}]",
    ", volumeMounts: [{mountPath: /w, $patch: delete}, {mountPath: /n, name: n}]",
    ", envFrom: [{configMapRef: {name: x}}]",
    ", command: [a, b], $retainKeys: [name]",
    ", $setElementOrder/env: [{name: A}]",
    ", securityContext: {$patch: replace, runAsUser: 1}",
];

/// Writes a patch by RFC 6902.
pub(super) fn operations(random: &mut Random) -> String {
    let mut lines = String::new();
    for _ in 0..1 + random.below(2) {
        lines.push_str(one_of(random, &OPERATIONS));
        lines.push('\n');
    }
    lines
}

const OPERATIONS: [&str; 34] = [
    "- {op: add, path: /metadata/annotations, value: {all: new}}",
    "- {op: add, path: /metadata/labels, value: {app: web, only: that}}",
    "- {op: add, path: /spec/extra, value: [1, two]}",
    "- {op: test, path: /metadata/name, value: web}",
    "- {op: add, path: /metadata/annotations/new, value: \"1\"}",
    "- {op: add, path: /metadata/annotations/new, value: \"1\"}",
    "- {op: add, path: /metadata/annotations/a.b~1c~0d, value: x}",
    "- {op: add, path: /metadata/labels/new, value: l}",
    "- {op: add, path: /metadata/labels, value: {only: this}}",
    "- {op: replace, path: /spec/replicas, value: 7}",
    "- {op: replace, path: /spec/replicas, value: 7}",
    "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --more}",
    "- {op: add, path: /spec/template/spec/containers/0/args/0, value: --first}",
    "- {op: add, path: /spec/template/spec/containers/-, value: {name: last, image: x}}",
    "- {op: replace, path: /spec/template/spec/containers/0/image, value: \"json:1\"}",
    "- {op: replace, path: /spec/template/spec/containers/-1/image, value: \"json:2\"}",
    "- {op: remove, path: /spec/template/spec/containers/1}",
    "- {op: remove, path: /spec/template/spec/containers/0/image}",
    "- {op: add, path: /spec/versions/0/x, value: true}",
    "- {op: replace, path: /spec/versions/0/storage, value: yes}",
    "- {op: test, path: /spec/replicas, value: 1}",
    "- {op: test, path: /kind, value: Deployment}",
    "- {op: copy, from: /metadata/name, path: /spec/copied}",
    "- {op: move, from: /spec/selector, path: /spec/moved}",
    "- {op: move, from: /metadata/name, path: /spec/moved}",
    "- {op: add, path: /spec/number, value: 1.0}",
    "- {op: add, path: /spec/number, value: 12345678901234567890}",
    "- {op: replace, path: /metadata/name, value: renamed}",
    "- {op: remove, path: /metadata/annotations}",
    "- {op: replace, path: /spec, value: {all: new}}",
    "- {op: add, path: /spec/list/0, value: z}",
    "- {op: replace, path: /spec/items/1/value, value: null}",
    "- {op: add, path: spec/bad, value: 1}",
    "- {op: add, path: /spec/template/spec/tolerations/-, value: {key: n}}",
];
