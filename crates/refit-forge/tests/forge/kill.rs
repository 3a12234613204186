//! A kill at any point leaves no half of anything, and the next run goes on.

use std::fs;
use std::path::Path;
use std::process::Command;

use refit_engine::ports::{Draft, Forge, Repository, RequestState};
use refit_forge::BuiltIn;
use refit_testkit::git::GitRepository;

use crate::common::{settings, tree, write};

const BRANCH: &str = "refit/1/1-x";

/// Opens a request and merges it, or goes on with what is there.
fn work(location: &str, environment: &GitRepository) {
    let git = refit_forge::Git::open(location, &settings(environment)).unwrap();
    let forge = BuiltIn::new(&git);
    let base = git.base(None).unwrap();
    if base.commit.to_string() == fs::read_to_string(Path::new(location).join(".git/began")).unwrap() {
        let changes = [write("apps/a.yaml", "a: 2\n"), write("new/b.yaml", "b: 1\n")];
        let head = git
            .commit(&base.commit, &changes, "Change\n\nRefit-Upgrade: 1\n")
            .unwrap();
        git.publish(BRANCH, Some(&head), git.branch(BRANCH).unwrap().as_ref())
            .unwrap();
        let draft = Draft {
            title: "Change".to_owned(),
            body: "text".to_owned(),
            branch: BRANCH.to_owned(),
            base: base.branch,
            head,
            state: RequestState::Open,
        };
        forge.open(&draft).unwrap();
    }
    let request = forge.list().unwrap().remove(0);
    forge.merge(request.number, &request.head).unwrap();
}

/// Finds the real program, and makes one of the same name that kills its caller at the n-th start.
fn wrapper(directory: &Path) {
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path)
        .map(|place| place.join("git"))
        .find(|file| file.is_file())
        .unwrap();
    let count = directory.join("count");
    let (count, real) = (count.display(), real.display());
    let script = format!(
        "#!/bin/sh\nn=$(($(cat '{count}') - 1))\necho $n > '{count}'\n\
         if [ $n -eq 0 ]; then kill -9 $PPID; exit 1; fi\nexec '{real}' \"$@\"\n"
    );
    fs::write(directory.join("git"), script).unwrap();
    assert!(
        Command::new("chmod")
            .arg("+x")
            .arg(directory.join("git"))
            .status()
            .unwrap()
            .success()
    );
}

#[cfg(unix)]
#[test]
fn a_kill_before_any_start_of_git_leaves_nothing_half_written() {
    let environment = GitRepository::empty();
    if let Ok(location) = std::env::var("REFIT_TEST_KILL") {
        return work(&location, &environment);
    }
    let programs = tempfile::tempdir().unwrap();
    wrapper(programs.path());
    let path = std::env::var("PATH").unwrap();
    let mut kills = 0;
    for start in 1.. {
        let repository = GitRepository::of_tree(&tree(&[("apps/a.yaml", "a: 1\n"), ("keep", "")]));
        let began = repository.git(&["rev-parse", "HEAD"]);
        fs::write(repository.path().join(".git/began"), &began).unwrap();
        // The empty repository of the child starts git once, and so does not count.
        fs::write(programs.path().join("count"), (start + 1).to_string()).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "kill::a_kill_before_any_start_of_git_leaves_nothing_half_written",
            ])
            .env("REFIT_TEST_KILL", repository.path())
            // What the killed child leaves goes with the folder.
            .env("TMPDIR", programs.path())
            .env("PATH", format!("{}:{path}", programs.path().display()))
            .output()
            .unwrap();
        repository.git(&["fsck", "--strict", "--no-dangling"]);
        assert_eq!(repository.git(&["status", "--porcelain"]), "", "start {start}");
        let branches = repository.git(&["for-each-ref", "--format=%(refname) %(subject)", "refs/heads"]);
        let seen: Vec<_> = branches.lines().collect();
        let (new, old) = ("refs/heads/refit/1/1-x Change", "refs/heads/main Begin");
        assert!(
            matches!(
                seen.as_slice(),
                ["refs/heads/main Change"] | ["refs/heads/main Change", _]
            ) || seen == [old]
                || seen == [old, new],
            "start {start}: {seen:?}"
        );
        work(&repository.location(), &environment);
        assert_eq!(repository.git(&["log", "--format=%s", "main"]), "Change\nBegin");
        assert_eq!(
            repository.git(&["for-each-ref", "--format=%(refname)", "refs/refit"]),
            "refs/refit/requests/1"
        );
        assert_eq!(
            fs::read_to_string(repository.path().join("apps/a.yaml")).unwrap(),
            "a: 2\n"
        );
        if child.status.success() {
            break;
        }
        kills += 1;
    }
    assert!(kills > 15, "{kills} kills are too few to have met every start");
}
