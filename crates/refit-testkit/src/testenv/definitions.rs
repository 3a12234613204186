//! Waits until what CustomResourceDefinitions say is in effect, and migrates what they store.
//!
//! In: definitions that the server accepted. Out: nothing, once requests meet them. The server takes them over from a
//! stream of events in order, after it answered: so a definition of the test kit is changed last, and when the change
//! shows in discovery, everything before it was taken over, too.

use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use super::client::{Client, Object, Part, Refused};
use super::guard::until;

const API_VERSION: &str = "apiextensions.k8s.io/v1";
const KIND: &str = "CustomResourceDefinition";
/// Group and version of the definition that is changed last.
const MARK: &str = "testkit.refit.example/v1";

impl Client {
    /// Gives the versions in which objects of a definition may be stored; none where there is no definition.
    pub fn stored_versions(&self, definition: &str) -> Vec<String> {
        let value = self.get(&address(definition)).unwrap_or_default();
        let versions = value["status"]["storedVersions"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        versions
            .iter()
            .filter_map(Value::as_str)
            .map(ToOwned::to_owned)
            .collect()
    }

    /// Stores all objects of a definition anew, and says so in its status, as a storage migration does.
    pub fn migrate(&self, definition: &str) -> Result<(), Refused> {
        let Some(value) = self.get(&address(definition)) else {
            return Ok(());
        };
        let stored = versions(&value).find(|version| version["storage"] == true);
        let version = stored
            .as_ref()
            .map(|version| text(&version["name"]))
            .unwrap_or_default();
        let (api_version, kind) = (
            format!("{}/{version}", text(&value["spec"]["group"])),
            text(&value["spec"]["names"]["kind"]),
        );
        for item in self.list(&api_version, &kind, "")? {
            let (namespace, name) = (text(&item["metadata"]["namespace"]), text(&item["metadata"]["name"]));
            let object = Object {
                api_version: &api_version,
                kind: &kind,
                namespace: &namespace,
                name: &name,
            };
            self.merge(&object, Part::Whole, &json!({}))?;
        }
        let status = json!({"status": {"storedVersions": [version]}});
        self.merge(&address(definition), Part::Status, &status).map(drop)
    }

    /// Deletes all definitions with their objects, and waits until they are gone.
    ///
    /// Only for a fresh server, since others need theirs; an object with a finalizer would keep its definition.
    pub fn clear_crds(&self) {
        let definitions = self.list(API_VERSION, KIND, "").expect("the definitions");
        let path = self.path(&address("")).expect("the path of definitions");
        let (status, answer) = self.request("DELETE", &path, "", b"");
        assert_eq!(status, 200, "{answer}");
        until("all definitions are gone", || {
            let left = self.list(API_VERSION, KIND, "").expect("the definitions");
            left.is_empty().then_some(())
        });
        for definition in &definitions {
            for version in versions(definition) {
                until("no deleted definition is served", || {
                    (!serves(self, definition, &version)).then_some(())
                });
            }
        }
    }
}

/// Waits until definitions are in effect: established, and served in the versions that they say.
pub(super) fn settle(client: &Client, objects: &[Value]) {
    let definitions: Vec<&Value> = objects.iter().filter(|object| object["kind"] == KIND).collect();
    if definitions.is_empty() {
        return;
    }
    pass_mark(client);
    for definition in definitions {
        let name = text(&definition["metadata"]["name"]);
        until(&format!("{name} is established"), || {
            is_established(&client.get(&address(&name))?).then_some(())
        });
        for version in versions(definition) {
            until(&format!("{name} is served as it says"), || {
                (serves(client, definition, &version) == (version["served"] == true)).then_some(())
            });
        }
    }
}

/// Waits for a kind that a definition serves, but discovery does not show yet.
pub(super) fn find(client: &Client, object: &Object<'_>) {
    if client.path(object).is_ok() {
        return;
    }
    let defines = |definition: &Value| {
        let (group, kind) = (text(&definition["spec"]["group"]), &definition["spec"]["names"]["kind"]);
        let mut served = versions(definition).filter(|version| version["served"] == true);
        kind == object.kind && served.any(|version| object.api_version == api_version(&group, &version))
    };
    let definitions = client.list(API_VERSION, KIND, "").expect("the definitions");
    if definitions.iter().any(defines) {
        until("a defined kind is served", || client.path(object).ok());
    }
}

/// Changes the definition of the test kit, and waits until the change shows.
fn pass_mark(client: &Client) {
    static LAST: Mutex<u64> = Mutex::new(0);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    *last += 1;
    let mark = format!("mark-{last}");
    let definition = json!({
        "apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": "marks.testkit.refit.example"},
        "spec": {
            "group": "testkit.refit.example", "scope": "Cluster",
            "names": {"kind": "Mark", "plural": "marks", "singular": "mark", "listKind": "MarkList", "categories": [mark]},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let object = address("marks.testkit.refit.example");
    let path = client.path(&object).expect("the path of definitions") + "?fieldManager=testkit&force=true";
    let body = definition.to_string();
    client
        .answer(
            "PATCH",
            &object,
            (&path, "application/apply-patch+yaml", body.as_bytes()),
        )
        .expect("a mark");
    until("the mark shows in discovery", || {
        let shows = |resource: &Value| resource["categories"][0] == mark;
        client.discover(MARK).iter().any(shows).then_some(())
    });
}

fn serves(client: &Client, definition: &Value, version: &Value) -> bool {
    let api_version = api_version(&text(&definition["spec"]["group"]), version);
    client.forget(&api_version);
    let kind = &definition["spec"]["names"]["kind"];
    client
        .discover(&api_version)
        .iter()
        .any(|resource| resource["kind"] == *kind)
}

fn is_established(definition: &Value) -> bool {
    let conditions = definition["status"]["conditions"].as_array();
    conditions.is_some_and(|conditions| {
        conditions
            .iter()
            .any(|condition| condition["type"] == "Established" && condition["status"] == "True")
    })
}

fn versions(definition: &Value) -> impl Iterator<Item = Value> {
    definition["spec"]["versions"]
        .as_array()
        .cloned()
        .unwrap_or_default()
        .into_iter()
}

fn api_version(group: &str, version: &Value) -> String {
    format!("{group}/{}", text(&version["name"]))
}

fn address(name: &str) -> Object<'_> {
    Object {
        api_version: API_VERSION,
        kind: KIND,
        namespace: "",
        name,
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
