//! Which release an upgrade goes to, and over which others.

use std::collections::BTreeSet;

use refit_core::check::{self, Definitions, Reach, Target};
use refit_core::finding::{Code, Finding, Severity};
use refit_core::generated::Generated;
use refit_core::inventory::Group;
use refit_core::record::Record;
use refit_core::release::Version;
use refit_core::route::{self, Known, Migration, NoRoute, Route, Source, Start, Stored, Used};

use super::contents::{self, Release};
use super::ground::Flow;
use super::past;
use crate::{Error, Ports};

/// The target of an upgrade.
pub(super) enum Choice {
    /// The installed release is the target, or nothing newer is there.
    Nothing(String),
    /// This way, with what was found about it.
    To(Box<Way>),
    /// There is no such target, or no way to it.
    Refused(Option<Version>, Vec<Finding>),
}

/// The way to a release.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) route: Route,
    pub(super) findings: Vec<Finding>,
    /// The same way by what is concluded without a snapshot, where there is one: what its gates ask for is to be shown.
    pub(super) concluded: Option<Route>,
    /// Other ways to the same release, which take fewer requests where the files need fewer conversions for them.
    pub(super) others: Vec<Way>,
}

impl Way {
    fn of(route: Route) -> Self {
        let mut findings = route.findings();
        let next = route.hops.first().map(|hop| hop.to.to_string());
        // What only a later hop needs is still time for.
        let later = findings
            .iter_mut()
            .filter(|finding| finding.code == Code::KubernetesTooOld && next.as_ref() != Some(&finding.subject));
        later.for_each(|finding| finding.severity = Severity::Warning);
        Self {
            route,
            findings,
            concluded: None,
            others: Vec::new(),
        }
    }
}

/// Chooses the target: the named version, else the newest that can be reached.
pub(super) fn choose(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Choice, Error> {
    let catalog = flow.ports.catalog;
    let Some(text) = &flow.ask.target.version else {
        return newest(flow, group, from);
    };
    let to = Version::parse(text).map_err(|error| Error::Usage {
        message: format!("`{}` is not a version", error.text),
        remedy: "write it like `v2.6.4`".to_owned(),
    })?;
    if to == *from {
        return Ok(Choice::Nothing(format!("{to} is installed already")));
    }
    let target = Target { to: &to, catalog };
    let mut findings = target.version(&flow.ground.versions);
    let is_there = findings.is_empty();
    let known = known(flow, group, (from, Some(&to).filter(|_| is_there)))?;
    let find = |start: &Start| route::find(start, &to, &flow.ground.versions, &known);
    let start = concluded(flow, group, from, (&known, &find))?;
    match find(&seen(flow, &start)) {
        Ok(route) if is_there => {
            let all = |start: &Start| route::alternatives(start, &to, &flow.ground.versions, &known);
            let way = with_others(flow, route, (&start, &all));
            return Ok(Choice::To(Box::new(way)));
        }
        Ok(_) => {}
        Err(reason) if is_there || matches!(reason, NoRoute::Downgrade { .. }) => {
            findings.push(refusal(flow, &reason)?);
        }
        Err(_) => {}
    }
    Ok(Choice::Refused(Some(to.clone()), findings))
}

/// Says why there is no way; of a release whose contents cannot be had, why that is.
fn refusal(flow: Flow<'_>, reason: &NoRoute) -> Result<Finding, Error> {
    if let NoRoute::Unknown(version) = reason
        && let Release::Missing(finding) = &*contents::release(flow, version)?
    {
        return Ok(finding.clone());
    }
    Ok(reason.finding())
}

fn newest(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Choice, Error> {
    let Flow { ports, ask, ground } = flow;
    let targets = check::targets(from, &ground.versions, ask.target.reach);
    let Some(first) = targets.first() else {
        if ground.versions.is_empty() {
            return Ok(Choice::Refused(None, vec![no_release(ports)]));
        }
        let place = ports.releases.location();
        let of = match ask.target.reach {
            Reach::Newest => String::new(),
            Reach::Patch => format!(" of {}", from.series()),
        };
        return Ok(Choice::Nothing(format!(
            "{from} is installed, and {place} has no newer stable release{of} to go to"
        )));
    };
    let known = known(flow, group, (from, None))?;
    let find = |start: &Start, to: &Version| route::find(start, to, &ground.versions, &known);
    let start = concluded(flow, group, from, (&known, &|start| find(start, first)))?;
    let on = seen(flow, &start);
    let chosen = route::choose(&on, &targets, &ground.versions, &known);
    let Some(route) = chosen.route else {
        // None can be reached: the newest one says why.
        return Ok(match find(&on, first) {
            Ok(route) => Choice::To(Box::new(Way::of(route))),
            Err(reason) => Choice::Refused(Some(first.clone()), vec![refusal(flow, &reason)?]),
        });
    };
    let to = route.to.clone();
    let all = |start: &Start| route::alternatives(start, &to, &ground.versions, &known);
    let mut way = with_others(flow, route, (&start, &all));
    if let Some((newest, reason)) = chosen.skipped.first() {
        let message = format!("chosen because {newest} cannot be reached: {reason}");
        let chosen = Finding::new(Code::TargetChosen, to.to_string(), message);
        let others = way.others.iter_mut();
        others.for_each(|other| other.findings.push(chosen.clone()));
        way.findings.push(chosen);
    }
    Ok(Choice::To(Box::new(way)))
}

/// How all routes to a release are found.
type All<'a> = dyn Fn(&Start) -> Result<Vec<Route>, NoRoute> + 'a;

/// Adds the other ways, and to each the route without a snapshot, where there is one to compare it with: which ways there are
/// does not depend on what is stored.
fn with_others(flow: Flow<'_>, route: Route, (start, all): (&Start, &All<'_>)) -> Way {
    let with_snapshot = flow.ask.snapshot.is_some();
    let concluded = all(start).unwrap_or_default();
    let seen = match with_snapshot {
        true => all(&seen(flow, start)).unwrap_or_default(),
        false => concluded.clone(),
    };
    let one = |(place, route): (usize, Route)| Way {
        concluded: concluded.get(place).filter(|_| with_snapshot).cloned(),
        ..Way::of(route)
    };
    let mut ways = seen.into_iter().enumerate().map(one);
    let first = ways.next().unwrap_or_else(|| Way::of(route));
    Way {
        others: ways.collect(),
        ..first
    }
}

fn no_release(ports: &Ports<'_>) -> Finding {
    let platform = ports.catalog.platform();
    let message = format!("no release of {platform} was found in {}", ports.releases.location());
    Finding::new(Code::UnknownVersion, platform.to_string(), message).with_remedy(format!(
        "name a folder that holds `{platform}/VERSION/...` with `--catalog DIR`"
    ))
}

/// Gives what is known of the releases that a way can touch: the catalog, and the manifests of those that it does not list.
pub(super) fn known<'a>(
    flow: Flow<'a>,
    group: &Group<'_>,
    (from, to): (&Version, Option<&Version>),
) -> Result<Known<'a>, Error> {
    let catalog = flow.ports.catalog;
    let mut known = Known::new(catalog);
    if !catalog.knows(from) {
        known = known.with(from, &installed(flow.ports, group));
    }
    let targets = check::targets(from, &flow.ground.versions, Reach::Newest);
    with(flow, known, targets.iter().chain(to))
}

