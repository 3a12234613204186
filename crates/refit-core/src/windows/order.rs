//! Decides what the next request is, from windows alone.
//!
//! In: clusters as lanes of releases, and items that convert as one, each with the forms that it can take. Out: the next
//! [`Step`], or what stands in the way. Knows no file's content: a form is a version or a shape, and all that counts is at
//! which releases it is accepted.

use std::collections::{BTreeMap, BTreeSet};

use refit_manifest::Path;

use crate::release::Version;

/// A cluster on its way: what is installed, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lane {
    /// The repository that holds its generated manifests.
    pub(super) repository: usize,
    /// The installed release.
    pub(super) at: Option<Version>,
    /// The releases that it goes to, in order; empty for a cluster that stays.
    pub(super) hops: Vec<Version>,
}

impl Lane {
    /// Tells whether what is installed accepts a form; nothing but what is written is known to be accepted where the
    /// installed release cannot be told.
    fn accepts(&self, form: &BTreeSet<Version>) -> bool {
        self.at.as_ref().is_some_and(|at| form.contains(at))
    }
}

/// Places that can only change together, such as an object and the patches on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The repository.
    pub(super) repository: usize,
    /// The files of the places.
    pub(super) files: BTreeSet<Path>,
    /// The forms from the oldest to the newest, each as the releases that accept it.
    pub(super) forms: Vec<BTreeSet<Version>>,
    /// The forms that the places have now.
    pub(super) at: BTreeSet<usize>,
    /// The lanes that apply it.
    pub(super) reached: BTreeSet<usize>,
    /// The lanes that apply it in one go with their definitions.
    pub(super) together: BTreeSet<usize>,
    /// Why it stays as it is, where it cannot be converted.
    pub(super) fixed: Option<String>,
}

/// All lanes and items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    pub(super) lanes: Vec<Lane>,
    pub(super) items: Vec<Item>,
}

/// The form that each item gets, by the index of the item.
pub(super) type Forms = BTreeMap<usize, usize>;

/// What one request does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Converts items of one repository, since the next hop of a lane takes away what some of them are written in.
    Convert {
        repository: usize,
        lane: usize,
        forms: Forms,
    },
    /// Takes a lane over its next hop, and converts what can go with it.
    Upgrade { lane: usize, forms: Forms },
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// There is something to do.
    Step(Step),
    /// Every lane is at its end.
    Done,
    /// No lane can go on.
    Blocked(Vec<Obstacle>),
}

/// What keeps a lane from its next hop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) lane: usize,
    pub(super) item: usize,
    /// The lanes that do not accept yet what the hop needs; empty where no form helps.
    pub(super) lagging: Vec<usize>,
}

/// Gives the next request: a hop that forces nothing, else the conversions that one hop forces.
///
/// A hop that forces nothing opens windows and closes none that is needed, so going first costs nothing; a conversion that
/// waits until it is forced meets the most others that can go with it.
pub(super) fn next(model: &Model) -> Next {
    let going = || (0..model.lanes.len()).filter(|lane| !model.lanes[*lane].hops.is_empty());
    let Some(_) = going().next() else { return Next::Done };
    let free = going().filter(|lane| model.forced(*lane).is_empty());
    if let Some(lane) = free.min_by_key(|lane| &model.lanes[*lane].at) {
        let forms = model.beside(lane);
        return Next::Step(Step::Upgrade { lane, forms });
    }
    let mut obstacles = Vec::new();
    for lane in going() {
        let forced = model.forced(lane);
        let stuck: Vec<Obstacle> = forced.iter().filter_map(|item| model.obstacle(lane, *item)).collect();
        match forced.first() {
            Some(first) if stuck.is_empty() => return Next::Step(model.convert(lane, *first)),
            _ => obstacles.extend(stuck),
        }
    }
    Next::Blocked(obstacles)
}

impl Model {
    #[cfg(test)]
    /// Does a step, as its request does once it is merged.
    pub(super) fn apply(&mut self, step: &Step) {
        let forms = match step {
            Step::Convert { forms, .. } => forms,
            Step::Upgrade { lane, forms } => {
                let lane = &mut self.lanes[*lane];
                if !lane.hops.is_empty() {
                    lane.at = Some(lane.hops.remove(0));
                }
                forms
            }
        };
        for (item, form) in forms {
            let item = &mut self.items[*item];
            item.at = item.at.iter().map(|at| *at.max(form)).collect();
        }
    }

    /// Lists the items that the next hop of a lane does not accept as they are.
    pub(super) fn forced(&self, lane: usize) -> Vec<usize> {
        let Some(to) = self.lanes[lane].hops.first() else {
            return Vec::new();
        };
        let refuses = |item: &usize| {
            let of = &self.items[*item];
            // What is refused already and cannot be helped is not taken away by the hop.
            let at = self.lanes[lane].at.as_ref();
            let helps = || at.is_some_and(|at| of.is_accepted(at)) || self.before(lane, *item).is_some();
            of.reached.contains(&lane) && !of.is_accepted(to) && helps()
        };
        (0..self.items.len()).filter(refuses).collect()
    }

