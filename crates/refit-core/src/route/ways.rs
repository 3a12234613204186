//! Which ways lead over the releases that a route can touch.
//!
//! In: the releases of a search, with what passes between any two. Out: ways as indices of them after the start, those of the
//! fewest hops first, and of these the one that goes farthest first.

use super::Search;

/// The most ways that are looked at: each is planned with all files, where the ones before need conversions.
const LIMIT: usize = 8;

/// What passes between the releases of a search.
struct Steps {
    /// The releases that can follow each, the nearest first.
    after: Vec<Vec<usize>>,
    /// Which releases are so many hops before the last one.
    exactly: Vec<Vec<bool>>,
}

impl Search<'_> {
    /// Gives the ways of the fewest hops, then those of one more; none where there is none. Of several releases that are alike
    /// in all definitions the farthest alone is taken.
    pub(super) fn ways(&self) -> Vec<Vec<usize>> {
        let steps = self.steps();
        let fewest = (0..self.nodes.len()).find(|hops| steps.exactly[*hops][0]);
        let mut found = Vec::new();
        for hops in fewest.into_iter().flat_map(|fewest| [fewest, fewest + 1]) {
            if hops < steps.exactly.len() {
                self.gather(&steps, (&mut Vec::new(), hops), &mut found);
            }
        }
        found
    }

    /// Gives the first of the ways.
    pub(super) fn shortest(&self) -> Option<Vec<usize>> {
        self.ways().into_iter().next()
    }

    fn steps(&self) -> Steps {
        let last = self.nodes.len() - 1;
        let next = |from: usize| (from + 1..=last).filter(|to| self.passes(from, *to)).collect();
        let after: Vec<Vec<usize>> = (0..=last).map(next).collect();
        let mut exactly = vec![(0..=last).map(|node| node == last).collect::<Vec<bool>>()];
        for hops in 0..last {
            let before = |node: &Vec<usize>| node.iter().any(|to| exactly[hops][*to]);
            let now = after.iter().map(before).collect();
            exactly.push(now);
        }
        Steps { after, exactly }
    }

    fn gather(&self, steps: &Steps, (way, left): (&mut Vec<usize>, usize), found: &mut Vec<Vec<usize>>) {
        if left == 0 {
            found.push(way.clone());
            return;
        }
        let at = way.last().copied().unwrap_or(0);
        let mut tried: Vec<usize> = Vec::new();
        for to in steps.after[at].iter().copied().rev() {
            let is_like = |other: &usize| self.nodes[*other].matrix == self.nodes[to].matrix;
            if found.len() == LIMIT || !steps.exactly[left - 1][to] || tried.iter().any(is_like) {
                continue;
            }
            tried.push(to);
            way.push(to);
            self.gather(steps, (way, left - 1), found);
            way.pop();
        }
    }
}
