//! `refit completion`: the completion script of a shell.
//!
//! In: the shell. Out: its script.

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use refit_core::report::{Report, State};

use crate::args::Cli;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::Completion;

/// Print the completion script of a shell.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit completion bash > ~/.local/share/bash-completion/completions/refit
  refit completion zsh > \"${fpath[1]}/_refit\"
  refit completion fish > ~/.config/fish/completions/refit.fish")]
pub(crate) struct Options {
    /// The shell.
    shell: Shell,
}

/// Writes the script for the shell.
pub(crate) fn run(options: &Options) -> Result<Answer, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut Cli::command(), "refit", &mut script);
    let body = Completion {
        script: String::from_utf8_lossy(&script).into_owned(),
    };
    Answer::new(
        &Report::new(State::Done, "the script follows", Vec::new(), body),
        script,
    )
}
