//! Which release an upgrade goes to, and over which others.

use std::collections::{BTreeMap, BTreeSet};

use refit_core::check::{self, Definitions, Reach, Target};
use refit_core::finding::{Code, Finding};
use refit_core::generated::Generated;
use refit_core::inventory::Group;
use refit_core::release::Version;

use super::contents::{self, Release};
use super::ground::Flow;
use crate::{Error, Ports};

/// The target of an upgrade.
pub(super) enum Choice {
    /// The installed release is the target, or nothing newer is there.
    Nothing(String),
    /// This way.
    To(Route),
    /// There is no such target, or no way to it.
    Refused(Option<Version>, Vec<Finding>),
}

/// The way to a release.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) hops: Vec<Hop>,
    pub(super) findings: Vec<Finding>,
}

/// One hop of a way.
#[derive(Clone, Debug)]
pub(super) struct Hop {
    pub(super) from: Version,
    pub(super) to: Version,
    /// Why one does not go from here to the end at once.
    pub(super) why: Vec<String>,
    /// What may be stored and must be migrated before.
    pub(super) stale: Vec<Stale>,
}

/// A stored version that a hop takes away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stale {
    pub(super) crd: String,
    pub(super) version: String,
    pub(super) storage: String,
}

impl Route {
    pub(super) fn target(&self) -> Option<&Version> {
        self.hops.last().map(|hop| &hop.to)
    }
}

/// Chooses the target: the named version, else the newest that can be reached.
pub(super) fn choose(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Choice, Error> {
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
    let target = Target {
        from,
        to: &to,
        before: None,
        catalog: flow.ports.catalog,
    };
    let findings = target.version(&flow.ground.versions);
    if !findings.is_empty() {
        return Ok(Choice::Refused(Some(to), findings));
    }
    find(flow, group, (from, &to))
}

fn newest(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Choice, Error> {
    let Flow { ports, ask, ground } = flow;
    let targets = check::targets(from, &ground.versions, ask.target.reach);
    if targets.is_empty() {
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
    }
    let mut refused = None;
    for to in &targets {
        match find(flow, group, (from, to))? {
            // None can be reached: the newest one says why.
            other @ Choice::Refused(..) => refused = refused.or(Some(other)),
            found => return Ok(found),
        }
    }
    Ok(refused.unwrap_or_else(|| Choice::Refused(None, vec![no_release(ports)])))
}

fn no_release(ports: &Ports<'_>) -> Finding {
    let platform = ports.catalog.platform();
    let message = format!("no release of {platform} was found in {}", ports.releases.location());
    Finding::new(Code::UnknownVersion, platform.to_string(), message).with_remedy(format!(
        "name a folder that holds `{platform}/VERSION/...` with `--catalog DIR`"
    ))
}

/// Gives the definitions of the generated files.
pub(super) fn installed(ports: &Ports<'_>, group: &Group<'_>) -> Definitions {
    let read =
        |file: &refit_core::inventory::GeneratedFile| check::definitions(&Generated::read(&file.stream, ports.catalog));
    group.files().into_iter().flat_map(read).collect()
}

// PROVISIONAL below until route::find is there.

type Matrix = BTreeMap<String, (Vec<String>, String)>;

fn matrix(flow: Flow<'_>, names: &BTreeSet<String>, version: &Version) -> Result<Matrix, Error> {
    let catalog = flow.ports.catalog;
    if catalog.knows(version) {
        let of = |name: &String| {
            let api = catalog.api(name, version)?;
            Some((
                name.clone(),
                (api.versions.served.clone(), api.versions.storage.clone()),
            ))
        };
        return Ok(names.iter().filter_map(of).collect());
    }
    let release = contents::release(flow, version)?;
    let Release::Streams(streams, ..) = &*release else {
        return Ok(Matrix::new());
    };
    let definitions: Definitions = streams
        .iter()
        .flat_map(|stream| check::definitions(&Generated::read(stream, catalog)))
        .collect();
    let of = |(name, definition): (&String, &refit_core::generated::Definition)| {
        let storage = definition.storage()?.to_owned();
        Some((name.clone(), (check::names(definition), storage)))
    };
    Ok(definitions.iter().filter_map(of).collect())
}

fn find(flow: Flow<'_>, group: &Group<'_>, (from, to): (&Version, &Version)) -> Result<Choice, Error> {
    let installed = installed(flow.ports, group);
    let names: BTreeSet<String> = installed.keys().cloned().collect();
    let mut at = from.clone();
    let of = |(name, definition): (&String, &refit_core::generated::Definition)| {
        let storage = definition.storage()?.to_owned();
        Some((name.clone(), (check::names(definition), storage)))
    };
    let mut now: Matrix = installed.iter().filter_map(of).collect();
    let mut hops = Vec::new();
    while at != *to {
        let mut candidates: Vec<Version> = check::targets(&at, &flow.ground.versions, Reach::Newest);
        candidates.retain(|version| version <= to);
        if candidates.first() != Some(to) {
            candidates.insert(0, to.clone());
        }
        let mut why = Vec::new();
        let mut next = None;
        for candidate in candidates {
            let target = matrix(flow, &names, &candidate)?;
            let refused: Vec<String> = now
                .iter()
                .filter(|(name, (_, storage))| target.get(*name).is_some_and(|(all, _)| !all.contains(storage)))
                .map(|(name, (_, storage))| format!("{candidate} lacks `{storage}` of {name}, which may be stored"))
                .collect();
            if refused.is_empty() {
                next = Some((candidate, target));
                break;
            }
            if candidate == *to {
                why = refused;
            }
        }
        let Some((version, target)) = next else {
            let finding = Finding::new(Code::StoredVersionRemoved, to.to_string(), why.join("; "));
            return Ok(Choice::Refused(Some(to.clone()), vec![finding]));
        };
        let mut stale = Vec::new();
        for (name, (all, storage)) in &now {
            let Some((after, _)) = target.get(name) else { continue };
            let lost = all.iter().filter(|version| !after.contains(version));
            stale.extend(lost.map(|lost| Stale {
                crd: name.clone(),
                version: lost.clone(),
                storage: storage.clone(),
            }));
        }
        hops.push(Hop {
            from: at,
            to: version.clone(),
            why,
            stale,
        });
        now.extend(target);
        at = version;
    }
    Ok(Choice::To(Route {
        hops,
        findings: Vec::new(),
    }))
}
