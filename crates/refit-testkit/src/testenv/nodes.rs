//! Controllers, a scheduler and a fake node beside an API server.
//!
//! In: a running server and the programs. Out: nothing, once the node is ready. KWOK plays the kubelet: it moves nodes
//! and pods through the stages of its module, and runs nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::apply::Apply;
use super::client::{Client, Object};
use super::guard::Guard;

/// The stages that are played: nodes and pods become ready at once, jobs complete, what is deleted goes.
const STAGES: [&str; 3] = ["node/fast", "node/heartbeat", "pod/fast"];

const NODE: &str = "
apiVersion: v1
kind: Node
metadata:
  name: fake
  annotations: {kwok.x-k8s.io/node: fake}
  labels: {kubernetes.io/hostname: fake, kubernetes.io/os: linux, kubernetes.io/arch: amd64, type: kwok}
";
/// Starts the programs of the folders of Kubernetes and KWOK, and waits until the node takes pods.
pub(super) fn start(guard: &Guard, client: &Client, kubeconfig: &Path, (kubernetes, kwok): (&Path, &Path)) {
    let kubeconfig = format!("--kubeconfig={}", kubeconfig.display());
    // They serve nothing themselves: port 0.
    let controller = [&kubeconfig, "--leader-elect=false", "--secure-port=0"].map(ToOwned::to_owned);
    guard.start(&kubernetes.join("kube-controller-manager"), &controller);
    guard.start(&kubernetes.join("kube-scheduler"), &controller);
    let mut arguments = vec![kubeconfig, "--manage-all-nodes=true".to_owned()];
    let files = STAGES.iter().flat_map(|stage| stages(&kwok.join("stage").join(stage)));
    arguments.extend(files.map(|file| format!("--config={}", file.display())));
    guard.start(&kwok.join("kwok"), &arguments);
    client.apply(NODE.as_bytes(), &Apply::by("testkit")).expect("a node");
    let failure = guard
        .until("the fake node takes pods", || takes_pods(client).then_some(()))
        .err();
    assert!(failure.is_none(), "{}", failure.unwrap_or_default());
}

/// Lists the stages of a folder, which has a Kustomization beside them.
fn stages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the stages of KWOK").flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "yaml") && !file.ends_with("kustomization.yaml"));
    files.sort();
    files
}

fn takes_pods(client: &Client) -> bool {
    let node = Object {
        api_version: "v1",
        kind: "Node",
        namespace: "",
        name: "fake",
    };
    let Some(node) = client.get(&node) else {
        return false;
    };
    let ready = |condition: &Value| condition["type"] == "Ready" && condition["status"] == "True";
    let conditions = node["status"]["conditions"].as_array();
    node["spec"]["taints"].is_null() && conditions.is_some_and(|all| all.iter().any(ready))
}
