//! Finds a repository from a path, or keeps a clone of a URL.
//!
//! In: a location that a person gave, settings, a cache directory. Out: an open [`Git`]. Knows nothing of what is read.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use refit_engine::ports::{PortError, PortErrorKind};

use super::complaint::{failure, without_credentials};
use super::config::Config;
use super::names::is_url;
use super::program::{self, Program};
use super::{Git, Prompt, Protocols, Settings};

impl Git {
    /// Opens the repository of a path (a worktree, a directory in it, a bare repository), or of a URL through a bare
    /// clone in the cache directory of the settings.
    pub fn open(location: &str, settings: &Settings) -> Result<Self, PortError> {
        if location.starts_with('-') || location.is_empty() {
            return Err(not_found(format!("`{location}` is not a path or URL of a repository"))
                .hint("write `./` before a path that begins with a dash"));
        }
        let url = is_url(location) && !Path::new(location).exists();
        if settings.protocols == Protocols::NetworkOnly && (!url || location.starts_with("file:")) {
            return Err(PortError::new(
                PortErrorKind::Forbidden,
                format!(
                    "`{}` is a local path, and only https and ssh are allowed here",
                    without_credentials(location)
                ),
            )
            .hint("name the repository by its https or ssh URL"));
        }
        if url {
            open_url(location, settings)
        } else {
            open_path(Path::new(location), settings)
        }
    }
}

/// Gives a URL for messages.
fn shown(url: &str) -> String {
    // As in quotes: a mistyped one may hold blanks.
    without_credentials(&format!("'{url}'")).trim_matches('\'').to_owned()
}

fn not_found(message: String) -> PortError {
    PortError::new(PortErrorKind::NotFound, message)
}

fn open_path(path: &Path, settings: &Settings) -> Result<Git, PortError> {
    let shown = path.display();
    let path = fs::canonicalize(path).map_err(|error| {
        let kind = if error.kind() == std::io::ErrorKind::NotFound {
            PortErrorKind::NotFound
        } else {
            PortErrorKind::Forbidden
        };
        PortError::new(kind, format!("`{shown}` cannot be opened"))
            .hint("name the platform repository with `--repo PATH` or `--repo URL`")
            .because(error)
    })?;
    if !path.is_dir() {
        return Err(not_found(format!("`{shown}` is not a directory")).hint("name the directory of the repository"));
    }
    let program = Program::new(settings);
    let (root, git_dir, bare) = discover(&program, &path)?;
    let common = common_directory(&git_dir);
    let mut program = program.at(root.clone(), git_dir);
    let config = Config::read(&program)?;
    let own_ssh = config.get("core.sshcommand").or(config.get("ssh.variant"));
    if settings.prompt == Prompt::Never && own_ssh.is_none() {
        program.never_ask_by_ssh();
    }
    let mut git = Git {
        program,
        common,
        bare,
        config,
        sign_off: settings.sign_off,
        remote: None,
        location: root.display().to_string(),
        reader: Mutex::new(None),
        fetched: Mutex::new(None::<BTreeSet<String>>),
    };
    git.remote = git.choose_remote(settings.remote.as_deref())?;
    Ok(git)
}

/// Asks Git for the top of the worktree (or the bare directory), the Git directory, and whether it is bare.
fn discover(program: &Program, path: &Path) -> Result<(PathBuf, PathBuf, bool), PortError> {
    let arguments = [
        "rev-parse",
        "--is-bare-repository",
        "--is-inside-work-tree",
        "--absolute-git-dir",
        "--show-cdup",
    ];
    let output = program::finish(program.command_in(path, &arguments), &[])?;
    if !output.success {
        let shown = path.display();
        if output.stderr.contains("not a git repository") {
            return Err(not_found(format!("`{shown}` is not in a git repository"))
                .hint("run this inside the platform repository, or name it with `--repo PATH` or `--repo URL`")
                .because(output.stderr.trim().to_owned()));
        }
        return Err(failure(
            &format!("the repository of `{shown}` cannot be opened"),
            &output.stderr,
        ));
    }
    let text = output.stdout.strip_suffix(b"\n").unwrap_or(&output.stdout);
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    if lines.len() < 3 {
        let what = format!("git gave no answer for `{}`", path.display());
        return Err(PortError::new(PortErrorKind::Other, what).hint("install git 2.31 or later"));
    }
    let (bare, inside) = (lines.remove(0) == b"true", lines.remove(0) == b"true");
    // Only a worktree has a line for the way up; a path may hold line breaks itself.
    let up = if inside { lines.pop() } else { None };
    let git_dir = PathBuf::from(os_string(lines.join(&b'\n')));
    let root = match (up, git_dir.parent()) {
        (Some(up), _) => path.join(os_string(up.to_vec())),
        (None, Some(parent)) if !bare && git_dir.ends_with(".git") => parent.to_owned(),
        (None, _) => git_dir.clone(),
    };
    Ok((fs::canonicalize(&root).unwrap_or(root), git_dir, bare))
}

