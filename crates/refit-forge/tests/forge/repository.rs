//! What Git repositories hold beside plain files, and what must not change how they are read and written.

use std::fs;
use std::process::Command;

use crate::common::{child, open, settings, tree, write};
use refit_engine::ports::{Change, Draft, Forge, ListedKind, Repository, RequestState};
use refit_forge::{BuiltIn, Git, Settings};
use refit_manifest::Entry;
use refit_testkit::git::GitRepository;
use refit_testkit::memory::Memory;

fn small() -> GitRepository {
    GitRepository::of_tree(&tree(&[("a.yaml", "a: 1\n")]))
}

fn paths(git: &Git) -> Vec<(String, ListedKind, bool)> {
    let listed = git.list(&git.base(None).unwrap().commit).unwrap();
    listed
        .into_iter()
        .map(|one| (one.path.to_string(), one.kind, one.filtered))
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_left_out_and_survives_a_commit() {
    use std::os::unix::ffi::OsStrExt;
    let repository = small();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.yaml");
    fs::write(repository.path().join(name), "x").unwrap();
    fs::create_dir(repository.path().join(std::ffi::OsStr::from_bytes(b"\xff"))).unwrap();
    repository.commit(&tree(&[("dir/b", "")]), "More");
    let git = open(&repository);
    let seen: Vec<_> = paths(&git).into_iter().map(|(path, ..)| path).collect();
    assert_eq!(seen, ["a.yaml", "dir/b"]);
    let next = child(&git);
    let listed = repository.git(&["-c", "core.quotePath=true", "ls-tree", "--name-only", &next.0]);
    assert_eq!(listed, "a.yaml\nadded\n\"caf\\351.yaml\"\ndir");
}

#[cfg(target_os = "linux")]
#[test]
fn a_commit_with_a_name_that_is_not_utf8_is_not_written_again_without_it() {
    use std::os::unix::ffi::OsStrExt;
    let repository = small();
    let git = open(&repository);
    let base = git.base(None).unwrap().commit;
    fs::write(repository.path().join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    repository.commit(&tree(&[("ok", "y\n")]), "Odd");
    let odd = git.base(None).unwrap().commit;
    let error = git.commit_again(&odd, &base, &[write("ok", "y\n")]).unwrap_err();
    assert_eq!(error.kind, refit_engine::ports::PortErrorKind::NotReady);
    assert!(error.message.contains("`bad\\xff`"), "{error:?}");
    // Where the new parent has the file, nothing is lost.
    git.commit_again(&odd, &odd, &[]).unwrap();
}

#[test]
fn a_symbolic_reference_in_the_place_of_a_branch_is_replaced_and_what_it_points_to_stays() {
    let repository = small();
    repository.git(&["branch", "victim"]);
    repository.git(&["symbolic-ref", "refs/heads/refit/1/1-x", "refs/heads/victim"]);
    let git = open(&repository);
    let (base, next) = (git.base(None).unwrap().commit, child(&git));
    git.publish("refit/1/1-x", Some(&next), Some(&base)).unwrap();
    assert_eq!(repository.git(&["rev-parse", "victim"]), base.to_string());
    assert_eq!(git.branch("refit/1/1-x").unwrap(), Some(next));
    repository.git(&["symbolic-ref", "refs/heads/refit/1/1-x", "refs/heads/victim"]);
    git.publish("refit/1/1-x", None, Some(&base)).unwrap();
    assert_eq!(repository.git(&["rev-parse", "victim"]), base.to_string());
    assert_eq!(git.branch("refit/1/1-x").unwrap(), None);
}

#[test]
fn submodules_and_links_are_listed_as_such_and_survive_a_commit() {
    let repository = small();
    let id = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&[
        "update-index",
        "--add",
        "--cacheinfo",
        &format!("160000,{id},modules/sub"),
    ]);
    repository.git(&["commit", "--quiet", "--message=Add a submodule"]);
    repository.write(&[("link".into(), Entry::Link("../out".into()))].into_iter().collect());
    repository.git(&["add", "link"]);
    repository.git(&["commit", "--quiet", "--message=Add a link"]);
    let git = open(&repository);
    let expected = [
        ("a.yaml".to_owned(), ListedKind::File, false),
        ("link".to_owned(), ListedKind::Link, false),
        ("modules/sub".to_owned(), ListedKind::Submodule, false),
    ];
    assert_eq!(paths(&git), expected);
    let base = git.base(None).unwrap();
    let next = git.commit(&base.commit, &[write("modules/x", "")], "x\n").unwrap();
    assert_eq!(
        repository.git(&["ls-tree", "-r", &next.0, "modules/sub"]),
        format!("160000 commit {id}\tmodules/sub")
    );
    let below = git.commit(&base.commit, &[write("modules/sub/x", "")], "x\n");
    assert!(below.unwrap_err().message.contains("not a directory"));
}

#[test]
fn settings_for_line_ends_change_no_byte() {
    let repository = GitRepository::of_tree(&tree(&[("a", "one\ntwo\n")]));
    repository.git(&["config", "core.autocrlf", "true"]);
    repository.git(&["config", "core.eol", "crlf"]);
    fs::write(
        repository.path().join(".git/info/attributes"),
        "* text=auto eol=crlf ident\n",
    )
    .unwrap();
    let git = open(&repository);
    let base = git.base(None).unwrap();
    let text = "mixed\r\nlines\n$Id$\n";
    let next = git.commit(&base.commit, &[write("b", text)], "x\n").unwrap();
    let read = |path: &str| {
        let listed = git.list(&next).unwrap();
        git.read(&listed.iter().find(|one| one.path.as_str() == path).unwrap().blob)
            .unwrap()
    };
    assert_eq!(&*read("b"), text.as_bytes());
    assert_eq!(&*read("a"), b"one\ntwo\n");
}

#[test]
fn files_with_a_filter_are_marked() {
    let attributes = "*.bin filter=lfs diff=lfs -text\nkeep.bin -filter\n";
    let files = [
        ("x.bin", ""),
        ("keep.bin", ""),
        ("a b\n.yaml", ""),
        (".gitattributes", attributes),
    ];
    let repository = GitRepository::of_tree(&tree(&files));
    repository.commit(
        &tree(&[("secret/.gitattributes", "* filter=git-crypt"), ("secret/k", "")]),
        "More",
    );
    let filtered = |git: &Git| {
        let marked = paths(git).into_iter().filter(|(.., filtered)| *filtered);
        marked.map(|(path, ..)| path).collect::<Vec<_>>()
    };
    let expected = ["secret/.gitattributes", "secret/k", "x.bin"];
    assert_eq!(filtered(&open(&repository)), expected);
    // What is checked out, or a bare repository, does not matter.
    repository.git(&["rm", "--quiet", "-r", "--cached", "."]);
    fs::remove_file(repository.path().join(".gitattributes")).unwrap();
    assert_eq!(filtered(&open(&repository)), expected);
    assert_eq!(filtered(&open(&repository.bare())), expected);
    let inside = small();
    fs::write(inside.path().join(".git/info/attributes"), "*.yaml filter=x\n").unwrap();
    assert_eq!(filtered(&open(&inside)), ["a.yaml"]);
}

#[test]
fn variables_of_a_hook_do_not_mislead() {
    let (right, wrong) = (small(), GitRepository::of_tree(&tree(&[("wrong", "")])));
    // A process of its own, since variables of this one are shared by all tests.
    if std::env::var_os("REFIT_TEST_LOCATION").is_none() {
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "repository::variables_of_a_hook_do_not_mislead"])
            .env("REFIT_TEST_LOCATION", right.path())
            .env("GIT_DIR", wrong.path().join(".git"))
            .env("GIT_WORK_TREE", wrong.path())
            .env("GIT_INDEX_FILE", wrong.path().join(".git/index"))
            .env("GIT_OBJECT_DIRECTORY", wrong.path().join(".git/objects"))
            .env("GIT_PREFIX", "sub/")
            .env("GIT_NAMESPACE", "other")
            .output()
            .unwrap();
        assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
        assert_eq!(right.git(&["log", "-1", "--format=%s"]), "Add");
        assert_eq!(wrong.git(&["log", "--format=%s", "--all"]), "Begin");
        return;
    }
    let location = std::env::var("REFIT_TEST_LOCATION").unwrap();
    let git = Git::open(&location, &settings(&right)).unwrap();
    let base = git.base(None).unwrap();
    let next = child(&git);
    assert_eq!(paths(&git), [("a.yaml".to_owned(), ListedKind::File, false)]);
    git.fast_forward(&base, &next).unwrap();
}

