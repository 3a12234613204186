//! One file per command group: its options, the call into the engine, the choice of its exit code.
//!
//! In: the options of one command. Out: an [`Answer`]. Knows nothing of streams.

pub(crate) mod completion;
pub(crate) mod merge;
pub(crate) mod schemas;

use refit_core::report::{Report, State};

use crate::args::{Cli, Command};
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::Version;

/// Runs the command of a command line.
pub(crate) fn run(cli: Cli) -> Result<Answer, Failure> {
    let global = &cli.global;
    match cli.command {
        Command::Merge(options) => merge::run(&options, global),
        Command::Completion(options) => completion::run(&options),
        Command::Version => version(),
    }
}

fn version() -> Result<Answer, Failure> {
    let version = env!("CARGO_PKG_VERSION");
    let body = Version {
        version: version.into(),
    };
    let text = format!("refit {version}\n");
    Answer::new(
        &Report::new(State::Done, format!("this is refit {version}"), Vec::new(), body),
        text,
    )
}
