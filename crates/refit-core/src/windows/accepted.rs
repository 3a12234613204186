//! What the releases on the way accept, from all that is known of them.
//!
//! In: what is known, the releases. Out: [`Accepted`]: histories of kinds that know also the releases which the catalog does
//! not list, and what is to be written for some releases. A release of which nothing is known accepts nothing.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::seen::Kind;
use crate::catalog::{Catalog, Resource};
use crate::conversion::Wanted;
use crate::release::Version;
use crate::route::Known;

/// The releases that must accept what is written, and those that are to come.
pub(super) type Releases = (BTreeSet<Version>, BTreeSet<Version>);

/// What releases accept.
pub(super) struct Accepted<'a> {
    known: &'a Known<'a>,
    releases: BTreeSet<Version>,
    unknown: BTreeSet<Version>,
    catalog: Catalog,
    wanted: RefCell<BTreeMap<Releases, Rc<Wanted>>>,
}

impl<'a> Accepted<'a> {
    pub(super) fn of(known: &'a Known<'a>, releases: BTreeSet<Version>) -> Self {
        let unknown = releases.iter().filter(|release| known.of(release).is_none());
        let unknown: BTreeSet<Version> = unknown.cloned().collect();
        Self {
            catalog: known.noted(&releases),
            known,
            releases,
            unknown,
            wanted: RefCell::default(),
        }
    }

    /// Gives the releases.
    pub(super) fn releases(&self) -> &BTreeSet<Version> {
        &self.releases
    }

    /// Tells whether something is known of the definitions of a release.
    pub(super) fn knows(&self, release: &Version) -> bool {
        !self.unknown.contains(release)
    }

    /// Gives what is known of a kind.
    pub(super) fn resource(&self, kind: &Kind) -> Option<&Resource> {
        self.catalog.of_kind(&kind.0, &kind.1)
    }

    /// Lists the releases that accept a version; one without the kind refuses nothing that could be written otherwise.
    pub(super) fn accepting(&self, resource: &Resource, version: &str) -> BTreeSet<Version> {
        let accepts = |release: &&Version| {
            let versions = self.known.versions(&resource.crd, release);
            self.knows(release)
                && versions.is_none_or(|versions| versions.served.iter().any(|served| served == version))
        };
        self.releases.iter().filter(accepts).cloned().collect()
    }

    /// Gives what is written where some releases must accept it, on the way to others.
    pub(super) fn wanted(&self, releases: &Releases) -> Rc<Wanted> {
        let mut wanted = self.wanted.borrow_mut();
        if let Some(wanted) = wanted.get(releases) {
            return Rc::clone(wanted);
        }
        let list = |set: &BTreeSet<Version>| set.iter().cloned().collect::<Vec<_>>();
        let made = Rc::new(Wanted::leading_to(
            &self.catalog,
            &list(&releases.0),
            &list(&releases.1),
        ));
        wanted.insert(releases.clone(), Rc::clone(&made));
        made
    }
}
