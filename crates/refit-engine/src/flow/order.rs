//! The requests of a group's route in their order, with what each converts.
//!
//! In: the route, every cluster of the repository. Out: [`Ordered`]: conversions where a hop forces them, then the hop; and
//! what cannot be converted. The order itself is the core's; here its answer is fitted to one group and one repository.

use std::collections::BTreeMap;

use refit_core::conversion::{Convertible, Use, What};
use refit_core::finding::{Code, Finding, Severity};
use refit_core::inventory::Group;
use refit_core::plan::Edits;
use refit_core::release::Version;
use refit_core::route::{Hop, Route, Stale};
use refit_core::stage::{Conversion, Stage};
use refit_core::streams::Streams;
use refit_core::windows::{self, Cluster, Noted, Planned, Schemas, Situation, Stuck};

use super::contents::{self, Release};
use super::ground::Flow;
use super::{served, target};
use crate::{Error, Ports};

/// The requests of one group.
#[derive(Default)]
pub(super) struct Ordered {
    pub(super) requests: Vec<Request>,
    pub(super) findings: Vec<Finding>,
}

impl Ordered {
    /// Counts the requests, where they lead to the end of a route.
    pub(super) fn count(&self, route: &Route) -> Option<usize> {
        let upgrades = self.requests.iter().filter(|request| request.stage == Stage::Upgrade);
        let is_whole = upgrades.count() == route.hops.len() && !self.findings.iter().any(Finding::blocks);
        is_whole.then_some(self.requests.len())
    }
}

/// One request of a route.
pub(super) struct Request {
    pub(super) stage: Stage,
    pub(super) hop: Hop,
    /// What must be migrated before its merge.
    pub(super) gate: Vec<Stale>,
    /// What must be migrated in other clusters, which apply what it converts.
    pub(super) beside: Vec<Beside>,
    /// What it converts.
    pub(super) edits: Edits,
}

/// What must be migrated in other clusters before a request is merged.
pub(super) struct Beside {
    pub(super) clusters: Vec<String>,
    pub(super) installed: Version,
    pub(super) gate: Vec<Stale>,
}

impl Request {
    /// Gives the release that the request leaves installed.
    pub(super) fn to(&self) -> &Version {
        match self.stage {
            Stage::Upgrade => &self.hop.to,
            Stage::Convert | Stage::Detach | Stage::Migrate => &self.hop.from,
        }
    }
}

/// Orders the requests of a route.
pub(super) fn of(flow: Flow<'_>, group: &Group<'_>, route: &Route) -> Result<Ordered, Error> {
    let ground = flow.ground;
    // The rules of the repository convert as well.
    let catalog = flow.catalog();
    let ports = Ports { catalog, ..*flow.ports };
    let flow = Flow { ports: &ports, ..flow };
    let tree = &ground.snapshot.tree;
    let streams = Streams::split(tree);
    let repositories = [served::repository(&ground.snapshot, &streams)];
    let mut known = target::known(flow, group, (&route.from, Some(&route.to)))?;
    let mut schemas = Schemas::default();
    let own = group.names();
    let (mut clusters, mut place) = (Vec::new(), 0);
    for other in ground.inventory.groups() {
        let is_own = other.names() == own;
        let main = other.main();
        let version = main.and_then(|file| file.detection.version.clone());
        let installed = version.or_else(|| is_own.then(|| route.from.clone()));
        if is_own {
            place = clusters.len();
        }
        if let Some(installed) = &installed {
            if !known.knows(installed) {
                known = known.with(installed, &target::installed(&ports, &other));
            }
            for file in other.files() {
                schemas.add_all(installed, &file.stream);
            }
        }
        let components = main.map(|file| file.options.components.clone()).unwrap_or_default();
        clusters.push(Cluster {
            names: other.names(),
            repository: 0,
            installed,
            components: components.into_iter().collect(),
            hops: if is_own { route.hops.clone() } else { Vec::new() },
            reached: served::reached(&repositories, &other),
        });
    }
    add_next(flow, route, &mut schemas);
    let planned = windows::plan(&Situation {
        repositories: &repositories,
        clusters: &clusters,
        known: &known,
        schemas: &schemas,
    });
    Ok(fitted(planned, (&clusters, place), route))
}