/// Adds the manifests of releases that the catalog does not list.
fn with<'a, 'b>(
    flow: Flow<'a>,
    mut known: Known<'a>,
    versions: impl Iterator<Item = &'b Version>,
) -> Result<Known<'a>, Error> {
    let catalog = flow.ports.catalog;
    let all: BTreeSet<&Version> = versions.filter(|version| !known.knows(version)).collect();
    for version in all {
        let release = contents::release(flow, version)?;
        if let Release::Streams(streams, ..) = &*release {
            let read = |stream| check::definitions(&Generated::read(stream, catalog));
            let definitions: Definitions = streams.iter().flat_map(read).collect();
            known = known.with(version, &definitions);
        }
    }
    Ok(known)
}

/// How a route is found.
type Find<'a> = dyn Fn(&Start) -> Result<Route, NoRoute> + 'a;

/// Gives where the way begins by what can be concluded without a cluster: the configuration, the history (where it matters),
/// and what the installed release serves; migrations that the records tell count.
fn concluded<'a>(
    flow: Flow<'a>,
    group: &Group<'_>,
    from: &Version,
    (known, find): (&Known<'a>, &Find<'_>),
) -> Result<Start, Error> {
    let said = &flow.ground.inventory.said;
    let migrations: Vec<Migration> = group
        .records()
        .flat_map(Record::migrations)
        .map(|confirmed| Migration {
            at: confirmed.about.from.clone(),
            crds: confirmed.crds.iter().cloned().collect(),
        })
        .collect();
    let components = group.main().map(|file| file.options.components.clone());
    let start = |source: Source| -> Result<Start, Error> {
        let since = match &source {
            Source::Since(since) | Source::History(since) => since,
            Source::Snapshot | Source::Assumed => from,
        };
        let had = flow.ground.versions.iter().filter(|had| *had >= since && *had <= from);
        let known = with(flow, known.clone(), had)?;
        let stored = Stored::concluded(&known, source, from, &migrations);
        let components = components.iter().flatten().cloned().collect();
        let start =
            Start::at(from, stored, components, &known).holding(&installed(flow.ports, group), flow.ports.catalog);
        Ok(start.on(said.kubernetes()))
    };
    if let Some(since) = &said.installed_since {
        return start(Source::Since(since.clone()));
    }
    let assumed = start(Source::Assumed)?;
    let is_stored = |route: &Route| {
        let mut gates = route.hops.iter().flat_map(|hop| &hop.gate);
        gates.any(|stale| stale.used == Used::Stored)
    };
    // The history is long: it is read where its answer counts.
    if find(&assumed).is_ok_and(|route| is_stored(&route))
        && let Some(oldest) = past::oldest(flow, group)?
    {
        return start(Source::History(oldest));
    }
    Ok(assumed)
}

/// Gives where the way begins by what a snapshot shows, where there is one.
fn seen(flow: Flow<'_>, start: &Start) -> Start {
    let Some(snapshot) = &flow.ask.snapshot else {
        return start.clone();
    };
    let evidence = &snapshot.evidence;
    Start {
        stored: Stored::seen(evidence),
        managed: evidence.managed.clone(),
        kubernetes: evidence.kubernetes.clone().or(start.kubernetes.clone()),
        ..start.clone()
    }
}

/// Gives the definitions of the generated files.
pub(super) fn installed(ports: &Ports<'_>, group: &Group<'_>) -> Definitions {
    let read =
        |file: &refit_core::inventory::GeneratedFile| check::definitions(&Generated::read(&file.stream, ports.catalog));
    group.files().into_iter().flat_map(read).collect()
}
