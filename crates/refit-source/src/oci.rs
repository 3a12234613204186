//! Releases as artifacts in a registry, as `flux push artifact` writes them.
//!
//! `oci://<host>/<path>` is a repository with a tag for each version. The artifact has one layer, a gzipped tar archive
//! with the manifests; each digest is verified. A registry is spoken to over TLS; only this machine itself may do
//! without. The protocol is a few GET requests, and the rules for proxies, authorities, redirects, retries and limits
//! have to be those of all other sources, so the same [`Network`](crate::network::Network) asks them.

mod artifact;
mod login;

use refit_core::digest;
use refit_core::release::{Platform, Version};
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};
use serde::Deserialize;

use crate::address::{self, Address};
use crate::credentials::Credentials;
use crate::fetch::{self, Fetch, Fresh};
use crate::manifests;
use crate::network::{Answer, Question};

use artifact::Manifest;
use login::Login;

/// The most pages of tags that are read; a page has up to 1,000.
const PAGES: usize = 100;

/// A repository of a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repository {
    /// The host as the user wrote it.
    shown: String,
    path: String,
    /// Where the registry answers.
    server: Address,
}

impl Repository {
    /// Reads `host/path`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (host, path) = text.trim_end_matches('/').split_once('/')?;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"._-/".contains(&byte);
        if path.is_empty() || !path.bytes().all(plain) || path.split('/').any(|part| part.is_empty() || part == "..") {
            return None;
        }
        let scheme = if address::is_local(host) { "http" } else { "https" };
        // Docker Hub has its registry under another name.
        let server = if host == "docker.io" {
            "registry-1.docker.io"
        } else {
            host
        };
        let server = Address::parse(&format!("{scheme}://{server}"))?;
        let plain = server.authorization.is_none() && !host.contains(['?', '#', '@']);
        plain.then(|| Self {
            shown: host.to_owned(),
            path: path.to_owned(),
            server,
        })
    }

    fn address(&self, rest: &str) -> Address {
        self.server.with_path(&format!("/v2/{}/{rest}", self.path))
    }
}

/// Releases in a registry.
#[derive(Debug)]
pub(crate) struct Oci {
    repository: Repository,
    fetch: Fetch,
    login: Login,
}

#[derive(Deserialize)]
struct Tags {
    tags: Option<Vec<String>>,
}

/// The tags of versions, and why they are of the last time.
struct Listed {
    tags: Vec<String>,
    stale: Option<PortError>,
}

impl Oci {
    pub(crate) fn new(repository: Repository, fetch: Fetch, credentials: Credentials) -> Self {
        let login = Login::new(repository.path.clone(), credentials);
        Self {
            repository,
            fetch,
            login,
        }
    }

    /// Asks the registry, and logs in where it wants that.
    fn get(&self, address: &Address, accept: &str) -> Result<Answer, PortError> {
        let network = &self.fetch.network;
        let mut known = address.clone();
        known.authorization = self.login.known();
        let answer = network.get(&Question {
            address: &known,
            accept,
        })?;
        if answer.status != 401 {
            return Ok(answer);
        }
        known.authorization = Some(self.login.answer(network, address, answer.header("www-authenticate"))?);
        let answer = network.get(&Question {
            address: &known,
            accept,
        })?;
        if answer.status == 401 {
            return Err(self.login.refused(address));
        }
        Ok(answer)
    }

    fn fresh(&self, address: &Address, accept: &str) -> Result<Fresh, PortError> {
        let ask = || {
            let answer = self.get(address, accept)?;
            Ok((answer.status == 200).then_some(answer.body))
        };
        let sound = |body: &[u8]| Manifest::read(body).is_ok();
        self.fetch.remembered(&fetch::question(address, accept), ask, &sound)
    }

    /// Lists the tags, page after page.
    fn tags(&self) -> Result<Listed, PortError> {
        let first = self.repository.address("tags/list?n=1000");
        let question = fetch::question(&first, "tags");
        let fresh = self.fetch.remembered(&question, || self.pages(first), &|_| true)?;
        let Some(body) = fresh.body else {
            let message = format!("`{}` is not in the registry", self.location());
            return Err(
                PortError::new(PortErrorKind::NotFound, message).hint("check the path; it has a tag per version")
            );
        };
        let text = String::from_utf8_lossy(&body).into_owned();
        let versions = text.lines().filter(|tag| Version::parse(tag).is_ok());
        Ok(Listed {
            tags: versions.map(ToOwned::to_owned).collect(),
            stale: fresh.stale,
        })
    }

    /// Asks for page after page; gives the tags, one a line.
    fn pages(&self, first: Address) -> Result<Option<Vec<u8>>, PortError> {
        let mut tags = Vec::new();
        let mut asked: Vec<String> = Vec::new();
        let mut next = Some(first);
        while let Some(address) = next {
            if asked.len() == PAGES || asked.contains(&address.wire()) {
                return Err(self.endless());
            }
            asked.push(address.wire());
            let answer = self.get(&address, "application/json")?;
            if answer.status == 404 {
                return Ok(None);
            }
            let page: Tags = serde_json::from_slice(&answer.body).map_err(|source| {
                let message = format!("`{address}` is no list of tags");
                PortError::new(PortErrorKind::Other, message)
                    .hint("check the address of the registry")
                    .because(source)
            })?;
            tags.extend(page.tags.unwrap_or_default());
            let link = answer.header("link").and_then(next_page);
            next = link.map(|path| address.with_path(path));
        }
        Ok(Some(tags.join("\n").into_bytes()))
    }

