//! A server of HTTP and HTTPS on this machine, and a proxy before it.
//!
//! In: a function from requests to responses. Out: a running server that remembers what it was asked, and ends with the
//! value. It can be silent, cut answers off and refuse, as servers do on bad days.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use tempfile::TempDir;

/// What a client asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// The headers, names in lower case.
    pub headers: HashMap<String, String>,
    /// How often the same target was asked before.
    pub before: usize,
}

/// What a server does.
#[derive(Clone, Debug)]
pub enum Response {
    /// It answers with a status, headers and a body.
    Answer(u16, Vec<(&'static str, String)>, Vec<u8>),
    /// It promises the whole body and sends a half of it.
    Cut(Vec<u8>),
    /// It says nothing until the client gives up.
    Silence,
}

impl Response {
    /// Answers 200.
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::Answer(200, Vec::new(), body.into())
    }

    /// Answers with a status alone.
    pub fn status(status: u16) -> Self {
        Self::Answer(status, Vec::new(), Vec::new())
    }

    /// Redirects.
    pub fn redirect(to: impl Into<String>) -> Self {
        Self::Answer(302, vec![("Location", to.into())], Vec::new())
    }
}

type Handler = Arc<dyn Fn(&Request) -> Response + Send + Sync>;

/// A running server.
pub struct Server {
    address: SocketAddr,
    scheme: &'static str,
    requests: Arc<Mutex<Vec<Request>>>,
    running: Running,
}

impl fmt::Debug for Server {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Server({})", self.url())
    }
}

impl Server {
    /// Starts a server without TLS.
    pub fn start(handler: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::begin(None, Arc::new(handler))
    }

    /// Starts a server with a certificate of an authority.
    pub fn start_tls(authority: &Authority, handler: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Self {
        Self::begin(Some(Arc::clone(&authority.server)), Arc::new(handler))
    }

    /// Starts a server of the files below a folder.
    pub fn of_folder(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self::start(move |request| file_of(&folder, &request.target))
    }

    fn begin(tls: Option<Arc<ServerConfig>>, handler: Handler) -> Self {
        let requests = Arc::new(Mutex::new(Vec::new()));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let seen = Arc::clone(&requests);
        let running = Running::start(move |stream| {
            // A client that goes away is no failure of the server.
            let _ = match &tls {
                Some(config) => ServerConnection::new(Arc::clone(config))
                    .map_err(io::Error::other)
                    .and_then(|connection| serve(StreamOwned::new(connection, stream), &handler, &seen)),
                None => serve(stream, &handler, &seen),
            };
        });
        Self {
            address: running.address,
            scheme,
            requests,
            running,
        }
    }

    /// Gives the address of the server: scheme, host and port.
    pub fn url(&self) -> String {
        let host = if self.scheme == "https" {
            "localhost"
        } else {
            "127.0.0.1"
        };
        format!("{}://{host}:{}", self.scheme, self.address.port())
    }

    /// Gives host and port.
    pub fn host(&self) -> String {
        self.address.to_string()
    }

    /// Gives what was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the targets that were asked so far.
    pub fn targets(&self) -> Vec<String> {
        self.requests().into_iter().map(|request| request.target).collect()
    }

    /// Ends the server; its port refuses connections then.
    pub fn stop(mut self) {
        self.running.stop();
    }
}

/// Answers with a file below a folder.
pub fn file_of(folder: &Path, target: &str) -> Response {
    let path = target.split('?').next().unwrap_or_default().trim_start_matches('/');
    match std::fs::read(folder.join(path)) {
        Ok(bytes) => Response::ok(bytes),
        Err(_) => Response::status(404),
    }
}

fn serve<S: Read + Write>(stream: S, handler: &Handler, seen: &Mutex<Vec<Request>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let Some(mut request) = read(&mut reader)? else {
        return Ok(());
    };
    let mut all = seen.lock().unwrap_or_else(PoisonError::into_inner);
    request.before = all.iter().filter(|other| other.target == request.target).count();
    all.push(request.clone());
    drop(all);
    let stream = reader.get_mut();
    match handler(&request) {
        Response::Answer(status, headers, body) => {
            let mut head = format!(
                "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {}\r\n",
                body.len()
            );
            for (name, value) in headers {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
            stream.write_all(format!("{head}\r\n").as_bytes())?;
            stream.write_all(&body)?;
            stream.flush()
        }
        Response::Cut(body) => {
            let head = format!(
                "HTTP/1.1 200 x\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            stream.write_all(head.as_bytes())?;
            stream.write_all(&body[..body.len() / 2])?;
            stream.flush()
        }
        // The read ends when the client closes the connection.
        Response::Silence => stream.read(&mut [0]).map(|_| ()),
    }
}

fn read<R: Read>(reader: &mut BufReader<R>) -> io::Result<Option<Request>> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(ToOwned::to_owned);
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return Ok(None);
    };
    let mut headers = HashMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    Ok(Some(Request {
        method,
        target,
        headers,
        before: 0,
    }))
}

/// A proxy that tunnels (`CONNECT`), and remembers where to.
#[derive(Debug)]
pub struct Proxy {
    targets: Arc<Mutex<Vec<String>>>,
    running: Running,
}

impl Proxy {
    /// Starts a proxy that leads every tunnel to one server, whatever it is asked for.
    pub fn start(to: &Server) -> Self {
        let (targets, server) = (Arc::new(Mutex::new(Vec::new())), to.address);
        let seen = Arc::clone(&targets);
        let running = Running::start(move |stream| {
            // A client that goes away is no failure of the proxy.
            let _ = tunnel(stream, server, &seen);
        });
        Self { targets, running }
    }

