//! Plans as people and programs read them: ready, blocked, nothing to do, or a choice.

use refit_core::finding::{self, Code, Finding};
use refit_core::inventory::Group;
use refit_core::plan::{Opening, Plan};
use refit_core::report::{self, GateLine, Hop, Next, Report, RequestDraft, State};
use refit_core::route;
use refit_core::stage::{Gate, Later};

use super::ground::{self, Flow};
use super::prepare::{Planned, Work, body};
use crate::Ask;
use crate::ports::ListedKind;

pub(super) fn ready(mut body: report::Plan, work: Work) -> Planned {
    let plan = &work.plan;
    body.upgrade.clone_from(&plan.upgrade);
    body.findings.clone_from(&plan.findings);
    body.pruned.clone_from(&plan.place.pruned);
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
        gates: plan.place.gate.iter().map(gate).collect(),
    }
}

fn gate(gate: &Gate) -> GateLine {
    GateLine {
        what: gate.wait.word().to_owned(),
        why: gate.why.clone(),
        commands: gate.ways.clone(),
    }
}

fn later(later: &Later) -> RequestDraft {
    RequestDraft {
        stage: later.stage.word().to_owned(),
        branch: String::new(),
        title: later.title.clone(),
        body: String::new(),
        state: "later".to_owned(),
        gates: later.gate.iter().map(gate).collect(),
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

/// Says that there is nothing newer to go to; what the installed release does not serve blocks all the same, since it fails
/// in the cluster now.
pub(super) fn nothing(mut body: report::Plan, ask: &Ask, (message, mut standing): (String, Vec<Finding>)) -> Planned {
    finding::accept(&mut body.findings, &ask.accept);
    finding::accept(&mut standing, &ask.accept);
    let count = standing.iter().filter(|finding| finding.blocks()).count();
    let next = remedies(&standing);
    body.findings.extend(standing);
    if count > 0 {
        let objects = if count == 1 { "object is" } else { "objects are" };
        let message = format!("{message}, and {count} {objects} written in a version that it does not serve");
        return without_work(State::Blocked, message, next, body);
    }
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

/// Gives a hop as people and programs read it.
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
