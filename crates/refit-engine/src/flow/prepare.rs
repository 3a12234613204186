//! Plans an upgrade: from the ground to a plan that can be carried out.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use refit_core::check::{self, Target};
use refit_core::custom::Custom;
use refit_core::finding::{self, Acceptance, Code, Finding};
use refit_core::inventory::{GeneratedFile, Group};
use refit_core::options::Options;
use refit_core::plan::{self, Given, Opening, Plan};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::report::{self, Hop, Next, OfGroup, Report, Reports, RequestDraft, State};
use refit_core::route;
use refit_core::stage::{Confirmation, Later, Stage};
use refit_manifest::Answers;

use super::ground::{self, Flow, Ground, Pick, Picked};
use super::journey::{self, Leg};
use super::observe::Records;
use super::target::{self, Choice};
use super::{notes, pause, rollback, sides, whose};
use crate::ports::{Base, Listed, ListedKind};
use crate::{Again, Ask, Error, Ports, Way};

/// Plans with all that is needed to carry them out: one per group of clusters.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) planned: Vec<Planned>,
}

/// The plan of one group; without clusters an answer about the repository as a whole.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) clusters: Vec<String>,
    pub(super) report: Report<report::Plan>,
    pub(super) work: Option<Work>,
}

/// What carrying out needs beside the report.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) plan: Plan,
    pub(super) base: Base,
    pub(super) listed: Rc<[Listed]>,
    pub(super) records: Rc<Records>,
    pub(super) accepted: Vec<Acceptance>,
    /// The options that name the clusters, where there are several; begins with a blank.
    pub(super) option: String,
    /// Where the clusters are, by which their pauses are found.
    pub(super) places: Vec<pause::Place>,
    /// The release that the clusters went back from last, for an upgrade.
    pub(super) rolled_back: Option<Version>,
    /// What happens where people said no to this before.
    pub(super) again: Again,
    /// What the generator wrote for the installed release, where the user gave it.
    pub(super) base_file: Option<Arc<[u8]>>,
    /// What was confirmed for the request.
    pub(super) confirmed: Vec<Confirmation>,
}

impl Prepared {
    /// Gives the plans to show.
    pub fn report(&self) -> Reports<report::Plan> {
        self.report_for("upgrade")
    }

    /// Gives the plans to show to whoever called another command than `upgrade`, so that a choice names that command.
    pub fn report_for(&self, command: &str) -> Reports<report::Plan> {
        let group = |planned: &Planned| OfGroup {
            clusters: planned.clusters.clone(),
            report: planned.report_for(command),
        };
        Reports::of(self.planned.iter().map(group).collect())
    }
}

impl Planned {
    /// Gives the plan to show to whoever called a command, so that a choice names that command.
    pub(super) fn report_for(&self, command: &str) -> Report<report::Plan> {
        let mut report = self.report.clone();
        if report.state == State::Choose {
            let named = |next: &mut Next| {
                let command = next
                    .command
                    .as_ref()
                    .map(|text| text.replacen("refit upgrade", &format!("refit {command}"), 1));
                next.command = command;
            };
            report.next.iter_mut().for_each(named);
        }
        report
    }
}

/// Plans an upgrade.
pub(crate) fn plan(ports: &Ports<'_>, ask: &Ask) -> Result<Prepared, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    plan_on(Flow { ports, ask, ground })
}

/// Plans an upgrade on what was seen.
pub(super) fn plan_on(flow: Flow<'_>) -> Result<Prepared, Error> {
    let planned = match flow.pick()? {
        Pick::Groups(picked) => {
            let plans: Result<_, Error> = picked.iter().map(|picked| group(flow, picked)).collect();
            plans?
        }
        Pick::Choose(groups) => vec![choose(flow, &groups)],
        Pick::None => vec![nothing_there(flow)],
    };
    Ok(Prepared { planned })
}

/// Plans the upgrade of one group of clusters, or the way back from the last one.
pub(super) fn group(flow: Flow<'_>, picked: &Picked<'_>) -> Result<Planned, Error> {
    let ask = Ask {
        base_file: match &flow.ask.base_file {
            Some(given) => Some(Arc::clone(given)),
            None => notes::kept_base(flow, &picked.group)?,
        },
        ..flow.ask.clone()
    };
    let flow = flow.asking(&ask);
    let mut planned = match ask.way {
        Way::Forward => forward(flow, picked)?,
        Way::Back => rollback::group(flow, picked)?,
    };
    // What was not looked for cannot be said to be missing.
    if planned.work.is_some() {
        planned.report.body.unmatched = unmatched(flow.ask, &planned.report.body.findings);
    }
    Ok(planned)
}

