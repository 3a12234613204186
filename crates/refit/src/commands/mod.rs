//! One file per command group: its options, the call into the engine, the choice of its exit code.
//!
//! In: the options of one command. Out: an [`Answer`]. Knows nothing of streams.

pub(crate) mod completion;
pub(crate) mod merge;
pub(crate) mod schemas;

use crate::args::{Cli, Command};
use crate::failure::Failure;
use crate::output::Answer;

/// Runs the command of a command line.
pub(crate) fn run(cli: Cli) -> Result<Answer, Failure> {
    let global = &cli.global;
    match cli.command {
        Command::Merge(options) => merge::run(&options, global),
        Command::Completion(options) => Ok(completion::run(&options)),
        Command::Version => Ok(version()),
    }
}

fn version() -> Answer {
    let version = env!("CARGO_PKG_VERSION");
    Answer::text("Version", format!("refit {version}\n")).with("version", version)
}
