//! Which requests must be merged before others.
//!
//! In: requests in order. Out: for each the direct ones; what these need is left out.

use std::collections::BTreeSet;

use super::state::State;
use super::{Request, Stage};

/// Fills in what each request needs.
pub(super) fn fill(requests: &mut [Request], state: &State<'_>) {
    let concerned: Vec<BTreeSet<usize>> = requests.iter().map(|request| clusters(request, state)).collect();
    let mut all: Vec<BTreeSet<usize>> = Vec::new();
    for at in 0..requests.len() {
        let needs = (0..at).filter(|before| is_needed(requests, &concerned, *before, at));
        let needs: BTreeSet<usize> = needs.collect();
        let implied: BTreeSet<usize> = needs.iter().flat_map(|before| &all[*before]).copied().collect();
        requests[at].needs = needs.difference(&implied).copied().collect();
        all.push(&needs | &implied);
    }
}

/// Lists the clusters that a request concerns.
fn clusters(request: &Request, state: &State<'_>) -> BTreeSet<usize> {
    let mut clusters: BTreeSet<usize> = request.edits.keys().flat_map(|file| state.appliers(file)).collect();
    if let Stage::Upgrade { cluster, .. } = request.stage {
        clusters.insert(cluster);
    }
    clusters
}

/// Tells whether one of two requests must come before the other: they edit one file, or one changes the release of a
/// cluster that the other concerns.
fn is_needed(requests: &[Request], concerned: &[BTreeSet<usize>], before: usize, after: usize) -> bool {
    let edits = |at: usize| requests[at].edits.keys().collect::<BTreeSet<_>>();
    let upgrades = |at: usize| matches!(requests[at].stage, Stage::Upgrade { .. });
    !edits(before).is_disjoint(&edits(after))
        || ((upgrades(before) || upgrades(after)) && !concerned[before].is_disjoint(&concerned[after]))
}
