//! Runs scripts of commands and compares all that they print.
//!
//! In: a folder of `*.script` files and the built program. Out: nothing, or a text of all differences. Knows no command.
//!
//! A script is lines: `% text` is a comment; `$ command` is run by bash, `> text` continues it; what follows is the
//! expected output of both streams; `? N` after it states an exit code other than 0. An output line that could be
//! taken for one of these is written with a backslash before it; output without a final newline ends in `\-`. All
//! commands of a script share one fresh folder, the working directory, variables and functions; `$SETUP` is the folder `setup` beside the
//! scripts, for files that several scripts source. The folder shows as `$WORK`, a commit id as `<commit>`. `UPDATE_SCRIPTS=1` writes what was
//! printed into the scripts; `SCRIPT=name` runs only scripts whose name contains `name`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// What stands before each command: directory, variables and functions are carried to the next one.
const KEEP: &str = "[ ! -e \"$HERE.sh\" ] || . \"$HERE.sh\"\n\
    set -a\n\
    trap '{ pwd >\"$HERE\"; export -p; declare -f; } >\"$HERE.sh\"' EXIT";

/// The program to test and what its scripts need to know.
#[derive(Clone, Debug)]
pub struct Runner {
    program: PathBuf,
    variables: Vec<(&'static str, String)>,
}

/// A fresh folder in which commands run one after the other.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    runner: &'a Runner,
    setup: PathBuf,
    place: PathBuf,
    _folder: tempfile::TempDir,
}

impl Session<'_> {
    /// Runs one command and gives what it printed, paths and commit ids masked, and its exit code.
    pub(crate) fn run(&self, command: &str) -> io::Result<(String, i32)> {
        let (output, code) = self.runner.command(command, &self.place, &self.setup)?;
        Ok((self.runner.shown(&output, &self.place, &self.setup), code))
    }
}

/// One command with what it should print.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// The lines before the command, comments and blank lines, as they are.
    before: String,
    /// The command, lines joined by newlines.
    command: String,
    /// The printed text.
    output: String,
    /// The exit code.
    code: i32,
}

