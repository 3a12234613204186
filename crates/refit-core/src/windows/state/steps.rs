//! A step as a request, with edits that are made for real.
//!
//! In: the state, a step. Out: the request, and the state after it; or what turned out not to be converted, noted in the
//! state, so that the same step is not tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_manifest::Entry;

use super::{Key, State};
use crate::applied::File;
use crate::windows::made::Made;
use crate::windows::order::{Forms, Model, Step};
use crate::windows::seen::{Kind, Seen};
use crate::windows::{Beside, Request, Stage, gates};

/// The most requests that convert in one repository before one hop; more are rules that bring each other back.
const ROUNDS: usize = 8;

const AGAIN: &str = "finds the field again after it ran: another rule writes it, too";
const BACK: &str = "the rules about it bring back what others of them converted";

impl State<'_> {
    /// Takes a step; `None` where it turns out that what the step is for is not converted.
    pub(in crate::windows) fn take(&mut self, model: &Model, step: &Step) -> Option<Request> {
        let (forms, lane) = match step {
            Step::Convert { forms, lane, .. } | Step::Upgrade { lane, forms } => (forms, *lane),
        };
        let bundles: BTreeSet<usize> = forms.keys().map(|item| self.items[*item].0).collect();
        let mut made = Made::default();
        for bundle in bundles {
            let bundle = &self.bundles[bundle];
            let releases = self.leading(self.releases_for(bundle, step), bundle);
            for file in bundle.files() {
                if let Some(before) = self.bytes(&file) {
                    let reading = self.readings.read(&file, before, (&releases, &self.accepted));
                    made.take(file, before, &reading);
                }
            }
        }
        let looked: BTreeMap<File, Seen> = made
            .edits
            .iter()
            .map(|(file, bytes)| {
                let content = self.readings.content(file);
                (file.clone(), Seen::look((&file.path, &content), bytes, &self.interest))
            })
            .collect();
        if let Step::Convert { repository, .. } = step {
            let failed = self.failed(model, (lane, *repository, forms), (&made, &looked));
            if !failed.is_empty() {
                self.fixed.extend(failed);
                return None;
            }
        }
        self.seen.extend(looked);
        self.request(step, lane, made)
    }

    /// Lists what a hop forces and a conversion leaves, with the reason.
    fn failed(
        &mut self,
        model: &Model,
        (lane, repository, forms): (usize, usize, &Forms),
        (made, looked): (&Made, &BTreeMap<File, Seen>),
    ) -> Vec<((usize, Key), String)> {
        let rounds = self.rounds.entry((lane, repository)).or_default();
        *rounds += 1;
        let is_endless = *rounds > ROUNDS;
        if is_endless || made.edits.is_empty() {
            let reason = |key: &Key| match key {
                Key::Rule(_) if is_endless => BACK.to_owned(),
                key => kept(key, made),
            };
            let all = forms.keys().map(|item| self.items[*item].clone());
            return all.map(|(bundle, key)| ((bundle, key.clone()), reason(&key))).collect();
        }
        let forced = model.forced(lane);
        let of_step = forced.iter().filter(|item| forms.contains_key(item));
        let keys = of_step.map(|item| self.items[*item].clone());
        let failed = keys.filter_map(|(bundle, key)| {
            let stays = match &key {
                Key::Kind(kind) => self.is_left(bundle, kind, looked, lane),
                Key::Rule(rule) => self.is_found_again(bundle, rule, made),
            };
            stays.then(|| ((bundle, key.clone()), kept(&key, made)))
        });
        failed.collect()
    }

    /// Makes the request; `None` for a lane whose release cannot be told, which has no hops.
    fn request(&mut self, step: &Step, lane: usize, made: Made) -> Option<Request> {
        let cluster = &self.situation.clusters[lane];
        let from = self.release(lane)?.clone();
        let to = self.next_release(lane).unwrap_or(&from).clone();
        for (file, bytes) in &made.edits {
            let executable = matches!(
                self.trees[file.repository].get(&file.path),
                Some(Entry::File { executable: true, .. })
            );
            let bytes = Arc::clone(bytes);
            self.trees[file.repository].insert(file.path.clone(), Entry::File { bytes, executable });
        }
        let mut gates = gates::managed(self, &made.changes, step);
        let mut gate = gates.remove(&lane).unwrap_or_default();
        let beside = gates.into_iter().filter_map(|(cluster, gate)| {
            Some(Beside {
                cluster,
                installed: self.release(cluster)?.clone(),
                gate: gate.into_iter().collect(),
            })
        });
        let beside: Vec<Beside> = beside.collect();
        let (repository, stage) = match step {
            Step::Convert { repository, .. } => (
                *repository,
                Stage::Convert {
                    cluster: lane,
                    from,
                    to,
                },
            ),
            Step::Upgrade { .. } => {
                let next = cluster.hops.iter().find(|hop| hop.to == to);
                gate.extend(next.iter().flat_map(|hop| hop.gate.iter().cloned()));
                self.rounds.retain(|(of, _), _| *of != lane);
                let of = &mut self.lanes[lane];
                of.hops.remove(0);
                of.at = Some(to.clone());
                (
                    cluster.repository,
                    Stage::Upgrade {
                        cluster: lane,
                        from,
                        to,
                    },
                )
            }
        };
        Some(Request {
            repository,
            stage,
            edits: made.edits,
            changes: made.changes.into_iter().map(|(_, used)| used).collect(),
            left: made.left,
            notes: made.notes,
            needs: Vec::new(),
            gate: gate.into_iter().collect(),
            beside,
        })
    }

    /// Tells whether the next hop of a lane refuses a kind in a bundle although the files were converted.
    fn is_left(&self, bundle: usize, kind: &Kind, looked: &BTreeMap<File, Seen>, lane: usize) -> bool {
        let (Some(to), Some(resource)) = (self.next_release(lane), self.resource(kind)) else {
            return false;
        };
        let now = |file: &File| looked.get(file).or_else(|| self.seen.get(file));
        let files: Vec<File> = self.bundles[bundle].files().collect();
        let written = files.iter().filter_map(|file| now(file)?.versions.get(kind)).flatten();
        written
            .into_iter()
            .any(|version| !self.accepted.accepting(resource, version).contains(to))
    }

    /// Tells whether a rule finds its place in a bundle again after the files were converted.
    fn is_found_again(&self, bundle: usize, rule: &str, made: &Made) -> bool {
        let bundle = &self.bundles[bundle];
        let releases = self.leading(self.installed(bundle), bundle);
        let finds = |file: File| {
            let bytes = made.edits.get(&file).or_else(|| self.bytes(&file))?;
            let reading = self.readings.read(&file, bytes, (&releases, &self.accepted));
            Some(reading.uses.iter().any(|used| used.rule.as_deref() == Some(rule)))
        };
        bundle.files().filter_map(finds).any(|found| found)
    }
}

/// Says why what a conversion is for is still there after it.
fn kept(key: &Key, made: &Made) -> String {
    match (made.reason(|used| key.is_of(used)), key) {
        (Some(reason), _) => reason,
        (None, Key::Rule(rule)) => format!("rule `{rule}` {AGAIN}"),
        (None, Key::Kind(_)) => "it cannot be converted safely".to_owned(),
    }
}
