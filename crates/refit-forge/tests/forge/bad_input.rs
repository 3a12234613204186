//! Repositories that cannot be used as they are: a clear answer, the right kind, a remedy, and nothing written.

use std::fs;
use std::process::Command;

use crate::common::{check, child, open, settings, tree, write};
use refit_engine::ports::PortErrorKind::{Corrupt, Dirty, Forbidden, Moved, NotFound, Other};
use refit_engine::ports::{Draft, Forge, Repository, RequestState};
use refit_forge::{BuiltIn, Git, Protocols, Settings};
use refit_testkit::git::GitRepository;

fn small() -> GitRepository {
    GitRepository::of_tree(&tree(&[("a.yaml", "a: 1\n")]))
}

#[test]
fn a_directory_without_a_repository_is_not_found() {
    let directory = tempfile::tempdir().unwrap();
    let location = directory.path().display().to_string();
    check(
        Git::open(&location, &Settings::default()),
        NotFound,
        "is not in a git repository",
        "--repo",
    );
    let nowhere = format!("{location}/nowhere");
    check(Git::open(&nowhere, &Settings::default()), NotFound, "nowhere", "--repo");
    fs::write(&nowhere, "a file").unwrap();
    check(
        Git::open(&nowhere, &Settings::default()),
        NotFound,
        "not a directory",
        "directory",
    );
    check(
        Git::open("--upload-pack=x", &Settings::default()),
        NotFound,
        "--upload-pack=x",
        "./",
    );
}

#[test]
fn an_empty_repository_says_that_it_has_no_commit() {
    let empty = GitRepository::empty();
    check(open(&empty).base(None), NotFound, "has no commit yet", "commit");
    check(
        open(&empty.clone_of()).base(None),
        NotFound,
        "no default branch",
        "--base",
    );
    check(
        open(&empty.clone_of()).base(Some("main")),
        NotFound,
        "no branch `main`",
        "--base",
    );
}

#[test]
fn a_detached_head_needs_a_branch_only_without_a_remote() {
    let repository = small();
    let clone = repository.clone_of();
    repository.git(&["switch", "--quiet", "--detach"]);
    clone.git(&["switch", "--quiet", "--detach"]);
    check(open(&repository).base(None), NotFound, "is on no branch", "--base");
    assert_eq!(open(&repository).base(Some("main")).unwrap().branch, "main");
    assert_eq!(open(&clone).base(None).unwrap().branch, "main");
}

#[test]
fn names_of_branches_are_never_options() {
    let repository = small();
    let git = open(&repository);
    check(git.base(Some("--all")), NotFound, "`--all`", "main");
    check(git.base(Some("main:main")), NotFound, "`main:main`", "main");
    let clone = repository.clone_of();
    check(open(&clone).base(Some("-x")), NotFound, "`-x`", "main");
}

#[test]
fn a_name_that_ends_like_a_commit_is_not_taken_for_one() {
    let repository = small();
    let git = open(&repository);
    let commit = git.base(None).unwrap().commit;
    let name = format!("refit/1/1-g{}", &commit.0[..10]);
    assert_eq!(git.branch(&name).unwrap(), None);
    assert_eq!(git.note(&name).unwrap(), None);
    git.publish(&name, Some(&commit), None).unwrap();
    assert_eq!(git.branch(&name).unwrap(), Some(commit));
}

#[test]
fn a_shallow_clone_says_that_its_history_is_cut() {
    let repository = small();
    repository.commit(&tree(&[("a.yaml", "a: 2\n")]), "Two");
    repository.commit(&tree(&[("b.yaml", "b: 1\n")]), "Three");
    let cut = repository.shallow();
    let shallow = open(&cut);
    let commit = shallow.base(None).unwrap().commit;
    let history = shallow.history(&commit, &"a.yaml".into(), 10).unwrap();
    assert_eq!((history.contents.len(), history.cut), (1, true));
    let whole = open(&repository).history(&commit, &"a.yaml".into(), 10).unwrap();
    assert_eq!((whole.contents.len(), whole.cut), (2, false));
    let limited = open(&repository).history(&commit, &"a.yaml".into(), 1).unwrap();
    assert_eq!((limited.contents.len(), limited.cut), (1, false));
    let next = child(&shallow);
    shallow.publish("refit/1/1-x", Some(&next), None).unwrap();
    assert_eq!(repository.git(&["rev-parse", "refit/1/1-x"]), next.to_string());
}

