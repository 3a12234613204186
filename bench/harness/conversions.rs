//! (g) Scan and conversion of a tree beside `grep -rE` of the old API versions over the same tree: 10,000 files beside
//! 1,000, so that growth of memory shows.
//!
//! One Flux Kustomization reaches all of it. Uses are what the commands answer with, and grow with what there is to tell: so
//! memory is measured on a tree of 10,000 files with as many uses as that of 1,000 has, and on one with ten times as many.
//! `flux migrate -f --dry-run` is measured too where a `flux` is on the path.

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

/// What a contestant took of one tree.
#[derive(Clone, Copy)]
struct Measured {
    seconds: f64,
    megabytes: f64,
}

/// Measures all contestants on all trees.
pub(crate) fn measure(refit: &Path, folder: &Path, runs: usize, report: &mut Report) {
    let refit = fs::canonicalize(refit).unwrap().display().to_string();
    let contestants = contestants(&refit);
    let mut all = Vec::new();
    for tree in TREES {
        let place = folder.join("conversions");
        let measured = contest(&contestants, (tree, &place), runs);
        for (contestant, measured) in contestants.iter().zip(&measured) {
            report.note(format!(
                "(g) {:<26} {:<26}: {:>7.1} ms, {:>5.1} MB",
                contestant.name,
                tree.title,
                measured.seconds * 1_000.0,
                measured.megabytes,
            ));
        }
        all.push(measured);
    }
    let at = |name: &str| contestants.iter().position(|one| one.name == name).unwrap();
    let [small, same_uses, large] = all.as_slice() else {
        return;
    };
    for (name, bound) in [
        ("refit scan", "grep -rE"),
        ("refit convert", "grep -rE"),
        ("refit scan, one core", "grep -rE, one core"),
        ("refit convert, one core", "grep -rE, one core"),
    ] {
        let what = format!("times the time of grep: {}", name.trim_start_matches("refit "));
        report.at_most("g", &what, large[at(name)].seconds / large[at(bound)].seconds, 3.0);
    }
    for name in ["refit scan", "refit convert"] {
        let word = name.trim_start_matches("refit ");
        let times = |of: &[Measured]| of[at(name)].megabytes / small[at(name)].megabytes;
        let what = format!("times the memory, 10 x files: {word}");
        report.at_most("g", &what, times(same_uses), 1.2);
        let what = format!("times the memory, 10 x files and uses: {word}");
        report.at_most("g", &what, times(large), 1.5);
    }
}

/// Measures each contestant once per round, so that a busy moment of the machine hits all of them.
fn contest(contestants: &[Contestant], (tree, place): (Tree, &Path), runs: usize) -> Vec<Measured> {
    make(place, tree);
    let mut seconds = vec![Vec::new(); contestants.len()];
    let mut megabytes = vec![0.0; contestants.len()];
    for round in 0..=runs {
        for (index, contestant) in contestants.iter().enumerate() {
            // The first round warms the file cache and measures memory.
            if round == 0 {
                megabytes[index] = peak(contestant, place);
            } else {
                let started = Instant::now();
                let code = run(&contestant.command, place);
                seconds[index].push(started.elapsed().as_secs_f64());
                assert_eq!(code, Some(contestant.answers), "{} gave no answer", contestant.name);
            }
            // A conversion leaves nothing to do, so what comes after it has a fresh tree.
            if contestant.writes {
                make(place, tree);
            }
        }
    }
    let both = seconds.into_iter().zip(megabytes);
    let measured = both.map(|(seconds, megabytes)| Measured {
        seconds: median(seconds),
        megabytes,
    });
    measured.collect()
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
    let scan = [refit, "scan", "--to", TO, "."];
    let convert = [refit, "convert", "--to", TO, "."];
    let mut all = vec![
        contestant("grep -rE", &grep, 0, false),
        contestant("refit scan", &scan, 3, false),
        contestant("refit convert", &convert, 0, true),
        contestant("grep -rE, one core", &[&ONE_CORE, &grep[..]].concat(), 0, false),
        contestant("refit scan, one core", &[&ONE_CORE, &scan[..]].concat(), 3, false),
        contestant("refit convert, one core", &[&ONE_CORE, &convert[..]].concat(), 0, true),
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

/// Makes a tree anew.
fn make(place: &Path, tree: Tree) {
    let _ = fs::remove_dir_all(place);
    let write = |path: &Path, text: &str| {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
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
