use refit_manifest::{Entry, Path, Stream, Tree};
use serde_json::json;

use super::*;
use crate::applied::Applied;
use crate::catalog::Catalog;
use crate::conversion::{Convertible, What};
use crate::generated::Definition;
use crate::places::Sort;
use crate::route::Floor;
use crate::streams::Streams;

const HELM: &str = "helmreleases.helm.toolkit.fluxcd.io";

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

/// Writes the definition of HelmRelease; the last version is stored.
fn definition(versions: &[&str]) -> Definition {
    let mut text = format!("kind: CustomResourceDefinition\nmetadata: {{name: {HELM}}}\nspec:\n  versions:\n");
    for (at, name) in versions.iter().enumerate() {
        let storage = at + 1 == versions.len();
        text += &format!("  - {{name: {name}, served: true, storage: {storage}}}\n");
    }
    let text = format!("apiVersion: apiextensions.k8s.io/v1\n{text}");
    let stream = Stream::split(text.as_bytes().into()).unwrap();
    Definition::read(&stream.documents()[0])
}

fn file() -> File {
    File {
        repository: 0,
        path: Path::from("a/r.yaml"),
    }
}

fn release(version: &str) -> Tree {
    let text =
        format!("apiVersion: helm.toolkit.fluxcd.io/{version}\nkind: HelmRelease\nmetadata: {{name: r}}\nspec: {{}}\n");
    [(file().path, Entry::file(text.as_bytes()))].into_iter().collect()
}

/// Makes a cluster that applies one file apart from its definitions.
fn cluster(way: &[&str]) -> Cluster {
    let hop = |pair: &[&str]| Hop {
        from: version(pair[0]),
        to: version(pair[1]),
        refused_directly_by: Vec::new(),
        gate: Vec::new(),
        floor: Floor::None,
        why: String::new(),
    };
    Cluster {
        names: vec!["a".to_owned()],
        repository: 0,
        installed: Some(version(way[0])),
        components: BTreeSet::from(["helm-controller".to_owned()]),
        hops: way.windows(2).map(hop).collect(),
        reached: Reached {
            applied: vec![Applied {
                name: "a".to_owned(),
                repository: 0,
                directory: "a".to_owned(),
                prune: true,
                namespace: None,
                definitions: false,
            }],
            objects: BTreeSet::from([file()]),
            files: BTreeSet::from([file()]),
            ..Reached::default()
        },
    }
}

fn with<T>(tree: &Tree, (clusters, known): (&[Cluster], &Known<'_>), run: impl FnOnce(&Situation<'_>) -> T) -> T {
    let streams = Streams::split(tree);
    let repositories = [Repository {
        name: "platform",
        urls: &[],
        tree,
        streams: &streams,
    }];
    run(&Situation {
        repositories: &repositories,
        clusters,
        known,
        schemas: &Schemas::default(),
    })
}

fn words(planned: &Planned) -> Vec<String> {
    let requests = planned.requests.iter().map(|request| match &request.stage {
        Stage::Convert { .. } => format!("convert {}", request.edits.len()),
        Stage::Upgrade { to, .. } => format!("upgrade to {to}"),
    });
    let stuck = planned
        .stuck
        .iter()
        .map(|stuck| format!("stuck at {}", stuck.refused_by));
    let findings = planned
        .findings
        .iter()
        .map(|finding| format!("{} {}", finding.code, finding.subject));
    requests.chain(stuck).chain(findings).collect()
}

#[test]
fn what_releases_that_the_catalog_does_not_list_serve_comes_from_their_manifests() {
    let catalog = Catalog::flux().unwrap();
    let of = |versions: &[&str]| [(HELM.to_owned(), definition(versions))].into_iter().collect();
    let known = Known::new(&catalog)
        .with(&version("v2.98.0"), &of(&["v2", "v3"]))
        .with(&version("v2.99.0"), &of(&["v3"]));
    let clusters = [cluster(&["v2.9.4", "v2.98.0", "v2.99.0"])];
    let planned = with(&release("v2"), (&clusters, &known), plan);
    assert_eq!(
        words(&planned),
        ["upgrade to v2.98.0", "convert 1", "upgrade to v2.99.0"]
    );
    assert!(planned.unfinished.is_empty());
}

#[test]
fn no_order_leads_over_a_release_of_which_nothing_is_known() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let clusters = [cluster(&["v2.8.8", "v2.9.4", "v2.99.0"])];
    let planned = with(&release("v2"), (&clusters, &known), plan);
    assert_eq!(words(&planned), ["upgrade to v2.9.4", "UnknownVersion v2.99.0"]);
    assert_eq!(planned.unfinished, BTreeSet::from([0]));
    let clusters = [cluster(&["v2.6.4", "v2.8.8"]), cluster(&["v2.99.0"])];
    let planned = with(&release("v2beta2"), (&clusters, &known), plan);
    assert_eq!(
        words(&planned),
        ["UnknownVersion v2.99.0", "ClusterLags a/r.yaml"],
        "a shared file is not written in what an unknown release may refuse"
    );
}

#[test]
fn what_one_cluster_refuses_from_the_start_excuses_nothing_at_another() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let (before, after) = (release("v2beta2"), release("v2beta1"));
    // The first has a release that serves neither; the second one that serves v2beta2 alone.
    let clusters = [cluster(&["v2.9.4"]), cluster(&["v2.7.5"])];
    let refused = with(&before, (&clusters, &known), |situation| {
        let mut law = law::Law::new(situation, &State::new(situation));
        let clusters = [cluster(&["v2.9.4"]), cluster(&["v2.9.4"])];
        with(&before, (&clusters, &known), |later| {
            law.after(&request(&after), &State::new(later))
        })
    });
    let refused: Vec<usize> = refused.iter().map(|refused| refused.cluster).collect();
    assert_eq!(refused, [1], "the first refused it before");
}

