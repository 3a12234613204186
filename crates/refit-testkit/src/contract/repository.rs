//! What every `Repository` must do.

use std::sync::Barrier;

use refit_engine::ports::{BlobId, Change, CommitId, PortError, PortErrorKind, Repository};
use refit_manifest::{Entry, Path};

use super::{Place, blob, child, content, head, listing, remove, write};

/// Runs all checks, each in a fresh place.
pub fn check(make: &dyn Fn() -> Box<dyn Place>) {
    let checks: [fn(&dyn Place); 14] = [
        the_base_is_found,
        the_start_is_listed_and_read,
        a_commit_changes_what_it_names_and_nothing_else,
        a_commit_removes_directories_that_become_empty,
        a_commit_is_refused_where_something_is_in_the_way,
        a_branch_moves_from_the_expected_value_only,
        a_note_moves_from_the_expected_content_only,
        of_two_writers_one_wins,
        the_history_of_a_path_is_newest_first,
        commits_are_summed_up,
        the_log_of_a_directory_is_newest_first,
        a_commit_is_written_again_for_its_author,
        the_target_moves_forward_only,
        what_is_not_there_is_not_found,
    ];
    for check in checks {
        check(&*make());
    }
}

fn kind<T: std::fmt::Debug>(answer: Result<T, PortError>) -> PortErrorKind {
    answer.expect_err("an error").kind
}

fn the_base_is_found(place: &dyn Place) {
    let repository = place.open();
    let base = repository.base(None).expect("a base");
    assert_eq!(base.branch, "main");
    assert_eq!(repository.base(Some("main")).expect("the same"), base);
    let error = repository.base(Some("nowhere")).expect_err("no such branch");
    assert_eq!(error.kind, PortErrorKind::NotFound);
    assert!(error.remedy.is_some_and(|remedy| remedy.contains("--base")));
    assert!(!repository.location().is_empty());
}

fn the_start_is_listed_and_read(place: &dyn Place) {
    let repository = place.open();
    let head = head(&*repository);
    let expected = [
        "executable 10 apps/deep/run.sh",
        "file 6 README.md",
        "file 6 apps/a.yaml",
        "link 11 link",
    ];
    assert_eq!(listing(&*repository, &head), expected);
    assert!(
        repository
            .list(&head)
            .expect("a listing")
            .iter()
            .all(|listed| !listed.filtered)
    );
    let below = |directory: &str| -> Vec<String> {
        let listed = repository.list_below(&head, directory).expect("a listing");
        listed.iter().map(|listed| listed.path.to_string()).collect()
    };
    assert_eq!(below("apps"), ["apps/a.yaml", "apps/deep/run.sh"]);
    assert_eq!(below("app"), Vec::<String>::new());
    assert_eq!(below(".refit"), Vec::<String>::new());
    assert_eq!(content(&*repository, &head, "apps/a.yaml"), b"a: 1\r\n");
    assert_eq!(content(&*repository, &head, "link"), b"apps/a.yaml");
    let two = ["link", "README.md", "link"].map(|path| blob(&*repository, &head, path));
    let contents = repository.read_all(&two).expect("blobs");
    assert_eq!(
        contents.iter().map(|one| &**one).collect::<Vec<_>>(),
        [&b"apps/a.yaml"[..], b"hello\n", b"apps/a.yaml"]
    );
    let nowhere = BlobId("0123456789012345678901234567890123456789".into());
    assert_eq!(
        kind(repository.read_all(&[two[0].clone(), nowhere])),
        PortErrorKind::NotFound
    );
    assert_eq!(content(&*repository, &head, "README.md"), b"hello\n");
}

fn a_commit_changes_what_it_names_and_nothing_else(place: &dyn Place) {
    let repository = place.open();
    let before = head(&*repository);
    let run = |path: &str| Change {
        path: path.into(),
        entry: Some(Entry::File {
            bytes: b"".as_slice().into(),
            executable: true,
        }),
    };
    let link = Change {
        path: "README.md".into(),
        entry: Some(Entry::Link("../else where".into())),
    };
    let changes = [
        write("apps/a.yaml", "a: 2\r\n"),
        write("with space/line\nbreak/ünï.yaml", "\0\u{1}data 9\n"),
        run("bin/run"),
        link,
        remove("never-there/x"),
    ];
    let after = repository.commit(&before, &changes, "Change much\n").expect("a commit");
    let expected = [
        "executable 0 bin/run",
        "executable 10 apps/deep/run.sh",
        "file 6 apps/a.yaml",
        "file 9 with space/line\nbreak/ünï.yaml",
        "link 11 link",
        "link 13 README.md",
    ];
    assert_eq!(listing(&*repository, &after), expected);
    assert_eq!(content(&*repository, &after, "apps/a.yaml"), b"a: 2\r\n");
    assert_eq!(
        content(&*repository, &after, "with space/line\nbreak/ünï.yaml"),
        b"\0\x01data 9\n"
    );
    let untouched = "apps/deep/run.sh";
    assert_eq!(
        blob(&*repository, &after, untouched),
        blob(&*repository, &before, untouched)
    );
    assert_eq!(head(&*place.open()), before, "nothing points to the commit");
}

