//! A registry of OCI artifacts: Debian's `docker-registry` on a port of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::thread;

use tempfile::TempDir;

use super::installed;

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
        let status = registry.status();
        assert!(
            status == "200" || (serve == Serve::User && status == "401"),
            "the registry answers {status}"
        );
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

    /// Asks for the root of its interface.
    fn status(&self) -> String {
        let mut stream = TcpStream::connect(self.address).expect("a connection to the registry");
        let request = format!("GET /v2/ HTTP/1.0\r\nHost: {}\r\n\r\n", self.address);
        stream.write_all(request.as_bytes()).expect("a sent request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer of the registry");
        answer.split(' ').nth(1).unwrap_or_default().to_owned()
    }
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
    let address = address.unwrap_or_else(|| panic!("the registry ended before it listened:\n{seen}"));
    thread::spawn(move || lines.for_each(drop));
    address
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, rest) = line.split_once("listening on ")?;
    rest.split(['"', ' ', ',']).next()?.parse().ok()
}
