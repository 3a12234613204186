//! Starts the `git` program in an environment that does not mislead it.
//!
//! In: arguments and input. Out: what it printed, or a [`PortError`]. Knows nothing of what the commands are for.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use refit_engine::ports::{PortError, PortErrorKind};

use super::complaint::failure;
use super::{Prompt, Protocols, Settings};

/// Variables that a hook or an outer `git` command sets for another repository, or that change what plumbing means.
const MISLEADING: [&str; 18] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_EXTERNAL_DIFF",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// No hook of the repository runs, nothing starts in the background, and a lock is waited for.
const CONFIGURATION: [&str; 6] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.filesRefLockTimeout=2000",
    "gc.auto=0",
    "maintenance.auto=false",
    "i18n.commitEncoding=UTF-8",
];

/// The `git` program with the settings of one repository.
#[derive(Clone, Debug)]
pub(super) struct Program {
    environment: Vec<(OsString, OsString)>,
    /// Where it runs, and the repository's directory; `None` while it is looked for.
    place: Option<(PathBuf, PathBuf)>,
}

/// What a finished command left behind.
pub(super) struct Output {
    /// Whether it answered 0.
    pub(super) success: bool,
    /// What it printed.
    pub(super) stdout: Vec<u8>,
    /// What it complained about.
    pub(super) stderr: String,
    /// The id of its process.
    pub(super) process: u32,
}

impl Program {
    /// Takes over the settings.
    pub(super) fn new(settings: &Settings) -> Self {
        let mut environment: Vec<(OsString, OsString)> = Vec::new();
        let mut set = |name: &str, value: &str| environment.push((name.into(), value.into()));
        set("LC_ALL", "C");
        set("LANGUAGE", "");
        set("GIT_LITERAL_PATHSPECS", "1");
        set("GIT_NO_REPLACE_OBJECTS", "1");
        set("GIT_OPTIONAL_LOCKS", "0");
        if settings.prompt == Prompt::Never {
            set("GIT_TERMINAL_PROMPT", "0");
            set("GCM_INTERACTIVE", "never");
            set("SSH_ASKPASS_REQUIRE", "never");
        }
        if std::env::var_os("GIT_ALLOW_PROTOCOL").is_none() {
            set(
                "GIT_ALLOW_PROTOCOL",
                match settings.protocols {
                    Protocols::WithLocal => "https:ssh:file",
                    Protocols::NetworkOnly => "https:ssh",
                },
            );
        }
        environment.extend(settings.environment.iter().cloned());
        Self {
            environment,
            place: None,
        }
    }

    /// Fixes the repository: where to run, and its Git directory.
    pub(super) fn at(mut self, root: PathBuf, git_dir: PathBuf) -> Self {
        self.place = Some((root, git_dir));
        self
    }

    /// Removes the report that `git fast-import` leaves in the repository when it fails; the failure says the same.
    pub(super) fn remove_crash_report(&self, process: u32) {
        if let Some((_, git_dir)) = &self.place {
            drop(std::fs::remove_file(
                git_dir.join(format!("fast_import_crash_{process}")),
            ));
        }
    }

    /// Keeps SSH from asking a person, where nobody chose another way to start it.
    pub(super) fn never_ask_by_ssh(&mut self) {
        let given = |name: &str| {
            let settings = self.environment.iter();
            std::env::var_os(name).is_some() || settings.into_iter().any(|(set, _)| set == name)
        };
        if !given("GIT_SSH_COMMAND") && !given("GIT_SSH") {
            let command = ("GIT_SSH_COMMAND".into(), "ssh -o BatchMode=yes".into());
            self.environment.push(command);
        }
    }

    /// Begins a command in the repository.
    pub(super) fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = self.bare_command();
        if let Some((root, git_dir)) = &self.place {
            command.current_dir(root).env("GIT_DIR", git_dir);
        }
        command.args(arguments);
        command
    }

    /// Begins a command in another directory, which finds its repository by itself.
    pub(super) fn command_in<S: AsRef<OsStr>>(&self, directory: &Path, arguments: &[S]) -> Command {
        let mut command = self.bare_command();
        command.arg("-C").arg(directory).args(arguments);
        command
    }

    fn bare_command(&self) -> Command {
        let mut command = Command::new("git");
        for name in MISLEADING {
            command.env_remove(name);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        for setting in CONFIGURATION {
            command.arg("-c").arg(setting);
        }
        command
    }

    /// Runs a command without input.
    pub(super) fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output, PortError> {
        finish(self.command(arguments), &[])
    }

    /// Runs a command that must succeed and gives what it printed; `what` is the operation for the message.
    pub(super) fn ask<S: AsRef<OsStr>>(&self, what: &str, arguments: &[S]) -> Result<Vec<u8>, PortError> {
        finish(self.command(arguments), &[])?.or_fail(what)
    }
}

