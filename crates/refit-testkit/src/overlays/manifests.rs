//! Objects of many kinds.

use super::one_of;
use crate::random::Random;

/// Names that objects have; patches aim at them.
pub(super) const NAMES: [&str; 4] = ["web", "api", "job-1", "cfg"];

/// Writes some objects, each once.
pub(super) fn several(random: &mut Random, level: usize) -> String {
    let mut made: Vec<String> = Vec::new();
    let mut text = String::new();
    for round in 0..2 + random.below(5) {
        // Most patches find what they are for.
        let certain = match round {
            0 if level == 0 => Some(("Deployment", "web")),
            1 if level == 0 && !random.once_in(3) => Some(("ConfigMap", "cfg")),
            _ => None,
        };
        let kind = certain.map_or_else(|| one_of(random, &KINDS), |(kind, _)| kind);
        let chosen = format!(
            "{}{}",
            one_of(random, &NAMES),
            if random.once_in(3) {
                level.to_string()
            } else {
                String::new()
            }
        );
        let name = certain.map_or(chosen, |(_, name)| name.to_owned());
        let key = format!("{kind}/{name}");
        if made.contains(&key) {
            continue;
        }
        made.push(key);
        if !text.is_empty() {
            text.push_str("---\n");
        }
        text.push_str(&object(random, kind, &name));
    }
    text
}

const KINDS: [&str; 20] = [
    "Deployment",
    "Deployment",
    "Deployment",
    "Service",
    "ConfigMap",
    "Secret",
    "StatefulSet",
    "CronJob",
    "Job",
    "Namespace",
    "ServiceAccount",
    "RoleBinding",
    "ClusterRoleBinding",
    "ClusterRole",
    "CustomResourceDefinition",
    "Widget",
    "Widget",
    "HorizontalPodAutoscaler",
    "NetworkPolicy",
    "ValidatingWebhookConfiguration",
];

fn object(random: &mut Random, kind: &str, name: &str) -> String {
    let version = match kind {
        "Deployment" | "StatefulSet" => "apps/v1",
        "CronJob" | "Job" => "batch/v1",
        "RoleBinding" | "ClusterRoleBinding" | "ClusterRole" => "rbac.authorization.k8s.io/v1",
        "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
        "Widget" => "example.org/v1beta1",
        "HorizontalPodAutoscaler" => "autoscaling/v2",
        "NetworkPolicy" => "networking.k8s.io/v1",
        "ValidatingWebhookConfiguration" => "admissionregistration.k8s.io/v1",
        _ => "v1",
    };
    let mut text = format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: {name}\n");
    let choices: &[&str] = match (kind, name) {
        ("Deployment", "web") | ("ConfigMap", "cfg") if !random.once_in(24) => &[""],
        _ => &["", "", "", "apps", "default", "other"],
    };
    let namespace = one_of(random, choices);
    if !namespace.is_empty() && kind != "Namespace" {
        text.push_str(&format!("  namespace: {namespace}\n"));
    }
    text.push_str(one_of(random, &MARKS));
    text.push_str(&body(random, kind, name));
    text
}

const MARKS: [&str; 9] = [
    "",
    "",
    "  labels: {app: web}\n",
    "  labels: {app: web, tier: \"1\"}\n  annotations: {note: x}\n",
    "  annotations:\n    note: \"true\"\n    number: 1.50\n    flag: true\n",
    "  annotations: {}\n",
    "  labels: {}\n",
    "  finalizers: [a.example.org/x, b.example.org/y]\n",
    "  annotations: {config.kubernetes.io/local-config: \"false\"}\n",
];

fn body(random: &mut Random, kind: &str, name: &str) -> String {
    let pod = pod(random);
    match kind {
        "Deployment" | "StatefulSet" => format!(
            "spec:\n  replicas: {}\n  selector: {{matchLabels: {{app: web}}}}\n  template:\n    metadata: {{labels: {{app: web}}}}\n    spec: {pod}\n",
            1 + random.below(3)
        ),
        "Job" => format!("spec: {{template: {{spec: {pod}}}}}\n"),
        "CronJob" => format!("spec: {{schedule: \"* * * * *\", jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}}}\n"),
        "Service" => one_of(random, &SERVICES).to_owned(),
        "ConfigMap" => one_of(random, &["data: {a: \"1\", b: |-\n    x\n}\n", "data: {k: v}\n", "data:\n  a: yes\n  t: |\n    line\n", ""]).replace("|-\n    x\n", "x"),
        "Secret" => "type: Opaque\ndata: {p: cGFzcw==}\n".to_owned(),
        "RoleBinding" => format!(
            "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {name}}}\nsubjects:\n- {{kind: ServiceAccount, name: {}, namespace: {}}}\n",
            one_of(random, &["default", "web", "api"]),
            one_of(random, &["apps", "default", "other"])
        ),
        "ClusterRoleBinding" => format!(
            "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {}}}\nsubjects:\n- {{kind: ServiceAccount, name: {}, namespace: {}}}\n- {{kind: User, name: default}}\n",
            one_of(random, &NAMES),
            one_of(random, &["default", "web", "api"]),
            one_of(random, &["apps", "default"])
        ),
        "ClusterRole" => "rules:\n- {apiGroups: [\"\"], resources: [configmaps], resourceNames: [cfg, web], verbs: [get]}\n- {apiGroups: [apps], resources: [\"*\"], verbs: [\"*\"]}\n".to_owned(),
        "CustomResourceDefinition" => one_of(random, &CRDS).to_owned(),
        "Widget" => one_of(random, &WIDGETS).to_owned(),
        "HorizontalPodAutoscaler" => format!(
            "spec: {{maxReplicas: 3, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {}}}}}\n",
            one_of(random, &NAMES)
        ),
        "NetworkPolicy" => "spec:\n  podSelector: {matchLabels: {app: web}}\n  ingress:\n  - from: [{podSelector: {matchLabels: {app: web}}}]\n    ports: [{port: 80}]\n".to_owned(),
        "ValidatingWebhookConfiguration" => format!(
            "webhooks:\n- name: a.example.org\n  clientConfig: {{service: {{name: {}, namespace: {}}}}}\n- name: b.example.org\n  clientConfig: {{url: https://b.example.org}}\n",
            one_of(random, &NAMES),
            one_of(random, &["default", "apps"])
        ),
        _ => String::new(),
    }
}

