//! The text of an answer about several groups of clusters: one below the other, each with the text that it has alone.
//!
//! In: reports and the text of one. Out: text for people.

use refit_core::report::{Report, Reports};

use crate::view::lines::{self, line};

/// Renders the only report as it is, or each of several below the names of its clusters.
pub(crate) fn each<B>(reports: &Reports<B>, text_of: impl Fn(&Report<B>) -> String) -> String {
    let several = match reports {
        Reports::One(report) => return text_of(report),
        Reports::Several(several) => several,
    };
    let mut text = lines::head(several);
    for group in &several.body.groups {
        let word = if group.clusters.len() == 1 {
            "cluster"
        } else {
            "clusters"
        };
        line!(&mut text, "\n{word} {}", group.clusters.join(", "));
        for part in text_of(&group.report).lines() {
            line!(&mut text, "{}", format!("  {part}").trim_end());
        }
    }
    text
}
