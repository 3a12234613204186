//! Addresses of servers, whose credentials are never shown.
//!
//! In: the text of a URL. Out: an [`Address`], which shows neither user, password nor query.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How a server is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    Http,
    Https,
}

/// A URL in parts.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) scheme: Scheme,
    /// Host and port.
    pub(crate) host: String,
    /// The path, with a leading slash where it is not empty, without a trailing one.
    path: String,
    query: Option<String>,
    /// The user of the URL, without the password.
    user: Option<String>,
    /// The value of the header `Authorization`, from user and password of the URL.
    pub(crate) authorization: Option<String>,
}

impl Address {
    /// Reads `http://` and `https://` URLs.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = match text.split_once("://")? {
            (scheme, rest) if scheme.eq_ignore_ascii_case("https") => (Scheme::Https, rest),
            (scheme, rest) if scheme.eq_ignore_ascii_case("http") => (Scheme::Http, rest),
            _ => return None,
        };
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query.to_owned())),
            None => (rest, None),
        };
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, host) = match rest[..end].rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, &rest[..end]),
        };
        let plain = |byte: u8| byte.is_ascii_graphic() && !b"\\\"<>`{}|^".contains(&byte);
        if host.is_empty()
            || !rest
                .bytes()
                .chain(query.iter().flat_map(|query| query.bytes()))
                .all(plain)
        {
            return None;
        }
        Some(Self {
            scheme,
            host: host.to_ascii_lowercase(),
            path: rest[end..].trim_end_matches('/').to_owned(),
            query,
            user: user.map(|user| decoded(user.split(':').next().unwrap_or_default())),
            authorization: user.map(basic_of_url),
        })
    }

    /// Gives the address of something below; the query stays.
    pub(crate) fn join(&self, below: &str) -> Self {
        let mut joined = self.clone();
        joined.path = format!("{}/{below}", self.path);
        joined
    }

    /// Gives another address on the same server.
    pub(crate) fn with_path(&self, path: &str) -> Self {
        let mut other = self.clone();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        path.clone_into(&mut other.path);
        other.query = query.map(ToOwned::to_owned);
        other
    }

    /// Resolves the target of a redirect; credentials stay with their own host.
    pub(crate) fn redirected(&self, target: &str) -> Option<Self> {
        let mut to = if let Some(rest) = target.strip_prefix("//") {
            let scheme = if self.scheme == Scheme::Https { "https" } else { "http" };
            Self::parse(&format!("{scheme}://{rest}"))?
        } else if target.starts_with('/') {
            self.with_path(target)
        } else {
            Self::parse(target)?
        };
        if to.host == self.host && to.scheme == self.scheme {
            to.authorization = to.authorization.or_else(|| self.authorization.clone());
        }
        Some(to)
    }

    /// Gives the last part of the path.
    pub(crate) fn last(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// Gives the path.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Tells whether the server is this machine itself.
    pub(crate) fn is_local(&self) -> bool {
        is_local(&self.host)
    }

    /// Gives what tells this address from every other: what is sent, and who asks. It can hold a token, and is never shown
    /// or written.
    pub(crate) fn identity(&self) -> String {
        format!("{} {}", self.wire(), self.user.as_deref().unwrap_or_default())
    }

    /// Gives what is sent: everything but the credentials.
    pub(crate) fn wire(&self) -> String {
        let query = self.query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
        let path = if self.path.is_empty() { "/" } else { &self.path };
        format!("{}{path}{query}", self.server())
    }

    fn server(&self) -> String {
        let scheme = if self.scheme == Scheme::Https { "https" } else { "http" };
        format!("{scheme}://{}", self.host)
    }
}

/// Shows neither credentials nor the query, which may hold a token.
impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.server(), self.path)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({self})")
    }
}

/// Tells whether host and port are of this machine.
pub(crate) fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name == "localhost" || name == "[::1]" || name.starts_with("127.")
}

/// Gives the header for user and password.
pub(crate) fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

fn basic_of_url(user: &str) -> String {
    let (user, password) = user.split_once(':').unwrap_or((user, ""));
    basic(&decoded(user), &decoded(password))
}

/// Resolves `%41`; what is no such escape stays.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = (*first == b'%')
            .then(|| after.get(..2))
            .flatten()
            .and_then(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_query_are_sent_and_never_shown() {
        let address = Address::parse("https://ada:pl%40nted@Example.org:8443/a/?token=planted").unwrap();
        assert_eq!(address.to_string(), "https://example.org:8443/a");
        assert_eq!(format!("{address:?}"), "Address(https://example.org:8443/a)");
        assert_eq!(address.join("b").wire(), "https://example.org:8443/a/b?token=planted");
        assert_eq!(address.authorization, Some(basic("ada", "pl@nted")));
    }

    #[test]
    fn addresses_with_another_query_or_user_are_other_addresses() {
        let one = "https://ada:planted@example.org/a?channel=a";
        let identity = |text: &str| Address::parse(text).unwrap().identity();
        for other in [
            "https://ada:planted@example.org/a?channel=b",
            "https://bob:planted@example.org/a?channel=a",
            "https://ada:planted@example.org/b?channel=a",
            "https://example.org/a?channel=a",
        ] {
            assert_ne!(identity(one), identity(other), "{other}");
        }
        assert_eq!(identity(one), identity("https://ada:renewed@EXAMPLE.org/a/?channel=a"));
    }

    #[test]
    fn a_redirect_takes_credentials_to_no_other_host() {
        let address = Address::parse("https://ada:planted@one.example/a").unwrap();
        let to = |target| address.redirected(target).unwrap();
        assert!(to("/b?c").authorization.is_some());
        assert_eq!(to("/b?c").wire(), "https://one.example/b?c");
        for other in ["https://two.example/a", "//two.example/a", "http://one.example/a"] {
            assert_eq!(to(other).authorization, None, "{other}");
        }
        assert_eq!(address.redirected("ftp://one.example"), None);
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for text in [
            "releases",
            "oci://x/y",
            "https://",
            "https://a b/",
            "https://a/\u{e9}",
            "https://a/\r\nX: y",
        ] {
            assert_eq!(Address::parse(text), None, "{text}");
        }
    }

    #[test]
    fn this_machine_is_told_from_names_that_look_like_it() {
        for host in ["localhost", "127.0.0.1:5000", "[::1]:5000"] {
            assert!(is_local(host), "{host}");
        }
        for host in ["localhost.example.org", "example.org:5000", "10.0.0.1"] {
            assert!(!is_local(host), "{host}");
        }
    }
}
