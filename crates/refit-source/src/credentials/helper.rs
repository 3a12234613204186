//! Asks the programs that keep credentials (`docker-credential-NAME`).
//!
//! In: the name of a program and the names of a host. Out: a user, or why the program gave none, never with what it said.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use serde::Deserialize;

use super::User;

/// How long a program may take; it may ask the user for a password.
const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(20);
/// What such a program says where it knows nobody.
const NOBODY: &str = "credentials not found";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Helped {
    username: String,
    secret: String,
}

/// Asks a program under each name of a host; `Err` says why it is of no use.
pub(super) fn ask(helper: &str, names: &[String]) -> Result<Option<User>, String> {
    let sound = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let program = format!("docker-credential-{helper}");
    if !helper.bytes().all(sound) {
        return Err(
            "the configuration of Docker names a program that keeps credentials in a way that is no name".to_owned(),
        );
    }
    for name in names {
        let mut command = Command::new(&program);
        command.arg("get");
        let answer = run(command, name, LIMIT).map_err(|why| format!("the program `{program}` {why}"))?;
        if let Some(user) = answer {
            return Ok(Some(user));
        }
    }
    Ok(None)
}

fn run(mut command: Command, name: &str, limit: Duration) -> Result<Option<User>, String> {
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = piped.spawn().map_err(|error| format!("cannot be started: {error}"))?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read its input says by its answer what it makes of that.
        let _ = input.write_all(name.as_bytes());
    }
    let (sender, receiver) = mpsc::channel();
    if let Some(mut output) = child.stdout.take() {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = output.read_to_end(&mut bytes);
            let _ = sender.send(bytes);
        });
    }
    let ended = wait(&mut child, limit);
    if ended.is_none() {
        let _ = child.kill();
        let _ = child.wait();
    }
    let late = || format!("gave no answer within {} seconds", limit.as_secs());
    let status = ended.ok_or_else(late)?;
    let said = receiver.recv_timeout(limit).map_err(|_| late())?;
    if status.success() {
        let helped: Helped = serde_json::from_slice(&said).map_err(|_| "gave an answer that is not understood")?;
        return Ok(Some(User {
            name: helped.username,
            password: helped.secret,
        }));
    }
    match String::from_utf8_lossy(&said).contains(NOBODY) {
        true => Ok(None),
        false => Err(format!("failed ({status})")),
    }
}

/// Waits for the end; `None` when it does not come in time.
fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let mut waited = Duration::ZERO;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if waited < limit => thread::sleep(PAUSE),
            _ => return None,
        }
        waited += PAUSE;
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run_script(script: &str) -> Result<Option<(String, String)>, String> {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let user = run(command, "reg.example", Duration::from_secs(1))?;
        Ok(user.map(|user| (user.name, user.password)))
    }

    #[test]
    fn a_program_is_told_the_host_and_gives_a_user() {
        let script = r#"printf '{"ServerURL": "x", "Username": "%s", "Secret": "planted"}' "$(cat)""#;
        let user = Some(("reg.example".to_owned(), "planted".to_owned()));
        assert_eq!(run_script(script), Ok(user));
        assert_eq!(
            run_script("echo credentials not found in native keychain; exit 1"),
            Ok(None)
        );
    }

    #[test]
    fn a_program_that_fails_or_never_ends_is_told_without_what_it_said() {
        for (script, why) in [
            ("exec sleep 1000", "gave no answer within 1 seconds"),
            ("exec 1>&-; exec sleep 1000", "gave no answer within 1 seconds"),
            ("echo planted; exit 3", "failed (exit status: 3)"),
            ("echo planted", "gave an answer that is not understood"),
        ] {
            assert_eq!(run_script(script), Err(why.to_owned()), "{script}");
        }
        let missing = ask("of-nobody-at-all", &["x".to_owned()]).unwrap_err();
        let begin = "the program `docker-credential-of-nobody-at-all` cannot be started: ";
        assert!(missing.starts_with(begin), "{missing}");
        assert!(ask("../sh", &["x".to_owned()]).is_err());
    }
}
