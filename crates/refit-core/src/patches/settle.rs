//! Finds what an upgrade does to the patches of a directory, and applies what people answered.
//!
//! In: the tree before and after the upgrade, and answers. Out: [`Settled`]. After each answer the directory is evaluated
//! again, so that an answer that breaks something else is a new decision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refit_kustomize::{Built, State};
use refit_manifest::{Answer, Answers, Decision, DecisionId, Entry, Outcome, Path, Stream, Tree};

use super::cut::Unfit;
use super::edits::{self, Change, Edits};
use super::problem::Weight;
use super::{Problem, Shift, Slot, What, compare, meant, shared, words};
use crate::finding::Finding;

/// The most evaluations of one directory.
const ROUNDS: usize = 64;

/// What is compared, and what people said.
#[derive(Clone, Copy)]
pub struct Question<'a> {
    /// The files before the upgrade.
    pub before: &'a Tree,
    /// The files after it, before any answer.
    pub after: &'a Tree,
    /// The directory.
    pub directory: &'a str,
    /// How a directory is evaluated.
    pub evaluate: fn(&Tree, &str) -> Built,
    /// The answers.
    pub answers: &'a Answers,
    /// The kustomizations that the upgrade may edit; one that others use, too, stays.
    pub own: &'a [Path],
}

/// What was found and done.
#[derive(Clone, Debug, Default)]
pub struct Settled {
    /// Whether the patches could be compared.
    pub is_verified: bool,
    /// The decisions, open and answered.
    pub decisions: Vec<Decision>,
    /// What needs no answer.
    pub findings: Vec<Finding>,
    /// The files that answers changed; `None` where a file goes.
    pub files: BTreeMap<Path, Option<Arc<[u8]>>>,
    /// How many patches reach what they reached before.
    pub holding: usize,
}

/// Finds and settles.
pub fn settle(question: &Question<'_>) -> Settled {
    let mut before = (question.evaluate)(question.before, question.directory);
    let mut work = Work {
        question,
        reading: Reading::AsWritten,
        real: Edits::default(),
        seen: Edits::default(),
        known: BTreeSet::new(),
        out: Settled::default(),
    };
    match &before.state {
        State::NotEvaluated(reasons) => {
            work.out
                .findings
                .extend(words::not_evaluated(question.directory, reasons));
            return work.out;
        }
        State::Failed(failures) => {
            let after = (question.evaluate)(question.after, question.directory);
            let broken = words::was_broken(question.directory, failures, &after.state);
            work.out.findings.extend(broken);
            let meant = meant::read(question.before).map(|tree| (question.evaluate)(&tree, question.directory));
            match meant.filter(|meant| meant.state == State::Evaluated) {
                Some(meant) => before = meant,
                None => return work.out,
            }
            work.reading = Reading::AsMeant;
            work.out.is_verified = true;
        }
        State::Evaluated => work.out.is_verified = true,
    }
    for _ in 0..ROUNDS {
        if !work.round(&before) {
            break;
        }
    }
    if let Ok(edited) = work.real.apply(question.after) {
        work.out.files = edited.files;
    }
    work.out
}

/// Puts changed files into a tree.
pub fn with_files(tree: &Tree, files: &BTreeMap<Path, Option<Arc<[u8]>>>) -> Tree {
    let mut tree = tree.clone();
    for (path, bytes) in files {
        match bytes {
            Some(bytes) => {
                let executable = matches!(tree.get(path), Some(Entry::File { executable: true, .. }));
                let bytes = Arc::clone(bytes);
                tree.insert(path.clone(), Entry::File { bytes, executable });
            }
            None => {
                tree.remove(path);
            }
        }
    }
    tree
}

/// How patches are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reading {
    /// As kustomize reads them.
    AsWritten,
    /// As they are meant, where kustomize refuses them before the upgrade already.
    AsMeant,
}

struct Work<'a> {
    question: &'a Question<'a>,
    reading: Reading,
    /// What people asked for.
    real: Edits,
    /// The same without the patches at which the build fails, so that what comes behind them is seen.
    seen: Edits,
    known: BTreeSet<DecisionId>,
    out: Settled,
}

