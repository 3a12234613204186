//! A registry of OCI artifacts: Debian's `docker-registry` on a port of its own.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use flate2::Compression;
use flate2::write::GzEncoder;
use refit_core::digest;
use tempfile::TempDir;

use super::parts::installed;
use crate::http::{self, Request};

/// Whom a registry serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serve {
    /// Everybody.
    Everybody,
    /// Who gives [`Registry::USER`] and [`Registry::PASSWORD`].
    User,
}

/// A running registry with a folder of its own; both end with the value, also when a test panics.
#[derive(Debug)]
pub struct Registry {
    process: Child,
    address: SocketAddr,
    _folder: TempDir,
}

/// One line of `htpasswd -B` for [`Registry::USER`] and [`Registry::PASSWORD`].
const HTPASSWD: &str = "refit:$2a$04$T/8arTgnWHy2paY0Y7fWr.t3DuEP7S2Nq7ZtnnVLx36VrGkmKoV66\n";

/// [`Registry::USER`] and [`Registry::PASSWORD`] as a header.
const BASIC: &str = "Basic cmVmaXQ6cGxhbnRlZC1wYXNzd29yZA==";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

impl Registry {
    /// The user of a registry that asks for one.
    pub const USER: &'static str = "refit";
    /// The password of [`Registry::USER`].
    pub const PASSWORD: &'static str = "planted-password";

    /// Starts a registry for everybody, and waits until it answers.
    pub fn start() -> Option<Self> {
        Self::start_for(Serve::Everybody)
    }

    /// Starts a registry, and waits until it answers.
    pub fn start_for(serve: Serve) -> Option<Self> {
        let program = installed("docker-registry", "docker-registry")?;
        let folder = tempfile::tempdir().expect("a temporary directory");
        let configuration = folder.path().join("config.yml");
        fs::write(folder.path().join("htpasswd"), HTPASSWD).expect("a written file");
        fs::write(&configuration, configure(&folder, serve)).expect("a written file");
        let mut process = Command::new(program)
            .arg("serve")
            .arg(&configuration)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a started registry");
        let messages = process.stderr.take().expect("its messages");
        // The value comes first, so that a failure below ends the process, too.
        let mut registry = Self {
            process,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            _folder: folder,
        };
        registry.address = listening(messages);
        let (status, ..) = registry.call("GET", "/v2/", b"");
        assert_eq!(status, 200, "the registry answers");
        Some(registry)
    }

    /// Gives host and port, as in `127.0.0.1:5000`.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Gives the id of its process.
    pub fn process(&self) -> u32 {
        self.process.id()
    }

    /// Pushes files as `flux push artifact` does: one layer, a gzipped tar archive of a folder.
    pub fn push(&self, repository: &str, tag: &str, files: &[(&str, &[u8])]) {
        let layer = archive(files);
        let configuration = b"{}".to_vec();
        for blob in [&layer, &configuration] {
            let (_, headers, _) = self.call("POST", &format!("/v2/{repository}/blobs/uploads/"), b"");
            let place = headers["location"].splitn(4, '/').nth(3).expect("a path").to_owned();
            let (status, ..) = self.call("PUT", &format!("/{place}&digest={}", digest::of(blob)), blob);
            assert_eq!(status, 201, "the registry takes a blob");
        }
        let described = |kind: &str, blob: &[u8]| {
            let (size, digest) = (blob.len(), digest::of(blob));
            format!(r#"{{"mediaType": "{kind}", "size": {size}, "digest": "{digest}"}}"#)
        };
        let manifest = format!(
            r#"{{"schemaVersion": 2, "mediaType": "{MANIFEST}", "config": {}, "layers": [{}]}}"#,
            described("application/vnd.cncf.flux.config.v1+json", &configuration),
            described("application/vnd.cncf.flux.content.v1.tar+gzip", &layer)
        );
        let (status, ..) = self.call("PUT", &format!("/v2/{repository}/manifests/{tag}"), manifest.as_bytes());
        assert_eq!(status, 201, "the registry takes a manifest");
    }

    /// Asks the registry as its user.
    fn call(&self, method: &str, target: &str, body: &[u8]) -> (u16, HashMap<String, String>, Vec<u8>) {
        let headers = [("authorization", BASIC), ("content-type", MANIFEST)];
        let request = Request {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            before: 0,
        };
        http::send(&self.host(), &request, body).expect("an answer of the registry")
    }
}

/// Packs files as `flux push artifact` does.
fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, *bytes).expect("a packed file");
    }
    tar.into_inner().and_then(GzEncoder::finish).expect("an archive")
}

impl Drop for Registry {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to end.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Port 0 lets the system choose one that is free; the registry tells which.
fn configure(folder: &TempDir, serve: Serve) -> String {
    let folder = folder.path().display();
    let auth = match serve {
        Serve::Everybody => String::new(),
        Serve::User => format!("auth: {{htpasswd: {{realm: test, path: \"{folder}/htpasswd\"}}}}\n"),
    };
    format!(
        "version: 0.1\nlog: {{level: info}}\nhttp: {{addr: \"127.0.0.1:0\"}}\n{auth}\
         storage: {{filesystem: {{rootdirectory: \"{folder}/data\"}}, delete: {{enabled: true}}}}\n"
    )
}

/// Waits for the line that tells the address, and reads on in a thread, so that the registry never waits for a reader.
fn listening(messages: ChildStderr) -> SocketAddr {
    let mut lines = BufReader::new(messages).lines().map_while(Result::ok);
    let mut seen = String::new();
    let address = lines.by_ref().find_map(|line| {
        let found = address_in(&line);
        seen.push_str(&line);
        seen.push('\n');
        found
    });
    assert!(address.is_some(), "the registry ended before it listened:\n{seen}");
    thread::spawn(move || lines.for_each(drop));
    address.expect("the address that was just seen")
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("listening on ")?;
    rest.split(['"', ' ', ',']).next()?.parse().ok()
}
