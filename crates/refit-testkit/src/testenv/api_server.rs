//! A real API server of Kubernetes with its etcd, on ports of its own.
//!
//! In: nothing. Out: a running server with a client that may do everything. One is shared by the tests of a binary, each
//! with namespaces of its own; definitions are for all namespaces, so who changes them takes a fresh one.

use std::io::Write as _;
use std::net::TcpListener;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};

use super::apply::Apply;
use super::client::Client;
use super::guard::Guard;
use super::nodes;
use super::parts::{built, missing};

/// What its user shows; it works only while the server runs, and only on this machine.
const TOKEN: &str = "planted-token";
/// Another program can take a port between the choice and the start.
const ATTEMPTS: u32 = 3;

/// A running API server; it ends with the value, and with this process, however it ends.
#[derive(Debug)]
pub struct ApiServer {
    client: Client,
    guard: Guard,
    kubeconfig: PathBuf,
    programs: &'static Programs,
    namespaces: AtomicU32,
    nodes: OnceLock<()>,
}

#[derive(Debug)]
struct Programs {
    etcd: PathBuf,
    api_server: PathBuf,
    kubectl: Option<PathBuf>,
}

impl Deref for ApiServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl ApiServer {
    /// Gives the server that all tests of this process share.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<ApiServer>> = OnceLock::new();
        SHARED.get_or_init(Self::fresh).as_ref()
    }

    /// Starts a server of its own, and waits until it is ready.
    ///
    /// # Panics
    /// When it does not start.
    pub fn fresh() -> Option<Self> {
        let programs = programs()?;
        let mut attempt = 1;
        loop {
            match Self::start(programs) {
                Ok(server) => return Some(server),
                Err(why) => assert!(attempt < ATTEMPTS, "the API server does not start: {why}"),
            }
            attempt += 1;
        }
    }

    fn start(programs: &'static Programs) -> Result<Self, String> {
        let guard = Guard::begin();
        let (etcd, url) = (local(), format!("https://{}", local()));
        let authority = certificates(&guard);
        guard.start(&programs.etcd, &etcd_arguments(&guard, &etcd));
        guard.start(&programs.api_server, &arguments(&guard, &etcd, &url));
        let kubeconfig = guard.write("kubeconfig", &kubeconfig(&guard, &url));
        let server = Self {
            client: Client::new(url, TOKEN.to_owned(), authority.as_bytes()),
            guard,
            kubeconfig: kubeconfig.into(),
            programs,
            namespaces: AtomicU32::new(0),
            nodes: OnceLock::new(),
        };
        let is_ready = || server.is_ready().then_some(());
        server.guard.until("the API server is ready", is_ready)?;
        Ok(server)
    }

    /// Tells whether it answers, with the namespace that everything without one goes to.
    fn is_ready(&self) -> bool {
        let found = |path| {
            self.client
                .send("GET", path, "", b"")
                .is_ok_and(|(status, _)| status == 200)
        };
        found("/readyz") && found("/api/v1/namespaces/default")
    }

    /// Makes a namespace that no other test has.
    pub fn namespace(&self, prefix: &str) -> String {
        let number = self.namespaces.fetch_add(1, Ordering::Relaxed);
        let name = format!("{prefix}-{number}");
        let manifest = format!("{{apiVersion: v1, kind: Namespace, metadata: {{name: {name}}}}}");
        self.apply(manifest.as_bytes(), &Apply::by("testkit"))
            .expect("a new namespace");
        name
    }

    /// Gives the kubeconfig of a user who may do everything.
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// Gives the version of the server, as in `v1.35.4`.
    pub fn version(&self) -> String {
        let (_, version) = self.request("GET", "/version", "", b"");
        version["gitVersion"].as_str().unwrap_or_default().to_owned()
    }

    /// Gives the ids of its programs.
    pub fn processes(&self) -> Vec<u32> {
        self.guard.processes()
    }

    /// Runs kubectl as a user who may do everything.
    pub fn kubectl(&self, arguments: &[&str], input: &[u8]) -> Output {
        let mut process = Command::new(self.kubectl_program())
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .arg("--cache-dir")
            .arg(self.guard.folder().join("kubectl"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a started kubectl");
        let mut stdin = process.stdin.take().expect("its input");
        std::thread::scope(|scope| {
            // A kubectl that ends early closes its input; what it says is the answer then.
            scope.spawn(move || drop(stdin.write_all(input)));
            process.wait_with_output().expect("what kubectl says")
        })
    }

    /// Runs a shell text that calls `kubectl`, as a user who may do everything or as another one.
    pub fn shell(&self, script: &str, user: Option<&str>) -> Output {
        let name = format!("kubeconfig-{}", user.unwrap_or_default().replace(':', "-"));
        let kubeconfig = match user {
            None => self.kubeconfig.clone(),
            Some(user) => {
                let admin = std::fs::read_to_string(&self.kubeconfig).expect("the kubeconfig");
                let token = format!("token: {TOKEN}");
                let other = admin.replace(&token, &format!("{token}, as: \"{user}\""));
                assert_ne!(other, admin);
                self.guard.write(&name, &other).into()
            }
        };
        let program = self.kubectl_program();
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = program.parent().unwrap_or(Path::new("/")).display();
        Command::new("sh")
            .args(["-c", script])
            .env("PATH", format!("{folder}:{path}"))
            .env("KUBECONFIG", kubeconfig)
            .env("HOME", self.guard.folder())
            .stdin(Stdio::null())
            .output()
            .expect("a started shell")
    }

    fn kubectl_program(&self) -> PathBuf {
        let own = self.programs.kubectl.clone();
        let program = own.or_else(|| built("kubernetes").map(|folder| folder.join("kubectl")));
        program.expect("kubectl")
    }

    /// Starts the controllers, the scheduler and KWOK with a fake node, once; pods become ready on it.
    ///
    /// They end with the server. `None` where they cannot be had.
    pub fn with_nodes(&self) -> Option<&Self> {
        let (kubernetes, kwok) = (built("kubernetes")?, built("kwok")?);
        self.nodes.get_or_init(|| {
            nodes::start(&self.guard, &self.client, &self.kubeconfig, (&kubernetes, &kwok));
        });
        Some(self)
    }
}

/// Finds etcd and the API server: in `KUBEBUILDER_ASSETS` where it is set, else built.
fn programs() -> Option<&'static Programs> {
    static FOUND: OnceLock<Option<Programs>> = OnceLock::new();
    let find = || {
        let Some(folder) = std::env::var_os("KUBEBUILDER_ASSETS").map(PathBuf::from) else {
            let (etcd, kubernetes) = (built("etcd")?, built("kubernetes")?);
            return Some(Programs {
                etcd: etcd.join("etcd"),
                api_server: kubernetes.join("kube-apiserver"),
                kubectl: Some(kubernetes.join("kubectl")),
            });
        };
        let programs = Programs {
            etcd: folder.join("etcd"),
            api_server: folder.join("kube-apiserver"),
            kubectl: Some(folder.join("kubectl")).filter(|program| program.is_file()),
        };
        if programs.etcd.is_file() && programs.api_server.is_file() {
            return Some(programs);
        }
        missing("`KUBEBUILDER_ASSETS` is set, but not to a folder with `etcd` and `kube-apiserver`")
    };
    FOUND.get_or_init(find).as_ref()
}

