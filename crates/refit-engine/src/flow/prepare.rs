//! Plans an upgrade: from the ground to a plan that can be carried out.

use refit_core::check::{self, Target};
use refit_core::finding::{self, Acceptance, Code, Finding};
use refit_core::inventory::Cluster;
use refit_core::plan::{self, Given, Opening, Plan};
use refit_core::record::Note;
use refit_core::release::Version;
use refit_core::report::{self, Hop, Next, Report, RequestDraft, State};
use refit_manifest::Answers;

use super::ground::{self, Ground, Pick};
use super::target::{self, Choice};
use super::{notes, sides};
use crate::ports::{Base, Listed};
use crate::{Ask, Error, Ports};

/// A plan with all that is needed to carry it out.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) report: Report<report::Plan>,
    pub(super) work: Option<Work>,
}

/// What carrying out needs beside the report.
#[derive(Clone, Debug)]
pub(super) struct Work {
    pub(super) plan: Plan,
    pub(super) base: Base,
    pub(super) listed: Vec<Listed>,
    pub(super) accepted: Vec<Acceptance>,
    /// The option that names the cluster, where there are several; begins with a blank.
    pub(super) option: String,
}

impl Prepared {
    /// Gives the plan to show.
    pub fn report(&self) -> &Report<report::Plan> {
        &self.report
    }

    /// Gives the plan to show to whoever called another command than `upgrade`, so that a choice names that command.
    pub fn report_for(&self, command: &str) -> Report<report::Plan> {
        let mut report = self.report.clone();
        if report.state == State::Choose {
            report.next = ground::choices(command, &report.body.choices);
        }
        report
    }
}

/// Plans an upgrade.
pub(crate) fn plan(ports: &Ports<'_>, ask: &Ask) -> Result<Prepared, Error> {
    let ground = ground::survey(ports, ask.base.as_deref())?;
    plan_on(ports, ask, &ground)
}