fn a_commit_removes_directories_that_become_empty(place: &dyn Place) {
    let repository = place.open();
    let before = head(&*repository);
    let changes = [
        remove("apps/a.yaml"),
        remove("apps/deep/run.sh"),
        write("apps", "a file now\n"),
    ];
    let after = repository.commit(&before, &changes, "x").expect("a commit");
    assert_eq!(
        listing(&*repository, &after),
        ["file 11 apps", "file 6 README.md", "link 11 link"]
    );
    let changes = [remove("apps"), write("apps/b/c", "")];
    let back = repository.commit(&after, &changes, "x").expect("a commit");
    assert_eq!(
        listing(&*repository, &back),
        ["file 0 apps/b/c", "file 6 README.md", "link 11 link"]
    );
    let none = ["README.md", "link", "apps/b/c"].map(remove);
    let bare = repository.commit(&back, &none, "x").expect("a commit");
    assert!(listing(&*repository, &bare).is_empty());
}

fn a_commit_is_refused_where_something_is_in_the_way(place: &dyn Place) {
    let repository = place.open();
    let head = head(&*repository);
    for change in [
        write("README.md/below", ""),
        write("link/below", ""),
        write("apps/deep", ""),
        remove("apps/deep"),
        write("../outside", ""),
        write("/rooted", ""),
        write(".git/config", ""),
    ] {
        let path = change.path.clone();
        let answer = repository.commit(&head, &[change], "x");
        assert_eq!(kind(answer), PortErrorKind::Other, "{path}");
    }
}

fn a_branch_moves_from_the_expected_value_only(place: &dyn Place) {
    let repository = place.open();
    let name = "refit/1234/1-flux";
    let (one, other) = (child(&*repository, "one"), child(&*repository, "other"));
    let at = |expected: Option<&CommitId>| {
        assert_eq!(place.open().branch(name).expect("an answer").as_ref(), expected);
        assert_eq!(repository.branch(name).expect("an answer").as_ref(), expected);
    };
    let publish = |new, expected| repository.publish(name, new, expected);
    at(None);
    assert_eq!(kind(publish(Some(&one), Some(&other))), PortErrorKind::Moved);
    at(None);
    publish(Some(&one), None).expect("a new branch");
    at(Some(&one));
    publish(Some(&one), None).expect("a repeated effect");
    assert_eq!(kind(publish(Some(&other), None)), PortErrorKind::Moved);
    at(Some(&one));
    publish(Some(&other), Some(&one)).expect("a moved branch");
    at(Some(&other));
    repository
        .publish("refit/12345/1-flux", Some(&one), None)
        .expect("another branch");
    let all = ["refit/1234/1-flux", "refit/12345/1-flux"];
    assert_eq!(place.open().branches("refit/").expect("branches"), all);
    assert_eq!(repository.branches("refit/1234/").expect("branches"), all[..1]);
    assert_eq!(kind(publish(None, Some(&one))), PortErrorKind::Moved);
    at(Some(&other));
    publish(None, Some(&other)).expect("a removed branch");
    publish(None, Some(&other)).expect("a repeated effect");
    at(None);
}

fn a_note_moves_from_the_expected_content_only(place: &dyn Place) {
    let repository = place.open();
    let at = |expected: Option<&[u8]>| {
        let seen = place.open().note("requests/1").expect("an answer");
        assert_eq!(seen.as_deref(), expected);
        assert_eq!(repository.note("requests/1").expect("an answer").as_deref(), expected);
    };
    let put = |new, expected| repository.put_note("requests/1", new, expected);
    at(None);
    put(Some(b"one\n"), None).expect("a new note");
    at(Some(b"one\n"));
    put(Some(b"one\n"), None).expect("a repeated effect");
    assert_eq!(kind(put(Some(b"two"), None)), PortErrorKind::Moved);
    assert_eq!(kind(put(Some(b"two"), Some(b"other"))), PortErrorKind::Moved);
    at(Some(b"one\n"));
    put(Some(b""), Some(b"one\n")).expect("a changed note");
    at(Some(b""));
    repository
        .put_note("requests/12", Some(b"x"), None)
        .expect("another note");
    repository.put_note("other/1", Some(b"x"), None).expect("another note");
    let mut names = repository.notes("requests").expect("names");
    names.sort();
    assert_eq!(names, ["requests/1", "requests/12"]);
    assert_eq!(repository.notes("").expect("names").len(), 3);
    assert_eq!(kind(put(None, Some(b"x"))), PortErrorKind::Moved);
    put(None, Some(b"")).expect("a removed note");
    at(None);
}

