//! Holds `docs/commands.md` and `docs/json.md` to the code; `UPDATE_DOCS=1` writes them anew.
//!
//! In: the definition of the command line, the sources of the results. Out: the pages.

mod json;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Command, CommandFactory};

use crate::args::Cli;

#[test]
fn the_page_of_commands_says_what_help_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/commands.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/commands.md is old: run `UPDATE_DOCS=1 cargo test -p refit page_of_commands`"
    );
}

#[test]
fn every_command_has_examples_in_its_long_help() {
    for command in leaves(&built()) {
        let help = long_help(&command);
        assert!(
            help.contains("\nExamples:\n  "),
            "{} has none",
            command.get_bin_name().unwrap_or_default()
        );
    }
}

#[test]
fn every_command_that_a_text_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut wrong = Vec::new();
    for (path, text) in texts(&root.join("crates")).into_iter().chain(texts(&root.join("docs"))) {
        for rest in text.split("`refit ").skip(1) {
            let words: Vec<&str> = rest.split('`').next().unwrap_or_default().split_whitespace().collect();
            if !names_a_command(&words) {
                wrong.push(format!("{}: `refit {}`", path.display(), words.join(" ")));
            }
        }
    }
    assert!(wrong.is_empty(), "no such command:\n{}", wrong.join("\n"));
}

/// Reads the sources and pages below a folder, without tests.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let is_text = path
            .extension()
            .is_some_and(|extension| extension == "rs" || extension == "md");
        if path.is_dir() && !path.ends_with("tests") {
            found.extend(texts(&path));
        } else if is_text {
            let text = std::fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
    found
}

fn built() -> Command {
    let mut command = Cli::command();
    command.build();
    command
}

/// Tells whether words begin with a command, or with an option or placeholder where any command can stand.
fn names_a_command(words: &[&str]) -> bool {
    let Some(first) = words.first() else { return true };
    let known = |command: &Command, name: &str| command.get_subcommands().any(|below| below.get_name() == name);
    let root = built();
    let plain = |word: &str| word.chars().all(|letter| letter.is_ascii_lowercase());
    if !plain(first) {
        return true;
    }
    let Some(command) = root.get_subcommands().find(|command| command.get_name() == *first) else {
        return false;
    };
    match words.get(1) {
        Some(second) if command.has_subcommands() && plain(second) => known(command, second),
        _ => true,
    }
}

/// Lists all commands that do something, in the order of the help.
fn leaves(command: &Command) -> Vec<Command> {
    let below: Vec<Command> = command
        .get_subcommands()
        .filter(|below| below.get_name() != "help")
        .flat_map(leaves)
        .collect();
    if below.is_empty() { vec![command.clone()] } else { below }
}

/// Renders the long help without the global options, which stand once on the page.
fn long_help(command: &Command) -> String {
    let hidden = command.clone().mut_args(|argument| {
        let global = argument.get_help_heading() == Some("Global options");
        argument.hide(global)
    });
    let help = hidden.clone().render_long_help().to_string();
    help.lines()
        .map(str::trim_end)
        .collect::<Vec<_>>()
        .join("\n")
        .trim_end()
        .to_owned()
}

fn page() -> String {
    let root = built();
    let mut page = String::from(
        "# Commands\n\nGenerated from `refit --help`; a test compares the two. What `-o json` prints is described in \
         [json.md](json.md), the codes of findings in [findings.md](findings.md).\n",
    );
    let help = root.clone().render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n```text\n{}\n```\n", lines.join("\n").trim_end());
    for command in leaves(&root) {
        let name = command.get_bin_name().unwrap_or_default();
        let _ = write!(page, "\n## {name}\n\n```text\n{}\n```\n", long_help(&command));
    }
    page
}