#[test]
fn what_comes_beside_the_definitions_is_held_against_the_release_before_where_it_cannot_come_in_one_go() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let (before, after) = (release("v2beta2"), release("v2"));
    let beside = |way: &[&str]| {
        let mut cluster = cluster(way);
        cluster.reached.together.insert(file());
        [cluster]
    };
    let refused = with(&before, (&beside(&["v2.2.3", "v2.6.4"]), &known), |situation| {
        let mut law = law::Law::new(situation, &State::new(situation));
        with(&after, (&beside(&["v2.6.4"]), &known), |later| {
            law.after(&request(&after), &State::new(later))
        })
    });
    let words: Vec<String> = refused
        .iter()
        .map(|of| format!("{} {:?}", of.release.as_ref().unwrap(), of.what))
        .collect();
    assert_eq!(
        words,
        [r#"v2.2.3 Version("v2")"#],
        "no schema shows that nothing must be migrated"
    );
}

#[test]
fn a_cluster_whose_release_cannot_be_told_accepts_only_what_is_written_now() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let untold = || {
        let mut untold = cluster(&["v2.6.4"]);
        untold.installed = None;
        untold.components.clear();
        untold
    };
    let clusters = [cluster(&["v2.7.5", "v2.8.8"]), untold()];
    let planned = with(&release("v2beta2"), (&clusters, &known), plan);
    assert_eq!(words(&planned), ["ClusterLags a/r.yaml"]);
    let (before, after) = (release("v2beta2"), release("v2"));
    let refused = with(&before, (&clusters, &known), |situation| {
        let mut law = law::Law::new(situation, &State::new(situation));
        let now = law.after(&request(&before), &State::new(situation));
        assert_eq!(now, [], "what stays is accepted");
        with(&after, (&clusters, &known), |later| {
            law.after(&request(&after), &State::new(later))
        })
    });
    assert!(refused.iter().any(|of| of.cluster == 1 && of.release.is_none()));
}

/// An object with a field that its schema lacks, and a patch that takes the field out.
fn patched(patch: &str) -> Tree {
    let kustomization =
        format!("resources: [r.yaml]\npatches:\n- target: {{kind: HelmRelease, name: r}}\n  patch: |\n{patch}");
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2beta2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {own: 1, other: 2}\n";
    let entry = |(path, text): (&str, &str)| (Path::from(path), Entry::file(text.as_bytes()));
    [("a/r.yaml", release), ("a/kustomization.yaml", &kustomization)]
        .map(entry)
        .into_iter()
        .collect()
}

#[test]
fn an_object_is_held_against_the_law_as_kustomize_builds_it() {
    let catalog = Catalog::flux().unwrap();
    let known = Known::new(&catalog);
    let field = json!({"type": "integer"});
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"own": field}}}});
    let held = json!([{"name": "v2beta2", "served": true, "schema": {"openAPIV3Schema": schema}}]);
    let mut schemas = Schemas::default();
    schemas.add(
        &version("v2.6.4"),
        &json!({"metadata": {"name": HELM}, "spec": {"versions": held}}),
    );
    let clusters = [cluster(&["v2.2.3", "v2.6.4"])];
    let told = |patch: &str| {
        let (before, after) = (release("v2beta2"), patched(patch));
        let arrived = [cluster(&["v2.6.4"])];
        let refused = with(&before, (&clusters, &known), |start| {
            let start = Situation {
                schemas: &schemas,
                ..*start
            };
            let mut law = law::Law::new(&start, &State::new(&start));
            with(&after, (&arrived, &known), |later| {
                law.after(&request(&after), &State::new(later))
            })
        });
        refused.iter().map(|of| format!("{:?}", of.what)).collect::<Vec<_>>()
    };
    assert_eq!(told("    - {op: remove, path: /spec/other}\n"), Vec::<String>::new());
    let lacks = r#"Field("spec.other", "its version does not have")"#;
    assert_eq!(told("    - {op: replace, path: /spec/own, value: 2}\n"), [lacks]);
    let fails = told("    - {op: remove, path: /spec/third}\n");
    assert!(fails.iter().any(|what| what.starts_with("Build(")), "{fails:?}");
}

/// Makes the request that upgrades from 2.2 to 2.6 and leaves a file as it is in a tree.
fn request(after: &Tree) -> Request {
    let used = Use {
        path: file().path,
        line: 1,
        column: 1,
        span: 0..1,
        sort: Sort::Object,
        object: "HelmRelease/r".to_owned(),
        within: String::new(),
        group: "helm.toolkit.fluxcd.io".to_owned(),
        kind: "HelmRelease".to_owned(),
        what: What::Version("v2beta2".to_owned()),
        since: None,
        removed_in: None,
        replacement: None,
        convertible: Convertible::Yes,
        rule: None,
    };
    Request {
        repository: 0,
        stage: Stage::Upgrade {
            cluster: 0,
            from: version("v2.2.3"),
            to: version("v2.6.4"),
        },
        edits: [(file(), after.bytes(&file().path).unwrap().clone())]
            .into_iter()
            .collect(),
        changes: vec![used],
        left: Vec::new(),
        notes: Vec::new(),
        needs: Vec::new(),
        gate: Vec::new(),
        beside: Vec::new(),
    }
}
