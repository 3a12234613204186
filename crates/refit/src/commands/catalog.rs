//! `refit catalog`: the source of releases.
//!
//! In: options. Out: what the source has.

use clap::{Args, Subcommand};
use refit_core::release::Version;
use refit_core::report::{Next, Report, State};

use crate::args::Global;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::Catalog;
use crate::wiring;

/// Look into the source of releases.
#[derive(Debug, Subcommand)]
#[command(arg_required_else_help = true)]
pub(crate) enum Action {
    /// List the versions that the source has, oldest first.
    #[command(after_long_help = "\
Examples:
  refit catalog list --catalog releases/
  refit catalog list flux -o json | jq -r '.versions[]'")]
    List(List),
}

/// What to list.
#[derive(Args, Debug)]
pub(crate) struct List {
    /// The platform.
    #[arg(default_value = "flux")]
    platform: String,
}

/// Runs one of the actions.
pub(crate) fn run(action: &Action, global: &Global) -> Result<Answer, Failure> {
    let Action::List(List { platform }) = action;
    let releases = wiring::releases(global);
    let mut versions = releases.versions(platform)?;
    versions.sort_by_key(|version| (Version::parse(version).ok(), version.clone()));
    let next = if versions.is_empty() {
        vec![Next::say(
            "name the folder that holds releases with `--catalog DIR` or `REFIT_CATALOG`",
        )]
    } else {
        Vec::new()
    };
    let message = match versions.len() {
        0 => format!("no version of {platform} was found in {}", releases.location()),
        count => format!("{count} versions of {platform} are in {}", releases.location()),
    };
    let text = versions
        .iter()
        .map(|version| format!("{version}\n"))
        .collect::<String>();
    let notes = next
        .iter()
        .map(|next| format!("{message}\nhint: {}\n", next.text))
        .collect::<String>();
    let body = Catalog {
        source: releases.location(),
        platform: platform.clone(),
        versions,
    };
    Ok(Answer::new(&Report::new(State::Done, message, next, body), text)?.with_notes(notes))
}
