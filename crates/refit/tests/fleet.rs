//! `refit upgrade --all-clusters` on the real repositories that hold several clusters: each request changes the files of
//! its own clusters and nothing else.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::process::Command;

use refit_testkit::git::GitRepository;
use refit_testkit::shared;
use serde_json::Value;

/// Snapshot, exit code, and per cluster the directory and whether a request opens.
type Row = (&'static str, i32, &'static [(&'static str, bool)]);

const TABLE: &[Row] = &[
    (
        "xUnholy+k8s-gitops/2021-04-14",
        3,
        &[("production", true), ("production-gke", false), ("staging", false)],
    ),
    ("sympatheticmoose+upgrade-repo/2021-12-16", 6, &[]),
];

fn refit(repository: &GitRepository, arguments: &[&str]) -> (Option<i32>, Value) {
    let catalog = shared::find("flux-manifests").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_refit"))
        .args(arguments)
        .args(["-o", "json"])
        .current_dir(repository.path())
        .envs(repository.environment())
        .env("REFIT_CATALOG", catalog)
        .output()
        .unwrap();
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn requests_of_a_real_fleet_change_the_files_of_their_own_clusters_alone() {
    let (Some(corpus), Some(_)) = (shared::find("corpus"), shared::find("flux-manifests")) else {
        return;
    };
    for (snapshot, exit, verdicts) in TABLE {
        let repository = GitRepository::of_directory(&corpus.join(snapshot));
        let (_, inventory) = refit(&repository, &["inventory"]);
        let clusters = inventory["clusters"].as_array().unwrap();
        let (code, _) = refit(&repository, &["upgrade", "--all-clusters", "--yes"]);
        assert_eq!(code, Some(*exit), "{snapshot}");
        let (_, listed) = refit(&repository, &["request", "list"]);
        let requests = listed["requests"].as_array().unwrap();
        let mut opened = 0;
        for cluster in clusters {
            let name = cluster["cluster"].as_str().unwrap();
            let slug = format!("/1-{name}-flux-");
            let of_cluster = |request: &&Value| request["branch"].as_str().unwrap().contains(&slug);
            let request = requests.iter().find(of_cluster);
            if let Some((_, opens)) = verdicts.iter().find(|(of, _)| *of == name) {
                assert_eq!(request.is_some(), *opens, "{snapshot} {name}");
            }
            let Some(request) = request else { continue };
            opened += 1;
            let files = cluster["files"].as_array().unwrap();
            let mut own: Vec<String> = files
                .iter()
                .filter(|file| file["role"] == "generated")
                .map(|file| file["path"].as_str().unwrap().to_owned())
                .collect();
            let branch = request["branch"].as_str().unwrap();
            let path = format!(".refit/{name}.json");
            // What is converted in one Kustomization with the definitions goes with them, and is recorded.
            let record: Value = serde_json::from_str(&repository.git(&["show", &format!("{branch}:{path}")])).unwrap();
            let converted = record["conversions"].as_array().into_iter().flatten();
            own.extend(converted.map(|one| one["path"].as_str().unwrap().to_owned()));
            own.push(path);
            let changed = repository.git(&["diff", "--name-only", "HEAD", branch]);
            let foreign: Vec<&str> = changed
                .lines()
                .filter(|path| !own.iter().any(|own| own == path))
                .collect();
            assert!(foreign.is_empty(), "{snapshot} {name}: {foreign:?}");
            assert!(!changed.is_empty(), "{snapshot} {name}");
        }
        assert!(opened > 0 && opened == requests.len(), "{snapshot}: {listed}");
    }
}
