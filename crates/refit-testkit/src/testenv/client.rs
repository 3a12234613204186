//! Asks an API server over HTTPS.
//!
//! In: objects and manifests. Out: what the server stored, or why it refused. Trusts the server's own authority only.
//! A refusal is a value, since tests ask for it; a server that does not answer stops the test.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;
use ureq::http::{Request, Response};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

use super::guard::until;

/// How long an answer may take; the slowest are those of a server that is starting.
const ANSWER: Duration = Duration::from_secs(60);
/// Lists of objects can be large.
const BODY_LIMIT: u64 = 1 << 30;

/// The address of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Object<'a> {
    /// Group and version, as in `apps/v1`.
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// The namespace; empty where the kind has none.
    pub namespace: &'a str,
    /// The name.
    pub name: &'a str,
}

/// What of an object is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All but the status.
    Whole,
    /// The status alone.
    Status,
}

/// Why the server refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Kind and name, as in `Bucket/podinfo`.
    pub object: String,
    /// The status of HTTP.
    pub status: u16,
    /// The server's word for the reason, as in `Invalid`; `NoKindMatch` where the kind is not served in this version.
    pub reason: String,
    /// The server's sentence.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            object,
            status,
            reason,
            message,
        } = self;
        write!(formatter, "{object}: {status} {reason}: {message}")
    }
}

/// A client that may do everything.
#[derive(Debug)]
pub struct Client {
    url: String,
    token: String,
    agent: Agent,
    /// The resources of each group and version that was asked for.
    resources: Mutex<HashMap<String, Vec<Resource>>>,
}

/// How objects of a kind are addressed.
#[derive(Clone, Debug)]
struct Resource {
    kind: String,
    plural: String,
    namespaced: bool,
}

