//! Asks servers, patiently but not for ever.
//!
//! In: an [`Address`]. Out: an [`Answer`], or an error without credentials that says what to do. Proxies come from the
//! environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), authorities from the system or `SSL_CERT_FILE`.
//! Does not know what is asked for.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use refit_engine::ports::{PortError, PortErrorKind};
use ureq::http;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use crate::address::{Address, Scheme};

/// Whether servers may be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// They may.
    Online,
    /// Only what was fetched before is used.
    Offline,
}

/// How servers are asked.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Whether they may be asked.
    pub reach: Reach,
    /// The folder for what was fetched; without one nothing is kept.
    pub cache: Option<PathBuf>,
    /// How often a question is asked before it is given up.
    pub attempts: u32,
    /// The wait before the second attempt; it doubles.
    pub pause: Duration,
    /// The longest wait that a server may ask for.
    pub patience: Duration,
    /// How long a connection may take.
    pub connect: Duration,
    /// How long a server may be silent.
    pub silence: Duration,
    /// The most bytes of one answer.
    pub size: u64,
    /// How waiting is done.
    pub wait: fn(Duration),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            reach: Reach::Online,
            cache: None,
            attempts: 3,
            pause: Duration::from_millis(300),
            patience: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(20),
            size: 64 << 20,
            wait: std::thread::sleep,
        }
    }
}

/// What a server said.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: http::HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Gives the value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// What is asked.
#[derive(Clone)]
pub(crate) struct Question<'a> {
    pub(crate) address: &'a Address,
    /// The header `Accept`.
    pub(crate) accept: &'a str,
}

/// What one attempt came to.
enum Attempt {
    Done(Answer),
    /// It may go better later, after the time that the server names.
    Again(PortError, Option<Duration>),
    Failed(PortError),
}

/// The way to servers.
pub(crate) struct Network {
    settings: Settings,
    agent: OnceLock<Result<ureq::Agent, String>>,
}

impl fmt::Debug for Network {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Network")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// What helps where a server cannot be reached.
pub(crate) const OFFLINE_HINT: &str = "check the network and the proxy variables; without a network, fetch releases \
    elsewhere with `refit catalog pull --to DIR` and name the folder with `--catalog DIR`";
const REDIRECTS: usize = 5;

impl Network {
    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            agent: OnceLock::new(),
        }
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn is_offline(&self) -> bool {
        self.settings.reach == Reach::Offline
    }

    /// Asks, follows redirects, and asks again where that can help. Answers 200, 401 and 404 are for the caller.
    pub(crate) fn get(&self, question: &Question<'_>) -> Result<Answer, PortError> {
        let start = question.address;
        let mut at = start.clone();
        for _ in 0..=REDIRECTS {
            let answer = self.patiently(&Question {
                address: &at,
                ..question.clone()
            })?;
            if !matches!(answer.status, 301 | 302 | 303 | 307 | 308) {
                return accepted(&at, answer);
            }
            at = follow(start, &at, &answer)?;
        }
        let message = format!("`{start}` redirects more than {REDIRECTS} times");
        Err(PortError::new(PortErrorKind::Other, message).hint("check the address of the source"))
    }

    /// Asks where a page redirects to, and does not follow.
    pub(crate) fn redirect(&self, address: &Address) -> Result<Address, PortError> {
        let answer = self.patiently(&Question { address, accept: "*/*" })?;
        match answer.status {
            301 | 302 | 303 | 307 | 308 => follow(address, address, &answer),
            _ => {
                accepted(address, answer)?;
                let message = format!("`{address}` does not redirect to the newest release");
                Err(PortError::new(PortErrorKind::Other, message).hint("check the address of the source"))
            }
        }
    }

    fn patiently(&self, question: &Question<'_>) -> Result<Answer, PortError> {
        if self.is_offline() {
            let message = format!("`{}` is not asked, since `--offline` is set", question.address);
            return Err(PortError::new(PortErrorKind::Unreachable, message).hint(
                "run without `--offline` once, or name a folder that `refit catalog pull --to DIR` wrote with \
                 `--catalog DIR`",
            ));
        }
        let mut pause = self.settings.pause;
        let mut attempt = 1;
        loop {
            match self.once(question) {
                Attempt::Done(answer) => return Ok(answer),
                Attempt::Failed(error) => return Err(error),
                Attempt::Again(error, _) if attempt >= self.settings.attempts => return Err(error),
                Attempt::Again(error, Some(asked)) if asked > self.settings.patience => {
                    return Err(error.hint(format!("the server asks to wait {} s; try again then", asked.as_secs())));
                }
                Attempt::Again(_, asked) => (self.settings.wait)(asked.unwrap_or(pause)),
            }
            attempt += 1;
            pause *= 2;
        }
    }

