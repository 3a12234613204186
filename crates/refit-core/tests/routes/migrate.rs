//! The migration of stored objects, its very shell text, on a real API server.

use std::collections::BTreeMap;

use refit_core::migration::{self, Job};
use refit_core::route::{Stale, Used};
use refit_testkit::flux::Manifests;
use refit_testkit::testenv::{ApiServer, Apply, Object, Part};
use serde_json::{Value, json};

use crate::server::{crds, installer, run};
use crate::support::{FOUR, version};

const CRD: &str = "helmrepositories.source.toolkit.fluxcd.io";

fn gate() -> Vec<Stale> {
    vec![Stale {
        crd: CRD.to_owned(),
        kind: "HelmRepository".to_owned(),
        version: "v1beta2".to_owned(),
        used: Used::Stored,
        storage: "v1".to_owned(),
    }]
}

fn object<'a>(api_version: &'a str, namespace: &'a str, name: &'a str) -> Object<'a> {
    Object {
        api_version,
        kind: "HelmRepository",
        namespace,
        name,
    }
}

const OLD: &str = "source.toolkit.fluxcd.io/v1beta2";
const NEW: &str = "source.toolkit.fluxcd.io/v1";

fn manifest(api_version: &str, namespace: &str, name: &str, spec: &str) -> String {
    format!(
        "{{apiVersion: {api_version}, kind: HelmRepository, metadata: {{name: {name}, namespace: {namespace}}}, spec: {spec}}}"
    )
}

/// A cluster that was raised from 2.2 to 2.6 and holds some objects that nobody wrote since.
fn raised(names: &[&str]) -> Option<(ApiServer, Manifests, String)> {
    let manifests = Manifests::find()?;
    let server = ApiServer::fresh()?;
    server
        .apply(crds(&manifests, &version("v2.2.3"), FOUR).as_bytes(), &installer())
        .unwrap();
    let namespace = server.namespace("objects");
    for name in names {
        let text = manifest(
            OLD,
            &namespace,
            name,
            "{interval: 1m, timeout: 1m, url: 'https://example.org/a'}",
        );
        server.apply(text.as_bytes(), &Apply::by("people")).unwrap();
    }
    server
        .apply(crds(&manifests, &version("v2.6.4"), FOUR).as_bytes(), &installer())
        .unwrap();
    assert_eq!(server.stored_versions(CRD), ["v1beta2", "v1"]);
    Some((server, manifests, namespace))
}

/// The fields that each manager owns, by manager, operation and part.
fn owned(object: &Value) -> BTreeMap<String, Vec<String>> {
    let mut owned: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in object["metadata"]["managedFields"].as_array().unwrap() {
        let word = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let name = word("manager").trim_end_matches("-v1beta2").to_owned();
        let fields = owned
            .entry(format!("{name} {} {}", word("operation"), word("subresource")))
            .or_default();
        leaves(&entry["fieldsV1"], "", fields);
        fields.sort();
        fields.dedup();
    }
    owned
}

fn leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value.as_object().filter(|map| !map.is_empty()) {
        None => found.push(path.to_owned()),
        Some(map) => map
            .iter()
            .for_each(|(key, value)| leaves(value, &format!("{path}/{key}"), found)),
    }
}

#[test]
fn managed_fields_get_the_storage_version_and_nobody_loses_a_field() {
    let Some((server, manifests, namespace)) = raised(&["one"]) else {
        return;
    };
    let label = |name: &str| json!({"metadata": {"labels": {name: "a"}}});
    // The same program wrote in both versions: the same manager twice, each with fields of its own.
    let (old, new) = (object(OLD, &namespace, "one"), object(NEW, &namespace, "one"));
    server.merge(&old, Part::Whole, &label("old")).unwrap();
    server.merge(&new, Part::Whole, &label("new")).unwrap();
    server
        .merge(&old, Part::Status, &json!({"status": {"url": "https://example.org/b"}}))
        .unwrap();
    let before = owned(&server.get(&new).unwrap());
    run(&server, &migration::script(&gate()));
    let after = server.get(&new).unwrap();
    for entry in after["metadata"]["managedFields"].as_array().unwrap() {
        assert_eq!(entry["apiVersion"], NEW, "{entry}");
    }
    assert_eq!(owned(&after), before);
    assert_eq!(server.stored_versions(CRD), ["v1"]);
    // Applying goes on as before: what the manager leaves out goes, what others own stays.
    server
        .apply(
            crds(&manifests, &version("v2.8.8"), &["source-controller"]).as_bytes(),
            &installer(),
        )
        .unwrap_err();
    let text = manifest(NEW, &namespace, "one", "{interval: 1m, url: 'https://example.org/a'}");
    let applied = server.apply(text.as_bytes(), &Apply::by("people")).unwrap().remove(0);
    assert_eq!(applied["spec"].get("timeout"), None, "{applied}");
    assert_eq!(applied["spec"]["interval"], "1m");
    assert_eq!(applied["metadata"]["labels"], json!({"old": "a", "new": "a"}));
}