    fn endless(&self) -> PortError {
        let message = format!("the list of tags of `{}` does not end", self.location());
        PortError::new(PortErrorKind::Other, message)
            .hint("tell those who run the registry; name a folder or another source with `--catalog`")
    }

    /// Reads the manifest of a tag.
    fn manifest(&self, tag: &str) -> Result<Manifest, PortError> {
        let address = self.repository.address(&format!("manifests/{tag}"));
        let Some(body) = self.fresh(&address, artifact::MANIFESTS)?.body else {
            return Err(self.corrupt(tag, "is listed, but not there"));
        };
        Manifest::read(&body).map_err(|why| self.corrupt(tag, &why))
    }

    /// Reads a blob, from the cache where it is there.
    fn blob(&self, tag: &str, wanted: &str) -> Result<Vec<u8>, PortError> {
        if let Some(bytes) = self.fetch.cache.blob(wanted) {
            return Ok(bytes);
        }
        let address = self.repository.address(&format!("blobs/{wanted}"));
        let answer = self.get(&address, "*/*")?;
        if answer.status != 200 {
            return Err(self.corrupt(tag, "has a layer that is not there"));
        }
        let digest = digest::of(&answer.body);
        if digest != wanted {
            return Err(self.corrupt(
                tag,
                &format!("has a layer with the digest `{digest}`, wanted is `{wanted}`"),
            ));
        }
        self.fetch.cache.keep_blob(&answer.body);
        Ok(answer.body)
    }

    fn corrupt(&self, tag: &str, what: &str) -> PortError {
        let message = format!("`{}:{tag}` {what}", self.location());
        PortError::new(PortErrorKind::Corrupt, message).hint("push it again with `flux push artifact`")
    }
}

impl Releases for Oci {
    fn location(&self) -> String {
        format!("oci://{}/{}", self.repository.shown, self.repository.path)
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.available(platform)?.known()
    }

    fn available(&self, platform: &str) -> Result<Available, PortError> {
        if platform != Platform::flux().as_str() {
            return Ok(Available::default());
        }
        match self.tags() {
            Ok(listed) => Ok(Available {
                versions: listed.tags,
                unreachable: listed.stale.into_iter().collect(),
            }),
            Err(error) if error.kind == PortErrorKind::Unreachable => Ok(Available {
                versions: Vec::new(),
                unreachable: vec![error],
            }),
            Err(error) => Err(error),
        }
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let is_flux = manifests::platform(platform)? == Platform::flux();
        let tags = if is_flux { self.tags()?.tags } else { Vec::new() };
        let wanted = Version::parse(version).ok();
        let Some(tag) = tags
            .iter()
            .find(|tag| wanted.is_some() && Version::parse(tag).ok() == wanted)
        else {
            let mut versions: Vec<Version> = tags.iter().filter_map(|tag| Version::parse(tag).ok()).collect();
            versions.sort();
            let place = format!("`{}`", self.location());
            let way = "push it with `flux push artifact`, or name another source with `--catalog`";
            return Err(manifests::unknown(platform, version, &place, &versions, way));
        };
        let layer = self.manifest(tag)?.layer;
        let archive = self.blob(tag, &layer)?;
        let limit = self.fetch.network.settings().size;
        let files = artifact::unpack(&archive, limit).map_err(|why| self.corrupt(tag, &why))?;
        let content = |(name, bytes): (String, Vec<u8>)| Content {
            digest: digest::of(&bytes),
            bytes: bytes.into(),
            origin: format!("{}:{tag}/{name}", self.location()),
            exact: true,
            compared: true,
        };
        let manifests = files
            .into_iter()
            .filter(|(name, _)| manifests::is_manifest(platform, name));
        let mut contents: Vec<Content> = manifests.map(content).collect();
        if contents.is_empty() {
            return Err(self.corrupt(tag, &format!("holds no `{}`", manifests::FLUX)));
        }
        manifests::sort(&mut contents);
        Ok(contents)
    }
}

/// Reads `</v2/...>; rel="next"`.
fn next_page(link: &str) -> Option<&str> {
    let (target, relation) = link.strip_prefix('<')?.split_once('>')?;
    (relation.contains("next") && target.starts_with('/')).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_spoken_to_without_tls() {
        for (text, server) in [
            ("reg.example:5000/flux/manifests", "https://reg.example:5000"),
            ("127.0.0.1:5000/flux", "http://127.0.0.1:5000"),
            ("localhost/flux/", "http://localhost"),
            ("docker.io/fluxcd/flux-manifests", "https://registry-1.docker.io"),
        ] {
            assert_eq!(Repository::parse(text).unwrap().server.to_string(), server);
        }
        for text in [
            "reg.example",
            "reg.example/",
            "/flux",
            "u:p@reg.example/flux",
            "reg.example/../flux",
            "a/b?c",
        ] {
            assert_eq!(Repository::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_next_page_stays_with_the_registry() {
        assert_eq!(
            next_page("</v2/a/tags/list?last=b>; rel=\"next\""),
            Some("/v2/a/tags/list?last=b")
        );
        assert_eq!(next_page("<https://elsewhere.example/v2>; rel=\"next\""), None);
    }
}