/// Gives the directory that all worktrees share; the file `commondir` of a linked worktree names it.
fn common_directory(git_dir: &Path) -> PathBuf {
    match fs::read_to_string(git_dir.join("commondir")) {
        Ok(text) => git_dir.join(text.trim_end_matches('\n')),
        Err(_) => git_dir.to_owned(),
    }
}

#[cfg(unix)]
pub(super) fn os_string(bytes: Vec<u8>) -> OsString {
    std::os::unix::ffi::OsStringExt::from_vec(bytes)
}

#[cfg(not(unix))]
pub(super) fn os_string(bytes: Vec<u8>) -> OsString {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

fn open_url(url: &str, settings: &Settings) -> Result<Git, PortError> {
    let shown = shown(url);
    let cache = settings.cache.as_deref().ok_or_else(|| {
        PortError::new(
            PortErrorKind::Other,
            format!("there is no place for a clone of {shown}"),
        )
        .hint("set HOME or XDG_CACHE_HOME, or clone it yourself and give the path")
    })?;
    let directory = cache.join("repositories").join(directory_name(&shown));
    if !directory.exists() {
        prepare(&directory, settings).map_err(|error| {
            PortError::new(error.kind, format!("could not prepare a clone of {shown}"))
                .hint(format!("see that `{}` can be written", cache.display()))
                .because(error)
        })?;
    }
    let alone = Settings {
        remote: None,
        ..settings.clone()
    };
    let mut git = open_path(&directory, &alone)?;
    if git.config.get("remote.origin.url") != Some(url) {
        let what = format!("could not note the address of {shown}");
        git.program.ask(&what, &["config", "remote.origin.url", url])?;
        git.remote = Some("origin".to_owned());
    }
    git.location = shown;
    Ok(git)
}

/// Makes an empty bare repository beside its place and renames it, so that a kill leaves none that is half made.
fn prepare(directory: &Path, settings: &Settings) -> Result<(), PortError> {
    let io = |error: std::io::Error| {
        let kind = match error.kind() {
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => PortErrorKind::Forbidden,
            _ => PortErrorKind::Other,
        };
        PortError::new(kind, "could not make a directory").because(error)
    };
    let cache = directory.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(cache).map_err(io)?;
    // Its mode 0700 stays with it: the URL in it may hold credentials.
    let fresh = tempfile::Builder::new()
        .prefix(".new-")
        .tempdir_in(cache)
        .map_err(io)?
        .keep();
    let program = Program::new(settings);
    let arguments: [&std::ffi::OsStr; 6] = [
        "init".as_ref(),
        "--quiet".as_ref(),
        "--bare".as_ref(),
        "--template=".as_ref(),
        "--".as_ref(),
        fresh.as_os_str(),
    ];
    program.ask("could not make a bare repository", &arguments)?;
    if let Err(error) = fs::rename(&fresh, directory) {
        drop(fs::remove_dir_all(&fresh));
        // Somebody else was faster.
        if !directory.exists() {
            return Err(io(error));
        }
    }
    Ok(())
}

/// Names the clone of a URL: its last part for people, and a number (FNV-1a) that tells equal names apart.
fn directory_name(url: &str) -> String {
    let last = url.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
    let plain: String = last
        .trim_end_matches(".git")
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    let number = url.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{plain}-{number:016x}.git")
}
