//! `refit merge`: the three-way merge of three files or three folders, and the git merge driver.
//!
//! In: three paths. Out: the merged file on stdout or at `--into`, the decisions beside it. Decides nothing itself.

use std::path::{Path, PathBuf};

use clap::Args;
use refit_core::catalog::Catalog;
use refit_core::finding::Finding;
use refit_core::patches;
use refit_core::report::{Exit, Next, Report, State};
use refit_manifest::merge::{Merged, Settings, merge};
use refit_manifest::{Answer as Choice, Answers, Decision, DecisionId, Entry, Tree};

use crate::args::{Format, Global};
use crate::commands::{schemas, whole};
use crate::disk::{self, Folder};
use crate::failure::Failure;
use crate::output::Answer;
use crate::view::Merge;
use crate::view::decisions::{self, Remedy};
use crate::view::lines;

/// Merge three files or three folders by structure: OURS keeps its edits, text and comments.
///
/// BASE is what OURS was made from, THEIRS is the new version of BASE. Changes of one side are taken; where both sides
/// changed a field and no rule decides, OURS stays and the command ends with 5. No conflict marker is ever added.
/// Of files, the result goes to stdout or to the file of --into. Of folders, it goes to the folder of --into, which
/// must not exist or be empty; without --into only the decisions are shown. `.git` is left out, links are compared
/// and never followed, empty folders are not kept. The Kustomize patches of OURS are compared before and after the merge;
/// one that the new version breaks is a decision, too. With `-o json` stdout has the decisions alone, so that the result
/// needs --into.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit merge old/gotk-components.yaml gotk-components.yaml new/gotk-components.yaml > merged.yaml
  refit merge base/ ours/ theirs/ --into merged/
  refit merge base.yaml ours.yaml theirs.yaml --into ours.yaml --schema crds.yaml
  refit merge base.yaml ours.yaml theirs.yaml --answer 60b10285=theirs > merged.yaml
  refit merge base.yaml ours.yaml theirs.yaml -o json | jq '.decisions[] | select(.outcome == \"conflict\")'

As a git merge driver:
  git config merge.refit.name 'structural merge of Kubernetes manifests'
  git config merge.refit.driver 'refit merge --driver=%P %O %A %B'
  echo 'gotk-components.yaml merge=refit' >> .gitattributes")]
pub(crate) struct Options {
    /// What OURS was made from.
    #[arg(id = "old", value_name = "BASE")]
    base: PathBuf,
    /// The file or folder with the edits to keep.
    ours: PathBuf,
    /// The new version of BASE.
    theirs: PathBuf,
    /// Where the result goes; a file is replaced whole, a folder must not exist or be empty.
    #[arg(long, value_name = "PATH", conflicts_with = "driver")]
    into: Option<PathBuf>,
    /// A file with CRDs that tell which lists of custom resources have keys; repeatable. CRDs in THEIRS count as well.
    #[arg(long, value_name = "CRD.yaml")]
    schema: Vec<PathBuf>,
    /// Decide a conflict: ID is printed with it, the answer is `ours`, `theirs` or the value to write; repeatable.
    #[arg(long, value_name = "ID=ANSWER", value_parser = decision)]
    answer: Vec<(DecisionId, Choice)>,
    /// Work as a git merge driver: write the result over OURS, and call it PATH in messages.
    #[arg(long, value_name = "PATH")]
    driver: Option<PathBuf>,
}

/// Merges what the options name.
pub(crate) fn run(options: &Options, global: &Global) -> Result<Answer, Failure> {
    let inputs = [&options.base, &options.ours, &options.theirs];
    let folders = inputs.iter().filter(|path| path.is_dir()).count();
    match folders {
        0 => files(options, global.output),
        3 if options.driver.is_none() => trees(options, global.output),
        3 => Err(Failure::usage("a git merge driver gets files, not folders")),
        _ => Err(Failure::usage("files and folders cannot be merged with each other")
            .hint("give three files or three folders")),
    }
}

fn files(options: &Options, format: Format) -> Result<Answer, Failure> {
    let name = name(options);
    let read = |path: &Path| -> Result<Tree, Failure> {
        if path == Path::new("/dev/null") {
            return Ok(Tree::new());
        }
        Ok([(name.as_str().into(), disk::read_file(path)?)].into_iter().collect())
    };
    let sides = [read(&options.base)?, read(&options.ours)?, read(&options.theirs)?];
    let merged = merged(sides, options)?;
    let mut answer = report(&merged.decisions, &[], options, format)?;
    let result = merged.tree.get(&name.as_str().into());
    let place = options.into.as_ref().or(options.driver.as_ref().map(|_| &options.ours));
    match (place, result) {
        (Some(place), Some(entry)) => disk::write_file(place, entry)?,
        (Some(place), None) => disk::write_file(place, &Entry::file([]))?,
        (None, Some(entry)) if format == Format::Text => {
            answer.data = entry.bytes().map(|bytes| bytes.to_vec()).unwrap_or_default().into()
        }
        (None, _) => {}
    }
    Ok(answer)
}

