//! `refit plan`, `refit upgrade`, `refit resolve`, `refit resume`: the way of one upgrade.
//!
//! In: options, and a person at a terminal. Out: the engine's report, rendered. Asks before anything is written.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use refit_core::evidence;
use refit_core::report::{Exit, Plan as PlanBody, Reports, State, Upgrade as UpgradeBody};
use refit_engine::{Again, Ask, Commits, Others, Prepared, Wait};
use refit_manifest::{Answer as Choice, DecisionId, Entry};

use crate::args::Global;
use crate::commands::merge::choose;
use crate::commands::selection::{Consent, Seen, Selection};
use crate::disk;
use crate::failure::Failure;
use crate::output::{self, Answer, Data};
use crate::view;
use crate::view::lines::unmatched;
use crate::wiring::Edges;

/// Plan an upgrade: route, findings, decisions, files and requests; changes nothing.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit plan
  refit plan flux@v2.6.4
  refit plan --patch
  kubectl get crds,deployments -A -o json > cluster.json && refit plan --snapshot cluster.json
  refit plan --all-clusters
  refit plan --out plan.json && refit upgrade --plan plan.json
  refit plan --exit-code    # 6 when an upgrade would change something")]
pub(crate) struct Plan {
    #[command(flatten)]
    selection: Selection,
    /// Save the plan as JSON, for `refit upgrade --plan FILE`; of one cluster (with those that share its files).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// End with 6 when the upgrade would change something.
    #[arg(long)]
    exit_code: bool,
}

/// Carry out an upgrade: write a branch and open a change request that keeps every edit of the user.
///
/// Shows the plan and asks first; without a terminal it needs --yes. The target branch itself is not touched before the
/// request is merged. Where an earlier run was cut, the same call goes on.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit upgrade
  refit upgrade flux@v2.6.4 --yes
  refit upgrade --patch --yes
  refit upgrade --cluster staging --cluster production
  refit upgrade --all-clusters --yes    # one request per cluster
  refit upgrade --plan plan.json
  refit upgrade --accept OtherUpdater:renovate.json")]
pub(crate) struct Upgrade {
    #[command(flatten)]
    selection: Selection,
    /// Carry out a saved plan; refused when reality has moved since.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Do not ask.
    #[arg(short, long)]
    yes: bool,
    /// Close an open request for another target first.
    #[arg(long)]
    supersede: bool,
    /// Open a request again after the last one was closed without a merge, or the release was rolled back.
    #[arg(long)]
    again: bool,
}

/// List the decisions of an upgrade, or take one.
///
/// Without ID it lists them, open ones first. ANSWER is `ours` (keep what the file has), `theirs` (take what the new
/// version has), or the value to write. A decision can be taken again while the request is open.
#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  refit resolve
  refit resolve 3fa9c2 ours
  refit resolve 3fa9c2 registry.example.org/source-controller:v1.6.2
  refit resolve 3fa9c2 --value ours    # the text `ours` itself")]
pub(crate) struct Resolve {
    /// The decision.
    id: Option<String>,
    /// `ours`, `theirs` or the value to write.
    #[arg(requires = "id", conflicts_with = "value")]
    answer: Option<String>,
    /// The value to write, where it could be taken for another word.
    #[arg(long, requires = "id")]
    value: Option<String>,
    #[command(flatten)]
    consent: Consent,
}

/// Writes the examples, with the lines that write a snapshot.
fn resume_help() -> String {
    format!(
        "\
Examples:
  refit resume
  refit resume --snapshot snapshot.json
  refit resume --confirm migrated    # stored objects are migrated; your name and the time are recorded
  refit resume --keep-commits
  refit resume --discard-commits

A snapshot of a cluster is written by these lines; a kind whose objects it does not list counts as not migrated:
  {}",
        evidence::COMMANDS.join("\n  ")
    )
}

