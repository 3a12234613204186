//! (g) Scan and conversion of a tree of 10,000 files beside `grep -rE` of the old API versions over the same tree.
//!
//! One Flux Kustomization reaches all of it. `scan` and `convert --diff`, which judges every place and writes nothing, stand
//! beside `grep`; `convert`, which writes 1,600 files, stands beside `grep -l` with `sed -i`, which writes the same files.
//! Uses are what the commands answer with, and grow with what there is to tell: so memory is measured on trees of 1,000 and of
//! 10,000 files with as many uses, and on one with ten times as many. `flux migrate -f --dry-run` is measured too where a
//! `flux` is on the path.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::measure::median;
use crate::objects::{Versions, application, sync};
use crate::report::Report;

const SMALL: usize = 1_000;
const LARGE: usize = 10_000;
const FILES_PER_FOLDER: usize = 100;
const TO: &str = "flux@v2.9.4";
const OLD: &str = r"toolkit\.fluxcd\.io/v[0-9]+(alpha|beta)[0-9]+";
const ONE_CORE: [&str; 3] = ["taskset", "-c", "0"];

/// A tree: how many files, and how many of them may be written in old API versions.
#[derive(Clone, Copy)]
struct Tree {
    title: &'static str,
    files: usize,
    may_be_old: usize,
}

const TREES: [Tree; 3] = [
    Tree {
        title: "1,000 files",
        files: SMALL,
        may_be_old: SMALL,
    },
    Tree {
        title: "10,000 files, as many uses",
        files: LARGE,
        may_be_old: SMALL,
    },
    Tree {
        title: "10,000 files",
        files: LARGE,
        may_be_old: LARGE,
    },
];

/// What is measured: who, the command, the exit code of an answer, whether it changes the tree.
struct Contestant {
    name: &'static str,
    command: Vec<String>,
    answers: i32,
    writes: bool,
}

/// Which files of a tree are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    All,
    /// Those that conversions change.
    Old,
}

/// Measures time on the large tree, and memory on all of them.
pub(crate) fn measure(refit: &Path, folder: &Path, runs: usize, report: &mut Report) {
    let refit = fs::canonicalize(refit).unwrap().display().to_string();
    let contestants = contestants(&refit);
    let place = folder.join("conversions");
    let judging = ["refit scan", "refit convert --diff"];
    let mut peaks = Vec::new();
    for tree in TREES {
        make(&place, tree, Which::All);
        let of = |name: &str| {
            let megabytes = peak(contestants.iter().find(|one| one.name == name).unwrap(), &place);
            report.note(format!("(g) {name:<26} {:<26}: {megabytes:>7.1} MB", tree.title));
            megabytes
        };
        peaks.push(judging.map(of));
    }
    // The last tree is the largest and stays.
    let seconds = contest(&contestants, (TREES[2], &place), runs);
    for (contestant, seconds) in contestants.iter().zip(&seconds) {
        let (name, title) = (contestant.name, TREES[2].title);
        report.note(format!("(g) {name:<26} {title:<26}: {:>7.1} ms", seconds * 1_000.0));
    }
    let at = |name: &str| seconds[contestants.iter().position(|one| one.name == name).unwrap()];
    for (name, bound) in [
        ("refit scan", "grep -rE"),
        ("refit convert --diff", "grep -rE"),
        ("refit scan, one core", "grep -rE, one core"),
        ("refit convert --diff, one core", "grep -rE, one core"),
        ("refit convert", "grep -rE and sed -i"),
    ] {
        let bound_name = bound.split(',').next().unwrap_or(bound);
        let what = format!("times {bound_name}: {}", name.trim_start_matches("refit "));
        report.at_most("g", &what, at(name) / at(bound), 3.0);
    }
    for (index, name) in judging.iter().enumerate() {
        let word = name.trim_start_matches("refit ");
        let times = |tree: usize| peaks[tree][index] / peaks[0][index];
        report.at_most("g", &format!("times the memory, 10 x files: {word}"), times(1), 1.2);
        report.at_most(
            "g",
            &format!("times the memory, 10 x files and uses: {word}"),
            times(2),
            1.5,
        );
    }
}