/// Plans an upgrade on what was seen.
pub(super) fn plan_on(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Result<Prepared, Error> {
    match ground.pick(ports, ask)? {
        Pick::One(cluster) => on_cluster(ports, ask, ground, cluster),
        Pick::Choose(names) => Ok(choose(ports, ground, names)),
        Pick::None => Ok(nothing_there(ports, ask, ground)),
    }
}

fn on_cluster(ports: &Ports<'_>, ask: &Ask, ground: &Ground, cluster: &Cluster) -> Result<Prepared, Error> {
    let mut body = body(ports, ground);
    body.cluster.clone_from(&cluster.root.name);
    body.findings = found(ground, cluster);
    let Some((from, main)) = cluster
        .main()
        .and_then(|file| Some((file.detection.version.clone()?, file)))
    else {
        return Ok(blocked(body, ask));
    };
    body.from = from.to_string();
    let (to, chosen) = match target::choose(ports, ask, ground, cluster, &from)? {
        Choice::Nothing(message) => return Ok(nothing(body, ask, message)),
        Choice::Refused(to, findings) => {
            body.to = to.map(|to| to.to_string()).unwrap_or_default();
            body.findings.extend(findings);
            return Ok(blocked(body, ask));
        }
        Choice::To(to, findings) => (to, findings),
    };
    body.to = to.to_string();
    body.route = vec![Hop {
        from: from.to_string(),
        to: to.to_string(),
    }];
    body.findings.extend(chosen);
    let (sides, findings) = sides::both(ports, ask, ground, cluster, &to)?;
    body.findings.extend(findings);
    let complete = !sides.is_empty() && sides.len() == cluster.files.len();
    body.findings.extend(against(ports, cluster, (&from, &to), &sides));
    body.base = sides.first().map(|sides| sides.origin.clone()).unwrap_or_default();
    if !complete {
        return Ok(blocked(body, ask));
    }
    let note = notes::read(ports, &id(ports, ground, cluster, &to))?;
    let accepted = accepted(ask, note.as_ref());
    finding::accept(&mut body.findings, &accepted);
    let plan = plan::make(&Given {
        snapshot: &ground.snapshot,
        cluster,
        catalog: ports.catalog,
        from: &from,
        to: &to,
        options: &main.options,
        sides: &sides,
        answers: &answers(cluster, note.as_ref()),
        accepted: &accepted,
        findings: &body.findings,
    })
    .map_err(|source| Error::Unwritable {
        what: "the record of the upgrade",
        source,
    })?;
    Ok(ready(body, plan, ground, accepted))
}

fn id(ports: &Ports<'_>, ground: &Ground, cluster: &Cluster, to: &Version) -> String {
    let target = format!("{}@{to}", ports.catalog.platform());
    plan::upgrade_id(
        &ground.base.branch,
        &cluster.root.directory,
        &cluster.root.name,
        &target,
    )
}

/// Compares the target with the installed release, by version and by definitions.
fn against(
    ports: &Ports<'_>,
    cluster: &Cluster,
    (from, to): (&Version, &Version),
    sides: &[plan::Sides],
) -> Vec<Finding> {
    let target = Target {
        from,
        to,
        before: cluster
            .record
            .as_ref()
            .filter(|record| record.to == *from)
            .map(|record| &record.from),
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
    let mut findings = target.definitions(&target::installed(ports, cluster), &after);
    findings.extend(target.surroundings());
    findings
}

/// Gives the findings about a cluster and those that belong to none.
pub(super) fn found(ground: &Ground, cluster: &Cluster) -> Vec<Finding> {
    cluster
        .findings
        .iter()
        .chain(&ground.inventory.findings)
        .cloned()
        .collect()
}

/// Gives the answers that count: those of the last upgrade where the same question comes up, then newer ones.
fn answers(cluster: &Cluster, note: Option<&Note>) -> Answers {
    let mut answers = cluster
        .record
        .as_ref()
        .map(refit_core::record::Record::answers)
        .unwrap_or_default();
    if let Some(note) = note {
        answers.0.extend(note.answers().0);
    }
    answers
}

fn accepted(ask: &Ask, note: Option<&Note>) -> Vec<Acceptance> {
    let noted = note.map(|note| note.accepted.clone()).unwrap_or_default();
    let mut accepted: Vec<Acceptance> = ask.accept.iter().cloned().chain(noted).collect();
    accepted.sort();
    accepted.dedup();
    accepted
}

fn body(ports: &Ports<'_>, ground: &Ground) -> report::Plan {
    report::Plan {
        upgrade: String::new(),
        platform: ports.catalog.platform().to_string(),
        cluster: String::new(),
        choices: Vec::new(),
        branch: ground.base.branch.clone(),
        commit: ground.base.commit.to_string(),
        from: String::new(),
        to: String::new(),
        route: Vec::new(),
        base: String::new(),
        findings: Vec::new(),
        decisions: Vec::new(),
        files: Vec::new(),
        requests: Vec::new(),
    }
}

fn ready(mut body: report::Plan, plan: Plan, ground: &Ground, accepted: Vec<Acceptance>) -> Prepared {
    body.upgrade.clone_from(&plan.upgrade);
    body.findings.clone_from(&plan.findings);
    if plan.is_blocked() {
        let next = remedies(&body.findings);
        return without_work(State::Blocked, blocked_message(&body), next, body);
    }
    body.decisions.clone_from(&plan.decisions);
    body.files.clone_from(&plan.files);
    body.requests = vec![RequestDraft {
        branch: plan.branch.clone(),
        title: plan.title.clone(),
        body: plan.body.clone(),
        state: match plan.opening {
            Opening::Ready => "open",
            Opening::Draft => "draft",
            Opening::Held => "held",
        }
        .to_owned(),
    }];
    let open = plan.open().count();
    let target = format!("{}@{}", body.platform, body.to);
    let (state, message) = match plan.opening {
        Opening::Ready => (
            State::Ready,
            format!("{} can go from {} to {}", body.cluster, body.from, body.to),
        ),
        Opening::Draft | Opening::Held => (
            State::DecisionNeeded,
            format!(
                "{} can go from {} to {}; {}",
                body.cluster,
                body.from,
                body.to,
                super::decisions(open)
            ),
        ),
    };
    let option = ground.option(&body.cluster);
    let next = vec![Next::run(
        format!("refit upgrade {target}{option}"),
        "carry the plan out",
    )];
    let report = Report::new(state, message, next, body).with_exit(report::Exit::Done);
    let work = Work {
        plan,
        base: ground.base.clone(),
        listed: ground.listed.clone(),
        accepted,
        option,
    };
    Prepared {
        report,
        work: Some(work),
    }
}

fn without_work(state: State, message: impl Into<String>, next: Vec<Next>, body: report::Plan) -> Prepared {
    Prepared {
        report: Report::new(state, message, next, body),
        work: None,
    }
}

fn blocked(mut body: report::Plan, ask: &Ask) -> Prepared {
    finding::accept(&mut body.findings, &ask.accept);
    let next = remedies(&body.findings);
    without_work(State::Blocked, blocked_message(&body), next, body)
}

fn nothing(mut body: report::Plan, ask: &Ask, message: String) -> Prepared {
    finding::accept(&mut body.findings, &ask.accept);
    // Whoever stands on the newest release is not blocked by what would only matter to an upgrade.
    without_work(State::NothingToDo, message, Vec::new(), body)
}

fn choose(ports: &Ports<'_>, ground: &Ground, names: Vec<String>) -> Prepared {
    let mut body = body(ports, ground);
    body.findings.clone_from(&ground.inventory.findings);
    let next = ground::choices("upgrade", &names);
    let message = format!("{} clusters were found: `{}`", names.len(), names.join("`, `"));
    body.choices = names;
    without_work(State::Choose, message, next, body)
}

fn nothing_there(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Prepared {
    let mut body = body(ports, ground);
    body.findings = vec![absent(ports, ground)];
    body.findings.extend(ground.inventory.findings.iter().cloned());
    blocked(body, ask)
}

/// Says that there is no cluster: puts that before what was found already, and gives the sentence and the ways on.
pub(super) fn nothing_found(ports: &Ports<'_>, ground: &Ground, findings: &mut Vec<Finding>) -> (String, Vec<Next>) {
    let absent = absent(ports, ground);
    let message = absent.message.clone();
    findings.insert(0, absent);
    (message, remedies(findings))
}

fn absent(ports: &Ports<'_>, ground: &Ground) -> Finding {
    let message = format!(
        "`{}` of {} has no generated manifest of {} among its {} files",
        ground.base.branch,
        ground.snapshot.repository,
        ports.catalog.platform(),
        ground.listed.len()
    );
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
