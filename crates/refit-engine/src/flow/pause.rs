//! Pauses a cluster: nothing is opened for it until the pause ends.
//!
//! In: clusters, a reason. Out: a note beside the branches, where every machine sees it.

use refit_core::inventory::Cluster;
use refit_core::record::{Pause, Record, envelope};
use refit_core::report::{Next, PauseLine, Pauses, Report, State};

use super::ground::{self, Flow};
use crate::ports::Timestamp;
use crate::{Ask, Error, Ports};

/// What is to become of a pause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pausing {
    /// The clusters pause, for a reason.
    On(Option<String>),
    /// The pause ends.
    Off,
}

/// Where a cluster is, by which its pause is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    branch: String,
    directory: String,
    cluster: String,
    word: String,
}

impl Place {
    pub(super) fn of(branch: &str, cluster: &Cluster) -> Self {
        Self {
            branch: branch.to_owned(),
            directory: cluster.root.directory.clone(),
            cluster: cluster.root.name.clone(),
            word: cluster.root.word.clone(),
        }
    }

    fn note(&self) -> String {
        Pause::name(&self.branch, &self.directory, &self.word)
    }

    /// Tells whether a record is about the cluster.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.is_about(&self.directory, &self.cluster)
    }
}

/// Pauses the named clusters, without names all of them, or ends their pause.
pub(crate) fn pause(ports: &Ports<'_>, ask: &Ask, pausing: &Pausing) -> Result<Report<Pauses>, Error> {
    let ground = &ground::repository(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let place = |cluster| Place::of(&ground.base.branch, cluster);
    let places: Vec<Place> = flow.clusters()?.into_iter().map(place).collect();
    if places.is_empty() {
        return Err(Error::Usage {
            message: format!("there is no cluster on `{}`", ground.base.branch),
            remedy: "choose the branch with `--base BRANCH`; `refit inventory` says what was found".to_owned(),
        });
    }
    match pausing {
        Pausing::On(reason) => begin(flow, &places, reason.as_deref()),
        Pausing::Off => end(flow, &places),
    }
}

fn begin(flow: Flow<'_>, places: &[Place], reason: Option<&str>) -> Result<Report<Pauses>, Error> {
    let ports = flow.ports;
    let by = ports.repository.person()?;
    let mut paused = Vec::new();
    for place in places {
        let name = place.note();
        let expected = ports.repository.note(&name)?;
        let former = expected.as_deref().map(|bytes| parse(&name, bytes)).transpose()?;
        if let Some(former) = former.filter(|former| reason.is_none() || former.reason.as_deref() == reason) {
            paused.push(line(&former));
            continue;
        }
        let (api_version, kind) = envelope("Pause");
        let pause = Pause {
            api_version,
            kind,
            cluster: place.cluster.clone(),
            branch: place.branch.clone(),
            by: by.clone(),
            // A second is exact enough, and people read it.
            since: Timestamp::from_second(ports.clock.now().as_second()).unwrap_or_default(),
            reason: reason.map(str::to_owned),
        };
        let bytes = pause.write().map_err(|source| Error::Unwritable {
            what: "the note of the pause",
            source,
        })?;
        ports.repository.put_note(&name, Some(&bytes), expected.as_deref())?;
        paused.push(line(&pause));
    }
    let names: Vec<&str> = paused.iter().map(|line| line.cluster.as_str()).collect();
    let message = format!(
        "`{}` {} paused: nothing is opened until the pause ends",
        names.join("`, `"),
        be(names.len())
    );
    let option = option(flow);
    let next = vec![Next::run(format!("refit pause --off{option}"), "end the pause")];
    Ok(Report::new(State::Done, message, next, Pauses { paused }))
}

fn end(flow: Flow<'_>, places: &[Place]) -> Result<Report<Pauses>, Error> {
    let ports = flow.ports;
    let mut ended = Vec::new();
    for place in places {
        let name = place.note();
        if let Some(bytes) = ports.repository.note(&name)? {
            ports.repository.put_note(&name, None, Some(&bytes))?;
            ended.push(place.cluster.as_str());
        }
    }
    let body = Pauses { paused: Vec::new() };
    if ended.is_empty() {
        return Ok(Report::new(State::NothingToDo, "nothing was paused", Vec::new(), body));
    }
    let message = format!("`{}` {} not paused any more", ended.join("`, `"), be(ended.len()));
    let option = option(flow);
    let next = vec![Next::run(format!("refit status{option}"), "see where it stands")];
    Ok(Report::new(State::Done, message, next, body))
}

/// Gives the options that name the clusters as the user did; begins with a blank.
fn option(flow: Flow<'_>) -> String {
    let names = flow.ask.clusters.iter();
    names.map(|name| format!(" --cluster {name}")).collect()
}

fn be(count: usize) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// Gives the pause of a cluster.
pub(super) fn of(ports: &Ports<'_>, place: &Place) -> Result<Option<PauseLine>, Error> {
    let name = place.note();
    let Some(bytes) = ports.repository.note(&name)? else {
        return Ok(None);
    };
    // The cluster may have another name by now.
    let pause = Pause {
        cluster: place.cluster.clone(),
        ..parse(&name, &bytes)?
    };
    Ok(Some(line(&pause)))
}

/// Gives the first pause of some clusters: what they share waits for all of them.
pub(super) fn of_all(ports: &Ports<'_>, places: &[Place]) -> Result<Option<PauseLine>, Error> {
    for place in places {
        if let Some(pause) = of(ports, place)? {
            return Ok(Some(pause));
        }
    }
    Ok(None)
}

/// Says who paused a cluster, when and why.
pub(super) fn sentence(pause: &PauseLine) -> String {
    format!("`{}` {}", pause.cluster, words(pause))
}

/// Says who paused it, when and why, after the name of the cluster.
pub(super) fn words(pause: &PauseLine) -> String {
    let reason = pause
        .reason
        .as_ref()
        .map(|reason| format!(": {reason}"))
        .unwrap_or_default();
    format!("is paused since {} by {}{reason}", pause.since, pause.by)
}

fn line(pause: &Pause) -> PauseLine {
    PauseLine {
        cluster: pause.cluster.clone(),
        by: pause.by.clone(),
        since: pause.since.to_string(),
        reason: pause.reason.clone(),
    }
}

fn parse(name: &str, bytes: &[u8]) -> Result<Pause, Error> {
    Pause::read(bytes).map_err(|source| Error::Note {
        reference: format!("refs/refit/{name}"),
        source,
    })
}
