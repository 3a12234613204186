//! What is there, and what stands in the way.

use std::sync::Arc;

use refit_core::edits;
use refit_core::finding::{self, Finding};
use refit_core::inventory::{self, Cluster, GeneratedFile, Group};
use refit_core::options::Options;
use refit_core::report::{
    ChangeLine, Check, ClusterInventory, EvidenceLine, Exit, Inventory, OfGroup, OptionLine, PatchLine, Report,
    Reports, State,
};
use refit_core::snapshot::Snapshot;
use refit_manifest::Stream;

use super::contents::Side;
use super::ground::{self, Flow, Pick};
use super::prepare;
use super::shown;
use super::sides;
use crate::{Ask, Error, Ports};

/// Lists what is there.
pub(crate) fn inventory(ports: &Ports<'_>, ask: &Ask) -> Result<Report<Inventory>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let mut body = Inventory {
        repository: ground.snapshot.repository.clone(),
        branch: ground.base.branch.clone(),
        commit: ground.base.commit.to_string(),
        clusters: Vec::new(),
        findings: ground.inventory.findings.clone(),
    };
    for picked in flow.picked()? {
        let clusters = picked.group.clusters();
        for cluster in clusters.filter(|cluster| picked.named.contains(&cluster.root.name)) {
            body.clusters.push(of_cluster(flow, &picked.group, cluster)?);
        }
    }
    if body.clusters.is_empty() {
        let (message, next) = shown::nothing_found(flow, &mut body.findings);
        return Ok(Report::new(State::Blocked, message, next, body).with_exit(Exit::Done));
    }
    body.clusters.sort_by(|one, other| one.directory.cmp(&other.directory));
    let message = match body.clusters.as_slice() {
        [only] => format!("cluster `{}` runs {} {}", only.cluster, only.platform, only.version),
        several => format!("{} clusters were found", several.len()),
    };
    Ok(Report::new(State::Done, message, Vec::new(), body))
}

/// Gives the findings of an upgrade alone.
pub(crate) fn check(ports: &Ports<'_>, ask: &Ask) -> Result<Reports<Check>, Error> {
    let ground = &ground::survey(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    if let Pick::Choose(groups) = flow.pick()? {
        return Ok(all(flow, &groups).into());
    }
    let some = |text: &String| (!text.is_empty()).then(|| text.clone());
    let of_plan = |planned: &prepare::Planned| {
        let plan = &planned.report.body;
        OfGroup {
            clusters: planned.clusters.clone(),
            report: checked(Check {
                cluster: some(&plan.cluster),
                with: plan.with.clone(),
                from: some(&plan.from),
                to: some(&plan.to),
                findings: plan.findings.clone(),
                unmatched: plan.unmatched.clone(),
            }),
        }
    };
    let prepared = prepare::plan_on(flow)?;
    Ok(Reports::of(prepared.planned.iter().map(of_plan).collect()))
}

fn all(flow: Flow<'_>, groups: &[Group<'_>]) -> Report<Check> {
    let inventory = &flow.ground.inventory;
    let clusters = inventory.clusters.iter();
    let mut findings: Vec<Finding> = clusters.flat_map(|cluster| cluster.findings.clone()).collect();
    findings.extend(inventory.findings.iter().cloned());
    finding::accept(&mut findings, &flow.ask.accept);
    let mut report = checked(Check {
        cluster: None,
        with: Vec::new(),
        from: None,
        to: None,
        findings,
        unmatched: Vec::new(),
    });
    report.next.extend(ground::choices("check", groups));
    report
}

fn checked(body: Check) -> Report<Check> {
    let blocking = body.findings.iter().filter(|finding| finding.blocks()).count();
    let message = match (body.findings.len(), blocking) {
        (0, _) => "nothing was found".to_owned(),
        (1, 0) => "1 finding, which does not block".to_owned(),
        (all, 0) => format!("{all} findings, none blocks"),
        (all, blocking) => format!("{blocking} of {all} findings block an upgrade"),
    };
    let next = shown::remedies(&body.findings);
    let state = if blocking == 0 { State::Done } else { State::Blocked };
    Report::new(state, message, next, body)
}