/// Lists what the user accepted and nothing was found of.
fn unmatched(ask: &Ask, findings: &[Finding]) -> Vec<String> {
    let nothing = |acceptance: &&Acceptance| !findings.iter().any(|finding| acceptance.covers(finding));
    ask.accept.iter().filter(nothing).map(ToString::to_string).collect()
}

fn forward(flow: Flow<'_>, picked: &Picked<'_>) -> Result<Planned, Error> {
    let Flow { ports, ask, ground } = flow;
    let group = &picked.group;
    let mut body = body(flow);
    body.cluster.clone_from(&group.first().root.name);
    body.with = group.beside(&body.cluster);
    body.findings = found(ground, picked);
    let stated = sides::version_of_base_file(flow);
    let installed = |file: &GeneratedFile| file.detection.version.clone().or(stated.clone());
    let Some((from, main)) = group.main().and_then(|file| Some((installed(file)?, file))) else {
        return Ok(blocked(body, ask));
    };
    // The file given with `--base-file` says what the evidence of the user's file does not.
    body.findings
        .retain(|finding| finding.code != Code::VersionUnclear || stated.is_none());
    body.from = from.to_string();
    let way = match target::choose(flow, group, &from)? {
        Choice::Nothing(message) => return Ok(nothing(body, ask, message)),
        Choice::Refused(to, findings) => {
            body.to = to.map(|to| to.to_string()).unwrap_or_default();
            body.findings.extend(findings);
            return Ok(blocked(body, ask));
        }
        Choice::To(way) => way,
    };
    body.to = way.route.to.to_string();
    body.route = way.route.hops.iter().map(hop).collect();
    body.findings.extend(way.findings.iter().cloned());
    let note = notes::read(ports, &journey::id(flow, group, &way.route.to))?;
    let Some(leg) = journey::next(flow, group, &way, note.as_ref())? else {
        return Ok(blocked(body, ask));
    };
    body.findings.extend(leg.findings.iter().cloned());
    let (sides, findings) = match leg.place.stage {
        Stage::Upgrade => sides::both(flow, group, &leg.to)?,
        Stage::Convert | Stage::Detach => sides::as_installed(flow, group)?,
    };
    body.findings.extend(findings);
    let complete = !sides.is_empty() && sides.len() == group.files().len();
    let compared = Compared {
        leg: &leg,
        options: &main.options,
        sides: &sides,
    };
    body.findings.extend(against(ports, group, &compared));
    body.base = sides.first().map(|sides| sides.origin.clone()).unwrap_or_default();
    if !complete {
        return Ok(blocked(body, ask));
    }
    merged((flow, group), &compared, note.as_ref(), body)
}

pub(super) fn hop(hop: &route::Hop) -> Hop {
    Hop {
        from: hop.from.to_string(),
        to: hop.to.to_string(),
        why: match hop.refused_directly_by.is_empty() {
            true => String::new(),
            false => hop.why.clone(),
        },
    }
}

/// The request that comes next and what the generator writes before and after it.
struct Compared<'a> {
    leg: &'a Leg,
    options: &'a Options,
    sides: &'a [plan::Sides],
}

/// Makes the plan of a group whose sides are complete.
fn merged(
    (flow, group): (Flow<'_>, &Group<'_>),
    compared: &Compared<'_>,
    note: Option<&Note>,
    mut body: report::Plan,
) -> Result<Planned, Error> {
    let Flow { ports, ask, ground } = flow;
    let leg = compared.leg;
    let accepted = accepted(ask, note);
    finding::accept(&mut body.findings, &accepted);
    let plan = plan::make(&Given {
        snapshot: &ground.snapshot,
        group,
        catalog: ports.catalog,
        from: &leg.from,
        to: &leg.to,
        options: compared.options,
        sides: compared.sides,
        answers: &answers(group, note),
        accepted: &accepted,
        findings: &body.findings,
        undone: None,
        place: &leg.place,
        edits: &leg.edits,
    })
    .map_err(|source| Error::Unwritable {
        what: "the record of the upgrade",
        source,
    })?;
    let mut work = work(flow, group, plan, accepted)?;
    let mut back = group.records().filter(|record| record.rolled_back.is_some());
    work.rolled_back = back.next().map(|record| record.from.clone());
    work.confirmed.clone_from(&leg.confirmed);
    Ok(ready(body, work))
}

