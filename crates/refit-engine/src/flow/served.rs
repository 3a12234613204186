//! Whether what a cluster applies after a request is written in versions that its release serves.
//!
//! In: the request that comes next, the files. Out: findings, each of which blocks. Knows nothing of the order of requests:
//! it looks at what stands there, so that an order that overlooks an object opens no request that breaks it.

use std::collections::BTreeSet;
use std::sync::Arc;

use refit_core::applied::{self, Reached, Repository};
use refit_core::finding::{Code, Finding};
use refit_core::inventory::Group;
use refit_core::release::Version;
use refit_core::route::Matrix;
use refit_core::snapshot::Snapshot;
use refit_core::stage::Stage;
use refit_core::streams::Streams;
use refit_manifest::{Path, Stream};

use super::ground::Flow;
use super::order::Request;
use super::target;
use crate::Error;

/// Looks at the objects that a group applies.
pub(super) fn look(flow: Flow<'_>, group: &Group<'_>, request: &Request) -> Result<Vec<Finding>, Error> {
    let streams = Streams::split(&flow.ground.snapshot.tree);
    let reached = reached(&[repository(&flow.ground.snapshot, &streams)], group);
    let mut files: BTreeSet<Path> = reached.objects.into_iter().map(|file| file.path).collect();
    for generated in group.files() {
        files.remove(&generated.path);
    }
    let hop = &request.hop;
    let known = target::known(flow, group, (&hop.from, Some(&hop.to)))?;
    let (Some(now), Some(next)) = (known.of(&hop.from), known.of(&hop.to)) else {
        return Ok(Vec::new());
    };
    let components = group
        .main()
        .map(|file| file.options.components.iter().cloned().collect());
    let judge = Judge {
        flow,
        request,
        now,
        next,
        components: components.unwrap_or_default(),
    };
    let mut findings = Vec::new();
    for path in &files {
        match request.edits.files.get(path) {
            Some(bytes) => {
                if let Ok(stream) = Stream::split(Arc::clone(bytes)) {
                    findings.extend(judge.stream(path, &stream));
                }
            }
            None => findings.extend(
                streams
                    .get(path)
                    .into_iter()
                    .flat_map(|stream| judge.stream(path, stream)),
            ),
        }
    }
    Ok(findings)
}

/// Gives the platform repository as what clusters apply files of.
pub(super) fn repository<'a>(snapshot: &'a Snapshot, streams: &'a Streams) -> Repository<'a> {
    Repository {
        name: &snapshot.repository,
        urls: std::slice::from_ref(&snapshot.repository),
        tree: &snapshot.tree,
        streams,
    }
}

/// Finds what the clusters of a group apply; their own repository is the first.
pub(super) fn reached(repositories: &[Repository<'_>], group: &Group<'_>) -> Reached {
    let mut reached = Reached::default();
    for cluster in group.clusters() {
        reached.join(applied::find(repositories, 0, &cluster.root));
    }
    reached
}

struct Judge<'a> {
    flow: Flow<'a>,
    request: &'a Request,
    now: Matrix,
    next: Matrix,
    components: BTreeSet<String>,
}

impl Judge<'_> {
    fn stream(&self, path: &Path, stream: &Stream) -> Vec<Finding> {
        let heads = stream.documents().iter().filter_map(|document| {
            let head = document.head();
            let (message, both) = self.lost(&head.api_version, &head.kind, &head.name)?;
            let subject = format!("{path}:{}", document.line_of(document.body().start));
            Some(self.finding(subject, message, &both))
        });
        heads.collect()
    }

    /// Says of an object that its version is not served, with those that both releases serve.
    fn lost(&self, api_version: &str, kind: &str, name: &str) -> Option<(String, Vec<String>)> {
        let (group, version) = api_version.split_once('/')?;
        let catalog = self.flow.ports.catalog;
        let is_of = |resource: &&refit_core::catalog::Resource| resource.group() == group && *resource.kind == *kind;
        let crd = &catalog.resources().iter().find(is_of)?.crd;
        let next = self.next.get(crd)?;
        let is_there = next.component.as_ref();
        if is_there.is_some_and(|component| !self.components.contains(component)) {
            return None;
        }
        let now = self.now.get(crd);
        let serves = |served: &[String]| served.iter().any(|served| served == version);
        let is_now = now.is_some_and(|now| serves(&now.served));
        if serves(&next.served) || (is_now && self.request.stage != Stage::Upgrade) {
            return None;
        }
        let both = next.served.iter().filter(|version| {
            let mut served = now.iter().flat_map(|now| &now.served);
            served.any(|one| one == *version)
        });
        let both: Vec<String> = both.cloned().collect();
        let (from, to) = (&self.request.hop.from, &self.request.hop.to);
        let message = match is_now {
            true => format!("`{kind}/{name}` is written as `{version}`, which {to} no longer serves"),
            false => format!("`{kind}/{name}` is written as `{version}`, which neither {from} nor {to} serves"),
        };
        Some((message, both))
    }

    fn finding(&self, subject: String, message: String, both: &[String]) -> Finding {
        let from: &Version = &self.request.hop.from;
        let finding = Finding::new(Code::ApiVersionRemoved, subject, message);
        match both {
            [] => finding
                .with_remedy("upgrade to a release between that serves a newer version as well, and change it there"),
            both => finding.with_remedy(format!(
                "write it as `{}`, which {from} serves already, commit, and run again",
                both.join("` or `")
            )),
        }
    }
}
