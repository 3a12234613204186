//! The public releases of Flux, or a mirror of them.
//!
//! `<base>/latest` redirects to the newest release, `<base>/download/<version>/install.yaml` is its manifest. It is
//! brought into the form of the generator, and marked as not byte-exact.

use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::digest;
use refit_core::published;
use refit_core::release::{Platform, Version};
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};
use refit_manifest::Stream;

use crate::address::Address;
use crate::fetch::{self, Fetch};
use crate::manifests;

/// Where Flux publishes its releases.
pub(crate) const FLUX: &str = "https://github.com/fluxcd/flux2/releases";

/// Public releases.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    base: Address,
    fetch: Fetch,
    catalog: Arc<Catalog>,
}

impl Published {
    pub(crate) fn new(base: Address, fetch: Fetch, catalog: Arc<Catalog>) -> Self {
        Self { base, fetch, catalog }
    }

    fn is_served(platform: &str) -> bool {
        platform == Platform::flux().as_str()
    }

    fn file(&self, version: &Version) -> Address {
        self.base.join(&format!("download/{version}/install.yaml"))
    }

    /// Asks which release is the newest.
    fn latest(&self) -> Result<(Option<String>, Option<PortError>), PortError> {
        let address = self.base.join("latest");
        let ask = || {
            let to = self.fetch.network.redirect(&address)?;
            Ok(Some(to.last().as_bytes().to_vec()))
        };
        let is_version = |body: &[u8]| Version::parse(&String::from_utf8_lossy(body)).is_ok();
        let question = fetch::question(&address, "redirect");
        let fresh = self.fetch.remembered(&question, ask, &is_version)?;
        let text = fresh.body.map(|body| String::from_utf8_lossy(&body).into_owned());
        Ok((text.filter(|text| Version::parse(text).is_ok()), fresh.stale))
    }

    fn known(&self) -> impl Iterator<Item = &Version> {
        self.catalog.releases().iter().map(|release| &release.version)
    }
}

impl Releases for Published {
    fn location(&self) -> String {
        self.base.to_string()
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.available(platform)?.known()
    }

    fn available(&self, platform: &str) -> Result<Available, PortError> {
        if !Self::is_served(platform) {
            return Ok(Available::default());
        }
        if self.fetch.network.is_offline() {
            // What cannot be fetched is no target: only what was fetched before is there.
            let kept = self.known().filter(|version| self.fetch.has(&self.file(version)));
            return Ok(Available {
                versions: kept.map(ToString::to_string).collect(),
                unreachable: Vec::new(),
            });
        }
        let (latest, stale) = match self.latest() {
            Ok(answer) => answer,
            Err(error) if error.kind == PortErrorKind::Unreachable => (None, Some(error)),
            Err(error) => return Err(error),
        };
        let mut versions: Vec<String> = self.known().map(ToString::to_string).collect();
        versions
            .extend(latest.filter(|latest| !self.known().any(|known| Version::parse(latest).as_ref() == Ok(known))));
        Ok(Available {
            versions,
            unreachable: stale.into_iter().collect(),
        })
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let unknown = || {
            let versions: Vec<Version> = if Self::is_served(platform) {
                self.known().cloned().collect()
            } else {
                Vec::new()
            };
            let way = "choose a version that was published, or name another source with `--catalog`";
            manifests::unknown(platform, version, &format!("`{}`", self.base), &versions, way)
        };
        let parsed = Version::parse(version)
            .ok()
            .filter(|_| Self::is_served(platform))
            .ok_or_else(unknown)?;
        let address = self.file(&parsed);
        let bytes = self.fetch.file(&address, None)?.ok_or_else(unknown)?;
        let refused = |why: String| {
            let message = format!("`{address}` cannot be used: {why}");
            PortError::new(PortErrorKind::Corrupt, message)
                .hint("check the address; `refit catalog pull` and `--catalog DIR` work without it")
        };
        let stream = Stream::split(bytes.into()).map_err(|error| refused(error.to_string()))?;
        let bytes =
            published::normalise(&stream, &parsed, &self.catalog).map_err(|error| refused(error.to_string()))?;
        Ok(vec![Content {
            digest: digest::of(&bytes),
            bytes,
            origin: format!("{address} (rearranged, not byte-exact)"),
            exact: false,
            compared: false,
        }])
    }
}