/// Chooses a free port of this machine.
fn local() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").to_string()
}

/// Writes an authority, a certificate of the server and a key for tokens, and gives the authority.
fn certificates(guard: &Guard) -> String {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let issuer = CertifiedIssuer::self_signed(parameters, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let names = ["127.0.0.1", "localhost"].map(ToOwned::to_owned);
    let certificate = CertificateParams::new(names).expect("names").signed_by(&key, &issuer);
    guard.write("authority.pem", &issuer.pem());
    guard.write("server.pem", &certificate.expect("a certificate").pem());
    guard.write("server.key", &key.serialize_pem());
    guard.write("accounts.key", &key.serialize_pem());
    guard.write("accounts.pub", &key.public_key_pem());
    guard.write("tokens.csv", &format!("{TOKEN},admin,admin,system:masters\n"));
    issuer.pem()
}

fn etcd_arguments(guard: &Guard, address: &str) -> Vec<String> {
    let folder = guard.folder().display();
    let peer = format!("http://{}", local());
    vec![
        format!("--data-dir={folder}/etcd"),
        format!("--listen-client-urls=http://{address}"),
        format!("--advertise-client-urls=http://{address}"),
        format!("--listen-peer-urls={peer}"),
        format!("--initial-advertise-peer-urls={peer}"),
        format!("--initial-cluster=default={peer}"),
        "--unsafe-no-fsync".to_owned(),
    ]
}

fn arguments(guard: &Guard, etcd: &str, url: &str) -> Vec<String> {
    let folder = guard.folder().display();
    let port = url.rsplit(':').next().unwrap_or_default();
    vec![
        format!("--etcd-servers=http://{etcd}"),
        "--bind-address=127.0.0.1".to_owned(),
        "--advertise-address=127.0.0.1".to_owned(),
        "--endpoint-reconciler-type=none".to_owned(),
        format!("--secure-port={port}"),
        format!("--cert-dir={folder}"),
        format!("--tls-cert-file={folder}/server.pem"),
        format!("--tls-private-key-file={folder}/server.key"),
        format!("--service-account-key-file={folder}/accounts.pub"),
        format!("--service-account-signing-key-file={folder}/accounts.key"),
        format!("--service-account-issuer={url}"),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        format!("--token-auth-file={folder}/tokens.csv"),
        "--authorization-mode=RBAC".to_owned(),
        // Pods need no account, so that no controller has to make one first.
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        "--allow-privileged=true".to_owned(),
        "--profiling=false".to_owned(),
    ]
}

fn kubeconfig(guard: &Guard, url: &str) -> String {
    let folder = guard.folder().display();
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: test\n\
         contexts: [{{name: test, context: {{cluster: test, user: admin}}}}]\n\
         clusters: [{{name: test, cluster: {{server: \"{url}\", certificate-authority: \"{folder}/authority.pem\"}}}}]\n\
         users: [{{name: admin, user: {{token: {TOKEN}}}}}]\n"
    )
}
