//! Goes on with the upgrade under way.

use refit_core::progress::Wishes;
use refit_core::record::Note;
use refit_core::report::{Next, Report, State, Upgrade};

use super::ground::{self, Ground};
use super::{carry, notes, observe, prepare};
use crate::{Ask, Commits, Error, Others, Ports, Target};

/// Goes on with the upgrade under way.
pub(crate) fn resume(ports: &Ports<'_>, ask: &Ask, commits: Commits) -> Result<Report<Upgrade>, Error> {
    let ground = ground::survey(ports, ask.base.as_deref())?;
    let Some(under_way) = under_way(ports, ask, &ground)? else {
        return Ok(nothing(&ground));
    };
    let prepared = prepare::plan_on(ports, &under_way, &ground)?;
    let wishes = Wishes {
        others: Others::Stop,
        commits,
    };
    carry::finish(ports, &prepared, wishes)
}

/// Gives what to ask for to plan the upgrade under way again; where several clusters have one, one must be named.
pub(super) fn under_way(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Result<Option<Ask>, Error> {
    let mut all = all_under_way(ports, ask, ground)?;
    if all.len() > 1 {
        let mut names: Vec<&str> = all
            .iter()
            .flat_map(|way| way.clusters.iter().map(String::as_str))
            .collect();
        names.sort_unstable();
        return Err(Error::Usage {
            message: format!("upgrades of `{}` are under way", names.join("`, `")),
            remedy: "name one with `--cluster NAME`".to_owned(),
        });
    }
    Ok(all.pop())
}

/// Finds the upgrades under way, one per cluster: its newest open request, else its newest confirmed note whose target
/// is not installed yet. Each is given as what to ask for to plan it again.
pub(super) fn all_under_way(ports: &Ports<'_>, ask: &Ask, ground: &Ground) -> Result<Vec<Ask>, Error> {
    let named: Vec<&String> = ground.clusters(ask)?.iter().map(|cluster| &cluster.root.name).collect();
    let is_meant = |name: &String| ask.clusters.is_empty() || named.contains(&name);
    let mut found: Vec<Ask> = Vec::new();
    for open in observe::open_with_records(ports, &ground.base, &ground.listed)? {
        let record = open.record;
        if is_meant(&record.cluster) && !has(&found, &record.cluster) {
            found.push(again(ask, &record.cluster, &record.to.to_string(), &record.accepted));
        }
    }
    let mut notes = notes::all(ports)?;
    notes.retain(|note| note.confirmed && note.branch == ground.base.branch && !is_installed(ground, note));
    notes.sort_by_key(|note| std::cmp::Reverse(note.asked));
    for note in notes {
        if is_meant(&note.cluster) && !has(&found, &note.cluster) {
            found.push(again(ask, &note.cluster, &note.to.to_string(), &note.accepted));
        }
    }
    Ok(found)
}

fn has(found: &[Ask], cluster: &String) -> bool {
    found.iter().any(|way| way.clusters.contains(cluster))
}

fn is_installed(ground: &Ground, note: &Note) -> bool {
    let mut clusters = ground
        .inventory
        .clusters
        .iter()
        .filter(|cluster| cluster.root.name == note.cluster);
    clusters.any(|cluster| {
        cluster
            .main()
            .is_some_and(|file| file.detection.version.as_ref() >= Some(&note.to))
    })
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