#[test]
fn a_migration_that_is_cut_off_tells_no_success_and_goes_on_when_it_runs_again() {
    let Some((server, _, namespace)) = raised(&["one", "two", "three", "four"]) else {
        return;
    };
    let cut = "kubectl() {\n  case \"$*\" in patch*three*) echo cut >&2; exit 9 ;; esac\n  command kubectl \"$@\"\n}\n";
    let output = server.shell(&format!("{cut}{}", migration::script(&gate())), None);
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(server.stored_versions(CRD), ["v1beta2", "v1"]);
    let said = run(&server, &migration::script(&gate()));
    assert_eq!(said, format!("{CRD}: stored as v1 (was: v1beta2 v1)\n"));
    assert_eq!(server.stored_versions(CRD), ["v1"]);
    // A third run finds nothing to do and writes nothing.
    let versions = || {
        let listed = server.list(NEW, "HelmRepository", &namespace).unwrap();
        listed
            .iter()
            .map(|object| object["metadata"]["resourceVersion"].to_string())
            .collect::<Vec<_>>()
    };
    let before = versions();
    run(&server, &migration::script(&gate()));
    assert_eq!((before.len(), versions()), (4, before));
}

#[test]
fn an_object_that_others_write_or_delete_meanwhile_does_not_stop_the_migration() {
    let Some((server, _, namespace)) = raised(&["one", "two"]) else {
        return;
    };
    // Before the first patch of each object somebody else comes: one is changed, the other is gone.
    let others = format!(
        "kubectl() {{\n  case \"$*\" in\n  patch*' one '*) [ -f \"$HOME/once\" ] || {{ touch \"$HOME/once\"; command kubectl -n {namespace} \
         annotate {CRD} one by=others >/dev/null; }} ;;\n  patch*' two '*) command kubectl -n {namespace} delete {CRD} two \
         --ignore-not-found >/dev/null ;;\n  esac\n  command kubectl \"$@\"\n}}\n"
    );
    run(&server, &format!("{others}{}", migration::script(&gate())));
    assert_eq!(server.stored_versions(CRD), ["v1"]);
    let one = server.get(&object(NEW, &namespace, "one")).unwrap();
    assert_eq!(one["metadata"]["annotations"]["by"], "others");
    assert_eq!(server.get(&object(NEW, &namespace, "two")), None);
}

#[test]
fn the_job_has_the_rights_that_its_script_needs_and_no_others() {
    let Some((server, _, namespace)) = raised(&["one"]) else {
        return;
    };
    let gate = gate();
    let job = Job {
        name: "refit-migrate-v2-6-4-v2-8-8".to_owned(),
        namespace: &namespace,
        image: "registry.example.org/kubectl:1.35.4",
        gate: &gate,
    };
    let manifest = migration::manifest(&job);
    let applied = server
        .apply(manifest.as_bytes(), &Apply::by("kustomize-controller").strict())
        .unwrap();
    let of_job = applied.iter().find(|object| object["kind"] == "Job").unwrap();
    let script = of_job
        .pointer("/spec/template/spec/containers/0/command/2")
        .and_then(Value::as_str)
        .unwrap();
    assert_eq!(script.trim_end(), migration::script(&gate).trim_end());
    assert_eq!(of_job["spec"]["ttlSecondsAfterFinished"], migration::TTL_SECONDS);
    let user = format!("system:serviceaccount:{namespace}:{}", job.name);
    for refused in [
        "kubectl get secrets -A",
        "kubectl get crds",
        &format!("kubectl delete {CRD} -n {namespace} one"),
        "kubectl get helmreleases.helm.toolkit.fluxcd.io -A",
    ] {
        let output = server.shell(refused, Some(&user));
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("Forbidden"),
            "{refused}: {said}"
        );
    }
    let output = server.shell(script, Some(&user));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(server.stored_versions(CRD), ["v1"]);
}
