//! The API server of the tests starts, takes and refuses as a real one does, and ends.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::io::{BufRead as _, BufReader};
use std::panic;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use refit_testkit::shared;
use refit_testkit::testenv::{ApiServer, Apply, Object, Part, Refused, until};
use serde_json::json;

/// A definition with one field, of a group of its own, so that tests of a shared server stay apart.
fn definition(group: &str, field: &str) -> Vec<u8> {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: things.{group}}}\n\
         spec:\n  group: {group}\n  scope: Namespaced\n  names: {{kind: Thing, plural: things}}\n  versions:\n  \
         - name: v1\n    served: true\n    storage: true\n    subresources: {{status: {{}}}}\n    schema:\n      \
         openAPIV3Schema:\n        type: object\n        properties:\n          \
         spec: {{type: object, properties: {{{field}: {{type: string}}}}}}\n          \
         status: {{type: object, properties: {{seen: {{type: string}}}}}}\n"
    )
    .into_bytes()
}

fn thing(group: &str, field: &str) -> Vec<u8> {
    format!("apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: one}}\nspec: {{{field}: x}}\n").into_bytes()
}

fn map(namespace: &str) -> Object<'_> {
    Object {
        api_version: "v1",
        kind: "ConfigMap",
        namespace,
        name: "settings",
    }
}

#[test]
fn two_tests_of_a_process_share_a_server_and_namespaces_are_apart() {
    let found = [(); 2].map(|()| thread::spawn(|| ApiServer::shared().map(ApiServer::processes)));
    let [one, two] = found.map(|thread| thread.join().unwrap());
    assert_eq!(one, two);
    let Some(server) = ApiServer::shared() else { return };
    let (one, two) = (server.namespace("apart"), server.namespace("apart"));
    assert_ne!(one, two);
    let manifest = b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {a: b}\n";
    let applied = server.apply(manifest, &Apply::by("test").in_namespace(&one)).unwrap();
    assert_eq!(applied[0]["data"], json!({"a": "b"}));
    assert_eq!(server.get(&map(&one)).unwrap()["data"], json!({"a": "b"}));
    assert_eq!(server.get(&map(&two)), None);
    assert_eq!(
        server.list("v1", "ConfigMap", &two).unwrap(),
        Vec::<serde_json::Value>::new()
    );
}

#[test]
fn a_server_has_the_version_that_is_built() {
    let Some(server) = ApiServer::shared() else { return };
    if std::env::var_os("KUBEBUILDER_ASSETS").is_none() {
        assert_eq!(server.version(), "v1.35.4");
    }
}

#[test]
fn a_dry_run_stores_nothing_and_a_conflict_is_refused_unless_forced() {
    let Some(server) = ApiServer::shared() else { return };
    let namespace = server.namespace("apply");
    let of = |value: &str| {
        format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings}}\ndata: {{a: {value}}}\n").into_bytes()
    };
    let by = |manager| Apply::by(manager).in_namespace(&namespace);
    server.apply(&of("one"), &by("first").dry_run()).unwrap();
    assert_eq!(server.get(&map(&namespace)), None);
    server.apply(&of("one"), &by("first")).unwrap();
    let refused = server.apply(&of("two"), &by("second")).unwrap_err();
    assert_eq!((refused[0].status, refused[0].reason.as_str()), (409, "Conflict"));
    server.apply(&of("two"), &by("second").forced()).unwrap();
    assert_eq!(server.get(&map(&namespace)).unwrap()["data"]["a"], "two");
    server
        .merge(&map(&namespace), Part::Whole, &json!({"data": {"a": "three"}}))
        .unwrap();
    assert_eq!(server.get(&map(&namespace)).unwrap()["data"]["a"], "three");
    server.delete(&map(&namespace)).unwrap();
    assert_eq!(server.get(&map(&namespace)), None);
}

#[test]
fn a_definition_is_in_effect_as_soon_as_it_is_applied() {
    let Some(server) = ApiServer::shared() else { return };
    let (group, namespace) = ("effect.example.org", server.namespace("effect"));
    let strict = Apply::by("test").in_namespace(&namespace).strict();
    // Each round brings another field, so that an old schema would refuse it.
    for round in 0..20 {
        let field = format!("field{round}");
        let mut stream = thing(group, &field);
        stream.extend_from_slice(b"---\n");
        stream.extend(definition(group, &field));
        let applied = server.apply(&stream, &strict.forced()).unwrap();
        assert_eq!(applied[1]["spec"], json!({ field: "x" }));
    }
    let refused = server.apply(&thing(group, "field0"), &strict.dry_run()).unwrap_err();
    let message = &refused[0].message;
    assert!(
        message.ends_with(".spec.field0: field not declared in schema"),
        "{message}"
    );
}