    fn once(&self, question: &Question<'_>) -> Attempt {
        let address = question.address;
        let agent = match self.agent.get_or_init(|| agent(&self.settings)) {
            Ok(agent) => agent,
            Err(why) => return Attempt::Failed(PortError::new(PortErrorKind::Other, why.clone()).hint(AUTHORITY_HINT)),
        };
        let mut request = agent.get(address.wire()).header("accept", question.accept);
        if let Some(authorization) = &address.authorization {
            request = request.header("authorization", authorization);
        }
        let response = match request.call() {
            Ok(response) => response,
            Err(error) => return failed(address, error),
        };
        let (parts, body) = response.into_parts();
        match parts.status.as_u16() {
            429 | 500..=599 => {
                let message = format!("`{address}` answers {}", parts.status);
                let error = PortError::new(PortErrorKind::Unreachable, message);
                return Attempt::Again(
                    error.hint(format!("try again later, or {OFFLINE_HINT}")),
                    wanted(&parts.headers),
                );
            }
            _ => {}
        }
        match body.into_with_config().limit(self.settings.size).read_to_vec() {
            Ok(body) => Attempt::Done(Answer {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body,
            }),
            Err(error) => failed(address, error),
        }
    }
}

/// Refuses what nobody can use.
fn accepted(address: &Address, answer: Answer) -> Result<Answer, PortError> {
    match answer.status {
        200 | 401 | 404 => Ok(answer),
        403 | 407 => {
            let message = format!("`{address}` answers {}", answer.status);
            Err(PortError::new(PortErrorKind::Forbidden, message).hint("check the credentials of the source"))
        }
        status => {
            let message = format!("`{address}` answers {status}, which is not understood");
            Err(PortError::new(PortErrorKind::Other, message).hint("check the address of the source"))
        }
    }
}

/// Gives where a redirect leads, unless it gives up TLS.
fn follow(start: &Address, at: &Address, answer: &Answer) -> Result<Address, PortError> {
    let to = answer.header("location").and_then(|target| at.redirected(target));
    let Some(to) = to else {
        let message = format!("`{at}` redirects to something that is no address");
        return Err(PortError::new(PortErrorKind::Other, message).hint("check the address of the source"));
    };
    if to.scheme == Scheme::Http && start.scheme == Scheme::Https {
        let message = format!("`{start}` redirects to `{to}`, which is not protected by TLS");
        return Err(PortError::new(PortErrorKind::Forbidden, message).hint("name a source that stays with https"));
    }
    Ok(to)
}

/// Reads `Retry-After` in seconds.
fn wanted(headers: &http::HeaderMap) -> Option<Duration> {
    let seconds = headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

const AUTHORITY_HINT: &str = "install the authorities of the system (Debian: `ca-certificates`), or name a file with \
    the right one in `SSL_CERT_FILE`";

fn failed(address: &Address, error: ureq::Error) -> Attempt {
    use ureq::Error as Of;
    let unreachable = |what: String| PortError::new(PortErrorKind::Unreachable, what);
    match error {
        Of::BodyExceedsLimit(limit) => {
            let message = format!("`{address}` is larger than {} MiB", limit >> 20);
            Attempt::Failed(PortError::new(PortErrorKind::Corrupt, message).hint("check the address of the source"))
        }
        Of::Rustls(_) | Of::Tls(_) | Of::Pem(_) => Attempt::Failed(
            unreachable(format!("`{address}` cannot be trusted"))
                .hint(AUTHORITY_HINT)
                .because(error),
        ),
        Of::Io(ref inner) if is_tls(inner) => Attempt::Failed(
            unreachable(format!("`{address}` cannot be trusted"))
                .hint(AUTHORITY_HINT)
                .because(error),
        ),
        // A host that nobody answers for will not do so a second later.
        Of::HostNotFound
        | Of::ConnectProxyFailed(_)
        | Of::InvalidProxyUrl
        | Of::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Attempt::Failed(
            unreachable(format!("`{address}` cannot be reached"))
                .hint(OFFLINE_HINT)
                .because(error),
        ),
        Of::Timeout(_) => Attempt::Again(
            unreachable(format!("`{address}` does not answer in time"))
                .hint(OFFLINE_HINT)
                .because(error),
            None,
        ),
        _ => Attempt::Again(
            unreachable(format!("`{address}` cannot be reached"))
                .hint(OFFLINE_HINT)
                .because(error),
            None,
        ),
    }
}

fn is_tls(error: &std::io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<rustls::Error>())
}

fn agent(settings: &Settings) -> Result<ureq::Agent, String> {
    let found = rustls_native_certs::load_native_certs();
    let authorities: Vec<Certificate<'static>> = found
        .certs
        .iter()
        .map(|certificate| Certificate::from_der(certificate.as_ref()).to_owned())
        .collect();
    if let (true, Some(error)) = (authorities.is_empty(), found.errors.first()) {
        return Err(format!("the authorities that are trusted cannot be read: {error}"));
    }
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(authorities)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build();
    let config = ureq::Agent::config_builder()
        .tls_config(tls)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_connect(Some(settings.connect))
        .timeout_per_read(Some(settings.silence))
        .timeout_recv_response(Some(settings.silence))
        .user_agent(concat!("refit/", env!("CARGO_PKG_VERSION")))
        .build();
    Ok(config.new_agent())
}
