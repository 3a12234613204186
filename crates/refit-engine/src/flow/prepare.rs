//! Plans an upgrade: from the ground to a plan that can be carried out.

use std::rc::Rc;
use std::sync::Arc;

use refit_core::check::Target;
use refit_core::configuration;
use refit_core::finding::{self, Acceptance, Code, Finding, Severity};
use refit_core::inventory::{GeneratedFile, Group};
use refit_core::options::Options;
use refit_core::plan::{self, Given, Plan};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::report::{self, Next, OfGroup, Report, Reports, State};
use refit_core::stage::{Said, Stage};
use refit_manifest::Answers;

use super::ground::{self, Flow, Ground, Pick, Picked};
use super::journey::{self, Leads, Leg};
use super::observe::Records;
use super::shown::{blocked, choose, hop, nothing, nothing_there, ready};
use super::target::{self, Choice};
use super::{broken, detach, modules, notes, pause, rollback, served, sides, whose};
use crate::ports::{Base, Listed};
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
    /// The releases that the clusters went back from last, for an upgrade: the one they ran and the one it led to.
    pub(super) rolled_back: Vec<Version>,
    /// What happens where people said no to this before.
    pub(super) again: Again,
    /// What the generator wrote for the installed release, where the user gave it.
    pub(super) base_file: Option<Arc<[u8]>>,
    /// What this run adds to what is said of what the request waits for.
    pub(super) said: Said,
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
    let is_broken = mend(flow, (group, &from), &mut body)?;
    let way = match target::choose(flow, group, &from)? {
        Choice::Nothing(_) if is_broken => return Ok(blocked(body, ask)),
        Choice::Nothing(message) => return Ok(nothing(body, ask, (message, served::standing(flow, group, &from)?))),
        Choice::Refused(to, findings) => {
            body.to = to.map(|to| to.to_string()).unwrap_or_default();
            body.findings.extend(findings);
            return Ok(blocked(body, ask));
        }
        Choice::To(way) => way,
    };
    let settled = journey::settle(flow, group, *way)?;
    let way = &settled.way;
    body.to = way.route.to.to_string();
    body.route = way.route.hops.iter().map(hop).collect();
    body.findings.extend(way.findings.iter().cloned());
    body.findings.extend(told(flow, group, &from));
    let note = notes::read(ports, &journey::id(flow, group, &way.route.to))?;
    let Some(leg) = journey::next(flow, group, settled, note.as_ref())? else {
        return Ok(blocked(body, ask));
    };
    body.findings.extend(leg.findings.iter().cloned());
    if leg.leads == Leads::Nowhere {
        return Ok(blocked(body, ask));
    }
    let (sides, findings) = match leg.place.stage {
        Stage::Upgrade => sides::both(flow, group, &leg.to)?,
        Stage::Convert | Stage::Detach | Stage::Migrate => sides::as_installed(flow, group)?,
    };
    body.findings.extend(findings);
    let complete = !sides.is_empty() && sides.len() == group.files().len();
    let compared = Compared {
        leg: &leg,
        options: &main.options,
        sides: &sides,
    };
    body.findings.extend(against(ports, &leg));
    body.base = sides.first().map(|sides| sides.origin.clone()).unwrap_or_default();
    if !complete {
        return Ok(blocked(body, ask));
    }
    merged((flow, group), &compared, note.as_ref(), body)
}

/// Says what is not looked at, and what the configuration says in vain.
fn told(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Vec<Finding> {
    let mut findings = modules::look(flow, group);
    findings.extend(began_later(flow, group, from));
    findings
}

/// Says that the configuration lets a plane begin with a newer release than it has, so that nothing follows from it.
fn began_later(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Option<Finding> {
    let since = flow.ground.inventory.said.installed_since.as_ref()?;
    let message = format!(
        "`spec.installedSince` is {since}, and `{}` runs {from}, which is older; every version that {from} serves counts as \
         stored",
        group.names().join("`, `")
    );
    let mut finding = Finding::new(Code::InvalidConfiguration, configuration::FILE, message);
    finding.severity = Severity::Warning;
    (since > from)
        .then(|| finding.with_remedy("name the release that the plane was first installed with, or leave it out"))
}

/// Adds what mends a broken plane; tells whether it is one.
fn mend(flow: Flow<'_>, (group, from): (&Group<'_>, &Version), body: &mut report::Plan) -> Result<bool, Error> {
    let broken = broken::look(flow, group, from)?;
    let is_broken = broken.findings.iter().any(Finding::blocks);
    body.findings.extend(broken.findings);
    body.repair = broken.steps;
    Ok(is_broken)
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
    let mut leg = compared.leg;
    let accepted = accepted(flow.ask, note);
    finding::accept(&mut body.findings, &accepted);
    let mut plan = made((flow, group), compared, (note, &accepted), &body)?;
    let first = detach::before(flow, leg, &mut plan);
    finding::accept(&mut plan.findings, &accepted);
    if let Some(first) = first.as_ref().filter(|_| !plan.is_blocked()) {
        let (sides, _) = sides::as_installed(flow, group)?;
        let compared = Compared {
            leg: first,
            options: compared.options,
            sides: &sides,
        };
        plan = made((flow, group), &compared, (note, &accepted), &body)?;
        leg = first;
    }
    let mut work = work(flow, group, plan, accepted)?;
    work.rolled_back = whose::went_back(flow, group);
    work.said.clone_from(&leg.said);
    Ok(ready(body, work))
}

fn made(
    (flow, group): (Flow<'_>, &Group<'_>),
    compared: &Compared<'_>,
    (note, accepted): (Option<&Note>, &[Acceptance]),
    body: &report::Plan,
) -> Result<Plan, Error> {
    let Flow { ports, ground, .. } = flow;
    let leg = compared.leg;
    plan::make(&Given {
        snapshot: &ground.snapshot,
        group,
        catalog: ports.catalog,
        from: &leg.from,
        to: &leg.to,
        options: compared.options,
        sides: compared.sides,
        answers: &answers(group, note),
        accepted,
        findings: &body.findings,
        undone: None,
        place: &leg.place,
        edits: &leg.edits,
    })
    .map_err(|source| Error::Unwritable {
        what: "the record of the upgrade",
        source,
    })
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
        rolled_back: Vec::new(),
        again: flow.ask.again,
        base_file: flow.ask.base_file.clone(),
        said: Said::default(),
    })
}

/// Says what is known of the release that the request brings.
fn against(ports: &Ports<'_>, leg: &Leg) -> Vec<Finding> {
    let to = &leg.to;
    let target = Target {
        to,
        catalog: ports.catalog,
    };
    target.surroundings()
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
        repair: Vec::new(),
        base: String::new(),
        findings: Vec::new(),
        unmatched: Vec::new(),
        decisions: Vec::new(),
        files: Vec::new(),
        pruned: Vec::new(),
        requests: Vec::new(),
    }
}
