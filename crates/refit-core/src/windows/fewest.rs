//! Which of several routes takes the fewest requests.
//!
//! In: routes, and how the requests of one are planned. Out: the first one that no other beats. A route of as many hops as the
//! best one has requests cannot have fewer, so it is not planned.

use crate::route::Route;

/// A route with what was planned for it.
#[derive(Clone, Debug)]
pub struct Fewest<P> {
    /// The index of the route.
    pub index: usize,
    /// Its plan.
    pub plan: P,
}

/// Chooses among routes, those of fewer hops first. `count` gives the requests of a plan that brings its cluster to the end of
/// the route; `None` for one that does not. Where none does, the first route stays.
///
/// # Errors
/// What planning ends with; `Ok(None)` where there is no route.
pub fn fewest<P, E>(
    routes: &[Route],
    mut plan: impl FnMut(&Route) -> Result<P, E>,
    count: impl Fn(&Route, &P) -> Option<usize>,
) -> Result<Option<Fewest<P>>, E> {
    let mut best: Option<(Option<usize>, Fewest<P>)> = None;
    for (index, route) in routes.iter().enumerate() {
        let bound = best.as_ref().map(|(requests, _)| *requests);
        let cannot_win = bound.is_some_and(|most| most.is_some_and(|most| route.hops.len() >= most));
        if cannot_win || (index > 0 && route.too_old().is_some()) {
            continue;
        }
        let planned = plan(route)?;
        let requests = count(route, &planned);
        let wins = match (bound, requests) {
            (None, _) | (Some(None), Some(_)) => true,
            (Some(Some(most)), Some(requests)) => requests < most,
            (Some(_), None) => false,
        };
        if wins {
            let plan = planned;
            best = Some((requests, Fewest { index, plan }));
        }
    }
    Ok(best.map(|(_, fewest)| fewest))
}