#[test]
fn an_unknown_field_is_refused_and_a_double_one_if_strict() {
    let Some(server) = ApiServer::shared() else { return };
    let (group, namespace) = ("unknown.example.org", server.namespace("unknown"));
    let apply = Apply::by("test").in_namespace(&namespace);
    server.apply(&definition(group, "known"), &apply).unwrap();
    let unknown = server.apply(&thing(group, "other"), &apply.strict()).unwrap_err();
    let expected = ".spec.other: field not declared in schema";
    assert!(unknown[0].message.ends_with(expected), "{}", unknown[0]);
    let double =
        format!("apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: one}}\nspec:\n  known: a\n  known: b\n");
    let refused = server.apply(double.as_bytes(), &apply.strict()).unwrap_err();
    assert!(
        refused[0].message.contains("key \"known\" already set"),
        "{}",
        refused[0]
    );
    server.apply(double.as_bytes(), &apply).unwrap();
}

#[test]
fn a_status_is_written_apart_from_the_object() {
    let Some(server) = ApiServer::shared() else { return };
    let (group, namespace) = ("status.example.org", server.namespace("status"));
    let apply = Apply::by("test").in_namespace(&namespace);
    server.apply(&definition(group, "field"), &apply).unwrap();
    server.apply(&thing(group, "field"), &apply).unwrap();
    let status =
        format!("apiVersion: {group}/v1\nkind: Thing\nmetadata: {{name: one}}\nstatus: {{seen: here}}\n").into_bytes();
    server.apply(&status, &apply.status()).unwrap();
    let api_version = format!("{group}/v1");
    let object = Object {
        api_version: &api_version,
        kind: "Thing",
        namespace: &namespace,
        name: "one",
    };
    let stored = server.get(&object).unwrap();
    assert_eq!(
        (&stored["status"]["seen"], &stored["spec"]["field"]),
        (&json!("here"), &json!("x"))
    );
}

#[test]
fn a_kind_that_is_not_served_is_a_refusal() {
    let Some(server) = ApiServer::shared() else { return };
    let refused = server
        .apply(&thing("nowhere.example.org", "a"), &Apply::by("test"))
        .unwrap_err();
    assert_eq!((refused[0].status, refused[0].reason.as_str()), (404, "NoKindMatch"));
    let refused = server.apply(b"a: [", &Apply::by("test")).unwrap_err();
    assert_eq!(refused[0].reason, "NoYaml");
}