const SERVICES: [&str; 3] = [
    "spec:\n  selector: {app: web}\n  ports:\n  - {name: http, port: 80}\n  - {name: dns, port: 53, protocol: UDP}\n",
    "spec: {ports: [{port: 80, targetPort: 8080}]}\n",
    "spec: {selector: {app: web}, ports: [{port: 80, protocol: TCP}, {port: 80, protocol: UDP}]}\n",
];

const CRDS: [&str; 2] = [
    "spec:\n  group: example.org\n  names: {kind: Widget, plural: widgets}\n  versions:\n  - {name: v1, served: true, storage: true}\n  - {name: v1beta1, served: true, storage: false, schema: {openAPIV3Schema: {description: \"uses ${x}\"}}}\n",
    "spec:\n  group: example.org\n  versions: [{name: v1beta1}]\n  conversion: {webhook: {clientConfig: {service: {name: web, namespace: apps}}}}\n",
];

const WIDGETS: [&str; 5] = [
    "spec:\n  list: [a, b]\n  items:\n  - {name: one, value: 1}\n  - {name: two, value: 2.50}\n  nothing: null\n",
    "spec:\n  image: nginx:1.0\n  containers:\n  - {name: main, image: \"nginx:1.0\"}\n  empty:\n",
    "spec: {template: {apiVersion: apps/v1, kind: Deployment, spec: {template: {spec: {containers: [{name: main, image: nginx}]}}}}}\n",
    "spec:\n  on: yes\n  octal: 0644\n  date: 2001-01-01T00:00:00Z\n  big: 12345678901234567890\n  small: 1e3\n  base: &b {x: 1}\n  copy: *b\n  merged: {<<: *b, y: 2}\n",
    "status: {}\nspec: {refs: [{name: cfg}, {name: web}], text: \"a: b\"}\n",
];

fn pod(random: &mut Random) -> String {
    let mut containers = Vec::new();
    for name in ["main", "side", "third"].iter().take(1 + random.below(3)) {
        let mut container = format!("name: {name}, image: \"{}\"", one_of(random, &IMAGES));
        for part in [one_of(random, &ARGS), one_of(random, &PORTS), one_of(random, &ENVS)] {
            container.push_str(part);
        }
        containers.push(format!("{{{container}}}"));
    }
    let more = one_of(random, &PODS);
    format!("{{containers: [{}]{more}}}", containers.join(", "))
}

const IMAGES: [&str; 6] = [
    "nginx",
    "nginx:1.0",
    "ghcr.io/a/b:v1@sha256:abc",
    "host:5000/nginx:2",
    "ghcr.io/a/b",
    "nginx@sha256:1234",
];
const ARGS: [&str; 4] = [
    "",
    ", args: [--a, --b=1]",
    ", args: [--a], command: [run]",
    ", resources: {limits: {cpu: 1}}",
];
const PORTS: [&str; 6] = [
    "",
    "",
    ", ports: [{containerPort: 80}]",
    ", ports: [{containerPort: 80, name: http}, {containerPort: 81, name: more}]",
    ", ports: [{containerPort: 80, protocol: TCP}, {containerPort: 80, protocol: UDP}]",
    ", ports: [{containerPort: 80, protocol: TCP}, {containerPort: 81}]",
];
const ENVS: [&str; 5] = [
    "",
    ", env: [{name: A, value: x}, {name: B, value: \"1\"}]",
    ", env: [{name: A, valueFrom: {configMapKeyRef: {name: cfg, key: a}}}]",
    ", envFrom: [{configMapRef: {name: cfg}}, {secretRef: {name: web}}]",
    ", volumeMounts: [{name: v, mountPath: /v}, {name: w, mountPath: /w}]",
];
const PODS: [&str; 7] = [
    "",
    ", volumes: [{name: v, configMap: {name: cfg}}, {name: w, secret: {secretName: web}}]",
    ", serviceAccountName: web",
    ", tolerations: [{key: a, operator: Exists}]",
    ", imagePullSecrets: [{name: web}], nodeSelector: {a: b}",
    ", topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]",
    ", initContainers: [{name: init, image: nginx}], volumes: [{name: p, projected: {sources: [{configMap: {name: cfg}}]}}]",
];
