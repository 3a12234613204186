//! `refit init`: the configuration of what was discovered.
//!
//! In: options. Out: `refit.yaml`, written whole or not at all. A file that is there is never overwritten unasked.

use std::path::{Path, PathBuf};

use clap::Args;
use refit_core::configuration::{self, Configuration};
use refit_core::report::{self, Report, State};
use refit_manifest::Entry;

use crate::args::Global;
use crate::commands::selection;
use crate::disk;
use crate::failure::Failure;
use crate::output::Answer;
use crate::view;
use crate::wiring::Edges;

/// Write a `refit.yaml` of what was discovered.
///
/// Nothing needs it: clusters are found without it. It is the place for names of clusters that please more than those made
/// from paths, and for the sources of releases, so that nobody has to name them again. It counts once it is committed to
/// the target branch.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit init
  refit init --catalog https://releases.example.org --out -
  refit init --force    # over a file that is there
  refit init --schema > refit.schema.json")]
pub(crate) struct Options {
    /// Where to write it; `-` prints it [default: `refit.yaml` at the top of the repository's folder].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace a file that is there.
    #[arg(long)]
    force: bool,
    /// Print the JSON schema of the file instead, for editors and checks.
    #[arg(long, conflicts_with_all = ["out", "force"])]
    schema: bool,
}

/// Runs `refit init`.
pub(crate) fn run(options: &Options, global: &Global) -> Result<Answer, Failure> {
    if options.schema {
        return schema();
    }
    let edges = Edges::open(global)?;
    let sources = edges.named_sources(global);
    let mut report = edges.run(|ports| refit_engine::init(ports, &selection::ask(global), &sources))?;
    if report.state == State::Blocked {
        return Answer::new(&report, view::init::init(&report));
    }
    match &options.out {
        Some(out) if out.as_os_str() == "-" => {
            let content = report.body.content.clone();
            // That the file must be committed is nothing to say of what is only shown.
            report.next.pop();
            let mut notes = String::new();
            view::lines::next(&mut notes, &report.next, "");
            Ok(Answer::new(&report, content.into_bytes())?.with_notes(notes))
        }
        out => {
            let file = place(out.as_deref(), &edges)?;
            put(&file, &mut report, options)?;
            Answer::new(&report, view::init::init(&report))
        }
    }
}

fn schema() -> Result<Answer, Failure> {
    let schema = Configuration::schema();
    let text = format!("{schema:#}\n");
    let body = view::Schema { schema };
    let message = format!("the schema of `{}` follows", configuration::FILE);
    Answer::new(&Report::new(State::Done, message, Vec::new(), body), text)
}

fn place(out: Option<&Path>, edges: &Edges) -> Result<PathBuf, Failure> {
    if let Some(out) = out {
        return Ok(out.to_owned());
    }
    let top = edges.worktree().ok_or_else(|| {
        Failure::usage("the repository has no folder to write to")
            .hint("print the file with `--out -`, or name one with `--out FILE`")
    })?;
    Ok(top.join(configuration::FILE))
}

/// Writes the file; one that says the same is left alone.
fn put(file: &Path, report: &mut Report<report::Init>, options: &Options) -> Result<(), Failure> {
    let content = report.body.content.as_bytes();
    let same = |entry: &Entry| entry.bytes().is_some_and(|bytes| **bytes == *content);
    if file.symlink_metadata().is_ok() {
        if same(&disk::read_file(file)?) {
            report.message = format!("`{}` says this already", file.display());
            report.state = State::NothingToDo;
            return Ok(());
        }
        if !options.force {
            return Err(
                Failure::usage(format!("`{}` is there and says something else", file.display()))
                    .hint("compare it with `refit init --out -`, or replace it with `--force`"),
            );
        }
    }
    disk::write_file(file, &Entry::file(content))?;
    report.body.written = Some(file.display().to_string());
    Ok(())
}