#[test]
fn no_hook_of_the_repository_runs() {
    let remote = small();
    let clone = remote.clone_of();
    let trace = tempfile::tempdir().unwrap();
    let hooks = [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "pre-push",
        "post-merge",
        "reference-transaction",
    ];
    for repository in [&remote, &clone] {
        for hook in hooks.iter().chain(&["post-checkout", "post-index-change"]) {
            let file = repository.path().join(".git/hooks").join(hook);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(
                &file,
                format!("#!/bin/sh\ntouch '{}/{hook}'\nexit 1\n", trace.path().display()),
            )
            .unwrap();
            assert!(Command::new("chmod").arg("+x").arg(&file).status().unwrap().success());
        }
    }
    let here = open(&remote);
    let (base, next) = (here.base(None).unwrap(), child(&here));
    here.publish("refit/1/1-x", Some(&next), None).unwrap();
    here.put_note("x", Some(b"1"), None).unwrap();
    here.fast_forward(&base, &next).unwrap();
    assert_eq!(fs::read_dir(trace.path()).unwrap().count(), 0);
    // The hooks of the remote are the remote's; those of the clone do not run.
    for hook in hooks {
        fs::remove_file(remote.path().join(".git/hooks").join(hook)).unwrap();
    }
    let there = open(&clone);
    let next = child(&there);
    there.publish("refit/1/2-y", Some(&next), None).unwrap();
    assert_eq!(fs::read_dir(trace.path()).unwrap().count(), 0);
}

