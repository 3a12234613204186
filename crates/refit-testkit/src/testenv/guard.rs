//! Programs that end with a value, and with this process, however it ends.
//!
//! In: commands. Out: running programs, their ids and what they wrote. Statics are not dropped, and a killed process drops
//! nothing: so a small shell reads the ids from a pipe, and ends them when the pipe closes.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Reads ids until the pipe closes, ends the processes, removes the folder.
///
/// A process may write while it ends, so the folder may need a second try.
const WATCH: &str = r#"
trap '' HUP INT TERM
ids=
while read -r id; do ids="$ids $id"; done
[ -z "$ids" ] || kill -9 $ids 2>/dev/null
for _ in 1 2 3 4 5; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done
"#;

/// Becomes a program as soon as its id is known to the shell that watches; ends when nobody says so.
const GATE: &str = r#"read -r _ && exec "$@" </dev/null"#;

/// How long a condition is waited for, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long it is between two looks.
const PAUSE: Duration = Duration::from_millis(10);
/// How much is shown of what a program wrote.
const SHOWN_LINES: usize = 25;

/// Running programs with a folder of their own.
#[derive(Debug)]
pub(super) struct Guard {
    folder: PathBuf,
    programs: Mutex<Vec<Program>>,
    watch: Child,
    ids: Option<ChildStdin>,
}

#[derive(Debug)]
struct Program {
    name: String,
    process: Child,
}

/// Waits for a condition; `what` is for the message.
///
/// # Panics
/// When it does not come in a minute.
pub fn until<T>(what: &str, look: impl FnMut() -> Option<T>) -> T {
    let found = wait(look);
    assert!(found.is_some(), "waited in vain until {what}");
    found.expect("what was just seen")
}

/// Looks again and again, until there is something or the time is over.
fn wait<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if let Some(found) = look() {
            return Some(found);
        }
        thread::sleep(PAUSE);
    }
    None
}

impl Guard {
    /// Makes the folder and starts the shell that watches.
    pub(super) fn begin() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory").keep();
        let mut watch = Command::new("sh")
            .args(["-c", WATCH, "sh"])
            .arg(&folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("a started shell");
        let ids = watch.stdin.take();
        Self {
            folder,
            programs: Mutex::default(),
            watch,
            ids,
        }
    }

    /// Gives the folder, which is removed with the programs.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a file into the folder, and gives its path.
    pub(super) fn write(&self, name: &str, text: &str) -> String {
        let path = self.folder.join(name);
        fs::write(&path, text).expect("a written file");
        path.to_str().expect("a path in UTF-8").to_owned()
    }

    /// Starts a program; what it writes goes to a file of the folder.
    pub(super) fn start(&self, program: &Path, arguments: &[String]) {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let log = File::create(self.log(&name)).expect("a written file");
        let mut process = Command::new("sh")
            .args(["-c", GATE, "sh"])
            .arg(program)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("a written file"))
            .stderr(log)
            .spawn()
            .expect("a started shell");
        let mut gate = process.stdin.take().expect("its gate");
        let id = process.id();
        self.programs().push(Program { name, process });
        writeln!(self.ids.as_ref().expect("the shell that watches"), "{id}").expect("a known id");
        writeln!(gate).expect("an open gate");
    }

    /// Gives the ids of the programs.
    pub(super) fn processes(&self) -> Vec<u32> {
        self.programs().iter().map(|program| program.process.id()).collect()
    }

    /// Waits for a condition that the programs bring about; an error says what they wrote last.
    pub(super) fn until<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> Result<T, String> {
        let in_vain = || Err(format!("waited in vain until {what}{}", self.last_words()));
        wait(|| self.ended().map(Err).or_else(|| look().map(Ok))).unwrap_or_else(in_vain)
    }

    /// Tells which program ended by itself, and what they all wrote last.
    fn ended(&self) -> Option<String> {
        let ended = |program: &mut Program| {
            let status = program.process.try_wait().ok().flatten()?;
            Some(format!("`{}` ended with {status}", program.name))
        };
        let ended = self.programs().iter_mut().find_map(ended)?;
        Some(format!("{ended}{}", self.last_words()))
    }

    /// Gives the last lines of each program.
    fn last_words(&self) -> String {
        let last = |program: &Program| {
            let text = fs::read_to_string(self.log(&program.name)).unwrap_or_default();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
            format!("\n`{}` wrote last:\n{last}", program.name)
        };
        self.programs().iter().map(last).collect()
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn programs(&self) -> MutexGuard<'_, Vec<Program>> {
        self.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The shell ends the programs, before they are waited for: only then others can have their ids. Should somebody
        // have ended the shell, they are ended here.
        drop(self.ids.take());
        for program in self.programs().iter_mut() {
            let _ = program.process.kill();
            let _ = program.process.wait();
        }
        let _ = self.watch.wait();
    }
}
