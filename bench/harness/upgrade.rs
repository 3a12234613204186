//! (e) A whole `refit upgrade` of the largest repository of the corpus, each time on a fresh copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::measure::median;
use crate::report::Report;

const LARGEST: &str = "../shared/corpus/billimek+k8s-gitops/2024-09-26";
const RELEASES: &str = "../shared/flux-manifests";

/// Measures `refit upgrade --yes` to v2.4.0 on the largest corpus repository, else on the quickstart's.
pub(crate) fn measure(refit: &Path, folder: &Path, runs: usize, report: &mut Report) {
    let pristine = folder.join("upgrade");
    let _ = fs::remove_dir_all(&pristine);
    let (catalog, version) = if Path::new(LARGEST).is_dir() {
        copy(Path::new(LARGEST), &pristine);
        (RELEASES, "flux@v2.4.0")
    } else {
        let plane = pristine.join("clusters/production/flux-system");
        copy(Path::new("examples/catalog/flux/v2.4.0"), &plane);
        copy(Path::new("examples/platform"), &plane);
        ("examples/catalog", "flux@v2.6.4")
    };
    commit(&pristine);
    let catalog = fs::canonicalize(catalog).unwrap();
    let refit = fs::canonicalize(refit).unwrap();
    let mut seconds = Vec::new();
    let mut codes = Vec::new();
    for _ in 0..runs {
        let fresh = folder.join("upgrade-run");
        let _ = fs::remove_dir_all(&fresh);
        copy(&pristine, &fresh);
        let mut command = Command::new(&refit);
        command
            .args(["upgrade", version, "--yes", "--catalog"])
            .arg(&catalog)
            .current_dir(&fresh);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let started = Instant::now();
        let code = command.status().unwrap().code();
        seconds.push(started.elapsed().as_secs_f64());
        codes.push(code);
    }
    let median = median(seconds);
    report.note(format!(
        "(e) refit upgrade {version}: {:.1} ms, exit codes {codes:?}",
        median * 1_000.0
    ));
    // 0, 5 and 6 are answers of a whole upgrade: done, a decision is asked, a request waits.
    if codes.iter().all(|code| matches!(code, Some(0 | 5 | 6))) {
        report.at_most("e", "seconds", median, 0.3);
    } else {
        report.at_most("e", "seconds (the upgrade did not come to its end)", f64::INFINITY, 0.3);
    }
}

/// Makes a repository of a folder, with one commit.
pub(crate) fn commit(repository: &Path) {
    let steps: [&[&str]; 5] = [
        &["init", "--quiet", "--initial-branch=main"],
        &["config", "user.name", "Bench"],
        &["config", "user.email", "bench@example.com"],
        &["add", "--all"],
        &["commit", "--quiet", "--message", "Install"],
    ];
    for step in steps {
        let status = Command::new("git").args(step).current_dir(repository).status().unwrap();
        assert!(status.success(), "git {step:?} failed");
    }
}

/// Copies files by content, so that read-only inputs give writable copies.
fn copy(from: &Path, to: &Path) {
    let mut open: Vec<(PathBuf, PathBuf)> = vec![(from.to_path_buf(), to.to_path_buf())];
    while let Some((from, to)) = open.pop() {
        fs::create_dir_all(&to).unwrap();
        for entry in fs::read_dir(&from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                open.push((entry.path(), target));
            } else {
                fs::write(target, fs::read(entry.path()).unwrap()).unwrap();
            }
        }
    }
}