/// Chooses the name that stands for all three files: the driver's path, else the first one that says YAML or JSON.
fn name(options: &Options) -> String {
    if let Some(path) = &options.driver {
        return path.to_string_lossy().into_owned();
    }
    let names = [&options.ours, &options.theirs, &options.base].map(|path| file_name(path));
    let known = names.iter().find(|name| {
        let path = refit_manifest::Path::new(name.as_str());
        path.is_yaml() || path.is_json()
    });
    known.unwrap_or(&names[0]).clone()
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
        .into_owned()
}

fn trees(options: &Options, format: Format) -> Result<Answer, Failure> {
    if let Some(into) = &options.into {
        disk::require_vacant(into)?;
    }
    let [base, ours, theirs] = [
        disk::read_folder(&options.base)?,
        disk::read_folder(&options.ours)?,
        disk::read_folder(&options.theirs)?,
    ];
    let (odd, decided) = whole::merge_odd([base.odd, ours.odd, theirs.odd]);
    let before = ours.tree.clone();
    let mut merged = merged([base.tree, ours.tree, theirs.tree], options)?;
    merged.decisions.extend(decided);
    let verified = patches::over_folders(&before, &merged.tree, &answers(options));
    merged.tree = patches::with_files(&merged.tree, &verified.files);
    merged.decisions.extend(verified.decisions);
    let folder = Folder { tree: merged.tree, odd };
    let mut answer = report(&merged.decisions, &verified.findings, options, format)?;
    if let Some(path) = folder.clash() {
        return Err(
            Failure::new(format!("`{}` would be a file and a folder at once", path.display()))
                .hint("one side made a folder where the other has a file: move one of them first")
                .ending(Exit::Blocked),
        );
    }
    match &options.into {
        Some(into) => disk::write_folder(into, &folder)?,
        None => answer
            .notes
            .push_str("nothing was written; name a folder with --into\n"),
    }
    Ok(answer)
}

fn merged(sides: [Tree; 3], options: &Options) -> Result<Merged, Failure> {
    let [base, ours, theirs] = &sides;
    let mut merged = merge(base, ours, theirs, &settings(options)?);
    let doubles = merged.notes_on_duplicates();
    merged.decisions.extend(doubles);
    Ok(merged)
}

/// Reads `ID=ANSWER`.
fn decision(text: &str) -> Result<(DecisionId, Choice), String> {
    let (id, answer) = text.split_once('=').ok_or("write it like `60b10285=theirs`")?;
    Ok((DecisionId(id.into()), choose(answer)))
}

/// Reads an answer to a decision: `ours`, `theirs`, or the value to write.
pub(crate) fn choose(answer: &str) -> Choice {
    match answer {
        "ours" => Choice::Ours,
        "theirs" => Choice::Theirs,
        value => Choice::Value(value.to_owned()),
    }
}

fn answers(options: &Options) -> Answers {
    Answers(options.answer.iter().cloned().collect())
}

fn settings(options: &Options) -> Result<Settings, Failure> {
    let catalog = Catalog::flux().ok();
    let rules = catalog
        .as_ref()
        .and_then(|catalog| Some(catalog.rules().open_at(catalog.newest()?)));
    Ok(Settings {
        lists: schemas::read(&options.schema)?,
        answers: answers(options),
        optional_kinds: catalog.as_ref().map(Catalog::optional_kinds).unwrap_or_default(),
        rules: rules.unwrap_or_default().into_iter().cloned().collect(),
        ..Settings::default()
    })
}

fn report(found: &[Decision], findings: &[Finding], options: &Options, format: Format) -> Result<Answer, Failure> {
    let unknown = |(id, _): &&(DecisionId, Choice)| found.iter().all(|decision| decision.id != *id);
    if let Some((id, _)) = options.answer.iter().find(unknown) {
        return Err(Failure::usage(format!("`{id}` is no decision of this merge"))
            .hint("run it without `--answer` to see the decisions"));
    }
    let (remedy, sum) = match options.driver {
        Some(_) => (Remedy::Edit, String::new()),
        None => (Remedy::Answer, format!("merged: {}\n", decisions::sum(found))),
    };
    let state = decisions::state(found);
    let next = match state {
        State::DecisionNeeded => vec![Next::say(
            "decide with `--answer ID=...`, or edit the fields in conflict: ours stands there now",
        )],
        State::Blocked => vec![Next::say("repair the blocked file, then merge again")],
        _ => Vec::new(),
    };
    // Of a large tree, describing each clean change costs more than the merge; only JSON shows them.
    let described = found.iter().filter(|_| format == Format::Json);
    let body = Merge {
        decisions: described.map(|one| decisions::describe(one, remedy)).collect(),
        findings: findings.to_vec(),
    };
    let mut notes = decisions::text(found, remedy);
    lines::findings(&mut notes, findings, "");
    notes.push_str(&sum);
    let report = Report::new(state, decisions::sum(found), next, body);
    Ok(Answer::new(&report, Vec::new())?.with_notes(notes))
}
