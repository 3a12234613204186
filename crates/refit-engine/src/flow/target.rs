//! Which release an upgrade goes to.

use std::collections::BTreeMap;

use refit_core::check::{self, Definitions, Reach, Removed, Target};
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
    /// This release, with what was found on the way.
    To(Version, Vec<Finding>),
    /// There is no such target.
    Refused(Option<Version>, Vec<Finding>),
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
    if findings.is_empty() {
        Ok(Choice::To(to, findings))
    } else {
        Ok(Choice::Refused(Some(to), findings))
    }
}

fn newest(flow: Flow<'_>, group: &Group<'_>, from: &Version) -> Result<Choice, Error> {
    let Flow { ports, ask, ground } = flow;
    let targets = check::targets(from, &ground.versions, ask.target.reach);
    let Some(newest) = targets.first() else {
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
    let stored = stored(ports, group, from);
    let mut first: Option<Vec<Removed>> = None;
    for to in &targets {
        let removed = removed(flow, &stored, to)?;
        match (&first, removed.is_empty()) {
            (None, true) => return Ok(Choice::To(to.clone(), Vec::new())),
            (Some(reasons), true) => {
                return Ok(Choice::To(to.clone(), vec![check::chosen(to, newest, reasons)]));
            }
            (None, false) => first = Some(removed),
            (Some(_), false) => {}
        }
    }
    // None can be reached: the nearest one says why.
    let nearest = targets.last().unwrap_or(newest);
    Ok(Choice::To(nearest.clone(), Vec::new()))
}

fn no_release(ports: &Ports<'_>) -> Finding {
    let platform = ports.catalog.platform();
    let message = format!("no release of {platform} was found in {}", ports.releases.location());
    Finding::new(Code::UnknownVersion, platform.to_string(), message).with_remedy(format!(
        "name a folder that holds `{platform}/VERSION/...` with `--catalog DIR`"
    ))
}

/// The versions in which objects may be stored, by definition.
pub(super) type Stored = BTreeMap<String, Vec<String>>;

/// Lists the versions in which objects of a cluster may be stored.
pub(super) fn stored(ports: &Ports<'_>, group: &Group<'_>, from: &Version) -> Stored {
    check::stored(&installed(ports, group), from, ports.catalog)
}

/// Lists the versions that may be stored and that a target lacks, from the catalog where it knows the target.
pub(super) fn removed(flow: Flow<'_>, stored: &Stored, to: &Version) -> Result<Vec<Removed>, Error> {
    let catalog = flow.ports.catalog;
    if catalog.knows(to) {
        let served = |name: &str| Some(catalog.api(name, to)?.versions.served.clone());
        return Ok(check::removed(stored, served));
    }
    let release = contents::release(flow, to)?;
    let Release::Streams(streams, ..) = &*release else {
        return Ok(Vec::new());
    };
    let target: Definitions = streams
        .iter()
        .flat_map(|stream| check::definitions(&Generated::read(stream, catalog)))
        .collect();
    Ok(check::removed(stored, |name| target.get(name).map(check::names)))
}

/// Gives the definitions of the generated files.
pub(super) fn installed(ports: &Ports<'_>, group: &Group<'_>) -> Definitions {
    let read =
        |file: &refit_core::inventory::GeneratedFile| check::definitions(&Generated::read(&file.stream, ports.catalog));
    group.files().into_iter().flat_map(read).collect()
}