    /// Tells whether a hop that is still to come refuses an item as it is.
    fn is_doomed(&self, item: &Item) -> bool {
        let hops = item.reached.iter().flat_map(|lane| &self.lanes[*lane].hops);
        hops.into_iter().any(|to| !item.is_accepted(to))
    }

    /// Gives what keeps a forced item from being converted before the next hop of a lane.
    fn obstacle(&self, lane: usize, item: usize) -> Option<Obstacle> {
        if self.before(lane, item).is_some() {
            return None;
        }
        let of = &self.items[item];
        let mut obstacle = Obstacle {
            lane,
            item,
            lagging: Vec::new(),
        };
        let to = self.lanes[lane].hops.first()?;
        if of.fixed.is_none() {
            let helping = of.higher().filter(|form| of.is_accepted_as(*form, to));
            let lagging = |form: usize| -> Vec<usize> {
                let refuses = |lane: &&usize| !self.lanes[**lane].accepts(&of.forms[form]);
                of.reached.iter().filter(refuses).copied().collect()
            };
            obstacle.lagging = helping.map(lagging).min_by_key(Vec::len).unwrap_or_default();
        }
        Some(obstacle)
    }

    /// Gives the form that an item can take before the next hop of a lane and that the hop accepts.
    fn before(&self, lane: usize, item: usize) -> Option<usize> {
        let to = self.lanes[lane].hops.first()?;
        let item = &self.items[item];
        self.open(item, &[]).find(|form| item.is_accepted_as(*form, to))
    }

    /// Lists the forms that every cluster accepts now, and at some further releases; the newest first.
    fn open<'a>(&'a self, item: &'a Item, and: &'a [&'a Version]) -> impl Iterator<Item = usize> + 'a {
        let now = |form: &usize| {
            let form = &item.forms[*form];
            let mut lanes = item.reached.iter().map(|lane| &self.lanes[*lane]);
            lanes.all(|lane| lane.accepts(form)) && and.iter().all(|at| form.contains(at))
        };
        item.higher().filter(now)
    }

    /// Makes the request that converts what a hop forces in one repository, with all that waits for a later hop, and with
    /// what else can be converted in the same files.
    fn convert(&self, lane: usize, first: usize) -> Step {
        let repository = self.items[first].repository;
        let forced = self.forced(lane);
        let form = |index: usize| match forced.contains(&index) {
            true => self.before(lane, index),
            false => self.open(&self.items[index], &[]).next(),
        };
        Step::Convert {
            repository,
            lane,
            forms: self.taken(repository, &form),
        }
    }

    /// Lists what can go along with the next hop of a lane: forms that are accepted before and after it, and in one go with
    /// the definitions also those that the hop brings.
    fn beside(&self, lane: usize) -> Forms {
        let of = &self.lanes[lane];
        let Some(to) = of.hops.first() else {
            return Forms::new();
        };
        let form = |index: usize| {
            let item = &self.items[index];
            // A request of one cluster carries nothing that only others apply.
            if !item.reached.contains(&lane) {
                return None;
            }
            let brought = item.together.contains(&lane);
            let others = |form: &usize| {
                let releases = item.reached.iter().filter(|other| **other != lane);
                let accepted = |other: &usize| self.lanes[*other].accepts(&item.forms[*form]);
                releases.into_iter().all(accepted) && item.forms[*form].contains(to)
            };
            match brought {
                true => item.higher().find(others),
                false => self.open(item, &[to]).next(),
            }
        };
        self.taken(of.repository, &form)
    }

    /// Lists what a request in a repository takes: all that a later hop refuses, and what else is open in the same files.
    fn taken(&self, repository: usize, form: &dyn Fn(usize) -> Option<usize>) -> Forms {
        let here: Vec<usize> = (0..self.items.len())
            .filter(|index| self.items[*index].repository == repository)
            .collect();
        let doomed = here.iter().filter(|index| self.is_doomed(&self.items[**index]));
        let mut forms: Forms = doomed.filter_map(|index| Some((*index, form(*index)?))).collect();
        let files: BTreeSet<&Path> = forms.keys().flat_map(|index| &self.items[*index].files).collect();
        let inside = |index: &&usize| self.items[**index].files.iter().all(|path| files.contains(path));
        let more: Forms = here
            .iter()
            .filter(inside)
            .filter_map(|index| Some((*index, form(*index)?)))
            .collect();
        forms.extend(more);
        forms
    }
}

impl Item {
    /// Tells whether a release accepts it as it is.
    fn is_accepted(&self, release: &Version) -> bool {
        self.at.iter().all(|form| self.forms[*form].contains(release))
    }

    /// Tells whether a release accepts it once everything older is in a form.
    fn is_accepted_as(&self, form: usize, release: &Version) -> bool {
        let mut after = self.at.iter().map(|at| *at.max(&form));
        after.all(|form| self.forms[form].contains(release))
    }

    /// Lists the forms that would change something, the newest first.
    fn higher(&self) -> impl Iterator<Item = usize> + use<'_> {
        let oldest = self.at.first().copied().unwrap_or(self.forms.len());
        let free = self.fixed.is_none();
        (0..self.forms.len()).rev().filter(move |form| free && *form > oldest)
    }
}

#[cfg(test)]
mod tests;
