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
         `oci://HOST/PATH`, and write `@` and `/` in it as `%40` and `%2F` where they are of a password"
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
    let refused = || Error::Source {
        shown: shown(source).unwrap_or_else(|| without_user(&source.to_string_lossy()).to_owned()),
    };
    let Some((scheme, rest)) = source.to_str().and_then(|text| text.split_once("://")) else {
        // A folder with such a name is more likely a URL with a mistake, whose password would be shown.
        let is_mistyped = source.to_str().is_some_and(|text| {
            let text = text.to_ascii_lowercase();
            ["http", "oci"].iter().any(|scheme| text.starts_with(scheme)) && text.contains('@')
        });
        return match is_mistyped {
            true => Err(refused()),
            false => Ok(Box::new(Directory::new(source))),
        };
    };
    // In `https://ada:pass/word@host/` the host is `ada`, and the password would be shown as a path.
    if rest
        .split_once(['/', '?', '#'])
        .is_some_and(|(_, behind)| behind.contains('@'))
    {
        return Err(refused());
    }
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
    Some(format!("{scheme}://{}", without_user(rest)))
}

/// Leaves out all that can be a user, a password or a token.
fn without_user(text: &str) -> &str {
    // A password that is not escaped may hold any of these marks.
    let text = text.rsplit_once('@').map_or(text, |(_, rest)| rest);
    text.split(['?', '#']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_with_a_mistake_is_refused_without_its_credentials() {
        let opening = Opening {
            settings: Settings::default(),
            credentials: Credentials::default(),
            catalog: Arc::new(Catalog::flux().unwrap()),
        };
        for text in [
            "https://bob:pl/anted@host/x",
            "https://bob:pl?anted@host/x",
            "https://bob:pl#anted@host/x",
            "https://bob:1/pl/anted@host/releases",
            "https:/bob:planted@host/",
            "https//bob:planted@host",
            "https:\\\\bob:planted@host",
            "HTTP:bob:planted@host",
            "oci:/bob:planted@host/x",
            "oci://bob:planted@host/x",
        ] {
            let error = open(&[text.into()], &opening).err().map(|error| error.to_string());
            let error = error.unwrap_or_default();
            assert!(error.contains("names no source of releases"), "{text}: {error}");
            assert!(!error.contains("anted") && !error.contains("bob"), "{text}: {error}");
            assert!(!shown(text.as_ref()).unwrap_or_default().contains("anted"), "{text}");
        }
    }
}
