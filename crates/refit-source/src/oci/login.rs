//! Logs in at a registry: with user and password, or with a token that they or nobody's name buys.

use std::collections::HashMap;
use std::fmt;
use std::sync::Mutex;

use refit_engine::ports::{PortError, PortErrorKind};
use serde::Deserialize;

use crate::address::{self, Address, Scheme};
use crate::credentials::{Credentials, User, Who};
use crate::network::{Network, Question};

/// How a registry wants to know who asks.
pub(super) struct Login {
    path: String,
    credentials: Credentials,
    /// The header that was accepted last.
    header: Mutex<Option<String>>,
    /// Why nobody could be named; told where the registry lets nobody in.
    failure: Mutex<Option<String>>,
}

impl fmt::Debug for Login {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Login")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Login {
    pub(super) fn new(path: String, credentials: Credentials) -> Self {
        Self {
            path,
            credentials,
            header: Mutex::new(None),
            failure: Mutex::new(None),
        }
    }

    /// Gives the header that was accepted before.
    pub(super) fn known(&self) -> Option<String> {
        self.header.lock().ok()?.clone()
    }

    /// Answers the challenge of a registry with a header.
    pub(super) fn answer(
        &self,
        network: &Network,
        address: &Address,
        challenge: Option<&str>,
    ) -> Result<String, PortError> {
        let Who { user, failure } = self.credentials.user(&address.host)?;
        if let Ok(mut known) = self.failure.lock() {
            *known = failure;
        }
        let challenge = challenge.unwrap_or_default();
        let (scheme, rest) = challenge.split_once(' ').unwrap_or((challenge, ""));
        let header = if scheme.eq_ignore_ascii_case("bearer") {
            let token = self.token(network, address, &parameters(rest), user.as_ref())?;
            format!("Bearer {token}")
        } else {
            let user = user.ok_or_else(|| self.refused(address))?;
            address::basic(&user.name, &user.password)
        };
        if let Ok(mut known) = self.header.lock() {
            *known = Some(header.clone());
        }
        Ok(header)
    }

    fn token(
        &self,
        network: &Network,
        address: &Address,
        parameters: &HashMap<String, String>,
        user: Option<&User>,
    ) -> Result<String, PortError> {
        let realm = parameters.get("realm").and_then(|realm| Address::parse(realm));
        let safe = |realm: &Address| realm.scheme == Scheme::Https || (realm.is_local() && address.is_local());
        let Some(realm) = realm.filter(safe) else {
            let message = format!("`{address}` names no safe place to log in");
            return Err(PortError::new(PortErrorKind::Forbidden, message).hint("check the address of the registry"));
        };
        let scope = format!("repository:{}:pull", self.path);
        let mut query = format!("{}?scope={scope}", realm.path());
        if let Some(service) = parameters.get("service") {
            query.push_str("&service=");
            query.extend(service.bytes().map(escaped));
        }
        let mut place = realm.with_path(&query);
        place.authorization = user.map(|user| address::basic(&user.name, &user.password));
        let answer = network.get(&Question {
            address: &place,
            accept: "application/json",
        })?;
        let read: Token = serde_json::from_slice(&answer.body).unwrap_or_default();
        read.token.or(read.access_token).ok_or_else(|| self.refused(address))
    }

    /// Says that the registry wants to know somebody else.
    pub(super) fn refused(&self, address: &Address) -> PortError {
        let host = &address.host;
        let mut message = format!("the registry `{host}` does not let this user read `{}`", self.path);
        if let Some(failure) = self.failure.lock().ok().and_then(|failure| failure.clone()) {
            message.push_str(&format!("; {failure}"));
        }
        PortError::new(PortErrorKind::Forbidden, message).hint(format!(
            "log in with `docker login {host}`, or give `DOCKER_AUTH_CONFIG`"
        ))
    }
}

/// Reads `realm="...",service="..."`.
fn parameters(text: &str) -> HashMap<String, String> {
    let mut all = HashMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once("=\"") {
        let Some((value, after)) = after.split_once('"') else {
            break;
        };
        all.insert(name.trim_matches([' ', ',']).to_ascii_lowercase(), value.to_owned());
        rest = after;
    }
    all
}

fn escaped(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~:/".contains(&byte) {
        return char::from(byte).to_string();
    }
    format!("%{byte:02X}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_is_read_whatever_stands_in_it() {
        let read = parameters(r#"realm="https://auth.example/token",service="a b",scope="repository:x:pull,push""#);
        assert_eq!(read["realm"], "https://auth.example/token");
        assert_eq!(read["scope"], "repository:x:pull,push");
        assert_eq!("a b".bytes().map(escaped).collect::<String>(), "a%20b");
        assert!(parameters("nonsense").is_empty());
    }
}
