//! `refit scan` and `refit convert`: uses of API versions and fields that a release deprecates or removes.
//!
//! In: files and folders, which need not be in Git. Out: the uses, or the files converted in place. Decides nothing itself.

mod look;
mod plane;
mod target;
mod write;

use std::path::PathBuf;

use clap::Args;
use refit_core::release::Version;
use refit_core::report::{Convert as Converted, Next, Report, Scan as Scanned, State};
use refit_engine::Target;

use crate::args::{Format, Global};
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::{conversions as view, sarif};

/// Find uses of API versions and fields that a release deprecates or removes.
///
/// Looks at YAML and JSON files: objects, lists, targets and contents of patches, references such as health checks,
/// manifests in ConfigMaps and templates. Each use is shown with file, line, object, since when it is deprecated, which
/// release removes it, what to write in its place, and whether `refit convert` does it.
/// Where a Flux Kustomization below PATH points to a folder below PATH, PATH is taken for the top of a repository, and only
/// what its Kustomizations reach is looked at; the rest is listed. Everywhere else, all files below PATH are. Links are not
/// followed, `.git` is left out. Changes nothing; ends with 3 when something was found.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit scan --to flux@v2.9.4 .
  refit scan --to flux@2.9 clusters/ apps/web.yaml
  refit scan --to flux@v2.7.5 --all .
  refit scan --to flux@v2.9.4 . -o json | jq '.uses[] | select(.removed and .convertible != \"yes\")'
  refit scan --to flux@v2.9.4 . -o sarif > refit.sarif")]
pub(crate) struct Scan {
    #[command(flatten)]
    what: What,
}

/// Convert files to the API versions and fields of a release, in place.
///
/// Takes what `refit scan` finds and can be converted for sure: comments, order and style stay, nothing newer than the
/// release is lowered, and a file without need stays as it is. What needs a person is listed, and ends the command with 3.
/// Each file is replaced whole; a command that is cut off can be run again. Files that Git filters (LFS) are not written.
/// Which files are meant is told by `refit scan --help`.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit convert --to flux@v2.9.4 . --diff
  refit convert --to flux@v2.9.4 .
  refit convert --to flux@2.7 clusters/ apps/web.yaml
  refit convert --to flux@v2.9.4 . -o json | jq -r '.left[] | \"\\(.path):\\(.line) \\(.reason)\"'")]
pub(crate) struct Convert {
    #[command(flatten)]
    what: What,
    /// Print a unified diff and write nothing.
    #[arg(long)]
    diff: bool,
}