impl Client {
    pub(super) fn new(url: String, token: String, authority: &[u8]) -> Self {
        let authority = Certificate::from_pem(authority).expect("a certificate");
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::Specific(Arc::new(vec![authority.to_owned()])))
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let agent = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .proxy(None)
            .timeout_global(Some(ANSWER))
            .build()
            .new_agent();
        Self {
            url,
            token,
            agent,
            resources: Mutex::default(),
        }
    }

    /// Gives the server's address: scheme, host and port.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Sends a request, and gives the status and the body, as text where it is no JSON.
    ///
    /// It is sent again when the server asks for that: the store of a kind that is new needs a moment.
    ///
    /// # Panics
    /// When the server does not answer.
    pub fn request(&self, method: &str, path: &str, content_type: &str, body: &[u8]) -> (u16, Value) {
        until("the API server takes the request", || {
            let answer = self.send(method, path, content_type, body);
            Some(answer.expect("an answer of the API server")).filter(|(status, _)| *status != 429)
        })
    }

    pub(super) fn send(
        &self,
        method: &str,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> Result<(u16, Value), ureq::Error> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("accept", "application/json");
        let mut response: Response<Body> = if body.is_empty() {
            self.agent.run(request.body(())?)?
        } else {
            self.agent
                .run(request.header("content-type", content_type).body(body)?)?
        };
        let bytes = response.body_mut().with_config().limit(BODY_LIMIT).read_to_vec()?;
        let value = serde_json::from_slice(&bytes)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&bytes).trim().to_owned()));
        Ok((response.status().as_u16(), value))
    }

    /// Reads an object; `None` where there is none, or its kind is not served.
    pub fn get(&self, object: &Object<'_>) -> Option<Value> {
        let path = self.path(object).ok()?;
        let (status, value) = self.request("GET", &path, "", b"");
        (status == 200).then_some(value)
    }

    /// Reads all objects of a kind, of one namespace or (where it is empty) of all.
    pub fn list(&self, api_version: &str, kind: &str, namespace: &str) -> Result<Vec<Value>, Refused> {
        let object = Object {
            api_version,
            kind,
            namespace,
            name: "",
        };
        let mut value = self.answer("GET", &object, (&self.path(&object)?, "", b""))?;
        match value["items"].take() {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    /// Changes an object by a merge patch.
    pub fn merge(&self, object: &Object<'_>, part: Part, patch: &Value) -> Result<Value, Refused> {
        let path = format!("{}{}", self.path(object)?, part.path());
        let body = patch.to_string();
        self.answer(
            "PATCH",
            object,
            (&path, "application/merge-patch+json", body.as_bytes()),
        )
    }

    /// Deletes an object; finalizers may keep it for a while.
    pub fn delete(&self, object: &Object<'_>) -> Result<Value, Refused> {
        self.answer("DELETE", object, (&self.path(object)?, "", b""))
    }

    /// Gives the path of an object, of all objects of its kind where it has no name.
    pub fn path(&self, object: &Object<'_>) -> Result<String, Refused> {
        let resource = self.resource(object).ok_or_else(|| not_served(object))?;
        let mut path = version_path(object.api_version);
        if resource.namespaced && !object.namespace.is_empty() {
            path = format!("{path}/namespaces/{}", object.namespace);
        } else if resource.namespaced && !object.name.is_empty() {
            path.push_str("/namespaces/default");
        }
        path = format!("{path}/{}", resource.plural);
        if object.name.is_empty() {
            return Ok(path);
        }
        Ok(format!("{path}/{}", object.name))
    }

    /// Asks for an object with (path, content type, body).
    pub(super) fn answer(
        &self,
        method: &str,
        object: &Object<'_>,
        (path, content_type, body): (&str, &str, &[u8]),
    ) -> Result<Value, Refused> {
        let (status, value) = self.request(method, path, content_type, body);
        if status < 300 {
            return Ok(value);
        }
        let text = |key: &str| value[key].as_str().unwrap_or_default().to_owned();
        if status == 404 && value.is_string() {
            // The path itself is not there, since its version is not served any more.
            self.forget(object.api_version);
            return Err(not_served(object));
        }
        Err(Refused {
            object: shown(object),
            status,
            reason: text("reason"),
            message: value.as_str().map_or_else(|| text("message"), ToOwned::to_owned),
        })
    }

    /// Forgets what the server said about a group and version.
    pub(super) fn forget(&self, api_version: &str) {
        let mut resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        resources.remove(api_version);
    }

    /// Asks the server which resources a group and version has; nothing where it is not served.
    pub(super) fn discover(&self, api_version: &str) -> Vec<Value> {
        let (_, mut value) = self.request("GET", &version_path(api_version), "", b"");
        match value.get_mut("resources").map(Value::take) {
            Some(Value::Array(resources)) => resources,
            _ => Vec::new(),
        }
    }

    fn resource(&self, object: &Object<'_>) -> Option<Resource> {
        let find = |resources: &[Resource]| {
            let of_kind = |resource: &&Resource| resource.kind == object.kind;
            resources.iter().find(of_kind).cloned()
        };
        let mut resources = self.resources.lock().unwrap_or_else(PoisonError::into_inner);
        let known = resources.get(object.api_version).and_then(|known| find(known));
        if known.is_some() {
            return known;
        }
        let fresh: Vec<Resource> = self.discover(object.api_version).iter().filter_map(read).collect();
        let found = find(&fresh);
        resources.insert(object.api_version.to_owned(), fresh);
        found
    }
}

impl Part {
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Whole => "",
            Self::Status => "/status",
        }
    }
}

fn version_path(api_version: &str) -> String {
    let root = if api_version.contains('/') { "/apis" } else { "/api" };
    format!("{root}/{api_version}")
}

fn not_served(object: &Object<'_>) -> Refused {
    let Object { api_version, kind, .. } = object;
    Refused {
        object: shown(object),
        status: 404,
        reason: "NoKindMatch".to_owned(),
        message: format!("no matches for kind \"{kind}\" in version \"{api_version}\""),
    }
}

fn shown(object: &Object<'_>) -> String {
    format!("{}/{}", object.kind, object.name)
}

/// Reads a resource of discovery; those with a `/` in their name are parts of others.
fn read(resource: &Value) -> Option<Resource> {
    let plural = resource["name"].as_str().filter(|name| !name.contains('/'))?;
    Some(Resource {
        kind: resource["kind"].as_str()?.to_owned(),
        plural: plural.to_owned(),
        namespaced: resource["namespaced"].as_bool()?,
    })
}
