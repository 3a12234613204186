//! What keeps an order from being sure: files that cannot be read, releases and files that are not at hand.
//!
//! In: the situation, and what the state could not look at. Out: findings, those alone that concern a cluster which is
//! upgraded.

use std::collections::{BTreeMap, BTreeSet};

use super::state::State;
use super::{Cluster, names};
use crate::applied::File;
use crate::finding::{Code, Finding, Severity};
use crate::release::Version;

/// Lists the findings; `unreadable` has the files that name a kind that matters, and why they cannot be read.
pub(super) fn find(state: &State<'_>, unreadable: &BTreeMap<File, String>) -> Vec<Finding> {
    let mut findings = releases(state);
    for (file, why) in unreadable {
        let going = going(state).any(|(_, cluster)| cluster.reached.files.contains(file));
        if going {
            let message =
                format!("{why}; it names API versions of the platform, so what a release refuses there is not known");
            let mut finding = Finding::new(Code::UnreadableManifest, state.shown(file), message);
            finding.severity = Severity::Blocking;
            findings.push(finding);
        }
    }
    for (index, cluster) in going(state) {
        findings.extend(cluster.reached.unknown.iter().map(|unknown| {
            let cluster = names(state.situation(), &[index]);
            let message = format!(
                "{cluster} applies what the Kustomization `{}` names, which is not looked at: {}",
                unknown.name, unknown.why
            );
            Finding::new(Code::SourceNotRead, unknown.name.as_str(), message)
        }));
    }
    findings
}

fn going<'s>(state: &'s State<'_>) -> impl Iterator<Item = (usize, &'s Cluster)> {
    let clusters = state.situation().clusters.iter().enumerate();
    clusters.filter(|(_, cluster)| !cluster.hops.is_empty())
}

/// Names the releases of which nothing is known, of clusters that are upgraded and of those that share files with one.
fn releases(state: &State<'_>) -> Vec<Finding> {
    let going: BTreeSet<usize> = going(state).map(|(index, _)| index).collect();
    let shares = |index: &usize| {
        let mut bundles = state.bundles().iter();
        bundles.any(|bundle| bundle.reached.contains(index) && !bundle.reached.is_disjoint(&going))
    };
    let mut findings = Vec::new();
    for (index, cluster) in state.situation().clusters.iter().enumerate() {
        if !going.contains(&index) && !shares(&index) {
            continue;
        }
        let way = cluster.hops.iter().map(|hop| &hop.to);
        let unknown = cluster.installed.iter().chain(way);
        let unknown: BTreeSet<&Version> = unknown.filter(|release| !state.knows(release)).collect();
        findings.extend(unknown.into_iter().map(|release| {
            let where_it_is = match Some(release) == cluster.installed.as_ref() {
                true => "is installed",
                false => "is on the way",
            };
            let message = format!(
                "{release} {where_it_is} for {}, and nothing is known of its definitions, so no order leads there",
                names(state.situation(), &[index])
            );
            Finding::new(Code::UnknownVersion, release.to_string(), message)
                .with_remedy("add a catalog source that holds the release with `--catalog`")
        }));
    }
    findings
}