/// What is looked at, and for which release.
#[derive(Args, Debug)]
struct What {
    /// The release that is to serve the files; `flux@2.9` is the newest of its series.
    #[arg(long, value_name = "PLATFORM@VERSION")]
    to: Target,
    /// Files and folders.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take in what no Kustomization reaches.
    #[arg(long)]
    all: bool,
    /// A file with rules of your own, beside those that `refit.yaml` in PATH names; repeatable.
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

/// Runs `refit scan`.
pub(crate) fn scan(options: &Scan, global: &Global) -> Result<Answer, Failure> {
    let target = target::of(&options.what, global)?;
    let seen = look::look(&options.what, &target.wanted)?;
    let to = &target.version;
    let behind = plane::behind(&seen, &target);
    let body = Scanned {
        platform: "flux".to_owned(),
        to: to.to_string(),
        files: seen.files,
        uses: seen
            .meant()
            .flat_map(|file| &file.uses)
            .map(|used| used.line_for(to))
            .collect(),
        notes: seen.notes(),
        unreached: seen.unreached(),
        findings: target
            .findings
            .iter()
            .cloned()
            .chain(behind.iter().flat_map(|behind| behind.findings.clone()))
            .chain(seen.findings())
            .collect(),
    };
    let found = !body.uses.is_empty() || seen.meant().any(|file| !file.findings.is_empty()) || !seen.odd.is_empty();
    let state = if found { State::Blocked } else { State::NothingToDo };
    let sure = body.uses.iter().filter(|used| used.convertible == "yes").count();
    let next = match (sure, &behind) {
        (0, _) => Vec::new(),
        (_, Some(behind)) => vec![again_to(&options.what, &behind.release)],
        (_, None) => vec![Next::run(
            again("convert", &options.what, None),
            "convert what can be converted",
        )],
    };
    let report = Report::new(state, view::scanned(&body), next, body);
    let notes = view::scan_notes(&report);
    let answer = match global.output {
        Format::Sarif => Answer::new(&report, sarif::text(&report.body))?,
        _ => Answer::new(&report, view::uses(&report.body.uses))?,
    };
    Ok(answer.with_notes(notes))
}

/// Runs `refit convert`.
pub(crate) fn convert(options: &Convert, global: &Global) -> Result<Answer, Failure> {
    let target = target::of(&options.what, global)?;
    let seen = look::look(&options.what, &target.wanted)?;
    let way = if options.diff {
        write::Way::Diff
    } else {
        write::Way::Write
    };
    let behind = plane::behind(&seen, &target);
    let written = write::write(&seen, &target, way)?;
    let to = &target.version;
    let mut left: Vec<_> = seen.meant().flat_map(|file| &file.uses).collect();
    left.retain(|used| used.convertible.reason().is_some());
    let body = Converted {
        platform: "flux".to_owned(),
        to: to.to_string(),
        files: seen.files,
        written: !options.diff,
        left: left
            .into_iter()
            .map(|used| used.line_for(to))
            .chain(written.refused)
            .collect(),
        changed: written.changed,
        notes: seen.notes(),
        unreached: seen.unreached(),
        findings: target
            .findings
            .iter()
            .cloned()
            .chain(behind.iter().flat_map(|behind| behind.findings.clone()))
            .chain(seen.findings())
            .chain(written.findings)
            .collect(),
    };
    let state = converted_state(body.left.len() + body.findings.len(), body.changed.len());
    let next = match (options.diff, body.changed.is_empty()) {
        (true, false) if behind.is_some() => behind
            .iter()
            .map(|behind| again_to(&options.what, &behind.release))
            .collect(),
        (true, false) => vec![Next::run(
            again("convert", &options.what, None),
            "write what the difference shows",
        )],
        _ => Vec::new(),
    };
    let report = Report::new(state, view::converted(&body), next, body);
    let notes = view::convert_notes(&report);
    let data = if options.diff {
        view::diffs(&report.body).into_bytes()
    } else {
        view::changed(&report.body).into_bytes()
    };
    Ok(Answer::new(&report, data)?.with_notes(notes))
}

/// Tells how a conversion ended, by how much is left for a person and how many files changed.
fn converted_state(left: usize, changed: usize) -> State {
    match (left, changed) {
        (0, 0) => State::NothingToDo,
        (0, _) => State::Done,
        _ => State::Blocked,
    }
}

/// Names the conversion to the release that is installed.
fn again_to(what: &What, installed: &Version) -> Next {
    let text = format!("convert to what {installed} serves");
    Next::run(again("convert", what, Some(installed)), text)
}

/// Gives the command line of another command on the same files, to another release where one is given.
fn again(command: &str, what: &What, to: Option<&Version>) -> String {
    let mut words = vec!["refit".to_owned(), command.to_owned(), "--to".to_owned()];
    let platform = what.to.platform.as_deref().unwrap_or("flux");
    let asked = what.to.version.clone().unwrap_or_default();
    words.push(format!("{platform}@{}", to.map_or(asked, ToString::to_string)));
    if what.all {
        words.push("--all".to_owned());
    }
    for file in &what.rules {
        words.push(format!("--rules {}", quoted(&file.display().to_string())));
    }
    words.extend(what.paths.iter().map(|path| quoted(&path.display().to_string())));
    words.join(" ")
}

/// Quotes a word for a shell where it needs it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "._-/@:+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
