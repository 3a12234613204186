//! The built-in forge: change requests as notes in the repository that they are for.
//!
//! In: a [`Repository`], drafts of requests. Out: requests under `refs/refit/requests/<n>`, one JSON blob each; merges by
//! fast-forward. Knows no network and no Git, only the port.
//!
//! A note says what its writer wanted; what *is* is read from the branches each time. So a request whose head somebody
//! merged by hand is merged, and one whose branch somebody removed is closed, without anybody having told. Numbers are
//! taken by creating the note, so that two writers never share one.

use std::sync::Arc;

use refit_engine::merged::{self, Brought};
use refit_engine::ports::{ChangeRequest, CommitId, Draft, Forge, PortError, PortErrorKind, Repository, RequestState};
use serde::{Deserialize, Serialize};

/// What a request's text may hold at most, in bytes.
const BODY_BYTES: usize = 64 * 1024;

/// How often a number is tried again when others take it at the same time.
const TRIES: usize = 20;

/// The note's format.
const VERSION: u32 = 1;

/// The forge that needs no server.
pub struct BuiltIn<'a> {
    repository: &'a dyn Repository,
}

/// What the note of a request says.
#[derive(Clone, Debug, Deserialize, Serialize)]
struct Note {
    version: u32,
    title: String,
    branch: String,
    base: String,
    head: String,
    state: Noted,
    body: String,
}

/// The state as noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
enum Noted {
    Open,
    Draft,
    Merged,
    Closed,
}

/// A note as it was read.
struct Stored {
    number: u64,
    bytes: Arc<[u8]>,
    note: Note,
}

impl<'a> BuiltIn<'a> {
    /// Keeps requests in a repository.
    pub fn new(repository: &'a dyn Repository) -> Self {
        Self { repository }
    }

    fn numbers(&self) -> Result<Vec<u64>, PortError> {
        let names = self.repository.notes("requests")?;
        let number = |name: &String| name.strip_prefix("requests/")?.parse().ok();
        let mut numbers: Vec<u64> = names.iter().filter_map(number).collect();
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        Ok(numbers)
    }

    fn stored(&self, number: u64) -> Result<Stored, PortError> {
        let bytes = self.repository.note(&name(number))?.ok_or_else(|| {
            PortError::new(PortErrorKind::NotFound, format!("there is no request {number}"))
                .hint("list them with `refit request list`")
        })?;
        let note = serde_json::from_slice::<Note>(&bytes).map_err(|error| damaged(number).because(error))?;
        if note.version != VERSION {
            return Err(PortError::new(
                PortErrorKind::Corrupt,
                format!("request {number} was written in format {}, not {VERSION}", note.version),
            )
            .hint("use the release of refit that wrote it, or a newer one"));
        }
        Ok(Stored { number, bytes, note })
    }

    fn all(&self) -> Result<Vec<Stored>, PortError> {
        let numbers = self.numbers()?;
        numbers.into_iter().map(|number| self.stored(number)).collect()
    }

    /// Says how a request is, by its note and by its branches.
    fn request(&self, stored: &Stored) -> Result<ChangeRequest, PortError> {
        let note = &stored.note;
        let noted = CommitId(note.head.as_str().into());
        let (head, state) = match note.state {
            Noted::Merged => (noted, RequestState::Merged),
            Noted::Closed => (noted, RequestState::Closed),
            Noted::Open => self.present(note, noted, RequestState::Open)?,
            Noted::Draft => self.present(note, noted, RequestState::Draft)?,
        };
        Ok(ChangeRequest {
            number: stored.number,
            title: note.title.clone(),
            body: note.body.clone(),
            branch: note.branch.clone(),
            base: note.base.clone(),
            head,
            state,
            url: format!("refit request show {}", stored.number),
        })
    }

    /// Says how a request that is noted as open is in truth.
    fn present(&self, note: &Note, noted: CommitId, open: RequestState) -> Result<(CommitId, RequestState), PortError> {
        let branch = self.repository.branch(&note.branch)?;
        let head = branch.clone().unwrap_or_else(|| noted.clone());
        let brought = match self.repository.branch(&note.base)? {
            Some(base) => merged::brought(self.repository, &base, &head, &noted)?,
            None => Brought::Open,
        };
        let state = match (brought, branch) {
            (Brought::All, _) => RequestState::Merged,
            (Brought::Open, Some(_)) => open,
            (Brought::Nothing, _) | (_, None) => RequestState::Closed,
        };
        Ok((head, state))
    }

