//! Runs cold processes and measures them: wall time by our own clock, peak memory by GNU time in runs of their own.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::inputs::Files;
use crate::quality::Quality;

/// Who merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contestant {
    Refit,
    RefitOnOneCore,
    Kyaml,
    Git,
}

/// Where the programs are.
pub(crate) struct Programs<'a> {
    pub(crate) refit: &'a Path,
    pub(crate) kyaml: &'a Path,
}

/// The medians of one contestant and its last output.
pub(crate) struct Measured {
    pub(crate) contestant: Contestant,
    pub(crate) seconds: f64,
    /// Of the run that measured memory: user and system time on all cores, which a busy machine disturbs less.
    pub(crate) cpu_seconds: f64,
    pub(crate) megabytes: f64,
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) quality: Option<Quality>,
}

impl Contestant {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Refit => "refit merge",
            Self::RefitOnOneCore => "refit, one core",
            Self::Kyaml => "kyaml merge3",
            Self::Git => "git merge-file",
        }
    }

    fn command(self, programs: &Programs<'_>, files: &Files) -> Vec<String> {
        let text = |path: &Path| path.display().to_string();
        let (base, ours, theirs) = (text(&files.base), text(&files.ours), text(&files.theirs));
        let refit = vec![
            text(programs.refit),
            "merge".into(),
            base.clone(),
            ours.clone(),
            theirs.clone(),
        ];
        let into = ["--into".to_owned(), text(&files.out)];
        match self {
            Self::Refit => [refit.as_slice(), &into].concat(),
            Self::RefitOnOneCore => [
                &["taskset".to_owned(), "-c".into(), "0".into()],
                refit.as_slice(),
                &into,
            ]
            .concat(),
            Self::Kyaml => vec![text(programs.kyaml), base, ours, theirs, text(&files.out)],
            Self::Git => vec!["git".into(), "merge-file".into(), "-p".into(), ours, base, theirs],
        }
    }
}

/// Measures each contestant once per round; gives medians in the order of the contestants.
pub(crate) fn contest(
    programs: &Programs<'_>,
    files: &Files,
    contestants: &[Contestant],
    runs: usize,
) -> Vec<Measured> {
    let mut seconds = vec![Vec::new(); contestants.len()];
    let mut used = vec![(0.0, 0.0); contestants.len()];
    let mut results = vec![(None, String::new()); contestants.len()];
    for round in 0..=runs {
        for (index, contestant) in contestants.iter().enumerate() {
            let command = contestant.command(programs, files);
            let _ = fs::remove_file(&files.out);
            if round == 0 {
                // The first round warms the file cache and measures memory and processor time.
                used[index] = resources(&command, files);
                continue;
            }
            let started = Instant::now();
            let code = run(&command, &files.out);
            seconds[index].push(started.elapsed().as_secs_f64());
            let output = fs::read(&files.out).unwrap_or_default();
            results[index] = (code, String::from_utf8_lossy(&output).into_owned());
        }
    }
    let mut measured = Vec::new();
    for (index, (code, output)) in results.into_iter().enumerate() {
        let (cpu_seconds, megabytes) = used[index];
        measured.push(Measured {
            contestant: contestants[index],
            seconds: median(std::mem::take(&mut seconds[index])),
            cpu_seconds,
            megabytes,
            code,
            output,
            quality: None,
        });
    }
    measured
}

/// Runs a command; what `git merge-file` prints goes into the result's file, what others print nowhere.
fn run(command: &[String], out: &Path) -> Option<i32> {
    let writes_itself = !command.iter().any(|word| word == "merge-file");
    let stdout = if writes_itself {
        Stdio::null()
    } else {
        File::create(out).unwrap().into()
    };
    Command::new(&command[0])
        .args(&command[1..])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .code()
}

/// Gives processor time in seconds and peak memory in megabytes.
fn resources(command: &[String], files: &Files) -> (f64, f64) {
    let note = files.out.with_extension("resources");
    let prefix = ["/usr/bin/time", "-f", "%U %S %M", "-o"].map(str::to_owned);
    let measured = [prefix.as_slice(), &[note.display().to_string()], command].concat();
    run(&measured, &files.out);
    let text = fs::read_to_string(note).unwrap();
    let numbers: Vec<f64> = text
        .lines()
        .last()
        .unwrap()
        .split(' ')
        .map(|word| word.parse().unwrap())
        .collect();
    (numbers[0] + numbers[1], numbers[2] / 1024.0)
}

/// Gives the middle of the values.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