#[test]
fn a_dirty_worktree_is_left_alone() {
    let repository = small();
    let git = open(&repository);
    let (base, next) = (git.base(None).unwrap(), child(&git));
    repository.write(&tree(&[("a.yaml", "a: mine\n")]));
    check(
        git.fast_forward(&base, &next),
        Dirty,
        "not committed",
        "merge --ff-only",
    );
    assert_eq!(git.base(None).unwrap(), base);
    repository.git(&["add", "a.yaml"]);
    check(
        git.fast_forward(&base, &next),
        Dirty,
        "not committed",
        "merge --ff-only",
    );
    repository.git(&["reset", "--quiet", "--hard"]);
    repository.write(&tree(&[("added", "not known to git\n")]));
    check(
        git.fast_forward(&base, &next),
        Dirty,
        "does not know",
        "stash --include-untracked",
    );
    assert_eq!(
        fs::read_to_string(repository.path().join("added")).unwrap(),
        "not known to git\n"
    );
    fs::remove_file(repository.path().join("added")).unwrap();
    repository.write(&tree(&[("untracked", "x")]));
    git.fast_forward(&base, &next).unwrap();
    assert_eq!(fs::read_to_string(repository.path().join("added")).unwrap(), "1\n");
    assert_eq!(repository.git(&["status", "--porcelain"]), "?? untracked");
}

#[test]
fn a_file_that_git_ignores_is_not_overwritten_by_a_merge() {
    let repository = small();
    repository.commit(&tree(&[(".gitignore", "added\n")]), "Ignore");
    let git = open(&repository);
    let (base, next) = (git.base(None).unwrap(), child(&git));
    repository.write(&tree(&[("added", "mine\n")]));
    check(
        git.fast_forward(&base, &next),
        Dirty,
        "does not know",
        "--no-overwrite-ignore",
    );
    let kept = fs::read_to_string(repository.path().join("added")).unwrap();
    assert_eq!((kept.as_str(), git.base(None).unwrap()), ("mine\n", base));
}

#[test]
fn a_request_with_the_largest_number_is_an_error_with_a_remedy() {
    let repository = small();
    let git = open(&repository);
    let forge = BuiltIn::new(&git);
    let head = child(&git);
    git.publish("refit/1/1-x", Some(&head), None).unwrap();
    let draft = |branch: &str| Draft {
        title: "Change".to_owned(),
        body: String::new(),
        branch: branch.to_owned(),
        base: "main".to_owned(),
        head: head.clone(),
        state: RequestState::Open,
    };
    forge.open(&draft("refit/1/1-x")).unwrap();
    let largest = format!("refs/refit/requests/{}", u64::MAX);
    repository.git(&["update-ref", &largest, "refs/refit/requests/1"]);
    git.publish("refit/2/1-x", Some(&head), None).unwrap();
    check(
        forge.open(&draft("refit/2/1-x")),
        Corrupt,
        "no number is left",
        &largest,
    );
}