    /// Finds the open request of a branch.
    fn open_for(&self, branch: &str) -> Result<Option<Stored>, PortError> {
        for stored in self.all()? {
            if stored.note.branch == branch && is_open(self.request(&stored)?.state) {
                return Ok(Some(stored));
            }
        }
        Ok(None)
    }

    /// Gives the number after the newest.
    fn free_number(&self) -> Result<u64, PortError> {
        let newest = self.numbers()?.first().copied().unwrap_or_default();
        newest.checked_add(1).ok_or_else(|| {
            let message = format!("no number is left after request {newest}");
            PortError::new(PortErrorKind::Corrupt, message).hint(format!(
                "no request has such a number: look at it with `git show refs/refit/requests/{newest}`, and remove that \
                 reference"
            ))
        })
    }

    /// Replaces a note, if it is as it was read, and says how the request is then.
    fn replace(&self, stored: &Stored, note: Note) -> Result<ChangeRequest, PortError> {
        let bytes = encoded(stored.number, &note)?;
        self.repository
            .put_note(&name(stored.number), Some(&bytes), Some(&stored.bytes))?;
        self.request(&Stored {
            number: stored.number,
            bytes: bytes.into(),
            note,
        })
    }

    /// Moves the target branch to the head of an open request.
    fn forward(&self, request: &ChangeRequest, head: &CommitId) -> Result<(), PortError> {
        let number = request.number;
        if request.head != *head {
            let message = format!("branch `{}` is at {}, not at {head}", request.branch, request.head);
            return Err(PortError::new(PortErrorKind::Moved, message)
                .hint(format!("look at it again with `refit request show {number}`")));
        }
        let base = self.repository.base(Some(&request.base))?;
        if !merged::contains(self.repository, head, &base.commit)? {
            let message = format!("`{}` has commits that request {number} lacks", request.base);
            return Err(PortError::new(PortErrorKind::Moved, message)
                .hint("run `refit resume`: it computes the change anew from what is there now"));
        }
        self.repository.fast_forward(&base, head)
    }

    /// Names the commits that people added to the branch of a request.
    fn would_lose(&self, request: &ChangeRequest, noted: &CommitId) -> PortError {
        let added = self
            .repository
            .commits_between(noted, &request.head)
            .unwrap_or_default();
        let named = added.iter().take(5).map(|commit| {
            let short = commit.id.0.get(..10).unwrap_or(&commit.id.0);
            format!("`{short}` {} ({})", commit.subject, commit.author)
        });
        let named = named.collect::<Vec<_>>().join(", ");
        let (number, branch) = (request.number, &request.branch);
        PortError::new(
            PortErrorKind::Moved,
            format!("request {number} cannot be closed: people added commits to branch `{branch}`: {named}"),
        )
        .hint(format!(
            "keep them under another name with `git branch NAME {}`, then remove `{branch}` yourself",
            request.head
        ))
    }

    /// Removes the branch of a request, if it is still where it was and no other request has it by now; safe to repeat.
    fn remove_branch(&self, stored: &Stored, head: &CommitId) -> Result<(), PortError> {
        let branch = &stored.note.branch;
        match self.open_for(branch)? {
            Some(other) if other.number != stored.number => Ok(()),
            _ => self.repository.publish(branch, None, Some(head)),
        }
    }
}

