//! Real Git repositories of all kinds, and the built-in forge in them, keep the contracts of their ports.

use refit_engine::ports::{Forge, Repository};
use refit_forge::{BuiltIn, Git};
use refit_testkit::contract::{Place, forge, forge::Site, repository, start};
use refit_testkit::git::GitRepository;
use refit_testkit::memory::Memory;

use crate::common::open;

/// A repository to open, and the one that is its remote.
struct OnDisk(GitRepository, Option<GitRepository>);

impl OnDisk {
    fn worktree() -> Self {
        Self(GitRepository::of_tree(&start()), None)
    }

    fn bare() -> Self {
        let bare = GitRepository::of_tree(&start()).bare();
        bare.git(&["remote", "remove", "origin"]);
        Self(bare, None)
    }

    fn sha256() -> Self {
        let made = GitRepository::with_arguments(&["--object-format=sha256"]);
        made.commit(&start(), "Begin");
        Self(made, None)
    }

    fn linked_worktree_elsewhere() -> Self {
        let made = GitRepository::of_tree(&start());
        made.git(&["switch", "--quiet", "--create", "other"]);
        made.git(&["worktree", "add", "--quiet", "../linked", "main"]);
        made.git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
        Self(made, None)
    }

    fn with_remote() -> Self {
        let remote = GitRepository::of_tree(&start()).bare();
        Self(remote.clone_of(), Some(remote))
    }

    fn git(&self) -> Git {
        open(&self.0)
    }
}

impl Place for OnDisk {
    fn open(&self) -> Box<dyn Repository + Send> {
        Box::new(self.git())
    }
}

impl Site for OnDisk {
    fn with_forge(&self, check: &dyn Fn(&dyn Forge)) {
        check(&BuiltIn::new(&self.git()));
    }
}

#[test]
fn a_repository_with_a_worktree_keeps_the_contract() {
    repository::check(&|| Box::new(OnDisk::worktree()));
}

#[test]
fn a_bare_repository_keeps_the_contract() {
    repository::check(&|| Box::new(OnDisk::bare()));
}

#[test]
fn a_repository_with_sha256_keeps_the_contract() {
    repository::check(&|| Box::new(OnDisk::sha256()));
}

#[test]
fn a_repository_whose_target_is_in_another_worktree_keeps_the_contract() {
    repository::check(&|| Box::new(OnDisk::linked_worktree_elsewhere()));
}

#[test]
fn the_built_in_forge_in_a_worktree_keeps_the_contract() {
    forge::check(&|| Box::new(OnDisk::worktree()));
}

#[test]
fn the_built_in_forge_in_a_bare_repository_keeps_the_contract() {
    forge::check(&|| Box::new(OnDisk::bare()));
}

/// The two contracts against a remote: a place and the memory of what its local branches were.
struct LocalBranchesStay(OnDisk, String);

impl LocalBranchesStay {
    fn fresh() -> Self {
        let disk = OnDisk::with_remote();
        let local = Self::local(&disk);
        Self(disk, local)
    }

    fn local(disk: &OnDisk) -> String {
        let local = disk.0.git(&["for-each-ref", "refs/heads", "refs/refit"]);
        local + &disk.0.git(&["status", "--porcelain"])
    }
}

impl Drop for LocalBranchesStay {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(Self::local(&self.0), self.1);
            let there = self
                .0
                .1
                .as_ref()
                .map(|remote| remote.git(&["for-each-ref", "refs/remotes", "refs/refit-remote"]));
            assert_eq!(there.as_deref(), Some(""));
        }
    }
}

impl Place for LocalBranchesStay {
    fn open(&self) -> Box<dyn Repository + Send> {
        self.0.open()
    }
}

impl Site for LocalBranchesStay {
    fn with_forge(&self, check: &dyn Fn(&dyn Forge)) {
        self.0.with_forge(check);
    }
}

#[test]
fn a_repository_with_a_remote_keeps_the_contract_and_its_local_branches() {
    repository::check(&|| Box::new(LocalBranchesStay::fresh()));
}

#[test]
fn the_built_in_forge_with_a_remote_keeps_the_contract_and_the_local_branches() {
    forge::check(&|| Box::new(LocalBranchesStay::fresh()));
}

struct OverMemory(Memory);

impl Place for OverMemory {
    fn open(&self) -> Box<dyn Repository + Send> {
        Box::new(self.0.clone())
    }
}

impl Site for OverMemory {
    fn with_forge(&self, check: &dyn Fn(&dyn Forge)) {
        check(&BuiltIn::new(&self.0));
    }
}

#[test]
fn the_built_in_forge_over_the_repository_in_memory_keeps_the_contract() {
    forge::check(&|| Box::new(OverMemory(Memory::new("main", &start()))));
}