fn of_two_writers_one_wins(place: &dyn Place) {
    let openers = [place.open(), place.open(), place.open(), place.open()];
    let barrier = Barrier::new(openers.len());
    let barrier = &barrier;
    let answers: Vec<_> = std::thread::scope(|scope| {
        let run = |(number, repository): (usize, Box<dyn Repository + Send>)| {
            scope.spawn(move || {
                let commit = child(&*repository, &format!("writer {number}"));
                let text = number.to_string();
                barrier.wait();
                let branch = repository.publish("refit/race", Some(&commit), None);
                let note = repository.put_note("race", Some(text.as_bytes()), None);
                (commit, text, branch, note)
            })
        };
        let threads: Vec<_> = openers.into_iter().enumerate().map(run).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("a writer"))
            .collect()
    });
    let last = place.open();
    let branch = last.branch("refit/race").expect("an answer").expect("a branch");
    let note = last.note("race").expect("an answer").expect("a note");
    for (commit, text, published, noted) in answers {
        match published {
            Ok(()) => assert_eq!(commit, branch),
            Err(error) => assert_eq!(
                (error.kind, commit == branch),
                (PortErrorKind::Moved, false),
                "{error:?}"
            ),
        }
        match noted {
            Ok(()) => assert_eq!(text.as_bytes(), &*note),
            Err(error) => assert_eq!((error.kind, text.as_bytes() == &*note), (PortErrorKind::Moved, false)),
        }
    }
}

fn the_history_of_a_path_is_newest_first(place: &dyn Place) {
    let repository = place.open();
    let path = Path::from("apps/a.yaml");
    let mut commits = vec![head(&*repository)];
    let mut go = |changes: &[Change]| {
        let next = repository
            .commit(commits.last().expect("one"), changes, "x")
            .expect("a commit");
        commits.push(next);
    };
    go(&[write("apps/a.yaml", "two")]);
    go(&[write("other", "x")]);
    go(&[remove("apps/a.yaml")]);
    go(&[write("apps/a.yaml", "two")]);
    let newest = commits.last().expect("one");
    let history = repository.history(newest, &path, 10).expect("a history");
    let contents: Vec<_> = history
        .contents
        .iter()
        .map(|past| {
            let text = String::from_utf8_lossy(&repository.read(&past.blob).expect("a blob")).into_owned();
            let at = commits
                .iter()
                .position(|commit| *commit == past.commit)
                .expect("one of ours");
            format!("{at} {text:?}")
        })
        .collect();
    assert_eq!(contents, ["4 \"two\"", "1 \"two\"", "0 \"a: 1\\r\\n\""]);
    assert!(!history.cut);
    assert_eq!(
        repository.history(newest, &path, 2).expect("a history").contents,
        history.contents[..2]
    );
    let none = repository.history(newest, &Path::from("apps"), 10).expect("a history");
    assert!(none.contents.is_empty(), "a directory has no contents");
}

fn commits_are_summed_up(place: &dyn Place) {
    let repository = place.open();
    let base = head(&*repository);
    let ours = repository
        .commit(
            &base,
            &[write("x", "1")],
            "Upgrade: flux\n\nLong text.\n\nSigned-off-by: A <a@b>\nRefit-Upgrade: 1\n",
        )
        .expect("a commit");
    let theirs = repository
        .commit(
            &ours,
            &[write("x", "2")],
            "Ünsubject\n\nRefit-Upgrade: not at the end\n\nNo.\n",
        )
        .expect("a commit");
    let listed = repository.commits_between(&base, &theirs).expect("commits");
    let seen: Vec<_> = listed
        .iter()
        .map(|one| (&one.id, one.subject.as_str(), one.ours))
        .collect();
    assert_eq!(seen, [(&theirs, "Ünsubject", false), (&ours, "Upgrade: flux", true)]);
    assert!(
        listed
            .iter()
            .all(|one| one.author.contains('<') && one.author.ends_with('>'))
    );
    assert!(repository.commits_between(&theirs, &base).expect("none").is_empty());
    assert!(repository.commits_between(&base, &base).expect("none").is_empty());
}