impl Work<'_> {
    /// Evaluates once; true when something was changed for the sake of what comes behind.
    fn round(&mut self, before: &Built) -> bool {
        let Ok(edited) = self.seen.apply(self.question.after) else {
            return false;
        };
        let mut tree = with_files(self.question.after, &edited.files);
        if self.reading == Reading::AsMeant {
            tree = meant::read(&tree).unwrap_or(tree);
        }
        let after = (self.question.evaluate)(&tree, self.question.directory);
        if let State::NotEvaluated(reasons) = &after.state {
            self.out.is_verified = false;
            self.out
                .findings
                .extend(words::not_evaluated(self.question.directory, reasons));
            return false;
        }
        let shift = edited.shift.aligned(self.question.before, self.question.after);
        let problems = compare::verify(before, &after, &shift);
        let mut changed = false;
        for problem in problems.iter().filter(|problem| problem.what.weight() != Weight::Told) {
            if self.known.insert(words::id(problem)) {
                changed |= self.take(problem);
            }
        }
        if !changed {
            self.out.findings.extend(problems.iter().filter_map(words::finding));
            self.out.holding = holding(&after, &problems, &shift);
        }
        changed
    }

    /// Takes one problem: asks, or applies the answer.
    fn take(&mut self, problem: &Problem) -> bool {
        let fixed = self.fixed(problem);
        let value = self.replaceable(problem);
        let mut decision = words::decision(problem, fixed.as_deref(), value.clone());
        let answer = self.question.answers.0.get(&decision.id);
        let change = match answer {
            Some(Answer::Theirs) if fixed.is_none() => Ok(Some(Change::Remove)),
            Some(Answer::Value(text)) if fixed.is_none() && value.is_some() => self.value(problem, text).map(Some),
            Some(Answer::Ours) => Ok(None),
            Some(Answer::Theirs) => Err("the patch can only stay as it is"),
            Some(Answer::Value(_)) => Err("there is nothing that a value could take the place of"),
            None => {
                self.out.decisions.push(decision);
                return self.look_behind(problem);
            }
        };
        match change {
            Ok(change) => {
                decision.answer = answer.cloned();
                decision.outcome = Outcome::Noted;
                self.out.decisions.push(decision);
                match (change, &problem.slot) {
                    (Some(change), Some(slot)) => {
                        self.seen.0.insert(slot.clone(), change.clone());
                        self.real.0.insert(slot.clone(), change);
                        true
                    }
                    _ => {
                        self.out
                            .findings
                            .extend(problem.what.breaks().then(|| words::broken(problem)));
                        self.look_behind(problem)
                    }
                }
            }
            Err(reason) => {
                decision.message = words::refused(&decision.message, reason);
                self.out.decisions.push(decision);
                self.look_behind(problem)
            }
        }
    }

    /// Leaves out what makes the build fail, to see what comes behind it.
    fn look_behind(&mut self, problem: &Problem) -> bool {
        let Some(slot) = problem.slot.as_ref().filter(|_| problem.what.breaks()) else {
            return false;
        };
        let fits = self.try_out(slot, Change::Remove).is_ok();
        if fits {
            self.seen.0.insert(slot.clone(), Change::Remove);
        }
        fits
    }

    fn try_out(&self, slot: &Slot, change: Change) -> Result<(), Unfit> {
        let mut edits = self.seen.clone();
        edits.0.insert(slot.clone(), change);
        edits.apply(self.question.after).map(|_| ())
    }

    /// Says why a patch cannot be edited.
    fn fixed(&self, problem: &Problem) -> Option<String> {
        let Some(slot) = &problem.slot else {
            return Some("it is no patch".to_owned());
        };
        for path in std::iter::once(&slot.kustomization).chain(&problem.file) {
            let users = shared::users(self.question.after, path);
            if let Some(other) = users.iter().find(|user| !self.question.own.contains(user)) {
                return Some(format!("{other} uses {path}, too"));
            }
            if problem.file.as_ref() == Some(path) && users.len() > 1 {
                return Some(format!("{path} is used {} times", users.len()));
            }
        }
        let reason = self.try_out(slot, Change::Remove).err()?;
        Some(reason.to_owned())
    }

    /// Gives what a value would take the place of: the pointer of an operation, or the name of a target.
    fn replaceable(&self, problem: &Problem) -> Option<String> {
        let slot = problem.slot.as_ref()?;
        let (text, change) = match &problem.what {
            What::PlaceGone { operation, .. } | What::OtherMeaning { operation, .. } => (
                operation.pointer.clone(),
                Change::Pointer(operation.end, "/x".to_owned()),
            ),
            What::TargetGone | What::MatchesNothing => {
                let name = self.target_name(problem)?;
                (name, Change::Target("x".to_owned()))
            }
            _ => return None,
        };
        self.try_out(slot, change).is_ok().then_some(text)
    }

    fn value(&self, problem: &Problem, text: &str) -> Result<Change, Unfit> {
        let change = match &problem.what {
            What::PlaceGone { operation, .. } | What::OtherMeaning { operation, .. } => {
                Change::Pointer(operation.end, edits::pointer(text)?)
            }
            _ => Change::Target(edits::target(text)?),
        };
        match &problem.slot {
            Some(slot) => self.try_out(slot, change.clone()).map(|()| change),
            None => Err("it is no patch"),
        }
    }

    /// Gives the name that a patch aims at, as it is written now.
    fn target_name(&self, problem: &Problem) -> Option<String> {
        if problem.what == What::TargetGone {
            return problem.objects.first().map(|object| object.name.to_string());
        }
        let slot = problem.slot.as_ref()?;
        if let Some(Change::Target(name)) = self.seen.0.get(slot) {
            return Some(name.clone());
        }
        let stream = Stream::split(Arc::clone(self.question.after.bytes(&slot.kustomization)?)).ok()?;
        let root = stream.documents().iter().find_map(|document| document.root())?;
        let entry = root.get(slot.field.name())?.items().nth(slot.index)?;
        let name = entry.at(&["target", "name"])?.text()?;
        Some(name.to_owned())
    }
}

/// Counts the patches that match something and have no problem that asks for an answer.
fn holding(after: &Built, problems: &[Problem], shift: &Shift) -> usize {
    let asked: BTreeSet<Slot> = problems
        .iter()
        .filter(|problem| problem.what.weight() != Weight::Told)
        .filter_map(|problem| Some(problem.slot.as_ref()?.whole()))
        .collect();
    let holds = |patch: &&refit_kustomize::AppliedPatch| {
        !patch.effects.is_empty() && !asked.contains(&shift.before(&Slot::of(patch)))
    };
    after.applied.iter().filter(holds).count()
}
