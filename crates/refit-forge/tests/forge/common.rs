//! What the tests of this crate share.

use refit_engine::ports::{Change, CommitId, PortError, PortErrorKind, Repository};
use refit_forge::{Git, Settings};
use refit_manifest::{Entry, Tree};
use refit_testkit::git::GitRepository;

/// Gives settings that keep the machine's configuration away.
pub(crate) fn settings(repository: &GitRepository) -> Settings {
    Settings {
        environment: repository.environment(),
        ..Settings::default()
    }
}

/// Opens a repository.
pub(crate) fn open(repository: &GitRepository) -> Git {
    Git::open(&repository.location(), &settings(repository)).unwrap()
}

/// Makes a tree of text files.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let file = |(path, text): &(&str, &str)| ((*path).into(), Entry::file(text.as_bytes()));
    files.iter().map(file).collect()
}

/// Makes a change that writes a file.
pub(crate) fn write(path: &str, text: &str) -> Change {
    Change {
        path: path.into(),
        entry: Some(Entry::file(text.as_bytes())),
    }
}

/// Writes a commit on top of the target branch.
pub(crate) fn child(git: &Git) -> CommitId {
    let base = git.base(None).unwrap();
    git.commit(&base.commit, &[write("added", "1\n")], "Add\n\nRefit-Upgrade: 1\n")
        .unwrap()
}

/// Checks kind, message and remedy of an error.
pub(crate) fn check<T: std::fmt::Debug>(
    answer: Result<T, PortError>,
    kind: PortErrorKind,
    message: &str,
    remedy: &str,
) {
    let error = answer.unwrap_err();
    assert_eq!(error.kind, kind, "{error:?}");
    assert!(error.message.contains(message), "{error:?}");
    assert!(
        error.remedy.as_deref().unwrap_or_default().contains(remedy),
        "{error:?}"
    );
}