#[test]
fn a_merge_that_was_cut_before_it_moved_the_branch_goes_on() {
    let repository = small();
    let git = open(&repository);
    let (base, next) = (git.base(None).unwrap(), child(&git));
    let lock = repository.path().join(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    check(git.fast_forward(&base, &next), Other, "could not merge", "lock file");
    assert_eq!(git.base(None).unwrap(), base);
    assert!(!repository.git(&["status", "--porcelain"]).is_empty());
    fs::remove_file(&lock).unwrap();
    repository.write(&tree(&[("a.yaml", "a: mine\n")]));
    check(git.fast_forward(&base, &next), Dirty, "not committed", "--ff-only");
    repository.write(&tree(&[("a.yaml", "a: 1\n")]));
    git.fast_forward(&base, &next).unwrap();
    assert_eq!(git.base(None).unwrap().commit, next);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_branch_that_is_checked_out_is_not_moved_below_the_worktree() {
    let repository = small();
    let git = open(&repository);
    let next = child(&git);
    git.publish("refit/1/1-x", Some(&next), None).unwrap();
    repository.git(&["switch", "--quiet", "refit/1/1-x"]);
    let newer = git.commit(&next, &[write("b", "")], "b\n").unwrap();
    check(
        git.publish("refit/1/1-x", Some(&newer), Some(&next)),
        Dirty,
        "checked out",
        "switch --detach",
    );
    check(
        git.publish("refit/1/1-x", None, Some(&next)),
        Dirty,
        "checked out",
        "switch --detach",
    );
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_missing_identity_names_the_two_settings() {
    let repository = small();
    let mut settings = settings(&repository);
    settings
        .environment
        .retain(|(name, _)| name.to_string_lossy().starts_with("GIT_CONFIG"));
    settings.environment.push(("EMAIL".into(), "".into()));
    let git = Git::open(&repository.location(), &settings).unwrap();
    let base = git.base(None).unwrap();
    let remedy = "git config --global user.email";
    check(
        git.commit(&base.commit, &[write("x", "")], "x\n"),
        Other,
        "could not write a commit",
        remedy,
    );
    repository.git(&["config", "user.name", "Grace"]);
    repository.git(&["config", "user.email", "grace@example.org"]);
    let git = Git::open(&repository.location(), &settings).unwrap();
    let commit = git.commit(&base.commit, &[write("x", "")], "x\n").unwrap();
    assert_eq!(
        repository.git(&["show", "-s", "--format=%an %ae %cn", &commit.0]),
        "Grace grace@example.org Grace"
    );
}

/// Makes a directory read-only, also for root; undone at the end.
struct ReadOnly(GitRepository);

impl ReadOnly {
    fn make(repository: GitRepository) -> Option<Self> {
        let made = Self(repository);
        let done = made.change("+i") && fs::write(made.0.path().join("probe"), "").is_err();
        done.then_some(made)
    }

    fn change(&self, flag: &str) -> bool {
        let run = |program: &str, arguments: &[&str]| {
            let done = Command::new(program).args(arguments).arg(self.0.path()).output();
            done.is_ok_and(|output| output.status.success())
        };
        run("chattr", &["-R", flag]) || run("chmod", &["-R", if flag == "+i" { "a-w" } else { "u+w" }])
    }
}

impl Drop for ReadOnly {
    fn drop(&mut self) {
        self.change("-i");
    }
}

#[test]
fn a_repository_that_must_not_be_written_is_read_all_the_same() {
    let Some(repository) = ReadOnly::make(small()) else {
        println!("skipped: no directory can be made read-only here");
        return;
    };
    let git = open(&repository.0);
    let base = git.base(None).unwrap();
    assert_eq!(git.list(&base.commit).unwrap().len(), 1);
    check(
        git.commit(&base.commit, &[write("x", "")], "x\n"),
        Forbidden,
        "could not write",
        "may write",
    );
    check(
        git.put_note("x", Some(b"x"), None),
        Forbidden,
        "could not write",
        "may write",
    );
    check(
        git.publish("refit/x", Some(&base.commit), None),
        Forbidden,
        "could not move",
        "may write",
    );
    assert_eq!(git.branch("refit/x").unwrap(), None);
}

#[test]
fn a_damaged_object_is_named() {
    let repository = small();
    let blob = repository.git(&["rev-parse", "HEAD:a.yaml"]);
    let file = repository
        .path()
        .join(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    fs::remove_file(&file).unwrap();
    fs::write(&file, "garbage").unwrap();
    let git = open(&repository);
    let base = git.base(None).unwrap();
    check(
        git.read(&refit_engine::ports::BlobId(blob.as_str().into())),
        Corrupt,
        &blob,
        "git fsck",
    );
    // The process that reads has ended at it; the next read starts another one.
    assert_eq!(git.base(None).unwrap(), base);
    let commit = &*base.commit.0;
    let file = repository
        .path()
        .join(format!(".git/objects/{}/{}", &commit[..2], &commit[2..]));
    fs::remove_file(&file).unwrap();
    fs::write(&file, "garbage").unwrap();
    check(open(&repository).base(None), Corrupt, "refs/heads/main", "git fsck");
}

#[test]
fn a_damaged_note_of_a_request_is_named() {
    let repository = small();
    let git = open(&repository);
    let forge = BuiltIn::new(&git);
    git.put_note("requests/3", Some(b"{"), None).unwrap();
    check(forge.list(), Corrupt, "request 3", "refs/refit/requests/3");
    git.put_note("requests/3", Some(br#"{"version":2}"#), Some(b"{"))
        .unwrap();
    check(forge.list(), Corrupt, "request 3", "");
    repository.git(&["update-ref", "refs/refit/requests/3", "HEAD"]);
    check(forge.list(), Corrupt, "requests/3", "git show");
}

#[test]
fn a_lock_that_a_killed_process_left_is_named() {
    let repository = small();
    let git = open(&repository);
    let base = git.base(None).unwrap();
    let lock = repository.path().join(".git/refs/heads/refit");
    fs::create_dir_all(&lock).unwrap();
    fs::write(lock.join("x.lock"), "").unwrap();
    check(
        git.publish("refit/x", Some(&base.commit), None),
        Other,
        "could not move",
        "lock file",
    );
    repository.git(&["branch", "other"]);
    check(
        git.publish("other/x", Some(&base.commit), None),
        Other,
        "could not move",
        "rename",
    );
}

#[test]
fn a_remote_that_refuses_or_is_gone_is_named_without_credentials() {
    let remote = small().bare();
    let clone = remote.clone_of();
    let hook = remote.path().join("hooks/pre-receive");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&hook).status().unwrap().success());
    let git = open(&clone);
    let next = child(&git);
    check(
        git.publish("refit/x", Some(&next), None),
        Forbidden,
        "remote `origin`",
        "right to push",
    );
    clone.git(&["remote", "set-url", "origin", "https://me:s3cret@127.0.0.1:1/x.git"]);
    let error = open(&clone).base(None).unwrap_err();
    let cause = error.source.as_ref().unwrap().to_string();
    assert!(cause.contains("https://127.0.0.1:1/x.git"), "{cause}");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    clone.git(&["remote", "set-url", "origin", "ext::sh -c true"]);
    check(open(&clone).base(None), Forbidden, "remote `origin`", "https or ssh");
}

#[test]
fn several_remotes_need_a_choice_unless_git_made_one() {
    let repository = small();
    let url = repository.location();
    repository.git(&["remote", "add", "one", &url]);
    repository.git(&["remote", "add", "two", &url]);
    check(
        Git::open(&url, &settings(&repository)),
        NotFound,
        "`one`, `two`",
        "--set-upstream-to",
    );
    let chosen = Settings {
        remote: Some("two".to_owned()),
        ..settings(&repository)
    };
    assert!(Git::open(&url, &chosen).unwrap().base(None).is_ok());
    let wrong = Settings {
        remote: Some("three".to_owned()),
        ..settings(&repository)
    };
    check(Git::open(&url, &wrong), NotFound, "`three`", "git remote");
    repository.git(&["fetch", "--quiet", "one"]);
    repository.git(&["branch", "--quiet", "--set-upstream-to=one/main"]);
    open(&repository)
        .publish("refit/x", Some(&open(&repository).base(None).unwrap().commit), None)
        .unwrap();
    assert!(repository.git(&["rev-parse", "refs/remotes/one/refit/x"]).len() >= 40);
}

#[test]
fn a_local_path_is_refused_where_only_the_network_is_allowed() {
    let repository = small();
    let network = Settings {
        protocols: Protocols::NetworkOnly,
        cache: Some(repository.path()),
        ..settings(&repository)
    };
    let location = repository.location();
    check(Git::open(&location, &network), Forbidden, "local path", "https");
    check(
        Git::open(&format!("file://{location}"), &network),
        Forbidden,
        "local path",
        "https",
    );
}

#[test]
fn a_target_of_a_remote_that_moved_is_told() {
    let remote = small();
    let clone = remote.clone_of();
    let git = open(&clone);
    let (base, next) = (git.base(None).unwrap(), child(&git));
    remote.commit(&tree(&[("b", "")]), "Somebody else");
    remote.git(&["switch", "--quiet", "--detach"]);
    check(git.fast_forward(&base, &next), Moved, "branch `main`", "again");
    assert_ne!(git.base(None).unwrap().commit, base.commit);
}
