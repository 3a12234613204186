//! The evaluator beside the real program: on every kustomization of the corpus, and on generated ones.
//!
//! `REFIT_SWEEP=all` runs thousands of generated directories, `REFIT_SEED=N` one, `REFIT_SEED=N..M` a range.

#![expect(clippy::expect_used, clippy::panic, reason = "a test may fail where it stands")]

#[path = "differential/program.rs"]
mod program;

use std::collections::BTreeMap;
use std::path::Path;

use refit_kustomize::{State, build};
use refit_manifest::{Entry, Path as TreePath, Tree};
use refit_testkit::overlays::overlay;
use refit_testkit::{shared, testenv};

use program::{Program, same};

/// How one directory went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Built,
    Failed,
    NotEvaluated,
}

/// Compares one directory; `Err` says how the two differ.
fn compare(program: &Program, folder: &Path, tree: &Tree, directory: &str) -> Result<Verdict, String> {
    let built = build(tree, directory);
    let printed = match &built.state {
        State::NotEvaluated(_) => return Ok(Verdict::NotEvaluated),
        _ => program.build(folder, directory),
    };
    match (&built.state, printed) {
        (State::Failed(_), Err(_)) => Ok(Verdict::Failed),
        (State::Failed(failures), Ok(_)) => Err(format!("only we fail: {}", failures[0])),
        (_, Err(error)) => Err(format!("only kustomize fails: {error}")),
        (_, Ok(text)) => same(&built, &text).map(|()| Verdict::Built),
    }
}

fn tally(verdicts: &[Verdict]) -> BTreeMap<Verdict, usize> {
    let mut counts = BTreeMap::new();
    for verdict in verdicts {
        *counts.entry(*verdict).or_insert(0) += 1;
    }
    counts
}

#[test]
fn every_kustomization_of_the_corpus_is_built_as_kustomize_builds_it() {
    let (Some(kustomize), Some(corpus)) = (testenv::kustomize(), shared::find("corpus")) else {
        return;
    };
    let program = Program(kustomize);
    let mut verdicts = Vec::new();
    let mut differences = Vec::new();
    for repository in std::fs::read_dir(corpus).expect("the corpus").flatten() {
        let folder = repository.path();
        if !folder.is_dir() {
            continue;
        }
        let tree = program::tree(&folder);
        let directories = tree
            .paths()
            .filter(|path| refit_kustomize::reach::is_kustomization(path));
        for directory in directories.map(TreePath::directory) {
            match compare(&program, &folder, &tree, directory) {
                Ok(verdict) => {
                    if verdict == Verdict::NotEvaluated {
                        println!(
                            "not evaluated: {} {directory}: {:?}",
                            folder.display(),
                            build(&tree, directory).state
                        );
                    }
                    verdicts.push(verdict);
                }
                Err(difference) => differences.push(format!("{} {directory}: {difference}", folder.display())),
            }
        }
    }
    println!("corpus: {:?}", tally(&verdicts));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let evaluated = verdicts
        .iter()
        .filter(|verdict| **verdict != Verdict::NotEvaluated)
        .count();
    assert!(
        evaluated * 10 >= verdicts.len() * 6 && evaluated > 5,
        "only {evaluated} of {} are evaluated",
        verdicts.len()
    );
}

#[test]
fn generated_directories_are_built_as_kustomize_builds_them() {
    let Some(kustomize) = testenv::kustomize() else { return };
    let program = Program(kustomize);
    let seeds: Vec<u64> = match (std::env::var("REFIT_SEED"), std::env::var("REFIT_SWEEP").as_deref()) {
        (Ok(seed), _) => match seed.split_once("..") {
            Some((first, end)) => (first.parse().expect("a number")..end.parse().expect("a number")).collect(),
            None => vec![seed.parse().expect("a number")],
        },
        (_, Ok("all")) => (0..6000).collect(),
        _ => (0..400).collect(),
    };
    let half = seeds.len().div_ceil(2).max(1);
    let results: Vec<(u64, Result<Verdict, String>)> = std::thread::scope(|scope| {
        let workers: Vec<_> = seeds
            .chunks(half)
            .map(|seeds| scope.spawn(|| run(&program, seeds)))
            .collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().expect("a worker"))
            .collect()
    });
    let differences: Vec<String> = results
        .iter()
        .filter_map(|(seed, result)| Some(format!("seed {seed}: {}", result.as_ref().err()?)))
        .collect();
    let verdicts: Vec<Verdict> = results
        .iter()
        .filter_map(|(_, result)| result.as_ref().ok().copied())
        .collect();
    println!("generated: {:?}", tally(&verdicts));
    let shown: Vec<&String> = differences.iter().take(20).collect();
    assert!(differences.is_empty(), "{} differ: {shown:#?}", differences.len());
    if seeds.len() > 100 {
        let counts = tally(&verdicts);
        let share = |verdict| counts.get(&verdict).copied().unwrap_or(0) * 100 / seeds.len();
        assert!(share(Verdict::NotEvaluated) <= 10, "{counts:?}");
        assert!(
            share(Verdict::Built) >= 50 && share(Verdict::Failed) >= 10,
            "{counts:?}"
        );
    }
}

fn run(program: &Program, seeds: &[u64]) -> Vec<(u64, Result<Verdict, String>)> {
    let each = seeds.iter().map(|seed| {
        let overlay = overlay(*seed);
        let folder = tempfile::tempdir().expect("a folder");
        for (path, text) in &overlay.files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let files = overlay.files.iter();
        let tree: Tree = files
            .map(|(path, text)| (TreePath::from(path.as_str()), Entry::file(text.as_bytes())))
            .collect();
        (*seed, compare(program, folder.path(), &tree, &overlay.directory))
    });
    each.collect()
}