    /// Gives the URL of the proxy.
    pub fn url(&self) -> String {
        format!("http://{}", self.running.address)
    }

    /// Gives the hosts that were asked for.
    pub fn targets(&self) -> Vec<String> {
        self.targets.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn tunnel(stream: TcpStream, server: SocketAddr, seen: &Mutex<Vec<String>>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    let Some(request) = read(&mut reader)? else {
        return Ok(());
    };
    let mut client = reader.into_inner();
    seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.target);
    if request.method != "CONNECT" {
        return client.write_all(b"HTTP/1.1 405 x\r\nContent-Length: 0\r\n\r\n");
    }
    client.write_all(b"HTTP/1.1 200 x\r\n\r\n")?;
    let mut upstream = TcpStream::connect(server)?;
    let (mut from, mut to) = (client.try_clone()?, upstream.try_clone()?);
    let up = thread::spawn(move || {
        let _ = io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    io::copy(&mut upstream, &mut client)?;
    client.shutdown(std::net::Shutdown::Both)?;
    let _ = up.join();
    Ok(())
}

/// A listening port with a thread for each connection.
#[derive(Debug)]
struct Running {
    address: SocketAddr,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(each: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let ended = Arc::new(AtomicBool::new(false));
        let (end, each) = (Arc::clone(&ended), Arc::new(each));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if end.load(Ordering::SeqCst) {
                    return;
                }
                let (Ok(stream), each) = (stream, Arc::clone(&each)) else {
                    continue;
                };
                thread::spawn(move || each(stream));
            }
        });
        Self {
            address,
            ended,
            thread: Some(thread),
        }
    }

    fn stop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // The thread waits for a connection: this is the last one.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A certificate authority that nobody trusts by himself, with a certificate for `localhost`.
pub struct Authority {
    folder: TempDir,
    server: Arc<ServerConfig>,
}

impl fmt::Debug for Authority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Authority")
    }
}

impl Authority {
    /// Makes an authority.
    pub fn make() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(parameters, key).expect("an authority");
        let folder = tempfile::tempdir().expect("a temporary directory");
        std::fs::write(folder.path().join("authority.pem"), issuer.pem()).expect("a written file");
        let own = KeyPair::generate().expect("a key");
        let names = CertificateParams::new(vec!["localhost".to_owned()]).expect("a name");
        let certificate = names.signed_by(&own, &issuer).expect("a certificate");
        let chain = vec![CertificateDer::from(certificate.der().to_vec())];
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(own.serialize_der()));
        let server = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("versions of TLS")
            .with_no_client_auth()
            .with_single_cert(chain, key)
            .expect("a configuration of TLS");
        Self {
            folder,
            server: Arc::new(server),
        }
    }

    /// Gives the file with its certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

/// Sends one request, and gives status, headers and body of the answer.
pub fn send(host: &str, request: &Request, body: &[u8]) -> io::Result<(u16, HashMap<String, String>, Vec<u8>)> {
    let mut stream = TcpStream::connect(host)?;
    let mut head = format!(
        "{} {} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n",
        request.method, request.target
    );
    for (name, value) in &request.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}Content-Length: {}\r\n\r\n", body.len()).as_bytes())?;
    stream.write_all(body)?;
    let mut reader = BufReader::new(stream);
    let answer = read(&mut reader)?.ok_or_else(|| io::Error::other("no answer"))?;
    let mut rest = Vec::new();
    reader.read_to_end(&mut rest)?;
    // The first line of an answer is the version, then the status.
    let status = answer.target.parse().map_err(io::Error::other)?;
    Ok((status, answer.headers, rest))
}
