//! What `refit.yaml` would say of a repository as it is.

use refit_core::configuration::{self, Catalog, Configuration, NamedCluster, Spec};
use refit_core::report::{Exit, Init, NamedFolder, Next, Report, State};
use refit_manifest::Path;

use super::ground::{self, Flow};
use super::shown;
use crate::{Ask, Error, Ports};

/// Makes the configuration of what is found: each cluster with the name it has now, and the sources that are used.
pub(crate) fn init(ports: &Ports<'_>, ask: &Ask, sources: &[String]) -> Result<Report<Init>, Error> {
    let ground = &ground::repository(ports, ask.base.as_deref())?;
    let flow = Flow { ports, ask, ground };
    let mut body = Init {
        branch: ground.base.branch.clone(),
        written: None,
        content: String::new(),
        clusters: Vec::new(),
        findings: ground.inventory.findings.clone(),
    };
    let clusters = flow.clusters()?;
    if clusters.is_empty() {
        let (message, next) = shown::nothing_found(flow, &mut body.findings);
        return Ok(Report::new(State::Blocked, message, next, body).with_exit(Exit::Blocked));
    }
    let folder = |directory: &String| {
        if directory.is_empty() {
            ".".to_owned()
        } else {
            directory.clone()
        }
    };
    for cluster in clusters {
        body.clusters.push(NamedFolder {
            cluster: cluster.root.name.clone(),
            directory: folder(&cluster.root.directory),
        });
    }
    let named = |named: &NamedFolder| NamedCluster {
        name: named.cluster.clone(),
        path: named.directory.clone(),
    };
    let written = Spec {
        clusters: body.clusters.iter().map(named).collect(),
        catalog: Catalog {
            sources: match sources {
                [] => ground.inventory.said.catalog.sources.clone(),
                named => named.to_vec(),
            },
        },
        ..ground.inventory.said.clone()
    };
    body.content = Configuration::new(written.clone()).write();
    let present = ground.snapshot.tree.bytes(&Path::from(configuration::FILE));
    if present.is_some_and(|bytes| **bytes == *body.content.as_bytes()) {
        let message = format!("`{}` on `{}` says this already", configuration::FILE, body.branch);
        return Ok(Report::new(State::NothingToDo, message, Vec::new(), body));
    }
    let found = match body.clusters.len() {
        1 => "1 cluster was found".to_owned(),
        several => format!("{several} clusters were found"),
    };
    let mut next: Vec<Next> = elsewhere(&written.catalog.sources).map(Next::say).collect();
    next.push(Next::say(format!(
        "commit `{}` to `{}`; until then it says nothing",
        configuration::FILE,
        body.branch
    )));
    Ok(Report::new(State::Done, found, next, body))
}

/// Says which sources are folders that only this machine has.
fn elsewhere(sources: &[String]) -> impl Iterator<Item = String> {
    let outside = |source: &&String| {
        let place = std::path::Path::new(source);
        let leaves = place.components().next() == Some(std::path::Component::ParentDir);
        !source.contains("://") && (place.is_absolute() || leaves)
    };
    let file = configuration::FILE;
    sources.iter().filter(outside).map(move |source| {
        format!(
            "`{file}` would name `{source}`, a folder outside of the repository: others and pipelines do not have it; name \
             one in the repository, or an `https://` or `oci://` address, with `--catalog`"
        )
    })
}
