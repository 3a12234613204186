//! Two writers of one branch: what one does between any two steps of the other.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use refit_engine::ports::{
    Base, BlobId, Change, CommitId, CommitSummary, Draft, Forge, History, Listed, Log, PortError, Repository,
    RequestState,
};
use refit_forge::BuiltIn;
use refit_manifest::{Entry, Path};
use refit_testkit::contract::start;
use refit_testkit::memory::Memory;

const BRANCH: &str = "refit/1234/1-flux";

/// A repository where something happens before a given step.
struct Between<'a> {
    repository: &'a Memory,
    steps_left: Cell<usize>,
    meanwhile: RefCell<Option<Box<dyn FnOnce() + 'a>>>,
}

impl Between<'_> {
    fn step(&self) -> &Memory {
        match self.steps_left.get() {
            0 => {
                if let Some(meanwhile) = self.meanwhile.take() {
                    meanwhile();
                }
            }
            left => self.steps_left.set(left - 1),
        }
        self.repository
    }
}

impl Repository for Between<'_> {
    fn location(&self) -> String {
        self.repository.location()
    }
    fn base(&self, wanted: Option<&str>) -> Result<Base, PortError> {
        self.step().base(wanted)
    }
    fn list(&self, commit: &CommitId) -> Result<Vec<Listed>, PortError> {
        self.step().list(commit)
    }
    fn read(&self, blob: &BlobId) -> Result<Arc<[u8]>, PortError> {
        self.step().read(blob)
    }
    fn history(&self, commit: &CommitId, path: &Path, limit: usize) -> Result<History, PortError> {
        self.step().history(commit, path, limit)
    }
    fn log(&self, commit: &CommitId, directory: &Path) -> Result<Log, PortError> {
        self.step().log(commit, directory)
    }
    fn commits_between(&self, from: &CommitId, to: &CommitId) -> Result<Vec<CommitSummary>, PortError> {
        self.step().commits_between(from, to)
    }
    fn commit(&self, parent: &CommitId, changes: &[Change], message: &str) -> Result<CommitId, PortError> {
        self.step().commit(parent, changes, message)
    }
    fn commit_again(&self, original: &CommitId, parent: &CommitId, changes: &[Change]) -> Result<CommitId, PortError> {
        self.step().commit_again(original, parent, changes)
    }
    fn person(&self) -> Result<String, PortError> {
        self.step().person()
    }
    fn branch(&self, name: &str) -> Result<Option<CommitId>, PortError> {
        self.step().branch(name)
    }
    fn branches(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.step().branches(prefix)
    }
    fn publish(&self, name: &str, new: Option<&CommitId>, expected: Option<&CommitId>) -> Result<(), PortError> {
        self.step().publish(name, new, expected)
    }
    fn note(&self, name: &str) -> Result<Option<Arc<[u8]>>, PortError> {
        self.step().note(name)
    }
    fn notes(&self, prefix: &str) -> Result<Vec<String>, PortError> {
        self.step().notes(prefix)
    }
    fn put_note(&self, name: &str, new: Option<&[u8]>, expected: Option<&[u8]>) -> Result<(), PortError> {
        self.step().put_note(name, new, expected)
    }
    fn fast_forward(&self, base: &Base, to: &CommitId) -> Result<(), PortError> {
        self.step().fast_forward(base, to)
    }
}

fn draft(title: &str, head: &CommitId) -> Draft {
    Draft {
        title: title.to_owned(),
        body: String::new(),
        branch: BRANCH.to_owned(),
        base: "main".to_owned(),
        head: head.clone(),
        state: RequestState::Open,
    }
}

/// Opens a request for a branch while another does, before a given step; `None` where there are fewer steps.
fn opened_with_another_before(step: usize) -> Option<Vec<(u64, String)>> {
    let memory = Memory::new("main", &start());
    let base = memory.base(None).unwrap();
    let change = Change {
        path: "said".into(),
        entry: Some(Entry::file(b"x".as_slice())),
    };
    let head = memory.commit(&base.commit, &[change], "Say x\n").unwrap();
    memory.publish(BRANCH, Some(&head), None).unwrap();
    let between = Between {
        repository: &memory,
        steps_left: Cell::new(step),
        meanwhile: RefCell::new(Some(Box::new(|| {
            BuiltIn::new(&memory).open(&draft("the other", &head)).unwrap();
        }))),
    };
    let number = BuiltIn::new(&between).open(&draft("one", &head)).unwrap().number;
    assert_eq!(number, 1, "before step {step}");
    if between.meanwhile.borrow().is_some() {
        return None;
    }
    let listed = BuiltIn::new(&memory).list().unwrap();
    Some(
        listed
            .into_iter()
            .map(|request| (request.number, request.title))
            .collect(),
    )
}

#[test]
fn two_who_open_a_request_for_one_branch_get_the_same_one_whenever_the_other_comes() {
    let mut steps = 0;
    while let Some(requests) = opened_with_another_before(steps) {
        assert_eq!(requests.len(), 1, "before step {steps}: {requests:?}");
        steps += 1;
    }
    assert!(steps >= 3, "only {steps} steps");
}
