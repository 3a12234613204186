//! Prefix safety on a real API server: after every prefix of the requests, each object of each cluster is accepted by a
//! server that holds the definitions of that moment, with the stored versions and managed fields that its past left.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::collections::BTreeMap;
use std::sync::Arc;

use refit_core::applied::File;
use refit_core::catalog::Catalog;
use refit_core::finding::{Code, Finding};
use refit_core::release::Version;
use refit_core::route::{Stale, Used};
use refit_core::windows::{Beside, Cluster, Schemas, Stage};
use refit_kustomize::{State, Value, build_as_flux};
use refit_manifest::{Entry, Stream, Tree};
use refit_testkit::flux::Manifests;
use refit_testkit::planes::{self, LAYOUTS, Layout, Plane, Planes};
use refit_testkit::random::Random;
use refit_testkit::testenv::{ApiServer, Apply};
use serde_json::json;

/// What a request does to the world once it is merged.
#[derive(Clone)]
struct Step {
    edits: BTreeMap<File, Arc<[u8]>>,
    /// The cluster and its new release.
    upgrade: Option<(usize, Version)>,
    gate: Vec<Stale>,
    /// What other clusters migrate before.
    beside: Vec<Beside>,
}

/// Repositories, their clusters and the requests.
struct Case {
    planes: Planes,
    clusters: Vec<Cluster>,
    steps: Vec<Step>,
}

impl Case {
    fn make(seed: u64, layout: Layout, planes: &[Plane]) -> Self {
        let planes = planes::make(&mut Random::new(seed), layout, planes);
        let catalog = Catalog::flux().unwrap();
        let (clusters, planned) = planes::plan(&planes, &catalog, schemas);
        // Generated Kustomizations read sources that no generated repository is.
        let is_expected = |finding: &&Finding| finding.code == Code::SourceNotRead;
        let others: Vec<&Finding> = planned.findings.iter().filter(|one| !is_expected(one)).collect();
        assert_eq!((planned.stuck, others), (Vec::new(), Vec::new()), "{layout:?} {seed}");
        let steps = planned.requests.into_iter().map(|request| Step {
            edits: request.edits,
            upgrade: match request.stage {
                Stage::Upgrade { cluster, to, .. } => Some((cluster, to)),
                Stage::Convert { .. } => None,
            },
            gate: request.gate,
            beside: request.beside,
        });
        Self {
            steps: steps.collect(),
            clusters,
            planes,
        }
    }

    /// Walks each cluster through all requests; gives how many objects were accepted, or what was refused first.
    fn walk(&self) -> Result<usize, String> {
        let walk = |cluster| self.cluster(&ApiServer::fresh().unwrap(), cluster);
        (0..self.clusters.len()).map(walk).sum()
    }

    /// Gives the same repositories with other requests than planned.
    fn with(&self, steps: Vec<Step>) -> Self {
        Self {
            planes: self.planes.clone(),
            clusters: self.clusters.clone(),
            steps,
        }
    }

    fn cluster(&self, server: &ApiServer, index: usize) -> Result<usize, String> {
        let cluster = &self.clusters[index];
        define(server, cluster.installed.as_ref().unwrap())?;
        let mut trees: Vec<Tree> = self.planes.repositories.iter().map(|made| made.tree.clone()).collect();
        let mut accepted = reconcile(server, cluster, &trees, Which::All)?;
        for (at, step) in self.steps.iter().enumerate() {
            let failed = |why: String| format!("cluster {index}, request {at}: {why}");
            for (file, bytes) in &step.edits {
                trees[file.repository].insert(file.path.clone(), Entry::file(Arc::clone(bytes)));
            }
            let concerned = step.edits.keys().any(|file| cluster.reached.files.contains(file));
            if concerned || step.upgrade.as_ref().is_some_and(|(of, _)| *of == index) {
                migrate(server, &step.gate).map_err(failed)?;
                for beside in step.beside.iter().filter(|beside| beside.cluster == index) {
                    migrate(server, &beside.gate).map_err(failed)?;
                }
            }
            match &step.upgrade {
                Some((of, to)) if *of == index => {
                    // What comes with another Kustomization can be applied before the new definitions are there.
                    accepted += reconcile(server, cluster, &trees, Which::Apart).map_err(failed)?;
                    define(server, to).map_err(failed)?;
                }
                _ if concerned => {}
                _ => continue,
            }
            accepted += reconcile(server, cluster, &trees, Which::All).map_err(failed)?;
        }
        Ok(accepted)
    }
}

/// Which Kustomizations of a cluster are reconciled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those without the definitions.
    Apart,
}