impl Runner {
    /// Takes the path of the built program; its folder comes first in `PATH`.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            variables: Vec::new(),
        }
    }

    /// Sets a variable for all commands, and shows its value as `$NAME`, since it differs between machines.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    /// Runs all scripts of a folder and gives the differences, empty when there are none.
    pub fn run_all(&self, folder: &Path) -> io::Result<String> {
        let wanted = std::env::var("SCRIPT").unwrap_or_default();
        let mut scripts = Vec::new();
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if path.extension().is_some_and(|extension| extension == "script") && name.contains(&wanted) {
                scripts.push(path);
            }
        }
        if scripts.is_empty() {
            return Err(io::Error::other(format!("no script in `{}`", folder.display())));
        }
        scripts.sort();
        scripts.reverse();
        let queue = Mutex::new(scripts);
        let differences = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| self.work(&queue, &differences));
            }
        });
        let mut found = differences.into_inner().unwrap_or_default();
        found.sort();
        Ok(found.concat())
    }

    fn work(&self, queue: &Mutex<Vec<PathBuf>>, differences: &Mutex<Vec<String>>) {
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.pop());
            let Some(script) = next else { return };
            let found = self
                .run(&script)
                .unwrap_or_else(|error| format!("{}: {error}\n", script.display()));
            if let Ok(mut all) = differences.lock() {
                all.push(found);
            }
        }
    }

    /// Runs one script and gives its differences.
    pub fn run(&self, script: &Path) -> io::Result<String> {
        let text = fs::read_to_string(script)?;
        if let Some(long) = too_long(&text) {
            return Ok(format!("{}: {long}\n", script.display()));
        }
        let (blocks, rest) = read(&text);
        let session = self.start(&script.parent().unwrap_or(Path::new(".")).join("setup"))?;
        let mut got = Vec::new();
        for block in &blocks {
            let (output, code) = session.run(&block.command)?;
            got.push(Block {
                output,
                code,
                ..block.clone()
            });
        }
        let printed = write(&got, &rest);
        if printed == text {
            return Ok(String::new());
        }
        if std::env::var_os("UPDATE_SCRIPTS").is_some() {
            fs::write(script, printed)?;
            return Ok(String::new());
        }
        Ok(difference(script, &blocks, &got))
    }

    /// Starts a session in a fresh folder; `setup` holds the files that its commands may source.
    pub(crate) fn start(&self, setup: &Path) -> io::Result<Session<'_>> {
        let folder = tempfile::Builder::new().prefix("refit-script-").tempdir()?;
        let place = fs::canonicalize(folder.path())?;
        fs::create_dir(place.join("home"))?;
        fs::create_dir(place.join("work"))?;
        Ok(Session {
            runner: self,
            setup: fs::canonicalize(setup).unwrap_or_else(|_| setup.to_owned()),
            place,
            _folder: folder,
        })
    }

    /// Runs one command and gives both streams as one text, and the exit code.
    fn command(&self, command: &str, place: &Path, setup: &Path) -> io::Result<(String, i32)> {
        let output = place.join("output");
        let file = File::create(&output)?;
        let here = place.join("here");
        let directory = fs::read_to_string(&here).unwrap_or_else(|_| place.join("work").display().to_string());
        let line = format!("{KEEP}\n{command}\n");
        let mut bash = Command::new("bash");
        bash.arg("-c").arg(line).current_dir(directory.trim_end()).env_clear();
        bash.envs(self.environment(place, setup)).env("HERE", &here);
        bash.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let status = bash.status()?;
        let text = String::from_utf8_lossy(&fs::read(&output)?).into_owned();
        Ok((text, status.code().unwrap_or(-1)))
    }

    /// Gives the environment: nothing of the user's, fixed names and dates, so that commit ids are the same everywhere.
    fn environment(&self, place: &Path, setup: &Path) -> Vec<(&'static str, String)> {
        let home = place.join("home").display().to_string();
        let bin = self.program.parent().unwrap_or(Path::new(".")).display().to_string();
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
        let fixed = [
            ("GIT_AUTHOR_NAME", "Ada Example"),
            ("GIT_AUTHOR_EMAIL", "ada@example.org"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_NAME", "Ada Example"),
            ("GIT_COMMITTER_EMAIL", "ada@example.org"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
            ("GIT_CONFIG_VALUE_0", "main"),
            ("GIT_CONFIG_KEY_1", "advice.detachedHead"),
            ("GIT_CONFIG_VALUE_1", "false"),
            ("REFIT_OFFLINE", "1"),
            ("LC_ALL", "C"),
            ("TZ", "UTC"),
            ("TERM", "dumb"),
        ];
        let mut all: Vec<(&'static str, String)> = fixed.map(|(key, value)| (key, value.to_owned())).into();
        all.extend(self.variables.iter().cloned());
        all.push(("PATH", path));
        all.push(("HOME", home.clone()));
        all.push(("XDG_CONFIG_HOME", format!("{home}/.config")));
        all.push(("GIT_CEILING_DIRECTORIES", place.display().to_string()));
        all.push(("WORK", place.join("work").display().to_string()));
        all.push(("SETUP", setup.display().to_string()));
        all
    }

    fn shown(&self, output: &str, place: &Path, setup: &Path) -> String {
        let mut text = output.replace(&place.join("work").display().to_string(), "$WORK");
        text = text.replace(&place.join("home").display().to_string(), "$HOME");
        text = text.replace(&setup.display().to_string(), "$SETUP");
        for (name, value) in &self.variables {
            text = text.replace(value, &format!("${name}"));
        }
        without_commits(&text)
    }
}

/// Shows each commit id as `<commit>`, so that a change of what commits hold does not change every script.
fn without_commits(text: &str) -> String {
    let mut shown = String::new();
    let mut word = String::new();
    for letter in text.chars().chain(['\n']) {
        if letter.is_ascii_hexdigit() {
            word.push(letter);
            continue;
        }
        shown.push_str(if word.len() == 40 { "<commit>" } else { &word });
        shown.push(letter);
        word.clear();
    }
    shown.pop();
    shown
}

/// Tells when a script is longer than anybody wants to read.
fn too_long(text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > 150).then(|| format!("{lines} lines, at most 150 are allowed: share a setup between two scripts"))
}

/// Splits a script into its blocks and what follows the last one.
fn read(text: &str) -> (Vec<Block>, String) {
    let mut blocks: Vec<Block> = Vec::new();
    let mut before = String::new();
    let mut inside = false;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            let lines = std::mem::take(&mut before);
            blocks.push(Block {
                before: lines,
                command: command.to_owned(),
                output: String::new(),
                code: 0,
            });
            inside = true;
        } else if line.starts_with("% ") || !inside {
            inside = false;
            before.push_str(line);
            before.push('\n');
        } else if let Some(block) = blocks.last_mut() {
            take(block, line);
        }
    }
    for block in &mut blocks {
        settle(block);
    }
    (blocks, before)
}

