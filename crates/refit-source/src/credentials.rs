//! Who the user is for a registry, from the configuration of Docker.
//!
//! In: the text of `config.json` (or of `DOCKER_AUTH_CONFIG`). Out: user and password of a host. Programs that keep them
//! (`credsStore`, `credHelpers`) are asked. Nothing of it is ever shown.

mod helper;

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use refit_engine::ports::{PortError, PortErrorKind};
use serde::Deserialize;

/// What Docker's configuration says.
#[derive(Clone, Default)]
pub struct Credentials {
    configuration: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Credentials")
    }
}

/// A user with a password.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) password: String,
}

impl fmt::Debug for User {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("User")
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Configuration {
    auths: HashMap<String, Auth>,
    #[serde(rename = "credsStore")]
    store: Option<String>,
    #[serde(rename = "credHelpers")]
    helpers: HashMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Auth {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
}

/// Who the user is for a host.
#[derive(Debug, Default)]
pub(crate) struct Who {
    pub(crate) user: Option<User>,
    /// Why what should have said so was of no use.
    pub(crate) failure: Option<String>,
}

impl Credentials {
    /// Takes the text of a `config.json`.
    pub fn new(configuration: impl Into<String>) -> Self {
        Self {
            configuration: Some(configuration.into()),
        }
    }

    /// Reads `DOCKER_AUTH_CONFIG`, else `config.json` in `DOCKER_CONFIG`, else in `~/.docker`.
    pub fn of_environment() -> Self {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        if let Some(text) = variable("DOCKER_AUTH_CONFIG").and_then(|text| text.into_string().ok()) {
            return Self::new(text);
        }
        let folder = variable("DOCKER_CONFIG")
            .map(PathBuf::from)
            .or_else(|| variable("HOME").map(|home| PathBuf::from(home).join(".docker")));
        let text = folder.and_then(|folder| std::fs::read_to_string(folder.join("config.json")).ok());
        text.map(Self::new).unwrap_or_default()
    }

    /// Finds the user for a host.
    pub(crate) fn user(&self, host: &str) -> Result<Who, PortError> {
        let Some(text) = &self.configuration else {
            return Ok(Who::default());
        };
        // The text of a syntax error would show a part of the secrets.
        let Ok(configuration) = serde_json::from_str::<Configuration>(text) else {
            let error = PortError::new(
                PortErrorKind::Other,
                "the configuration of Docker is no JSON that is understood",
            );
            return Err(error.hint("repair `config.json` (`DOCKER_CONFIG`) or `DOCKER_AUTH_CONFIG`"));
        };
        let names = names(host);
        let helper = names.iter().find_map(|name| configuration.helpers.get(name));
        let helper = helper.or(configuration.store.as_ref());
        let mut who = Who::default();
        match helper.map(|helper| helper::ask(helper, &names)).transpose() {
            Ok(user) => who.user = user.flatten(),
            Err(failure) => who.failure = Some(failure),
        }
        if let (None, Some(auth)) = (&who.user, names.iter().find_map(|name| configuration.auths.get(name))) {
            who.user = auth.user();
            let damaged = who.user.is_none() && auth.auth.is_some();
            if damaged {
                let damage = format!("what the configuration of Docker says of `{host}` is not understood");
                who.failure.get_or_insert(damage);
            }
        }
        Ok(who)
    }
}

impl Auth {
    fn user(&self) -> Option<User> {
        if let (Some(name), Some(password)) = (&self.username, &self.password) {
            return Some(User {
                name: name.clone(),
                password: password.clone(),
            });
        }
        let decoded = String::from_utf8(STANDARD.decode(self.auth.as_ref()?.trim()).ok()?).ok()?;
        let (name, password) = decoded.split_once(':')?;
        Some(User {
            name: name.to_owned(),
            password: password.to_owned(),
        })
    }
}

/// Lists the names under which a host may stand.
fn names(host: &str) -> Vec<String> {
    let mut names = vec![host.to_owned(), format!("https://{host}"), format!("https://{host}/")];
    if host == "registry-1.docker.io" {
        names.extend(["docker.io", "https://index.docker.io/v1/"].map(ToOwned::to_owned));
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str, host: &str) -> Option<(String, String)> {
        let who = Credentials::new(text).user(host).unwrap();
        who.user.map(|user| (user.name, user.password))
    }

    #[test]
    fn each_form_of_docker_is_read() {
        let wanted = Some(("ada".to_owned(), "a:b".to_owned()));
        let auth = STANDARD.encode("ada:a:b");
        for text in [
            format!(r#"{{"auths": {{"reg.example:5000": {{"auth": "{auth}"}}}}, "currentContext": "x"}}"#),
            format!(r#"{{"auths": {{"https://reg.example:5000": {{"auth": "{auth}"}}}}}}"#),
            r#"{"auths": {"reg.example:5000": {"username": "ada", "password": "a:b"}}}"#.to_owned(),
        ] {
            assert_eq!(user(&text, "reg.example:5000"), wanted, "{text}");
            assert_eq!(user(&text, "other.example"), None);
        }
    }

    #[test]
    fn an_entry_that_is_not_understood_is_told_without_its_text() {
        for auth in ["planted", "cGxhbnRlZA=="] {
            let text = format!(r#"{{"auths": {{"reg.example": {{"auth": "{auth}"}}}}}}"#);
            let who = Credentials::new(text).user("reg.example").unwrap();
            let failure = "what the configuration of Docker says of `reg.example` is not understood";
            assert_eq!((who.user, who.failure.as_deref()), (None, Some(failure)));
        }
    }

    #[test]
    fn a_damaged_configuration_is_told_without_its_text() {
        let error = Credentials::new(r#"{"auths": {"x": {"password": "planted" "#)
            .user("x")
            .unwrap_err();
        assert!(!format!("{error:?} {error}").contains("planted"));
        assert!(error.remedy.is_some());
        assert!(!format!("{:?}", Credentials::new("planted")).contains("planted"));
    }
}
