//! The options that say which upgrade is meant, shared by several commands.
//!
//! In: options. Out: the engine's [`Ask`].

use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use refit_core::finding::Acceptance;
use refit_engine::{Ask, Reach, Snapshot, Target};

use crate::args::Global;
use crate::disk;
use crate::failure::Failure;

/// Which release to upgrade to.
#[derive(Args, Debug)]
pub(crate) struct Selection {
    /// The platform and version, for example `flux@v2.6.4` [default: the newest stable release that can be reached].
    #[arg(value_name = "PLATFORM[@VERSION]")]
    target: Option<Target>,
    /// Stay in the installed minor version.
    #[arg(long)]
    patch: bool,
    #[command(flatten)]
    consent: Consent,
    #[command(flatten)]
    seen: Seen,
}

/// What a cluster says, where the user has a file of it.
#[derive(Args, Debug)]
pub(crate) struct Seen {
    /// What the cluster holds, as `kubectl get crds,deployments -A -o json` prints it; shows which API versions are stored.
    #[arg(long, value_name = "FILE")]
    snapshot: Option<PathBuf>,
}

impl Seen {
    /// Reads the file.
    pub(crate) fn read(&self) -> Result<Option<Rc<Snapshot>>, Failure> {
        let Some(path) = &self.snapshot else { return Ok(None) };
        let entry = disk::read_file(path)?;
        let bytes = entry.bytes().cloned().unwrap_or_default();
        let read = Snapshot::read(&bytes).map_err(|error| {
            let text = error.to_string();
            let (what, hint) = text.split_once("; hint: ").unwrap_or((&text, ""));
            let failure = Failure::new(format!("`{}` is no snapshot: {what}", path.display()));
            let failure = match std::error::Error::source(&error) {
                Some(source) => failure.caused_by(source),
                None => failure,
            };
            failure.hint(hint)
        })?;
        Ok(Some(Rc::new(read)))
    }
}

/// What the user adds to what can be found out.
#[derive(Args, Debug)]
pub(crate) struct Consent {
    /// Mark a warning as seen, by code and optional subject (docs/findings.md lists the codes); repeatable.
    #[arg(long, value_name = "CODE[:SUBJECT]")]
    accept: Vec<Acceptance>,
    /// What the generator wrote for the installed version, where it cannot be had otherwise.
    #[arg(long, value_name = "FILE")]
    base_file: Option<PathBuf>,
}

impl Selection {
    /// Gives what the engine is asked.
    pub(crate) fn ask(&self, global: &Global) -> Result<Ask, Failure> {
        let mut target = self.target.clone().unwrap_or_default();
        if self.patch {
            if let Some(version) = &target.version {
                return Err(
                    Failure::usage(format!("`--patch` chooses a version, and `{version}` names one"))
                        .hint("leave one of the two out"),
                );
            }
            target.reach = Reach::Patch;
        }
        Ok(Ask {
            target,
            snapshot: self.seen.read()?,
            ..self.consent.ask(global)?
        })
    }

    /// Tells whether a target was named.
    pub(crate) fn names_target(&self) -> bool {
        self.target.is_some() || self.patch
    }
}

impl Consent {
    /// Gives what the engine is asked, without a target.
    pub(crate) fn ask(&self, global: &Global) -> Result<Ask, Failure> {
        let base_file = match &self.base_file {
            Some(path) => disk::read_file(path)?.bytes().cloned(),
            None => None,
        };
        Ok(Ask {
            accept: self.accept.clone(),
            base_file,
            ..ask(global)
        })
    }
}

/// Gives what the global options ask.
pub(crate) fn ask(global: &Global) -> Ask {
    Ask {
        base: global.base.clone(),
        clusters: global.cluster.clone(),
        all_clusters: global.all_clusters,
        ..Ask::default()
    }
}
