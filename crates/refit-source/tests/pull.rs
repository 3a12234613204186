//! Releases written into a folder.

#![expect(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::fs;
use std::path::Path;

use refit_core::release::{Platform, Version};
use refit_engine::ports::{PortErrorKind, Releases};
use refit_source::{Directory, Pulled, Puller};
use refit_testkit::releases::{CONTRACT, MemoryReleases, check_contract};

fn puller(folder: &Path) -> Puller {
    Puller::open(folder, &Platform::flux()).unwrap()
}

fn version(text: &str) -> Version {
    Version::parse(text).unwrap()
}

#[test]
fn a_pulled_folder_keeps_the_contract_and_a_second_pull_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let releases = MemoryReleases::new(CONTRACT);
    for pulled in [Pulled::New, Pulled::Kept] {
        let puller = puller(folder.path());
        for text in ["v2.6.4", "v2.5.1"] {
            assert_eq!(puller.pull(&releases, &version(text)).unwrap(), pulled);
        }
        drop(puller);
        check_contract(&Directory::new(folder.path()));
    }
}

#[test]
fn what_a_cut_pull_left_is_removed_and_what_is_damaged_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("flux/.partial-x");
    fs::create_dir_all(&left).unwrap();
    let releases = MemoryReleases::new(CONTRACT);
    puller(folder.path()).pull(&releases, &version("v2.6.4")).unwrap();
    assert!(!left.exists());
    fs::write(folder.path().join("flux/v2.6.4/gotk-components.yaml"), "damaged").unwrap();
    let error = puller(folder.path()).pull(&releases, &version("v2.6.4")).unwrap_err();
    assert_eq!(error.kind, PortErrorKind::Corrupt);
    assert!(error.remedy.unwrap().starts_with("remove `"));
}

#[test]
fn pulls_at_once_take_turns_and_the_index_has_all() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for text in ["v2.6.4", "v2.5.1", "v2.6.4"] {
            let folder = folder.path();
            scope.spawn(move || {
                puller(folder)
                    .pull(&MemoryReleases::new(CONTRACT), &version(text))
                    .unwrap()
            });
        }
    });
    let index = fs::read_to_string(folder.path().join("flux/index.json")).unwrap();
    assert_eq!(index.matches("\"version\"").count(), 2, "{index}");
    check_contract(&Directory::new(folder.path()));
}

#[test]
fn what_is_not_byte_exact_stays_marked() {
    let folder = tempfile::tempdir().unwrap();
    puller(folder.path()).pull(&Inexact, &version("v2.6.4")).unwrap();
    let contents = Directory::new(folder.path()).contents("flux", "v2.6.4").unwrap();
    assert!(!contents[0].exact);
}

/// A source of contents that were made of another form.
struct Inexact;

impl Releases for Inexact {
    fn location(&self) -> String {
        "inexact".to_owned()
    }

    fn versions(&self, platform: &str) -> Result<Vec<String>, refit_engine::ports::PortError> {
        MemoryReleases::new(CONTRACT).versions(platform)
    }

    fn contents(
        &self,
        platform: &str,
        version: &str,
    ) -> Result<Vec<refit_engine::ports::Content>, refit_engine::ports::PortError> {
        let mut contents = MemoryReleases::new(CONTRACT).contents(platform, version)?;
        for content in &mut contents {
            content.exact = false;
        }
        Ok(contents)
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_stands_where_the_lock_belongs_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let victim = folder.path().join("victim");
    std::fs::write(&victim, "kept").unwrap();
    let base = folder.path().join("to");
    std::fs::create_dir_all(base.join("flux")).unwrap();
    let lock = base.join("flux/.lock");
    std::os::unix::fs::symlink(&victim, &lock).unwrap();
    let error = Puller::open(&base, &Platform::flux()).unwrap_err();
    assert_eq!(
        std::error::Error::source(&error).unwrap().to_string(),
        "it is a symbolic link"
    );
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "kept");
    std::fs::remove_file(&lock).unwrap();
    std::fs::write(&lock, "mine").unwrap();
    assert!(Puller::open(&base, &Platform::flux()).is_ok());
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "mine");
}