fn of_cluster(flow: Flow<'_>, group: &Group<'_>, cluster: &Cluster) -> Result<ClusterInventory, Error> {
    let mut changes = Vec::new();
    let mut origin = None;
    let mut findings = cluster.findings.clone();
    for file in &cluster.files {
        match sides::base(flow, group, file, None)? {
            Side::Had(base, from, notes) => {
                changes.extend(changed(file, &base));
                origin.get_or_insert(from);
                findings.extend(notes);
            }
            Side::Missing(missing) => findings.extend(missing),
        }
    }
    finding::accept(&mut findings, &flow.ask.accept);
    let main = cluster.main();
    Ok(ClusterInventory {
        cluster: cluster.root.name.clone(),
        with: group.beside(&cluster.root.name),
        directory: cluster.root.directory.clone(),
        platform: flow.ports.catalog.platform().to_string(),
        version: main
            .and_then(|file| Some(file.detection.version.as_ref()?.to_string()))
            .unwrap_or_default(),
        evidence: main.map(evidence).unwrap_or_default(),
        verdict: main.map(|file| file.detection.verdict()).unwrap_or_default(),
        options: main.map(|file| options(&file.options)).unwrap_or_default(),
        components: main.map(|file| file.options.components.clone()).unwrap_or_default(),
        files: inventory::files(cluster, &flow.ground.snapshot.tree),
        base: origin,
        changes,
        patches: patches(cluster, &flow.ground.snapshot),
        findings,
    })
}

fn changed(file: &GeneratedFile, base: &Arc<[u8]>) -> Vec<ChangeLine> {
    if file.stream.bytes() == base {
        return Vec::new();
    }
    let base = Stream::split(Arc::clone(base));
    base.map(|base| edits::find(&file.path, &base, &file.stream))
        .unwrap_or_default()
}

fn evidence(file: &GeneratedFile) -> Vec<EvidenceLine> {
    let line = |evidence: &refit_core::detect::Evidence| {
        let versions: Vec<String> = evidence.versions.iter().map(ToString::to_string).collect();
        EvidenceLine {
            source: evidence.source.word().to_owned(),
            value: versions.join(", "),
            seen: evidence.seen.clone(),
        }
    };
    file.detection.evidence.iter().map(line).collect()
}

fn options(options: &Options) -> Vec<OptionLine> {
    let line = |name: &str, value: String| OptionLine {
        name: name.to_owned(),
        value,
    };
    let mut lines = vec![
        line("namespace", options.namespace.clone()),
        line("components", options.components.join(",")),
        line("network-policy", options.network_policies.to_string()),
        line("cluster-domain", options.cluster_domain.clone()),
        line("registry", options.registry.clone()),
        line("log-level", options.log_level.clone()),
        line("watch-all-namespaces", options.watch_all_namespaces.to_string()),
    ];
    if !options.toleration_keys.is_empty() {
        lines.push(line("toleration-keys", options.toleration_keys.join(",")));
    }
    lines.extend(
        options
            .image_pull_secret
            .iter()
            .map(|secret| line("image-pull-secret", secret.clone())),
    );
    lines
}

/// Lists patches and image overrides: what was evaluated, else what the kustomizations say.
fn patches(cluster: &Cluster, snapshot: &Snapshot) -> Vec<PatchLine> {
    let overlays = &cluster.overlays;
    let patch = |patch: &refit_core::overlays::Patch| PatchLine {
        path: patch.file.as_ref().unwrap_or(&patch.path).to_string(),
        kind: if patch.file.is_some() { "patchFile" } else { "patch" }.to_owned(),
        target: patch.target.clone(),
    };
    let image = |image: &refit_core::overlays::ImageOverride| PatchLine {
        path: format!("{}:{}", image.path, image.line),
        kind: "image".to_owned(),
        target: format!("{}: {}", image.name, image.sets),
    };
    let evaluated = refit_core::patches::matched(&snapshot.whole(), &cluster.root);
    let patches = evaluated.unwrap_or_else(|| overlays.patches.iter().map(patch).collect());
    patches.into_iter().chain(overlays.images.iter().map(image)).collect()
}
