//! The order of the documents.
//!
//! Since v2.0.0-rc.4 the generator writes the objects of one component after those of another, in the order in which
//! the components were asked for; before, it sorted by kind and name, whatever the order of the components.

use std::ops::Range;

use crate::generated::Generated;

/// The documents of one component, as they follow each other.
struct Run<'a> {
    component: &'a str,
    documents: Range<usize>,
}

/// Gives the order of documents that the order of components asks for; `None` where they stay as they are.
pub(super) fn arrange(manifest: &Generated<'_>, documents: usize, components: &[String]) -> Option<Vec<usize>> {
    let runs = runs(manifest, documents)?;
    let rank = |run: &Run<'_>| {
        components
            .iter()
            .position(|name| name == run.component)
            .unwrap_or(components.len())
    };
    if runs.is_sorted_by_key(rank) {
        return None;
    }
    let first = runs.first()?.documents.start;
    let mut sorted: Vec<&Run<'_>> = runs.iter().collect();
    sorted.sort_by_key(|run| rank(run));
    Some(
        (0..first)
            .chain(sorted.into_iter().flat_map(|run| run.documents.clone()))
            .collect(),
    )
}

/// Lists the runs up to the last document; `None` when the objects of a component are not together.
fn runs<'a>(manifest: &'a Generated<'_>, documents: usize) -> Option<Vec<Run<'a>>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    for part in &manifest.parts {
        let last = runs.last_mut();
        match (part.component.as_deref(), last) {
            (None, None) => {}
            (None, Some(_)) => return None,
            (Some(component), Some(run)) if run.component == component => run.documents.end = part.at + 1,
            (Some(component), last) => {
                if let Some(run) = last {
                    run.documents.end = part.at;
                }
                if runs.iter().any(|run| run.component == component) {
                    return None;
                }
                runs.push(Run {
                    component,
                    documents: part.at..part.at + 1,
                });
            }
        }
    }
    if let Some(run) = runs.last_mut() {
        run.documents.end = documents;
    }
    Some(runs)
}