fn the_log_of_a_directory_is_newest_first(place: &dyn Place) {
    let repository = place.open();
    let first = head(&*repository);
    let mut newest = first.clone();
    let mut commits = vec![first.clone()];
    let mut go = |changes: &[Change], message: &str| {
        newest = repository.commit(&newest, changes, message).expect("a commit");
        commits.push(newest.clone());
    };
    go(
        &[write("log/a", "1"), write("log/deep/x", "1"), write("b", "1")],
        "One\n\nText.\n",
    );
    go(&[write("b", "2")], "Elsewhere\n");
    go(&[write("log/b", "2"), write("log/a", "2")], "Two\n");
    go(&[remove("log/a")], "Three\n");
    let log = repository.log(&newest, &Path::from("log")).expect("a log");
    assert!(!log.cut);
    let text = |blob: &Option<BlobId>| match blob {
        Some(blob) => String::from_utf8_lossy(&repository.read(blob).expect("a blob")).into_owned(),
        None => "-".to_owned(),
    };
    let seen: Vec<_> = log
        .changes
        .iter()
        .map(|one| {
            let subject = one.message.lines().next().unwrap_or_default();
            let (before, after) = (text(&one.before), text(&one.after));
            format!("{subject} {} {before} {after}", one.path)
        })
        .collect();
    assert_eq!(
        seen,
        ["Three log/a 2 -", "Two log/a 1 2", "Two log/b - 2", "One log/a - 1"]
    );
    let last = log.changes.last().expect("one");
    assert_eq!((&last.commit, last.parent.as_ref()), (&commits[1], Some(&first)));
    assert!(last.author.contains('<') && last.author.ends_with('>'));
    assert!(last.time.as_second() > 0);
    let none = repository.log(&newest, &Path::from("nowhere")).expect("a log");
    assert!(none.changes.is_empty());
}

fn a_commit_is_written_again_for_its_author(place: &dyn Place) {
    let repository = place.open();
    let base = head(&*repository);
    let original = repository
        .commit(&base, &[write("x", "1")], "By a person\n\nWith a reason.\n")
        .expect("a commit");
    let other = child(&*repository, "other");
    let again = repository
        .commit_again(&original, &other, &[write("x", "2")])
        .expect("a commit");
    assert_eq!(content(&*repository, &again, "x"), b"2");
    assert_eq!(content(&*repository, &again, "said"), b"other");
    let listed = repository.commits_between(&other, &again).expect("commits");
    let before = repository.commits_between(&base, &original).expect("commits");
    assert_eq!((listed.len(), &listed[0].id), (1, &again));
    assert_eq!(listed[0].parents, [other]);
    assert_eq!(
        (&listed[0].author, &listed[0].subject),
        (&before[0].author, &before[0].subject)
    );
    assert!(repository.person().expect("a person").contains('@'));
}

fn the_target_moves_forward_only(place: &dyn Place) {
    let repository = place.open();
    let base = repository.base(None).expect("a base");
    let (one, other) = (child(&*repository, "one"), child(&*repository, "other"));
    repository.fast_forward(&base, &base.commit).expect("nothing to do");
    repository.fast_forward(&base, &one).expect("a merge");
    assert_eq!(head(&*place.open()), one);
    repository.fast_forward(&base, &one).expect("a repeated effect");
    let error = repository.fast_forward(&base, &other).expect_err("the target moved");
    assert_eq!(error.kind, PortErrorKind::Moved, "{error:?}");
    let stale = repository.base(None).expect("a base");
    assert_eq!(kind(repository.fast_forward(&stale, &other)), PortErrorKind::Moved);
    assert_eq!(head(&*place.open()), one);
}

fn what_is_not_there_is_not_found(place: &dyn Place) {
    let repository = place.open();
    let head = head(&*repository);
    for id in ["0123456789012345678901234567890123456789", "--all", "main", ""] {
        let nowhere = CommitId(id.into());
        assert_eq!(kind(repository.list(&nowhere)), PortErrorKind::NotFound, "{id:?}");
        assert_eq!(kind(repository.commit(&nowhere, &[], "x")), PortErrorKind::NotFound);
        assert_eq!(
            kind(repository.history(&nowhere, &Path::from("x"), 1)),
            PortErrorKind::NotFound
        );
        assert_eq!(
            kind(repository.commits_between(&nowhere, &head)),
            PortErrorKind::NotFound
        );
        assert_eq!(
            kind(repository.log(&nowhere, &Path::from("x"))),
            PortErrorKind::NotFound
        );
        assert_eq!(
            kind(repository.commit_again(&nowhere, &head, &[])),
            PortErrorKind::NotFound
        );
        assert_eq!(kind(repository.read(&BlobId(id.into()))), PortErrorKind::NotFound);
        assert_eq!(
            kind(repository.publish("refit/x", Some(&nowhere), None)),
            PortErrorKind::NotFound
        );
    }
}