/// Measures each contestant once per round, so that a busy moment of the machine hits all of them; gives the medians.
fn contest(contestants: &[Contestant], (tree, place): (Tree, &Path), runs: usize) -> Vec<f64> {
    let mut seconds = vec![Vec::new(); contestants.len()];
    // The first round warms the file cache and does not count.
    for round in 0..=runs {
        for (index, contestant) in contestants.iter().enumerate() {
            let started = Instant::now();
            let code = run(&contestant.command, place);
            let took = started.elapsed().as_secs_f64();
            assert_eq!(code, Some(contestant.answers), "{} gave no answer", contestant.name);
            if round > 0 {
                seconds[index].push(took);
            }
            // A conversion leaves nothing to do, so what comes after it has the files as they were.
            if contestant.writes {
                make(place, tree, Which::Old);
            }
        }
    }
    seconds.into_iter().map(median).collect()
}

fn contestants(refit: &str) -> Vec<Contestant> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let contestant = |name, command: &[&str], answers, writes| Contestant {
        name,
        command: words(command),
        answers,
        writes,
    };
    let grep = ["grep", "-rE", OLD, "."];
    let sed = format!(
        "grep -rlE '{OLD}' . | xargs sed -i -E 's#helm.toolkit.fluxcd.io/v2beta1#helm.toolkit.fluxcd.io/v2#; s#source.toolkit.fluxcd.io/v1beta2#source.toolkit.fluxcd.io/v1#'"
    );
    let scan = [refit, "scan", "--to", TO, "."];
    let diff = [refit, "convert", "--to", TO, ".", "--diff"];
    let convert = [refit, "convert", "--to", TO, "."];
    let mut all = vec![
        contestant("grep -rE", &grep, 0, false),
        contestant("refit scan", &scan, 3, false),
        contestant("refit convert --diff", &diff, 0, false),
        contestant("grep -rE, one core", &[&ONE_CORE, &grep[..]].concat(), 0, false),
        contestant("refit scan, one core", &[&ONE_CORE, &scan[..]].concat(), 3, false),
        contestant(
            "refit convert --diff, one core",
            &[&ONE_CORE, &diff[..]].concat(),
            0,
            false,
        ),
        contestant("grep -rE and sed -i", &["sh", "-c", &sed], 0, true),
        contestant("refit convert", &convert, 0, true),
    ];
    let has_flux = Command::new("flux").arg("--version").output().is_ok();
    if has_flux {
        let migrate = ["flux", "migrate", "-f", ".", "-v", "2.9", "--dry-run", "--yes"];
        all.push(contestant("flux migrate -f --dry-run", &migrate, 0, false));
    }
    all
}

fn run(command: &[String], tree: &Path) -> Option<i32> {
    let status = Command::new(&command[0])
        .args(&command[1..])
        .current_dir(tree)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.unwrap().code()
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

/// Makes a tree anew, or the files of it again that conversions changed.
fn make(place: &Path, tree: Tree, which: Which) {
    if which == Which::All {
        let _ = fs::remove_dir_all(place);
    }
    let write = |path: &Path, text: &str| {
        if which == Which::All {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
        }
        if which == Which::All || text.contains("fluxcd.io/v1beta2") {
            fs::write(path, text).unwrap();
        }
    };
    write(&place.join("clusters/production/sync.yaml"), &sync("flux-system", ""));
    for number in 0..tree.files / FILES_PER_FOLDER {
        let folder = place.join(format!("apps/team-{number}"));
        let is_old = number < tree.may_be_old / FILES_PER_FOLDER;
        let versions = if is_old { Versions::HalfOld } else { Versions::New };
        let mut named = String::from("resources:\n");
        for file in 0..FILES_PER_FOLDER - 1 {
            named.push_str(&format!("- app-{file}.yaml\n"));
            write(&folder.join(format!("app-{file}.yaml")), &application(file, versions));
        }
        write(&folder.join("kustomization.yaml"), &named);
    }
}