#[test]
fn a_commit_is_signed_where_the_user_signs() {
    let repository = small();
    let key = repository.path().join(".git/key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-f"])
        .arg(&key)
        .status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: ssh-keygen is not there");
        return;
    }
    let key = key.display().to_string();
    let allowed = format!("ada@example.org {}", fs::read_to_string(format!("{key}.pub")).unwrap());
    fs::write(repository.path().join(".git/allowed"), allowed).unwrap();
    for (name, value) in [
        ("commit.gpgSign", "true"),
        ("gpg.format", "ssh"),
        ("user.signingKey", key.as_str()),
        ("gpg.ssh.allowedSignersFile", ".git/allowed"),
    ] {
        repository.git(&["config", name, value]);
    }
    let git = open(&repository);
    let next = child(&git);
    repository.git(&["verify-commit", &next.0]);
    let message = git.commits_between(&git.base(None).unwrap().commit, &next).unwrap();
    assert_eq!((message[0].subject.as_str(), message[0].ours), ("Add", true));
    repository.git(&["config", "user.signingKey", "/nowhere/key"]);
    let base = git.base(None).unwrap();
    let error = open(&repository)
        .commit(&base.commit, &[write("x", "")], "x\n")
        .unwrap_err();
    assert!(
        error
            .remedy
            .as_deref()
            .is_some_and(|text| text.contains("user.signingKey")),
        "{error:?}"
    );
}

#[test]
fn a_message_is_taken_as_given() {
    let repository = small();
    let git = open(&repository);
    let base = git.base(None).unwrap();
    repository.git(&["config", "i18n.commitEncoding", "ISO-8859-1"]);
    let message = "Ünder\n\n# not a comment\n  indented  \n\n\nRefit-Upgrade: 1\n";
    let next = git.commit(&base.commit, &[], message).unwrap();
    let stored = repository.git(&["cat-file", "commit", &next.0]);
    assert!(stored.ends_with(message.trim_end()), "{stored}");
    assert!(!stored.contains("encoding"), "{stored}");
}

