//! Opens the sources that the user named.
//!
//! In: paths and URLs. Out: one [`Releases`]. Does not know who named them.

use std::ffi::{OsStr, OsString};
use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_engine::ports::Releases;

use crate::address::Address;
use crate::credentials::Credentials;
use crate::directory::Directory;
use crate::fetch::Fetch;
use crate::http::Http;
use crate::network::Settings;
use crate::oci::{Oci, Repository};
use crate::published::{self, Published};
use crate::several::Several;

/// Why a source cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is no source.
    #[error(
        "`{shown}` names no source of releases; hint: give a folder, `https://HOST/PATH`, `http://HOST/PATH` or \
         `oci://HOST/PATH`"
    )]
    Source {
        /// The text without credentials.
        shown: String,
    },
}

/// What all sources share.
#[derive(Debug)]
pub struct Opening {
    /// How servers are asked.
    pub settings: Settings,
    /// Who the user is for registries.
    pub credentials: Credentials,
    /// What is known about releases.
    pub catalog: Arc<Catalog>,
}

/// Opens the sources in their order; without any, the public releases of Flux.
pub fn open(sources: &[OsString], opening: &Opening) -> Result<Box<dyn Releases>, Error> {
    let mut all = open_each(sources, opening)?;
    Ok(match all.len() {
        1 => all.remove(0),
        _ => Box::new(Several::new(all)),
    })
}

/// Opens the sources in their order, each by itself; without any, the public releases of Flux.
pub fn open_each(sources: &[OsString], opening: &Opening) -> Result<Vec<Box<dyn Releases>>, Error> {
    let fetch = Fetch::new(opening.settings.clone());
    let default = [OsString::from(published::FLUX)];
    let sources = if sources.is_empty() { &default } else { sources };
    sources.iter().map(|source| open_one(source, &fetch, opening)).collect()
}

fn open_one(source: &OsStr, fetch: &Fetch, opening: &Opening) -> Result<Box<dyn Releases>, Error> {
    let Some((scheme, rest)) = source.to_str().and_then(|text| text.split_once("://")) else {
        return Ok(Box::new(Directory::new(source)));
    };
    let refused = || Error::Source {
        shown: shown(source).unwrap_or_default(),
    };
    let text = format!("{scheme}://{rest}");
    if scheme.eq_ignore_ascii_case("oci") {
        let repository = Repository::parse(rest).ok_or_else(refused)?;
        return Ok(Box::new(Oci::new(
            repository,
            fetch.clone(),
            opening.credentials.clone(),
        )));
    }
    let address = Address::parse(&text).ok_or_else(refused)?;
    if address.last() == "releases" {
        return Ok(Box::new(Published::new(
            address,
            fetch.clone(),
            Arc::clone(&opening.catalog),
        )));
    }
    Ok(Box::new(Http::new(address, fetch.clone())))
}

/// Shows a URL without what stands before `@` and behind `?`; `None` for a folder.
pub fn shown(source: &OsStr) -> Option<String> {
    let (scheme, rest) = source.to_str()?.split_once("://")?;
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (server, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
    Some(format!("{scheme}://{server}{path}"))
}