/// Go on with the upgrade under way.
///
/// Computes the request anew where the target branch moved, and opens what can be opened: where an upgrade has several
/// requests, the next one after the merge of the one before. A draft that waits for something to be true in the cluster
/// becomes a request for review once a snapshot of the cluster shows it, or a person says so. Commits that people added to the
/// request's branch are never overwritten: say what becomes of them. Kept ones are put on top of what is computed anew, with
/// their authors and messages.
#[derive(Args, Debug)]
#[command(after_long_help = resume_help())]
pub(crate) struct Resume {
    /// Say that what the next request waits for is true: `migrated` or `reconciled`; repeatable.
    #[arg(long, value_name = "WHAT")]
    confirm: Vec<Wait>,
    #[command(flatten)]
    seen: Seen,
    /// Keep the commits of people as part of the request.
    #[arg(long, conflicts_with = "discard_commits")]
    keep_commits: bool,
    /// Drop the commits of people.
    #[arg(long)]
    discard_commits: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Runs `refit plan`.
pub(crate) fn plan(options: &Plan, global: &Global) -> Result<Answer, Failure> {
    let ask = options.selection.ask(global)?;
    let edges = Edges::open(global)?;
    let prepared = edges.run(|ports| refit_engine::plan(ports, &ask))?;
    let report = prepared.report_for("plan");
    let mut answer = show(&report)?;
    if let Some(path) = &options.out {
        if matches!(report, Reports::Several(_)) {
            return Err(
                Failure::usage("a saved plan is about one cluster, or about clusters that share their files")
                    .hint("name one with `--cluster NAME` for each plan that is saved"),
            );
        }
        disk::write_file(path, &Entry::file(answer.json.as_slice()))?;
    }
    if options.exit_code && would_change(&report) {
        answer.exit = Exit::Waiting;
    }
    Ok(answer)
}

/// Runs `refit upgrade`.
pub(crate) fn upgrade(options: &Upgrade, global: &Global) -> Result<Answer, Failure> {
    if options.plan.is_some() && options.selection.names_target() {
        return Err(
            Failure::usage("a saved plan names its target already").hint("leave out `PLATFORM@VERSION` and `--patch`")
        );
    }
    let ask = Ask {
        again: if options.again { Again::Open } else { Again::Stop },
        ..options.selection.ask(global)?
    };
    let saved = options.plan.as_deref().map(read_plan).transpose()?;
    let edges = Edges::open(global)?;
    let prepared = edges.run(|ports| match &saved {
        Some(saved) => refit_engine::plan_saved(ports, &ask, saved),
        None => refit_engine::plan(ports, &ask),
    })?;
    if !would_change(&prepared.report()) {
        return show(&prepared.report());
    }
    if !options.yes
        && let Some(unconfirmed) = confirm(&prepared)?
    {
        return Ok(unconfirmed);
    }
    let others = if options.supersede {
        Others::Supersede
    } else {
        Others::Stop
    };
    let report = edges.run(|ports| refit_engine::carry_out(ports, &prepared, others))?;
    upgraded(&report)
}

/// Runs `refit resolve`.
pub(crate) fn resolve(options: &Resolve, global: &Global) -> Result<Answer, Failure> {
    let ask = options.consent.ask(global)?;
    let answer = choice(options)?;
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::resolve(ports, &ask, answer))?;
    Answer::of_groups(&report, view::decisions::resolve)
}

/// Runs `refit resume`.
pub(crate) fn resume(options: &Resume, global: &Global) -> Result<Answer, Failure> {
    let ask = Ask {
        confirm: options.confirm.clone(),
        snapshot: options.seen.read()?,
        ..options.consent.ask(global)?
    };
    let commits = match (options.keep_commits, options.discard_commits) {
        (true, _) => Commits::Keep,
        (_, true) => Commits::Discard,
        _ => Commits::Stop,
    };
    let edges = Edges::open(global)?;
    let report = edges.run(|ports| refit_engine::resume(ports, &ask, commits))?;
    upgraded(&report)
}

/// Shows what an upgrade did.
pub(crate) fn upgraded(reports: &Reports<UpgradeBody>) -> Result<Answer, Failure> {
    let notes = unmatched(reports, |upgrade| &upgrade.unmatched);
    Ok(Answer::of_groups(reports, view::plan::upgrade)?.with_notes(notes))
}

/// Shows plans.
pub(crate) fn show(plans: &Reports<PlanBody>) -> Result<Answer, Failure> {
    let notes = unmatched(plans, |plan| &plan.unmatched);
    Ok(Answer::of_groups(plans, view::plan::plan)?.with_notes(notes))
}

/// Tells whether carrying out one of the plans would write something.
pub(crate) fn would_change(plans: &Reports<PlanBody>) -> bool {
    let changes = |state| matches!(state, State::Ready | State::DecisionNeeded);
    plans.each().iter().any(|plan| changes(plan.state))
}

fn read_plan(path: &Path) -> Result<Vec<u8>, Failure> {
    let entry = disk::read_file(path)?;
    Ok(entry.bytes().map(|bytes| bytes.to_vec()).unwrap_or_default())
}

/// Asks a person; gives the answer to end with when there is no consent.
pub(crate) fn confirm(prepared: &Prepared) -> Result<Option<Answer>, Failure> {
    let mut shown = show(&prepared.report())?;
    shown.exit = Exit::Usage;
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        let complaint = Failure::usage("nothing was changed: there is no terminal to ask at")
            .hint("look at the plan, then run the command again with `--yes`");
        shown.complaint = Some(complaint);
        return Ok(Some(shown));
    }
    if let Data::Text(text) = &shown.data {
        output::note(text);
    }
    let question = match prepared.report() {
        Reports::One(_) => "carry out this plan?",
        Reports::Several(_) => "carry out these plans?",
    };
    if yes(question)? {
        return Ok(None);
    }
    shown.data = String::new().into();
    shown.notes = "nothing was changed\n".into();
    Ok(Some(shown))
}

/// Asks a question that is answered with yes or no; no answer is no.
fn yes(question: &str) -> Result<bool, Failure> {
    let failed = |error: io::Error| {
        Failure::new("could not ask at the terminal")
            .caused_by(&error)
            .hint("use `--yes`")
    };
    let mut stderr = io::stderr().lock();
    write!(stderr, "{question} [y/N] ")
        .and_then(|()| stderr.flush())
        .map_err(failed)?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(failed)?;
    Ok(matches!(line.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn choice(options: &Resolve) -> Result<Option<(DecisionId, Choice)>, Failure> {
    let Some(id) = &options.id else { return Ok(None) };
    let answer = match (&options.value, options.answer.as_deref()) {
        (Some(value), _) => Choice::Value(value.clone()),
        (None, Some(answer)) => choose(answer),
        (None, None) => {
            return Err(Failure::usage(format!("the answer to `{id}` is missing"))
                .hint(format!("run `refit resolve {id} ours`, `... theirs` or `... VALUE`")));
        }
    };
    Ok(Some((DecisionId(id.clone()), answer)))
}