impl Forge for BuiltIn<'_> {
    fn list(&self) -> Result<Vec<ChangeRequest>, PortError> {
        self.all()?.iter().map(|stored| self.request(stored)).collect()
    }

    fn open(&self, draft: &Draft) -> Result<ChangeRequest, PortError> {
        let note = noted(draft)?;
        for _ in 0..TRIES {
            // Read before the requests are looked at: whoever opens one in between takes this number, and is seen then.
            let number = self.free_number()?;
            if let Some(stored) = self.open_for(&draft.branch)? {
                return self.replace(&stored, note);
            }
            let bytes = encoded(number, &note)?;
            match self.repository.put_note(&name(number), Some(&bytes), None) {
                Ok(()) => return self.request(&self.stored(number)?),
                // Somebody else took the number, perhaps for the same branch.
                Err(error) if error.kind == PortErrorKind::Moved => {}
                Err(error) => return Err(error),
            }
        }
        Err(PortError::new(
            PortErrorKind::Moved,
            format!(
                "no number was free for the request of branch `{}`: others open requests all the time",
                draft.branch
            ),
        )
        .hint("run the command again"))
    }

    fn update(&self, number: u64, draft: &Draft) -> Result<ChangeRequest, PortError> {
        let stored = self.stored(number)?;
        let request = self.request(&stored)?;
        if !is_open(request.state) {
            return Err(done(&request));
        }
        self.replace(&stored, noted(draft)?)
    }

    fn merge(&self, number: u64, head: &CommitId) -> Result<ChangeRequest, PortError> {
        let stored = self.stored(number)?;
        let request = self.request(&stored)?;
        match request.state {
            RequestState::Merged => {}
            RequestState::Closed => return Err(done(&request)),
            RequestState::Draft => {
                return Err(
                    PortError::new(PortErrorKind::NotReady, format!("request {number} is a draft"))
                        .hint(format!("`refit request show {number}` says what it waits for")),
                );
            }
            RequestState::Open => self.forward(&request, head)?,
        }
        let note = Note {
            head: request.head.to_string(),
            state: Noted::Merged,
            ..stored.note.clone()
        };
        let merged = self.replace(&stored, note)?;
        // A branch that is checked out or moved on stays; the merge is done all the same.
        drop(self.remove_branch(&stored, &request.head));
        Ok(merged)
    }

    fn close(&self, number: u64) -> Result<ChangeRequest, PortError> {
        let stored = self.stored(number)?;
        let request = self.request(&stored)?;
        let noted = CommitId(stored.note.head.as_str().into());
        if request.state == RequestState::Merged {
            return Err(done(&request));
        }
        if is_open(request.state) && request.head != noted {
            return Err(self.would_lose(&request, &noted));
        }
        let note = Note {
            state: Noted::Closed,
            ..stored.note.clone()
        };
        // The branch goes first: a request without one is closed, while nobody comes back to a branch without a request.
        // Where the request is closed already, a branch that somebody moved is theirs.
        if is_open(request.state) || self.repository.branch(&stored.note.branch)?.as_ref() == Some(&noted) {
            self.remove_branch(&stored, &noted)?;
        }
        self.replace(&stored, note)
    }
}

fn name(number: u64) -> String {
    format!("requests/{number}")
}

fn is_open(state: RequestState) -> bool {
    matches!(state, RequestState::Open | RequestState::Draft)
}

fn done(request: &ChangeRequest) -> PortError {
    let state = if request.state == RequestState::Merged {
        "merged"
    } else {
        "closed"
    };
    PortError::new(
        PortErrorKind::NotReady,
        format!("request {} is {state} already", request.number),
    )
    .hint("list the open ones with `refit request list`")
}

fn damaged(number: u64) -> PortError {
    PortError::new(
        PortErrorKind::Corrupt,
        format!("the note of request {number} is damaged"),
    )
    .hint(format!(
        "look at it with `git show refs/refit/requests/{number}`, and remove that reference if it is not needed"
    ))
}

fn noted(draft: &Draft) -> Result<Note, PortError> {
    let state = match draft.state {
        RequestState::Open => Noted::Open,
        RequestState::Draft => Noted::Draft,
        RequestState::Merged | RequestState::Closed => {
            return Err(PortError::new(
                PortErrorKind::NotReady,
                format!(
                    "the request of branch `{}` can only be opened as open or as draft",
                    draft.branch
                ),
            ));
        }
    };
    Ok(Note {
        version: VERSION,
        title: draft.title.clone(),
        branch: draft.branch.clone(),
        base: draft.base.clone(),
        head: draft.head.to_string(),
        state,
        body: shortened(&draft.body),
    })
}

/// Cuts a text that is too long at the end of a line, and says so.
fn shortened(body: &str) -> String {
    if body.len() <= BODY_BYTES {
        return body.to_owned();
    }
    let notice = "\n\n(cut here: the text was longer than 64 KiB; `refit diff` shows the whole change)\n";
    let mut end = BODY_BYTES - notice.len();
    while !body.is_char_boundary(end) {
        end -= 1;
    }
    let end = body[..end].rfind('\n').unwrap_or(end);
    format!("{}{notice}", &body[..end])
}

fn encoded(number: u64, note: &Note) -> Result<Vec<u8>, PortError> {
    let mut bytes = serde_json::to_vec_pretty(note).map_err(|error| damaged(number).because(error))?;
    bytes.push(b'\n');
    Ok(bytes)
}
