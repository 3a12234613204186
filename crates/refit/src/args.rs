//! The command line: global options and the list of commands.
//!
//! In: the arguments. Out: a [`Cli`]. The options of a command stand in its own file. Knows no engine.

use std::ffi::OsString;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::{
    catalog, completion, conversions, init, look, merge, people, render, request, rollback, upgrade,
};

/// Upgrades Kubernetes management planes through change requests that keep every edit of the user.
#[derive(Debug, Parser)]
#[command(
    name = "refit",
    version,
    arg_required_else_help = true,
    after_help = EXIT_CODES,
    after_long_help = EXIT_CODES
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// How the exit codes are explained to the user.
const EXIT_CODES: &str = "\
Exit codes (when several apply, the smallest wins):
  0  done, or nothing to do
  1  error: no answer could be given
  2  wrong usage, or a confirmation is missing
  3  blocked by findings, or a blocked file
  4  stopped with a cause, can be resumed
  5  a decision is needed
  6  waiting for people or for reconciliation";

/// The options that every command takes.
#[derive(Args, Clone, Debug)]
pub(crate) struct Global {
    /// The platform repository: a folder or a URL [default: the repository of the current folder].
    #[arg(long, global = true, value_name = "PATH|URL", help_heading = "Global options")]
    pub(crate) repo: Option<String>,
    /// The branch to change [default: that of the remote's HEAD, else the branch of HEAD].
    #[arg(long, global = true, value_name = "BRANCH", help_heading = "Global options")]
    pub(crate) base: Option<String>,
    /// The cluster to work on, by name or path, where the repository has several; repeatable.
    #[arg(long, global = true, value_name = "NAME|PATH", help_heading = "Global options")]
    pub(crate) cluster: Vec<String>,
    /// Work on every cluster of the repository.
    #[arg(long, global = true, conflicts_with = "cluster", help_heading = "Global options")]
    pub(crate) all_clusters: bool,
    /// End the commits that are written with a `Signed-off-by:` line.
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) signoff: bool,
    /// Where releases come from: a folder, an `https://` or `oci://` URL; repeatable [env: REFIT_CATALOG].
    ///
    /// The first source that has a version is taken. The variable separates sources by commas. Without either, they are
    /// the public releases.
    #[arg(long, global = true, value_name = "DIR|URL", help_heading = "Global options")]
    pub(crate) catalog: Vec<OsString>,
    /// Ask no server for releases: use folders and what was fetched before [env: REFIT_OFFLINE].
    #[arg(long, global = true, help_heading = "Global options")]
    pub(crate) offline: bool,
    /// The form of the answer on stdout.
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        default_value_t,
        help_heading = "Global options"
    )]
    pub(crate) output: Format,
}

/// The form of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people.
    #[default]
    Text,
    /// One JSON object.
    Json,
    /// SARIF 2.1.0, of `refit scan` alone.
    Sarif,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Status(look::Status),
    Inventory(look::Inventory),
    Plan(upgrade::Plan),
    Check(look::Check),
    Upgrade(upgrade::Upgrade),
    Resolve(upgrade::Resolve),
    Diff(look::Diff),
    Resume(upgrade::Resume),
    Pause(people::Pause),
    Cancel(people::Cancel),
    Rollback(rollback::Rollback),
    History(people::History),
    #[command(subcommand)]
    Request(request::Action),
    Merge(merge::Options),
    Scan(conversions::Scan),
    Convert(conversions::Convert),
    Render(render::Options),
    #[command(subcommand)]
    Catalog(catalog::Action),
    Init(init::Options),
    Completion(completion::Options),
    /// Print the version of this program, and how new its data about releases is.
    #[command(after_long_help = "Examples:\n  refit version\n  refit version -o json")]
    Version,
}