/// Gives what carrying a plan out needs.
pub(super) fn work(
    flow: Flow<'_>,
    group: &Group<'_>,
    mut plan: Plan,
    accepted: Vec<Acceptance>,
) -> Result<Work, Error> {
    let ground = flow.ground;
    // A cluster may have been called otherwise when the branch was made.
    if let Some(branch) = whose::branch_of(flow, (&plan.upgrade, plan.place.index))? {
        plan.branch = branch;
    }
    let place = |cluster| pause::Place::of(&ground.base.branch, cluster);
    Ok(Work {
        plan,
        base: ground.base.clone(),
        listed: Rc::clone(&ground.listed),
        records: Rc::clone(&ground.records),
        accepted,
        option: ground.option(group),
        places: group.clusters().map(place).collect(),
        rolled_back: None,
        again: flow.ask.again,
        base_file: flow.ask.base_file.clone(),
        confirmed: Vec::new(),
    })
}

/// Compares the target with the installed release, by version and by definitions.
fn against(ports: &Ports<'_>, group: &Group<'_>, compared: &Compared<'_>) -> Vec<Finding> {
    let &Compared { leg, sides, .. } = compared;
    let Leg { from, to, .. } = leg;
    let target = Target {
        from,
        to,
        catalog: ports.catalog,
    };
    let mut after = check::Definitions::new();
    for side in sides {
        if let Ok(stream) = refit_manifest::Stream::split(side.theirs.clone()) {
            after.extend(check::definitions(&refit_core::generated::Generated::read(
                &stream,
                ports.catalog,
            )));
        }
    }
    let installed = target::installed(ports, group);
    let mut findings = Vec::new();
    let custom: BTreeSet<&Custom> = group.clusters().flat_map(|cluster| &cluster.custom).collect();
    findings.extend(target.unserved(custom, &installed, &after));
    findings.extend(target.surroundings());
    findings
}

/// Gives the findings about a group and those that belong to no cluster.
pub(super) fn found(ground: &Ground, picked: &Picked<'_>) -> Vec<Finding> {
    let mut findings = picked.group.findings();
    findings.extend(picked.group.partly(&picked.named));
    findings.extend(ground.inventory.findings.iter().cloned());
    findings
}

/// Gives the answers that count: those of the last upgrade where the same question comes up, then newer ones.
fn answers(group: &Group<'_>, note: Option<&Note>) -> Answers {
    let mut answers = Answers::default();
    for record in group.records() {
        answers.0.extend(record.answers().0);
    }
    if let Some(note) = note {
        answers.0.extend(note.answers().0);
    }
    answers
}

pub(super) fn accepted(ask: &Ask, note: Option<&Note>) -> Vec<Acceptance> {
    let noted = note.map(|note| note.accepted.clone()).unwrap_or_default();
    let mut accepted: Vec<Acceptance> = ask.accept.iter().cloned().chain(noted).collect();
    accepted.sort();
    accepted.dedup();
    accepted
}

pub(super) fn body(flow: Flow<'_>) -> report::Plan {
    let Flow { ports, ground, .. } = flow;
    report::Plan {
        upgrade: String::new(),
        platform: ports.catalog.platform().to_string(),
        cluster: String::new(),
        with: Vec::new(),
        choices: Vec::new(),
        branch: ground.base.branch.clone(),
        commit: ground.base.commit.to_string(),
        from: String::new(),
        to: String::new(),
        route: Vec::new(),
        base: String::new(),
        findings: Vec::new(),
        unmatched: Vec::new(),
        decisions: Vec::new(),
        files: Vec::new(),
        requests: Vec::new(),
    }
}

pub(super) fn ready(mut body: report::Plan, work: Work) -> Planned {
    let plan = &work.plan;
    body.upgrade.clone_from(&plan.upgrade);
    body.findings.clone_from(&plan.findings);
    if plan.is_blocked() {
        let next = remedies(&body.findings);
        return without_work(State::Blocked, blocked_message(&body), next, body);
    }
    body.decisions.clone_from(&plan.decisions);
    body.files.clone_from(&plan.files);
    body.requests = vec![draft(plan)];
    body.requests.extend(plan.place.later.iter().map(later));
    let target = format!("{}@{}", body.platform, body.to);
    let mut message = format!(
        "{} can go from {} to {}",
        clusters(&body).join(", "),
        body.from,
        body.to
    );
    match (plan.place.index - 1, plan.place.count()) {
        (0, 1) => {}
        (0, all) => message.push_str(&format!(" in {all} requests")),
        (done, all) => message.push_str(&format!("; {done} of {all} requests {} merged", is_or_are(done))),
    }
    let state = match plan.opening {
        Opening::Ready => State::Ready,
        Opening::Draft | Opening::Held => {
            message.push_str(&format!("; {}", super::decisions(plan.open().count())));
            State::DecisionNeeded
        }
    };
    let option = &work.option;
    let next = vec![Next::run(
        format!("refit upgrade {target}{option}"),
        "carry the plan out",
    )];
    Planned {
        clusters: clusters(&body),
        report: Report::new(state, message, next, body).with_exit(report::Exit::Done),
        work: Some(work),
    }
}

