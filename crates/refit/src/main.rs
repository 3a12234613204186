//! The `refit` command: arguments, wiring, rendering, exit codes.
//!
//! In: the command line. Out: data on stdout, all else on stderr, and an exit code. Decides nothing about upgrades.

mod args;
mod commands;
mod disk;
#[cfg(test)]
mod docs;
mod failure;
mod files;
mod output;
mod sources;
mod view;
mod wiring;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use refit_core::report::Exit;

use crate::args::{Cli, Format};
use crate::failure::Failure;

fn main() -> ExitCode {
    let exit = match Cli::try_parse() {
        Ok(cli) => {
            let format = cli.global.output;
            output::finish(commands::run(cli), format)
        }
        Err(error) => refuse(&error),
    };
    exit.code().into()
}

/// Prints help to stdout or what is wrong with the command line to stderr.
fn refuse(error: &clap::Error) -> Exit {
    let exit = match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Done,
        _ => Exit::Usage,
    };
    if exit == Exit::Usage && wants_json(std::env::args_os()) {
        let text = error.to_string();
        let first = text.split("\n\n").next().unwrap_or_default();
        let failure = Failure::usage(first.trim_start_matches("error: ")).hint("see `refit --help`");
        return output::finish(Err(failure), Format::Json);
    }
    // There is nobody to tell when a stream is closed.
    let _ = error.print();
    exit
}

/// Tells whether JSON was asked for on a command line that could not be read as a whole.
fn wants_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let pair = |two: &[String]| matches!(two, [a, b] if (a == "-o" || a == "--output") && b == "json");
    words.windows(2).any(pair)
        || words
            .iter()
            .any(|word| word == "-ojson" || word == "--output=json" || word == "-o=json")
}
