//! What people and snapshots say of the conditions of a request.
//!
//! In: what a request needs, its note, the confirmations and the snapshot of this run. Out: what holds, what is new, and what
//! is still waited for. What the snapshot shows not to be so counts as not confirmed.

use jiff::{Timestamp, Unit};
use refit_core::record::Note;
use refit_core::route::Used;
use refit_core::stage::{Confirmation, Gate, Matter, Refutation, Said, Wait};

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

/// What the note of an upgrade says of the request with an index.
pub(super) struct Heard<'a> {
    pub(super) note: Option<&'a Note>,
    /// The place of the request among those of its upgrade, from 1.
    pub(super) index: usize,
}

impl Heard<'_> {
    fn matter(&self, request: &Request, what: Wait) -> Matter {
        Matter {
            what,
            from: request.hop.from.clone(),
            to: request.to().clone(),
            index: self.index,
        }
    }

    /// Gives what a snapshot refuted before.
    pub(super) fn refuted(&self, request: &Request, what: Wait) -> Option<&Refutation> {
        let about = self.matter(request, what);
        self.note?.refutations.iter().find(|known| known.about == about)
    }

    /// Gives what was confirmed before; a migration only where it was one of all that is asked for now.
    fn confirmed(&self, request: &Request, what: Wait, asked: &Migrations) -> Option<&Confirmation> {
        let about = self.matter(request, what);
        let found = self.note?.confirmations.iter().find(|known| known.about == about)?;
        let covers = |crd: &String| found.crds.contains(crd) || found.managed.contains(crd);
        let is_whole = match what {
            Wait::Migrated => {
                asked.crds(Used::Stored).iter().all(|crd| found.crds.contains(crd))
                    && asked.crds(Used::Managed).iter().all(covers)
            }
            Wait::Reconciled => true,
        };
        Some(found).filter(|_| is_whole)
    }
}

/// Tells whether somebody confirmed already that all is migrated before a request.
pub(super) fn is_migrated(heard: &Heard<'_>, request: &Request, asked: &Migrations) -> bool {
    heard.confirmed(request, Wait::Migrated, asked).is_some()
}

/// Puts together what is said of a request's needs.
pub(super) fn of(
    flow: Flow<'_>,
    (request, asked): (&Request, &Migrations),
    needs: Vec<Need>,
    heard: &Heard<'_>,
) -> Result<Words, Error> {
    let hearing = Hearing {
        flow,
        request,
        needs: &needs,
        asked,
        heard,
        at: flow.ports.clock.now().round(Unit::Second).unwrap_or_default(),
    };
    let mut confirmed = hearing.noted();
    let mut new = Said {
        confirmed: Vec::new(),
        refuted: hearing.refutations(),
    };
    for (what, snapshot) in hearing.words(&confirmed)? {
        if confirmed.iter().all(|known| known.about.what != what) {
            let said = hearing.confirmation(what, snapshot)?;
            new.confirmed.push(said.clone());
            confirmed.push(said);
        }
    }
    let is_open = |need: &Need| need.says == Says::Yes || confirmed.iter().any(|one| one.about.what == need.gate.wait);
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
    heard: &'a Heard<'a>,
    at: Timestamp,
}

impl Hearing<'_> {
    /// Lists what the note of the upgrade says of this request, and no snapshot of this run refutes.
    fn noted(&self) -> Vec<Confirmation> {
        let own = Wait::ALL.into_iter().filter(|what| self.refuted(*what).is_none());
        let noted = own.filter_map(|what| self.heard.confirmed(self.request, what, self.asked));
        noted.cloned().collect()
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
            if !is_needed && confirmed.iter().all(|known| known.about.what != *wait) {
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
        let of_use = |used: Used| match what {
            Wait::Migrated => self.asked.crds(used),
            Wait::Reconciled => Vec::new(),
        };
        Ok(Confirmation {
            about: self.heard.matter(self.request, what),
            by: self.flow.ports.repository.person()?,
            at: self.at,
            snapshot,
            crds: of_use(Used::Stored),
            managed: of_use(Used::Managed),
        })
    }

    /// Lists what the snapshot of this run shows not to be so.
    fn refutations(&self) -> Vec<Refutation> {
        let Some(snapshot) = &self.flow.ask.snapshot else {
            return Vec::new();
        };
        let refuted = self.needs.iter().filter(|need| need.says == Says::No);
        let refutation = |need: &Need| Refutation {
            about: self.heard.matter(self.request, need.gate.wait),
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
