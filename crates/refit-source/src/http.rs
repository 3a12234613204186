//! Releases on an HTTP server, in the layout of the catalog folder.
//!
//! `<base>/flux/index.json` (or `<base>/index.json`) lists them, `<base>/flux/<version>/` holds the files. A server
//! without an index is asked for the files of a version that the user names.

use refit_core::digest;
use refit_core::release::{Platform, Version};
use refit_engine::ports::{Available, Content, PortError, PortErrorKind, Releases};

use crate::address::Address;
use crate::fetch::{Fetch, Fresh};
use crate::index::{self, Index, IndexedFile};
use crate::manifests;

/// Releases on an HTTP server.
#[derive(Clone, Debug)]
pub(crate) struct Http {
    base: Address,
    fetch: Fetch,
}

const JSON: &str = "application/json";

/// The index of a server, and where it stands.
struct Found {
    folder: Address,
    index: Index,
    stale: Option<PortError>,
}

impl Http {
    pub(crate) fn new(base: Address, fetch: Fetch) -> Self {
        Self { base, fetch }
    }

    /// Gives the addresses that may hold folders of versions.
    fn folders(&self, platform: &str) -> Result<Vec<Address>, PortError> {
        let platform = manifests::platform(platform)?;
        let own = self.base.join(platform.as_str());
        let bare = (platform == Platform::flux()).then(|| self.base.clone());
        Ok(std::iter::once(own).chain(bare).collect())
    }

    /// Reads the index, from the first place that has one; a server that is silent is not asked for the next place.
    fn index(&self, platform: &str) -> Result<Option<Found>, PortError> {
        let mut silent = None;
        for folder in self.folders(platform)? {
            let address = folder.join(index::FILE);
            let answer = match silent.take() {
                None => self.fetch.fresh(&address, JSON, &|body| Index::read(body).is_ok()),
                Some(error) => self.kept(&address, error),
            };
            let fresh = match answer {
                Err(error) if error.kind == PortErrorKind::Unreachable => {
                    silent = Some(error);
                    continue;
                }
                answer => answer?,
            };
            let Some(body) = fresh.body else { continue };
            let index = Index::read(&body).map_err(|source| {
                let error = PortError::new(PortErrorKind::Corrupt, format!("`{address}` is no index of releases"));
                error
                    .hint("write it with `refit catalog pull --to DIR`")
                    .because(source)
            })?;
            return Ok(Some(Found {
                folder,
                index,
                stale: fresh.stale,
            }));
        }
        silent.map_or(Ok(None), Err)
    }

    fn kept(&self, address: &Address, error: PortError) -> Result<Fresh, PortError> {
        match self.fetch.kept(address, JSON) {
            Some(body) => Ok(Fresh {
                body: Some(body),
                stale: Some(error),
            }),
            None => Err(error),
        }
    }

    /// Fetches a file, and compares it with the index.
    fn content(&self, address: &Address, file: Option<&IndexedFile>) -> Result<Option<Content>, PortError> {
        let recorded = file.and_then(IndexedFile::digest);
        let Some(bytes) = self.fetch.file(address, recorded.as_deref())? else {
            return Ok(None);
        };
        let digest = digest::of(&bytes);
        if let Some(file) = file {
            file.check(&digest).map_err(|what| corrupt(address, &what))?;
        }
        Ok(Some(Content {
            bytes: bytes.into(),
            digest,
            origin: address.to_string(),
            exact: file.is_none_or(|file| file.exact),
            compared: recorded.is_some(),
        }))
    }

    /// Looks for the usual files of a version where no index says what is there.
    fn guessed(&self, platform: &str, version: &Version) -> Result<Vec<Content>, PortError> {
        for folder in self.folders(platform)? {
            let folder = folder.join(&version.to_string());
            if platform != Platform::flux().as_str() {
                return Ok(Vec::new());
            }
            let Some(content) = self.content(&folder.join(manifests::FLUX), None)? else {
                continue;
            };
            let six = self.content(&folder.join("gotk-components.six.yaml"), None)?;
            return Ok(std::iter::once(content).chain(six).collect());
        }
        Ok(Vec::new())
    }
}

impl Releases for Http {
    fn location(&self) -> String {
        self.base.to_string()
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, PortError> {
        self.available(platform)?.known()
    }

    fn available(&self, platform: &str) -> Result<Available, PortError> {
        let found = match self.index(platform) {
            Ok(Some(found)) => found,
            Ok(None) if platform == Platform::flux().as_str() => return Err(self.no_index()),
            Ok(None) => return Ok(Available::default()),
            Err(error) if error.kind == PortErrorKind::Unreachable => {
                return Ok(Available {
                    versions: Vec::new(),
                    unreachable: vec![error],
                });
            }
            Err(error) => return Err(error),
        };
        Ok(Available {
            versions: found
                .index
                .of_platform(platform)
                .map(|release| release.version.clone())
                .collect(),
            unreachable: found.stale.into_iter().collect(),
        })
    }

    fn contents(&self, platform: &str, version: &str) -> Result<Vec<Content>, PortError> {
        let found = self.index(platform)?;
        let mut contents = Vec::new();
        if let Some(found) = &found {
            let release = found.index.release(version);
            let files = release.iter().flat_map(|release| &release.files);
            for file in files.filter(|file| manifests::is_manifest(platform, &file.file)) {
                let spelt = release.map(|release| release.version.as_str()).unwrap_or_default();
                let address = found.folder.join(spelt).join(&file.file);
                let content = self.content(&address, Some(file))?;
                contents.push(content.ok_or_else(|| corrupt(&address, "is listed, but not there"))?);
            }
        } else if let Ok(version) = Version::parse(version) {
            contents = self.guessed(platform, &version)?;
        }
        if contents.is_empty() {
            let index = found.map(|found| found.index).unwrap_or_default();
            let versions: Vec<Version> = index.of_platform(platform).filter_map(index::Indexed::parsed).collect();
            let place = format!("`{}`", self.base);
            let way = "choose one of them, or name another source with `--catalog`";
            return Err(manifests::unknown(platform, version, &place, &versions, way));
        }
        manifests::sort(&mut contents);
        Ok(contents)
    }
}

impl Http {
    fn no_index(&self) -> PortError {
        let message = format!(
            "`{}` has no `flux/{FILE}` and no `{FILE}`",
            self.base,
            FILE = index::FILE
        );
        PortError::new(PortErrorKind::NotFound, message).hint(
            "serve a folder that `refit catalog pull --to DIR` wrote; the address of published releases ends in \
             `/releases`",
        )
    }
}

fn corrupt(address: &Address, what: &str) -> PortError {
    let hint = "fetch the release again, and find out who changed the server";
    PortError::new(PortErrorKind::Corrupt, format!("`{address}` {what}")).hint(hint)
}
