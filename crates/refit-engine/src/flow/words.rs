//! What people and snapshots say of the conditions of a request.
//!
//! In: what a request needs, its note, the confirmations and the snapshot of this run. Out: what holds, what is new, and what
//! is still waited for. What the snapshot shows not to be so counts as not confirmed.

use jiff::{Timestamp, Unit};
use refit_core::record::Note;
use refit_core::stage::{Confirmation, Gate, Refutation, Said, Wait};

use super::gate::{Migrations, Need, Says};
use super::ground::Flow;
use super::order::Request;
use crate::Error;

/// What is said of a request's needs.
pub(super) struct Words {
    /// All that holds.
    pub(super) confirmed: Vec<Confirmation>,
    /// What this run adds.
    pub(super) new: Said,
    /// What nobody confirmed and no snapshot shows.
    pub(super) gates: Vec<Gate>,
}

/// Puts together what is said of a request's needs.
pub(super) fn of(
    flow: Flow<'_>,
    request: &Request,
    (needs, note): (Vec<Need>, Option<&Note>),
    asked: &Migrations,
) -> Result<Words, Error> {
    let hearing = Hearing {
        flow,
        request,
        needs: &needs,
        asked,
        at: flow.ports.clock.now().round(Unit::Second).unwrap_or_default(),
    };
    let mut confirmed = hearing.noted(note);
    let mut new = Said {
        confirmed: Vec::new(),
        refuted: hearing.refutations(),
    };
    for (what, snapshot) in hearing.words(&confirmed)? {
        if confirmed.iter().all(|known| known.what != what) {
            let said = hearing.confirmation(what, snapshot)?;
            new.confirmed.push(said.clone());
            confirmed.push(said);
        }
    }
    let is_open = |need: &Need| need.says == Says::Yes || confirmed.iter().any(|one| one.what == need.gate.wait);
    let gates = needs.into_iter().filter(|need| !is_open(need));
    Ok(Words {
        gates: gates.map(|need| need.gate).collect(),
        confirmed,
        new,
    })
}

struct Hearing<'a> {
    flow: Flow<'a>,
    request: &'a Request,
    needs: &'a [Need],
    asked: &'a Migrations,
    at: Timestamp,
}

impl Hearing<'_> {
    /// Lists what the note of the upgrade says of this request, and no snapshot of this run refutes.
    fn noted(&self, note: Option<&Note>) -> Vec<Confirmation> {
        let (from, to) = (&self.request.hop.from, self.request.to());
        let noted = note.into_iter().flat_map(|note| &note.confirmations);
        let own = noted.filter(|one| one.from == *from && one.to == *to && self.refuted(one.what).is_none());
        own.cloned().collect()
    }

    /// Lists what this run says: people, and then a snapshot, whose digest goes with it.
    fn words(&self, confirmed: &[Confirmation]) -> Result<Vec<(Wait, Option<String>)>, Error> {
        let mut words: Vec<(Wait, Option<String>)> = Vec::new();
        for wait in &self.flow.ask.confirm {
            if let Some(need) = self.refuted(*wait) {
                return Err(Error::Usage {
                    message: format!(
                        "the snapshot shows that `{}` is not so: {}",
                        wait.word(),
                        need.gate.why.join("; ")
                    ),
                    remedy: "make it so and take a new snapshot".to_owned(),
                });
            }
            let is_needed = self.needs.iter().any(|need| need.gate.wait == *wait);
            if !is_needed && confirmed.iter().all(|known| known.what != *wait) {
                return Err(Error::Usage {
                    message: format!("the request that comes next does not wait for `{}`", wait.word()),
                    remedy: "`refit status` says what it waits for".to_owned(),
                });
            }
            words.push((*wait, None));
        }
        if let Some(snapshot) = &self.flow.ask.snapshot {
            let shown = self.needs.iter().filter(|need| need.says == Says::Yes);
            words.extend(shown.map(|need| (need.gate.wait, Some(snapshot.digest.clone()))));
        }
        Ok(words)
    }

    fn confirmation(&self, what: Wait, snapshot: Option<String>) -> Result<Confirmation, Error> {
        Ok(Confirmation {
            what,
            from: self.request.hop.from.clone(),
            to: self.request.to().clone(),
            by: self.flow.ports.repository.person()?,
            at: self.at,
            snapshot,
            crds: match what {
                Wait::Migrated => self.asked.stored(),
                Wait::Reconciled => Vec::new(),
            },
        })
    }

    /// Lists what the snapshot of this run shows not to be so.
    fn refutations(&self) -> Vec<Refutation> {
        let Some(snapshot) = &self.flow.ask.snapshot else {
            return Vec::new();
        };
        let refuted = self.needs.iter().filter(|need| need.says == Says::No);
        let refutation = |need: &Need| Refutation {
            what: need.gate.wait,
            from: self.request.hop.from.clone(),
            to: self.request.to().clone(),
            why: need.gate.why.clone(),
            at: self.at,
            snapshot: snapshot.digest.clone(),
        };
        refuted.map(refutation).collect()
    }

    fn refuted(&self, wait: Wait) -> Option<&Need> {
        let mut needs = self.needs.iter();
        needs.find(|need| need.gate.wait == wait && need.says == Says::No)
    }
}