/// Adds the schemas of the release that the next hop brings: its contents are needed for the hop anyway. Those of later
/// ones are not fetched, so gates of later requests can be stricter than they will be; the same holds where the contents
/// cannot be had: who needs them says so.
fn add_next(flow: Flow<'_>, route: &Route, schemas: &mut Schemas) {
    let Some(hop) = route.hops.first() else { return };
    if let Ok(release) = contents::release(flow, &hop.to)
        && let Release::Streams(streams, ..) = &*release
    {
        for stream in streams {
            schemas.add_all(&hop.to, stream);
        }
    }
}

/// Keeps what is about one cluster.
fn fitted(planned: Planned, (clusters, place): (&[Cluster], usize), route: &Route) -> Ordered {
    let mut ordered = Ordered::default();
    for request in planned.requests {
        let (stage, cluster, from) = match &request.stage {
            windows::Stage::Convert { cluster, from, .. } => (Stage::Convert, *cluster, from),
            windows::Stage::Upgrade { cluster, from, .. } => (Stage::Upgrade, *cluster, from),
        };
        let Some(hop) = route
            .hops
            .iter()
            .find(|hop| hop.from == *from)
            .filter(|_| cluster == place)
        else {
            continue;
        };
        ordered.requests.push(Request {
            stage,
            hop: hop.clone(),
            gate: request.gate,
            beside: request
                .beside
                .into_iter()
                .map(|beside| named(beside, clusters))
                .collect(),
            edits: Edits {
                files: request
                    .edits
                    .into_iter()
                    .map(|(file, bytes)| (file.path, bytes))
                    .collect(),
                removes: Vec::new(),
                conversions: conversions(&request.changes),
                reviews: reviews(&request.left, &request.notes),
            },
        });
    }
    ordered.findings.extend(planned.findings);
    let opens = ordered.requests.first().map(|request| request.hop.to.clone());
    let stuck = planned.stuck.iter().filter(|stuck| stuck.cluster == place);
    let (now, later): (Vec<&Stuck>, Vec<&Stuck>) = stuck.partition(|stuck| opens.as_ref() == Some(&stuck.refused_by));
    ordered.findings.extend(later.into_iter().map(finding));
    // What only a later hop refuses is still time for.
    if !ordered.requests.is_empty() {
        let later = ordered
            .findings
            .iter_mut()
            .filter(|finding| !matches!(finding.code, Code::OrderUnsafe | Code::UnreadableManifest));
        later.for_each(|finding| finding.severity = Severity::Warning);
    }
    ordered.findings.extend(now.into_iter().map(finding));
    ordered
}

fn named(beside: windows::Beside, clusters: &[Cluster]) -> Beside {
    let cluster = clusters.get(beside.cluster);
    Beside {
        clusters: cluster.map(|cluster| cluster.names.clone()).unwrap_or_default(),
        installed: beside.installed,
        gate: beside.gate,
    }
}

fn conversions(changes: &[Use]) -> Vec<Conversion> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for change in changes.iter().filter(|change| change.convertible == Convertible::Yes) {
        let to = change
            .replacement
            .as_ref()
            .map(|new| format!(" becomes `{new}`"))
            .unwrap_or_default();
        let line = match &change.what {
            What::Version(version) => format!("line {}: {} `{version}`{to}", change.line, change.object),
            What::Field { name, message } => format!("line {}: {} `{name}`: {message}", change.line, change.object),
        };
        files.entry(change.path.to_string()).or_default().push(line);
    }
    files
        .into_iter()
        .map(|(path, changes)| Conversion { path, changes })
        .collect()
}

/// Lists what stays for a person to look at, and what is worth knowing about the objects that are converted.
fn reviews(left: &[Use], notes: &[Noted]) -> Vec<String> {
    let left = left
        .iter()
        .filter_map(|used| Some(format!("{used}{}", used.convertible.reason()?)));
    let note = |noted: &Noted| {
        let note = &noted.note;
        format!("{}:{}: {}: {}", noted.file.path, note.line, note.object, note.message)
    };
    left.chain(notes.iter().map(note)).collect()
}

/// Says what a hop refuses and nothing converts.
fn finding(stuck: &Stuck) -> Finding {
    let message = format!(
        "{} has `{}`, which {} no longer accepts, and it is not converted: {}",
        stuck.kind.1,
        stuck.versions.join("`, `"),
        stuck.refused_by,
        stuck.reason
    );
    Finding::new(Code::ApiVersionRemoved, stuck.file.path.as_str(), message)
}