#[test]
fn kubectl_sees_a_definition_as_soon_as_it_is_applied() {
    let Some(server) = ApiServer::shared() else { return };
    let (group, namespace) = ("kubectl.example.org", server.namespace("kubectl"));
    server.apply(&definition(group, "field"), &Apply::by("test")).unwrap();
    let output = server.kubectl(&["apply", "-n", &namespace, "-f", "-"], &thing(group, "field"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        format!("thing.{group}/one created")
    );
}

#[test]
fn all_definitions_of_a_server_can_be_cleared() {
    let Some(server) = ApiServer::fresh() else { return };
    let group = "cleared.example.org";
    let apply = Apply::by("test");
    for field in ["one", "two"] {
        server.apply(&definition(group, field), &apply).unwrap();
        server.apply(&thing(group, field), &apply.strict()).unwrap();
        assert_eq!(server.stored_versions(&format!("things.{group}")), ["v1"]);
        server.clear_crds();
        let refused = server.apply(&thing(group, field), &apply).unwrap_err();
        assert_eq!(refused[0].reason, "NoKindMatch");
    }
}

/// The definitions of a Flux version, four components.
fn flux(version: &str) -> Option<Vec<u8>> {
    let file = format!("flux-manifests/{version}/gotk-components.yaml");
    let text = std::fs::read_to_string(shared::find(&file)?).unwrap();
    let documents = text
        .split("\n---\n")
        .filter(|text| text.contains("\nkind: CustomResourceDefinition\n"));
    Some(documents.collect::<Vec<_>>().join("\n---\n").into_bytes())
}

/// fluxcd/flux2#5598: without any object, for the stored versions are in the status of a definition.
#[test]
fn a_definition_without_a_stored_version_is_refused_until_a_migration() {
    let (Some(server), Some(_)) = (ApiServer::fresh(), flux("v2.2.3")) else {
        return;
    };
    let apply = Apply::by("flux").forced();
    for accepted in ["v2.2.3", "v2.6.4", "v2.7.5"] {
        server.apply(&flux(accepted).unwrap(), &apply).unwrap();
    }
    let stored = server.stored_versions("helmreleases.helm.toolkit.fluxcd.io");
    assert_eq!(stored, ["v2beta2", "v2"]);
    let bucket = b"apiVersion: source.toolkit.fluxcd.io/v1\nkind: Bucket\nmetadata: {name: kept}\n\
                   spec: {bucketName: a, endpoint: b.example.org, interval: 5m}\n";
    server.apply(bucket, &apply.strict()).unwrap();
    let mut refused = server.apply(&flux("v2.8.8").unwrap(), &apply).unwrap_err();
    refused.sort_by(|one, two| one.object.cmp(&two.object));
    let names = [
        "buckets.source",
        "helmcharts.source",
        "helmreleases.helm",
        "helmrepositories.source",
        "ocirepositories.source",
    ];
    let expected = names.map(|name| format!("CustomResourceDefinition/{name}.toolkit.fluxcd.io"));
    assert_eq!(
        refused.iter().map(|refusal| &refusal.object).collect::<Vec<_>>(),
        expected.iter().collect::<Vec<_>>()
    );
    let of = |refusal: &Refused| (refusal.status, refusal.reason.clone());
    assert!(refused.iter().all(|refusal| of(refusal) == (422, "Invalid".to_owned())));
    assert!(
        refused[0]
            .message
            .contains("status.storedVersions[0]: Invalid value: \"v1beta2\": missing from spec.versions"),
        "{}",
        refused[0]
    );
    for definition in server
        .list("apiextensions.k8s.io/v1", "CustomResourceDefinition", "")
        .unwrap()
    {
        server
            .migrate(definition["metadata"]["name"].as_str().unwrap())
            .unwrap();
    }
    server.apply(&flux("v2.8.8").unwrap(), &apply).unwrap();
}

#[test]
fn a_deployment_becomes_ready_on_a_fake_node() {
    let Some(server) = ApiServer::fresh() else { return };
    let Some(server) = server.with_nodes() else { return };
    let namespace = server.namespace("nodes");
    let manifest = b"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  replicas: 2\n  \
                     selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n    \
                     spec: {containers: [{name: web, image: example.org/web:1}]}\n";
    server
        .apply(manifest, &Apply::by("test").in_namespace(&namespace))
        .unwrap();
    let web = Object {
        api_version: "apps/v1",
        kind: "Deployment",
        namespace: &namespace,
        name: "web",
    };
    until("the Deployment is ready", || {
        (server.get(&web)?["status"]["readyReplicas"] == 2).then_some(())
    });
}

#[test]
fn a_server_ends_with_a_test_that_panics() {
    let Some(server) = ApiServer::fresh() else { return };
    let (processes, folder) = (server.processes(), folder_of(&server));
    assert!(processes.len() == 2 && processes.iter().all(|id| is_alive(*id)));
    let ended = panic::catch_unwind(panic::AssertUnwindSafe(move || {
        let _held = server;
        panic::panic_any("on purpose");
    }));
    assert!(ended.is_err());
    assert!(!processes.iter().any(|id| is_alive(*id)));
    assert!(!folder.exists());
}

/// How the process that holds a server ends.
const ENDING: &str = "REFIT_TEST_ENDING";

#[test]
fn a_shared_server_ends_with_a_process_that_panics() {
    check_ending("panic");
}

#[test]
fn a_shared_server_ends_with_a_process_that_is_killed() {
    check_ending("kill");
}

/// Started by the two tests above as a process of its own.
#[test]
#[ignore = "other tests start it"]
fn holds_a_shared_server() {
    let Ok(ending) = std::env::var(ENDING) else { return };
    let server = ApiServer::shared().unwrap();
    let processes: Vec<String> = server.processes().iter().map(u32::to_string).collect();
    println!("\nheld: {} {}", folder_of(server).display(), processes.join(" "));
    if ending == "panic" {
        panic::panic_any("on purpose");
    }
    // The parent ends this process.
    std::io::stdin().lines().for_each(drop);
}

fn check_ending(ending: &str) {
    // Where no server can be had, the other process has none, either.
    if ApiServer::shared().is_none() {
        return;
    }
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holds_a_shared_server", "--ignored", "--nocapture"])
        .env(ENDING, ending)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(process.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    let line = lines
        .into_iter()
        .find_map(|line| line.strip_prefix("held: ").map(ToOwned::to_owned))
        .unwrap();
    let mut words = line.split(' ');
    let folder = PathBuf::from(words.next().unwrap());
    let processes: Vec<u32> = words.map(|id| id.parse().unwrap()).collect();
    assert_eq!(processes.len(), 2);
    if ending == "kill" {
        assert!(processes.iter().all(|id| is_alive(*id)) && folder.exists());
        process.kill().unwrap();
    }
    assert!(!process.wait().unwrap().success());
    until("the programs of the ended process are gone", || {
        (!processes.iter().any(|id| is_alive(*id))).then_some(())
    });
    until("their folder is gone", || (!folder.exists()).then_some(()));
}

fn folder_of(server: &ApiServer) -> PathBuf {
    server.kubeconfig().parent().unwrap().to_owned()
}

/// A process that ended, but that nobody waited for, is not alive.
fn is_alive(id: u32) -> bool {
    let Ok(text) = std::fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")) else {
        return false;
    };
    let state = text.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, Some('Z' | 'X'))
}
