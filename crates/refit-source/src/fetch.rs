//! Fetches what does not change once, and what changes as often as it can be had.

use std::sync::Arc;

use refit_core::digest;
use refit_engine::ports::{PortError, PortErrorKind};

use crate::address::Address;
use crate::cache::Cache;
use crate::network::{Answer, Network, Question, Settings};

const FILE: &str = "file";

/// Servers and the cache before them.
#[derive(Clone, Debug)]
pub(crate) struct Fetch {
    pub(crate) network: Arc<Network>,
    pub(crate) cache: Cache,
}

/// Tells whether an answer is one to the question, and no page of somebody who stands between.
pub(crate) type Sound<'a> = &'a dyn Fn(&[u8]) -> bool;

/// The answer to a question that may have another answer tomorrow.
#[derive(Debug)]
pub(crate) struct Fresh {
    /// The content, where there is one.
    pub(crate) body: Option<Vec<u8>>,
    /// Why the server could not be asked; then the content is that of the last time.
    pub(crate) stale: Option<PortError>,
}

impl Fetch {
    pub(crate) fn new(settings: Settings) -> Self {
        let cache = Cache::new(settings.cache.as_ref().map(|folder| folder.join("releases")));
        Self {
            network: Arc::new(Network::new(settings)),
            cache,
        }
    }

    /// Asks the server; where it does not answer, gives what it said before.
    pub(crate) fn fresh(&self, address: &Address, accept: &str, sound: Sound<'_>) -> Result<Fresh, PortError> {
        let ask = || {
            let answer = self.network.get(&Question { address, accept })?;
            body(address, answer)
        };
        self.remembered(&question(address, accept), ask, sound)
    }

    /// Gives what the server said to the same question before.
    pub(crate) fn kept(&self, address: &Address, accept: &str) -> Option<Vec<u8>> {
        self.cache.answer(&question(address, accept))
    }

    /// Does what asks a server, and keeps the answer when it is one; where that does not answer, gives what it said to the same question before.
    pub(crate) fn remembered(
        &self,
        question: &str,
        ask: impl FnOnce() -> Result<Option<Vec<u8>>, PortError>,
        sound: Sound<'_>,
    ) -> Result<Fresh, PortError> {
        match ask() {
            Ok(body) => {
                if let Some(body) = body.as_ref().filter(|body| sound(body)) {
                    self.cache.keep(question, body);
                }
                Ok(Fresh { body, stale: None })
            }
            Err(error) if error.kind == PortErrorKind::Unreachable => match self.cache.answer(question) {
                Some(body) => Ok(Fresh {
                    body: Some(body),
                    stale: Some(error),
                }),
                None => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Tells whether a file is in the cache.
    pub(crate) fn has(&self, address: &Address) -> bool {
        self.cache.answer(&question(address, FILE)).is_some()
    }

    /// Gives a file of a release: from the cache, else from the server. With a digest it must match.
    pub(crate) fn file(&self, address: &Address, recorded: Option<&str>) -> Result<Option<Vec<u8>>, PortError> {
        let question = question(address, FILE);
        let kept = match recorded {
            Some(digest) => self.cache.blob(digest),
            None => self.cache.answer(&question),
        };
        if kept.is_some() {
            return Ok(kept);
        }
        let answer = self.network.get(&Question { address, accept: "*/*" })?;
        let Some(body) = body(address, answer)? else {
            return Ok(None);
        };
        if recorded.is_none_or(|recorded| digest::of(&body) == recorded) {
            self.cache.keep(&question, &body);
        }
        Ok(Some(body))
    }
}

/// Gives the name under which the cache keeps an answer; it keeps the digest of the name alone.
pub(crate) fn question(address: &Address, what: &str) -> String {
    format!("{} {what}", address.identity())
}

fn body(address: &Address, answer: Answer) -> Result<Option<Vec<u8>>, PortError> {
    match answer.status {
        200 => Ok(Some(answer.body)),
        404 => Ok(None),
        status => {
            let message = format!("`{address}` answers {status}");
            let hint = "give user and password in the URL, as in `https://USER:PASSWORD@HOST/`; it is shown nowhere";
            Err(PortError::new(PortErrorKind::Forbidden, message).hint(hint))
        }
    }
}