impl Output {
    /// Gives what was printed, or the failure.
    pub(super) fn or_fail(self, what: &str) -> Result<Vec<u8>, PortError> {
        if self.success {
            Ok(self.stdout)
        } else {
            Err(failure(what, &self.stderr))
        }
    }
}

/// Runs a command to its end, giving it the input.
pub(super) fn finish(mut command: Command, input: &[u8]) -> Result<Output, PortError> {
    let mut child = start(
        command
            .stdin(if input.is_empty() {
                Stdio::null()
            } else {
                Stdio::piped()
            })
            .stderr(Stdio::piped()),
    )?;
    let (stdin, process) = (child.stdin.take(), child.id());
    let output = std::thread::scope(|scope| {
        if let Some(mut stdin) = stdin {
            // A command that stops reading says why by its exit code.
            scope.spawn(move || drop(stdin.write_all(input)));
        }
        child.wait_with_output()
    })
    .map_err(|error| PortError::new(PortErrorKind::Other, "`git` could not be waited for").because(error))?;
    Ok(Output {
        success: output.status.success(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        process,
    })
}

/// Starts a command whose output is read.
pub(super) fn start(command: &mut Command) -> Result<Child, PortError> {
    command.stdout(Stdio::piped()).spawn().map_err(|error| {
        let lost = PortError::new(PortErrorKind::Other, "`git` could not be started");
        let remedy = if error.kind() == io::ErrorKind::NotFound {
            "install git 2.31 or later, and see that the repository's directory still exists"
        } else {
            "see that the `git` program can be run"
        };
        lost.hint(remedy).because(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(settings: &Settings) -> Vec<String> {
        let program = Program::new(settings);
        let command = program.command(&["version"]);
        let shown = command.get_envs().map(|(name, value)| {
            let value = value.map_or("unset".into(), OsStr::to_string_lossy);
            format!("{}={value}", name.to_string_lossy())
        });
        shown.collect()
    }

    fn has(variables: &[String], wanted: &str) -> bool {
        variables.iter().any(|variable| variable == wanted)
    }

    #[test]
    fn git_asks_for_credentials_only_where_that_is_allowed() {
        let never = variables(&Settings::default());
        assert!(has(&never, "GIT_TERMINAL_PROMPT=0"), "{never:?}");
        let allowed = Settings {
            prompt: Prompt::Allowed,
            ..Settings::default()
        };
        let allowed = variables(&allowed);
        assert!(!has(&allowed, "GIT_TERMINAL_PROMPT=0"), "{allowed:?}");
    }

    #[test]
    fn nobody_is_asked_by_ssh_unless_the_user_chose_the_command() {
        let mut program = Program::new(&Settings::default());
        if std::env::var_os("GIT_SSH_COMMAND").is_none() && std::env::var_os("GIT_SSH").is_none() {
            program.never_ask_by_ssh();
            let set = ("GIT_SSH_COMMAND".into(), "ssh -o BatchMode=yes".into());
            assert!(program.environment.contains(&set));
        }
        let chosen = Settings {
            environment: vec![("GIT_SSH_COMMAND".into(), "mine".into())],
            ..Settings::default()
        };
        let mut program = Program::new(&chosen);
        program.never_ask_by_ssh();
        let last = program.environment.iter().rfind(|(name, _)| name == "GIT_SSH_COMMAND");
        assert_eq!(last, Some(&("GIT_SSH_COMMAND".into(), "mine".into())));
    }

    #[test]
    fn local_paths_are_a_protocol_of_their_own() {
        if std::env::var_os("GIT_ALLOW_PROTOCOL").is_some() {
            return;
        }
        let network = Settings {
            protocols: Protocols::NetworkOnly,
            ..Settings::default()
        };
        assert!(has(&variables(&network), "GIT_ALLOW_PROTOCOL=https:ssh"));
        let local = variables(&Settings::default());
        assert!(has(&local, "GIT_ALLOW_PROTOCOL=https:ssh:file"));
        assert!(has(&local, "GIT_DIR=unset") && has(&local, "GIT_INDEX_FILE=unset"));
    }
}