/// Adds a line below a command to its block.
fn take(block: &mut Block, line: &str) {
    if let (Some(more), true) = (line.strip_prefix("> "), block.output.is_empty()) {
        block.command.push('\n');
        block.command.push_str(more);
    } else if let Some(code) = line.strip_prefix("? ").and_then(|code| code.parse().ok()) {
        block.code = code;
    } else if line == r"\-" {
        block.output.pop();
    } else {
        block.output.push_str(line.strip_prefix('\\').unwrap_or(line));
        block.output.push('\n');
    }
}

/// Takes the blank line that parts a block from the next one off its output.
fn settle(block: &mut Block) {
    if block.output == "\n" || block.output.ends_with("\n\n") {
        block.output.pop();
    }
}

/// Writes blocks as a script, the reverse of [`read`].
fn write(blocks: &[Block], rest: &str) -> String {
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(block.before.trim_start_matches('\n'));
        let _ = writeln!(text, "$ {}", block.command.replace('\n', "\n> "));
        text.push_str(&escaped(&block.output));
        if block.code != 0 {
            let _ = writeln!(text, "? {}", block.code);
        }
    }
    let rest = rest.trim_start_matches('\n');
    if !rest.is_empty() {
        text.push('\n');
        text.push_str(rest);
    }
    text
}

fn escaped(output: &str) -> String {
    let mut text = String::new();
    for line in output.lines() {
        let special = ["$ ", "> ", "? ", "% ", "\\"].iter().any(|mark| line.starts_with(mark));
        text.push_str(if special { "\\" } else { "" });
        text.push_str(line);
        text.push('\n');
    }
    if !output.is_empty() && !output.ends_with('\n') {
        text.push_str("\\-\n");
    }
    text
}

/// Describes where a script and a run part.
fn difference(script: &Path, wanted: &[Block], got: &[Block]) -> String {
    let mut text = String::new();
    for (wanted, got) in wanted.iter().zip(got).filter(|(wanted, got)| wanted != got) {
        let _ = writeln!(text, "--- {}: $ {}", script.display(), wanted.command);
        let _ = writeln!(text, "wanted (exit {}):\n{}", wanted.code, wanted.output);
        let _ = writeln!(text, "got (exit {}):\n{}", got.code, got.output);
    }
    if text.is_empty() {
        text = format!(
            "{}: written in another form than the runner writes, use UPDATE_SCRIPTS=1\n",
            script.display()
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runner() -> Runner {
        Runner::new("/nowhere/refit")
    }

    fn run(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("a.script");
        fs::write(&script, text).unwrap();
        runner().run(&script).unwrap()
    }

    #[test]
    fn a_script_that_tells_the_truth_passes() {
        let text = "% both streams, in order\n$ echo one; echo two >&2; mkdir a; cd a; b() { pwd; }\none\ntwo\n\n$ b; printf '%% x\\n\\nend'; exit 3\n$WORK/a\n\\% x\n\nend\n\\-\n? 3\n";
        assert_eq!(run(text), "");
    }

    #[test]
    fn each_lie_of_a_script_is_told() {
        for (command, output) in [
            ("echo one", "two\n"),
            ("echo one", "one\n? 1\n"),
            ("exit 1", ""),
            ("echo; echo", "\n"),
        ] {
            assert_ne!(run(&format!("$ {command}\n{output}")), "", "{command}");
        }
    }

    #[test]
    fn commands_of_several_lines_and_blank_output_survive_writing() {
        let text = "$ cat <<X\n> $ a\n> \n> X\n\\$ a\n\n";
        let (blocks, rest) = read(text);
        assert_eq!(blocks[0].command, "cat <<X\n$ a\n\nX");
        assert_eq!(write(&blocks, &rest).trim_end(), text.trim_end());
    }

    #[test]
    fn commit_ids_and_nothing_else_are_masked() {
        let id = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(
            without_commits(&format!("{id} x\nsha256:{id}{id}")),
            format!("<commit> x\nsha256:{id}{id}")
        );
    }

    #[test]
    fn the_users_git_configuration_is_out_of_reach() {
        assert_eq!(run("$ git config --global --list 2>&- || echo none\nnone\n"), "");
        assert_eq!(run("$ git config user.name || echo none\nnone\n"), "");
    }
}
