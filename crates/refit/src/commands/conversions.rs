//! `refit scan` and `refit convert`: uses of API versions and fields that a release deprecates or removes.
//!
//! In: files and folders, which need not be in Git. Out: the uses, or the files converted in place. Decides nothing itself.

mod look;
mod plane;
mod rules;
mod target;
mod write;

use std::path::PathBuf;

use clap::Args;
use refit_core::finding::Finding;
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
    /// A file with rules of your own, beside those that `refit.yaml` names: the one in PATH, or the next above it in the same
    /// Git repository; repeatable.
    #[arg(long, value_name = "FILE")]
    rules: Vec<PathBuf>,
}

/// Runs `refit scan`.
pub(crate) fn scan(options: &Scan, global: &Global) -> Result<Answer, Failure> {
    let mut asked = Asked::look(&options.what, global)?;
    let to = asked.aim.version.clone();
    let behind = plane::behind(&asked.seen, &asked.aim);
    let found = asked.seen.is_found();
    let body = Scanned {
        platform: "flux".to_owned(),
        to: to.to_string(),
        files: asked.seen.files,
        notes: asked.seen.notes(),
        unreached: asked.seen.unreached(),
        findings: asked.findings(behind.as_ref(), Vec::new()),
        uses: asked.seen.take_uses().map(|used| used.line_for(&to)).collect(),
    };
    let state = match found || body.findings.iter().any(Finding::blocks) {
        true => State::Blocked,
        false => State::NothingToDo,
    };
    let next = match (view::sure(&body.uses), &behind) {
        (0, _) => Vec::new(),
        (_, Some(behind)) => vec![again_to(&options.what, &behind.release)],
        (_, None) => vec![Next::run(
            again("convert", &options.what, None),
            "convert what can be converted",
        )],
    };
    let report = Report::new(state, view::scanned(&body), next, body);
    let mut notes = view::scan_notes(&report);
    notes.insert_str(0, &view::leftovers(&asked.seen.leftovers));
    let answer = match global.output {
        Format::Sarif => Answer::in_form(&report, sarif::text(&report.body), global.output)?,
        _ => Answer::in_form(&report, view::uses(&report.body.uses), global.output)?,
    };
    Ok(answer.with_notes(notes))
}

/// Runs `refit convert`.
pub(crate) fn convert(options: &Convert, global: &Global) -> Result<Answer, Failure> {
    let asked = Asked::look(&options.what, global)?;
    let (seen, to) = (&asked.seen, &asked.aim.version);
    let way = if options.diff {
        write::Way::Diff
    } else {
        write::Way::Write
    };
    let behind = plane::behind(seen, &asked.aim);
    let (cleared, kept) = match way {
        write::Way::Write => write::clear_leftovers(seen),
        write::Way::Diff => (Vec::new(), seen.leftovers.clone()),
    };
    let written = write::write(seen, &asked.aim, way)?;
    let left = seen.meant().flat_map(|file| &file.uses);
    let left = left.filter(|used| used.convertible.reason().is_some());
    let body = Converted {
        platform: "flux".to_owned(),
        to: to.to_string(),
        files: seen.files,
        written: !options.diff,
        left: left.map(|used| used.line_for(to)).chain(written.refused).collect(),
        changed: written.changed,
        notes: seen.notes(),
        unreached: seen.unreached(),
        findings: asked.findings(behind.as_ref(), written.findings),
    };
    // A warning about the release, such as an old catalog, leaves nothing to do in the files.
    let is_left = |finding: &&Finding| finding.blocks() || !asked.aim.findings.contains(finding);
    let left = body.left.len() + body.findings.iter().filter(is_left).count();
    let state = converted_state(left, body.changed.len());
    let next = match (&behind, options.diff && !body.changed.is_empty()) {
        (Some(behind), true) => vec![again_to(&options.what, &behind.release)],
        (None, true) => vec![Next::run(
            again("convert", &options.what, None),
            "write what the difference shows",
        )],
        (_, false) => Vec::new(),
    };
    let report = Report::new(state, view::converted(&body), next, body);
    let notes = view::cleared(&cleared) + &view::leftovers(&kept) + &view::convert_notes(&report);
    let answer = if options.diff {
        Answer::in_form(&report, view::diffs(&report.body).into_bytes(), global.output)?
    } else {
        Answer::in_form(&report, view::changed(&report.body), global.output)?
    };
    Ok(answer.with_notes(notes))
}

/// What was asked for, and what was seen.
struct Asked {
    aim: target::Aim,
    seen: look::Seen,
    /// What is wrong with rule files.
    of_rules: Vec<Finding>,
}

impl Asked {
    fn look(what: &What, global: &Global) -> Result<Self, Failure> {
        let aim = target::of(what, global)?;
        let mut rules = rules::Rules::of(what, &aim)?;
        let seen = look::look(what, &mut rules)?;
        let of_rules = rules.findings;
        Ok(Self { aim, seen, of_rules })
    }

    /// Lists all findings: those of the release, of rules, of planes, of files, of writing.
    fn findings(&self, behind: Option<&plane::Behind>, of_writing: Vec<Finding>) -> Vec<Finding> {
        let mut all = self.aim.findings.clone();
        all.extend(self.of_rules.iter().cloned());
        all.extend(behind.into_iter().flat_map(|behind| behind.findings.clone()));
        all.extend(self.seen.findings());
        all.extend(of_writing);
        all
    }
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
