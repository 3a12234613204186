//! Repositories as texts, and their requests in words.

use std::collections::BTreeSet;

use refit_core::catalog::Catalog;
use refit_core::catalog::rules::ConversionRules;
use refit_core::release::Version;
use refit_core::route::Known;
use refit_core::streams::Streams;
use refit_core::windows::{Cluster, Planned, Request, Schemas, Stage};
use refit_manifest::{Entry, Path, Stream, Tree};
use refit_testkit::flux::Manifests;
use refit_testkit::planes::{self, Made, Plane, Planes};

/// Makes planes of texts; the files of the first repository come first.
pub(crate) fn planes(planes: &[Plane], repositories: &[&[(&str, String)]]) -> Planes {
    let names = ["platform", "apps", "more"];
    let made = repositories.iter().zip(names).map(|(files, name)| {
        let entry = |(path, text): &(&str, String)| (Path::from(*path), Entry::file(text.as_bytes()));
        let mut tree: Tree = files.iter().map(entry).collect();
        if name == "platform" {
            for plane in planes {
                tree.insert(plane.generated(), Entry::file(&b"# generated\n"[..]));
            }
        }
        Made {
            name: name.to_owned(),
            urls: vec![format!("https://git.example.org/{name}")],
            tree,
        }
    });
    Planes {
        repositories: made.collect(),
        planes: planes.to_vec(),
    }
}

/// Writes an object.
pub(crate) fn object(api_version: &str, kind: &str, name: &str, spec: &str) -> String {
    format!(
        "apiVersion: {api_version}\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: flux-system\nspec: {{{spec}}}\n"
    )
}

/// Writes the sync of a cluster.
pub(crate) fn sync(version: &str, cluster: &str) -> String {
    let spec =
        format!("path: ./clusters/{cluster}, prune: true, sourceRef: {{kind: GitRepository, name: flux-system}}");
    object(
        &format!("kustomize.toolkit.fluxcd.io/{version}"),
        "Kustomization",
        "flux-system",
        &spec,
    )
}

/// Writes a Kustomization that applies a directory of a source.
pub(crate) fn apply(version: &str, path: &str, source: &str) -> String {
    let spec = format!("path: ./{path}, prune: true, sourceRef: {{kind: GitRepository, name: {source}}}");
    let name = path.replace('/', "-");
    object(
        &format!("kustomize.toolkit.fluxcd.io/{version}"),
        "Kustomization",
        &name,
        &spec,
    )
}

/// Writes the source of a repository.
pub(crate) fn source(version: &str, repository: &str) -> String {
    let spec = format!("url: 'https://git.example.org/{repository}'");
    object(
        &format!("source.toolkit.fluxcd.io/{version}"),
        "GitRepository",
        repository,
        &spec,
    )
}

/// Plans without knowing schemas.
pub(crate) fn planned(planes: &Planes) -> Planned {
    with(planes, &Catalog::flux().unwrap(), &Schemas::default())
}

/// Plans with rules of a user.
pub(crate) fn planned_by(planes: &Planes, rules: &str) -> Planned {
    let mut catalog = Catalog::flux().unwrap();
    catalog
        .add_rules(ConversionRules::read("rules.yaml", rules).unwrap())
        .unwrap();
    with(planes, &catalog, &Schemas::default())
}

/// Plans with the schemas of the releases on the way; `None` where they are not at hand.
pub(crate) fn planned_with_schemas(planes: &Planes) -> Option<Planned> {
    let manifests = Manifests::find()?;
    let mut schemas = Schemas::default();
    for release in releases(planes) {
        let text = manifests.definitions(&release.to_string())?;
        schemas.add_all(&release, &Stream::split(text.as_bytes().into()).unwrap());
    }
    Some(with(planes, &Catalog::flux().unwrap(), &schemas))
}

fn with(planes: &Planes, catalog: &Catalog, schemas: &Schemas) -> Planned {
    planes::plan(planes, catalog, |_| schemas.clone()).1
}

/// Lists the releases that the clusters come through.
fn releases(planes: &Planes) -> BTreeSet<Version> {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let streams: Vec<Streams> = planes
        .repositories
        .iter()
        .map(|made| Streams::split(&made.tree))
        .collect();
    let repositories = planes::seen(&planes.repositories, &streams);
    let clusters = planes::clusters(planes, &repositories, &known);
    let of = |cluster: Cluster| cluster.hops.into_iter().map(|hop| hop.to).chain(cluster.installed);
    clusters.into_iter().flat_map(of).collect()
}

/// Writes each request as a line, then what is in the way.
pub(crate) fn lines(planes: &Planes, planned: &Planned) -> Vec<String> {
    let requests = planned.requests.iter().map(|request| line(planes, request));
    let stuck = planned.stuck.iter().map(|stuck| {
        let name = &planes.planes[stuck.cluster].name;
        format!(
            "stuck for {name}: {} {} {}: {}",
            stuck.file.path,
            stuck.kind.1,
            stuck.versions.join(","),
            stuck.reason
        )
    });
    let findings = planned
        .findings
        .iter()
        .map(|finding| format!("{}: {}: {}", finding.code, finding.subject, finding.message));
    requests.chain(stuck).chain(findings).collect()
}

fn line(planes: &Planes, request: &Request) -> String {
    let name = |cluster: &usize| &planes.planes[*cluster].name;
    let files: Vec<&str> = request.edits.keys().map(|file| file.path.file_name()).collect();
    let stage = match &request.stage {
        Stage::Convert { .. } => format!("convert in {}", planes.repositories[request.repository].name),
        Stage::Upgrade { cluster, from, to } => format!("upgrade {} from {from} to {to}", name(cluster)),
    };
    format!("{stage} [{}] needs {:?}", files.join(" "), request.needs)
}