#[test]
fn many_files_are_written_at_once() {
    let repository = small();
    let git = open(&repository);
    let base = git.base(None).unwrap();
    let change = |number: usize| Change {
        path: format!("d{}/f{number}.yaml", number % 17).as_str().into(),
        entry: Some(Entry::file(
            format!("number: {number}\n").repeat(number + 1).into_bytes(),
        )),
    };
    let changes: Vec<_> = (0..400).map(change).collect();
    let next = git.commit(&base.commit, &changes, "Many\n").unwrap();
    let listed = git.list(&next).unwrap();
    assert_eq!(listed.len(), 401);
    let blobs: Vec<_> = listed.iter().map(|one| one.blob.clone()).cycle().take(1200).collect();
    let all = git.read_all(&blobs).unwrap();
    assert_eq!(
        (&all[0], &all[1199]),
        (&git.read(&blobs[0]).unwrap(), &git.read(&blobs[1199]).unwrap())
    );
    for change in &changes {
        let blob = &listed.iter().find(|one| one.path == change.path).unwrap().blob;
        assert_eq!(
            Some(&git.read(blob).unwrap()),
            change.entry.as_ref().and_then(Entry::bytes)
        );
    }
    repository.git(&["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn a_url_is_kept_as_a_bare_clone_and_used_again() {
    let remote = small();
    let cache = tempfile::tempdir().unwrap();
    let url = format!("file://{}", remote.location());
    let settings = Settings {
        cache: Some(cache.path().to_owned()),
        ..settings(&remote)
    };
    let git = Git::open(&url, &settings).unwrap();
    assert_eq!(git.location(), url);
    let base = git.base(None).unwrap();
    assert_eq!(base.branch, "main");
    let next = child(&git);
    git.publish("refit/1/1-x", Some(&next), None).unwrap();
    assert_eq!(remote.git(&["rev-parse", "refit/1/1-x"]), next.to_string());
    remote.commit(&tree(&[("b", "")]), "Later");
    let again = Git::open(&url, &settings).unwrap();
    let id = remote.git(&["rev-parse", "main"]);
    assert_eq!(again.base(None).unwrap().commit.to_string(), id);
    assert_eq!(fs::read_dir(cache.path().join("repositories")).unwrap().count(), 1);
    let none = Git::open(&url, &crate::common::settings(&remote)).unwrap_err();
    assert!(none.remedy.is_some_and(|text| text.contains("XDG_CACHE_HOME")));
}

#[test]
fn a_directory_inside_the_worktree_or_git_directory_opens_the_repository() {
    let repository = GitRepository::of_tree(&tree(&[("apps/a.yaml", "a: 1\n")]));
    let top = fs::canonicalize(repository.path()).unwrap().display().to_string();
    for inside in ["apps", ".git", ".git/refs"] {
        let location = repository.path().join(inside).display().to_string();
        let git = Git::open(&location, &settings(&repository)).unwrap();
        assert!(git.location().starts_with(&top), "{inside}: {}", git.location());
        assert_eq!(paths(&git), [("apps/a.yaml".to_owned(), ListedKind::File, false)]);
    }
}

#[test]
fn a_remote_by_a_relative_path_is_found_from_anywhere() {
    let remote = small();
    let clone = remote.clone_of();
    let relative = format!(
        "../../{}/work",
        remote.path().parent().unwrap().file_name().unwrap().to_str().unwrap()
    );
    clone.git(&["remote", "set-url", "origin", &relative]);
    assert_eq!(open(&clone).base(None).unwrap().branch, "main");
}

#[test]
fn the_default_branch_of_the_remote_is_asked_for_when_it_was_renamed() {
    let remote = small();
    let clone = remote.clone_of();
    remote.git(&["branch", "--move", "main", "trunk"]);
    assert_eq!(open(&clone).base(None).unwrap().branch, "trunk");
    clone.git(&["remote", "set-head", "origin", "--delete"]);
    assert_eq!(open(&clone).base(None).unwrap().branch, "trunk");
    assert_eq!(
        open(&clone).branch("main").unwrap(),
        None,
        "a branch that is gone there is gone here"
    );
}

#[test]
fn the_reflog_says_what_moved_a_branch() {
    let repository = small();
    let git = open(&repository);
    let (base, next) = (git.base(None).unwrap(), child(&git));
    git.publish("refit/1/1-x", Some(&next), None).unwrap();
    git.fast_forward(&base, &next).unwrap();
    assert_eq!(
        repository.git(&["reflog", "-1", "--format=%gs", "refit/1/1-x"]),
        "refit: publish"
    );
    let merged = repository.git(&["reflog", "-1", "--format=%gs", "main"]);
    assert!(merged.starts_with("refit request merge"), "{merged}");
}

#[test]
fn a_text_that_is_too_long_is_cut_with_a_notice() {
    let memory = Memory::new("main", &tree(&[("a", "")]));
    let base = memory.base(None).unwrap();
    let head = memory.commit(&base.commit, &[write("a", "b")], "x\n").unwrap();
    memory.publish("refit/1", Some(&head), None).unwrap();
    let mut draft = Draft {
        title: "t".to_owned(),
        body: "ü line\n".repeat(64 * 1024 / 8),
        branch: "refit/1".to_owned(),
        base: base.branch,
        head,
        state: RequestState::Open,
    };
    let whole = BuiltIn::new(&memory).open(&draft).unwrap();
    assert_eq!(whole.body, draft.body);
    draft.body.push_str("more\n");
    let cut = BuiltIn::new(&memory).open(&draft).unwrap();
    assert!(cut.body.len() <= 64 * 1024);
    assert!(
        cut.body.contains("ü line\n\n(cut here"),
        "{}",
        &cut.body[cut.body.len() - 120..]
    );
}