fn draft(plan: &Plan) -> RequestDraft {
    RequestDraft {
        stage: plan.place.stage.word().to_owned(),
        branch: plan.branch.clone(),
        title: plan.title.clone(),
        body: plan.body.clone(),
        state: match plan.opening {
            Opening::Held => "held",
            _ if plan.is_draft() => "draft",
            _ => "open",
        }
        .to_owned(),
        waits: plan.place.gate.iter().map(|gate| gate.wait.word().to_owned()).collect(),
    }
}

fn later(later: &Later) -> RequestDraft {
    RequestDraft {
        stage: later.stage.word().to_owned(),
        branch: String::new(),
        title: later.title.clone(),
        body: String::new(),
        state: "later".to_owned(),
        waits: later.waits.iter().map(|wait| wait.word().to_owned()).collect(),
    }
}

/// Puts the verb into the number of what is counted.
pub(super) fn is_or_are(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Lists the clusters that a plan is about.
fn clusters(body: &report::Plan) -> Vec<String> {
    let all = std::iter::once(&body.cluster).chain(&body.with);
    all.filter(|name| !name.is_empty()).cloned().collect()
}

fn without_work(state: State, message: impl Into<String>, next: Vec<Next>, body: report::Plan) -> Planned {
    Planned {
        clusters: clusters(&body),
        report: Report::new(state, message, next, body),
        work: None,
    }
}

pub(super) fn blocked(mut body: report::Plan, ask: &Ask) -> Planned {
    finding::accept(&mut body.findings, &ask.accept);
    let next = remedies(&body.findings);
    without_work(State::Blocked, blocked_message(&body), next, body)
}

pub(super) fn nothing(mut body: report::Plan, ask: &Ask, message: String) -> Planned {
    finding::accept(&mut body.findings, &ask.accept);
    // Whoever stands on the newest release is not blocked by what would only matter to an upgrade.
    without_work(State::NothingToDo, message, Vec::new(), body)
}

/// Lists the clusters to choose from.
pub(super) fn choose(flow: Flow<'_>, groups: &[Group<'_>]) -> Planned {
    let mut body = body(flow);
    body.findings.clone_from(&flow.ground.inventory.findings);
    let next = ground::choices("upgrade", groups);
    let names: Vec<String> = groups.iter().flat_map(Group::names).collect();
    let message = format!("{} clusters were found: `{}`", names.len(), names.join("`, `"));
    body.choices = names;
    without_work(State::Choose, message, next, body)
}

/// Says that there is no cluster.
pub(super) fn nothing_there(flow: Flow<'_>) -> Planned {
    let mut body = body(flow);
    body.findings.clone_from(&flow.ground.inventory.findings);
    let _ = nothing_found(flow, &mut body.findings);
    blocked(body, flow.ask)
}

/// Says that there is no cluster, unless the Flux Operator explains that: puts it before what was found already, and
/// gives the sentence and the ways on.
pub(super) fn nothing_found(flow: Flow<'_>, findings: &mut Vec<Finding>) -> (String, Vec<Next>) {
    let elsewhere = findings.iter().find(|finding| finding.code == Code::OperatorManaged);
    let message = match elsewhere {
        Some(finding) => finding.message.clone(),
        None => {
            let absent = absent(flow);
            let message = absent.message.clone();
            findings.insert(0, absent);
            message
        }
    };
    (message, remedies(findings))
}

fn absent(flow: Flow<'_>) -> Finding {
    let Flow { ports, ground, .. } = flow;
    let mut message = format!(
        "`{}` of {} has no generated manifest of {} among its {} files",
        ground.base.branch,
        ground.snapshot.repository,
        ports.catalog.platform(),
        ground.listed.len()
    );
    let mut submodules = ground
        .listed
        .iter()
        .filter(|listed| listed.kind == ListedKind::Submodule);
    if let Some(first) = submodules.next() {
        let more = match submodules.count() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        message.push_str(&format!("; submodule `{}`{more} was not entered", first.path));
    }
    Finding::new(Code::PlaneNotFound, ground.base.branch.as_str(), message)
}

fn blocked_message(body: &report::Plan) -> String {
    let blocking: Vec<&Finding> = body.findings.iter().filter(|finding| finding.blocks()).collect();
    match blocking.as_slice() {
        [only] => format!("{} {}: {}", only.code, only.subject, only.message),
        several => format!("{} findings block the upgrade", several.len()),
    }
}

/// Gives the remedies of what blocks, each once.
pub(super) fn remedies(findings: &[Finding]) -> Vec<Next> {
    let mut next: Vec<Next> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.blocks()) {
        let action = Next::say(finding.remedy.as_str());
        if !next.contains(&action) {
            next.push(action);
        }
    }
    next
}
