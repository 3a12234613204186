//! Who the user is for a registry, from the configuration of Docker.
//!
//! In: the text of `config.json` (or of `DOCKER_AUTH_CONFIG`). Out: user and password of a host. Programs that keep them
//! (`credsStore`, `credHelpers`) are asked. Nothing of it is ever shown.

use std::collections::HashMap;
use std::fmt;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

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

/// A user with a password, or a token that stands for both.
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

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Helped {
    username: String,
    secret: String,
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
    pub(crate) fn user(&self, host: &str) -> Result<Option<User>, PortError> {
        let Some(text) = &self.configuration else {
            return Ok(None);
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
        if let Some(user) = helper
            .or(configuration.store.as_ref())
            .and_then(|helper| asked(helper, &names))
        {
            return Ok(Some(user));
        }
        Ok(names
            .iter()
            .find_map(|name| configuration.auths.get(name))
            .and_then(Auth::user))
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

/// Asks a program that keeps credentials.
fn asked(helper: &str, names: &[String]) -> Option<User> {
    let sound = helper
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    let ask = |name: &String| {
        let mut child = Command::new(format!("docker-credential-{helper}"))
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        child.stdin.take()?.write_all(name.as_bytes()).ok()?;
        let output = child.wait_with_output().ok().filter(|output| output.status.success())?;
        let helped: Helped = serde_json::from_slice(&output.stdout).ok()?;
        Some(User {
            name: helped.username,
            password: helped.secret,
        })
    };
    sound.then(|| names.iter().find_map(ask))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str, host: &str) -> Option<(String, String)> {
        Credentials::new(text)
            .user(host)
            .unwrap()
            .map(|user| (user.name, user.password))
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
    fn a_damaged_configuration_is_told_without_its_text() {
        let error = Credentials::new(r#"{"auths": {"x": {"password": "planted" "#)
            .user("x")
            .unwrap_err();
        assert!(!format!("{error:?} {error}").contains("planted"));
        assert!(error.remedy.is_some());
        assert!(!format!("{:?}", Credentials::new("planted")).contains("planted"));
    }
}
