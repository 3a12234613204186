//! A forge in memory, over the repository in memory.
//!
//! In: drafts of requests. Out: requests that clones of the value share. Knows no notes: its state is a list.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use refit_engine::merged::{self, Brought};
use refit_engine::ports::{ChangeRequest, CommitId, Draft, Forge, PortError, PortErrorKind, Repository, RequestState};

use crate::memory::Memory;

/// A forge in memory; clones share its requests.
#[derive(Clone, Debug)]
pub struct MemoryForge {
    repository: Memory,
    requests: Arc<Mutex<Vec<Held>>>,
}

#[derive(Debug)]
struct Held {
    request: ChangeRequest,
    /// The head that the program wrote; the branch may have moved on.
    written: CommitId,
}

impl Held {
    fn fill(&mut self, draft: &Draft) -> ChangeRequest {
        let number = self.request.number;
        self.request = ChangeRequest {
            number,
            title: draft.title.clone(),
            body: draft.body.clone(),
            branch: draft.branch.clone(),
            base: draft.base.clone(),
            head: draft.head.clone(),
            state: draft.state,
            url: format!("memory://requests/{number}"),
        };
        self.written = draft.head.clone();
        self.request.clone()
    }
}

impl MemoryForge {
    /// Makes a forge without requests.
    pub fn new(repository: Memory) -> Self {
        Self {
            repository,
            requests: Arc::default(),
        }
    }

    /// Gives the requests as they are, after what happened to their branches.
    fn requests(&self) -> Result<MutexGuard<'_, Vec<Held>>, PortError> {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for held in requests.iter_mut().filter(|held| is_open(&held.request)) {
            let request = &mut held.request;
            let branch = self.repository.branch(&request.branch)?;
            if let Some(head) = &branch {
                request.head = head.clone();
            }
            let base = self.repository.base(Some(&request.base))?;
            match merged::brought(&self.repository, &base.commit, &request.head, &held.written)? {
                Brought::All => request.state = RequestState::Merged,
                Brought::Open if branch.is_some() => {}
                Brought::Open | Brought::Nothing => request.state = RequestState::Closed,
            }
        }
        Ok(requests)
    }
}

impl Forge for MemoryForge {
    fn list(&self) -> Result<Vec<ChangeRequest>, PortError> {
        Ok(self.requests()?.iter().rev().map(|held| held.request.clone()).collect())
    }

    fn open(&self, draft: &Draft) -> Result<ChangeRequest, PortError> {
        let mut requests = self.requests()?;
        let mut open = requests.iter_mut().filter(|held| is_open(&held.request));
        if let Some(held) = open.find(|held| held.request.branch == draft.branch) {
            return Ok(held.fill(draft));
        }
        let number = requests.len() as u64 + 1;
        let request = ChangeRequest {
            number,
            title: draft.title.clone(),
            body: draft.body.clone(),
            branch: draft.branch.clone(),
            base: draft.base.clone(),
            head: draft.head.clone(),
            state: draft.state,
            url: format!("memory://requests/{number}"),
        };
        requests.push(Held {
            request: request.clone(),
            written: draft.head.clone(),
        });
        Ok(request)
    }

    fn update(&self, number: u64, draft: &Draft) -> Result<ChangeRequest, PortError> {
        let mut requests = self.requests()?;
        let held = find(&mut requests, number)?;
        if !is_open(&held.request) {
            return Err(not_ready(&held.request));
        }
        Ok(held.fill(draft))
    }

    fn merge(&self, number: u64, head: &CommitId) -> Result<ChangeRequest, PortError> {
        let mut requests = self.requests()?;
        let request = &mut find(&mut requests, number)?.request;
        match request.state {
            RequestState::Merged => {
                // The branch of a merge by hand goes, too, unless somebody moved it on.
                if self.repository.branch(&request.branch)?.as_ref() == Some(&request.head) {
                    self.repository.publish(&request.branch, None, Some(&request.head))?;
                }
                return Ok(request.clone());
            }
            RequestState::Closed | RequestState::Draft => return Err(not_ready(request)),
            RequestState::Open if request.head != *head => {
                let message = format!("branch `{}` is not at {head}", request.branch);
                return Err(PortError::new(PortErrorKind::Moved, message).hint("look at it again"));
            }
            RequestState::Open => {}
        }
        let base = self.repository.base(Some(&request.base))?;
        self.repository.fast_forward(&base, head)?;
        request.state = RequestState::Merged;
        self.repository.publish(&request.branch, None, Some(head))?;
        Ok(request.clone())
    }

    fn close(&self, number: u64) -> Result<ChangeRequest, PortError> {
        let mut requests = self.requests()?;
        let held = find(&mut requests, number)?;
        let request = &mut held.request;
        if request.state == RequestState::Merged {
            return Err(not_ready(request));
        }
        if is_open(request) {
            if request.head != held.written {
                let message = format!("branch `{}` has commits of people", request.branch);
                return Err(PortError::new(PortErrorKind::Moved, message).hint("keep them under another name"));
            }
            self.repository.publish(&request.branch, None, Some(&held.written))?;
        }
        request.state = RequestState::Closed;
        Ok(request.clone())
    }
}

fn find(requests: &mut [Held], number: u64) -> Result<&mut Held, PortError> {
    let found = requests.iter_mut().find(|held| held.request.number == number);
    found.ok_or_else(|| PortError::new(PortErrorKind::NotFound, format!("there is no request {number}")))
}

fn is_open(request: &ChangeRequest) -> bool {
    matches!(request.state, RequestState::Open | RequestState::Draft)
}

fn not_ready(request: &ChangeRequest) -> PortError {
    let message = format!("request {} is {:?}", request.number, request.state);
    PortError::new(PortErrorKind::NotReady, message)
}