/// Applies what kustomize-controller would apply; gives how many objects were accepted.
fn reconcile(server: &ApiServer, cluster: &Cluster, trees: &[Tree], which: Which) -> Result<usize, String> {
    let mut documents = Vec::new();
    for applied in &cluster.reached.applied {
        if which == Which::Apart && applied.definitions {
            continue;
        }
        let built = build_as_flux(&trees[applied.repository], &applied.directory);
        if built.state != State::Evaluated {
            return Err(format!("`{}` does not build: {:?}", applied.directory, built.state));
        }
        documents.extend(built.objects.iter().map(|object| json(&object.value).to_string()));
    }
    let apply = Apply::by("kustomize-controller").forced().strict();
    match server.apply(documents.join("\n---\n").as_bytes(), &apply) {
        Ok(applied) => Ok(applied.len()),
        Err(refused) => Err(refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::Null => serde_json::Value::Null,
        Value::Bool(flag) => json!(flag),
        Value::Number(text) => serde_json::from_str(text).unwrap(),
        Value::Text(text) => json!(&**text),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Map(map) => map.iter().map(|(key, value)| (key.to_string(), json(value))).collect(),
    }
}

/// Gives the definitions of a release with all components.
fn definitions(release: &Version) -> Vec<u8> {
    let manifests = Manifests::find().unwrap();
    manifests.definitions(&release.to_string()).unwrap().into_bytes()
}

fn schemas(clusters: &[Cluster]) -> Schemas {
    let mut schemas = Schemas::default();
    for cluster in clusters {
        for release in cluster.hops.iter().map(|hop| &hop.to).chain(&cluster.installed) {
            schemas.add_all(release, &Stream::split(definitions(release).into()).unwrap());
        }
    }
    schemas
}

fn define(server: &ApiServer, release: &Version) -> Result<(), String> {
    let namespace = b"apiVersion: v1\nkind: Namespace\nmetadata: {name: flux-system}\n---\n";
    let text = [&namespace[..], &definitions(release)].concat();
    match server.apply(&text, &Apply::by("kustomize-controller").forced()) {
        Ok(_) => Ok(()),
        Err(refused) => Err(refused.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}

/// Does what a gate asks for: takes the old versions out of managed fields, rewrites the objects, trims the stored versions.
fn migrate(server: &ApiServer, gate: &[Stale]) -> Result<(), String> {
    let definitions: BTreeMap<&str, &Stale> = gate.iter().map(|stale| (stale.crd.as_str(), stale)).collect();
    for (crd, stale) in definitions {
        let (plural, group) = crd.split_once('.').unwrap();
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}");
        let (status, definition) = server.request("GET", &path, "application/json", b"");
        assert_eq!(status, 200, "{crd}: {definition}");
        let versions = definition["spec"]["versions"].as_array().unwrap().clone();
        let storage = versions.iter().find(|version| version["storage"] == true).unwrap();
        let api_version = format!("{group}/{}", storage["name"].as_str().unwrap());
        for object in server
            .list(&api_version, &stale.kind, "flux-system")
            .map_err(|refused| refused.to_string())?
        {
            let mut fields = object["metadata"]["managedFields"].clone();
            for entry in fields.as_array_mut().into_iter().flatten() {
                entry["apiVersion"] = json!(api_version);
            }
            let patch = json!({"metadata": {"managedFields": fields}});
            let name = object["metadata"]["name"].as_str().unwrap();
            let path = format!("/apis/{api_version}/namespaces/flux-system/{plural}/{name}");
            let (status, answer) = server.request(
                "PATCH",
                &path,
                "application/merge-patch+json",
                patch.to_string().as_bytes(),
            );
            if status != 200 {
                return Err(format!("{path}: {answer}"));
            }
        }
        server.migrate(crd).map_err(|refused| refused.to_string())?;
    }
    Ok(())
}

/// Checks all layouts of one route.
fn check(planes: &[Plane]) {
    if Manifests::find().is_none() {
        return;
    }
    let Some(_) = ApiServer::fresh() else { return };
    for (seed, layout) in (1..).zip(LAYOUTS) {
        let case = Case::make(seed, layout, planes);
        let accepted = case.walk();
        assert!(
            accepted.as_ref().is_ok_and(|count| *count > 30),
            "{layout:?}: {accepted:?}"
        );
    }
}

#[test]
fn from_0_41_to_2_9_every_prefix_is_accepted() {
    check(&[Plane::new("a", "v0.41.2", "v2.9.4")]);
}

#[test]
fn from_2_2_to_2_9_every_prefix_is_accepted() {
    check(&[Plane::new("a", "v2.2.3", "v2.9.4")]);
}

#[test]
fn from_2_6_to_2_8_every_prefix_is_accepted() {
    check(&[Plane::new("a", "v2.6.4", "v2.8.8")]);
}

#[test]
fn from_2_7_to_2_9_with_image_automation_every_prefix_is_accepted() {
    check(&[Plane::new("a", "v2.7.5", "v2.9.4")]);
}

#[test]
fn two_clusters_on_two_releases_share_files_and_every_prefix_is_accepted_by_both() {
    check(&[Plane::new("a", "v2.2.3", "v2.9.4"), Plane::new("b", "v2.6.4", "v2.9.4")]);
}

#[test]
fn requests_in_another_order_or_without_their_gates_are_refused() {
    if Manifests::find().is_none() {
        return;
    }
    let Some(_) = ApiServer::fresh() else { return };
    let case = Case::make(2, Layout::Own, &[Plane::new("a", "v2.2.3", "v2.9.4")]);
    assert_eq!(case.walk().map(|accepted| accepted > 30), Ok(true));
    let refused = |steps: Vec<Step>| case.with(steps).walk().unwrap_err();
    for first in 0..case.steps.len() - 1 {
        let mut swapped = case.steps.clone();
        swapped.swap(first, first + 1);
        let why = refused(swapped);
        assert!(why.contains("NoKindMatch") || why.contains("not declared"), "{why}");
    }
    let mut stored = 0;
    for (at, step) in case.steps.iter().enumerate() {
        let is_stored = step.gate.iter().any(|stale| stale.used == Used::Stored);
        // The managed fields of later requests are those of controllers, which this test does not imitate.
        if !is_stored && at > 0 {
            continue;
        }
        let mut ungated = case.steps.clone();
        ungated[at].gate.clear();
        ungated[at].beside.clear();
        let why = refused(ungated);
        let expected = if is_stored {
            "storedVersions"
        } else {
            "not declared in schema"
        };
        assert!(
            why.contains(&format!("request {at}: ")) && why.contains(expected),
            "{why}"
        );
        stored += usize::from(is_stored);
    }
    assert_eq!(stored, 2, "the hops to 2.8 and to 2.9");
}
