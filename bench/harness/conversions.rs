//! (g) Scan and conversion of a tree beside `grep -rE` of the old API versions over the same tree: 10,000 files, and 1,000
//! so that growth of memory shows.
//!
//! A third of the files holds objects of Flux, half of these in old API versions; the rest are Deployments with Services and
//! the kustomizations that name the files. One Flux Kustomization reaches all of it. `flux migrate -f --dry-run` is measured
//! too where a `flux` is on the path.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::measure::median;
use crate::report::Report;

const SMALL: usize = 1_000;
const LARGE: usize = 10_000;
const FILES_PER_FOLDER: usize = 100;
const TO: &str = "flux@v2.9.4";
const OLD: &str = r"toolkit\.fluxcd\.io/v[0-9]+(alpha|beta)[0-9]+";

/// What is measured: who, the command, whether it changes the tree.
struct Contestant {
    name: &'static str,
    command: Vec<String>,
    writes: bool,
}

/// Measures all contestants on both trees.
pub(crate) fn measure(refit: &Path, folder: &Path, runs: usize, report: &mut Report) {
    let refit = fs::canonicalize(refit).unwrap().display().to_string();
    let mut peaks: Vec<[f64; 2]> = Vec::new();
    let mut times: Vec<[f64; 2]> = Vec::new();
    for (size, files) in [SMALL, LARGE].into_iter().enumerate() {
        let tree = folder.join(format!("conversions-{files}"));
        let contestants = contestants(&refit);
        for (index, contestant) in contestants.iter().enumerate() {
            let mut seconds = Vec::new();
            let mut megabytes = 0.0;
            for round in 0..=runs {
                // A conversion leaves nothing to do, so each run has a fresh tree; making it also warms the file cache.
                if contestant.writes || round == 0 {
                    make(&tree, files);
                }
                if round == 0 {
                    megabytes = peak(contestant, &tree);
                    if contestant.writes {
                        make(&tree, files);
                    }
                }
                let started = Instant::now();
                run(&contestant.command, &tree);
                if round > 0 {
                    seconds.push(started.elapsed().as_secs_f64());
                }
            }
            if size == 0 {
                peaks.push([megabytes, 0.0]);
                times.push([median(seconds), 0.0]);
            } else {
                peaks[index][1] = megabytes;
                times[index][1] = median(seconds);
            }
            report.note(format!(
                "(g) {:<26} {files:>6} files: {:>7.1} ms, {megabytes:.1} MB",
                contestant.name,
                times[index][size] * 1_000.0,
            ));
        }
    }
    let grep = times[0][1];
    for (index, what) in [(1, "scan"), (2, "convert")] {
        report.at_most(
            "g",
            &format!("times the time of grep: {what}, {LARGE} files"),
            times[index][1] / grep,
            3.0,
        );
        let memory = peaks[index][1] / peaks[index][0];
        report.at_most(
            "g",
            &format!("times the memory for 10 times the files: {what}"),
            memory,
            1.5,
        );
    }
}

fn contestants(refit: &str) -> Vec<Contestant> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let contestant = |name, command: &[&str], writes| Contestant {
        name,
        command: words(command),
        writes,
    };
    let mut all = vec![
        contestant("grep -rE", &["grep", "-rE", OLD, "."], false),
        contestant("refit scan", &[refit, "scan", "--to", TO, "."], false),
        contestant("refit convert", &[refit, "convert", "--to", TO, "."], true),
    ];
    let has_flux = Command::new("flux").arg("--version").output().is_ok();
    if has_flux {
        let migrate = ["flux", "migrate", "-f", ".", "-v", "2.9", "--dry-run", "--yes"];
        all.push(contestant("flux migrate -f --dry-run", &migrate, false));
    }
    all
}

fn run(command: &[String], tree: &Path) {
    let status = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(tree)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap();
}

/// Gives the peak memory of a run in megabytes.
fn peak(contestant: &Contestant, tree: &Path) -> f64 {
    let note = fs::canonicalize(tree).unwrap().with_extension("resources");
    let prefix = ["/usr/bin/time", "-f", "%M", "-o"].map(str::to_owned);
    let command = [prefix.as_slice(), &[note.display().to_string()], &contestant.command].concat();
    run(&command, tree);
    let text = fs::read_to_string(note).unwrap();
    text.lines().last().unwrap().trim().parse::<f64>().unwrap() / 1024.0
}

/// Makes a tree anew.
fn make(tree: &PathBuf, files: usize) {
    let _ = fs::remove_dir_all(tree);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(&tree.join("clusters/production/sync.yaml"), &sync());
    for number in 0..files / FILES_PER_FOLDER {
        let folder = tree.join(format!("apps/team-{number}"));
        let mut named = String::from("resources:\n");
        for file in 0..FILES_PER_FOLDER - 1 {
            named.push_str(&format!("- app-{file}.yaml\n"));
            write(&folder.join(format!("app-{file}.yaml")), &content(file));
        }
        write(&folder.join("kustomization.yaml"), &named);
    }
}

fn sync() -> String {
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: flux-system\n  namespace: flux-system\n\
     spec:\n  interval: 10m\n  path: ./\n  prune: true\n  sourceRef:\n    kind: GitRepository\n    name: flux-system\n"
        .to_owned()
}

fn content(number: usize) -> String {
    if !number.is_multiple_of(3) {
        return workload(number);
    }
    let (helm, source) = if number.is_multiple_of(2) {
        ("v2", "v1")
    } else {
        ("v2beta1", "v1beta2")
    };
    format!(
        "# what team runs\napiVersion: helm.toolkit.fluxcd.io/{helm}\nkind: HelmRelease\nmetadata:\n  name: app-{number}\n  \
         namespace: apps\nspec:\n  interval: 10m\n  chart:\n    spec:\n      chart: app\n      version: 1.2.{number}\n      \
         sourceRef:\n        kind: HelmRepository\n        name: charts\n  values:\n    replicas: 2\n    image:\n      \
         repository: registry.example/app\n      tag: v1.0.{number}\n    env:\n    - name: LEVEL\n      value: info\n---\n\
         apiVersion: source.toolkit.fluxcd.io/{source}\nkind: HelmRepository\nmetadata:\n  name: charts-{number}\n  \
         namespace: apps\nspec:\n  interval: 1h\n  url: https://charts.example\n"
    )
}

fn workload(number: usize) -> String {
    format!(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app-{number}\n  namespace: apps\nspec:\n  replicas: 1\n  \
         selector:\n    matchLabels:\n      app: app-{number}\n  template:\n    metadata:\n      labels:\n        app: app-{number}\n    \
         spec:\n      containers:\n      - name: main\n        image: registry.example/app:v1.0.{number}\n        env:\n        \
         - name: LEVEL\n          value: info\n---\napiVersion: v1\nkind: Service\nmetadata:\n  name: app-{number}\n  namespace: apps\n\
         spec:\n  ports:\n  - port: 80\n  selector:\n    app: app-{number}\n"
    )
}
