//! The notes in which answers and consent wait until they are merged.

use std::sync::Arc;

use refit_core::catalog::Catalog;
use refit_core::detect;
use refit_core::generated::Generated;
use refit_core::inventory::Group;
use refit_core::plan;
use refit_core::record::{Note, Settled, envelope};
use refit_core::release::Platform;
use refit_manifest::Stream;

use super::ground::Flow;
use super::prepare::Work;
use crate::ports::PortErrorKind;
use crate::{Error, Ports};

/// Reads the note of an upgrade.
pub(super) fn read(ports: &Ports<'_>, upgrade: &str) -> Result<Option<Note>, Error> {
    named(ports, &Note::name(upgrade))
}

/// Reads all notes.
pub(super) fn all(ports: &Ports<'_>) -> Result<Vec<Note>, Error> {
    let names = ports.repository.notes(Note::PREFIX)?;
    let mut notes = Vec::new();
    for name in names {
        notes.extend(named(ports, &name)?);
    }
    Ok(notes)
}

/// How often a change of a note is tried again when others change it at the same time.
const TRIES: usize = 20;

/// Changes the note of a plan's upgrade, or makes it; the same note is not written again. What somebody else wrote
/// meanwhile is read first and stays.
pub(super) fn change(ports: &Ports<'_>, work: &Work, edit: impl Fn(&mut Note)) -> Result<(), Error> {
    let name = Note::name(&work.plan.upgrade);
    for _ in 0..TRIES {
        let expected = ports.repository.note(&name)?;
        let old = expected.as_deref().map(|bytes| parse(&name, bytes)).transpose()?;
        let mut note = match &old {
            Some(note) => note.clone(),
            None => fresh(ports, work),
        };
        note.accepted.extend(work.accepted.iter().cloned());
        note.accepted.sort();
        note.accepted.dedup();
        edit(&mut note);
        if old.as_ref() == Some(&note) {
            return Ok(());
        }
        let bytes = note.write().map_err(|source| Error::Unwritable {
            what: "the note of the upgrade",
            source,
        })?;
        match ports.repository.put_note(&name, Some(&bytes), expected.as_deref()) {
            Err(error) if error.kind == PortErrorKind::Moved => {}
            done => return Ok(done?),
        }
    }
    Err(Error::Busy {
        branch: format!("refs/refit/{name}"),
    })
}

/// Notes that the requests of an upgrade up to a number were closed on purpose, so that they do not count as declined.
pub(super) fn settle(ports: &Ports<'_>, upgrade: &str, request: u64) -> Result<(), Error> {
    let name = Settled::name(upgrade);
    let bytes = Settled::new(upgrade, request)
        .write()
        .map_err(|source| Error::Unwritable {
            what: "the note of a closed request",
            source,
        })?;
    let expected = ports.repository.note(&name)?;
    if settled(ports, upgrade)? < request {
        ports.repository.put_note(&name, Some(&bytes), expected.as_deref())?;
    }
    Ok(())
}

/// Gives the number up to which the requests of an upgrade are settled.
pub(super) fn settled(ports: &Ports<'_>, upgrade: &str) -> Result<u64, Error> {
    let name = Settled::name(upgrade);
    let Some(bytes) = ports.repository.note(&name)? else {
        return Ok(0);
    };
    let settled = Settled::read(&bytes).map_err(|source| Error::Note {
        reference: format!("refs/refit/{name}"),
        source,
    })?;
    Ok(settled.request)
}

/// Removes the notes of an upgrade that is done; somebody who changed one meanwhile keeps it.
pub(super) fn remove(ports: &Ports<'_>, upgrade: &str) -> Result<(), Error> {
    for name in [Note::name(upgrade), base_name(upgrade)] {
        if let Some(bytes) = ports.repository.note(&name)? {
            ports.repository.put_note(&name, None, Some(&bytes))?;
        }
    }
    Ok(())
}

/// Keeps the base that the user gave until the upgrade is done, so that whoever goes on with it has it, too.
pub(super) fn keep_base(ports: &Ports<'_>, work: &Work) -> Result<(), Error> {
    let Some(bytes) = &work.base_file else { return Ok(()) };
    let name = base_name(&work.plan.upgrade);
    let expected = ports.repository.note(&name)?;
    ports.repository.put_note(&name, Some(bytes), expected.as_deref())?;
    Ok(())
}

/// Gives the base that somebody gave when an upgrade of these clusters began; one of another version than the installed one
/// was left behind by an upgrade that is over.
pub(super) fn kept_base(flow: Flow<'_>, group: &Group<'_>) -> Result<Option<Arc<[u8]>>, Error> {
    let Flow { ports, ground, .. } = flow;
    let names = ports.repository.notes(BASES)?;
    if names.is_empty() {
        return Ok(None);
    }
    let name = |version| {
        let target = format!("{}@{version}", ports.catalog.platform());
        base_name(&plan::upgrade_id(&ground.base.branch, group, &target))
    };
    match ground.versions.iter().map(name).find(|name| names.contains(name)) {
        Some(name) => {
            let bytes = ports.repository.note(&name)?;
            Ok(bytes.filter(|bytes| fits(ports.catalog, group, bytes)))
        }
        None => Ok(None),
    }
}

fn fits(catalog: &Catalog, group: &Group<'_>, base: &Arc<[u8]>) -> bool {
    let Ok(stream) = Stream::split(Arc::clone(base)) else {
        return false;
    };
    let shown = detect::detect(&Generated::read(&stream, catalog), catalog).version;
    match group.main().map(|file| &file.detection.version) {
        Some(Some(installed)) => shown.as_ref() == Some(installed),
        Some(None) => true,
        None => false,
    }
}

/// What the names of the bases are below that people gave.
const BASES: &str = "bases";

fn base_name(upgrade: &str) -> String {
    format!("{BASES}/{upgrade}")
}

fn fresh(ports: &Ports<'_>, work: &Work) -> Note {
    let plan = &work.plan;
    let (api_version, kind) = envelope("Note");
    Note {
        api_version,
        kind,
        upgrade: plan.upgrade.clone(),
        platform: Platform::clone(ports.catalog.platform()),
        cluster: plan.cluster.clone(),
        with: plan.with.clone(),
        branch: work.base.branch.clone(),
        // The way back is found by where it leads, an upgrade by where it ends.
        to: match plan.undone {
            Some(_) => plan.to.clone(),
            None => plan.target().clone(),
        },
        confirmations: Vec::new(),
        refutations: Vec::new(),
        confirmed: false,
        asked: ports.clock.now(),
        accepted: Vec::new(),
        answers: Vec::new(),
        kept: None,
        written: Vec::new(),
        rolled_back: plan.undone.clone(),
    }
}

fn named(ports: &Ports<'_>, name: &str) -> Result<Option<Note>, Error> {
    let bytes = ports.repository.note(name)?;
    bytes.map(|bytes| parse(name, &bytes)).transpose()
}

fn parse(name: &str, bytes: &[u8]) -> Result<Note, Error> {
    Note::read(bytes).map_err(|source| Error::Note {
        reference: format!("refs/refit/{name}"),
        source,
    })
}
