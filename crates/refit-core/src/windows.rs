//! Requests in order, each safe to merge once those before it are merged.
//!
//! In: clusters with their releases, hops and files, and repositories. Out: [`Planned`]: the requests that are forced, over
//! all repositories, with the edits of each; and what keeps an order from being found. The order is decided by windows: a
//! conversion can be made when the installed releases accept what it writes, and must be made before a hop that refuses
//! what it replaces. The result is checked against that law by other means than it was made.

mod order;
mod schemas;
mod seen;
mod accepted;
mod readings;
mod bundles;
mod made;
mod state;
mod doubts;
mod gates;
mod built;
mod law;
mod needs;
mod fewest;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::applied::{File, Reached, Repository};
use crate::conversion::{Note, Use};
use crate::finding::{Code, Finding};
use crate::release::Version;
use crate::route::{Hop, Known, Stale};

use order::{Model, Next, Obstacle};
use state::State;

pub use fewest::{Fewest, fewest};
pub use schemas::Schemas;

/// Clusters that are upgraded as one, mostly one alone.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// The names of all that share the generated manifests.
    pub names: Vec<String>,
    /// The index of the repository that holds them.
    pub repository: usize,
    /// The installed release; `None` where it cannot be told: then what is written now is accepted, and nothing else.
    pub installed: Option<Version>,
    /// The components; definitions of others are not there.
    pub components: BTreeSet<String>,
    /// The way; empty for a cluster that is not upgraded, whose release counts all the same.
    pub hops: Vec<Hop>,
    /// The files.
    pub reached: Reached,
}

/// All that the order depends on.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The repositories.
    pub repositories: &'a [Repository<'a>],
    /// The clusters; those of a file that is shared should all be there.
    pub clusters: &'a [Cluster],
    /// What is known of releases.
    pub known: &'a Known<'a>,
    /// The schemas of definitions, as far as they are at hand.
    pub schemas: &'a Schemas,
}

/// What a request is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Converts what a hop takes away; `cluster` is the index of the first cluster that needs it, before its hop.
    Convert {
        /// The index of the cluster.
        cluster: usize,
        /// The installed release.
        from: Version,
        /// The release of its next hop.
        to: Version,
    },
    /// Takes a cluster over one hop.
    Upgrade {
        /// The index of the cluster.
        cluster: usize,
        /// The release before.
        from: Version,
        /// The release after.
        to: Version,
    },
}

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The index of the repository.
    pub repository: usize,
    /// What it is for.
    pub stage: Stage,
    /// The whole new content of each file that it converts. The merge of generated manifests is not part of it.
    pub edits: BTreeMap<File, Arc<[u8]>>,
    /// What is converted.
    pub changes: Vec<Use>,
    /// What stays as it is in the same files and in those that belong to them, for a person to look at.
    pub left: Vec<Use>,
    /// What is worth knowing about objects of these files.
    pub notes: Vec<Noted>,
    /// The requests that must be merged before, and reconciled by all clusters that they concern: indices, those alone that
    /// no other of them needs.
    pub needs: Vec<usize>,
    /// What must be migrated in the clusters before it is merged; empty where nothing must. A conversion has a gate where
    /// managed fields in the old version would keep the new one from being applied.
    pub gate: Vec<Stale>,
    /// What must be migrated in other clusters, which apply what it converts.
    pub beside: Vec<Beside>,
}

/// What must be migrated in another cluster before a request is merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beside {
    /// The index of the cluster.
    pub cluster: usize,
    /// Its installed release.
    pub installed: Version,
    /// What must be migrated.
    pub gate: Vec<Stale>,
}

/// What is worth knowing about an object of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The file.
    pub file: File,
    /// The note.
    pub note: Note,
}

/// What a hop refuses and nothing here can convert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// The file.
    pub file: File,
    /// The group and kind.
    pub kind: (String, String),
    /// The versions that are written, or the fields that must go or get another form.
    pub versions: Vec<String>,
    /// The index of the cluster whose hop refuses it.
    pub cluster: usize,
    /// The release that refuses it.
    pub refused_by: Version,
    /// Why it is not converted.
    pub reason: String,
}

