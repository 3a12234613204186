//! Judges a result against the text of a perfect merge: comments lost, bytes elsewhere, conflict markers.

use std::collections::HashMap;
use std::fmt;

use crate::inputs::Case;

/// What is wrong with a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quality {
    /// Comments of the user that are gone.
    pub(crate) comments_lost: usize,
    /// Bytes of lines that a perfect merge lacks, and of lines that it has and the result lacks, in any order.
    pub(crate) bytes_elsewhere: usize,
    /// Lines that open a conflict.
    pub(crate) markers: usize,
}

impl Quality {
    pub(crate) fn is_perfect(&self) -> bool {
        self.comments_lost + self.bytes_elsewhere + self.markers == 0
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:>9} {:>10} {:>8}",
            self.comments_lost, self.bytes_elsewhere, self.markers
        )
    }
}

/// Judges the result of a case.
pub(crate) fn judge(case: &Case, output: &str) -> Quality {
    let mut lines: HashMap<&str, isize> = HashMap::new();
    for line in case.expected.lines() {
        *lines.entry(line).or_default() += 1;
    }
    for line in output.lines() {
        *lines.entry(line).or_default() -= 1;
    }
    let kept: std::collections::HashSet<&str> = output.lines().filter_map(comment).collect();
    Quality {
        comments_lost: case
            .expected
            .lines()
            .filter_map(comment)
            .filter(|comment| !kept.contains(comment))
            .count(),
        bytes_elsewhere: lines
            .iter()
            .map(|(line, count)| count.unsigned_abs() * (line.len() + 1))
            .sum(),
        markers: output.lines().filter(|line| line.starts_with("<<<<<<< ")).count(),
    }
}

fn comment(line: &str) -> Option<&str> {
    line.split_once("# keep-").map(|(_, number)| number)
}
