//! Runs the commands of a guide and compares what they print with what the guide says.
//!
//! In: a Markdown file and a [`Runner`]. Out: nothing, or a text of all differences. Knows no command.
//!
//! A guide's blocks marked `console` are run in the order of the page, in one fresh folder: `$ command` with `> more` lines, then
//! its output. A line `...` stands for any number of lines. A line `(exit code N)` after the output states an exit code other than
//! 0. What readers need not see is run from a comment: `<!-- run: command -->`.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use crate::script::Runner;

/// One command of a guide.
#[derive(Debug, Default, PartialEq, Eq)]
struct Step {
    line: usize,
    command: String,
    /// The lines that it should print; `None` where nothing is shown.
    output: Option<Vec<String>>,
    code: i32,
}

/// Runs a guide and gives its differences, empty when it tells the truth.
pub fn run(runner: &Runner, guide: &Path, setup: &Path) -> io::Result<String> {
    let steps = steps(&std::fs::read_to_string(guide)?);
    let shown = steps.iter().filter(|step| step.output.is_some()).count();
    if shown == 0 {
        return Err(io::Error::other(format!("`{}` shows no command", guide.display())));
    }
    let session = runner.start(setup)?;
    let mut differences = String::new();
    for step in &steps {
        let (printed, code) = session.run(&step.command)?;
        let lines: Vec<&str> = printed.lines().collect();
        let same = match &step.output {
            Some(wanted) => matches(wanted, &lines),
            None => true,
        };
        if !same || code != step.code {
            let place = format!("{}:{}", guide.display(), step.line);
            let wanted = step.output.as_deref().unwrap_or_default().join("\n");
            let _ = writeln!(differences, "--- {place}: $ {}", step.command);
            let _ = writeln!(differences, "the guide says (exit {}):\n{wanted}", step.code);
            let _ = writeln!(differences, "it prints (exit {code}):\n{printed}");
        }
    }
    Ok(differences)
}

/// Tells whether lines fit a pattern in which `...` stands for any number of lines.
fn matches(pattern: &[String], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((first, rest)) if first == "..." => (0..=lines.len()).any(|skipped| matches(rest, &lines[skipped..])),
        Some((first, rest)) => lines
            .split_first()
            .is_some_and(|(line, left)| line == first && matches(rest, left)),
    }
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if let Some(hidden) = line
            .strip_prefix("<!-- run: ")
            .and_then(|rest| rest.strip_suffix(" -->"))
        {
            steps.push(Step {
                line: index + 1,
                command: hidden.to_owned(),
                ..Step::default()
            });
        } else if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            take(&mut steps, line, index + 1);
        }
    }
    steps
}

fn take(steps: &mut Vec<Step>, line: &str, number: usize) {
    if let Some(command) = line.strip_prefix("$ ") {
        steps.push(Step {
            line: number,
            command: command.to_owned(),
            output: Some(Vec::new()),
            code: 0,
        });
        return;
    }
    let Some(step) = steps.last_mut() else { return };
    let Some(output) = &mut step.output else { return };
    let code = line.strip_prefix("(exit code ").and_then(|rest| rest.strip_suffix(')'));
    if let (Some(more), true) = (line.strip_prefix("> "), output.is_empty()) {
        step.command.push('\n');
        step.command.push_str(more);
    } else if let Some(code) = code.and_then(|code| code.parse().ok()) {
        step.code = code;
    } else {
        output.push(line.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let guide = folder.path().join("guide.md");
        std::fs::write(&guide, text).unwrap();
        run(&Runner::new("/nowhere/refit"), &guide, folder.path()).unwrap()
    }

    #[test]
    fn a_guide_that_tells_the_truth_passes() {
        let text = "# A\n<!-- run: echo hidden >f -->\n```console\n$ cat f\nhidden\n$ seq 9; exit 3\n1\n...\n9\n(exit code 3)\n```\n```yaml\n$ no command\n```\n```console\n$ cat <<X\n> a\n> X\na\n```\n";
        assert_eq!(check(text), "");
    }

    #[test]
    fn each_lie_of_a_guide_is_told() {
        for (command, output) in [
            ("echo a", "b"),
            ("seq 3", "1\n...\n2"),
            ("exit 2", ""),
            ("echo a", "a\n(exit code 1)"),
        ] {
            let text = format!("```console\n$ {command}\n{output}\n```\n");
            assert_ne!(check(&text), "", "{command}");
        }
    }
}
