//! Goes on with the upgrade under way.

use refit_core::progress::Wishes;
use refit_core::record::Note;
use refit_core::report::{Next, Report, State, Upgrade};

use super::ground::{self, Ground, Pick};
use super::{carry, notes, observe, prepare};
use crate::{Ask, Commits, Error, Others, Ports, Target};

/// The upgrade under way of a cluster.
pub(super) struct UnderWay {
    /// What to ask for to plan it again.
    pub(super) ask: Ask,
    /// Whether a request is open for it, or it was confirmed and waits for decisions.
    pub(super) open: Open,
}

/// How far an upgrade under way has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// A request is open.
    Request,
    /// It was confirmed, and decisions come before the request.
    Confirmed,
}

/// Goes on with the upgrade under way.
pub(crate) fn resume(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Report<Upgrade>, Error> {
    let ground = ground::survey(ports, ask.base.as_deref())?;
    let Some(under_way) = under_way(ports, ask, &ground)? else {
        return Ok(nothing(&ground));
    };
    let prepared = prepare::plan_on(ports, &under_way.ask, &ground)?;
    let wishes = Wishes {
        others: Others::Stop,
        commits,
    };
    carry::finish(ports, &prepared, wishes)
}

/// Finds the upgrade under way: the newest open request of the cluster, else the newest confirmed note whose target is
/// not installed yet.
pub(super) fn under_way(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Result<Option<UnderWay>, Error> {
    let cluster = match ground.pick(ports, ask)? {
        Pick::One(cluster) => Some(cluster),
        Pick::Choose(_) | Pick::None => None,
    };
    let is_meant = |name: &str| cluster.is_none_or(|cluster| cluster.root.name == name);
    let open = observe::open_with_records(ports, &ground.base, &ground.listed)?;
    if let Some(open) = open.into_iter().find(|open| is_meant(&open.record.cluster)) {
        let record = open.record;
        let ask = again(ask, &record.cluster, &record.to.to_string(), &record.accepted);
        return Ok(Some(UnderWay {
            ask,
            open: Open::Request,
        }));
    }
    let installed = |note: &Note| {
        let clusters = ground.inventory.clusters.iter();
        let mut named = clusters.filter(|cluster| cluster.root.name == note.cluster);
        named.any(|cluster| {
            cluster
                .main()
                .is_some_and(|file| file.detection.version.as_ref() >= Some(&note.to))
        })
    };
    let mut notes = notes::all(ports)?;
    notes.retain(|note| {
        note.confirmed && note.branch == ground.base.branch && is_meant(&note.cluster) && !installed(note)
    });
    let newest = notes.into_iter().max_by_key(|note| note.asked);
    Ok(newest.map(|note| UnderWay {
        ask: again(ask, &note.cluster, &note.to.to_string(), &note.accepted),
        open: Open::Confirmed,
    }))
}

/// Asks again for what was asked before.
pub(super) fn again(ask: &Ask, cluster: &str, to: &str, accepted: &[refit_core::finding::Acceptance]) -> Ask {
    let mut accept = ask.accept.clone();
    accept.extend(accepted.iter().cloned());
    Ask {
        clusters: vec![cluster.to_owned()],
        target: Target {
            version: Some(to.to_owned()),
            ..Target::default()
        },
        accept,
        ..ask.clone()
    }
}

fn nothing(ground: &Ground) -> Report<Upgrade> {
    let body = Upgrade {
        upgrade: String::new(),
        cluster: String::new(),
        from: String::new(),
        to: String::new(),
        request: None,
        open: Vec::new(),
        findings: Vec::new(),
        commits: Vec::new(),
    };
    let message = format!("no upgrade of `{}` is under way", ground.base.branch);
    let next = vec![Next::run("refit status", "see what can be upgraded")];
    Report::new(State::NothingToDo, message, next, body)
}
