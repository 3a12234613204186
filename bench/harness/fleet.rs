//! (f) A repository of many clusters: 50 of them with 5,000 files beside 5 with 500, so that growth shows.
//!
//! Each cluster has the real manifest of one of three releases, its sync, and 97 small files of applications in two
//! directories that Flux Kustomizations of the cluster name.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::measure::median;
use crate::objects::{Versions, application, sync};
use crate::report::Report;
use crate::upgrade::commit;

const RELEASES: &str = "../shared/flux-manifests";
const EXAMPLES: &str = "examples/catalog/flux";
const INSTALLED: [&str; 3] = ["v2.4.0", "v2.5.1", "v2.4.0"];
const FILES_PER_CLUSTER: usize = 100;
/// The kustomizations, the sync, the Kustomizations of the applications and the manifest.
const FILES_OF_THE_PLANE: usize = 6;
const SMALL: usize = 5;
const LARGE: usize = 50;

/// What is measured: the arguments, and the codes that are an answer.
const COMMANDS: [(&str, &[&str]); 3] = [
    ("refit status --all", &["status", "--all"]),
    ("refit plan --cluster", &["plan", "flux@v2.6.4", "--cluster", "c3"]),
    ("refit plan --all-clusters", &["plan", "flux@v2.6.4", "--all-clusters"]),
];

/// Measures the commands on both repositories.
pub(crate) fn measure(refit: &Path, folder: &Path, runs: usize, report: &mut Report) {
    let refit = fs::canonicalize(refit).unwrap();
    let real = Path::new(RELEASES).is_dir();
    let catalog = fs::canonicalize(if real { RELEASES } else { "examples/catalog" }).unwrap();
    let repositories = [SMALL, LARGE].map(|clusters| make(&folder.join(format!("fleet-{clusters}")), clusters));
    for (name, arguments) in COMMANDS {
        let run = |repository: &Path| {
            let mut command = Command::new(&refit);
            command.args(arguments).arg("--catalog").arg(&catalog);
            command.current_dir(repository).stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            let started = Instant::now();
            let code = command.status().unwrap().code();
            (started.elapsed().as_secs_f64(), code)
        };
        let mut seconds = [Vec::new(), Vec::new()];
        let mut codes = Vec::new();
        for round in 0..=runs {
            for (size, repository) in repositories.iter().enumerate() {
                let (time, code) = run(repository);
                // The first round warms the file cache.
                if round > 0 {
                    seconds[size].push(time);
                    codes.push(code);
                }
            }
        }
        let [small, large] = seconds.map(median);
        let answered = codes.iter().all(|code| *code == Some(0));
        report.note(format!(
            "(f) {name:<26} {SMALL} clusters, {} files: {:.0} ms; {LARGE} clusters, {} files: {:.0} ms{}",
            SMALL * FILES_PER_CLUSTER,
            small * 1_000.0,
            LARGE * FILES_PER_CLUSTER,
            large * 1_000.0,
            if answered { "" } else { "; it gave no answer" }
        ));
        let or_never = |value: f64| if answered { value } else { f64::INFINITY };
        if name == "refit plan --cluster" {
            report.at_most("f", "seconds for the plan of one of 50 clusters", or_never(large), 2.0);
        }
        let what = format!(
            "times the time for 10 times as much: {}",
            name.trim_start_matches("refit ")
        );
        report.at_most("f", &what, or_never(large / small), 15.0);
    }
}

fn make(root: &Path, clusters: usize) -> PathBuf {
    let _ = fs::remove_dir_all(root);
    for number in 0..clusters {
        cluster(root, number);
    }
    commit(root);
    root.to_path_buf()
}

fn cluster(root: &Path, number: usize) {
    let name = format!("c{number}");
    let write = |path: String, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let plane = format!("clusters/{name}/flux-system");
    let version = INSTALLED[number % INSTALLED.len()];
    let manifest = [RELEASES, EXAMPLES]
        .iter()
        .find_map(|place| fs::read_to_string(format!("{place}/{version}/gotk-components.yaml")).ok());
    write(format!("{plane}/gotk-components.yaml"), &manifest.unwrap());
    write(
        format!("{plane}/gotk-sync.yaml"),
        &sync("flux-system", &format!("clusters/{name}")),
    );
    write(
        format!("{plane}/kustomization.yaml"),
        "resources:\n- gotk-components.yaml\n- gotk-sync.yaml\n",
    );
    write(
        format!("clusters/{name}/apps.yaml"),
        &sync("apps", &format!("apps/{name}")),
    );
    let count = FILES_PER_CLUSTER - FILES_OF_THE_PLANE;
    let mut named = String::from("resources:\n");
    for file in 0..count {
        named.push_str(&format!("- app-{file}.yaml\n"));
        write(
            format!("apps/{name}/app-{file}.yaml"),
            &application(file, Versions::New),
        );
    }
    write(format!("apps/{name}/kustomization.yaml"), &named);
    write(format!("docs/{name}.md"), "What runs here.\n");
}