/// The requests, and what stands in the way of more.
#[derive(Clone, Debug, Default)]
pub struct Planned {
    /// The requests in an order in which they can be merged.
    pub requests: Vec<Request>,
    /// What keeps a cluster from its next hop until a person acts.
    pub stuck: Vec<Stuck>,
    /// The indices of the clusters that these requests do not bring to the end of their way: for these, no other request may
    /// take a hop.
    pub unfinished: BTreeSet<usize>,
    /// What blocks, and what was not looked at.
    pub findings: Vec<Finding>,
}

/// Plans the requests from what the repositories hold now.
pub fn plan(situation: &Situation<'_>) -> Planned {
    let (mut planned, mut unsafe_for) = (Planned::default(), BTreeSet::new());
    let mut state = State::new(situation);
    let mut law = law::Law::new(situation, &state);
    planned.findings.extend(state.doubts());
    loop {
        let model = state.model();
        let step = match order::next(&model) {
            Next::Done => break,
            Next::Blocked(obstacles) => {
                for obstacle in &obstacles {
                    told(&state, (&model, obstacle), &mut planned);
                }
                break;
            }
            Next::Step(step) => step,
        };
        let Some(request) = state.take(&model, &step) else {
            continue;
        };
        let refused = law.after(&request, &state);
        if !refused.is_empty() {
            let findings = refused.iter().map(|refused| refused.finding(situation));
            planned.findings.extend(findings);
            let (Stage::Convert { cluster, .. } | Stage::Upgrade { cluster, .. }) = request.stage;
            unsafe_for.extend(refused.iter().map(|refused| refused.cluster).chain([cluster]));
            break;
        }
        planned.requests.push(request);
    }
    planned.unfinished = &state.unfinished() | &unsafe_for;
    needs::fill(&mut planned.requests, &state);
    planned
}

/// Tells what keeps a cluster from its next hop.
fn told(state: &State<'_>, (model, obstacle): (&Model, &Obstacle), planned: &mut Planned) {
    let situation = state.situation();
    let cluster = &situation.clusters[obstacle.lane];
    let Some(to) = state.next_release(obstacle.lane) else {
        return;
    };
    let written = state.written(obstacle.item);
    if obstacle.lagging.is_empty() {
        let unable = || "no other version is accepted before and after the upgrade".to_owned();
        let reason = model.items[obstacle.item].fixed.clone().unwrap_or_else(unable);
        planned.stuck.extend(written.into_iter().map(|written| Stuck {
            file: written.file,
            kind: written.kind,
            versions: written.versions,
            cluster: obstacle.lane,
            refused_by: to.clone(),
            reason: reason.clone(),
        }));
        return;
    }
    let lagging: Vec<String> = obstacle
        .lagging
        .iter()
        .map(|lane| {
            format!(
                "`{}` has {}",
                situation.clusters[*lane].names.join(", "),
                state
                    .release(*lane)
                    .map_or_else(|| UNTOLD.to_owned(), ToString::to_string)
            )
        })
        .collect();
    let is_told = obstacle.lagging.iter().all(|lane| state.release(*lane).is_some());
    let lagging_names = names(situation, &obstacle.lagging);
    for written in written {
        let message = format!(
            "{} `{}` is shared, {to} for `{}` does not accept it, and what it does accept is not known to all: {}",
            written.kind.1,
            written.versions.join(", "),
            cluster.names.join(", "),
            lagging.join(", ")
        );
        let subject = state.shown(&written.file);
        let remedy = match is_told {
            true => format!("upgrade {lagging_names} first, or give it a file of its own"),
            false => format!("make it clear which release {lagging_names} has, or give it a file of its own"),
        };
        planned
            .findings
            .push(Finding::new(Code::ClusterLags, subject, message).with_remedy(remedy));
    }
}

/// What a cluster has whose release no evidence tells.
const UNTOLD: &str = "a release that cannot be told";

fn names(situation: &Situation<'_>, clusters: &[usize]) -> String {
    let names = clusters.iter().flat_map(|cluster| &situation.clusters[*cluster].names);
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
